//! The gradient of the bound in the coordinates of one block.

use super::scale::in_range;

/// Gradient of the bound in the coordinates of a block; in a finite mixture that of component c over π_c.
#[derive(Clone, Debug, PartialEq)]
pub struct BlockGradient {
    /// ∇_B L of a location block, d × r; ∇_W L of a tensor; ∇_η L of natural parameters, coordinate after coordinate.
    pub b: Vec<f64>,
    /// G = −2∇_Σ L of a location block, so that P⁺ = P + βG; G_j = −(2/D₋ⱼ)∇_{V_j} L of the factors of a tensor, one after the
    /// other; stored as the matrices are. Empty for natural parameters.
    pub g: Vec<f64>,
}

impl BlockGradient {
    /// A zero gradient with so many numbers.
    pub fn zeros(b: usize, g: usize) -> Self {
        Self { b: vec![0.0; b], g: vec![0.0; g] }
    }

    /// Sets everything to zero.
    pub fn reset(&mut self) {
        self.b.fill(0.0);
        self.g.fill(0.0);
    }

    /// Whether every entry can enter a step.
    pub fn is_finite(&self) -> bool {
        in_range(&self.b) && in_range(&self.g)
    }
}
