//! Products of tensor-variate Gaussians: one matrix-variate Gaussian, one per layer of a network, and tensors of order
//! up to four.

mod density;
mod draw;
mod from_variances;
mod gradient;
mod values;

pub(crate) use draw::TensorEstimator;
pub(crate) use from_variances::by_factors;

use super::{Approximation, Batch, Estimator, Gradient, NoiseKey, Seen, batch};
use crate::block::{Scale, Tensor};
use crate::rule::MatrixUpdate;
use crate::target::Contraction;

/// Independent groups of consecutive coordinates, each vec Z ~ N(vec W, V_K ⊗ … ⊗ V_1) with the first mode fastest; K =
/// 2 is the matrix-variate Gaussian with U = V_1 over rows and V = V_2 over columns, K = 1 the Gaussian (mathematics
/// §6, §10.5).
///
/// The factors of a group are determined up to numbers whose product is one.
///
/// Paper: §5, App. I.
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

    fn gradient(&mut self, q: &Approximation, seen: &Seen<'_>, _baseline: f64, out: &mut Gradient) -> bool {
        TensorProduct::of(q).accumulate(seen, self, out);
        out.is_finite()
    }

    fn add_item_gradients(&mut self, q: &Approximation, s: usize, items: &[f64], curvature: &mut [f64]) {
        TensorProduct::of(q).add_items(self.weight[s], items, self, curvature);
    }
}
