//! The gamma distribution with a fixed shape (mathematics §5.2).

use super::{ExponentialFamily, Gamma, ParameterMatrix, Parameters};
use crate::random::MixingNoise;
use crate::special::gamma::ln_gamma;
use crate::target::Support;

/// Gamma(k, ρ) with constant k; t = z, η = −ρ.
///
/// Paper: App. B.5.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GammaRate {
    law: Gamma,
}

impl GammaRate {
    /// The distribution with this shape and rate, if both are positive and finite.
    pub fn new(shape: f64, rate: f64) -> Option<Self> {
        Some(Self { law: Gamma::new(shape, rate)? })
    }

    fn with_rate(&self, rate: f64) -> Option<Self> {
        Self::new(self.law.shape(), rate)
    }
}

impl ExponentialFamily for GammaRate {
    const NAME: &'static str = "gamma_rate";
    const SUPPORT: Support = Support::Positive;
    const PARAMETERS: &'static [&'static str] = &["rate"];
    const CONSTANT: Option<(&'static str, f64)> = Some(("shape", 2.0));

    fn standard(constant: f64) -> Option<Self> {
        Self::new(constant, constant)
    }

    fn constant(&self) -> f64 {
        self.law.shape()
    }

    fn parameters(&self) -> Parameters {
        [self.law.rate(), 0.0, 0.0]
    }

    fn with_parameters(&self, parameters: Parameters) -> Option<Self> {
        self.with_rate(parameters[0])
    }

    fn natural(&self) -> Parameters {
        [-self.law.rate(), 0.0, 0.0]
    }

    fn with_natural(&self, natural: Parameters) -> Option<Self> {
        self.with_rate(-natural[0])
    }

    fn expectation(&self) -> Parameters {
        [self.law.mean_and_variance().0, 0.0, 0.0]
    }

    fn with_expectation(&self, expectation: Parameters) -> Option<Self> {
        self.with_rate(self.law.shape() / expectation[0])
    }

    fn fisher(&self) -> ParameterMatrix {
        [[self.law.mean_and_variance().1, 0.0, 0.0], [0.0; 3], [0.0; 3]]
    }

    fn log_partition(&self) -> f64 {
        ln_gamma(self.law.shape()) - self.law.shape() * self.law.rate().ln()
    }

    fn statistics(&self, z: f64) -> Parameters {
        [z, 0.0, 0.0]
    }

    fn statistics_slope(&self, _z: f64) -> Option<Parameters> {
        Some([1.0, 0.0, 0.0])
    }

    fn log_density(&self, z: f64) -> f64 {
        self.law.log_density(z)
    }

    fn score(&self, z: f64) -> f64 {
        self.law.score(z)
    }

    fn second_derivative(&self, z: f64) -> f64 {
        self.law.second_derivative(z)
    }

    fn mean_and_variance(&self) -> (f64, f64) {
        self.law.mean_and_variance()
    }

    fn entropy(&self) -> Option<f64> {
        self.law.entropy()
    }

    fn sample<N: MixingNoise + ?Sized>(&self, noise: &mut N) -> f64 {
        self.law.sample(noise)
    }

    /// ∂z/∂ρ = −z/ρ.
    fn path_derivative(&self, z: f64) -> Parameters {
        [z / self.law.rate(), 0.0, 0.0]
    }

    fn with_moments(&self, mean: f64, _variance: f64) -> Option<Self> {
        self.with_rate(self.law.shape() / mean)
    }

    fn chart(&self) -> Parameters {
        [self.law.rate().ln(), 0.0, 0.0]
    }

    fn with_chart(&self, coordinates: Parameters) -> Option<Self> {
        self.with_rate(coordinates[0].exp())
    }

    fn chart_jacobian(&self) -> ParameterMatrix {
        [[-self.law.rate(), 0.0, 0.0], [0.0; 3], [0.0; 3]]
    }
}
