//! A proportion, on its own scale.

use super::poisson_rate::check_normal;
use crate::Error;
use crate::target::{
    About, Answer, Ask, PointwiseHessian, PointwiseTarget, PointwiseValue, Support, Target, TargetError, by_point,
};

/// y_n ~ Bernoulli(z) with logit z ~ N(m, s²); z is the proportion, a number between 0 and 1.
///
/// All constants are included: the normaliser is the marginal likelihood of the outcomes, in their order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Proportion {
    ones: f64,
    zeros: f64,
    mean: f64,
    sd: f64,
}

impl Proportion {
    /// Outcomes 0 and 1, and a logit-normal prior of mean 0 and standard deviation 1.5 of the logit.
    ///
    /// # Errors
    /// [`Error::Data`] for an outcome that is neither 0 nor 1, or if there is none.
    pub fn new(outcomes: &[f64]) -> Result<Self, Error> {
        if outcomes.is_empty() {
            return Err(Error::Data { place: "outcomes".into(), problem: "there is none; give at least one".into() });
        }
        if let Some(n) = outcomes.iter().position(|y| *y != 0.0 && *y != 1.0) {
            let problem = format!("{} is no outcome; give 0 or 1", outcomes[n]);
            return Err(Error::Data { place: format!("outcome {}", n + 1), problem });
        }
        let ones = outcomes.iter().sum();
        Ok(Self { ones, zeros: outcomes.len() as f64 - ones, mean: 0.0, sd: 1.5 })
    }

    /// The model with logit z ~ N(mean, sd²).
    ///
    /// # Errors
    /// [`Error::Domain`] if the mean is not finite or the standard deviation not positive.
    pub fn with_prior(self, mean: f64, sd: f64) -> Result<Self, Error> {
        check_normal(mean, sd)?;
        Ok(Self { mean, sd, ..self })
    }
}

/// log{z/(1 − z)}.
fn logit(z: f64) -> f64 {
    z.ln() - (-z).ln_1p()
}

impl PointwiseTarget for Proportion {
    fn dim(&self) -> usize {
        1
    }

    fn gradient(&self, z: &[f64], grad: &mut [f64]) -> Result<f64, TargetError> {
        let z0 = z[0];
        let pull = (logit(z0) - self.mean) / (self.sd * self.sd);
        grad[0] = (self.ones - 1.0 - pull) / z0 - (self.zeros - 1.0 + pull) / (1.0 - z0);
        self.log_density(z)
    }

    fn value(&self) -> Option<&dyn PointwiseValue> {
        Some(self)
    }

    fn support(&self) -> Support {
        Support::Unit
    }

    fn names(&self) -> Vec<String> {
        vec!["proportion".into()]
    }
}

impl PointwiseValue for Proportion {
    fn log_density(&self, z: &[f64]) -> Result<f64, TargetError> {
        let (log, log_rest) = (z[0].ln(), (-z[0]).ln_1p());
        let t = (log - log_rest - self.mean) / self.sd;
        let prior = -0.5 * (t * t + std::f64::consts::TAU.ln()) - self.sd.ln();
        Ok((self.ones - 1.0) * log + (self.zeros - 1.0) * log_rest + prior)
    }
}

impl PointwiseHessian for Proportion {
    fn hessian(&self, z: &[f64], hessian: &mut [f64]) -> Result<(), TargetError> {
        let (z, rest) = (z[0], 1.0 - z[0]);
        let precision = 1.0 / (self.sd * self.sd);
        let pull = (logit(z) - self.mean) * precision;
        // With y = logit z: y′ = 1/(z(1 − z)), and the pull acts on y″ as it does on the two logarithms.
        let slope = 1.0 / (z * rest);
        hessian[0] =
            -(self.ones - 1.0 - pull) / (z * z) - (self.zeros - 1.0 + pull) / (rest * rest) - precision * slope * slope;
        Ok(())
    }
}

impl Target for Proportion {
    fn about(&self) -> About {
        by_point::about_of_model(self)
    }

    fn evaluate(&self, ask: &Ask<'_>, answer: &mut Answer) -> Result<(), TargetError> {
        by_point::evaluate_second_order(self, ask, answer)
    }
}
