//! The step of a member as the paper prints it: all blocks by the same β, or none.

use super::step::BlockScratch;
use super::{Approximation, Blocks, Gradient, Kind, Scratch, StepRequest};
use crate::block::Outside;
use crate::rule::{MatrixUpdate, OnLeaving, Rule, Taken};

/// A step is halved at most this often.
const HALVINGS: usize = 60;

/// Why a step was not taken: a quantity that would have a value outside its domain.
#[derive(Clone, Debug, PartialEq)]
pub struct Left {
    /// The quantity.
    pub what: String,
    /// Its value: for a precision the smallest eigenvalue.
    pub value: f64,
}

impl Approximation {
    /// Makes the update of a `matrix` the printed one; other families have their boxes from the rule.
    pub(crate) fn take_printed_update(&mut self) {
        if let Kind::Matrix { update, .. } = &mut self.family.kind {
            *update = MatrixUpdate::PaperLiteral;
        }
    }

    /// One step of the rule `printed`, all of it from the old state; `before` is room for that state.
    ///
    /// # Errors
    /// What would have left the domain, if such a step is not to be halved; the member is as it was.
    ///
    /// Paper: eq. (16), eq. (21).
    pub fn printed_step(
        &mut self,
        gradient: &Gradient,
        request: StepRequest,
        on_leaving: OnLeaving,
        before: &mut Approximation,
        scratch: &mut Scratch,
    ) -> Result<Taken, Left> {
        if matches!(self.blocks, Blocks::Tensor(_) | Blocks::Own(_)) {
            // The precisions of a tensor only grow, and its step sizes are two; a family of a user's is in no box of
            // the paper's and takes the plain step.
            let plain = StepRequest { rule: Rule::NaturalGradient, max_kl: None, ..request };
            return Ok(self.advance(gradient, plain, scratch));
        }
        before.clone_from(self);
        let mut share = 1.0;
        for halvings in 0.. {
            let (beta, mixing_beta) = (share * request.beta, share * request.mixing_beta);
            match self.try_printed(gradient, StepRequest { beta, mixing_beta, max_kl: None, ..request }, scratch) {
                Ok(()) => return Ok(Taken::by_one(beta)),
                Err(left) => {
                    self.clone_from(before);
                    if on_leaving == OnLeaving::End || halvings == HALVINGS {
                        return Err(left);
                    }
                    share *= 0.5;
                }
            }
        }
        unreachable!("the loop ends by returning")
    }

    /// The same by this β; where it fails, some blocks may have moved.
    fn try_printed(&mut self, gradient: &Gradient, request: StepRequest, scratch: &mut Scratch) -> Result<(), Left> {
        let (beta, k) = (request.beta, self.n_components());
        let left = |Outside { what, value }: Outside, c: usize| Left {
            what: if k > 1 { format!("{what} of component {}", c + 1) } else { what.into() },
            value,
        };
        let law = self.learned().map(|slopes| {
            let law = self.law();
            (law, law.parameter().unwrap_or(1.0) + request.mixing_beta * (gradient.shape / slopes.fisher))
        });
        self.advance_weights(gradient, request, &mut scratch.next_weights);
        match (&mut self.blocks, &mut scratch.blocks) {
            (Blocks::Location(blocks), BlockScratch::Location(location)) => {
                let (_, omega_inv) = scratch.omega.updated(&self.family);
                for (c, (block, gradient)) in blocks.iter_mut().zip(&gradient.blocks).enumerate() {
                    block.advance_printed(gradient, omega_inv, beta, location).map_err(|outside| left(outside, c))?;
                }
            }
            (Blocks::Natural(blocks), BlockScratch::Natural(scratch)) => {
                for (c, ((block, gradient), scratch)) in
                    blocks.iter_mut().zip(&gradient.blocks).zip(scratch).enumerate()
                {
                    block.advance_printed(gradient, beta, scratch).map_err(|outside| left(outside, c))?;
                }
            }
            _ => unreachable!("these do not come here, and the scratch was made for members of this shape"),
        }
        if let Some((law, moved)) = law {
            let lowest = law.lowest_parameter();
            if moved.is_nan() || moved <= lowest {
                let name = law.constants().next().map_or("shape", |(name, _)| name);
                return Err(Left { what: format!("the constant {name}, which is above {lowest},"), value: moved });
            }
            self.set_law(&law.with_parameter(moved));
        }
        Ok(())
    }
}
