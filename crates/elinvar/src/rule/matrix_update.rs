//! How the precision factors of a matrix- or tensor-variate Gaussian share a step.

use serde::{Deserialize, Serialize};

/// How the factors of a Kronecker-structured precision move.
///
/// The factors P_1, …, P_K share one scale: a change of the scale of each by x changes that of their product by Kx. The
/// natural gradient of each block alone (the others fixed) asks every factor for the whole change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum MatrixUpdate {
    /// The natural gradient of the whole Kronecker Gaussian: block natural gradients, with the change of scale shared
    /// out to the factors, one K-th each.
    #[default]
    Joint,
    /// The block natural gradients as they are, all at the old point (mathematics §6.3, §10.5). Above β = 2/K their
    /// scales overshoot more than they mend.
    Blockwise,
    /// The rule as the paper prints it: W⁺ = W − β₁ UGV and P_j⁺ = P_j + β₂ G(⊗V)Gᵀ with G = ∇h, ∇log q included. No
    /// precision ever falls, so a start must lie below the posterior's precisions, and β₂ far below β₁ (mathematics
    /// §6.3). β₁ is the plan's `step_size`, β₂ its `mixing_step_size`; without a `max_kl` the step is the printed one.
    PaperLiteral,
}

impl MatrixUpdate {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Joint, Self::Blockwise, Self::PaperLiteral];

    /// The word for it in files.
    pub fn name(&self) -> &'static str {
        match self {
            MatrixUpdate::Joint => "joint",
            MatrixUpdate::Blockwise => "blockwise",
            MatrixUpdate::PaperLiteral => "paper_literal",
        }
    }
}

impl std::fmt::Display for MatrixUpdate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}
