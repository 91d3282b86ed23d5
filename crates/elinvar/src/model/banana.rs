//! A bent Gaussian.

use crate::Error;
use crate::target::{
    About, Answer, Ask, PointwiseHessian, PointwiseTarget, PointwiseValue, Target, TargetError, by_point,
};

/// z₁ ~ N(0, σ²), z₂ | z₁ ~ N(b(z₁² − σ²), 1): a Rosenbrock-type density with mean zero, normalised (log Z = 0).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Banana {
    sigma: f64,
    bend: f64,
}

impl Banana {
    /// The density with standard deviation σ of z₁ and bend b.
    ///
    /// # Errors
    /// If σ is not positive or b is not finite.
    pub fn new(sigma: f64, bend: f64) -> Result<Self, Error> {
        if !(sigma > 0.0 && sigma.is_finite()) {
            return Err(Error::Domain { parameter: "sigma", value: sigma, reason: "it must be positive and finite" });
        }
        if !bend.is_finite() {
            return Err(Error::Domain { parameter: "bend", value: bend, reason: "it must be finite" });
        }
        Ok(Self { sigma, bend })
    }
}

impl Default for Banana {
    /// σ = 2, b = ½.
    fn default() -> Self {
        Self { sigma: 2.0, bend: 0.5 }
    }
}

impl PointwiseTarget for Banana {
    fn dim(&self) -> usize {
        2
    }

    fn gradient(&self, z: &[f64], grad: &mut [f64]) -> Result<f64, TargetError> {
        let variance = self.sigma * self.sigma;
        let residual = z[1] - self.bend * (z[0] * z[0] - variance);
        grad[0] = -z[0] / variance + 2.0 * self.bend * z[0] * residual;
        grad[1] = -residual;
        self.log_density(z)
    }

    fn value(&self) -> Option<&dyn PointwiseValue> {
        Some(self)
    }
}

impl PointwiseValue for Banana {
    fn log_density(&self, z: &[f64]) -> Result<f64, TargetError> {
        let variance = self.sigma * self.sigma;
        let residual = z[1] - self.bend * (z[0] * z[0] - variance);
        let log_normaliser = std::f64::consts::TAU.ln() + self.sigma.ln();
        Ok(-0.5 * (z[0] * z[0] / variance + residual * residual) - log_normaliser)
    }
}

impl PointwiseHessian for Banana {
    fn hessian(&self, z: &[f64], hessian: &mut [f64]) -> Result<(), TargetError> {
        let variance = self.sigma * self.sigma;
        let residual = z[1] - self.bend * (z[0] * z[0] - variance);
        let slope = 2.0 * self.bend * z[0];
        hessian[0] = -1.0 / variance + 2.0 * self.bend * residual - slope * slope;
        hessian[1] = slope;
        hessian[2] = slope;
        hessian[3] = -1.0;
        Ok(())
    }
}

impl Target for Banana {
    fn about(&self) -> About {
        by_point::about_of_model(self)
    }

    fn evaluate(&self, ask: &Ask<'_>, answer: &mut Answer) -> Result<(), TargetError> {
        by_point::evaluate_second_order(self, ask, answer)
    }
}
