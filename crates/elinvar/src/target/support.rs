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
    /// (0, 1) for every coordinate, and their sum is 1: a density of all coordinates but one, written as a function of
    /// all of them, of whose gradient the part along the simplex counts.
    Simplex,
}

impl Support {
    /// z, moved inside where rounding has put it on the boundary or where its reciprocal would overflow.
    pub(crate) fn inside(self, z: f64) -> f64 {
        /// Derivatives of log densities grow like 1/z.
        const LEAST: f64 = 1e-300;
        match self {
            Support::Real | Support::Circle => z,
            Support::Positive => z.clamp(LEAST, 1.0 / LEAST),
            Support::Unit => z.clamp(LEAST, 1.0 - 0.5 * f64::EPSILON),
            // A share of one after rounding leaves room for others that are as small.
            Support::Simplex => z.clamp(LEAST, 1.0),
        }
    }
}

impl std::fmt::Display for Support {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Support::Real => "all real numbers",
            Support::Positive => "positive numbers",
            Support::Unit => "numbers between 0 and 1",
            Support::Circle => "angles",
            Support::Simplex => "shares that sum to one",
        })
    }
}
