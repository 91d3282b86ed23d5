//! The mixture that a run from a pool moves: log weights, means and factors of precisions.

use serde::{Deserialize, Serialize};

use crate::Error;
use crate::block::{Location, LogWeights, Scale};
use crate::family::Approximation;
use crate::linalg::dot;
use crate::run::residual::Whitened;
use crate::special::logistic::log_sum_exp;
use crate::target::Shape;

/// Σ_c π_c N(μ_c, (L_c L_cᵀ)⁻¹).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(in crate::run) struct Mixture {
    /// log π, normalised.
    pub(super) log_weights: Vec<f64>,
    pub(super) blocks: Vec<Whitened>,
}

impl Mixture {
    /// The numbers of a `mog` with full covariances.
    pub(super) fn of(q: &Approximation) -> Self {
        Self { log_weights: q.weights().log().to_vec(), blocks: q.locations().iter().map(Whitened::of_block).collect() }
    }

    pub(super) fn approximation(&self) -> Result<Approximation, Error> {
        let block = |block: &Whitened| {
            let d = block.mean.len();
            Location::new(block.mean.clone(), Scale::from_precision(Shape::Full(d), block.precision())?)
        };
        let blocks = self.blocks.iter().map(block).collect::<Result<_, Error>>()?;
        Approximation::mixture(LogWeights::new(self.log_weights.clone())?, blocks)
    }

    pub(super) fn dim(&self) -> usize {
        self.blocks[0].mean.len()
    }

    pub(super) fn n_components(&self) -> usize {
        self.blocks.len()
    }

    /// π_c.
    pub(super) fn weight(&self, c: usize) -> f64 {
        self.log_weights[c].exp()
    }

    /// Copies another of the same shape; allocates nothing.
    pub(super) fn set(&mut self, other: &Self) {
        self.log_weights.copy_from_slice(&other.log_weights);
        for (to, from) in self.blocks.iter_mut().zip(&other.blocks) {
            to.mean.copy_from_slice(&from.mean);
            to.factor.copy_from_slice(&from.factor);
        }
    }

    /// log q at each of several points.
    pub(super) fn log_densities(&self, z: &[f64], whitening: &mut Whitening) -> Vec<f64> {
        let n = z.len() / self.dim();
        let mut parts = vec![0.0; self.n_components()];
        let mut logs = vec![Vec::new(); self.n_components()];
        for (block, logs) in self.blocks.iter().zip(&mut logs) {
            whitening.look(block, z, logs);
        }
        let log_q = |s: usize| {
            parts.iter_mut().zip(&logs).zip(&self.log_weights).for_each(|((p, log), w)| *p = w + log[s]);
            log_sum_exp(&parts)
        };
        (0..n).map(log_q).collect()
    }

    /// Whether a run in `dim` coordinates with `n` components can have kept it.
    pub(super) fn is_sound(&self, dim: usize, n: usize) -> bool {
        let shaped = |block: &Whitened| block.is_sound(dim);
        self.log_weights.len() == n
            && self.blocks.len() == n
            && self.blocks.iter().all(shaped)
            && log_sum_exp(&self.log_weights).abs() < 1e-6
    }
}

/// Memory for whitening points.
#[derive(Default)]
pub(super) struct Whitening {
    offset: Vec<f64>,
    /// The points of the last look, x = Lᵀ(z − μ).
    pub(super) x: Vec<f64>,
}

impl Whitening {
    /// Whitens the points by a component and writes its log density at each.
    pub(super) fn look(&mut self, block: &Whitened, z: &[f64], log: &mut Vec<f64>) {
        let d = block.mean.len();
        self.offset.clear();
        self.offset.extend(z.chunks_exact(d).flat_map(|z| z.iter().zip(&block.mean).map(|(z, mean)| z - mean)));
        self.x.resize(z.len(), 0.0);
        crate::linalg::cholesky::factor_transposed_times(d, &block.factor, &self.offset, &mut self.x);
        let constant = block.half_log_det() - 0.5 * d as f64 * std::f64::consts::TAU.ln();
        log.clear();
        log.extend(self.x.chunks_exact(d).map(|x| constant - 0.5 * dot(x, x)));
    }
}
