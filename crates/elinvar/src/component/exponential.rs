//! The exponential distribution (mathematics §5.2).

use super::{ExponentialFamily, ParameterMatrix, Parameters};
use crate::random::MixingNoise;
use crate::target::Support;

/// ρ e^{−ρz} on z > 0; t = z, η = −ρ.
///
/// Paper: App. B.5.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Exponential {
    rate: f64,
}

impl Exponential {
    /// The distribution with this rate, if it is positive and finite.
    pub(crate) fn new(rate: f64) -> Option<Self> {
        (rate > 0.0 && rate.is_finite()).then_some(Self { rate })
    }
}

impl ExponentialFamily for Exponential {
    const NAME: &'static str = "exponential";
    const SUPPORT: Support = Support::Positive;
    const PARAMETERS: &'static [&'static str] = &["rate"];

    fn standard(_constant: f64) -> Option<Self> {
        Self::new(1.0)
    }

    fn parameters(&self) -> Parameters {
        [self.rate, 0.0, 0.0]
    }

    fn with_parameters(&self, parameters: Parameters) -> Option<Self> {
        Self::new(parameters[0])
    }

    fn natural(&self) -> Parameters {
        [-self.rate, 0.0, 0.0]
    }

    fn with_natural(&self, natural: Parameters) -> Option<Self> {
        Self::new(-natural[0])
    }

    fn expectation(&self) -> Parameters {
        [1.0 / self.rate, 0.0, 0.0]
    }

    fn with_expectation(&self, expectation: Parameters) -> Option<Self> {
        Self::new(1.0 / expectation[0])
    }

    fn fisher(&self) -> ParameterMatrix {
        [[1.0 / (self.rate * self.rate), 0.0, 0.0], [0.0; 3], [0.0; 3]]
    }

    fn log_partition(&self) -> f64 {
        -self.rate.ln()
    }

    fn statistics(&self, z: f64) -> Parameters {
        [z, 0.0, 0.0]
    }

    fn statistics_slope(&self, _z: f64) -> Option<Parameters> {
        Some([1.0, 0.0, 0.0])
    }

    fn log_density(&self, z: f64) -> f64 {
        if z > 0.0 { self.rate.ln() - self.rate * z } else { f64::NEG_INFINITY }
    }

    fn score(&self, _z: f64) -> f64 {
        -self.rate
    }

    fn second_derivative(&self, _z: f64) -> f64 {
        0.0
    }

    fn mean_and_variance(&self) -> (f64, f64) {
        let mean = 1.0 / self.rate;
        (mean, mean * mean)
    }

    fn entropy(&self) -> Option<f64> {
        Some(1.0 - self.rate.ln())
    }

    fn sample<N: MixingNoise + ?Sized>(&self, noise: &mut N) -> f64 {
        -noise.uniform().ln() / self.rate
    }

    /// ∂z/∂m = z/m, so ∂z/∂η = z/ρ.
    fn path_derivative(&self, z: f64) -> Parameters {
        [z / self.rate, 0.0, 0.0]
    }

    fn with_moments(&self, mean: f64, _variance: f64) -> Option<Self> {
        Self::new(1.0 / mean)
    }

    fn chart_jacobian(&self) -> ParameterMatrix {
        [[-self.rate, 0.0, 0.0], [0.0; 3], [0.0; 3]]
    }
}
