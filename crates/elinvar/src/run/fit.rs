//! From a target and a family to a posterior in one call.

use std::ops::ControlFlow;
use std::time::Instant;

use super::components::{self, Grown};
use super::{Counts, Plan, Run, Step, StopReason, start};
use crate::Error;
use crate::block::ScaleMatrix;
use crate::family::{AnyApproximation, Approximation, Family, Kind, MixtureOfGaussians, with_approximation};
use crate::posterior::Posterior;
use crate::target::Target;

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

/// [`fit`], showing each step to `observe`, which may end the run.
///
/// # Errors
/// As [`fit`].
pub fn fit_observed(
    target: &dyn Target,
    family: Family,
    plan: &Plan,
    observe: &mut dyn FnMut(&Step) -> ControlFlow<()>,
) -> Result<Posterior, Error> {
    let clock = Instant::now();
    let (approximation, counts) = start(target, family, plan)?;
    let spent = Spent { counts, seconds: clock.elapsed().as_secs_f64() };
    if family.kind == Kind::MogAuto {
        return match approximation {
            AnyApproximation::Mog(q) => grow_to_the_end(target, q, plan, spent, observe),
            AnyApproximation::MogDiagonal(q) => grow_to_the_end(target, q, plan, spent, observe),
            other => unreachable!("a mixture starts as `mog`, not as {}", other.state().family),
        };
    }
    with_approximation!(approximation, q => run_to_the_end(target, q, plan, spent, observe))
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
    with_approximation!(start, q => run_to_the_end(target, q, plan, Spent::default(), observe))
}

/// What was spent before.
#[derive(Clone, Copy, Debug, Default)]
pub struct Spent {
    /// Evaluations.
    pub counts: Counts,
    /// Seconds.
    pub seconds: f64,
}

fn run_to_the_end<A: Approximation>(
    target: &dyn Target,
    q: A,
    plan: &Plan,
    spent: Spent,
    observe: &mut dyn FnMut(&Step) -> ControlFlow<()>,
) -> Result<Posterior, Error>
where
    AnyApproximation: From<A>,
{
    let mut run = Run::new(target, q, plan)?;
    run.counts = spent.counts;
    run.seconds_before = spent.seconds;
    let reason = run.fit(observe)?;
    Ok(run.finish(reason))
}

fn grow_to_the_end<S: ScaleMatrix>(
    target: &dyn Target,
    q: MixtureOfGaussians<S>,
    plan: &Plan,
    spent: Spent,
    observe: &mut dyn FnMut(&Step) -> ControlFlow<()>,
) -> Result<Posterior, Error>
where
    AnyApproximation: From<MixtureOfGaussians<S>>,
{
    let grown = components::grow(target, q, plan, spent, observe)?;
    let Grown { q, reason, counts, seconds, trace, .. } = grown;
    Ok(Posterior::of_run(target, q.into(), &plan.resolve(target)?, reason, counts, seconds, trace))
}

impl<A: Approximation> Run<'_, A>
where
    AnyApproximation: From<A>,
{
    /// The posterior that the run has reached.
    pub fn finish(self, reason: StopReason) -> Posterior {
        Posterior::of_run(
            self.target,
            self.best().clone().into(),
            &self.plan,
            reason,
            self.counts,
            self.seconds(),
            self.trace,
        )
    }
}
