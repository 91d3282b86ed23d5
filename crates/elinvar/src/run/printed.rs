//! What a run of the rule `printed`, or of an estimator as printed, has to be asked before it begins.

use super::Plan;
use crate::Error;
use crate::estimate::{Curvature, Sampling, ShapeEstimator};
use crate::family::{Approximation, Kind};
use crate::law::Law;
use crate::rule::PriorTerm;
use crate::target::{Covariance, Prior};

/// Whether the declared prior is taken at the draws.
pub(super) fn takes_prior_at_draws(start: &Approximation, prior: &Prior, plan: &Plan) -> bool {
    let is_nig = matches!(start.law(), Law::InverseGaussian(_));
    let inside_h = is_nig || matches!(start.family().kind, Kind::Mog { .. } | Kind::MogAuto);
    // A matrix has its own box, with its own h.
    let is_matrix = matches!(start.family().kind, Kind::Matrix { .. });
    // A prior that shares w has no density of z alone.
    !is_matrix
        && prior.shared().is_none()
        && match plan.rule.printed().map(|options| options.prior) {
            None | Some(PriorTerm::ClosedForm) => false,
            // The Adam boxes add kδ to s.
            Some(PriorTerm::AsPrinted) => inside_h && plan.rule.adam_like().is_none(),
            Some(PriorTerm::Sampled) => true,
        }
}

/// Whether the shape can be learned as the plan says.
///
/// # Errors
/// [`Error::Unsupported`]: the printed estimator is made of Hessians.
pub(super) fn check_shape(start: &Approximation, plan: &Plan) -> Result<(), Error> {
    let literal = plan.shape == ShapeEstimator::PaperLiteral && start.law().is_learned();
    if !literal || plan.curvature == Curvature::Hessian {
        return Ok(());
    }
    Err(Error::Unsupported {
        wanted: format!("the estimator `paper_literal` of a learned shape with curvature `{}`", plan.curvature),
        instead: "it takes traces of Hessians: use curvature `hessian`, or set `shape` to `exact`".into(),
    })
}

/// Whether a mixture can be differentiated as a whole as the plan says.
///
/// # Errors
/// [`Error::Unsupported`]: the conditional distribution functions of full covariances are not taken, and what comes out
/// is an ordinary gradient.
pub(super) fn check_implicit(start: &Approximation, plan: &Plan) -> Result<(), Error> {
    let family = start.family();
    let is_diagonal = matches!(family.kind, Kind::Mog { .. }) && family.covariance == Covariance::Diagonal;
    let is_pathwise = plan.rule.is_euclidean() && plan.curvature == Curvature::Stein { control_variate: false };
    if plan.sampling != Sampling::Implicit || is_diagonal && is_pathwise && start.n_components() > 1 {
        return Ok(());
    }
    Err(Error::Unsupported {
        wanted: format!(
            "sampling `implicit` for `{family}` with rule `{}` and curvature `{}`",
            plan.rule, plan.curvature
        ),
        instead: "it differentiates a `mog` with diagonal covariances by `euclidean_adam` or `gradient_descent` with \
                  curvature `stein_plain`; otherwise use sampling `whole`"
            .into(),
    })
}
