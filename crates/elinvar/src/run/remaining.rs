//! The estimated gain that is still to be had, in nats.

use serde::{Deserialize, Serialize};

/// Number of estimates that are averaged.
const WINDOW: usize = 6;

/// The last estimates of ½ gᵀF⁻¹g, each from two independent batches at one state.
///
/// A natural-gradient step of full length gains ½ gᵀF⁻¹g where the bound is quadratic in the metric. The square of one noisy
/// gradient overestimates it by the noise; the product of two independent ones does not.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Remaining {
    estimates: Vec<f64>,
}

impl Remaining {
    /// No estimates yet; allocates once.
    pub(super) fn new() -> Self {
        Self { estimates: Vec::with_capacity(WINDOW) }
    }

    /// Room for the window, also after a checkpoint was read.
    pub(super) fn reserve(&mut self) {
        self.estimates.reserve_exact(WINDOW.saturating_sub(self.estimates.len()));
    }

    pub(super) fn push(&mut self, half_product: f64) {
        if self.estimates.len() == WINDOW {
            self.estimates.rotate_left(1);
            self.estimates[WINDOW - 1] = half_product;
        } else {
            self.estimates.push(half_product);
        }
    }

    /// Mean and standard error over the window, once it is full.
    pub(super) fn estimate(&self) -> Option<(f64, f64)> {
        if self.estimates.len() < WINDOW {
            return None;
        }
        let n = WINDOW as f64;
        let mean = self.estimates.iter().sum::<f64>() / n;
        let variance = self.estimates.iter().map(|e| (e - mean) * (e - mean)).sum::<f64>() / (n - 1.0);
        Some((mean, (variance / n).sqrt()))
    }

    /// Whether the gain is below `tolerance` with two standard errors to spare.
    pub(super) fn is_below(&self, tolerance: f64) -> bool {
        self.estimate().is_some_and(|(mean, error)| mean + 2.0 * error < tolerance)
    }
}
