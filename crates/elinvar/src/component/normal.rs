//! The normal distribution (mathematics §5.2, mathematics §1).

use super::{ExponentialFamily, ParameterMatrix, Parameters};
use crate::random::MixingNoise;
use crate::special::normal::HALF_LOG_TWO_PI;
use crate::target::Support;

/// N(μ, σ²); t = (z, z²), η = (μ/σ², −1/2σ²).
///
/// Paper: §2.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Normal {
    mean: f64,
    sd: f64,
}

impl Normal {
    /// The distribution with this mean and standard deviation, if they are finite and the latter is positive.
    pub(crate) fn new(mean: f64, sd: f64) -> Option<Self> {
        (mean.is_finite() && sd > 0.0 && sd.is_finite()).then_some(Self { mean, sd })
    }

    /// μ.
    pub(crate) fn mean(&self) -> f64 {
        self.mean
    }

    /// σ.
    pub(crate) fn sd(&self) -> f64 {
        self.sd
    }

    fn standardised(&self, z: f64) -> f64 {
        (z - self.mean) / self.sd
    }
}

impl ExponentialFamily for Normal {
    const NAME: &'static str = "normal";
    const SUPPORT: Support = Support::Real;
    const PARAMETERS: &'static [&'static str] = &["mean", "sd"];

    fn standard(_constant: f64) -> Option<Self> {
        Self::new(0.0, 1.0)
    }

    fn parameters(&self) -> Parameters {
        [self.mean, self.sd, 0.0]
    }

    fn with_parameters(&self, parameters: Parameters) -> Option<Self> {
        Self::new(parameters[0], parameters[1])
    }

    fn natural(&self) -> Parameters {
        let precision = 1.0 / (self.sd * self.sd);
        [self.mean * precision, -0.5 * precision, 0.0]
    }

    fn with_natural(&self, natural: Parameters) -> Option<Self> {
        Self::new(-0.5 * natural[0] / natural[1], (-0.5 / natural[1]).sqrt())
    }

    fn expectation(&self) -> Parameters {
        [self.mean, self.mean * self.mean + self.sd * self.sd, 0.0]
    }

    fn with_expectation(&self, expectation: Parameters) -> Option<Self> {
        let [mean, square, _] = expectation;
        Self::new(mean, (square - mean * mean).sqrt())
    }

    fn fisher(&self) -> ParameterMatrix {
        let (mean, variance) = (self.mean, self.sd * self.sd);
        let cross = 2.0 * mean * variance;
        [[variance, cross, 0.0], [cross, 2.0 * mean * cross + 2.0 * variance * variance, 0.0], [0.0; 3]]
    }

    /// Eliminates the mean first: the rest of F is 2σ⁴ whatever μ is.
    fn natural_gradient(&self, gradient: Parameters) -> Parameters {
        let (mean, variance) = (self.mean, self.sd * self.sd);
        let second = (gradient[1] - 2.0 * mean * gradient[0]) / (2.0 * variance * variance);
        [gradient[0] / variance - 2.0 * mean * second, second, 0.0]
    }

    fn log_partition(&self) -> f64 {
        let ratio = self.mean / self.sd;
        0.5 * ratio * ratio + self.sd.ln() + HALF_LOG_TWO_PI
    }

    fn statistics(&self, z: f64) -> Parameters {
        [z, z * z, 0.0]
    }

    fn statistics_slope(&self, z: f64) -> Option<Parameters> {
        Some([1.0, 2.0 * z, 0.0])
    }

    fn log_density(&self, z: f64) -> f64 {
        let x = self.standardised(z);
        -0.5 * x * x - self.sd.ln() - HALF_LOG_TWO_PI
    }

    fn score(&self, z: f64) -> f64 {
        -self.standardised(z) / self.sd
    }

    fn second_derivative(&self, _z: f64) -> f64 {
        -1.0 / (self.sd * self.sd)
    }

    fn mean_and_variance(&self) -> (f64, f64) {
        (self.mean, self.sd * self.sd)
    }

    fn entropy(&self) -> Option<f64> {
        Some(self.sd.ln() + HALF_LOG_TWO_PI + 0.5)
    }

    fn sample<N: MixingNoise + ?Sized>(&self, noise: &mut N) -> f64 {
        self.mean + self.sd * noise.normal()
    }

    /// z = μ + σε at fixed ε.
    fn path_derivative(&self, z: f64) -> Parameters {
        let variance = self.sd * self.sd;
        [variance, variance * (z + self.mean), 0.0]
    }

    fn with_moments(&self, mean: f64, variance: f64) -> Option<Self> {
        Self::new(mean, variance.sqrt())
    }

    fn chart(&self) -> Parameters {
        [self.mean, self.sd.ln(), 0.0]
    }

    fn with_chart(&self, coordinates: Parameters) -> Option<Self> {
        Self::new(coordinates[0], coordinates[1].exp())
    }

    fn chart_jacobian(&self) -> ParameterMatrix {
        let precision = 1.0 / (self.sd * self.sd);
        [[precision, -2.0 * self.mean * precision, 0.0], [0.0, precision, 0.0], [0.0; 3]]
    }
}
