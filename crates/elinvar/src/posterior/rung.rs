//! One family that was tried on the way to the one that was kept.

use serde::{Deserialize, Serialize};

use super::Estimate;
use crate::family::Family;
use crate::run::Counts;

/// What a family of the ladder reached, bought and cost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rung {
    /// The family.
    pub family: Family,
    /// Its ELBO.
    pub elbo: Estimate,
    /// Its k̂, where it is known.
    pub pareto_k: Option<f64>,
    /// Its ELBO less that of the rung below, in nats; `None` for the first.
    pub gain: Option<Estimate>,
    /// Evaluations it took, those of its start and of its diagnostics included.
    pub counts: Counts,
    /// Seconds it took.
    pub seconds: f64,
    /// Whether it is the one that was kept.
    pub kept: bool,
}
