//! The inverse-gamma distribution with a fixed shape (mathematics §5.2).

use super::{ExponentialFamily, InverseGamma, ParameterMatrix, Parameters};
use crate::random::MixingNoise;
use crate::target::Support;

/// InverseGamma(a, b) with constant a; t = 1/z, η = −b.
///
/// Paper: App. B.5.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InverseGammaScale {
    law: InverseGamma,
}

impl InverseGammaScale {
    /// The distribution with this shape and scale, if both are positive and finite.
    pub fn new(shape: f64, scale: f64) -> Option<Self> {
        Some(Self { law: InverseGamma::new(shape, scale)? })
    }

    fn with_scale(&self, scale: f64) -> Option<Self> {
        Self::new(self.law.shape(), scale)
    }
}

impl ExponentialFamily for InverseGammaScale {
    const NAME: &'static str = "inverse_gamma_scale";
    const SUPPORT: Support = Support::Positive;
    const PARAMETERS: &'static [&'static str] = &["scale"];
    const CONSTANT: Option<(&'static str, f64)> = Some(("shape", 3.0));

    fn standard(constant: f64) -> Option<Self> {
        Self::new(constant, constant)
    }

    fn constant(&self) -> f64 {
        self.law.shape()
    }

    fn parameters(&self) -> Parameters {
        [self.law.scale(), 0.0, 0.0]
    }

    fn with_parameters(&self, parameters: Parameters) -> Option<Self> {
        self.with_scale(parameters[0])
    }

    fn natural(&self) -> Parameters {
        [-self.law.scale(), 0.0, 0.0]
    }

    fn with_natural(&self, natural: Parameters) -> Option<Self> {
        self.with_scale(-natural[0])
    }

    fn expectation(&self) -> Parameters {
        [self.law.shape() / self.law.scale(), 0.0, 0.0]
    }

    fn with_expectation(&self, expectation: Parameters) -> Option<Self> {
        self.with_scale(self.law.shape() / expectation[0])
    }

    fn fisher(&self) -> ParameterMatrix {
        [[self.law.shape() / (self.law.scale() * self.law.scale()), 0.0, 0.0], [0.0; 3], [0.0; 3]]
    }

    fn log_partition(&self) -> f64 {
        self.law.log_partition()
    }

    fn statistics(&self, z: f64) -> Parameters {
        [1.0 / z, 0.0, 0.0]
    }

    fn statistics_slope(&self, z: f64) -> Option<Parameters> {
        Some([-1.0 / (z * z), 0.0, 0.0])
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

    /// ∂z/∂b = z/b.
    fn path_derivative(&self, z: f64) -> Parameters {
        [-z / self.law.scale(), 0.0, 0.0]
    }

    /// With the wanted mean, or with its reciprocal as the mean of 1/z where the mean does not exist.
    fn with_moments(&self, mean: f64, _variance: f64) -> Option<Self> {
        let a = self.law.shape();
        self.with_scale(mean * if a > 1.0 { a - 1.0 } else { a })
    }

    fn chart(&self) -> Parameters {
        [self.law.scale().ln(), 0.0, 0.0]
    }

    fn with_chart(&self, coordinates: Parameters) -> Option<Self> {
        self.with_scale(coordinates[0].exp())
    }

    fn chart_jacobian(&self) -> ParameterMatrix {
        [[-self.law.scale(), 0.0, 0.0], [0.0; 3], [0.0; 3]]
    }
}
