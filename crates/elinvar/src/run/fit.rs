//! From a target and a family to a posterior in one call.

use std::ops::ControlFlow;
use std::time::Instant;

use super::components::{self, Grown};
use super::start::start_watched;
use super::watch::{Kept, Watch};
use super::{Counts, Plan, Run, Start, Step, StopReason, ladder, restarts};
use crate::Error;
use crate::block::{Diagonal, Full, ScaleMatrix};
use crate::family::{AnyApproximation, Approximation, Family, Kind, MixtureOfGaussians, with_approximation};
use crate::posterior::Posterior;
use crate::target::{Covariance, Target};

/// Fits `family` to `target`.
///
/// ```
/// use elinvar::model::Banana;
/// use elinvar::{Family, Plan};
///
/// let posterior = elinvar::fit(&Banana::default(), Family::skew(), &Plan::default())?;
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

/// [`fit_observed`], kept in a journal from which the same call continues it, to the bits of one that was never interrupted.
///
/// The limits of the plan may have changed since: where the new fit comes through what is in the journal it continues from there,
/// and the result is that of a fresh fit with these limits. Steps that are in the journal are not shown to `observe` again.
///
/// ```
/// use std::ops::ControlFlow;
///
/// use elinvar::model::Banana;
/// use elinvar::run::{Step, fit_journaled, journal};
/// use elinvar::{Error, Family, Plan, fit};
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

fn fit_kept(
    target: &dyn Target,
    family: Family,
    plan: &Plan,
    observe: &mut dyn FnMut(&Step) -> ControlFlow<()>,
    kept: Kept<'_>,
) -> Result<Posterior, Error> {
    if plan.restarts > 1 {
        restarts::best_of(target, family, plan, observe, kept)
    } else {
        fit_once(target, family, plan, &mut Watch::new(observe, kept, 0))
    }
}

/// One fit from one start.
pub(super) fn fit_once(
    target: &dyn Target,
    family: Family,
    plan: &Plan,
    watch: &mut Watch<'_>,
) -> Result<Posterior, Error> {
    let clock = Instant::now();
    let start = start_watched(target, family, plan, watch)?;
    let spent = Spent { counts: start.counts, seconds: clock.elapsed().as_secs_f64() };
    match (family.kind, family.covariance) {
        (Kind::Auto, Covariance::Full) => ladder::climb::<Full>(target, start, plan, spent, watch),
        (Kind::Auto, Covariance::Diagonal) => ladder::climb::<Diagonal>(target, start, plan, spent, watch),
        _ => {
            let Start { approximation, agreement, .. } = start;
            let mut posterior = if family.kind == Kind::MogAuto {
                grow(target, approximation, plan, spent, watch)?
            } else {
                fit_on(target, approximation, plan, spent, watch)?
            };
            posterior.set_agreement(agreement);
            Ok(posterior)
        }
    }
}

/// Fits from a given start.
///
/// # Errors
/// As [`fit`].
pub fn fit_from(
    target: &dyn Target,
    start: AnyApproximation,
    plan: &Plan,
    observe: &mut dyn FnMut(&Step) -> ControlFlow<()>,
) -> Result<Posterior, Error> {
    fit_on(target, start, plan, Spent::default(), &mut Watch::unkept(observe))
}

/// [`fit_from`], kept in a journal as [`fit_journaled`] is.
///
/// # Errors
/// As [`fit_journaled`].
pub fn fit_from_journaled<'k>(
    target: &dyn Target,
    start: AnyApproximation,
    plan: &Plan,
    observe: &mut dyn FnMut(&Step) -> ControlFlow<()>,
    kept: impl Into<Kept<'k>>,
) -> Result<Posterior, Error> {
    fit_on(target, start, plan, Spent::default(), &mut Watch::new(observe, kept.into(), 0))
}

/// What was spent before.
#[derive(Clone, Copy, Debug, Default)]
pub struct Spent {
    /// Evaluations.
    pub counts: Counts,
    /// Seconds.
    pub seconds: f64,
}

/// Fits from `start` and adds what was spent before.
pub(super) fn fit_on(
    target: &dyn Target,
    start: AnyApproximation,
    plan: &Plan,
    spent: Spent,
    watch: &mut Watch<'_>,
) -> Result<Posterior, Error> {
    with_approximation!(start, q => run_to_the_end(target, q, plan, spent, watch))
}

fn run_to_the_end<A: Approximation>(
    target: &dyn Target,
    q: A,
    plan: &Plan,
    spent: Spent,
    watch: &mut Watch<'_>,
) -> Result<Posterior, Error>
where
    AnyApproximation: From<A>,
{
    let mut run = Run::new(target, q, plan)?;
    run.evaluator.set_counts(spent.counts);
    run.seconds_before = spent.seconds;
    let reason = run.fit_watched(watch)?;
    Ok(run.finish(reason))
}

/// Grows a mixture from `start`.
pub(super) fn grow(
    target: &dyn Target,
    start: AnyApproximation,
    plan: &Plan,
    spent: Spent,
    watch: &mut Watch<'_>,
) -> Result<Posterior, Error> {
    match start {
        AnyApproximation::Mog(q) => grow_to_the_end(target, q, plan, spent, watch),
        AnyApproximation::MogDiagonal(q) => grow_to_the_end(target, q, plan, spent, watch),
        other => Err(Error::Unsupported {
            wanted: format!("growing `{}`", other.state().family),
            instead: "a mixture grows from a `mog`".into(),
        }),
    }
}

fn grow_to_the_end<S: ScaleMatrix>(
    target: &dyn Target,
    q: MixtureOfGaussians<S>,
    plan: &Plan,
    spent: Spent,
    watch: &mut Watch<'_>,
) -> Result<Posterior, Error>
where
    AnyApproximation: From<MixtureOfGaussians<S>>,
{
    let Grown { q, reason, counts, seconds, trace, .. } = components::grow_watched(target, q, plan, spent, watch)?;
    Ok(Posterior::of_run(&target.about(), q.into(), &plan.resolve(target)?, reason, counts, seconds, trace))
}

impl<A: Approximation> Run<'_, A>
where
    AnyApproximation: From<A>,
{
    /// The posterior that the run has reached.
    pub fn finish(mut self, reason: StopReason) -> Posterior {
        let (counts, seconds) = (self.counts(), self.seconds());
        if let (Some(closing), Some(last)) = (&self.closing, self.trace.last_mut()) {
            (last.remaining, last.counts) = (closing.remaining.or(last.remaining), counts);
        }
        Posterior::of_run(
            self.evaluator.about(),
            self.best().clone().into(),
            &self.plan,
            reason,
            counts,
            seconds,
            self.trace,
        )
    }
}
