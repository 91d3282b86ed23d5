//! The step of a block by running means (mathematics §7.2).

use super::location::{LocationBlock, LocationGradient, LocationScratch, columns_in_range, times_small};
use super::scale_matrix::{ScaleMatrix, in_range};
use crate::linalg::axpy;
use crate::rule::{AdamLikeMemory, AdamLikeRequest, Rule};
use crate::target::{Covariance, PriorPrecision};

/// Halvings after which a step is given up.
const HALVINGS: usize = 60;

impl<S: ScaleMatrix> LocationBlock<S> {
    /// One step with a diagonal P = Ns + kδ. The gradient of the bound holds all of it: G = N g_s + kδ − P, so that
    /// s⁺ = γ₂s + (1 − γ₂)g_s is P⁺ = P + (1 − γ₂)G, and n = −(∇_B L)Ω⁻¹/N.
    ///
    /// A curvature that is not a square may be negative: the step of P is then halved until P⁺ keeps a share of P, as in the
    /// plain rule. The step of B is halved until it is in range. Returns its β; 0 if nothing moved, the memory included.
    ///
    /// Paper: App. J.
    pub(crate) fn advance_adam_like(
        &mut self,
        gradient: &LocationGradient,
        omega_inv: &[f64],
        prior: PriorPrecision<'_>,
        request: AdamLikeRequest,
        memory: &mut AdamLikeMemory,
        scratch: &mut LocationScratch,
    ) -> f64 {
        let AdamLikeRequest { rule, n_items, .. } = request;
        let d = self.dim();
        if S::COVARIANCE != Covariance::Diagonal || memory.m.len() != self.b.len() || !gradient.is_finite() {
            return 0.0;
        }
        times_small(d, &gradient.b, omega_inv, &mut scratch.direction);
        for (n, m) in scratch.direction.iter_mut().zip(&memory.m) {
            *n = rule.gamma1 * m - (1.0 - rule.gamma1) * (*n / n_items);
        }
        let (plain, scale, candidate) = (Rule::NaturalGradient, &self.scale, &mut scratch.candidate);
        let mut shares = std::iter::successors(Some(1.0 - rule.gamma2), |share| Some(0.5 * share)).take(HALVINGS);
        if !shares.any(|share| scale.propose(plain, share, &gradient.g, false, candidate)) {
            return 0.0;
        }
        let t = memory.t + 1;
        let factor = rule.momentum_factor(t);
        for (shift, m) in scratch.shift.chunks_exact_mut(d).zip(scratch.direction.chunks_exact(d)) {
            let entries = shift.iter_mut().zip(m).zip(&scratch.candidate.precision);
            for (i, ((shift, m), p)) in entries.enumerate() {
                *shift = -factor * m / rule.denominator(t, p / n_items, prior.at(i) / n_items);
            }
        }
        let mut beta = request.beta;
        for _ in 0..HALVINGS {
            scratch.moved.copy_from_slice(&self.b);
            axpy(beta, &scratch.shift, &mut scratch.moved);
            if in_range(&scratch.moved) && columns_in_range::<S>(d, scratch) {
                std::mem::swap(&mut self.b, &mut scratch.moved);
                self.scale.accept(&mut scratch.candidate);
                memory.m.copy_from_slice(&scratch.direction);
                memory.t = t;
                return beta;
            }
            beta *= 0.5;
        }
        0.0
    }

    /// Makes the precision that of the prior alone, s = 0; false, and nothing moves, if the prior leaves a coordinate free.
    pub(crate) fn start_from_prior(&mut self, prior: PriorPrecision<'_>) -> bool {
        let d = self.dim();
        if S::COVARIANCE != Covariance::Diagonal {
            return false;
        }
        let Some(Ok(scale)) = prior.of_all(d).map(|precision| S::from_precision(d, precision)) else { return false };
        let Ok(block) = Self::new(self.b.clone(), scale) else { return false };
        *self = block;
        true
    }
}
