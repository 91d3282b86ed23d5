//! What `auto` does: a Gaussian, and then the cheapest way to an answer that can be trusted.

use super::fit::{grow, run_for_chains, run_from};
use super::fitting::Fitting;
use super::start::bend;
use super::{Correct, Counts, Plan, Start, Stop, StopReason};
use crate::Error;
use crate::chains::{Corrected, Correction, Doubt, SlowChains, Territories};
use crate::evaluate::{Clock, Evaluator, Limits};
use crate::family::{Approximation, Family, Kind};
use crate::posterior::{Agreement, Estimate, GivenBy, Posterior, Rung, Verdict};
use crate::posterior::{affordable_draws, limits, may_be_corrected};
use crate::random::{Purpose, Stream};
use crate::search::Mode;
use crate::target::Target;
use crate::tuning;

/// Block of [`Purpose::Start`] that belongs to the rungs.
const SEED_BLOCK: u32 = 1 << 18;

/// Fits a Gaussian from `start`, a mixture where the search has found several modes, and has the best of them answered
/// by importance weights or by chains.
///
/// Where nothing may be corrected it climbs on: to `skew` and `student_t` from the fitted Gaussian, then to a growing
/// mixture, as long as the rung that was kept is not to be trusted. With several modes the rungs with one mode are left
/// out. A rung is kept only if its bound is higher by more than the error of the difference, or if it is a
/// mixture over modes that chains run on one by one.
pub(super) fn climb(
    target: &dyn Target,
    mut start: Start,
    plan: &Plan,
    fit: &mut Fitting<'_>,
) -> Result<Posterior, Error> {
    // A t prior shares its w with no other family of the ladder.
    let shared = target.about().prior.shared().is_some();
    let covariance = start.approximation.family().covariance;
    let of = |kind| Family { kind, covariance };
    let ladder = Ladder::new(target, plan, start.agreement.clone());
    let mut ladder = ladder.step_onto(start.approximation.clone(), fit)?;
    start.add_modes(ladder.take_elsewhere());
    ladder.agreement = start.agreement.clone();
    let several = start.agreement.modes.len() > 1;
    let fitted = ladder.top()?.approximation().clone();
    let mut evaluator = Evaluator::new(target, fit.interrupt());
    let is_bare = plan.correct == Correct::Never;
    if is_bare && !several && !shared {
        for family in [Family::skew(), Family::student_t(tuning::ladder::STUDENT_T_SHAPE)] {
            if ladder.goes_on(fit) {
                let start = bend(&mut evaluator, &fitted, of(family.kind), ladder.seed());
                fit.counts += evaluator.take_counts();
                let start = fit.or_reached(start, || ladder.reached())?;
                ladder = ladder.step_onto(start, fit)?;
            }
        }
    }
    if (is_bare || several) && !shared && ladder.goes_on(fit) {
        let mixture = if several {
            start.of_family(target, of(Kind::MogAuto), plan, fit)
        } else {
            let mixture = bend(&mut evaluator, &fitted, of(Kind::MogAuto), ladder.seed());
            fit.counts += evaluator.take_counts();
            mixture
        };
        let mixture = fit.or_reached(mixture, || ladder.reached())?;
        ladder = ladder.step_onto(mixture, fit)?;
    }
    let mut charged = ladder.charged_seconds;
    let (mut posterior, is_over) = ladder.finish()?;
    let before = fit.clock.seconds();
    if !is_bare && !is_over {
        let covers = !several && !shared;
        let slow = if covers { SlowChains::EndOnSeveralModes } else { SlowChains::GoOn };
        let answered = answer(target, &mut posterior, plan, fit, slow);
        fit.or_reached(answered, || Some(posterior.clone()))?;
        start.add_modes(posterior.take_elsewhere());
        if start.agreement.modes.len() > 1 && covers {
            (posterior, charged) = cover(target, start, posterior, plan, fit)?;
        }
    }
    // The fit has taken what its rungs have, and its chains.
    let chains = if posterior.corrected().is_some() { fit.clock.seconds() - before } else { 0.0 };
    fit.clock = Clock::stopped_at(charged + chains);
    Ok(posterior)
}

