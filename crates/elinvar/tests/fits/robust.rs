//! Nothing leaves its domain: wild steps, wild gradients, targets that fail, and choices that do not fit together.

mod bad_evaluations;
mod choices;
mod step_sizes;
mod wild_gradients;

use crate::state::{State, Stated};
use elinvar::family::Approximation;

/// Whether a state is a member of its family: finite numbers, precisions that factor, weights that sum to one.
fn problem(state: &State) -> Option<String> {
    let numbers =
        state.blocks.iter().flat_map(|block| block.b.iter().chain(&block.precision)).chain(&state.log_weights);
    if let Some(value) = numbers.copied().find(|v| !v.is_finite()) {
        return Some(format!("the state holds {value}"));
    }
    let total: f64 = state.log_weights.iter().map(|log| log.exp()).sum();
    if (total - 1.0).abs() > 1e-9 {
        return Some(format!("the weights sum to {total}"));
    }
    let q = match Approximation::from_state(state) {
        Ok(q) => q,
        Err(error) => return Some(error.to_string()),
    };
    let log_density = q.log_density(&state.blocks[0].b[..state.dim]);
    log_density.is_nan().then(|| format!("log q is {log_density} at a location"))
}
