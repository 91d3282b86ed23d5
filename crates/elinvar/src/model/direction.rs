//! A direction in the plane, as an angle.

use std::f64::consts::TAU;

use crate::Error;
use crate::target::{
    About, Answer, Ask, PointwiseHessian, PointwiseTarget, PointwiseValue, Support, Target, TargetError, by_point,
};

/// x_n ~ von Mises(z, κ) with known concentration κ, z ~ von Mises(m, κ₀); z is the mean direction, an angle.
///
/// All constants are included: the normaliser is the marginal likelihood of the angles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Direction {
    /// κ Σ (cos x_n, sin x_n) of the data, and κ₀ (cos m, sin m) of the prior.
    data: [f64; 2],
    prior: [f64; 2],
    /// −N log 2πI₀(κ) and −log 2πI₀(κ₀).
    constants: [f64; 2],
}

/// log 2πI₀(κ), by the trapezoidal rule, which converges geometrically for a periodic function.
fn log_normaliser(concentration: f64) -> f64 {
    let n = 64 + (16.0 * concentration.sqrt()).ceil() as usize;
    let terms = (0..n).map(|j| (-2.0 * concentration * (0.5 * TAU * j as f64 / n as f64).sin().powi(2)).exp());
    concentration + (TAU * terms.sum::<f64>() / n as f64).ln()
}

fn check(parameter: &'static str, value: f64, is_valid: bool) -> Result<(), Error> {
    let reason = "concentrations lie between 0 and 1e12, and angles are finite numbers";
    if is_valid { Ok(()) } else { Err(Error::Domain { parameter, value, reason }) }
}

impl Direction {
    /// Angles in radians around an unknown direction, and a uniform prior.
    ///
    /// # Errors
    /// [`Error::Data`] for an angle that is not finite, or if there is none; [`Error::Domain`] for a concentration that
    /// is not a positive number.
    pub fn new(angles: &[f64], concentration: f64) -> Result<Self, Error> {
        check("concentration", concentration, concentration > 0.0 && concentration <= 1e12)?;
        if angles.is_empty() {
            return Err(Error::Data { place: "angles".into(), problem: "there is none; give at least one".into() });
        }
        if let Some(n) = angles.iter().position(|x| !x.is_finite()) {
            let problem = format!("{} is no angle; give radians", angles[n]);
            return Err(Error::Data { place: format!("angle {}", n + 1), problem });
        }
        let sum = |f: fn(f64) -> f64| concentration * angles.iter().map(|x| f(*x)).sum::<f64>();
        let constants = [-(angles.len() as f64) * log_normaliser(concentration), -TAU.ln()];
        Ok(Self { data: [sum(f64::cos), sum(f64::sin)], prior: [0.0; 2], constants })
    }

    /// The model with z ~ von Mises(mean, concentration); zero is the uniform prior.
    ///
    /// # Errors
    /// [`Error::Domain`] if the mean is not finite or the concentration is negative.
    pub fn with_prior(self, mean: f64, concentration: f64) -> Result<Self, Error> {
        check("prior mean", mean, mean.is_finite())?;
        check("prior concentration", concentration, (0.0..=1e12).contains(&concentration))?;
        let prior = [concentration * mean.cos(), concentration * mean.sin()];
        Ok(Self { prior, constants: [self.constants[0], -log_normaliser(concentration)], ..self })
    }

    /// The natural parameters of the posterior, which is a von Mises law.
    fn natural(&self) -> [f64; 2] {
        [self.data[0] + self.prior[0], self.data[1] + self.prior[1]]
    }
}

impl PointwiseTarget for Direction {
    fn dim(&self) -> usize {
        1
    }

    fn gradient(&self, z: &[f64], grad: &mut [f64]) -> Result<f64, TargetError> {
        let [x, y] = self.natural();
        grad[0] = y * z[0].cos() - x * z[0].sin();
        self.log_density(z)
    }

    fn value(&self) -> Option<&dyn PointwiseValue> {
        Some(self)
    }

    fn support(&self) -> Support {
        Support::Circle
    }

    fn names(&self) -> Vec<String> {
        vec!["direction".into()]
    }
}

impl PointwiseValue for Direction {
    fn log_density(&self, z: &[f64]) -> Result<f64, TargetError> {
        let [x, y] = self.natural();
        Ok(x * z[0].cos() + y * z[0].sin() + self.constants[0] + self.constants[1])
    }
}

impl PointwiseHessian for Direction {
    fn hessian(&self, z: &[f64], hessian: &mut [f64]) -> Result<(), TargetError> {
        let [x, y] = self.natural();
        hessian[0] = -x * z[0].cos() - y * z[0].sin();
        Ok(())
    }
}

impl Target for Direction {
    fn about(&self) -> About {
        by_point::about_of_model(self)
    }

    fn evaluate(&self, ask: &Ask<'_>, answer: &mut Answer) -> Result<(), TargetError> {
        by_point::evaluate_second_order(self, ask, answer)
    }
}