/// Has chains go on that have ended for a mixture on which none run.
fn go_on_where_slow(
    target: &dyn Target,
    posterior: &mut Posterior,
    plan: &Plan,
    fit: &mut Fitting<'_>,
) -> Result<(), Error> {
    let is_slow = |corrected: &Corrected| corrected.doubts.iter().any(|doubt| matches!(doubt, Doubt::Slow { .. }));
    if posterior.corrected().is_some_and(is_slow) {
        let answered = answer(target, posterior, plan, fit, SlowChains::GoOn);
        fit.or_reached(answered, || Some(posterior.clone()))?;
    }
    Ok(())
}

/// A mixture over what chains did not meet too, where it is trusted or chains can be run on each of its modes;
/// otherwise their answer. Returns the seconds of all rungs, too.
fn cover(
    target: &dyn Target,
    start: Start,
    mut posterior: Posterior,
    plan: &Plan,
    fit: &mut Fitting<'_>,
) -> Result<(Posterior, f64), Error> {
    let mut ladder = Ladder::new(target, plan, start.agreement.clone());
    ladder.rungs = posterior.rungs().to_vec();
    let seconds = |rungs: &[Rung]| rungs.iter().map(|rung| rung.seconds).sum();
    if Limits::of(plan).reached(fit.counts, fit.clock).is_some() {
        return Ok((posterior, seconds(&ladder.rungs)));
    }
    let family = Family { kind: Kind::MogAuto, covariance: posterior.family().covariance };
    (ladder.charged, ladder.charged_seconds) = (fit.counts, fit.clock.seconds());
    let mixture = start.of_family(target, family, plan, fit);
    let mixture = fit.or_reached(mixture, || Some(posterior.clone()))?;
    let covered = ladder.step_onto(mixture, fit);
    if matches!(covered, Err(Error::BadStart { .. } | Error::NotPositiveDefinite { .. })) {
        // Where a climb went on without end there is nothing to put a component on.
        let seconds = seconds(posterior.rungs());
        go_on_where_slow(target, &mut posterior, plan, fit)?;
        return Ok((posterior, seconds));
    }
    let mut ladder = fit.or_reached(covered, || Some(posterior.clone()))?;
    let is_trusted = ladder.top()?.verdict() == Some(Verdict::Trust);
    let goes_on = !is_trusted && !ladder.over && Territories::of(ladder.top()?.approximation()).is_some();
    if !is_trusted && !goes_on {
        posterior.set_rungs(ladder.rungs);
        let seconds = seconds(posterior.rungs());
        go_on_where_slow(target, &mut posterior, plan, fit)?;
        return Ok((posterior, seconds));
    }
    // The chains belong to what it took to get there.
    if let (Some(rung), Some(corrected)) = (ladder.rungs.last_mut(), posterior.corrected()) {
        rung.counts += corrected.counts;
        rung.seconds += corrected.seconds;
    }
    let (mut covering, _) = ladder.finish()?;
    if goes_on {
        let answered = answer(target, &mut covering, plan, fit, SlowChains::GoOn);
        fit.or_reached(answered, || Some(covering.clone()))?;
    }
    let chains = covering.corrected().map_or(0.0, |corrected| corrected.seconds);
    let seconds = seconds(covering.rungs()) + chains;
    Ok((covering, seconds))
}

/// [`answer`] for a family that was named, which is corrected only if that is asked for.
///
/// # Errors
/// As [`answer`].
pub(super) fn answer_where_asked(
    target: &dyn Target,
    posterior: &mut Posterior,
    plan: &Plan,
    fit: &mut Fitting<'_>,
) -> Result<(), Error> {
    if plan.insists_on_chains() { answer(target, posterior, plan, fit, SlowChains::GoOn) } else { Ok(()) }
}

/// [`answer`] for the best of several fits, which carries the record of all.
///
/// # Errors
/// As [`answer`].
pub(super) fn answer_anew(
    target: &dyn Target,
    family: Family,
    posterior: &mut Posterior,
    plan: &Plan,
    fit: &mut Fitting<'_>,
) -> Result<(), Error> {
    fit.counts = posterior.counts();
    fit.clock = Clock::at(posterior.seconds());
    if family.kind == Kind::Auto && plan.correct != Correct::Never {
        let mut evaluator = Evaluator::new(target, fit.interrupt());
        let judged = affordable_draws(evaluator.about(), tuning::ladder::JUDGED_DRAWS);
        if posterior.is_worth_chains(&evaluator) {
            posterior.weights_suffice(&mut evaluator, judged, plan.seed)?;
        } else {
            posterior.judge_by(&mut evaluator, judged, plan.seed)?;
        }
        fit.counts += evaluator.take_counts();
        answer(target, posterior, plan, fit, SlowChains::GoOn)?;
    } else {
        answer_where_asked(target, posterior, plan, fit)?;
    }
    posterior.set_cost(fit.counts, fit.clock.seconds());
    Ok(())
}

