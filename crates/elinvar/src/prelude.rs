//! What most programs need, in one `use`.

pub use crate::research::run::{Placement, Run};
pub use crate::research::target::{Target, TargetError, from_fn};
pub use crate::{
    Answer, Covariance, Diagnostics, Error, Estimate, Family, Fit, Judgement, Model, Parameters, Plan, Posterior,
    Sample, Step, Stop, StopHandle, StopReason, Verdict, compare, fit, log_density, log_density_only,
};
