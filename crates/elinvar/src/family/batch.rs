//! One batch of draws, and what decides its shape.

use crate::estimate::{Curvature, MixingWeights, Sampling, ShapeEstimator};
use crate::random::Noise;
use crate::rule::Printed;
use crate::target::{DrawBuffer, Prior};

/// The choices that shape a batch.
#[derive(Clone, Copy, Debug)]
pub struct DrawPlan {
    /// Draws per component; in all, where the mixture is drawn as a whole.
    pub n_draws: usize,
    /// Where normals come from.
    pub noise: Noise,
    /// Where the draws of a mixture come from.
    pub sampling: Sampling,
    /// Where curvature comes from.
    pub curvature: Curvature,
    /// Which function of (w, z) weighs a draw.
    pub weights: MixingWeights,
    /// How the slope in a learned shape is estimated.
    pub shape: ShapeEstimator,
    /// The options of the rule `printed`, where that is the rule.
    pub printed: Option<Printed>,
    /// Whether log q is differentiated along the draws, like the target, where it could be by its Hessian.
    pub pathwise: bool,
}

impl DrawPlan {
    /// `n` independent draws from q, for use outside a fit.
    pub fn independent(n: usize) -> Self {
        Self {
            n_draws: n,
            noise: Noise::Independent,
            sampling: Sampling::Mixture,
            curvature: Curvature::Hessian,
            weights: MixingWeights::Sampled,
            shape: ShapeEstimator::Exact,
            printed: None,
            pathwise: false,
        }
    }
}

/// Points at which a target is evaluated in one iteration.
#[derive(Clone, Debug)]
pub struct Batch {
    /// The draws, then the points ẑ of option II, then one centre per block for control variates; each part may be
    /// empty.
    pub draws: DrawBuffer,
    /// Number of draws from q.
    pub n: usize,
    /// Number of points ẑ (0 or n).
    pub n_paired: usize,
    /// log q at each draw.
    pub log_q: Vec<f64>,
    /// Which draws count; the others had a non-finite evaluation.
    pub kept: Vec<bool>,
}

impl Batch {
    /// A batch of `n` draws with `n_paired` points ẑ and `n_centres` centres.
    pub fn new(dim: usize, n: usize, n_paired: usize, n_centres: usize) -> Self {
        Self {
            draws: DrawBuffer::zeros(dim, n + n_paired + n_centres),
            n,
            n_paired,
            log_q: vec![0.0; n],
            kept: vec![true; n],
        }
    }

    /// The index of the centre of block `c` among the draws.
    pub fn centre(&self, c: usize) -> usize {
        self.n + self.n_paired + c
    }

    /// Number of draws that count.
    pub fn n_kept(&self) -> usize {
        self.kept.iter().filter(|kept| **kept).count()
    }

    /// Mean and standard error of a value over the kept draws of a range.
    pub(super) fn mean_and_error(&self, range: std::ops::Range<usize>, value: impl Fn(usize) -> f64) -> (f64, f64) {
        let (mut n, mut mean, mut squares) = (0.0, 0.0, 0.0);
        for s in range.filter(|s| self.kept[*s]) {
            let value = value(s);
            n += 1.0;
            let delta = value - mean;
            mean += delta / n;
            squares += delta * (value - mean);
        }
        // No draw has no mean, and one says nothing about its error: 0/0 in both places.
        (if n == 0.0 { f64::NAN } else { mean }, (squares / (n - 1.0) / n).sqrt())
    }
}

/// Gives every kept draw the same weight, and the others none; false if there is none left.
pub(super) fn weigh_equally(batch: &Batch, weight: &mut [f64]) -> bool {
    let n_kept = batch.n_kept();
    for (weight, kept) in weight.iter_mut().zip(&batch.kept) {
        *weight = if *kept { 1.0 / n_kept as f64 } else { 0.0 };
    }
    n_kept > 0
}

/// Mean and standard error of log p + log prior − log q over the kept draws of a range.
pub(super) fn mean_difference(
    log_p: &[f64],
    prior: &Prior,
    batch: &Batch,
    range: std::ops::Range<usize>,
) -> (f64, f64) {
    match prior {
        Prior::None => batch.mean_and_error(range, |s| log_p[s] + 0.0 - batch.log_q[s]),
        prior => batch.mean_and_error(range, |s| log_p[s] + prior.log_density(batch.draws.get(s)) - batch.log_q[s]),
    }
}
