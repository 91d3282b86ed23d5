//! Normal hierarchies, eight schools among them: given τ everything is Gaussian, so that one integral is left.

use elinvar::model::{EightSchools, Parametrisation};
use elinvar::target::{Pointwise, PointwiseTarget, TargetError};

use super::Problem;
use super::grid::moments_over;

/// The scale of the priors of μ and τ, as in [`EightSchools`].
pub(crate) const SCALE: f64 = 5.0;

/// y_j ~ N(θ_j, s_j²), θ_j ~ N(μ, τ²), μ ~ N(0, 5²), τ ~ half-Cauchy(0, 5); z = (μ, log τ, θ or η).
#[derive(Clone, Debug)]
pub(crate) struct Hierarchy {
    pub(crate) form: Parametrisation,
    pub(crate) effects: Vec<f64>,
    pub(crate) standard_errors: Vec<f64>,
}

impl Hierarchy {
    fn groups(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        self.effects.iter().copied().zip(self.standard_errors.iter().copied())
    }

    /// Writes the conditional means and second moments of (μ, log τ, θ or η) given log τ = t, and returns log p(t, y).
    fn given(&self, t: f64, first: &mut [f64], second: &mut [f64]) -> f64 {
        let tau = t.exp();
        // μ | τ, y by way of y_j ~ N(μ, s_j² + τ²).
        let (mut prec, mut sum) = (1.0 / (SCALE * SCALE), 0.0);
        let mut log_p = log_half_cauchy(t);
        // The data are added one after the other: log p(y_j | y_1 … y_{j−1}, τ).
        for (y, s) in self.groups() {
            let variance = s * s + tau * tau;
            log_p += log_normal(y, sum / prec, variance + 1.0 / prec);
            prec += 1.0 / variance;
            sum += y / variance;
        }
        let (mu, variance) = (sum / prec, 1.0 / prec);
        (first[0], second[0]) = (mu, mu * mu + variance);
        (first[1], second[1]) = (t, t * t);
        for (j, (y, s)) in self.groups().enumerate() {
            let total = s * s + tau * tau;
            // θ_j | μ ~ N(μ + c(y − μ), cs²) with c = τ²/(s² + τ²); η_j = (θ_j − μ)/τ.
            let (mean, spread) = match self.form {
                Parametrisation::Centred => {
                    let c = tau * tau / total;
                    (mu + c * (y - mu), c * s * s + (1.0 - c).powi(2) * variance)
                }
                Parametrisation::NonCentred => {
                    let c = tau / total;
                    (c * (y - mu), s * s / total + c * c * variance)
                }
            };
            (first[2 + j], second[2 + j]) = (mean, mean * mean + spread);
        }
        log_p
    }

    /// The problem with its exact answer.
    pub(crate) fn problem(self, name: String) -> Problem {
        let dim = self.effects.len() + 2;
        let (log_normaliser, moments) =
            moments_over(dim, -40.0, 30.0, 70_001, |t, first, second| self.given(t, first, second));
        Problem::known(name, Pointwise(self), log_normaliser, moments)
    }
}

impl PointwiseTarget for Hierarchy {
    fn dim(&self) -> usize {
        self.effects.len() + 2
    }

    fn gradient(&self, z: &[f64], grad: &mut [f64]) -> Result<f64, TargetError> {
        let (mu, tau) = (z[0], z[1].exp());
        let mut log_p = log_normal(mu, 0.0, SCALE * SCALE) + log_half_cauchy(z[1]);
        grad[0] = -mu / (SCALE * SCALE);
        let square = (tau / SCALE).powi(2);
        grad[1] = 1.0 - 2.0 * square / (1.0 + square);
        for (j, (y, s)) in self.groups().enumerate() {
            match self.form {
                Parametrisation::Centred => {
                    let theta = z[2 + j];
                    let (residual, deviation) = ((y - theta) / (s * s), (theta - mu) / tau);
                    log_p += log_normal(y, theta, s * s) + log_normal(deviation, 0.0, 1.0) - z[1];
                    grad[2 + j] = residual - deviation / tau;
                    grad[0] += deviation / tau;
                    grad[1] += deviation * deviation - 1.0;
                }
                Parametrisation::NonCentred => {
                    let (eta, theta) = (z[2 + j], mu + tau * z[2 + j]);
                    let residual = (y - theta) / (s * s);
                    log_p += log_normal(y, theta, s * s) + log_normal(eta, 0.0, 1.0);
                    grad[2 + j] = tau * residual - eta;
                    grad[0] += residual;
                    grad[1] += residual * tau * eta;
                }
            }
        }
        Ok(log_p)
    }
}

/// log N(y | m, v).
fn log_normal(y: f64, mean: f64, variance: f64) -> f64 {
    -0.5 * ((y - mean).powi(2) / variance + (std::f64::consts::TAU * variance).ln())
}

/// The log density of log τ when τ is half-Cauchy(0, 5).
fn log_half_cauchy(t: f64) -> f64 {
    (2.0 / std::f64::consts::PI).ln() - SCALE.ln() - (t.exp() / SCALE).powi(2).ln_1p() + t
}

/// The model of the library in one of its forms.
pub(crate) fn eight_schools(form: Parametrisation) -> Problem {
    let (effects, standard_errors) = EightSchools::data();
    let name = match form {
        Parametrisation::Centred => "eight schools, centred",
        Parametrisation::NonCentred => "eight schools, non-centred",
    };
    let data = Hierarchy { form, effects: effects.to_vec(), standard_errors: standard_errors.to_vec() };
    Problem { target: Box::new(EightSchools::new(form)), ..data.problem(name.into()) }
}
