//! Priors of a positive scale such as the standard deviation of noise.

use std::f64::consts::{LN_2, PI};

use serde::{Deserialize, Serialize};

use super::half_cauchy::log_half_cauchy;
use crate::Error;
use crate::special::logistic::softplus_and_shares;
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
    /// The absolute value of s times a Student-t variable.
    HalfStudentT {
        /// ν > 0.
        degrees_of_freedom: f64,
        /// s > 0.
        scale: f64,
    },
    /// Density λ e^{−λσ}.
    Exponential {
        /// λ > 0.
        rate: f64,
    },
    /// Density proportional to σ^{k−1} e^{−λσ}.
    Gamma {
        /// k > 0.
        shape: f64,
        /// λ > 0.
        rate: f64,
    },
}

impl NoisePrior {
    /// Checks the constants.
    ///
    /// # Errors
    /// If the scale is not a positive number.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let constants = match *self {
            Self::Flat => [1.0, 1.0],
            Self::HalfCauchy { scale } | Self::HalfNormal { scale } => [scale, 1.0],
            Self::HalfStudentT { degrees_of_freedom, scale } => [degrees_of_freedom, scale],
            Self::Exponential { rate } => [rate, 1.0],
            Self::Gamma { shape, rate } => [shape, rate],
        };
        match constants.into_iter().find(|constant| !(*constant > 0.0 && constant.is_finite())) {
            Some(value) => Err(Error::Domain { parameter: "noise scale", value, reason: "it must be positive" }),
            None => Ok(()),
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
                [LN_2 - HALF_LOG_TWO_PI + log_ratio - 0.5 * square, 1.0 - square, -2.0 * square]
            }
            Self::HalfStudentT { degrees_of_freedom: nu, scale } => {
                let log_ratio = log_sigma - scale.ln();
                // With q = σ²/(νs²) the density is that of t at σ/s.
                let [softplus, p, q] = softplus_and_shares(2.0 * log_ratio - nu.ln());
                let normaliser = libm::lgamma(0.5 * (nu + 1.0)) - libm::lgamma(0.5 * nu) - 0.5 * (PI * nu).ln();
                let value = LN_2 + normaliser + log_ratio - 0.5 * (nu + 1.0) * softplus;
                [value, 1.0 - (nu + 1.0) * p, -2.0 * (nu + 1.0) * p * q]
            }
            Self::Exponential { rate } => {
                let at = rate * log_sigma.exp();
                [rate.ln() + log_sigma - at, 1.0 - at, -at]
            }
            Self::Gamma { shape, rate } => {
                let at = rate * log_sigma.exp();
                [shape * rate.ln() - libm::lgamma(shape) + shape * log_sigma - at, shape - at, -at]
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROPER: [NoisePrior; 5] = [
        NoisePrior::HalfCauchy { scale: 0.7 },
        NoisePrior::HalfNormal { scale: 3.0 },
        NoisePrior::HalfStudentT { degrees_of_freedom: 3.0, scale: 2.5 },
        NoisePrior::Exponential { rate: 0.4 },
        NoisePrior::Gamma { shape: 2.0, rate: 0.1 },
    ];

    #[test]
    fn the_proper_priors_have_mass_one_on_the_logarithm() {
        for prior in PROPER {
            let step = 0.01;
            let total: f64 = (-4000..4000).map(|i| prior.log_density(f64::from(i) * step)[0].exp() * step).sum();
            assert!((total - 1.0).abs() < 1e-12, "{prior:?}: {total}");
        }
    }

    #[test]
    fn the_derivatives_agree_with_differences() {
        let h = 1e-4;
        for prior in PROPER.into_iter().chain([NoisePrior::Flat]) {
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
