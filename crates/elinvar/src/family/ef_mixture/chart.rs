//! Free coordinates of a mixture of exponential families: those of every member, then soft-max logits (spec 09 §9.4).

use super::draw::EfMixtureWork;
use super::{EfMixture, EfMixtureGradient};

impl EfMixture {
    pub(super) fn write_chart(&self, out: &mut [f64]) {
        let (members, logits) = out.split_at_mut(out.len() - self.n_components());
        for (member, out) in self.members.iter().zip(members.chunks_exact_mut(self.n_free())) {
            let chart = member.chart();
            out.copy_from_slice(&chart[..out.len()]);
        }
        logits.copy_from_slice(self.weights.log());
    }

    /// π_c (∂η/∂chart)ᵀ∇_ηL/π_c, and ∂L/∂logit_c = −π_c(E_c\[h\] − E\[h\]).
    pub(super) fn write_chart_gradient(&self, gradient: &EfMixtureGradient, out: &mut [f64]) {
        let f = self.n_free();
        let (members, logits) = out.split_at_mut(out.len() - self.n_components());
        let parts = self.members.iter().zip(gradient.natural.chunks_exact(f)).zip(members.chunks_exact_mut(f));
        for (at, ((member, g), out)) in parts.enumerate() {
            let (weight, jacobian) = (self.weights.weight(at / self.dim), member.chart_jacobian());
            for (j, out) in out.iter_mut().enumerate() {
                *out = weight * (0..f).map(|i| jacobian[i][j] * g[i]).sum::<f64>();
            }
        }
        let mean: f64 = gradient.expected_h.iter().enumerate().map(|(c, h)| self.weights.weight(c) * h).sum();
        for (c, (logit, h)) in logits.iter_mut().zip(&gradient.expected_h).enumerate() {
            *logit = self.weights.weight(c) * (mean - h);
        }
    }

    pub(super) fn move_to_chart(&mut self, coordinates: &[f64], work: &mut EfMixtureWork) -> bool {
        let f = self.n_free();
        let (members, logits) = coordinates.split_at(coordinates.len() - self.n_components());
        for ((member, chart), moved) in self.members.iter().zip(members.chunks_exact(f)).zip(&mut work.moved) {
            let mut free = [0.0; 3];
            free[..f].copy_from_slice(chart);
            match member.with_chart(free) {
                Some(new) => *moved = new,
                None => return false,
            }
        }
        if !logits.iter().all(|logit| logit.is_finite()) {
            return false;
        }
        // A step of length one against the differences ends at these logits.
        work.logs.iter_mut().zip(self.weights.log()).zip(logits).for_each(|((to, log), logit)| *to = log - logit);
        self.weights.advance(&work.logs, 1.0, None, &mut work.next_weights);
        self.members.copy_from_slice(&work.moved);
        true
    }
}
