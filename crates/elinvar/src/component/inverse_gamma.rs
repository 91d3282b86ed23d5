//! The inverse-gamma distribution with shape and scale both learned (mathematics §5.2, mathematics §8.4).

use super::gamma::log_peak;
use super::held::HoldsShape;
use super::{ExponentialFamily, ParameterMatrix, Parameters};
use crate::random::MixingNoise;
use crate::special::gamma::{
    digamma_minus_log, inverse_digamma_minus_log, ln_gamma, log_minus_excess, trigamma, trigamma_minus_inv,
};
use crate::special::implicit::gamma_shape_derivative;
use crate::target::Support;

/// bᵃ z^{−a−1} e^{−b/z}/Γ(a) on z > 0; t = (log z, 1/z) with base 1/z, η = (−a, −b).
///
/// Paper: App. B.5.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InverseGamma {
    shape: f64,
    scale: f64,
    /// log q(z) + log z at z = b/a.
    log_peak: f64,
}

impl InverseGamma {
    /// The distribution with this shape and scale, if both are positive and finite.
    pub(crate) fn new(shape: f64, scale: f64) -> Option<Self> {
        let valid = shape > 0.0 && shape.is_finite() && scale > 0.0 && scale.is_finite();
        valid.then(|| Self { shape, scale, log_peak: log_peak(shape) })
    }
}

impl ExponentialFamily for InverseGamma {
    const NAME: &'static str = "inverse_gamma";
    const SUPPORT: Support = Support::Positive;
    const PARAMETERS: &'static [&'static str] = &["shape", "scale"];

    fn standard(_constant: f64) -> Option<Self> {
        Self::new(3.0, 2.0)
    }

    fn parameters(&self) -> Parameters {
        [self.shape, self.scale, 0.0]
    }

    fn with_parameters(&self, parameters: Parameters) -> Option<Self> {
        Self::new(parameters[0], parameters[1])
    }

    fn natural(&self) -> Parameters {
        [-self.shape, -self.scale, 0.0]
    }

    fn with_natural(&self, natural: Parameters) -> Option<Self> {
        Self::new(-natural[0], -natural[1])
    }

    fn expectation(&self) -> Parameters {
        [(self.scale / self.shape).ln() - digamma_minus_log(self.shape), self.shape / self.scale, 0.0]
    }

    /// ψ(a) − log a = −m₁ − log m₂.
    fn with_expectation(&self, expectation: Parameters) -> Option<Self> {
        let shape = inverse_digamma_minus_log(-expectation[0] - expectation[1].ln());
        Self::new(shape, shape / expectation[1])
    }

    fn fisher(&self) -> ParameterMatrix {
        let (a, inverse) = (self.shape, 1.0 / self.scale);
        [[trigamma(a), -inverse, 0.0], [-inverse, a * inverse * inverse, 0.0], [0.0; 3]]
    }

    /// b²|F| = aψ′(a) − 1 is small for large a; it is known without the difference.
    fn natural_gradient(&self, gradient: Parameters) -> Parameters {
        let (a, scale) = (self.shape, self.scale);
        let shape = (gradient[0] + scale * gradient[1] / a) / trigamma_minus_inv(a);
        [shape, scale / a * (scale * gradient[1] + shape), 0.0]
    }

    fn log_partition(&self) -> f64 {
        ln_gamma(self.shape) - self.shape * self.scale.ln()
    }

    fn statistics(&self, z: f64) -> Parameters {
        [z.ln(), 1.0 / z, 0.0]
    }

    fn statistics_slope(&self, z: f64) -> Option<Parameters> {
        Some([1.0 / z, -1.0 / (z * z), 0.0])
    }

    fn log_density(&self, z: f64) -> f64 {
        if z > 0.0 {
            self.log_peak - z.ln() + self.shape * log_minus_excess(self.scale / self.shape / z)
        } else {
            f64::NEG_INFINITY
        }
    }

    fn score(&self, z: f64) -> f64 {
        (self.scale / z - (self.shape + 1.0)) / z
    }

    fn second_derivative(&self, z: f64) -> f64 {
        (self.shape + 1.0 - 2.0 * self.scale / z) / (z * z)
    }

    /// Infinite where they do not exist.
    fn mean_and_variance(&self) -> (f64, f64) {
        let (a, b) = (self.shape, self.scale);
        let mean = if a > 1.0 { b / (a - 1.0) } else { f64::INFINITY };
        (mean, if a > 2.0 { mean * mean / (a - 2.0) } else { f64::INFINITY })
    }

    fn entropy(&self) -> Option<f64> {
        let a = self.shape;
        Some((self.scale / a).ln() - self.log_peak - (1.0 + a) * digamma_minus_log(a))
    }

    /// A draw that overflows becomes the largest number.
    fn sample<N: MixingNoise + ?Sized>(&self, noise: &mut N) -> f64 {
        (self.scale / noise.gamma(self.shape)).clamp(f64::MIN_POSITIVE, f64::MAX)
    }

    /// ∂z/∂a = −(z²/b) D(a, b/z) and ∂z/∂b = z/b.
    fn path_derivative(&self, z: f64) -> Parameters {
        let relative = z / self.scale;
        [relative * gamma_shape_derivative(self.shape, 1.0 / relative) * z, -relative, 0.0]
    }

    fn with_moments(&self, mean: f64, variance: f64) -> Option<Self> {
        let shape = 2.0 + mean * mean / variance;
        Self::new(shape, mean * (shape - 1.0))
    }

    fn chart_jacobian(&self) -> ParameterMatrix {
        [[-self.shape, 0.0, 0.0], [0.0, -self.scale, 0.0], [0.0; 3]]
    }
}

impl HoldsShape for InverseGamma {
    const HELD_NAME: &'static str = "inverse_gamma_scale";
    const USUAL_SHAPE: f64 = 3.0;

    fn of(shape: f64, second: f64) -> Option<Self> {
        Self::new(shape, second)
    }

    fn variance_of_second(&self) -> f64 {
        self.shape / (self.scale * self.scale)
    }

    /// ∂z/∂b = z/b.
    fn path_of_second(&self, z: f64) -> f64 {
        -z / self.scale
    }

    /// Where the mean does not exist, its reciprocal becomes the mean of 1/z.
    fn second_for_mean(&self, mean: f64) -> f64 {
        mean * if self.shape > 1.0 { self.shape - 1.0 } else { self.shape }
    }
}
