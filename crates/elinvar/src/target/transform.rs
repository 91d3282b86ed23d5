//! Maps from ℝᵐ onto a constrained set, as data: value, inverse, first and second derivatives, log-Jacobian.

use serde::{Deserialize, Serialize};

use crate::Error;

/// A smooth one-to-one map from unconstrained coordinates z to constrained ones x.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Transform {
    /// x = z.
    Identity,
    /// x = eᶻ > 0; z is the logarithm.
    Log,
    /// x = 1/(1 + e⁻ᶻ) in (0, 1); z is the logit.
    Logit,
    /// x = low + (high − low)/(1 + e⁻ᶻ).
    Interval {
        /// Lower end.
        low: f64,
        /// Upper end.
        high: f64,
    },
    /// x₁ < x₂ < …: x₁ = z₁, x_k = x_{k−1} + e^{z_k}.
    Ordered {
        /// Number of coordinates.
        len: usize,
    },
    /// Positive numbers that sum to one, by stick breaking: x_k = v_k (1 − x₁ − … − x_{k−1}) with
    /// v_k = σ(z_k − log(len − k)), so that z = 0 is the uniform point.
    Simplex {
        /// Number of entries of x; there is one coordinate of z less.
        len: usize,
    },
}

fn sigmoid(t: f64) -> f64 {
    1.0 / (1.0 + (-t).exp())
}

/// log(1 + eᵗ).
fn softplus(t: f64) -> f64 {
    t.max(0.0) + (-t.abs()).exp().ln_1p()
}

/// v_k of the stick-breaking map, for k counted from zero, and 1 − v_k, which a difference would lose near v_k = 1.
fn stick(z: &[f64], k: usize) -> [f64; 2] {
    let t = z[k] - ((z.len() - k) as f64).ln();
    [sigmoid(t), sigmoid(-t)]
}

fn outside(parameter: &'static str, value: f64, reason: &'static str) -> Error {
    Error::Domain { parameter, value, reason }
}

impl Transform {
    /// Number of coordinates of z.
    pub fn dim(&self) -> usize {
        match *self {
            Transform::Ordered { len } => len,
            Transform::Simplex { len } => len - 1,
            _ => 1,
        }
    }

    /// Number of coordinates of x.
    pub fn n_constrained(&self) -> usize {
        match *self {
            Transform::Ordered { len } | Transform::Simplex { len } => len,
            _ => 1,
        }
    }

    /// Checks the constants of the map.
    ///
    /// # Errors
    /// If an interval is empty or infinite, or a length is too small.
    pub(crate) fn validate(&self) -> Result<(), Error> {
        match *self {
            Transform::Interval { low, high } => {
                if !(low.is_finite() && high.is_finite()) {
                    return Err(outside("interval", low, "its ends must be finite"));
                }
                if low >= high {
                    return Err(outside("interval", low, "the lower end must be below the upper one"));
                }
            }
            Transform::Ordered { len: 0 } => return Err(outside("ordered length", 0.0, "it must be at least 1")),
            Transform::Simplex { len } if len < 2 => {
                return Err(outside("simplex length", len as f64, "it must be at least 2"));
            }
            _ => {}
        }
        Ok(())
    }

    /// Writes x(z).
    pub fn constrain(&self, z: &[f64], x: &mut [f64]) {
        match *self {
            Transform::Identity => x[0] = z[0],
            Transform::Log => x[0] = z[0].exp(),
            Transform::Logit => x[0] = sigmoid(z[0]),
            Transform::Interval { low, high } => x[0] = low + (high - low) * sigmoid(z[0]),
            Transform::Ordered { .. } => {
                x[0] = z[0];
                for k in 1..z.len() {
                    x[k] = x[k - 1] + z[k].exp();
                }
            }
            Transform::Simplex { .. } => {
                let mut rest = 1.0;
                let (last, first) = x.split_last_mut().expect("a simplex has at least two entries");
                for (k, x) in first.iter_mut().enumerate() {
                    let [v, beyond] = stick(z, k);
                    *x = v * rest;
                    rest *= beyond;
                }
                *last = rest;
            }
        }
    }

    /// Writes z(x).
    ///
    /// # Errors
    /// If x is not in the image of the map.
    pub fn unconstrain(&self, x: &[f64], z: &mut [f64]) -> Result<(), Error> {
        if let Some(bad) = x.iter().find(|v| !v.is_finite()) {
            return Err(outside("constrained value", *bad, "it must be finite"));
        }
        match *self {
            Transform::Identity => z[0] = x[0],
            Transform::Log if x[0] > 0.0 => z[0] = x[0].ln(),
            Transform::Log => return Err(outside("constrained value", x[0], "it must be positive")),
            Transform::Logit if x[0] > 0.0 && x[0] < 1.0 => z[0] = (x[0] / (1.0 - x[0])).ln(),
            Transform::Logit => return Err(outside("constrained value", x[0], "it must lie between 0 and 1")),
            Transform::Interval { low, high } if x[0] > low && x[0] < high => {
                z[0] = ((x[0] - low) / (high - x[0])).ln()
            }
            Transform::Interval { .. } => {
                return Err(outside("constrained value", x[0], "it must lie inside its interval"));
            }
            Transform::Ordered { .. } => {
                z[0] = x[0];
                for k in 1..x.len() {
                    if x[k] <= x[k - 1] {
                        return Err(outside("constrained value", x[k], "the values must increase"));
                    }
                    z[k] = (x[k] - x[k - 1]).ln();
                }
            }
            Transform::Simplex { len } => {
                if let Some(bad) = x.iter().find(|v| **v <= 0.0) {
                    return Err(outside("constrained value", *bad, "the entries of a simplex must be positive"));
                }
                let total: f64 = x.iter().sum();
                if (total - 1.0).abs() > 1e-8 {
                    return Err(outside("sum of a simplex", total, "it must be 1"));
                }
                let mut rest = x[len - 1];
                for k in (0..len - 1).rev() {
                    z[k] = (x[k] / rest).ln() + ((len - 1 - k) as f64).ln();
                    rest += x[k];
                }
            }
        }
        Ok(())
    }

