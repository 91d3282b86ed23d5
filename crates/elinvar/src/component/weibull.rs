//! The Weibull distribution with a fixed shape (mathematics §5.2).

use super::{ExponentialFamily, ParameterMatrix, Parameters};
use crate::random::MixingNoise;
use crate::special::exponential_integral::EULER_GAMMA;
use crate::special::gamma::ln_gamma;
use crate::target::Support;

/// kρ z^{k−1} e^{−ρzᵏ} on z > 0 with constant k; t = zᵏ, η = −ρ.
///
/// Paper: App. B.5.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weibull {
    shape: f64,
    rate: f64,
}

impl Weibull {
    /// The distribution of (E/ρ)^{1/k}, E exponential, if k and ρ are positive and finite.
    pub(crate) fn new(shape: f64, rate: f64) -> Option<Self> {
        let valid = shape > 0.0 && shape.is_finite() && rate > 0.0 && rate.is_finite();
        valid.then_some(Self { shape, rate })
    }

    fn with_rate(&self, rate: f64) -> Option<Self> {
        Self::new(self.shape, rate)
    }

    /// log E\[zⁿ\] = −(n/k) log ρ + log Γ(1 + n/k).
    fn log_moment(&self, n: f64) -> f64 {
        let power = n / self.shape;
        ln_gamma(1.0 + power) - power * self.rate.ln()
    }
}

impl ExponentialFamily for Weibull {
    const NAME: &'static str = "weibull";
    const SUPPORT: Support = Support::Positive;
    const PARAMETERS: &'static [&'static str] = &["rate"];
    const CONSTANT: Option<(&'static str, f64)> = Some(("shape", 2.0));

    fn standard(constant: f64) -> Option<Self> {
        Self::new(constant, 1.0)
    }

    fn constant(&self) -> f64 {
        self.shape
    }

    fn parameters(&self) -> Parameters {
        [self.rate, 0.0, 0.0]
    }

    fn with_parameters(&self, parameters: Parameters) -> Option<Self> {
        self.with_rate(parameters[0])
    }

    fn natural(&self) -> Parameters {
        [-self.rate, 0.0, 0.0]
    }

    fn with_natural(&self, natural: Parameters) -> Option<Self> {
        self.with_rate(-natural[0])
    }

    fn expectation(&self) -> Parameters {
        [1.0 / self.rate, 0.0, 0.0]
    }

    fn with_expectation(&self, expectation: Parameters) -> Option<Self> {
        self.with_rate(1.0 / expectation[0])
    }

    fn fisher(&self) -> ParameterMatrix {
        [[1.0 / (self.rate * self.rate), 0.0, 0.0], [0.0; 3], [0.0; 3]]
    }

    fn log_partition(&self) -> f64 {
        -self.rate.ln()
    }

    fn statistics(&self, z: f64) -> Parameters {
        [z.powf(self.shape), 0.0, 0.0]
    }

    fn statistics_slope(&self, z: f64) -> Option<Parameters> {
        Some([self.shape * z.powf(self.shape - 1.0), 0.0, 0.0])
    }

    fn log_density(&self, z: f64) -> f64 {
        if z > 0.0 {
            let log_z = z.ln();
            (self.shape * self.rate).ln() + (self.shape - 1.0) * log_z - self.rate * (self.shape * log_z).exp()
        } else {
            f64::NEG_INFINITY
        }
    }

    fn score(&self, z: f64) -> f64 {
        (self.shape - 1.0 - self.shape * self.rate * z.powf(self.shape)) / z
    }

    fn second_derivative(&self, z: f64) -> f64 {
        let k = self.shape;
        (1.0 - k) * (1.0 + k * self.rate * z.powf(k)) / (z * z)
    }

    fn mean_and_variance(&self) -> (f64, f64) {
        let log_mean = self.log_moment(1.0);
        let mean = log_mean.exp();
        (mean, mean * mean * (self.log_moment(2.0) - 2.0 * log_mean).exp_m1())
    }

    fn entropy(&self) -> Option<f64> {
        let k = self.shape;
        Some(EULER_GAMMA * (1.0 - 1.0 / k) - self.rate.ln() / k - k.ln() + 1.0)
    }

    /// A draw outside the range of numbers becomes its end.
    fn sample<N: MixingNoise + ?Sized>(&self, noise: &mut N) -> f64 {
        (-noise.uniform().ln() / self.rate).powf(1.0 / self.shape).clamp(f64::MIN_POSITIVE, f64::MAX)
    }

    /// ∂z/∂m = z/(km), so ∂z/∂η = z/(kρ).
    fn path_derivative(&self, z: f64) -> Parameters {
        [z / (self.shape * self.rate), 0.0, 0.0]
    }

    fn with_moments(&self, mean: f64, _variance: f64) -> Option<Self> {
        let k = self.shape;
        self.with_rate((k * (ln_gamma(1.0 + 1.0 / k) - mean.ln())).exp())
    }

    fn chart_jacobian(&self) -> ParameterMatrix {
        [[-self.rate, 0.0, 0.0], [0.0; 3], [0.0; 3]]
    }
}
