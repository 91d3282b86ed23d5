//! Coordinates without constraints: W, then a lower factor of each V_j with logarithms on its diagonal (mathematics §9.4).
//!
//! One number for each factor but one is redundant: the scales of the factors count by their product.

use super::{Tensor, TensorScratch};
use crate::block::gradient::BlockGradient;
use crate::block::scale::{Candidate, Scale, in_range};

impl Tensor {
    /// Number of coordinates.
    pub(crate) fn chart_len(&self) -> usize {
        self.w.len() + self.factors.iter().map(Scale::chart_len).sum::<usize>()
    }

    /// Writes W, then the factors of the V_j.
    pub(crate) fn chart(&self, out: &mut [f64]) {
        let (w, mut rest) = out.split_at_mut(self.w.len());
        w.copy_from_slice(&self.w);
        for factor in &self.factors {
            let (own, after) = rest.split_at_mut(factor.chart_len());
            factor.chart(&mut Candidate::new(factor.shape()), own);
            rest = after;
        }
    }

    /// Writes ∇_W L, and the gradient in the factor of V_j of a bound with ∇_{V_j} L = −½D₋ⱼ G_j.
    pub(crate) fn chart_gradient(&self, gradient: &BlockGradient, scratch: &mut TensorScratch, out: &mut [f64]) {
        let (w, mut rest) = out.split_at_mut(self.w.len());
        w.copy_from_slice(&gradient.b);
        let mut g = &gradient.g[..];
        for (j, factor) in self.factors.iter().enumerate() {
            let (own, after) = rest.split_at_mut(factor.chart_len());
            let (own_g, after_g) = g.split_at(factor.precision().len());
            factor.chart_gradient(self.others(j), own_g, &mut scratch.candidates[j], own);
            (rest, g) = (after, after_g);
        }
    }

    /// Writes the factors with these coordinates to the scratch; false if they cannot be represented.
    pub(crate) fn propose_chart(&self, coordinates: &[f64], scratch: &mut TensorScratch) -> bool {
        let (w, mut rest) = coordinates.split_at(self.w.len());
        let mut fine = in_range(w);
        for (factor, candidate) in self.factors.iter().zip(&mut scratch.candidates) {
            let (own, after) = rest.split_at(factor.chart_len());
            fine = fine && factor.propose_chart(own, candidate);
            rest = after;
        }
        fine && self.candidates_in_range(&scratch.candidates)
    }

    /// Moves to what [`Tensor::propose_chart`] has found.
    pub(crate) fn accept_chart(&mut self, coordinates: &[f64], scratch: &mut TensorScratch) {
        let size = self.w.len();
        self.w.copy_from_slice(&coordinates[..size]);
        let pairs = self.factors.iter_mut().zip(&mut scratch.candidates);
        pairs.for_each(|(factor, candidate)| factor.accept(candidate));
    }
}
