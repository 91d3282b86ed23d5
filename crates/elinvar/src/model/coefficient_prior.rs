//! Priors of the coefficients of a regression.

use serde::{Deserialize, Serialize};

use super::glm::check_precision;
use crate::Error;
use crate::special::normal::HALF_LOG_TWO_PI;

/// The prior of the coefficients of a regression, as plain data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CoefficientPrior {
    /// Constant; improper, so that the data must determine the coefficients.
    Flat,
    /// N(0, I/δ), declared and integrated in closed form.
    Isotropic {
        /// δ > 0.
        precision: f64,
    },
    /// N(mean_j, sd_j²) for each coefficient.
    Normal {
        /// One mean per coefficient.
        mean: Vec<f64>,
        /// One standard deviation per coefficient.
        sd: Vec<f64>,
    },
}

impl CoefficientPrior {
    pub(super) fn check(&self, n_coefficients: usize) -> Result<(), Error> {
        match self {
            Self::Flat => Ok(()),
            Self::Isotropic { precision } => check_precision(*precision),
            Self::Normal { mean, sd } => {
                for (what, values) in [("prior means", mean), ("prior standard deviations", sd)] {
                    if values.len() != n_coefficients {
                        return Err(Error::Shape { what, expected: n_coefficients, found: values.len() });
                    }
                }
                if let Some(value) = mean.iter().copied().find(|v| !v.is_finite()) {
                    return Err(Error::Domain { parameter: "prior mean", value, reason: "it must be finite" });
                }
                match sd.iter().copied().find(|v| !(*v > 0.0 && v.is_finite())) {
                    Some(value) => {
                        let parameter = "prior standard deviation";
                        Err(Error::Domain { parameter, value, reason: "it must be positive" })
                    }
                    None => Ok(()),
                }
            }
        }
    }

    /// Adds `share` of the gradient of what is not declared and returns `share` of its value.
    pub(super) fn add(&self, share: f64, beta: &[f64], grad: &mut [f64]) -> f64 {
        let Self::Normal { mean, sd } = self else { return 0.0 };
        let mut value = 0.0;
        for (((beta, grad), mean), sd) in beta.iter().zip(grad).zip(mean).zip(sd) {
            let t = (beta - mean) / sd;
            value -= 0.5 * t * t + sd.ln() + HALF_LOG_TWO_PI;
            *grad -= share * t / sd;
        }
        share * value
    }

    /// Adds `factor` times the second derivatives of what is not declared to every `stride`-th entry.
    pub(super) fn add_curvature(&self, factor: f64, entries: &mut [f64], stride: usize) {
        let Self::Normal { sd, .. } = self else { return };
        entries.iter_mut().step_by(stride).zip(sd).for_each(|(entry, sd)| *entry -= factor / (sd * sd));
    }
}
