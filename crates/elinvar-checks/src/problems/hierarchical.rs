//! Eight schools: given τ everything is Gaussian, so that one integral is left.

use elinvar::model::{EightSchools, Parametrisation};

use super::Problem;
use super::grid::moments_over;

/// The data and the scales of the priors, as in [`EightSchools`].
const EFFECTS: [f64; 8] = [28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0];
const STANDARD_ERRORS: [f64; 8] = [15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0];
const SCALE: f64 = 5.0;

/// log N(y | m, v).
fn log_normal(y: f64, mean: f64, variance: f64) -> f64 {
    -0.5 * ((y - mean).powi(2) / variance + (std::f64::consts::TAU * variance).ln())
}

/// Writes the conditional means and second moments of (μ, log τ, θ or η) given log τ = t, and returns log p(t, y).
fn given(t: f64, form: Parametrisation, first: &mut [f64], second: &mut [f64]) -> f64 {
    let tau = t.exp();
    // μ | τ, y by way of y_j ~ N(μ, s_j² + τ²).
    let (mut prec, mut sum) = (1.0 / (SCALE * SCALE), 0.0);
    let mut log_p = (2.0 / std::f64::consts::PI).ln() - SCALE.ln() - (tau / SCALE).powi(2).ln_1p() + t;
    // The data are added one after the other: log p(y_j | y_1 … y_{j−1}, τ).
    for (y, s) in EFFECTS.iter().zip(STANDARD_ERRORS) {
        let variance = s * s + tau * tau;
        log_p += log_normal(*y, sum / prec, variance + 1.0 / prec);
        prec += 1.0 / variance;
        sum += y / variance;
    }
    let (mu, variance) = (sum / prec, 1.0 / prec);
    (first[0], second[0]) = (mu, mu * mu + variance);
    (first[1], second[1]) = (t, t * t);
    for (j, (y, s)) in EFFECTS.iter().zip(STANDARD_ERRORS).enumerate() {
        let total = s * s + tau * tau;
        // θ_j | μ ~ N(μ + c(y − μ), cs²) with c = τ²/(s² + τ²); η_j = (θ_j − μ)/τ.
        let (mean, spread) = match form {
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

/// The model in one of its forms.
pub(crate) fn eight_schools(form: Parametrisation) -> Problem {
    let (log_normaliser, moments) =
        moments_over(10, -40.0, 30.0, 70_001, |t, first, second| given(t, form, first, second));
    let name = match form {
        Parametrisation::Centred => "eight schools, centred",
        Parametrisation::NonCentred => "eight schools, non-centred",
    };
    Problem::known(name, EightSchools::new(form), log_normaliser, moments)
}
