//! Independent one-dimensional laws, mixed by a matrix: skew, heavy or light tails in any dimension, with exact
//! moments.

use std::f64::consts::PI;

use elinvar::internals::special::gamma::{digamma, ln_gamma, trigamma};
use elinvar::internals::special::logistic::{log1p_exp, logistic_variance, sigmoid};
use elinvar::internals::special::normal::{HALF_LOG_TWO_PI, inverse_mills, log_ndtr, truncated_variance};
use elinvar::target::{PointwiseHessian, PointwiseSecondOrder, PointwiseTarget, TargetError};

use super::grid::moments_over;
use super::linear_map::{LinearMap, congruence};
use super::{Moments, Problem};

/// A law on the line with a smooth, normalised density.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Law {
    Normal,
    /// 2φ(u)Φ(αu).
    SkewNormal {
        alpha: f64,
    },
    /// The logarithm of a Gamma(a, 1) variable: the unconstrained scale of a rate or variance.
    LogGamma {
        a: f64,
    },
    Logistic,
    StudentT {
        nu: f64,
    },
    /// ∝ exp(−u⁴/4).
    Quartic,
    /// (1 − w) N(0, 1) + w N(0, s²).
    Contaminated {
        weight: f64,
        sd: f64,
    },
    /// ∝ exp(−u²/2 + a cos(ωu + φ)); see [`Law::ripple`].
    Ripple {
        height: f64,
        frequency: f64,
        phase: f64,
        log_integral: f64,
    },
}

impl Law {
    /// A standard normal density with ripples of height a nats and frequency ω on it.
    pub(crate) fn ripple(height: f64, frequency: f64, phase: f64) -> Self {
        let (log_integral, _) = Self::rippled(height, frequency, phase);
        Law::Ripple { height, frequency, phase, log_integral }
    }

    /// Log normaliser and moments of a ripple.
    fn rippled(height: f64, frequency: f64, phase: f64) -> (f64, Moments) {
        let points = 4_001 + 400 * frequency.ceil() as usize;
        moments_over(1, -12.0, 12.0, points, |u, first, second| {
            (first[0], second[0]) = (u, u * u);
            -0.5 * u * u + height * (frequency * u + phase).cos()
        })
    }

    /// log f, its slope and its curvature.
    fn log_density(self, u: f64) -> [f64; 3] {
        match self {
            Law::Normal => [-0.5 * u * u - HALF_LOG_TWO_PI, -u, -1.0],
            Law::SkewNormal { alpha } => {
                let t = alpha * u;
                let value = std::f64::consts::LN_2 - 0.5 * u * u - HALF_LOG_TWO_PI + log_ndtr(t);
                // d²/dt² log Φ(t) = tv(t) − 1.
                let bend = truncated_variance(t) - 1.0;
                [value, -u + alpha * inverse_mills(t), -1.0 + alpha * alpha * bend]
            }
            Law::LogGamma { a } => {
                let x = u.exp();
                [a * u - x - ln_gamma(a), a - x, -x]
            }
            Law::Logistic => {
                [-u.abs() - 2.0 * log1p_exp(-u.abs()), 1.0 - 2.0 * sigmoid(u), -2.0 * logistic_variance(u)]
            }
            Law::StudentT { nu } => {
                let peak = ln_gamma(0.5 * (nu + 1.0)) - ln_gamma(0.5 * nu) - 0.5 * (nu * PI).ln();
                let spread = nu + u * u;
                let value = peak - 0.5 * (nu + 1.0) * (u * u / nu).ln_1p();
                [value, -(nu + 1.0) * u / spread, -(nu + 1.0) * (nu - u * u) / (spread * spread)]
            }
            Law::Quartic => {
                let peak = -(0.5 * std::f64::consts::SQRT_2).ln() - ln_gamma(0.25);
                [peak - 0.25 * u.powi(4), -u.powi(3), -3.0 * u * u]
            }
            Law::Contaminated { weight, sd } => {
                let narrow = (1.0 - weight).ln() - 0.5 * u * u;
                let wide = weight.ln() - sd.ln() - 0.5 * (u / sd).powi(2);
                let top = narrow.max(wide);
                let total = top + ((narrow - top).exp() + (wide - top).exp()).ln();
                let share = (narrow - total).exp();
                // A mixture's slope is the mean of its parts' slopes; its curvature has their variance besides.
                let rate = sd.powi(-2);
                let slope = -u * (share + (1.0 - share) * rate);
                let curvature = -share - (1.0 - share) * rate + share * (1.0 - share) * (u * (1.0 - rate)).powi(2);
                [total - HALF_LOG_TWO_PI, slope, curvature]
            }
            Law::Ripple { height, frequency, phase, log_integral } => {
                let (sine, cosine) = (frequency * u + phase).sin_cos();
                [
                    -0.5 * u * u + height * cosine - log_integral,
                    -u - height * frequency * sine,
                    -1.0 - height * frequency * frequency * cosine,
                ]
            }
        }
    }

