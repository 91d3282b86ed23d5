//! Gaussians with k columns: z | w ~ N(μ + A w, Σ), w of k independent numbers; normal ones make a factor covariance
//! (mathematics §3.5), positive ones skewness in k directions (mathematics §3.8).

mod estimator;
mod factors;
mod gradient;
mod orthant;

pub use estimator::FactorEstimator;
use factors::Factors;
use orthant::Loadings;

use super::{Approximation, Batch, Density, Estimator, Gradient, NoiseKey, Seen, batch};
use crate::block::Location;
use crate::law::Independent;
use crate::linalg::axpy;
use crate::target::{Contraction, Shape};

/// N(μ, Σ + AAᵀ), seen as a mean mixture over k normal factors, where Σ is usually diagonal; or a mean mixture over k
/// half-normal or exponential numbers.
///
/// Paper: §4.3.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Factor<'q> {
    /// (B, P) with B = [μ, A].
    pub(crate) block: &'q Location,
    /// The law of each number.
    pub(crate) law: Independent,
}

impl<'q> Factor<'q> {
    pub(crate) fn of(q: &'q Approximation) -> Self {
        let law = q.family().independent().unwrap_or(Independent::Normal);
        Self { block: &q.locations()[0], law }
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
        self.fill_noise(Factor::of(q).law, key);
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
        if self.law != Independent::Normal {
            return Loadings::of(self, z).log_q;
        }
        let factors = Factors::of(self.block);
        let (q, _) = factors.quadratic(self.block, z);
        0.5 * (factors.log_det(self.block) - q - self.block.dim() as f64 * std::f64::consts::TAU.ln())
    }

    /// −(Σ + AAᵀ)⁻¹(z − μ), or −P(z − μ − A E[w|z]).
    fn score(&self, z: &[f64], out: &mut [f64]) {
        if self.law != Independent::Normal {
            return out.copy_from_slice(&Loadings::of(self, z).score);
        }
        let (_, score) = Factors::of(self.block).quadratic(self.block, z);
        out.copy_from_slice(&score);
    }

    /// −(Σ + AAᵀ)⁻¹ = −P + XXᵀ, or −P + PA Cov[w|z] AᵀP.
    fn hessian(&self, z: &[f64], out: &mut [f64]) {
        let (d, scale) = (self.block.dim(), self.block.scale());
        out.fill(0.0);
        scale.shape().add_to_full(-1.0, scale.precision(), out);
        if self.law != Independent::Normal {
            return Loadings::of(self, z).add_covariance(out);
        }
        let factors = Factors::of(self.block);
        for x in factors.x.chunks_exact(d) {
            Shape::Full(d).add_outer(1.0, x, out);
        }
    }

    /// μ + E\[w\] times the sum of the columns of A.
    fn mean(&self) -> Vec<f64> {
        let mut mean = self.block.column(0).to_vec();
        self.add_mean_of_columns(&mut mean);
        mean
    }

    /// Σ + Var\[w\] AAᵀ.
    fn covariance(&self) -> Vec<f64> {
        let d = self.block.dim();
        let mut cov = vec![0.0; d * d];
        self.block.scale().covariance_into(&mut cov);
        for a in self.block.b()[d..].chunks_exact(d) {
            Shape::Full(d).add_outer(self.law.variance(), a, &mut cov);
        }
        cov
    }

    fn entropy(&self) -> Option<f64> {
        if self.law != Independent::Normal {
            return None;
        }
        let log_det = Factors::of(self.block).log_det(self.block);
        Some(0.5 * (self.block.dim() as f64 * (1.0 + std::f64::consts::TAU.ln()) - log_det))
    }
}

impl Factor<'_> {
    /// Adds A E\[w\].
    fn add_mean_of_columns(&self, to: &mut [f64]) {
        if self.law == Independent::Normal {
            return;
        }
        self.block.b()[self.block.dim()..].chunks_exact(self.block.dim()).for_each(|a| axpy(self.law.mean(), a, to));
    }
}
