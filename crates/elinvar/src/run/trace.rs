//! What happened in each step.

use serde::{Deserialize, Serialize};

use crate::evaluate::Counts;

/// One step of a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// Index of the step, from 0.
    pub index: u64,
    /// The ELBO before the step, estimated from its draws.
    pub elbo: Option<f64>,
    /// Its Monte Carlo standard error, as if the draws were independent.
    pub elbo_se: Option<f64>,
    /// β of the schedule.
    pub beta: f64,
    /// The smallest β that a block took; smaller than `beta` after halving or by the KL bound, 0 if a block stayed.
    pub taken: f64,
    /// KL(q_new ‖ q) of the step in nats, for a mixture that of the joint with what is mixed over; `None` where the rule has no
    /// bound on it.
    #[serde(default)]
    pub kl: Option<f64>,
    /// Estimated remaining gain in nats with its standard error, where it is known.
    pub remaining: Option<(f64, f64)>,
    /// Draws dropped in this step.
    pub dropped: u64,
    /// Draws per component in this step.
    pub n_draws: usize,
    /// Number of components of the approximation.
    #[serde(default = "one")]
    pub components: usize,
    /// Evaluations so far.
    pub counts: Counts,
    /// Seconds so far.
    pub seconds: f64,
}

/// What files from before mixtures could grow leave out.
fn one() -> usize {
    1
}
