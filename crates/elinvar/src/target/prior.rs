//! The part of a log density that is declared instead of evaluated.

use serde::{Deserialize, Serialize};

/// A prior whose expectation under every family is known in closed form (mathematics §0.5).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Prior {
    /// Nothing is declared; `evaluate` returns the whole log density.
    None,
    /// N(0, I/precision) on the first `leading` coordinates.
    Gaussian {
        /// δ > 0.
        precision: f64,
        /// How many coordinates the prior covers, counted from the first.
        leading: usize,
    },
    /// w ~ InverseGamma(a, a), z | w ~ N(0, w I/precision): the t prior that shares w with a Student-t approximation (mathematics §2.2).
    StudentT {
        /// δ > 0.
        precision: f64,
        /// a₀ > 0.
        a: f64,
    },
}

impl Prior {
    /// log p(z), where the prior lives on z alone.
    ///
    /// For [`Prior::StudentT`] this is the marginal, the multivariate t with 2a degrees of freedom.
    pub fn log_density(&self, z: &[f64]) -> f64 {
        use std::f64::consts::TAU;
        match *self {
            Prior::None => 0.0,
            Prior::Gaussian { precision, leading } => {
                let square: f64 = z[..leading].iter().map(|v| v * v).sum();
                0.5 * leading as f64 * (precision / TAU).ln() - 0.5 * precision * square
            }
            Prior::StudentT { precision, a } => {
                let half = 0.5 * z.len() as f64;
                let square: f64 = z.iter().map(|v| v * v).sum();
                libm::lgamma(a + half) - libm::lgamma(a) + half * (precision / (TAU * a)).ln()
                    - (a + half) * (0.5 * precision * square / a).ln_1p()
            }
        }
    }
}
