//! Priors of a positive scale such as the standard deviation of noise.

use serde::{Deserialize, Serialize};

use super::half_cauchy::log_half_cauchy;
use crate::Error;
use crate::special::normal::HALF_LOG_TWO_PI;

/// The prior of a positive scale σ, as plain data.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum NoisePrior {
    /// Constant in σ; improper, so that the data must determine σ.
    Flat,
    /// Density 2/(πs) · 1/(1 + σ²/s²).
    HalfCauchy {
        /// s > 0.
        scale: f64,
    },
    /// The absolute value of N(0, s²).
    HalfNormal {
        /// s > 0.
        scale: f64,
    },
}

impl NoisePrior {
    /// Checks the constants.
    ///
    /// # Errors
    /// If the scale is not a positive number.
    pub(crate) fn check(&self) -> Result<(), Error> {
        match *self {
            Self::HalfCauchy { scale } | Self::HalfNormal { scale } if !(scale > 0.0 && scale.is_finite()) => {
                Err(Error::Domain { parameter: "noise scale", value: scale, reason: "it must be positive" })
            }
            _ => Ok(()),
        }
    }

    /// log density of ℓ = log σ, the Jacobian included; then its first and second derivative.
    pub fn log_density(&self, log_sigma: f64) -> [f64; 3] {
        match *self {
            Self::Flat => [log_sigma, 1.0, 0.0],
            Self::HalfCauchy { scale } => log_half_cauchy(log_sigma, scale),
            Self::HalfNormal { scale } => {
                let log_ratio = log_sigma - scale.ln();
                let square = (2.0 * log_ratio).exp();
                [std::f64::consts::LN_2 - HALF_LOG_TWO_PI + log_ratio - 0.5 * square, 1.0 - square, -2.0 * square]
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_proper_priors_have_mass_one_on_the_logarithm() {
        for prior in [NoisePrior::HalfCauchy { scale: 0.7 }, NoisePrior::HalfNormal { scale: 3.0 }] {
            let step = 0.01;
            let total: f64 = (-4000..4000).map(|i| prior.log_density(f64::from(i) * step)[0].exp() * step).sum();
            assert!((total - 1.0).abs() < 1e-12, "{prior:?}: {total}");
        }
    }

    #[test]
    fn the_derivatives_agree_with_differences() {
        let h = 1e-4;
        for prior in [NoisePrior::Flat, NoisePrior::HalfCauchy { scale: 0.7 }, NoisePrior::HalfNormal { scale: 3.0 }] {
            for at in [-1.3, 0.4, 1.9] {
                let [(low, slope_low), (high, slope_high)] = [at - h, at + h].map(|l| {
                    let [value, slope, _] = prior.log_density(l);
                    (value, slope)
                });
                let [_, slope, curvature] = prior.log_density(at);
                assert!(((high - low) / (2.0 * h) - slope).abs() < 1e-7, "{prior:?} at {at}");
                assert!(((slope_high - slope_low) / (2.0 * h) - curvature).abs() < 1e-7, "{prior:?} at {at}");
            }
        }
    }

    #[test]
    fn a_scale_must_be_positive() {
        assert!(NoisePrior::Flat.check().is_ok());
        for scale in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(NoisePrior::HalfNormal { scale }.check().is_err());
            assert!(NoisePrior::HalfCauchy { scale }.check().is_err());
        }
    }
}