    /// log |∂x/∂z|; for a simplex the first len − 1 entries of x count.
    pub fn log_jacobian(&self, z: &[f64]) -> f64 {
        match *self {
            Transform::Identity => 0.0,
            Transform::Log => z[0],
            Transform::Logit => -softplus(z[0]) - softplus(-z[0]),
            Transform::Interval { low, high } => (high - low).ln() - softplus(z[0]) - softplus(-z[0]),
            Transform::Ordered { .. } => z[1..].iter().sum(),
            Transform::Simplex { .. } => (0..z.len())
                .map(|k| {
                    let left = (z.len() - k) as f64;
                    let t = z[k] - left.ln();
                    -softplus(-t) - left * softplus(t)
                })
                .sum(),
        }
    }

    /// Adds the gradient of the log-Jacobian to `grad`.
    pub(crate) fn add_log_jacobian_gradient(&self, z: &[f64], grad: &mut [f64]) {
        match *self {
            Transform::Identity => {}
            Transform::Log => grad[0] += 1.0,
            Transform::Logit | Transform::Interval { .. } => grad[0] += 1.0 - 2.0 * sigmoid(z[0]),
            Transform::Ordered { .. } => grad[1..].iter_mut().for_each(|g| *g += 1.0),
            Transform::Simplex { .. } => {
                for (k, g) in grad.iter_mut().enumerate() {
                    *g += 1.0 - (z.len() - k + 1) as f64 * stick(z, k)[0];
                }
            }
        }
    }

    /// The k-th diagonal entry of the Hessian of the log-Jacobian; the other entries are zero.
    pub(crate) fn log_jacobian_curvature(&self, z: &[f64], k: usize) -> f64 {
        match *self {
            Transform::Logit | Transform::Interval { .. } => -2.0 * sigmoid(z[0]) * sigmoid(-z[0]),
            Transform::Simplex { .. } => {
                let [v, beyond] = stick(z, k);
                -((z.len() - k + 1) as f64) * v * beyond
            }
            _ => 0.0,
        }
    }

    /// Writes ∂x_i/∂z_j column by column (column j holds the derivatives of all x by z_j).
    pub fn jacobian(&self, z: &[f64], x: &[f64], out: &mut [f64]) {
        match *self {
            Transform::Identity => out[0] = 1.0,
            Transform::Log => out[0] = x[0],
            Transform::Logit => out[0] = sigmoid(z[0]) * sigmoid(-z[0]),
            Transform::Interval { low, high } => out[0] = (high - low) * sigmoid(z[0]) * sigmoid(-z[0]),
            Transform::Ordered { len } => {
                for (j, column) in out.chunks_exact_mut(len).enumerate() {
                    column[..j].fill(0.0);
                    column[j..].fill(if j == 0 { 1.0 } else { z[j].exp() });
                }
            }
            Transform::Simplex { len } => {
                for (j, column) in out.chunks_exact_mut(len).enumerate() {
                    let [v, beyond] = stick(z, j);
                    column[..j].fill(0.0);
                    column[j] = x[j] * beyond;
                    for (entry, x) in column[j + 1..].iter_mut().zip(&x[j + 1..]) {
                        *entry = -v * x;
                    }
                }
            }
        }
    }

    /// Σ_i g_i ∂²x_i/∂z_j∂z_l for j ≤ l, where g is the gradient with respect to x.
    pub(crate) fn second_derivative(&self, z: &[f64], x: &[f64], g: &[f64], j: usize, l: usize) -> f64 {
        match *self {
            Transform::Identity => 0.0,
            Transform::Log => g[0] * x[0],
            Transform::Logit | Transform::Interval { .. } => {
                let width = if let Transform::Interval { low, high } = *self { high - low } else { 1.0 };
                let v = sigmoid(z[0]);
                g[0] * width * v * sigmoid(-z[0]) * (1.0 - 2.0 * v)
            }
            Transform::Ordered { .. } => {
                if j == l && j > 0 {
                    z[j].exp() * g[j..].iter().sum::<f64>()
                } else {
                    0.0
                }
            }
            Transform::Simplex { .. } => {
                // ∂²x_i = x_i (a_ij a_il + δ_jl ∂a_ij) with a_ij = ∂ log x_i/∂z_j: −v_j for j < i, 1 − v_j for j = i.
                let ([v_j, _], [v_l, rest_l]) = (stick(z, j), stick(z, l));
                let beyond = crate::linalg::dot(&g[l + 1..], &x[l + 1..]);
                let own = g[l] * x[l];
                if j == l {
                    let curvature = v_l * rest_l;
                    beyond * (v_l * v_l - curvature) + own * (rest_l * rest_l - curvature)
                } else {
                    v_j * (v_l * beyond - rest_l * own)
                }
            }
        }
    }
}
