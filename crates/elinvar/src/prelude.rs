//! What most programs need, in one `use`.

pub use crate::family::Approximation;
pub use crate::posterior::{Answer, Diagnostics, Estimate, Judgement, Verdict};
pub use crate::run::{Run, Step, Stop, StopReason};
pub use crate::target::{
    Covariance, Pointwise, PointwiseHessian, PointwiseSecondOrder, PointwiseTarget, Target, TargetError, from_fn,
    from_fns,
};
pub use crate::{Error, Family, Plan, Posterior, fit, fit_from, fit_observed};
