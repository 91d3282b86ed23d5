//! No mixing at all: the Gaussian.

use super::{Conditional, Entropy, Forms, MixingLaw, MixingNoise, Moments};
use crate::Error;
use crate::special::normal::HALF_LOG_TWO_PI;

/// w = 1 with probability one: z ~ N(μ, Σ).
///
/// Paper: §2.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PointMass;

impl MixingLaw for PointMass {
    const NAME: &'static str = "gaussian";
    const MIXES: bool = false;

    fn from_constants(_constants: &[f64]) -> Result<Self, Error> {
        Ok(Self)
    }

    fn sample<N: MixingNoise + ?Sized>(&self, _noise: &mut N) -> f64 {
        1.0
    }

    fn scale(&self, _w: f64) -> f64 {
        1.0
    }

    fn moments(&self) -> Moments {
        Moments::of_scale(1.0, 1.0)
    }

    fn conditional(&self, _forms: Forms) -> Conditional {
        Conditional { s: 1.0, inv_s: 1.0, ..Conditional::default() }
    }

    fn log_marginal(&self, forms: Forms) -> f64 {
        -(forms.dim as f64) * HALF_LOG_TWO_PI - 0.5 * forms.q
    }

    fn entropy(&self, _kappa: f64, dim: usize) -> Option<Entropy> {
        Some(Entropy::of_scale(gaussian_entropy(dim)))
    }

    fn log_mixing_density(&self, _w: f64) -> f64 {
        0.0
    }
}

/// ½ d log(2πe), the entropy of N(0, I).
pub(super) fn gaussian_entropy(dim: usize) -> f64 {
    dim as f64 * (HALF_LOG_TWO_PI + 0.5)
}
