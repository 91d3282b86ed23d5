//! The inverse-Gaussian distribution (mathematics §5.2, mathematics §8.5).

use super::{ExponentialFamily, ParameterMatrix, Parameters};
use crate::law::sample_inverse_gaussian;
use crate::random::MixingNoise;
use crate::special::exponential_integral::scaled_exponential_integral;
use crate::special::implicit::{inverse_gaussian_log_density, inverse_gaussian_natural_derivatives};
use crate::special::normal::HALF_LOG_TWO_PI;
use crate::target::Support;

/// InvGauss(μ, v): √(v/2πz³) exp{−v(z−μ)²/2μ²z} on z > 0; t = (z, 1/z), η = (−v/2μ², −v/2).
///
/// Paper: App. B.5.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InverseGaussian {
    mean: f64,
    shape: f64,
}

impl InverseGaussian {
    /// The distribution with mean μ and shape v, if both are positive and finite.
    pub(crate) fn new(mean: f64, shape: f64) -> Option<Self> {
        let valid = mean > 0.0 && mean.is_finite() && shape > 0.0 && shape.is_finite();
        valid.then_some(Self { mean, shape })
    }

    /// μ.
    pub(crate) fn mean(&self) -> f64 {
        self.mean
    }

    /// v.
    pub(crate) fn shape(&self) -> f64 {
        self.shape
    }
}

impl ExponentialFamily for InverseGaussian {
    const NAME: &'static str = "inverse_gaussian";
    const SUPPORT: Support = Support::Positive;
    const PARAMETERS: &'static [&'static str] = &["mean", "shape"];

    fn standard(_constant: f64) -> Option<Self> {
        Self::new(1.0, 1.0)
    }

    fn parameters(&self) -> Parameters {
        [self.mean, self.shape, 0.0]
    }

    fn with_parameters(&self, parameters: Parameters) -> Option<Self> {
        Self::new(parameters[0], parameters[1])
    }

    fn natural(&self) -> Parameters {
        [-0.5 * self.shape / (self.mean * self.mean), -0.5 * self.shape, 0.0]
    }

    fn with_natural(&self, natural: Parameters) -> Option<Self> {
        Self::new((natural[1] / natural[0]).sqrt(), -2.0 * natural[1])
    }

    fn expectation(&self) -> Parameters {
        [self.mean, 1.0 / self.mean + 1.0 / self.shape, 0.0]
    }

    fn with_expectation(&self, expectation: Parameters) -> Option<Self> {
        let [mean, inverse, _] = expectation;
        Self::new(mean, mean / (inverse * mean - 1.0))
    }

    fn fisher(&self) -> ParameterMatrix {
        let (mu, r) = (self.mean, self.mean / self.shape);
        let inverse = 1.0 / self.shape;
        [[mu * mu * r, -r, 0.0], [-r, inverse / mu + 2.0 * inverse * inverse, 0.0], [0.0; 3]]
    }

    /// Eliminates the first parameter: the rest of F is 2/v² whatever μ is.
    fn natural_gradient(&self, gradient: Parameters) -> Parameters {
        let (mu, v) = (self.mean, self.shape);
        let second = 0.5 * v * v * (gradient[1] + gradient[0] / (mu * mu));
        [(v / mu * gradient[0] + second) / (mu * mu), second, 0.0]
    }

    fn log_partition(&self) -> f64 {
        -self.shape / self.mean - 0.5 * self.shape.ln()
    }

    fn statistics(&self, z: f64) -> Parameters {
        [z, 1.0 / z, 0.0]
    }

    fn statistics_slope(&self, z: f64) -> Option<Parameters> {
        Some([1.0, -1.0 / (z * z), 0.0])
    }

    fn log_density(&self, z: f64) -> f64 {
        if z > 0.0 { inverse_gaussian_log_density(self.mean, self.shape, z) } else { f64::NEG_INFINITY }
    }

    fn score(&self, z: f64) -> f64 {
        // −v/2μ² + v/2z² as a product: near the mean it is a small difference.
        let (mu, v) = (self.mean, self.shape);
        -1.5 / z + 0.5 * v * (1.0 / z - 1.0 / mu) * (1.0 / z + 1.0 / mu)
    }

    fn second_derivative(&self, z: f64) -> f64 {
        (1.5 - self.shape / z) / (z * z)
    }

    fn mean_and_variance(&self) -> (f64, f64) {
        (self.mean, self.mean * self.mean * (self.mean / self.shape))
    }

    /// E[log z] = log μ − e^{2v/μ} E₁(2v/μ).
    fn entropy(&self) -> Option<f64> {
        let log_mean = self.mean.ln() - scaled_exponential_integral(2.0 * self.shape / self.mean);
        Some(0.5 + HALF_LOG_TWO_PI - 0.5 * self.shape.ln() + 1.5 * log_mean)
    }

    fn sample<N: MixingNoise + ?Sized>(&self, noise: &mut N) -> f64 {
        (self.mean * sample_inverse_gaussian(self.shape / self.mean, noise)).max(f64::MIN_POSITIVE)
    }

    fn path_derivative(&self, z: f64) -> Parameters {
        let (first, second) = inverse_gaussian_natural_derivatives(self.mean, self.shape, z);
        [first, second, 0.0]
    }

    fn with_moments(&self, mean: f64, variance: f64) -> Option<Self> {
        Self::new(mean, mean * mean / variance * mean)
    }

    fn chart_jacobian(&self) -> ParameterMatrix {
        let [first, second, _] = self.natural();
        [[-2.0 * first, first, 0.0], [0.0, second, 0.0], [0.0; 3]]
    }
}
