//! Independent coordinates with a random scale each: z_i = μ_i + √s_i σ_i ε_i (mathematics §10.6).

mod draw;
mod gradient;

pub(crate) use draw::ProductEstimator;

use super::{Approximation, Batch, Density, Estimator, Gradient, NoiseKey, Seen, batch};
use crate::block::Location;
use crate::law::{Conditional, Forms, Law};
use crate::target::Contraction;

/// A product of scale mixtures of one dimension with one law; it moves by gradients alone.
///
/// With a full matrix and a scale per coordinate the family would be curved, and outside the theory. The per-coordinate
/// Price weights s_i cannot be contracted with Hessians of the target, so that the curvature is p_i E[(z_i − μ_i) ∂_i
/// f].
///
/// Paper: §4.2.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Product<'q> {
    pub(crate) law: Law,
    /// (μ, P), P diagonal.
    pub(crate) block: &'q Location,
}

impl<'q> Product<'q> {
    pub(crate) fn of(q: &'q Approximation) -> Self {
        Self { law: q.law(), block: &q.locations()[0] }
    }

    /// z_i − μ_i, p_i and the moments of s_i given z_i.
    fn coordinates<'a>(&'a self, z: &'a [f64]) -> impl Iterator<Item = (f64, f64, Conditional)> + 'a {
        assert_eq!(z.len(), self.block.dim(), "a point has {} coordinates", self.block.dim());
        z.iter().zip(self.block.column(0)).zip(self.block.scale().precision()).map(|((z, mu), p)| {
            let r = z - mu;
            (r, *p, self.law.conditional(Forms { dim: 1, q: p * r * r, ..Forms::default() }))
        })
    }
}

impl Estimator for ProductEstimator {
    fn batch(&self, q: &Approximation) -> Batch {
        Batch::new(q.dim(), self.weight.len(), 0, 0)
    }

    fn draw(&mut self, q: &Approximation, key: NoiseKey, batch: &mut Batch) {
        let q = Product::of(q);
        q.fill_noise(key, self);
        q.place(self, batch);
    }

    fn weigh(&mut self, _q: &Approximation, batch: &Batch) -> bool {
        batch::weigh_equally(batch, &mut self.weight)
    }

    fn contraction(&self) -> Contraction<'_> {
        Contraction::shared(&self.weight, self.weight.len())
    }

    fn gradient(&mut self, q: &Approximation, seen: &Seen<'_>, _baseline: f64, out: &mut Gradient) -> bool {
        Product::of(q).accumulate(seen, self, &mut out.blocks[0]);
        out.is_finite()
    }
}

impl Density for Product<'_> {
    fn log_density(&self, z: &[f64]) -> f64 {
        assert_eq!(z.len(), self.block.dim(), "a point has {} coordinates", self.block.dim());
        let log_q: f64 = z
            .iter()
            .zip(self.block.column(0))
            .zip(self.block.scale().precision())
            .map(|((z, mu), p)| self.law.log_marginal(Forms { dim: 1, q: p * (z - mu) * (z - mu), ..Forms::default() }))
            .sum();
        log_q + 0.5 * self.block.scale().log_det_precision()
    }

    fn score(&self, z: &[f64], out: &mut [f64]) {
        for (out, (r, p, c)) in out.iter_mut().zip(self.coordinates(z)) {
            *out = -c.inv_s * p * r;
        }
    }

    fn hessian(&self, z: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        for (out, (r, p, c)) in out.iter_mut().step_by(self.block.dim() + 1).zip(self.coordinates(z)) {
            *out = -c.inv_s * p + c.var_inv_s * p * p * r * r;
        }
    }

    fn mean(&self) -> Vec<f64> {
        self.block.column(0).to_vec()
    }

    fn covariance(&self) -> Vec<f64> {
        let d = self.block.dim();
        let mut cov = vec![0.0; d * d];
        self.block.scale().covariance_into(&mut cov);
        let s = self.law.moments().s;
        cov.iter_mut().for_each(|v| *v *= s);
        cov
    }

    fn entropy(&self) -> Option<f64> {
        let one = self.law.entropy(0.0, 1)?;
        Some(self.block.dim() as f64 * one.value - 0.5 * self.block.scale().log_det_precision())
    }

    fn takes_curvature(&self) -> bool {
        false
    }

    fn takes_values_alone(&self) -> bool {
        false
    }
}
