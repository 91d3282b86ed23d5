//! Sums of natural parameters, of which averages of members are made.
//!
//! The order is: log π of a mixture, the blocks, a learned shape. Locations are relative to those of a reference;
//! tensors have W − W₀ and their factors in balance, in which no two of them are linear together.

use super::{Approximation, Blocks};
use crate::block::{Location, LogWeights, Natural, OwnParameters, Tensor};
use crate::linalg::axpy;

impl Approximation {
    /// Number of log weights at the beginning.
    fn n_weights(&self) -> usize {
        if self.family.is_mixture() { self.weights.len() } else { 0 }
    }

    /// Number of natural parameters.
    pub(crate) fn natural_len(&self) -> usize {
        let blocks: usize = match &self.blocks {
            Blocks::Location(blocks) => blocks.iter().map(Location::natural_len).sum(),
            Blocks::Natural(blocks) => blocks.iter().map(Natural::natural_len).sum(),
            Blocks::Tensor(blocks) => blocks.iter().map(Tensor::natural_len).sum(),
            Blocks::Own(block) => block.values().len(),
        };
        self.n_weights() + blocks + usize::from(self.law().is_learned())
    }

    /// sum += η, with locations relative to those of `reference`; `offset` holds d numbers.
    pub(crate) fn add_natural(&self, reference: &Self, offset: &mut [f64], sum: &mut [f64]) {
        let (log_weights, mut rest) = sum.split_at_mut(self.n_weights());
        if !log_weights.is_empty() {
            axpy(1.0, self.weights.log(), log_weights);
        }
        match (&self.blocks, &reference.blocks) {
            (Blocks::Location(blocks), Blocks::Location(reference)) => {
                for (block, from) in blocks.iter().zip(reference) {
                    block.add_natural(from, offset, front(&mut rest, block.natural_len()));
                }
            }
            (Blocks::Natural(blocks), _) => {
                blocks.iter().for_each(|block| block.add_natural(front(&mut rest, block.natural_len())));
            }
            (Blocks::Tensor(blocks), Blocks::Tensor(reference)) => {
                for (block, from) in blocks.iter().zip(reference) {
                    block.add_natural(from, front(&mut rest, block.natural_len()));
                }
            }
            (Blocks::Own(block), _) => axpy(1.0, block.values(), front(&mut rest, block.values().len())),
            _ => unreachable!("the reference has this shape"),
        }
        // The shape is its own natural parameter (mathematics §2.1).
        rest.iter_mut().for_each(|sum| *sum += self.law().parameter().unwrap_or(0.0));
    }

    /// The member whose natural parameters are `share` times the sums of [`Approximation::add_natural`], if there is
    /// one.
    pub(crate) fn from_natural(reference: &Self, sum: &[f64], share: f64) -> Option<Self> {
        let (log_weights, mut rest) = sum.split_at(reference.n_weights());
        let mut own = |len: usize| {
            let (own, after) = rest.split_at(len);
            rest = after;
            own
        };
        let blocks = match &reference.blocks {
            Blocks::Location(blocks) => Blocks::Location(
                blocks
                    .iter()
                    .map(|from| Location::from_natural(from, own(from.natural_len()), share))
                    .collect::<Option<_>>()?,
            ),
            Blocks::Natural(blocks) => Blocks::Natural(
                blocks
                    .iter()
                    .map(|from| Natural::from_natural(from, own(from.natural_len()), share))
                    .collect::<Option<_>>()?,
            ),
            Blocks::Tensor(blocks) => Blocks::Tensor(
                blocks
                    .iter()
                    .map(|from| Tensor::from_natural(from, own(from.natural_len()), share))
                    .collect::<Option<_>>()?,
            ),
            Blocks::Own(from) => Blocks::Own(OwnParameters::from_sums(from, own(from.values().len()), share)?),
        };
        let weights = match log_weights {
            [] => reference.weights.clone(),
            log => LogWeights::new(log.iter().map(|w| share * w).collect()).ok()?,
        };
        let mut q = Self { family: reference.family, weights, blocks };
        if let Some(sum) = rest.first() {
            q.set_law(&reference.law().with_parameter(share * sum));
        }
        Some(q)
    }
}

/// The first `len` numbers, which the rest begins after.
pub(super) fn front<'a>(rest: &mut &'a mut [f64], len: usize) -> &'a mut [f64] {
    let (own, after) = std::mem::take(rest).split_at_mut(len);
    *rest = after;
    own
}
