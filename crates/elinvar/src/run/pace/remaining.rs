//! The estimated gain that is still to be had, in nats.

use serde::{Deserialize, Serialize};

use crate::tuning::pace::REVIEW_BATCHES;

/// Estimates are at most this large.
const HUGE: f64 = 1e100;

/// An estimate of ½ gᵀF⁻¹g from independent batches at one state.
///
/// A natural-gradient step of full length gains ½ gᵀF⁻¹g where the bound is quadratic in the metric. The square of one
/// noisy gradient overestimates it by the noise; the product of two independent ones does not.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(in crate::run) struct Remaining {
    pub(in crate::run) mean: f64,
    pub(in crate::run) error: f64,
}

impl Remaining {
    /// The mean of the half products of all pairs of batches, with its jackknife error; `product` gives that of pair
    /// (i, j).
    pub(in crate::run) fn of_pairs(mut product: impl FnMut(usize, usize) -> f64) -> Self {
        let mut total = 0.0;
        let mut with = [0.0; REVIEW_BATCHES];
        for i in 0..REVIEW_BATCHES {
            for j in 0..i {
                // What overflows is a large gain; the bound keeps squares, and so files, finite.
                let value = product(i, j);
                let value = if value.is_finite() { value.clamp(-HUGE, HUGE) } else { HUGE };
                total += value;
                with[i] += value;
                with[j] += value;
            }
        }
        let m = REVIEW_BATCHES as f64;
        let pairs = 0.5 * m * (m - 1.0);
        let mean = total / pairs;
        // Leaving out batch i leaves (m − 1)(m − 2)/2 pairs.
        let without = |i: usize| (total - with[i]) / (pairs - (m - 1.0));
        let spread: f64 = (0..REVIEW_BATCHES).map(|i| (without(i) - mean).powi(2)).sum();
        Self { mean, error: ((m - 1.0) / m * spread).sqrt() }
    }

    /// The estimate times a factor.
    pub(in crate::run) fn times(self, factor: f64) -> Self {
        Self { mean: factor * self.mean, error: factor * self.error }
    }

    /// Whether the gain is below `tolerance` with two standard errors to spare.
    ///
    /// The estimate is unbiased and so may be negative; a clearly negative one is noise, not convergence.
    pub(in crate::run) fn is_below(&self, tolerance: f64) -> bool {
        self.mean.abs() + 2.0 * self.error < tolerance
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::dot;
    use crate::random::{Purpose, Stream};

    /// Estimates of ½|g|² = 0.5 from batches g + N(0, noise²) in five dimensions.
    fn estimates(noise: f64, n: u64) -> Vec<Remaining> {
        let g = [0.8, 0.0, -0.6, 0.0, 0.0];
        let estimate = |step| {
            let mut stream = Stream::open(29, Purpose::Check, step, 0);
            let batches: [[f64; 5]; REVIEW_BATCHES] = std::array::from_fn(|_| g.map(|g| g + noise * stream.normal()));
            Remaining::of_pairs(|i, j| 0.5 * dot(&batches[i], &batches[j]))
        };
        (0..n).map(estimate).collect()
    }

    fn moments(values: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
        let n = values.clone().count() as f64;
        let mean = values.clone().sum::<f64>() / n;
        (mean, values.map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0))
    }

    /// Where the noise is a hundredth, as large as, and ten times the gradient; 4.5 standard errors: 2e−5 for a new
    /// seed.
    ///
    /// The jackknife is exact where the estimate is linear in the noise. Where it is a product of noise, the six pairs
    /// are uncorrelated with variance v each: the estimate has v/6, and the expected jackknife is ¾ · 4 · (v/3 − v/6) =
    /// 3 v/6.
    #[test]
    fn the_estimate_is_unbiased_and_knows_its_error() {
        for (noise, factor) in [(0.01, 1.0), (1.0, 2.1), (10.0, 3.0)] {
            let found = estimates(noise, 20_000);
            let (mean, variance) = moments(found.iter().map(|r| r.mean));
            let error = (variance / 20_000.0).sqrt();
            assert!((mean - 0.5).abs() < 4.5 * error, "{mean} ± {error} with noise {noise}");
            let (claimed, _) = moments(found.iter().map(|r| r.error * r.error));
            let ratio = claimed / variance;
            assert!((ratio / factor - 1.0).abs() < 0.1, "noise {noise}: {variance}, claimed {claimed}: {ratio}");
        }
    }

    #[test]
    fn batches_that_agree_leave_no_doubt() {
        let remaining = Remaining::of_pairs(|_, _| 0.004);
        assert_eq!(remaining.mean, 0.004);
        assert!(remaining.error < 1e-17);
        assert!(
            remaining.is_below(0.01) && remaining.times(2.0).is_below(0.01) && !remaining.times(3.0).is_below(0.01)
        );
    }

    #[test]
    fn what_overflows_is_a_large_gain() {
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let remaining = Remaining::of_pairs(|i, j| if (i, j) == (3, 1) { value } else { 1e-5 });
            assert!(remaining.mean > 1e90 && remaining.error.is_finite() && !remaining.is_below(1.0));
        }
    }

    #[test]
    fn a_clearly_negative_estimate_is_noise() {
        assert!(!Remaining { mean: -0.02, error: 1e-3 }.is_below(0.01));
        assert!(!Remaining { mean: 0.0, error: 0.006 }.is_below(0.01));
        assert!(Remaining { mean: -0.002, error: 1e-3 }.is_below(0.01));
    }
}
