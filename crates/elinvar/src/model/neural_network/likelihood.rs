//! What the outputs of a network say about the responses.

use serde::{Deserialize, Serialize};

use super::super::{NoisePrior, kernels};
use crate::Error;
use crate::special::normal::HALF_LOG_TWO_PI;

/// The noise of a regression.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NetworkNoise {
    /// Known precision τ = 1/σ².
    Fixed {
        /// τ > 0.
        precision: f64,
    },
    /// log σ is a further coordinate, the last.
    Learned {
        /// The prior of σ.
        prior: NoisePrior,
    },
}

impl NetworkNoise {
    pub(super) fn check(&self) -> Result<(), Error> {
        match self {
            Self::Fixed { precision } if !(*precision > 0.0 && precision.is_finite()) => Err(Error::Domain {
                parameter: "noise precision",
                value: *precision,
                reason: "it must be positive and finite",
            }),
            Self::Fixed { .. } => Ok(()),
            Self::Learned { prior } => prior.check(),
        }
    }
}

/// p(response | outputs).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum NetworkLikelihood {
    /// y ~ N(f, 1/τ).
    Gaussian(NetworkNoise),
    /// y = ±1 with p = σ(yf).
    Bernoulli,
    /// Class y with the probabilities soft-max(f).
    Categorical {
        /// Number of classes, at least two.
        classes: usize,
    },
}

/// Memory for the likelihood of a block of n items.
pub(super) struct LikelihoodMemory<'a> {
    /// log p of each item, n numbers.
    pub(super) value: &'a mut [f64],
    /// 2n numbers.
    pub(super) spare: &'a mut [f64],
}

impl NetworkLikelihood {
    pub(super) fn n_outputs(&self) -> usize {
        match self {
            Self::Gaussian(_) | Self::Bernoulli => 1,
            Self::Categorical { classes } => *classes,
        }
    }

    /// The prior of σ, where log σ is a coordinate.
    pub(super) fn learned_noise(&self) -> Option<NoisePrior> {
        match self {
            Self::Gaussian(NetworkNoise::Learned { prior }) => Some(*prior),
            _ => None,
        }
    }

    /// log σ of a Gaussian likelihood at the point z.
    pub(super) fn log_sigma(&self, z: &[f64]) -> f64 {
        match self {
            Self::Gaussian(NetworkNoise::Fixed { precision }) => -0.5 * precision.ln(),
            _ => z[z.len() - 1],
        }
    }

    /// Returns Σ log p(y | f) and replaces the outputs f by ∂log p/∂f, with (y − f) for a Gaussian and the
    /// probabilities for classes: [`NetworkLikelihood::slopes`] makes the derivatives of them.
    pub(super) fn values(&self, z: &[f64], y: &[f64], f: &mut [f64], memory: &mut LikelihoodMemory<'_>) -> f64 {
        let n = y.len();
        let value = &mut memory.value[..n];
        match self {
            Self::Gaussian(_) => {
                for ((f, y), value) in f.iter_mut().zip(y).zip(value.iter_mut()) {
                    *f = y - *f;
                    *value = *f * *f;
                }
                let log_sigma = self.log_sigma(z);
                -0.5 * (-2.0 * log_sigma).exp() * kernels::sum(value) - n as f64 * (log_sigma + HALF_LOG_TWO_PI)
            }
            Self::Bernoulli => {
                kernels::logistic_block(y, f, value, &mut memory.spare[..n]);
                kernels::sum(value)
            }
            Self::Categorical { .. } => {
                kernels::softmax_block(y, f, value, memory.spare);
                kernels::sum(value)
            }
        }
    }

    /// Turns what [`NetworkLikelihood::values`] has left in `f` into ∂log p/∂f; returns ∂/∂log σ of the sum for a
    /// Gaussian.
    pub(super) fn slopes(&self, z: &[f64], y: &[f64], f: &mut [f64], memory: &LikelihoodMemory<'_>) -> f64 {
        match self {
            Self::Gaussian(_) => {
                let precision = (-2.0 * self.log_sigma(z)).exp();
                f.iter_mut().for_each(|residual| *residual *= precision);
                precision * kernels::sum(&memory.value[..y.len()]) - y.len() as f64
            }
            Self::Bernoulli => 0.0,
            Self::Categorical { .. } => {
                f.iter_mut().for_each(|p| *p = -*p);
                y.iter().enumerate().for_each(|(i, label)| f[*label as usize * y.len() + i] += 1.0);
                0.0
            }
        }
    }

    /// The number of terms of H = Σ_k w_k v_k v_kᵀ, the curvature of −log p in the outputs.
    pub(super) fn n_directions(&self) -> usize {
        match self {
            Self::Gaussian(_) | Self::Bernoulli => 1,
            Self::Categorical { classes } => *classes,
        }
    }

    /// Writes w_k of each item to `weight` and v_k, class after class, to `v`; `f` is what
    /// [`NetworkLikelihood::values`] has left.
    ///
    /// For classes diag(p) − ppᵀ = Σ_k p_k (e_k − p)(e_k − p)ᵀ.
    pub(super) fn direction(
        &self,
        k: usize,
        z: &[f64],
        f: &[f64],
        memory: &LikelihoodMemory<'_>,
        weight: &mut [f64],
        v: &mut [f64],
    ) {
        let n = weight.len();
        match self {
            Self::Gaussian(_) => {
                weight.fill((-2.0 * self.log_sigma(z)).exp());
                v.fill(1.0);
            }
            Self::Bernoulli => {
                weight.iter_mut().zip(memory.spare.iter()).for_each(|(w, curvature)| *w = -curvature);
                v.fill(1.0);
            }
            Self::Categorical { .. } => {
                weight.copy_from_slice(&f[k * n..(k + 1) * n]);
                v.iter_mut().zip(f).for_each(|(v, p)| *v = -p);
                v[k * n..(k + 1) * n].iter_mut().for_each(|v| *v += 1.0);
            }
        }
    }
}
