//! How often a target was asked.

use serde::{Deserialize, Serialize};

/// How often the target was asked, by what it was asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Points at which log p was evaluated.
    pub log_density: u64,
    /// Points at which ∇log p was evaluated. The gradients of all items at a point are one evaluation more: they cost a pass over the
    /// data, as the gradient of their sum does.
    pub gradient: u64,
    /// Points at which ∇²log p, or a Gauss–Newton matrix in its place, was evaluated.
    pub hessian: u64,
    /// Points that were dropped because something was not finite there.
    pub dropped: u64,
}

impl std::ops::AddAssign for Counts {
    fn add_assign(&mut self, other: Counts) {
        self.log_density += other.log_density;
        self.gradient += other.gradient;
        self.hessian += other.hessian;
        self.dropped += other.dropped;
    }
}

impl Counts {
    /// What was added since `before`.
    pub(crate) fn since(self, before: Counts) -> Self {
        Self {
            log_density: self.log_density - before.log_density,
            gradient: self.gradient - before.gradient,
            hessian: self.hessian - before.hessian,
            dropped: self.dropped - before.dropped,
        }
    }
}
