//! Products of tensor-variate Gaussians: one matrix-variate Gaussian, one per layer of a network, and tensors of order
//! up to four.

mod density;
mod draw;
mod from_variances;
mod gradient;
mod values;

pub(crate) use draw::TensorEstimator;
pub(crate) use from_variances::by_factors;

use super::{Approximation, Batch, Density, Estimator, Gradient, NoiseKey, Seen, batch};
use crate::block::{Scale, Tensor};
use crate::rule::MatrixUpdate;
use crate::target::{Contraction, Prior};

/// Independent groups of consecutive coordinates, each vec Z ~ N(vec W, V_K ⊗ … ⊗ V_1) with the first mode fastest; K =
/// 2 is the matrix-variate Gaussian with U = V_1 over rows and V = V_2 over columns, K = 1 the Gaussian (mathematics
/// §6, §10.5).
///
/// The factors of a group are determined up to numbers whose product is one.
///
/// Paper: §5, eq. (28), App. I.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TensorProduct<'q> {
    pub(crate) groups: &'q [Tensor],
    pub(crate) update: MatrixUpdate,
}

impl<'q> TensorProduct<'q> {
    pub(crate) fn of(q: &'q Approximation) -> Self {
        Self { groups: q.tensors(), update: q.update() }
    }

    /// Number of coordinates.
    pub(crate) fn size(&self) -> usize {
        self.groups.iter().map(Tensor::size).sum()
    }

    /// The groups with their coordinates.
    pub(crate) fn parts(&self) -> impl Iterator<Item = (std::ops::Range<usize>, &'q Tensor)> + use<'q> {
        self.groups.iter().scan(0, |start, group| {
            let rows = *start..*start + group.size();
            *start = rows.end;
            Some((rows, group))
        })
    }

    /// Whether the factors have all their entries.
    fn is_full(&self) -> bool {
        matches!(self.groups[0].factors()[0], Scale::Full(_))
    }
}

impl Estimator for TensorEstimator {
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

    fn elbo(&self, _q: &Approximation, log_p: &[f64], prior: &Prior, batch: &Batch) -> (f64, f64) {
        batch::mean_difference(log_p, prior, batch, 0..batch.n)
    }

    fn gradient(&mut self, q: &Approximation, seen: &Seen<'_>, _baseline: f64, out: &mut Gradient) -> bool {
        let Seen { evaluations, curvature, prior, batch } = *seen;
        TensorProduct::of(q).accumulate(evaluations, curvature, prior, self, batch, out);
        out.is_finite()
    }

    fn add_item_gradients(&mut self, q: &Approximation, s: usize, items: &[f64], curvature: &mut [f64]) {
        TensorProduct::of(q).add_items(self.weight[s], items, self, curvature);
    }
}

impl Density for TensorProduct<'_> {
    fn log_density(&self, z: &[f64]) -> f64 {
        self.log_density_at(z)
    }

    fn score(&self, z: &[f64], out: &mut [f64]) {
        self.score_at(z, out);
    }

    fn hessian(&self, _z: &[f64], out: &mut [f64]) {
        self.write_kronecker(out, true);
    }

    fn mean(&self) -> Vec<f64> {
        self.groups.iter().flat_map(|group| group.w().iter().copied()).collect()
    }

    fn covariance(&self) -> Vec<f64> {
        let mut out = vec![0.0; self.size() * self.size()];
        self.write_kronecker(&mut out, false);
        out
    }

    fn variances(&self) -> Vec<f64> {
        self.marginal_variances()
    }

    fn entropy(&self) -> Option<f64> {
        let log_det: f64 = self.groups.iter().map(Tensor::log_det).sum();
        Some(0.5 * (self.size() as f64 * (1.0 + std::f64::consts::TAU.ln()) - log_det))
    }

    /// But for the rule of the paper, which moves by squared gradients.
    fn takes_values_alone(&self) -> bool {
        self.update != MatrixUpdate::PaperLiteral
    }
}
