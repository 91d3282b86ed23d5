//! The rate of counts, on its own scale.

use crate::Error;
use crate::special::gamma::ln_gamma;
use crate::target::{
    About, Answer, Ask, PointwiseHessian, PointwiseTarget, PointwiseValue, Support, Target, TargetError, by_point,
};

/// y_n ~ Poisson(z e_n) with exposures e_n, log z ~ N(m, s²); z is the rate, a positive number.
///
/// All constants are included: the normaliser is the marginal likelihood of the counts.
#[derive(Clone, Debug, PartialEq)]
pub struct PoissonRate {
    counts: Vec<f64>,
    total: f64,
    exposure: f64,
    /// Σ {y_n log e_n − log y_n!}.
    constant: f64,
    mean: f64,
    sd: f64,
}

impl PoissonRate {
    /// Counts with exposures of one and a log-normal prior of mean 0 and standard deviation 10 of log z.
    ///
    /// # Errors
    /// [`Error::Data`] for a count that is not a whole number from 0 on, or if there is none.
    pub fn new(counts: Vec<f64>) -> Result<Self, Error> {
        if counts.is_empty() {
            return Err(Error::Data { place: "counts".into(), problem: "there is none; give at least one".into() });
        }
        if let Some(n) = counts.iter().position(|y| !(*y >= 0.0 && y.is_finite() && y.fract() == 0.0)) {
            let problem = format!("{} is no count; give whole numbers from 0 on", counts[n]);
            return Err(Error::Data { place: format!("count {}", n + 1), problem });
        }
        let (total, exposure) = (counts.iter().sum(), counts.len() as f64);
        let constant = -counts.iter().map(|y| ln_gamma(y + 1.0)).sum::<f64>();
        Ok(Self { counts, total, exposure, constant, mean: 0.0, sd: 10.0 })
    }

    /// The model with one exposure (time, area, population) for each count.
    ///
    /// # Errors
    /// [`Error::Shape`] for another number of them, [`Error::Data`] for one that is not positive.
    pub fn with_exposures(mut self, exposures: &[f64]) -> Result<Self, Error> {
        if exposures.len() != self.counts.len() {
            return Err(Error::Shape { what: "exposures", expected: self.counts.len(), found: exposures.len() });
        }
        if let Some(n) = exposures.iter().position(|e| !(*e > 0.0 && e.is_finite())) {
            let problem = format!("{} is no exposure; give positive numbers", exposures[n]);
            return Err(Error::Data { place: format!("exposure {}", n + 1), problem });
        }
        self.exposure = exposures.iter().sum();
        let terms = self.counts.iter().zip(exposures).map(|(y, e)| y * e.ln() - ln_gamma(y + 1.0));
        self.constant = terms.sum();
        Ok(self)
    }

    /// The model with log z ~ N(mean, sd²).
    ///
    /// # Errors
    /// [`Error::Domain`] if the mean is not finite or the standard deviation not positive.
    pub fn with_prior(self, mean: f64, sd: f64) -> Result<Self, Error> {
        check_normal(mean, sd)?;
        Ok(Self { mean, sd, ..self })
    }
}

impl PointwiseTarget for PoissonRate {
    fn dim(&self) -> usize {
        1
    }

    fn gradient(&self, z: &[f64], grad: &mut [f64]) -> Result<f64, TargetError> {
        let pull = (z[0].ln() - self.mean) / (self.sd * self.sd);
        grad[0] = (self.total - 1.0 - pull) / z[0] - self.exposure;
        self.log_density(z)
    }

    fn value(&self) -> Option<&dyn PointwiseValue> {
        Some(self)
    }

    fn support(&self) -> Support {
        Support::Positive
    }

    fn names(&self) -> Vec<String> {
        vec!["rate".into()]
    }
}

impl PointwiseValue for PoissonRate {
    fn log_density(&self, z: &[f64]) -> Result<f64, TargetError> {
        let log = z[0].ln();
        let t = (log - self.mean) / self.sd;
        let prior = -0.5 * (t * t + std::f64::consts::TAU.ln()) - self.sd.ln() - log;
        Ok(self.constant + self.total * log - self.exposure * z[0] + prior)
    }
}

impl PointwiseHessian for PoissonRate {
    fn hessian(&self, z: &[f64], hessian: &mut [f64]) -> Result<(), TargetError> {
        let precision = 1.0 / (self.sd * self.sd);
        let pull = (z[0].ln() - self.mean) * precision;
        hessian[0] = (1.0 + pull - precision - self.total) / (z[0] * z[0]);
        Ok(())
    }
}

impl Target for PoissonRate {
    fn about(&self) -> About {
        by_point::about_of_model(self)
    }

    fn evaluate(&self, ask: &Ask<'_>, answer: &mut Answer) -> Result<(), TargetError> {
        by_point::evaluate_second_order(self, ask, answer)
    }
}

/// Whether N(mean, sd²) exists.
pub(super) fn check_normal(mean: f64, sd: f64) -> Result<(), Error> {
    if !mean.is_finite() {
        return Err(Error::Domain { parameter: "prior mean", value: mean, reason: "it is a finite number" });
    }
    if !(sd > 0.0 && sd.is_finite()) {
        let reason = "it is a positive number";
        return Err(Error::Domain { parameter: "prior standard deviation", value: sd, reason });
    }
    Ok(())
}
