//! From a target and a family to a posterior in one call.

use std::ops::ControlFlow;

use super::components;
use super::contained::Contained;
use super::faults::Watch;
use super::fitting::{Fitting, Kept};
use super::pooled::PooledRun;
use super::residual::ResidualRun;
use super::start::start_in;
use super::{Plan, Run, Step, Stop, StopReason, ladder, restarts};
use crate::Error;
use crate::estimate::Curvature;
use crate::family::{Approximation, Family, Kind};
use crate::posterior::Posterior;
use crate::target::Target;
use crate::tuning::pooled::draws_before_a_pool;

/// Fits `family` to `target`.
///
/// ```
/// use elinvar::model::Banana;
/// use elinvar::{Family, Plan};
///
/// let posterior = elinvar::run::fit(&Banana::default(), Family::skew(), &Plan::default())?;
/// assert!(posterior.converged());
/// # Ok::<(), elinvar::Error>(())
/// ```
///
/// # Errors
/// A sentence about what does not fit together, or the target's own error.
pub fn fit(target: &dyn Target, family: Family, plan: &Plan) -> Result<Posterior, Error> {
    fit_observed(target, family, plan, &mut |_| ControlFlow::Continue(()))
}

/// [`fit`], showing each step to `observe`, which may end the run. Of several restarts it sees the first.
///
/// # Errors
/// As [`fit`].
pub fn fit_observed(
    target: &dyn Target,
    family: Family,
    plan: &Plan,
    observe: &mut dyn FnMut(&Step) -> ControlFlow<()>,
) -> Result<Posterior, Error> {
    fit_kept(target, family, plan, observe, Kept::default())
}

/// [`fit_observed`], kept in a journal from which the same call continues it, to the bits of one that was never
/// interrupted.
///
/// The limits of the plan may have changed since: where the new fit comes through what is in the journal it continues
/// from there, and the result is that of a fresh fit with these limits. Steps that are in the journal are not shown to
/// `observe` again.
///
/// ```
/// use std::ops::ControlFlow;
///
/// use elinvar::model::Banana;
/// use elinvar::run::{Step, fit_journaled, journal};
/// use elinvar::{Error, Family, Plan};
/// use elinvar::run::fit;
///
/// # let folder = std::env::temp_dir().join(format!("elinvar-journal-{}", std::process::id()));
/// let journal = journal::Folder::new(folder)?;
/// let (target, family, plan) = (Banana::default(), Family::skew(), Plan::default());
/// let mut impatient = |step: &Step| if step.index < 20 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) };
/// let begun = fit_journaled(&target, family, &plan, &mut impatient, &journal);
/// assert!(matches!(begun, Err(Error::Interrupted)));
///
/// let mut patient = |_: &_| ControlFlow::Continue(());
/// let resumed = fit_journaled(&target, family, &plan, &mut patient, &journal)?;
/// assert_eq!(resumed.approximation(), fit(&target, family, &plan)?.approximation());
/// # std::fs::remove_dir_all(journal.path()).unwrap();
/// # Ok::<(), Error>(())
/// ```
///
/// # Errors
/// As [`fit`]; those of the journal; [`Error::Interrupted`] if `observe` or the interrupt has ended the fit.
pub fn fit_journaled<'k>(
    target: &dyn Target,
    family: Family,
    plan: &Plan,
    observe: &mut dyn FnMut(&Step) -> ControlFlow<()>,
    kept: impl Into<Kept<'k>>,
) -> Result<Posterior, Error> {
    fit_kept(target, family, plan, observe, kept.into())
}

pub(super) fn fit_kept(
    target: &dyn Target,
    family: Family,
    plan: &Plan,
    observe: &mut dyn FnMut(&Step) -> ControlFlow<()>,
    kept: Kept<'_>,
) -> Result<Posterior, Error> {
    if plan.restarts > 1 {
        let gives_best = kept.gives_best && kept.journal.is_none();
        let mut posterior = restarts::best_of(target, family, plan, observe, kept)?;
        if gives_best && posterior.stop_reason() == StopReason::Interrupted {
            return Ok(posterior);
        }
        // The best knows now what the others found, and has forgotten an answer that did not.
        let mut silent = |_: &_| ControlFlow::Continue(());
        let mut fit = Fitting::new(&mut silent, Kept { journal: None, ..kept }, 0);
        match ladder::answer_anew(target, family, &mut posterior, plan, &mut fit) {
            Err(Error::Interrupted) if gives_best => posterior.end_interrupted(),
            answered => answered?,
        }
        Ok(posterior)
    } else {
        fit_once(target, family, plan, &mut Fitting::new(observe, kept, 0))
    }
}

