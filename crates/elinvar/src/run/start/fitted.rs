//! The Gaussian that the start of another family is made from, and what it is to a family that contains it.

use super::bend::unbent;
use super::draft::Draft;
use crate::Error;
use crate::estimate::Curvature;
use crate::family::{Approximation, Family};
use crate::plan::{Plan, Stop};
use crate::random::{Purpose, Stream};
use crate::record::StopReason;
use crate::rule::StepSize;
use crate::run::Run;
use crate::run::contained::Contained;
use crate::run::fitting::Fitting;
use crate::run::residual::ResidualRun;
use crate::target::{Covariance, Target};
use crate::tuning::contained::{GRADIENTS_OF_STEPS, STEPS};
use crate::tuning::start::{ROUGH_NATS, ROUGH_STEPS};

/// A Gaussian with what its fit had left to gain.
pub(super) struct Fitted {
    pub(super) q: Approximation,
    remaining: Option<(f64, f64)>,
    by_residuals: bool,
}

/// The Gaussian that begins as `draft`: to the tolerance of the plan, or as near as it comes, where the family contains
/// it, and roughly for others. By residual scores where these converge, else by averages of natural-gradient steps.
///
/// # Errors
/// Those of the target.
pub(super) fn fitted(
    target: &dyn Target,
    draft: Draft,
    (family, covariance): (Family, Covariance),
    plan: &Plan,
    fit: &mut Fitting<'_>,
) -> Result<Fitted, Error> {
    let cautious = Plan::default();
    let seed = |step| Stream::open(plan.seed, Purpose::Start, step, 0).next_u64();
    let rough = Stop {
        remaining_nats: plan.stop.remaining_nats.max(ROUGH_NATS),
        max_steps: ROUGH_STEPS.min(plan.stop.max_steps),
        ..plan.stop
    };
    let short = Plan {
        // The fit that follows must not see the draws from which its start was made.
        seed: seed(3),
        stop: rough,
        rule: cautious.rule,
        step_size: cautious.step_size,
        max_kl: cautious.max_kl,
        ..plan.clone()
    };
    let is_compared = is_compared(family, plan);
    let exact = Stop { remaining_nats: plan.stop.remaining_nats, ..rough };
    let mut start = draft.clone().finish()?;
    if draft.family.covariance == Covariance::Full && goes_by_residuals(target, plan) {
        // Hessians where they are wanted in any case, gradients where they are not.
        let curvature = match plan.curvature {
            Curvature::Auto | Curvature::Hessian => Curvature::Auto,
            _ => Curvature::LeastChange,
        };
        let plan = Plan { curvature, stop: if is_compared { exact } else { rough }, ..short.clone() };
        let mut run = ResidualRun::new(target, start.clone(), &plan)?;
        match fit.carry_unseen(|fit| fit.carry(&mut run)) {
            Ok(reason @ (StopReason::Converged | StopReason::Stagnated | StopReason::MaxSteps)) => {
                let (q, remaining) = run.reached()?;
                if reason == StopReason::Converged {
                    return Ok(Fitted { q, remaining, by_residuals: true });
                }
                start = q;
            }
            Err(error) if !matches!(error, Error::BadStart { .. }) => return Err(error),
            _ => {}
        }
    }
    if start.family().covariance != covariance {
        // As the family has it.
        start = draft.narrowed_to(covariance).finish()?;
    }
    let mut run = Run::new(target, start, &short)?;
    fit.carry_unseen(|fit| fit.carry(&mut run))?;
    if !is_compared {
        return Ok(Fitted { q: run.best().clone(), remaining: run.last_remaining(), by_residuals: false });
    }
    let stop = Stop { max_steps: STEPS.min(plan.stop.max_steps), ..exact };
    let mut run = Run::new(target, run.best().clone(), &Plan { seed: seed(4), stop, ..short })?;
    fit.carry_unseen(|fit| fit.carry(&mut run))?;
    Ok(Fitted { q: run.best().clone(), remaining: run.last_remaining(), by_residuals: false })
}

/// Whether residual scores can see the target: they want whole gradients.
fn goes_by_residuals(target: &dyn Target, plan: &Plan) -> bool {
    target.about().offers.gradient && plan.minibatch.is_none() && plan.curvature != Curvature::GradientFree
}

/// Whether a fit of the family is compared with the Gaussian in it.
fn is_compared(family: Family, plan: &Plan) -> bool {
    // Steps of a given length need not have come far when they are looked at.
    let is_free = plan.step_size == StepSize::Auto && plan.rule.auto_step_size().is_none();
    let is_exact = plan.minibatch.is_none() && plan.curvature != Curvature::GradientFree;
    family.contains_gaussian() && is_free && is_exact
}

/// The fitted Gaussian as a member of a family that is compared with it.
pub(super) fn contained(
    fitted: &Fitted,
    family: Family,
    plan: &Plan,
    fit: &Fitting<'_>,
) -> Result<Option<Contained>, Error> {
    if !is_compared(family, plan) {
        return Ok(None);
    }
    let times = if fitted.by_residuals { GRADIENTS_OF_STEPS } else { 1 };
    let q = unbent(&fitted.q, family)?;
    Ok(Some(Contained { q, remaining: fitted.remaining, gradients: times * fit.counts.gradient }))
}
