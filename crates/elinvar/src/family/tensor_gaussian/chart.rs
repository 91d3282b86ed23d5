//! Coordinates without constraints: for each group W, then a lower factor of each V_j with logarithms on its diagonal (mathematics §9.4).
//!
//! One number for each factor but one is redundant: the scales of the factors of a group count by their product.

use super::TensorGaussian;
use super::draw::TensorWork;
use super::gradient::TensorGradient;
use super::group::Group;
use crate::block::{Candidate, ScaleMatrix, in_range};

impl<S: ScaleMatrix> Group<S> {
    fn chart_len(&self) -> usize {
        self.w().len() + self.factors().iter().map(|factor| S::chart_len(factor.dim())).sum::<usize>()
    }
}

impl<S: ScaleMatrix> TensorGaussian<S> {
    pub(super) fn chart_size(&self) -> usize {
        self.groups().iter().map(Group::chart_len).sum()
    }

    pub(super) fn write_chart(&self, out: &mut [f64]) {
        let mut out = out;
        for group in self.groups() {
            let (w, mut rest) = out.split_at_mut(group.size());
            w.copy_from_slice(group.w());
            for factor in group.factors() {
                let (own, after) = rest.split_at_mut(S::chart_len(factor.dim()));
                factor.chart(&mut Candidate::new(S::COVARIANCE, factor.dim()), own);
                rest = after;
            }
            out = rest;
        }
    }

    /// ∇_W L, and the gradient in the factor of V_j of a bound with ∇_{V_j} L = −½D₋ⱼ G_j.
    pub(super) fn write_chart_gradient(&self, gradient: &TensorGradient, work: &mut TensorWork, out: &mut [f64]) {
        let (mut out, mut g) = (out, &gradient.g[..]);
        for (which, (rows, group)) in self.parts().enumerate() {
            let (w, mut rest) = out.split_at_mut(group.size());
            w.copy_from_slice(&gradient.w[rows]);
            for (j, factor) in group.factors().iter().enumerate() {
                let (own, after) = rest.split_at_mut(S::chart_len(factor.dim()));
                let (own_g, after_g) = g.split_at(factor.precision().len());
                factor.chart_gradient(group.others(j), own_g, &mut work.candidates[which][j], own);
                (rest, g) = (after, after_g);
            }
            out = rest;
        }
    }

    pub(super) fn read_chart(&mut self, coordinates: &[f64], work: &mut TensorWork) -> bool {
        let mut rest = coordinates;
        for (group, candidates) in self.groups.iter().zip(&mut work.candidates) {
            let (w, mut after) = rest.split_at(group.size());
            let mut fine = in_range(w);
            for (factor, candidate) in group.factors().iter().zip(&mut *candidates) {
                let (own, others) = after.split_at(S::chart_len(factor.dim()));
                fine = fine && S::propose_chart(factor.dim(), own, candidate);
                after = others;
            }
            if !(fine && group.candidates_in_range(candidates)) {
                return false;
            }
            rest = after;
        }
        let mut rest = coordinates;
        for (group, candidates) in self.groups.iter_mut().zip(&mut work.candidates) {
            let (size, len) = (group.size(), group.chart_len());
            group.w.copy_from_slice(&rest[..size]);
            group.factors.iter_mut().zip(candidates).for_each(|(factor, candidate)| factor.accept(candidate));
            rest = &rest[len..];
        }
        true
    }
}
