//! The ladder: from a Gaussian to families that bend more, as far as it pays.

use std::time::Instant;

use super::fit::{Spent, fit_on, grow};
use super::start::{bend, start_watched};
use super::watch::Watch;
use super::{Plan, Start, Step, Stop, StopReason};
use crate::Error;
use crate::block::ScaleMatrix;
use crate::evaluate::{Counts, Evaluator};
use crate::family::{AnyApproximation, Approximation, Family, Gaussian, Kind};
use crate::posterior::{Agreement, Estimate, Posterior, Rung, Verdict, limits};
use crate::random::{Purpose, Stream};
use crate::target::Target;

/// Draws from which a rung is judged.
const DRAWS: usize = 4_096;
/// A rung is kept if it gains so many standard errors of the difference.
const ERRORS: f64 = 2.0;
/// Shares of the limits of the verdict within which a rung is left in peace.
const COMFORT_OF_MEANS: f64 = 0.8;
const COMFORT_OF_SDS: f64 = 0.6;
/// Tail index of the Student-t rung: five degrees of freedom.
const TAIL: f64 = 2.5;
/// Each family with one mode may take this part of the steps.
const RUNGS: u64 = 4;
/// Block of [`Purpose::Start`] that belongs to the rungs.
const SEED_BLOCK: u32 = 1 << 18;

/// Climbs from the Gaussian `start`: to `student_t` and `skew` from the fitted Gaussian, then to a growing mixture.
///
/// It goes on only while the rung that was kept is not to be trusted, and keeps a rung only if its bound is higher by more than
/// the error of the difference. Where the search has found several modes, the rungs with one mode are left out.
pub(super) fn climb<S: ScaleMatrix>(
    target: &dyn Target,
    start: Start,
    plan: &Plan,
    spent: Spent,
    watch: &mut Watch<'_>,
) -> Result<Posterior, Error> {
    let Start { approximation, agreement, .. } = start;
    let several = agreement.modes.len() > 1;
    // A t prior shares its w with no other family of the ladder.
    let shared = target.about().prior.shared().is_some();
    let of = |kind| Family { kind, covariance: S::COVARIANCE };
    let ladder = Ladder {
        target,
        plan,
        agreement,
        spent,
        charged: Spent::default(),
        trace: Vec::new(),
        rungs: Vec::new(),
        best: None,
        over: false,
    };
    let mut ladder = ladder.step_onto(approximation, watch)?;
    let fitted = Gaussian::<S>::from_state(&ladder.top()?.approximation().state())?;
    let mut evaluator = Evaluator::new(target, watch.interrupt());
    if !several && !shared {
        for kind in [Kind::Skew, Kind::StudentT { a: TAIL, learn: false }] {
            if ladder.goes_on() {
                let seed = ladder.seed();
                let start = bend(&mut evaluator, &fitted, of(kind), seed)?;
                ladder.spent.counts += evaluator.counts();
                evaluator.set_counts(Counts::default());
                ladder = ladder.step_onto(start, watch)?;
            }
        }
    }
    if !shared && ladder.goes_on() {
        let start = if several {
            // The search is repeated to the same modes; what it cost is counted again.
            let start = start_watched(target, of(Kind::MogAuto), plan, watch)?;
            ladder.spent.counts += start.counts;
            start.approximation
        } else {
            bend(&mut evaluator, &fitted, of(Kind::MogAuto), ladder.seed())?
        };
        ladder = ladder.step_onto(start, watch)?;
    }
    ladder.finish()
}

const NO_RUNG: Error = Error::Domain { parameter: "rungs", value: 0.0, reason: "no family could be fitted" };

/// Whether a fit is trusted, and not at the edge of it.
fn is_settled(posterior: &Posterior) -> bool {
    let within = |shift: Estimate, limit: f64| shift.value.abs() + limits::ERRORS * shift.mcse < limit;
    let comfortable = posterior.diagnostics().is_some_and(|diagnostics| {
        diagnostics.shifts.iter().all(|shift| {
            within(shift.mean, COMFORT_OF_MEANS * limits::MEAN) && within(shift.log_sd, COMFORT_OF_SDS * limits::LOG_SD)
        })
    });
    posterior.verdict() == Some(Verdict::Trust) && comfortable
}

