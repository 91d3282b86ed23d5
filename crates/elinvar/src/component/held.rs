//! A law of a shape and a second parameter, with the shape held (mathematics §5.2).

use super::{ExponentialFamily, Gamma, InverseGamma, ParameterMatrix, Parameters};
use crate::random::MixingNoise;
use crate::target::Support;

/// Gamma(k, ρ) with constant k; t = z, η = −ρ.
///
/// Paper: App. B.5.
pub(super) type GammaRate = Held<Gamma>;

/// InverseGamma(a, b) with constant a; t = 1/z, η = −b.
///
/// Paper: App. B.5.
pub(super) type InverseGammaScale = Held<InverseGamma>;

/// A member of `E` whose shape is a constant: the second natural parameter, the negative of the second usual one, is
/// left.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Held<E> {
    law: E,
}

/// A law on z > 0 of a shape a and a parameter b with t₂(z) = z^{±1}, η₂ = −b and E\[t₂\] = a/b.
pub trait HoldsShape: ExponentialFamily {
    /// The word for the law with a constant shape.
    const HELD_NAME: &'static str;
    /// The usual value of that constant.
    const USUAL_SHAPE: f64;

    /// The law with this shape and second parameter, if both are positive and finite.
    fn of(shape: f64, second: f64) -> Option<Self>;
    /// a/b², the variance of t₂.
    fn variance_of_second(&self) -> f64;
    /// ∂z/∂η₂ alone.
    fn path_of_second(&self, z: f64) -> f64;
    /// The second parameter with which the law has this mean, or one close to it where the mean does not exist.
    fn second_for_mean(&self, mean: f64) -> f64;
}

impl<E: HoldsShape> Held<E> {
    fn shape(&self) -> f64 {
        self.law.parameters()[0]
    }

    fn second(&self) -> f64 {
        self.law.parameters()[1]
    }

    fn with_second(&self, second: f64) -> Option<Self> {
        Some(Self { law: E::of(self.shape(), second)? })
    }
}

impl<E: HoldsShape> ExponentialFamily for Held<E> {
    const NAME: &'static str = E::HELD_NAME;
    const SUPPORT: Support = E::SUPPORT;
    const PARAMETERS: &'static [&'static str] = E::PARAMETERS.split_at(1).1;
    const CONSTANT: Option<(&'static str, f64)> = Some(("shape", E::USUAL_SHAPE));

    fn standard(constant: f64) -> Option<Self> {
        Some(Self { law: E::of(constant, constant)? })
    }

    fn constant(&self) -> f64 {
        self.shape()
    }

    fn parameters(&self) -> Parameters {
        [self.second(), 0.0, 0.0]
    }

    fn with_parameters(&self, parameters: Parameters) -> Option<Self> {
        self.with_second(parameters[0])
    }

    fn natural(&self) -> Parameters {
        [-self.second(), 0.0, 0.0]
    }

    fn with_natural(&self, natural: Parameters) -> Option<Self> {
        self.with_second(-natural[0])
    }

    fn expectation(&self) -> Parameters {
        [self.shape() / self.second(), 0.0, 0.0]
    }

    fn with_expectation(&self, expectation: Parameters) -> Option<Self> {
        self.with_second(self.shape() / expectation[0])
    }

    fn fisher(&self) -> ParameterMatrix {
        [[self.law.variance_of_second(), 0.0, 0.0], [0.0; 3], [0.0; 3]]
    }

    fn log_partition(&self) -> f64 {
        self.law.log_partition()
    }

    fn statistics(&self, z: f64) -> Parameters {
        [self.law.statistics(z)[1], 0.0, 0.0]
    }

    fn statistics_slope(&self, z: f64) -> Option<Parameters> {
        self.law.statistics_slope(z).map(|slope| [slope[1], 0.0, 0.0])
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

    fn path_derivative(&self, z: f64) -> Parameters {
        [self.law.path_of_second(z), 0.0, 0.0]
    }

    fn with_moments(&self, mean: f64, _variance: f64) -> Option<Self> {
        self.with_second(self.law.second_for_mean(mean))
    }

    fn chart_jacobian(&self) -> ParameterMatrix {
        [[-self.second(), 0.0, 0.0], [0.0; 3], [0.0; 3]]
    }
}
