//! What most programs need, in one `use`.

pub use crate::family::Approximation;
pub use crate::posterior::{Answer, Diagnostics, Estimate, Judgement, Sample, Verdict};
pub use crate::run::{Placement, Run, Step, Stop, StopReason};
pub use crate::target::{
    Covariance, Pointwise, PointwiseHessian, PointwiseSecondOrder, PointwiseTarget, Target, TargetError, from_fn,
    from_fns,
};
pub use crate::{
    Error, Family, Fit, Model, Parameters, Plan, Posterior, StopHandle, fit, log_density, log_density_only,
};
