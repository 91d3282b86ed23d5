//! The eight-schools hierarchical model.

use super::half_cauchy::log_half_cauchy;
use crate::target::{
    About, Answer, Ask, PointwiseHessian, PointwiseTarget, PointwiseValue, Target, TargetError, Transform, Transforms,
    by_point,
};

/// Estimated effects of coaching (Rubin, Estimation in parallel randomized experiments, J. Educ. Stat. 6, 1981).
const EFFECTS: [f64; N] = [28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0];
const STANDARD_ERRORS: [f64; N] = [15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0];
const N: usize = 8;
const SCALE: f64 = 5.0;

/// How the effects of the schools are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parametrisation {
    /// By themselves, θ_j.
    Centred,
    /// By their standardised deviations, θ_j = μ + τ η_j.
    NonCentred,
}

/// y_j ~ N(θ_j, s_j²), θ_j ~ N(μ, τ²), μ ~ N(0, 5²), τ ~ half-Cauchy(0, 5); z = (μ, log τ, θ or η).
///
/// All constants are included: the normaliser is the marginal likelihood of the data, for both parametrisations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EightSchools {
    parametrisation: Parametrisation,
}

impl EightSchools {
    /// The model in one of its two forms.
    pub fn new(parametrisation: Parametrisation) -> Self {
        Self { parametrisation }
    }

    /// Estimated effects and their standard errors, one each per school.
    pub fn data() -> ([f64; 8], [f64; 8]) {
        (EFFECTS, STANDARD_ERRORS)
    }

    fn school_names(&self) -> impl Iterator<Item = String> + use<> {
        let letter = match self.parametrisation {
            Parametrisation::Centred => "theta",
            Parametrisation::NonCentred => "eta",
        };
        (1..=N).map(move |j| format!("{letter}{j}"))
    }
}

/// log N(t | 0, 1).
fn log_normal(t: f64) -> f64 {
    -0.5 * (t * t + std::f64::consts::TAU.ln())
}

impl PointwiseTarget for EightSchools {
    fn dim(&self) -> usize {
        N + 2
    }

    fn gradient(&self, z: &[f64], grad: &mut [f64]) -> Result<f64, TargetError> {
        let (mu, tau) = (z[0], z[1].exp());
        grad[0] = -mu / (SCALE * SCALE);
        grad[1] = log_half_cauchy(z[1], SCALE)[1];
        for j in 0..N {
            let (y, s) = (EFFECTS[j], STANDARD_ERRORS[j]);
            match self.parametrisation {
                Parametrisation::Centred => {
                    let theta = z[2 + j];
                    let (residual, deviation) = ((y - theta) / s, (theta - mu) / tau);
                    grad[2 + j] = residual / s - deviation / tau;
                    grad[0] += deviation / tau;
                    grad[1] += deviation * deviation - 1.0;
                }
                Parametrisation::NonCentred => {
                    let eta = z[2 + j];
                    let residual = (y - mu - tau * eta) / s;
                    grad[2 + j] = tau * residual / s - eta;
                    grad[0] += residual / s;
                    grad[1] += tau * eta * residual / s;
                }
            }
        }
        self.log_density(z)
    }

    fn value(&self) -> Option<&dyn PointwiseValue> {
        Some(self)
    }

    fn names(&self) -> Vec<String> {
        ["mu".to_owned(), "log_tau".to_owned()].into_iter().chain(self.school_names()).collect()
    }

    fn transforms(&self) -> Transforms {
        let mut blocks = vec![Transform::Identity; N + 2];
        blocks[1] = Transform::Log;
        Transforms::new(blocks).expect("identity and log need no constants")
    }

    fn constrained_names(&self) -> Vec<String> {
        ["mu".to_owned(), "tau".to_owned()].into_iter().chain(self.school_names()).collect()
    }
}

impl PointwiseValue for EightSchools {
    fn log_density(&self, z: &[f64]) -> Result<f64, TargetError> {
        let (mu, tau) = (z[0], z[1].exp());
        let mut log_p = log_normal(mu / SCALE) - SCALE.ln() + log_half_cauchy(z[1], SCALE)[0];
        for j in 0..N {
            let (y, s) = (EFFECTS[j], STANDARD_ERRORS[j]);
            let (residual, standardised, jacobian) = match self.parametrisation {
                Parametrisation::Centred => ((y - z[2 + j]) / s, (z[2 + j] - mu) / tau, -z[1]),
                Parametrisation::NonCentred => ((y - mu - tau * z[2 + j]) / s, z[2 + j], 0.0),
            };
            log_p += log_normal(residual) - s.ln() + log_normal(standardised) + jacobian;
        }
        Ok(log_p)
    }
}

impl PointwiseHessian for EightSchools {
    fn hessian(&self, z: &[f64], hessian: &mut [f64]) -> Result<(), TargetError> {
        const D: usize = N + 2;
        let (mu, tau) = (z[0], z[1].exp());
        hessian.fill(0.0);
        hessian[0] = -1.0 / (SCALE * SCALE);
        hessian[D + 1] = log_half_cauchy(z[1], SCALE)[2];
        for j in 0..N {
            let (y, s) = (EFFECTS[j], STANDARD_ERRORS[j]);
            // Second derivatives of the terms of school j in (μ, μ), (μ, log τ), (log τ, log τ), (school, ·).
            let [mm, mt, tt, ms, ts, ss] = match self.parametrisation {
                Parametrisation::Centred => {
                    let (prec, deviation) = (1.0 / (tau * tau), (z[2 + j] - mu) / tau);
                    let cross = 2.0 * deviation / tau;
                    [-prec, -cross, -2.0 * deviation * deviation, prec, cross, -1.0 / (s * s) - prec]
                }
                Parametrisation::NonCentred => {
                    let (prec, eta) = (1.0 / (s * s), z[2 + j]);
                    let (slope, score) = (tau * eta, (y - mu - tau * eta) * prec);
                    [
                        -prec,
                        -prec * slope,
                        slope * score - prec * slope * slope,
                        -prec * tau,
                        tau * score - prec * tau * slope,
                        -prec * tau * tau - 1.0,
                    ]
                }
            };
            hessian[0] += mm;
            hessian[1] += mt;
            hessian[D + 1] += tt;
            hessian[2 + j] = ms;
            hessian[D + 2 + j] = ts;
            hessian[(2 + j) * D + 2 + j] = ss;
        }
        crate::linalg::products::mirror_lower(D, hessian);
        Ok(())
    }
}

impl Target for EightSchools {
    fn about(&self) -> About {
        by_point::about_of_model(self)
    }

    fn evaluate(&self, ask: &Ask<'_>, answer: &mut Answer) -> Result<(), TargetError> {
        by_point::evaluate_second_order(self, ask, answer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_two_forms_are_one_density_in_two_coordinates() {
        let eta_form = [3.0f64, 0.8, 0.3, -0.2, 1.0, -1.3, 0.4, 0.0, 2.0, -0.6];
        let mut theta_form = eta_form;
        let tau = eta_form[1].exp();
        theta_form[2..].iter_mut().for_each(|v| *v = 3.0 + tau * *v);
        let mut grad = [0.0; 10];
        let a = EightSchools::new(Parametrisation::NonCentred).gradient(&eta_form, &mut grad).unwrap();
        let b = EightSchools::new(Parametrisation::Centred).gradient(&theta_form, &mut grad).unwrap();
        assert!((a - (b + 8.0 * eta_form[1])).abs() < 1e-12, "{a} {b}");
    }
}