/// Corrects by chains what importance weights do not confirm, or what is to be corrected in any case, within the
/// limits of the plan.
///
/// # Errors
/// As [`Posterior::correct`].
pub(super) fn answer(
    target: &dyn Target,
    posterior: &mut Posterior,
    plan: &Plan,
    fit: &mut Fitting<'_>,
    slow: SlowChains,
) -> Result<(), Error> {
    let (stop, usual) = (&plan.stop, Correction::default());
    // Errors fall with the root of what is spent.
    let sharper = limits::MEAN / stop.mean_within;
    let most = (sharper * sharper * usual.max_gradients as f64) as u64;
    let gradients = stop.max_evaluations.saturating_sub(fit.counts.gradient).min(most);
    let seconds = stop.max_seconds.map(|most| most - fit.clock.seconds());
    let insists = plan.insists_on_chains();
    if !insists && (gradients == 0 || seconds.is_some_and(|left| left <= 0.0)) {
        return Ok(());
    }
    let settings = Correction {
        seed: plan.seed,
        max_gradients: gradients.max(1),
        max_seconds: seconds.map(|left| left.max(f64::MIN_POSITIVE)),
        mean_within: stop.mean_within,
        ..usual
    };
    let mut evaluator = Evaluator::new(target, fit.interrupt());
    let trusted = posterior.verdict() == Some(Verdict::Trust) && posterior.given_by() != GivenBy::Approximation;
    let needed = insists || !trusted && posterior.is_worth_chains(&evaluator);
    if needed {
        let corrected = posterior.correct_by(&mut evaluator, &settings, slow, fit.watch()).map(drop);
        fit.counts += evaluator.take_counts();
        corrected?;
    }
    Ok(())
}

const NO_RUNG: Error = Error::Domain { parameter: "rungs", value: 0.0, reason: "no family could be fitted" };

/// Whether a fit is trusted, and not at the edge of it, or what weights give is.
fn is_settled(posterior: &Posterior) -> bool {
    let within = |shift: Estimate, limit: f64| shift.value.abs() + limits::ERRORS * shift.mcse < limit;
    let comfortable = posterior.diagnostics().is_some_and(|diagnostics| {
        diagnostics.shifts.iter().all(|shift| {
            within(shift.mean, tuning::ladder::COMFORT_OF_MEANS * limits::MEAN)
                && within(shift.log_sd, tuning::ladder::COMFORT_OF_SDS * limits::LOG_SD)
        })
    });
    let is_given = posterior.given_by() != GivenBy::Approximation;
    posterior.verdict() == Some(Verdict::Trust) && (comfortable || is_given)
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
    /// What stands in the records of rungs.
    charged: Counts,
    charged_seconds: f64,
    rungs: Vec<Rung>,
    best: Option<Judged>,
    /// Whether an observer has ended the fit.
    over: bool,
}

impl<'t> Ladder<'t> {
    fn new(target: &'t dyn Target, plan: &'t Plan, agreement: Agreement) -> Self {
        Self {
            target,
            plan,
            agreement,
            charged: Counts::default(),
            charged_seconds: 0.0,
            rungs: Vec::new(),
            best: None,
            over: false,
        }
    }

    /// Modes that looking around the best rung has found.
    fn take_elsewhere(&mut self) -> Vec<Mode> {
        self.best.as_mut().map_or_else(Vec::new, |best| best.posterior.take_elsewhere())
    }

    /// The best rung so far, for one who is interrupted on the way to the next.
    fn reached(&self) -> Option<Posterior> {
        self.best.as_ref().map(|best| best.posterior.clone())
    }

    fn top(&self) -> Result<&Posterior, Error> {
        self.best.as_ref().map(|best| &best.posterior).ok_or(NO_RUNG)
    }

    /// A seed for the next rung; the first has the plan's own.
    fn seed(&self) -> u64 {
        let n = self.rungs.len() as u64;
        if n == 0 { self.plan.seed } else { Stream::open(self.plan.seed, Purpose::Start, n, SEED_BLOCK).next_u64() }
    }

    /// Whether another rung is worth trying: the best is not trusted, and no limit was reached.
    fn goes_on(&self, fit: &Fitting<'_>) -> bool {
        self.best.as_ref().is_none_or(|best| !is_settled(&best.posterior))
            && !self.over
            && (fit.trace().len() as u64) < self.plan.stop.max_steps
            && Limits::of(self.plan).reached(fit.counts, fit.clock).is_none()
    }