/// A rung that was fitted and judged.
struct Judged {
    posterior: Posterior,
    elbo: Estimate,
    rung: usize,
}

struct Ladder<'t> {
    target: &'t dyn Target,
    plan: &'t Plan,
    agreement: Agreement,
    /// Everything so far.
    spent: Spent,
    /// The part of it that stands in the records of rungs.
    charged: Spent,
    trace: Vec<Step>,
    rungs: Vec<Rung>,
    best: Option<Judged>,
    /// Whether an observer has ended the fit.
    over: bool,
}

impl Ladder<'_> {
    fn top(&self) -> Result<&Posterior, Error> {
        self.best.as_ref().map(|best| &best.posterior).ok_or(NO_RUNG)
    }

    /// A seed for the next rung; the first has the plan's own.
    fn seed(&self) -> u64 {
        let n = self.rungs.len() as u64;
        if n == 0 { self.plan.seed } else { Stream::open(self.plan.seed, Purpose::Start, n, SEED_BLOCK).next_u64() }
    }

    /// Whether another rung is worth trying: the best is not trusted, and no limit was reached.
    fn goes_on(&self) -> bool {
        let stop = &self.plan.stop;
        self.best.as_ref().is_none_or(|best| !is_settled(&best.posterior))
            && !self.over
            && self.spent.counts.gradient < stop.max_evaluations
            && (self.trace.len() as u64) < stop.max_steps
            && stop.max_seconds.is_none_or(|limit| self.spent.seconds < limit)
    }

    /// Fits and judges the family of `start`, and keeps it if it is the best by more than the error.
    fn step_onto(mut self, start: AnyApproximation, watch: &mut Watch<'_>) -> Result<Self, Error> {
        let done = self.trace.len() as u64;
        let left = self.plan.stop.max_steps.saturating_sub(done);
        let grows = matches!(start.state().family.kind, Kind::Mog { .. });
        let max_steps = if grows { left } else { left.min(self.plan.stop.max_steps / RUNGS) };
        let stop = Stop { max_steps, ..self.plan.stop };
        let plan = Plan { seed: self.seed(), stop, ..self.plan.clone() };
        watch.set_done(done);
        let fit = if grows { grow } else { fit_on };
        let mut posterior = match fit(self.target, start, &plan, self.spent, watch) {
            // A bent start may stand where there is no density; the Gaussian one may not.
            Err(Error::BadStart { .. }) if self.best.is_some() => return Ok(self),
            outcome => outcome?,
        };
        self.over = posterior.stop_reason() == StopReason::Interrupted;
        self.trace.extend(posterior.trace().iter().map(|step| Step { index: done + step.index, ..*step }));
        posterior.set_agreement(self.agreement.clone());
        let clock = Instant::now();
        posterior.judge_by(&mut Evaluator::new(self.target, watch.interrupt()), DRAWS, plan.seed)?;
        let Some(diagnostics) = posterior.diagnostics() else { return Ok(self) };
        let (elbo, pareto_k, judging) = (diagnostics.elbo, diagnostics.pareto_k, diagnostics.counts);
        self.spent.counts = posterior.counts();
        self.spent.counts += judging;
        self.spent.seconds = posterior.seconds() + clock.elapsed().as_secs_f64();
        let gain = self.best.as_ref().map(|best| Estimate {
            value: elbo.value - best.elbo.value,
            mcse: elbo.mcse.hypot(best.elbo.mcse).min(f64::MAX),
        });
        self.rungs.push(Rung {
            family: posterior.family(),
            elbo,
            pareto_k,
            gain,
            counts: self.spent.counts.since(self.charged.counts),
            seconds: self.spent.seconds - self.charged.seconds,
            kept: false,
        });
        self.charged = self.spent;
        if gain.is_none_or(|gain| gain.value > ERRORS * gain.mcse) {
            self.best = Some(Judged { posterior, elbo, rung: self.rungs.len() - 1 });
        }
        Ok(self)
    }

    /// The best rung, with the record of all.
    fn finish(mut self) -> Result<Posterior, Error> {
        let Judged { mut posterior, rung, .. } = self.best.ok_or(NO_RUNG)?;
        self.rungs[rung].kept = true;
        posterior.set_rungs(self.rungs);
        posterior.set_cost(self.spent.counts, self.spent.seconds);
        posterior.set_trace(self.trace);
        Ok(posterior)
    }
}
