//! The gradient of the bound of a mixture of exponential families by implicit differentiation, and products of gradients.

use super::draw::EfMixtureWork;
use super::{EfMixture, EfMixtureGradient};
use crate::component::Parameters;
use crate::family::{Batch, finite_mixture as mixture};
use crate::target::{Evaluations, Prior};

impl EfMixture {
    /// −E_c[∂_i h ∂z_i/∂η] for every component and coordinate, and E_c\[h\], with h = log q − log p (mathematics §5.1).
    ///
    /// Paper: App. B.5.
    pub(super) fn accumulate(
        &self,
        evaluations: &Evaluations,
        prior: &Prior,
        work: &mut EfMixtureWork,
        batch: &Batch,
        out: &mut EfMixtureGradient,
    ) {
        let (d, f) = (self.dim, self.n_free());
        for (s, h) in work.h.iter_mut().enumerate() {
            *h = batch.log_q[s] - evaluations.log_p()[s] - prior.log_density(batch.draws.get(s));
        }
        out.natural.fill(0.0);
        for (c, own) in out.natural.chunks_exact_mut(d * f).enumerate() {
            let mut expected_h = 0.0;
            for (s, weight) in work.weighted_draws(c).filter(|(_, weight)| *weight > 0.0) {
                expected_h += weight * (work.h[s] - work.baseline);
                let (z, grad) = (batch.draws.get(s), evaluations.grad(s));
                for (i, member) in self.component(c).iter().enumerate() {
                    let slope = grad[i] + prior.slope(i, z[i]) - work.score[s * d + i];
                    let path = member.path_derivative(z[i]);
                    let sums = &mut own[i * f..(i + 1) * f];
                    sums.iter_mut().zip(path).for_each(|(sum, path)| *sum += weight * (slope * path));
                }
            }
            out.expected_h[c] = expected_h;
        }
    }

    /// g of coordinate `i` of component `c`.
    pub(super) fn coordinate_of(&self, gradient: &EfMixtureGradient, c: usize, i: usize) -> Parameters {
        let f = self.n_free();
        let at = (c * self.dim + i) * f;
        let mut out = [0.0; 3];
        out[..f].copy_from_slice(&gradient.natural[at..at + f]);
        out
    }

    /// The metric of component c is π_cF_c, and its gradient π_c times what is stored.
    pub(super) fn inner_product(&self, one: &EfMixtureGradient, two: &EfMixtureGradient) -> f64 {
        let mut sum = mixture::inner_of_weights(&self.weights, &one.expected_h, &two.expected_h);
        for c in 0..self.n_components() {
            let weight = self.weights.weight(c);
            for (i, member) in self.component(c).iter().enumerate() {
                let raised = member.natural_gradient(self.coordinate_of(two, c, i));
                sum += weight * product(&self.coordinate_of(one, c, i), &raised);
            }
        }
        sum
    }

    /// Adds `ratio` times F(η − η_before) to the gradient, and the differences of log π to that of the weights (mathematics §7.1).
    pub(super) fn add_displacement(&self, before: &Self, ratio: f64, gradient: &mut EfMixtureGradient) {
        let f = self.n_free();
        let pairs = self.members.iter().zip(&before.members);
        for ((member, before), sums) in pairs.zip(gradient.natural.chunks_exact_mut(f)) {
            let (now, then, fisher) = (member.natural(), before.natural(), member.fisher());
            let moved: Parameters = std::array::from_fn(|j| now[j] - then[j]);
            sums.iter_mut().zip(fisher).for_each(|(sum, row)| *sum += ratio * product(&row, &moved));
        }
        self.weights.add_momentum(&before.weights, ratio, &mut gradient.expected_h);
    }
}

pub(super) fn product(a: &Parameters, b: &Parameters) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