    /// Mean and variance; NaN where they do not exist.
    pub(crate) fn moments(self) -> (f64, f64) {
        match self {
            Law::Normal => (0.0, 1.0),
            Law::SkewNormal { alpha } => {
                let delta = alpha / (1.0 + alpha * alpha).sqrt();
                (delta * (2.0 / PI).sqrt(), 1.0 - 2.0 * delta * delta / PI)
            }
            Law::LogGamma { a } => (digamma(a), trigamma(a)),
            Law::Logistic => (0.0, PI * PI / 3.0),
            Law::StudentT { nu } => (0.0, if nu > 2.0 { nu / (nu - 2.0) } else { f64::NAN }),
            Law::Quartic => (0.0, 2.0 * (ln_gamma(0.75) - ln_gamma(0.25)).exp()),
            Law::Contaminated { weight, sd } => (0.0, 1.0 - weight + weight * sd * sd),
            Law::Ripple { height, frequency, phase, .. } => {
                let (_, known) = Self::rippled(height, frequency, phase);
                (known.mean[0], known.sd[0] * known.sd[0])
            }
        }
    }
}

/// z = A u with independent u_i.
struct Mixed {
    laws: Vec<Law>,
    map: LinearMap,
}

impl PointwiseTarget for Mixed {
    fn dim(&self) -> usize {
        self.laws.len()
    }

    fn gradient(&self, z: &[f64], grad: &mut [f64]) -> Result<f64, TargetError> {
        let mut u = vec![0.0; z.len()];
        self.map.solve(z, &mut u);
        let mut log_p = -self.map.log_det;
        for (u, law) in u.iter_mut().zip(&self.laws) {
            let [value, slope, _] = law.log_density(*u);
            log_p += value;
            *u = slope;
        }
        self.map.solve_transposed(&u, grad);
        Ok(log_p)
    }
}

impl PointwiseHessian for Mixed {
    fn hessian(&self, z: &[f64], hessian: &mut [f64]) -> Result<(), TargetError> {
        let d = z.len();
        let mut u = vec![0.0; d];
        self.map.solve(z, &mut u);
        let mut diagonal = vec![0.0; d * d];
        for (i, law) in self.laws.iter().enumerate() {
            diagonal[i * (d + 1)] = law.log_density(u[i])[2];
        }
        congruence(d, &self.map.inverse, &diagonal, hessian);
        Ok(())
    }
}

/// Independent laws, rotated and scaled by a matrix of the given condition number.
pub(crate) fn mixed(name: &str, laws: &[Law], condition: f64) -> Problem {
    let d = laws.len();
    let map =
        if condition == 1.0 { LinearMap::identity(d) } else { LinearMap::with_condition(d, condition, 200 + d as u64) };
    let (means, variances): (Vec<f64>, Vec<f64>) = laws.iter().map(|law| law.moments()).unzip();
    let mut mean = vec![0.0; d];
    map.apply(&means, &mut mean);
    let sd = (0..d).map(|i| (0..d).map(|j| map.forward[j * d + i].powi(2) * variances[j]).sum::<f64>().sqrt());
    let moments = Moments { mean, sd: sd.collect() };
    Problem::known(name, PointwiseSecondOrder(Mixed { laws: laws.to_vec(), map }), 0.0, moments)
}