/// One fit from one start.
pub(super) fn fit_once(
    target: &dyn Target,
    family: Family,
    plan: &Plan,
    fit: &mut Fitting<'_>,
) -> Result<Posterior, Error> {
    let fitted = fit_to_the_end(target, family, plan, fit);
    fit.or_best(fitted)
}

fn fit_to_the_end(target: &dyn Target, family: Family, plan: &Plan, fit: &mut Fitting<'_>) -> Result<Posterior, Error> {
    let plan = &plan.or_by_pool(target, family);
    let mut watch = Watch::new(target, plan.seed);
    let start = start_in(target, family, plan, fit).map_err(|error| watch.explain(error, fit))?;
    let begun = watch.begin(&start.approximation, fit);
    fit.or_member(begun, target, plan, &start.approximation)?;
    let mut posterior = if family.kind == Kind::Auto {
        ladder::climb(target, start, plan, fit)?
    } else {
        let mut posterior = match family.kind {
            Kind::MogAuto => grow(target, start.approximation, plan, fit)?,
            _ => run_beside(target, start.approximation, start.contained, Pool::MayFollow, plan, fit)?,
        };
        posterior.set_agreement(start.agreement);
        let answered = ladder::answer_where_asked(target, &mut posterior, plan, fit);
        fit.or_reached(answered, || Some(posterior.clone()))?;
        posterior
    };
    let ended = watch.end(posterior.approximation(), fit);
    let fault = fit.or_reached(ended, || Some(posterior.clone()))?;
    posterior.set_fault(fault);
    fit.finish(&mut posterior);
    Ok(posterior)
}

/// Fits from a given start.
///
/// # Errors
/// As [`fit`].
pub fn fit_from(
    target: &dyn Target,
    start: Approximation,
    plan: &Plan,
    observe: &mut dyn FnMut(&Step) -> ControlFlow<()>,
) -> Result<Posterior, Error> {
    fit_from_kept(target, start, plan, observe, Kept::default())
}

/// [`fit_from`], kept in a journal as [`fit_journaled`] is.
///
/// # Errors
/// As [`fit_journaled`].
pub fn fit_from_journaled<'k>(
    target: &dyn Target,
    start: Approximation,
    plan: &Plan,
    observe: &mut dyn FnMut(&Step) -> ControlFlow<()>,
    kept: impl Into<Kept<'k>>,
) -> Result<Posterior, Error> {
    fit_from_kept(target, start, plan, observe, kept.into())
}

pub(super) fn fit_from_kept(
    target: &dyn Target,
    start: Approximation,
    plan: &Plan,
    observe: &mut dyn FnMut(&Step) -> ControlFlow<()>,
    kept: Kept<'_>,
) -> Result<Posterior, Error> {
    let mut fit = Fitting::new(observe, kept, 0);
    let fitted = fit_from_to_the_end(target, start, plan, &mut fit);
    fit.or_best(fitted)
}

fn fit_from_to_the_end(
    target: &dyn Target,
    start: Approximation,
    plan: &Plan,
    fit: &mut Fitting<'_>,
) -> Result<Posterior, Error> {
    let mut watch = Watch::new(target, plan.seed);
    if start.dim() == target.dim() {
        let begun = watch.begin(&start, fit);
        fit.or_member(begun, target, plan, &start)?;
    }
    let mut posterior = run_from(target, start, plan, fit)?;
    let answered = ladder::answer_where_asked(target, &mut posterior, plan, fit);
    fit.or_reached(answered, || Some(posterior.clone()))?;
    let ended = watch.end(posterior.approximation(), fit);
    let fault = fit.or_reached(ended, || Some(posterior.clone()))?;
    posterior.set_fault(fault);
    fit.finish(&mut posterior);
    Ok(posterior)
}

/// One run from `start`, as a part of a fit.
pub(super) fn run_from(
    target: &dyn Target,
    start: Approximation,
    plan: &Plan,
    fit: &mut Fitting<'_>,
) -> Result<Posterior, Error> {
    run_beside(target, start, None, Pool::MayFollow, plan, fit)
}

