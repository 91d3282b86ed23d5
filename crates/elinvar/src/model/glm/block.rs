//! Rows of a generalised linear model with what belongs to them, as they lie in memory or gathered.

use std::ops::Range;

use super::{Glm, Likelihood};
use crate::linalg::{axpy, dot};
use crate::model::kernels;
use crate::target::Rows;

/// Numbers that a row has besides its features: response, offset and weight.
pub(super) const BESIDE: usize = 3;

/// Some rows with what belongs to them.
pub(super) struct Block<'a> {
    pub(super) x: &'a [f64],
    pub(super) y: &'a [f64],
    /// Empty if there is none.
    offset: &'a [f64],
    /// Empty if there are none.
    weights: &'a [f64],
    /// The sum of the constants.
    pub(super) constant: f64,
}

impl Block<'_> {
    /// η += offset, of each of several draws.
    pub(super) fn add_offset(&self, eta: &mut [f64]) {
        if !self.offset.is_empty() {
            eta.chunks_exact_mut(self.offset.len()).for_each(|eta| axpy(1.0, self.offset, eta));
        }
    }

    pub(super) fn is_weighted(&self) -> bool {
        !self.weights.is_empty()
    }

    /// Multiplies value, slope and curvature by the weights.
    pub(super) fn weigh(&self, parts: [&mut [f64]; 3]) {
        if !self.weights.is_empty() {
            parts.into_iter().for_each(|part| part.iter_mut().zip(self.weights).for_each(|(part, w)| *part *= w));
        }
    }
}

impl<L: Likelihood> Glm<L> {
    /// Items `range` of the selection.
    pub(super) fn gather<'a>(&'a self, rows: Rows<'_>, range: Range<usize>, memory: &'a mut [f64]) -> Block<'a> {
        let Rows::Subset(indices) = rows else {
            let of = |list: &'a [f64]| if list.is_empty() { list } else { &list[range.clone()] };
            let (offset, weights, constants) = (of(&self.rows.offset), of(&self.rows.weights), of(&self.constants));
            let constant = if weights.is_empty() { kernels::sum(constants) } else { dot(constants, weights) };
            return Block { x: self.rows.x.rows(range.clone()), y: &self.rows.y[range], offset, weights, constant };
        };
        let (d, n) = (self.rows.x.n_cols(), range.len());
        let (x, rest) = memory.split_at_mut(n * d);
        let (y, rest) = rest.split_at_mut(n);
        let (offset, rest) = rest.split_at_mut(if self.rows.offset.is_empty() { 0 } else { n });
        let weights = &mut rest[..if self.rows.weights.is_empty() { 0 } else { n }];
        offset.iter_mut().zip(&indices[range.clone()]).for_each(|(to, i)| *to = self.rows.offset[*i as usize]);
        weights.iter_mut().zip(&indices[range.clone()]).for_each(|(to, i)| *to = self.rows.weights[*i as usize]);
        let mut constant = 0.0;
        for ((index, row), response) in indices[range].iter().zip(x.chunks_exact_mut(d)).zip(y.iter_mut()) {
            let index = *index as usize;
            row.copy_from_slice(self.rows.x.row(index));
            *response = self.rows.y[index];
            let weight = self.rows.weight(index);
            constant += weight * self.constants.get(index).copied().unwrap_or(0.0);
        }
        Block { x, y, offset, weights, constant }
    }
}
