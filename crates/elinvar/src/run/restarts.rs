//! Several fits of the same target, each from a start and with random numbers of its own.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use super::fit::fit_once;
use super::fitting::{Fitting, Kept, Observer};
use super::{Correct, Counts, Plan, Stop, StopReason};
use crate::Error;
use crate::evaluate::Evaluator;
use crate::family::Family;
use crate::posterior::{Agreement, Estimate, Posterior};
use crate::random::{Purpose, Stream};
use crate::target::Target;
use crate::tuning;

/// Block of [`Purpose::Start`] that belongs to restarts.
const SEED_BLOCK: u32 = 1 << 17;

/// The best of `plan.restarts` fits by its bound on fresh draws; it carries the bounds of all, the modes that any of
/// them found, and the evaluations of all.
///
/// The restarts run in threads; their results do not depend on how many there are.
pub(super) fn best_of(
    target: &dyn Target,
    family: Family,
    plan: &Plan,
    observe: Observer<'_>,
    kept: Kept<'_>,
) -> Result<Posterior, Error> {
    let clock = Instant::now();
    // The best is corrected at the end, where that is asked for.
    let correct = if plan.correct == Correct::Always { Correct::WhereNeeded } else { plan.correct };
    let stop = Stop { mean_within: Stop::default().mean_within, ..plan.stop };
    let single = Plan { restarts: 1, correct, stop, ..plan.clone() };
    let plans: Vec<Plan> = (0..plan.restarts).map(|r| Plan { seed: seed_of(plan.seed, r), ..single.clone() }).collect();
    let ended = AtomicBool::new(false);
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(plan.restarts);
    let mut outcomes: Vec<Option<Result<Fitted, Error>>> = Vec::new();
    outcomes.resize_with(plan.restarts, || None);
    std::thread::scope(|scope| {
        let (plans, ended) = (&plans, &ended);
        // Without its journal no restart is of use, and the others need not go on.
        let fit = move |r: usize, observe: Observer<'_>| {
            let outcome = Fitted::new(target, family, &plans[r], &mut Fitting::new(observe, kept, r));
            if matches!(&outcome, Err(error) if is_of_journal(error)) {
                ended.store(true, Ordering::Relaxed);
            }
            outcome
        };
        // This thread takes the first restart, which is the one that is observed, and every so manieth after it.
        let workers: Vec<_> = (1..threads)
            .map(|worker| {
                scope.spawn(move || {
                    let mut silent = |_: &_| stop_if(ended.load(Ordering::Relaxed));
                    let own = (worker..plans.len()).step_by(threads);
                    own.map(|r| (r, fit(r, &mut silent))).collect::<Vec<_>>()
                })
            })
            .collect();
        let mut watched = |step: &_| {
            let answer = observe(step);
            if answer.is_break() {
                ended.store(true, Ordering::Relaxed);
            }
            stop_if(ended.load(Ordering::Relaxed))
        };
        outcomes[0] = Some(fit(0, &mut watched));
        let mut silent = |_: &_| stop_if(ended.load(Ordering::Relaxed));
        for r in (threads..plans.len()).step_by(threads) {
            outcomes[r] = Some(fit(r, &mut silent));
        }
        for worker in workers {
            match worker.join() {
                Ok(done) => done.into_iter().for_each(|(r, outcome)| outcomes[r] = Some(outcome)),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
    });
    merge(outcomes.into_iter().flatten().collect(), clock, kept.gives_best && kept.journal.is_none())
}

/// Whether what went wrong is the record of a fit, not the fit.
fn is_of_journal(error: &Error) -> bool {
    matches!(error, Error::Io { .. } | Error::File { .. })
}

fn stop_if(ended: bool) -> ControlFlow<()> {
    if ended { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}

/// The first restart is the fit that a plan without restarts would make.
fn seed_of(seed: u64, restart: usize) -> u64 {
    if restart == 0 { seed } else { Stream::open(seed, Purpose::Start, restart as u64, SEED_BLOCK).next_u64() }
}

struct Fitted {
    posterior: Posterior,
    /// Nothing where the fit was interrupted before anybody could know.
    elbo: Option<Estimate>,
    counts: Counts,
}

impl Fitted {
    fn new(target: &dyn Target, family: Family, plan: &Plan, fit: &mut Fitting<'_>) -> Result<Self, Error> {
        let posterior = fit_once(target, family, plan, fit)?;
        let mut counts = posterior.counts();
        // A ladder has judged what it kept.
        let elbo = match posterior.diagnostics() {
            Some(diagnostics) => Some(diagnostics.elbo),
            None => {
                let mut evaluator = Evaluator::new(target, fit.interrupt());
                let n = tuning::restarts::JUDGED_DRAWS;
                match posterior.importance_by(&mut evaluator, n, plan.seed, &[]) {
                    Ok(found) => {
                        counts += found.diagnostics.counts;
                        Some(found.diagnostics.elbo)
                    }
                    Err(Error::Interrupted) if fit.gives_best => None,
                    Err(error) => return Err(error),
                }
            }
        };
        Ok(Self { posterior, elbo, counts })
    }
}

/// The best of the fits that succeeded, or the first error if none did. Where they were interrupted and somebody wants
/// the best so far, one whose bound is known is better than one whose bound is not.
fn merge(mut outcomes: Vec<Result<Fitted, Error>>, clock: Instant, gives_best: bool) -> Result<Posterior, Error> {
    // The others were ended because of it.
    let broken = outcomes.iter().position(|outcome| matches!(outcome, Err(error) if is_of_journal(error)));
    if let Some(Err(error)) = broken.map(|r| outcomes.swap_remove(r)) {
        return Err(error);
    }
    let mut counts = Counts::default();
    let mut agreement = Agreement::default();
    let mut best: Option<Fitted> = None;
    let mut first_error = None;
    let mut interrupted = false;
    // A restart that was continued has taken longer than this call.
    let mut seconds: f64 = 0.0;
    for outcome in outcomes {
        let fitted = match outcome {
            Ok(fitted) => fitted,
            // It was not the restart that failed, and without it the best is not known.
            Err(Error::Interrupted) if !gives_best => return Err(Error::Interrupted),
            Err(error) => {
                interrupted |= matches!(error, Error::Interrupted);
                first_error.get_or_insert(error);
                continue;
            }
        };
        counts += fitted.counts;
        seconds = seconds.max(fitted.posterior.seconds());
        interrupted |= gives_best && fitted.posterior.stop_reason() == StopReason::Interrupted || fitted.elbo.is_none();
        agreement.restarts.extend(fitted.elbo);
        agreement.join(fitted.posterior.agreement());
        let bound = |fitted: &Fitted| fitted.elbo.map_or(f64::NEG_INFINITY, |elbo| elbo.value);
        if best.as_ref().is_none_or(|best| bound(&fitted) > bound(best)) {
            best = Some(fitted);
        }
    }
    match (best, first_error) {
        (Some(Fitted { mut posterior, .. }), _) => {
            if interrupted {
                // What it has found stays with it.
                posterior.end_interrupted();
            } else {
                posterior.set_agreement(agreement);
            }
            posterior.set_cost(counts, seconds.max(clock.elapsed().as_secs_f64()));
            Ok(posterior)
        }
        (None, Some(error)) => Err(error),
        (None, None) => {
            Err(Error::Domain { parameter: "restarts", value: 0.0, reason: "a fit needs at least one start" })
        }
    }
}
