//! Gaussian with factor covariance: z | w ~ N(μ + A w, Σ), w ~ N(0, I_k) (mathematics §3.5).

mod factors;
mod gradient;

pub use factors::FactorEstimator;
use factors::Factors;

use super::{Approximation, Batch, Density, Estimator, Gradient, NoiseKey, Seen, batch};
use crate::block::Location;
use crate::target::{Contraction, Shape};

/// N(μ, Σ + AAᵀ), seen as a mean mixture over k normal factors; usually Σ is diagonal.
///
/// Paper: §4.3.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Factor<'q> {
    /// (B, P) with B = [μ, A].
    pub(crate) block: &'q Location,
}

impl<'q> Factor<'q> {
    pub(crate) fn of(q: &'q Approximation) -> Self {
        Self { block: &q.locations()[0] }
    }

    /// k.
    pub(crate) fn rank(&self) -> usize {
        self.block.n_columns() - 1
    }
}

impl Estimator for FactorEstimator {
    fn batch(&self, q: &Approximation) -> Batch {
        Batch::new(q.dim(), self.plan.n_draws, 0, usize::from(self.plan.curvature.wants_centre()))
    }

    fn draw(&mut self, q: &Approximation, key: NoiseKey, batch: &mut Batch) {
        self.fill_noise(key);
        self.place(q, batch);
    }

    fn weigh(&mut self, _q: &Approximation, batch: &Batch) -> bool {
        batch::weigh_equally(batch, &mut self.weight)
    }

    fn contraction(&self) -> Contraction<'_> {
        Contraction::shared(&self.weight, self.weight.len())
    }

    fn gradient(&mut self, q: &Approximation, seen: &Seen<'_>, _baseline: f64, out: &mut Gradient) -> bool {
        Factor::of(q).accumulate(seen, self, &mut out.blocks[0]);
        out.is_finite()
    }
}

impl Density for Factor<'_> {
    fn log_density(&self, z: &[f64]) -> f64 {
        let factors = Factors::of(self.block);
        let (q, _) = factors.quadratic(self.block, z);
        0.5 * (factors.log_det(self.block) - q - self.block.dim() as f64 * std::f64::consts::TAU.ln())
    }

    fn score(&self, z: &[f64], out: &mut [f64]) {
        let (_, score) = Factors::of(self.block).quadratic(self.block, z);
        out.copy_from_slice(&score);
    }

    fn hessian(&self, _z: &[f64], out: &mut [f64]) {
        // −(Σ + AAᵀ)⁻¹ = −P + XXᵀ.
        let (d, scale) = (self.block.dim(), self.block.scale());
        let factors = Factors::of(self.block);
        out.fill(0.0);
        scale.shape().add_to_full(-1.0, scale.precision(), out);
        for x in factors.x.chunks_exact(d) {
            Shape::Full(d).add_outer(1.0, x, out);
        }
    }

    fn mean(&self) -> Vec<f64> {
        self.block.column(0).to_vec()
    }

    fn covariance(&self) -> Vec<f64> {
        let d = self.block.dim();
        let mut cov = vec![0.0; d * d];
        self.block.scale().covariance_into(&mut cov);
        for a in self.block.b()[d..].chunks_exact(d) {
            Shape::Full(d).add_outer(1.0, a, &mut cov);
        }
        cov
    }

    fn entropy(&self) -> Option<f64> {
        let log_det = Factors::of(self.block).log_det(self.block);
        Some(0.5 * (self.block.dim() as f64 * (1.0 + std::f64::consts::TAU.ln()) - log_det))
    }
}
