//! The gamma distribution with shape and rate both learned (mathematics §5.2).

use super::held::HoldsShape;
use super::{ExponentialFamily, ParameterMatrix, Parameters};
use crate::random::MixingNoise;
use crate::special::gamma::{
    digamma_minus_log, inverse_digamma_minus_log, ln_gamma, log_minus_excess, stirling_remainder, trigamma,
    trigamma_minus_inv,
};
use crate::special::implicit::gamma_shape_derivative;
use crate::special::normal::HALF_LOG_TWO_PI;
use crate::target::Support;

/// ρᵃ z^{a−1} e^{−ρz}/Γ(a) on z > 0; t = (log z, z) with base 1/z, η = (a, −ρ).
///
/// Paper: App. B.5.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gamma {
    shape: f64,
    rate: f64,
    /// log q(z) + log z where z is the mean.
    log_peak: f64,
}

impl Gamma {
    /// The distribution with this shape and rate, if both are positive and finite.
    pub(crate) fn new(shape: f64, rate: f64) -> Option<Self> {
        let valid = shape > 0.0 && shape.is_finite() && rate > 0.0 && rate.is_finite();
        valid.then(|| Self { shape, rate, log_peak: log_peak(shape) })
    }
}

/// log{aᵃ e^{−a}/Γ(a)}, by Stirling's formula: nothing cancels for large a.
pub(super) fn log_peak(shape: f64) -> f64 {
    0.5 * shape.ln() - HALF_LOG_TWO_PI - stirling_remainder(shape)
}

impl ExponentialFamily for Gamma {
    const NAME: &'static str = "gamma";
    const SUPPORT: Support = Support::Positive;
    const PARAMETERS: &'static [&'static str] = &["shape", "rate"];

    fn standard(_constant: f64) -> Option<Self> {
        Self::new(2.0, 2.0)
    }

    fn parameters(&self) -> Parameters {
        [self.shape, self.rate, 0.0]
    }

    fn with_parameters(&self, parameters: Parameters) -> Option<Self> {
        Self::new(parameters[0], parameters[1])
    }

    fn natural(&self) -> Parameters {
        [self.shape, -self.rate, 0.0]
    }

    fn with_natural(&self, natural: Parameters) -> Option<Self> {
        Self::new(natural[0], -natural[1])
    }

    fn expectation(&self) -> Parameters {
        [digamma_minus_log(self.shape) + (self.shape / self.rate).ln(), self.shape / self.rate, 0.0]
    }

    /// ψ(a) − log a = m₁ − log m₂.
    fn with_expectation(&self, expectation: Parameters) -> Option<Self> {
        let shape = inverse_digamma_minus_log(expectation[0] - expectation[1].ln());
        Self::new(shape, shape / expectation[1])
    }

    fn fisher(&self) -> ParameterMatrix {
        let (a, mean_life) = (self.shape, 1.0 / self.rate);
        [[trigamma(a), mean_life, 0.0], [mean_life, a * mean_life * mean_life, 0.0], [0.0; 3]]
    }

    /// ρ²|F| = aψ′(a) − 1 is small for large a; it is known without the difference.
    fn natural_gradient(&self, gradient: Parameters) -> Parameters {
        let (a, rate) = (self.shape, self.rate);
        let information = trigamma_minus_inv(a);
        let shape = (gradient[0] - rate * gradient[1] / a) / information;
        [shape, rate / a * (rate * gradient[1] - shape), 0.0]
    }

    fn log_partition(&self) -> f64 {
        ln_gamma(self.shape) - self.shape * self.rate.ln()
    }

    fn statistics(&self, z: f64) -> Parameters {
        [z.ln(), z, 0.0]
    }

    fn statistics_slope(&self, z: f64) -> Option<Parameters> {
        Some([1.0 / z, 1.0, 0.0])
    }

    fn log_density(&self, z: f64) -> f64 {
        if z > 0.0 {
            self.log_peak - z.ln() + self.shape * log_minus_excess(self.rate / self.shape * z)
        } else {
            f64::NEG_INFINITY
        }
    }

    fn score(&self, z: f64) -> f64 {
        (self.shape - 1.0) / z - self.rate
    }

    fn second_derivative(&self, z: f64) -> f64 {
        (1.0 - self.shape) / (z * z)
    }

    fn mean_and_variance(&self) -> (f64, f64) {
        let mean = self.shape / self.rate;
        (mean, mean / self.rate)
    }

    fn entropy(&self) -> Option<f64> {
        let a = self.shape;
        Some((a / self.rate).ln() - self.log_peak + (1.0 - a) * digamma_minus_log(a))
    }

    /// A draw that underflows becomes the smallest positive number.
    fn sample<N: MixingNoise + ?Sized>(&self, noise: &mut N) -> f64 {
        (noise.gamma(self.shape) / self.rate).max(f64::MIN_POSITIVE)
    }

    /// ∂z/∂a = D(a, ρz)/ρ and ∂z/∂ρ = −z/ρ.
    fn path_derivative(&self, z: f64) -> Parameters {
        [gamma_shape_derivative(self.shape, self.rate * z) / self.rate, z / self.rate, 0.0]
    }

    fn with_moments(&self, mean: f64, variance: f64) -> Option<Self> {
        Self::new(mean * mean / variance, mean / variance)
    }

    fn chart_jacobian(&self) -> ParameterMatrix {
        [[self.shape, 0.0, 0.0], [0.0, -self.rate, 0.0], [0.0; 3]]
    }
}

impl HoldsShape for Gamma {
    const HELD_NAME: &'static str = "gamma_rate";
    const USUAL_SHAPE: f64 = 2.0;

    fn of(shape: f64, second: f64) -> Option<Self> {
        Self::new(shape, second)
    }

    fn variance_of_second(&self) -> f64 {
        self.mean_and_variance().1
    }

    /// ∂z/∂ρ = −z/ρ.
    fn path_of_second(&self, z: f64) -> f64 {
        z / self.rate
    }

    fn second_for_mean(&self, mean: f64) -> f64 {
        self.shape / mean
    }
}
