//! The estimated gain that is still to be had, in nats.

use serde::{Deserialize, Serialize};

/// Fewest estimates that say anything.
const FEWEST: usize = 6;
/// Most estimates that are kept; the later half of them is averaged, so that noise shrinks as a run goes on.
const MOST: usize = 128;

/// Estimates are at most this large.
const HUGE: f64 = 1e100;

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
        Self { estimates: Vec::with_capacity(MOST) }
    }

    /// Room for the window, also after a checkpoint was read.
    pub(super) fn reserve(&mut self) {
        self.estimates.reserve_exact(MOST.saturating_sub(self.estimates.len()));
    }

    /// Forgets all estimates.
    pub(super) fn clear(&mut self) {
        self.estimates.clear();
    }

    pub(super) fn push(&mut self, half_product: f64) {
        // What overflows is a large gain; the bound keeps squares, and so files, finite.
        let half_product = if half_product.is_finite() { half_product.clamp(-HUGE, HUGE) } else { HUGE };
        if self.estimates.len() == MOST {
            self.estimates.rotate_left(1);
            self.estimates[MOST - 1] = half_product;
        } else {
            self.estimates.push(half_product);
        }
    }

    /// Mean and standard error over the later half, once there are enough.
    pub(super) fn estimate(&self) -> Option<(f64, f64)> {
        let total = self.estimates.len();
        if total < FEWEST {
            return None;
        }
        let recent = &self.estimates[total - FEWEST.max(total / 2)..];
        let n = recent.len() as f64;
        let mean = recent.iter().sum::<f64>() / n;
        let variance = recent.iter().map(|e| (e - mean) * (e - mean)).sum::<f64>() / (n - 1.0);
        Some((mean, (variance / n).sqrt()))
    }

    /// Whether the gain is below `tolerance` with two standard errors to spare.
    ///
    /// The estimate is unbiased and so may be negative; a clearly negative one is noise, not convergence.
    pub(super) fn is_below(&self, tolerance: f64) -> bool {
        self.estimate().is_some_and(|(mean, error)| mean.abs() + 2.0 * error < tolerance)
    }

    /// Whether what keeps [`Remaining::is_below`] from being true is the error of the estimate, not its size.
    pub(super) fn is_noise(&self, tolerance: f64) -> bool {
        self.estimate().is_some_and(|(mean, error)| {
            let resolved = mean.abs() + 2.0 * error < tolerance;
            !resolved && 4.0 * error > tolerance && mean < 3.0 * error
        })
    }
}