/// [`run_from`] for a Gaussian that chains go on from: what is left to it is theirs to find.
pub(super) fn run_for_chains(
    target: &dyn Target,
    start: Approximation,
    plan: &Plan,
    fit: &mut Fitting<'_>,
) -> Result<Posterior, Error> {
    run_beside(target, start, None, Pool::Left, plan, fit)
}

/// Whether a Gaussian that residual scores leave unfinished goes on by a pool, where that is possible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pool {
    MayFollow,
    Left,
}

/// The same beside the Gaussian that the family contains, if that is known.
fn run_beside(
    target: &dyn Target,
    start: Approximation,
    contained: Option<Contained>,
    pool: Pool,
    plan: &Plan,
    fit: &mut Fitting<'_>,
) -> Result<Posterior, Error> {
    if plan.goes_by_residuals(target, start.family())? {
        let is_free = plan.curvature != Curvature::LeastChange;
        let mut run = ResidualRun::new(target, start.clone(), plan)?;
        let has_pool = pool == Pool::MayFollow && plan.may_go_on_by_pool(target, start.family());
        if has_pool {
            run = run.at_most(draws_before_a_pool(start.dim()));
        }
        let from = match fit.carry(&mut run) {
            // An edge through the start takes one of two mirrored draws.
            Err(Error::BadStart { .. }) if is_free => start,
            Ok(StopReason::Stagnated) if is_free && fit.steps_of_part() < plan.stop.max_steps => {
                run.posterior(StopReason::Stagnated)?.approximation().clone()
            }
            reason => return run.posterior(reason?),
        };
        let mut stop = Stop { max_steps: plan.stop.max_steps - fit.steps_of_part(), ..plan.stop };
        // A pool would leave the edges of a target to its bound, which knows nothing of what lies behind them.
        if has_pool && fit.counts.dropped == 0 {
            // What a batch of draws leaves open, all of them together may tell.
            let mut run = PooledRun::new(target, from.clone(), &Plan { stop, ..plan.clone() })?;
            match fit.carry(&mut run) {
                Err(Error::BadStart { .. }) => {}
                // What it has come to is no better for it, and may be anywhere.
                Ok(StopReason::Stagnated) if fit.steps_of_part() < stop.max_steps => {}
                reason => return run.posterior(reason?),
            }
            stop.max_steps -= fit.steps_of_part();
            return run_beside(target, from, contained, Pool::Left, &Plan { stop, ..plan.clone() }, fit);
        }
        // Kinks and edges are noise to residual scores, which no number of draws takes away; averages of steps do.
        let curvature = match target.about().offers.hessian {
            true => Curvature::Hessian,
            false => Curvature::Stein { control_variate: true },
        };
        let plan = Plan { curvature, stop, ..plan.clone() };
        return run_beside(target, from, contained, pool, &plan, fit);
    }
    if plan.goes_by_pool(target, start.family())? {
        let plan = &plan.without_pool();
        let mut run = PooledRun::new(target, start.clone(), plan)?;
        let from = match fit.carry(&mut run) {
            Err(Error::BadStart { .. }) => start,
            Ok(StopReason::Stagnated) if fit.steps_of_part() < plan.stop.max_steps => run.reached()?,
            reason => return run.posterior(reason?),
        };
        let stop = Stop { max_steps: plan.stop.max_steps - fit.steps_of_part(), ..plan.stop };
        let plan = Plan { stop, ..plan.resolve(target)? };
        return run_beside(target, from, contained, pool, &plan, fit);
    }
    let mut run = Run::new(target, start, plan)?;
    run.contained = contained;
    let reason = fit.carry(&mut run)?;
    let before = run.evaluator.counts();
    let settled = run.settle(reason, fit.remaining());
    let (reason, remaining) = fit.or_reached(settled, || Some(run.posterior(StopReason::Interrupted, None)))?;
    fit.counts += run.evaluator.counts().since(before);
    Ok(run.posterior(reason, remaining))
}

/// A mixture that grows from `start`, as a part of a fit.
pub(super) fn grow(
    target: &dyn Target,
    start: Approximation,
    plan: &Plan,
    fit: &mut Fitting<'_>,
) -> Result<Posterior, Error> {
    let by_pool = plan.goes_by_pool(target, start.family())?;
    let plan = plan.without_pool().resolve(target)?;
    let components::Grown { q, reason, .. } = components::grow_in(target, start, &plan, by_pool, fit)?;
    Ok(Posterior::of_run(&target.about(), q, &plan, reason, fit.remaining()))
}
