//! A member as a point of ℝⁿ without constraints: soft-max logits of a mixture, then its blocks, then that of a learned
//! constant with a = a₀ + log(1 + eˣ), a₀ its infimum (mathematics §9.4).

use super::natural::front;
use super::step::BlockScratch;
use super::{Approximation, Blocks, Gradient, Scratch};
use crate::block::{Location, Natural, Tensor};
use crate::law::Law;
use crate::special::logistic::{log1p_exp, sigmoid};

impl Approximation {
    fn n_logits(&self) -> usize {
        if self.family.is_mixture() { self.weights.len() } else { 0 }
    }

    /// Number of coordinates of the chart.
    pub(crate) fn chart_len(&self) -> usize {
        let blocks: usize = match &self.blocks {
            Blocks::Location(blocks) => blocks.iter().map(Location::chart_len).sum(),
            Blocks::Natural(blocks) => blocks.iter().map(Natural::natural_len).sum(),
            Blocks::Tensor(blocks) => blocks.iter().map(Tensor::chart_len).sum(),
            Blocks::Own(block) => block.values().len(),
        };
        self.n_logits() + blocks + usize::from(self.law().is_learned())
    }

    /// Writes the coordinates of the chart.
    pub(crate) fn chart(&self, out: &mut [f64]) {
        let (logits, mut rest) = out.split_at_mut(self.n_logits());
        if !logits.is_empty() {
            logits.copy_from_slice(self.weights.log());
        }
        match &self.blocks {
            Blocks::Location(blocks) => {
                blocks.iter().for_each(|block| block.chart(front(&mut rest, block.chart_len())));
            }
            Blocks::Natural(blocks) => {
                blocks.iter().for_each(|block| block.chart(front(&mut rest, block.natural_len())));
            }
            Blocks::Tensor(blocks) => {
                blocks.iter().for_each(|block| block.chart(front(&mut rest, block.chart_len())));
            }
            Blocks::Own(block) => front(&mut rest, block.values().len()).copy_from_slice(block.values()),
        }
        rest.iter_mut().for_each(|x| *x = self.shape_chart());
    }

    /// Writes the ordinary gradient of the bound in these coordinates; what is stored of component c is its gradient
    /// over π_c.
    pub(crate) fn chart_gradient(&self, gradient: &Gradient, scratch: &mut Scratch, out: &mut [f64]) {
        let (logits, mut rest) = out.split_at_mut(self.n_logits());
        if !logits.is_empty() {
            self.weights.chart_gradient(&gradient.expected_h, logits);
        }
        let weight = |c: usize| self.weights.weight(c);
        match (&self.blocks, &mut scratch.blocks) {
            (Blocks::Location(blocks), BlockScratch::Location(location)) => {
                for (c, (block, gradient)) in blocks.iter().zip(&gradient.blocks).enumerate() {
                    block.chart_gradient(weight(c), gradient, location, front(&mut rest, block.chart_len()));
                }
            }
            (Blocks::Natural(blocks), _) => {
                for (c, (block, gradient)) in blocks.iter().zip(&gradient.blocks).enumerate() {
                    block.chart_gradient(weight(c), gradient, front(&mut rest, block.natural_len()));
                }
            }
            (Blocks::Tensor(blocks), BlockScratch::Tensor(scratch)) => {
                for ((block, gradient), scratch) in blocks.iter().zip(&gradient.blocks).zip(scratch) {
                    block.chart_gradient(gradient, scratch, front(&mut rest, block.chart_len()));
                }
            }
            (Blocks::Own(block), _) => {
                front(&mut rest, block.values().len()).copy_from_slice(&gradient.blocks[0].b);
            }
            _ => unreachable!("the scratch was made for members of this shape"),
        }
        rest.iter_mut().for_each(|slope| *slope = gradient.shape * sigmoid(self.shape_chart()));
    }

    /// Moves to the member with these coordinates; false, and nothing moves, if they cannot be represented.
    pub(crate) fn set_chart(&mut self, coordinates: &[f64], scratch: &mut Scratch) -> bool {
        let (logits, blocks_and_shape) = coordinates.split_at(self.n_logits());
        let law = if self.law().is_learned() {
            let law = coordinates.last().and_then(|x| self.with_shape_chart(*x));
            if law.is_none() {
                return false;
            }
            law
        } else {
            None
        };
        // All or none: each block is tried before the first one moves.
        let mut rest = blocks_and_shape;
        let mut own = |len: usize| {
            let (own, after) = rest.split_at(len);
            rest = after;
            own
        };
        let fine = match (&self.blocks, &mut scratch.blocks) {
            (Blocks::Location(blocks), BlockScratch::Location(location)) => {
                blocks.iter().all(|block| block.propose_chart(own(block.chart_len()), location))
            }
            (Blocks::Natural(blocks), BlockScratch::Natural(scratch)) => blocks
                .iter()
                .zip(scratch)
                .all(|(block, scratch)| block.propose_chart(own(block.natural_len()), scratch)),
            (Blocks::Tensor(blocks), BlockScratch::Tensor(scratch)) => {
                blocks.iter().zip(scratch).all(|(block, scratch)| block.propose_chart(own(block.chart_len()), scratch))
            }
            (Blocks::Own(block), BlockScratch::Own(scratch)) => block.propose(own(block.values().len()), scratch),
            _ => unreachable!("the scratch was made for members of this shape"),
        };
        if !fine || !(logits.is_empty() || self.weights.set_chart(logits)) {
            return false;
        }
        let mut rest = blocks_and_shape;
        match (&mut self.blocks, &mut scratch.blocks) {
            (Blocks::Location(blocks), BlockScratch::Location(location)) => {
                for block in blocks {
                    let (own, after) = rest.split_at(block.chart_len());
                    block.set_chart(own, location);
                    rest = after;
                }
            }
            (Blocks::Natural(blocks), BlockScratch::Natural(scratch)) => {
                blocks.iter_mut().zip(scratch).for_each(|(block, scratch)| block.accept(scratch));
            }
            (Blocks::Tensor(blocks), BlockScratch::Tensor(scratch)) => {
                for (block, scratch) in blocks.iter_mut().zip(scratch) {
                    let (own, after) = rest.split_at(block.chart_len());
                    block.accept_chart(own, scratch);
                    rest = after;
                }
            }
            (Blocks::Own(block), BlockScratch::Own(scratch)) => block.accept(scratch),
            _ => unreachable!("the scratch was made for members of this shape"),
        }
        if let Some(law) = law {
            self.set_law(&law);
        }
        true
    }

    /// The x with a = a₀ + log(1 + eˣ).
    fn shape_chart(&self) -> f64 {
        let law = self.law();
        let above = law.parameter().unwrap_or(2.0) - law.lowest_parameter();
        above + (-(-above).exp_m1()).ln()
    }

    /// The law at this x; `None` if it cannot be represented.
    fn with_shape_chart(&self, x: f64) -> Option<Law> {
        let law = self.law();
        x.is_finite().then(|| law.with_parameter(law.lowest_parameter() + log1p_exp(x)))
    }
}
