//! Components that are stretched.

/// Where every axis is asked first, and the nats by which log p falls less than the Gaussian's there.
pub(crate) const FAR: f64 = 5.0;
pub(crate) const EXCESS: f64 = 1.5;
/// Mean squared residual that a component itself explains, and its share of all, from which an axis is asked.
pub(crate) const WRONG: f64 = 0.02;
pub(crate) const EXPLAINED: f64 = 0.3;
/// Nats below the top at which a law has ended.
pub(crate) const NOTHING: f64 = 60.0;
/// What is left of the gradients of a component may grow by this factor and this number.
pub(crate) const WORSE: f64 = 1.1;
pub(crate) const SLACK: f64 = 0.02;
