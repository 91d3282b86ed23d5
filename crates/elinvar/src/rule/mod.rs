//! How a gradient becomes a step.

mod positive;
mod step_size;
mod trust_region;

pub use positive::{geodesic_step, log_step, student_t_christoffel};
pub use step_size::StepSize;
pub use trust_region::largest_step;

use serde::{Deserialize, Serialize};

/// The update of a block, given the gradient of the bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Rule {
    /// P⁺ = P − 2β∇_ΣL, B⁺ = B + βΣ⁺(∇_B L)Ω⁻¹, halved as a whole until P⁺ keeps a share of P (spec 00 §0.5).
    ///
    /// Paper: §3, Theorem 3.
    NaturalGradient,
    /// P⁺ = P + βG + ½β²GΣG with G = −2∇_ΣL, B⁺ = B + βΣ(∇_B L)Ω⁻¹: positive definite for every β (spec 10 §10.1).
    ///
    /// Lin, Schmidt & Khan 2020.
    #[default]
    Retraction,
}

impl std::fmt::Display for Rule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Rule::NaturalGradient => "natural_gradient",
            Rule::Retraction => "retraction",
        })
    }
}
