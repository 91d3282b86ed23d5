//! Where the coordinates of a target live.

use serde::{Deserialize, Serialize};

/// The set of values of every coordinate of z.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Support {
    /// ℝ.
    #[default]
    Real,
    /// (0, ∞).
    Positive,
    /// (0, 1).
    Unit,
    /// The circle, as angles in (−π, π]; the density has period 2π.
    Circle,
}

impl std::fmt::Display for Support {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Support::Real => "all real numbers",
            Support::Positive => "positive numbers",
            Support::Unit => "numbers between 0 and 1",
            Support::Circle => "angles",
        })
    }
}