    /// Fits and judges the family of `start`, and keeps it if it is the best by more than the error.
    fn step_onto(mut self, start: Approximation, fit: &mut Fitting<'_>) -> Result<Self, Error> {
        let left = self.plan.stop.max_steps.saturating_sub(fit.trace().len() as u64);
        let is_mixture = matches!(start.family().kind, Kind::Mog { .. });
        // Who asks for a smaller tolerance wants the approximation itself.
        let is_usual = self.plan.stop.remaining_nats >= Stop::default().remaining_nats;
        let is_start = is_usual && self.plan.correct != Correct::Never && may_be_corrected(self.target);
        let grows = is_mixture && !is_start;
        let max_steps =
            if is_mixture { left } else { left.min(self.plan.stop.max_steps / tuning::ladder::STEPS_DIVISOR) };
        let mut stop = Stop { max_steps, ..self.plan.stop };
        if is_start {
            let of = if is_mixture { tuning::ladder::mixture_gradients } else { tuning::ladder::gaussian_gradients };
            let enough = fit.counts.gradient + of(self.target.dim()) * start.n_components() as u64;
            stop.max_evaluations = stop.max_evaluations.min(enough);
        }
        let plan = Plan { seed: self.seed(), stop, ..self.plan.clone() };
        let steps = match () {
            () if grows => grow,
            () if is_start && !is_mixture => run_for_chains,
            () => run_from,
        };
        let stepped = steps(self.target, start, &plan, fit);
        let mut posterior = match fit.or_reached(stepped, || self.reached()) {
            // A bent start may stand where there is no density; the Gaussian one may not.
            Err(Error::BadStart { .. }) if self.best.is_some() => return Ok(self),
            outcome => outcome?,
        };
        self.over = posterior.stop_reason() == StopReason::Interrupted;
        let is_short = posterior.stop_reason() == StopReason::MaxEvaluations;
        if is_start && is_short && fit.counts.gradient < self.plan.stop.max_evaluations {
            posterior.leave_to_chains();
        }
        posterior.set_agreement(self.agreement.clone());
        let mut evaluator = Evaluator::new(self.target, fit.interrupt());
        let judged = affordable_draws(evaluator.about(), tuning::ladder::JUDGED_DRAWS);
        let judged = if plan.correct == Correct::Never || grows || !posterior.is_worth_chains(&evaluator) {
            posterior.judge_by(&mut evaluator, judged, plan.seed).map(drop)
        } else {
            posterior.weights_suffice(&mut evaluator, judged, plan.seed).map(drop)
        };
        fit.counts += evaluator.take_counts();
        fit.or_reached(judged, || self.reached().or_else(|| Some(posterior.clone())))?;
        let Some(diagnostics) = posterior.diagnostics() else { return Ok(self) };
        let (elbo, pareto_k) = (diagnostics.elbo, diagnostics.pareto_k);
        let seconds = fit.clock.seconds();
        let gain = self.best.as_ref().map(|best| Estimate {
            value: elbo.value - best.elbo.value,
            mcse: elbo.mcse.hypot(best.elbo.mcse).min(f64::MAX),
        });
        self.rungs.push(Rung {
            family: posterior.family(),
            elbo,
            pareto_k,
            gain,
            counts: fit.counts.since(self.charged),
            seconds: seconds - self.charged_seconds,
            kept: false,
        });
        (self.charged, self.charged_seconds) = (fit.counts, seconds);
        // Chains are to run on each mode; few draws may not tell how much better a mixture is.
        let covers = is_mixture && is_start && Territories::of(posterior.approximation()).is_some();
        if covers || gain.is_none_or(|gain| gain.value > tuning::ladder::GAIN_ERRORS * gain.mcse) {
            self.best = Some(Judged { posterior, elbo, rung: self.rungs.len() - 1 });
        }
        Ok(self)
    }

    /// The best rung, with the record of all, and whether an observer has ended the fit.
    fn finish(mut self) -> Result<(Posterior, bool), Error> {
        let Judged { mut posterior, rung, .. } = self.best.ok_or(NO_RUNG)?;
        self.rungs.iter_mut().enumerate().for_each(|(k, tried)| tried.kept = k == rung);
        posterior.set_rungs(self.rungs);
        Ok((posterior, self.over))
    }
}
