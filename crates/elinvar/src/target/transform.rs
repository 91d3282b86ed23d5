//! Maps from ℝᵐ onto a constrained set, as data: value, inverse, first and second derivatives, log-Jacobian.

mod correlation;
mod direction;

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
    /// x = low + eᶻ > low.
    Above {
        /// Lower end.
        low: f64,
    },
    /// x = high − eᶻ < high.
    Below {
        /// Upper end.
        high: f64,
    },
    /// The lower triangle, row by row, of a matrix with a positive diagonal, of which z has the logarithms.
    CovarianceCholesky {
        /// Number of rows.
        len: usize,
    },
    /// The same with rows of length one, so that LLᵀ is a correlation matrix; z = 0 is the identity. Densities are
    /// those of the entries left of the diagonal.
    CorrelationCholesky {
        /// Number of rows.
        len: usize,
    },
    /// A vector of length one, x = z/|z|; densities are with respect to the surface of the sphere.
    UnitVector {
        /// Number of entries of x, and of z, whose length says nothing.
        len: usize,
    },
}

/// Number of entries of a lower triangle.
fn triangle(len: usize) -> usize {
    // Of a length that has no triangle in memory, more than any memory.
    len.checked_add(1).and_then(|next| len.checked_mul(next)).map_or(usize::MAX, |twice| twice / 2)
}

/// Where the diagonal of a lower triangle stands among its entries.
fn diagonal(len: usize) -> impl Iterator<Item = usize> {
    (1..=len).map(|row| triangle(row) - 1)
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
            Transform::Ordered { len } | Transform::UnitVector { len } => len,
            Transform::Simplex { len } => len - 1,
            Transform::CovarianceCholesky { len } => triangle(len),
            Transform::CorrelationCholesky { len } => triangle(len - 1),
            _ => 1,
        }
    }

    /// Number of coordinates of x.
    pub fn n_constrained(&self) -> usize {
        match *self {
            Transform::Ordered { len } | Transform::Simplex { len } | Transform::UnitVector { len } => len,
            Transform::CovarianceCholesky { len } | Transform::CorrelationCholesky { len } => triangle(len),
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
            Transform::Above { low: end } | Transform::Below { high: end } if !end.is_finite() => {
                return Err(outside("bound", end, "it must be finite"));
            }
            Transform::CovarianceCholesky { len: 0 } => {
                return Err(outside("rows of a Cholesky factor", 0.0, "there must be at least 1"));
            }
            Transform::CorrelationCholesky { len } if len < 2 => {
                return Err(outside("rows of a correlation matrix", len as f64, "there must be at least 2"));
            }
            Transform::UnitVector { len } if len < 2 => {
                return Err(outside("length of a unit vector", len as f64, "it must have at least 2 entries"));
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
            Transform::Above { low } => x[0] = low + z[0].exp(),
            Transform::Below { high } => x[0] = high - z[0].exp(),
            Transform::CovarianceCholesky { len } => {
                x.copy_from_slice(z);
                diagonal(len).for_each(|at| x[at] = z[at].exp());
            }
            Transform::CorrelationCholesky { len } => correlation::constrain(len, z, x),
            Transform::UnitVector { .. } => direction::constrain(z, x),
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
            Transform::Above { low } if x[0] > low => z[0] = (x[0] - low).ln(),
            Transform::Above { .. } => return Err(outside("constrained value", x[0], "it must be above its bound")),
            Transform::Below { high } if x[0] < high => z[0] = (high - x[0]).ln(),
            Transform::Below { .. } => return Err(outside("constrained value", x[0], "it must be below its bound")),
            Transform::CovarianceCholesky { len } => {
                z.copy_from_slice(x);
                for at in diagonal(len) {
                    if x[at] <= 0.0 {
                        let reason = "the diagonal of a Cholesky factor must be positive";
                        return Err(outside("constrained value", x[at], reason));
                    }
                    z[at] = x[at].ln();
                }
            }
            Transform::CorrelationCholesky { len } => correlation::unconstrain(len, x, z)?,
            Transform::UnitVector { .. } => direction::unconstrain(x, z)?,
        }
        Ok(())
    }

    /// log |∂x/∂z|; for a simplex the first len − 1 entries of x count.
    pub fn log_jacobian(&self, z: &[f64]) -> f64 {
        match *self {
            Transform::Identity => 0.0,
            Transform::Log | Transform::Above { .. } | Transform::Below { .. } => z[0],
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
            Transform::CovarianceCholesky { len } => diagonal(len).map(|at| z[at]).sum(),
            Transform::CorrelationCholesky { len } => correlation::log_jacobian(len, z),
            Transform::UnitVector { .. } => direction::log_jacobian(z),
        }
    }

    /// Adds the gradient of the log-Jacobian to `grad`.
    pub(crate) fn add_log_jacobian_gradient(&self, z: &[f64], grad: &mut [f64]) {
        match *self {
            Transform::Identity => {}
            Transform::Log | Transform::Above { .. } | Transform::Below { .. } => grad[0] += 1.0,
            Transform::Logit | Transform::Interval { .. } => grad[0] += 1.0 - 2.0 * sigmoid(z[0]),
            Transform::Ordered { .. } => grad[1..].iter_mut().for_each(|g| *g += 1.0),
            Transform::Simplex { .. } => {
                for (k, g) in grad.iter_mut().enumerate() {
                    *g += 1.0 - (z.len() - k + 1) as f64 * stick(z, k)[0];
                }
            }
            Transform::CovarianceCholesky { len } => diagonal(len).for_each(|at| grad[at] += 1.0),
            Transform::CorrelationCholesky { len } => correlation::add_log_jacobian_gradient(len, z, grad),
            Transform::UnitVector { .. } => direction::add_log_jacobian_gradient(z, grad),
        }
    }

    /// Whether the Hessian of the log-Jacobian has nothing but its diagonal.
    pub(crate) fn is_separable(&self) -> bool {
        !matches!(self, Transform::UnitVector { .. })
    }

    /// An entry of the Hessian of the log-Jacobian; of those of a separable map only the diagonal may be asked for.
    pub(crate) fn log_jacobian_curvature(&self, z: &[f64], k: usize, l: usize) -> f64 {
        match *self {
            Transform::CorrelationCholesky { .. } => correlation::log_jacobian_curvature(z, k),
            Transform::UnitVector { .. } => direction::log_jacobian_curvature(z, k, l),
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
            Transform::Above { .. } => out[0] = z[0].exp(),
            Transform::Below { .. } => out[0] = -z[0].exp(),
            Transform::CovarianceCholesky { len } => {
                out.fill(0.0);
                out.iter_mut().step_by(z.len() + 1).for_each(|entry| *entry = 1.0);
                diagonal(len).for_each(|at| out[at * (z.len() + 1)] = x[at]);
            }
            Transform::CorrelationCholesky { len } => correlation::jacobian(len, z, x, out),
            Transform::UnitVector { .. } => direction::jacobian(z, x, out),
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
            Transform::Above { .. } => g[0] * z[0].exp(),
            Transform::Below { .. } => -g[0] * z[0].exp(),
            Transform::CovarianceCholesky { len } if j == l && diagonal(len).any(|at| at == j) => g[j] * x[j],
            Transform::CovarianceCholesky { .. } => 0.0,
            Transform::CorrelationCholesky { .. } => correlation::second_derivative(z, x, g, j, l),
            Transform::UnitVector { .. } => direction::second_derivative(z, x, g, j, l),
        }
    }
}
