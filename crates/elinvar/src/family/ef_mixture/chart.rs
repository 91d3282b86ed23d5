//! Free coordinates of a mixture of exponential families: soft-max logits, then those of every member (mathematics §9.4).

use super::draw::EfMixtureWork;
use super::{EfMixture, EfMixtureGradient};

impl EfMixture {
    pub(super) fn write_chart(&self, out: &mut [f64]) {
        let (logits, members) = out.split_at_mut(self.n_components());
        logits.copy_from_slice(self.weights.log());
        for (member, out) in self.members.iter().zip(members.chunks_exact_mut(self.n_free())) {
            let chart = member.chart();
            out.copy_from_slice(&chart[..out.len()]);
        }
    }

    /// (∂η/∂chart)ᵀ∇_ηL; what is stored of component c is its gradient over π_c.
    pub(super) fn write_chart_gradient(&self, gradient: &EfMixtureGradient, out: &mut [f64]) {
        let f = self.n_free();
        let (logits, members) = out.split_at_mut(self.n_components());
        self.weights.chart_gradient(&gradient.expected_h, logits);
        let parts = self.members.iter().zip(gradient.natural.chunks_exact(f)).zip(members.chunks_exact_mut(f));
        for (at, ((member, g), out)) in parts.enumerate() {
            let (weight, jacobian) = (self.weights.weight(at / self.dim), member.chart_jacobian());
            for (j, out) in out.iter_mut().enumerate() {
                *out = weight * (0..f).map(|i| jacobian[i][j] * g[i]).sum::<f64>();
            }
        }
    }

    pub(super) fn move_to_chart(&mut self, coordinates: &[f64], work: &mut EfMixtureWork) -> bool {
        let f = self.n_free();
        let (logits, members) = coordinates.split_at(self.n_components());
        for ((member, chart), moved) in self.members.iter().zip(members.chunks_exact(f)).zip(&mut work.moved) {
            let mut free = [0.0; 3];
            free[..f].copy_from_slice(chart);
            match member.with_chart(free) {
                Some(new) => *moved = new,
                None => return false,
            }
        }
        // All or none: the members move only if the weights can.
        if !self.weights.set_chart(logits) {
            return false;
        }
        self.members.copy_from_slice(&work.moved);
        true
    }
}
