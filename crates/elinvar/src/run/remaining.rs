//! The estimated gain that is still to be had, in nats.

use serde::{Deserialize, Serialize};

/// Independent batches from which the gain is estimated.
pub(super) const BATCHES: usize = 4;

/// Estimates are at most this large.
const HUGE: f64 = 1e100;

/// An estimate of ½ gᵀF⁻¹g from independent batches at one state.
///
/// A natural-gradient step of full length gains ½ gᵀF⁻¹g where the bound is quadratic in the metric. The square of one noisy
/// gradient overestimates it by the noise; the product of two independent ones does not.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Remaining {
    pub(super) mean: f64,
    pub(super) error: f64,
}

impl Remaining {
    /// The mean of the half products of all pairs of batches, with its jackknife error; `product` gives that of pair (i, j).
    pub(super) fn of_pairs(mut product: impl FnMut(usize, usize) -> f64) -> Self {
        let mut total = 0.0;
        let mut with = [0.0; BATCHES];
        for i in 0..BATCHES {
            for j in 0..i {
                // What overflows is a large gain; the bound keeps squares, and so files, finite.
                let value = product(i, j);
                let value = if value.is_finite() { value.clamp(-HUGE, HUGE) } else { HUGE };
                total += value;
                with[i] += value;
                with[j] += value;
            }
        }
        let m = BATCHES as f64;
        let pairs = 0.5 * m * (m - 1.0);
        let mean = total / pairs;
        // Leaving out batch i leaves (m − 1)(m − 2)/2 pairs.
        let without = |i: usize| (total - with[i]) / (pairs - (m - 1.0));
        let spread: f64 = (0..BATCHES).map(|i| (without(i) - mean).powi(2)).sum();
        Self { mean, error: ((m - 1.0) / m * spread).sqrt() }
    }

    /// The estimate times a factor.
    pub(super) fn times(self, factor: f64) -> Self {
        Self { mean: factor * self.mean, error: factor * self.error }
    }

    /// Whether the gain is below `tolerance` with two standard errors to spare.
    ///
    /// The estimate is unbiased and so may be negative; a clearly negative one is noise, not convergence.
    pub(super) fn is_below(&self, tolerance: f64) -> bool {
        self.mean.abs() + 2.0 * self.error < tolerance
    }
}
