//! The gradient of the bound in the coordinates of a member.

use crate::block::{BlockGradient, in_range};

/// Gradient of the bound: a part for each block, the weights of a mixture, and a learned shape.
#[derive(Clone, Debug, PartialEq)]
pub struct Gradient {
    /// One for each block; in a mixture that of component c over π_c.
    pub blocks: Vec<BlockGradient>,
    /// E_c\[h\] of each component of a mixture, up to a constant common to all; empty for a family with one component.
    pub expected_h: Vec<f64>,
    /// ∂L/∂a of a learned shape, 0 where there is none.
    pub shape: f64,
    /// −∇h averaged over draws and Σ_s ∇h(⊗V)∇hᵀ of each tensor: what the rule of the paper moves by; empty unless it is asked for.
    pub(crate) literal: Vec<BlockGradient>,
}

impl Gradient {
    /// Whether every entry can enter a step.
    pub fn is_finite(&self) -> bool {
        self.blocks.iter().chain(&self.literal).all(BlockGradient::is_finite)
            && self.expected_h.iter().all(|h| h.is_finite())
            && in_range(&[self.shape])
    }

    /// What a step moves the blocks by.
    pub(crate) fn moved_by(&self) -> &[BlockGradient] {
        if self.literal.is_empty() { &self.blocks } else { &self.literal }
    }
}
