//! The step of a block by running means (mathematics §7.2).

use super::gradient::BlockGradient;
use super::location::{Location, LocationScratch, columns_in_range, times_small};
use super::scale::{Scale, in_range};
use crate::linalg::axpy;
use crate::rule::{AdamLikeRequest, Rule, take};
use crate::target::{PriorPrecision, Shape};

/// The running means of one block before the step.
#[derive(Debug)]
pub(crate) struct RunningMeans<'m> {
    /// The number of the step, from 1.
    pub(crate) t: u64,
    /// m, of the shape of B.
    pub(crate) m: &'m mut [f64],
}

impl Location {
    /// One step with a diagonal P = Ns + kδ. The gradient of the bound holds all of it: G = N g_s + kδ − P, so that
    /// s⁺ = γ₂s + (1 − γ₂)g_s is P⁺ = P + (1 − γ₂)G, and n = −(∇_B L)Ω⁻¹/N.
    ///
    /// A curvature that is no square may be negative, as that of log q in a mixture: every coordinate keeps a share
    /// γ₂/2 of its P (mathematics §7.5), which squares never come near. The step of B is halved until it is in range.
    /// Returns its β; 0 if nothing moved, the means included.
    ///
    /// Paper: App. J.
    pub(crate) fn advance_adam_like(
        &mut self,
        gradient: &BlockGradient,
        omega_inv: &[f64],
        prior: PriorPrecision<'_>,
        request: AdamLikeRequest,
        means: RunningMeans<'_>,
        scratch: &mut LocationScratch,
    ) -> f64 {
        let AdamLikeRequest { rule, n_items, .. } = request;
        let d = self.dim();
        if !matches!(self.scale, Scale::Diagonal(_)) || means.m.len() != self.b.len() || !gradient.is_finite() {
            return 0.0;
        }
        times_small(d, &gradient.b, omega_inv, &mut scratch.direction);
        for (n, m) in scratch.direction.iter_mut().zip(&*means.m) {
            *n = rule.gamma1 * m - (1.0 - rule.gamma1) * (*n / n_items);
        }
        let lowest = -(1.0 - 0.5 * rule.gamma2) / (1.0 - rule.gamma2);
        let floored = &mut scratch.white[..d];
        for ((to, g), p) in floored.iter_mut().zip(&gradient.g).zip(self.scale.precision()) {
            *to = g.max(lowest * p);
        }
        let (plain, scale, candidate) = (Rule::NaturalGradient, &self.scale, &mut scratch.candidate);
        let admissible = |share| scale.propose(plain, share, floored, false, candidate).then_some(0.0);
        if take(1.0 - rule.gamma2, None, admissible).is_none() {
            return 0.0;
        }
        let factor = rule.momentum_factor(means.t);
        for (shift, m) in scratch.shift.chunks_exact_mut(d).zip(scratch.direction.chunks_exact(d)) {
            let entries = shift.iter_mut().zip(m).zip(&scratch.candidate.precision);
            for (i, ((shift, m), p)) in entries.enumerate() {
                *shift = -factor * m / rule.denominator(means.t, p / n_items, prior.at(i) / n_items);
            }
        }
        let taken = take(request.beta, None, |beta| {
            scratch.moved.copy_from_slice(&self.b);
            axpy(beta, &scratch.shift, &mut scratch.moved);
            (in_range(&scratch.moved) && columns_in_range(&self.scale, scratch)).then_some(0.0)
        });
        let Some((beta, _)) = taken else { return 0.0 };
        std::mem::swap(&mut self.b, &mut scratch.moved);
        self.scale.accept(&mut scratch.candidate);
        means.m.copy_from_slice(&scratch.direction);
        beta
    }

    /// Makes the precision that of the prior alone, s = 0; false, and nothing moves, if the prior leaves a coordinate
    /// free.
    pub(crate) fn start_from_prior(&mut self, prior: PriorPrecision<'_>) -> bool {
        let d = self.dim();
        if !matches!(self.scale, Scale::Diagonal(_)) {
            return false;
        }
        let scale = prior.of_all(d).map(|precision| Scale::from_precision(Shape::Diagonal(d), precision));
        let Some(Ok(scale)) = scale else { return false };
        let Ok(block) = Self::new(self.b.clone(), scale) else { return false };
        *self = block;
        true
    }
}
