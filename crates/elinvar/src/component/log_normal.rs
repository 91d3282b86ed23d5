//! The log-normal distribution: the normal one in log z (mathematics §5.2).

use super::{ExponentialFamily, Normal, ParameterMatrix, Parameters};
use crate::random::MixingNoise;
use crate::target::Support;

/// The law of z = e^y, y ~ N(μ, σ²); t = (log z, log² z) with base 1/z, η = (μ/σ², −1/2σ²).
///
/// Paper: App. B.5.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogNormal {
    log: Normal,
}

impl LogNormal {
    /// The distribution whose logarithm has this mean and standard deviation, if they are in their domain.
    pub(crate) fn new(mean: f64, sd: f64) -> Option<Self> {
        Some(Self { log: Normal::new(mean, sd)? })
    }
}

impl ExponentialFamily for LogNormal {
    const NAME: &'static str = "log_normal";
    const SUPPORT: Support = Support::Positive;
    const PARAMETERS: &'static [&'static str] = &["log_mean", "log_sd"];

    fn standard(_constant: f64) -> Option<Self> {
        Self::new(0.0, 1.0)
    }

    fn parameters(&self) -> Parameters {
        self.log.parameters()
    }

    fn with_parameters(&self, parameters: Parameters) -> Option<Self> {
        Some(Self { log: self.log.with_parameters(parameters)? })
    }

    fn natural(&self) -> Parameters {
        self.log.natural()
    }

    fn with_natural(&self, natural: Parameters) -> Option<Self> {
        Some(Self { log: self.log.with_natural(natural)? })
    }

    fn expectation(&self) -> Parameters {
        self.log.expectation()
    }

    fn with_expectation(&self, expectation: Parameters) -> Option<Self> {
        Some(Self { log: self.log.with_expectation(expectation)? })
    }

    fn fisher(&self) -> ParameterMatrix {
        self.log.fisher()
    }

    fn natural_gradient(&self, gradient: Parameters) -> Parameters {
        self.log.natural_gradient(gradient)
    }

    fn log_partition(&self) -> f64 {
        self.log.log_partition()
    }

    fn statistics(&self, z: f64) -> Parameters {
        self.log.statistics(z.ln())
    }

    fn statistics_slope(&self, z: f64) -> Option<Parameters> {
        Some([1.0 / z, 2.0 * z.ln() / z, 0.0])
    }

    fn log_density(&self, z: f64) -> f64 {
        if z > 0.0 {
            let y = z.ln();
            self.log.log_density(y) - y
        } else {
            f64::NEG_INFINITY
        }
    }

    fn score(&self, z: f64) -> f64 {
        (self.log.score(z.ln()) - 1.0) / z
    }

    fn second_derivative(&self, z: f64) -> f64 {
        let y = z.ln();
        (self.log.second_derivative(y) - self.log.score(y) + 1.0) / (z * z)
    }

    fn mean_and_variance(&self) -> (f64, f64) {
        let variance = self.log.sd() * self.log.sd();
        let mean = (self.log.mean() + 0.5 * variance).exp();
        (mean, mean * mean * variance.exp_m1())
    }

    fn entropy(&self) -> Option<f64> {
        Some(self.log.entropy()? + self.log.mean())
    }

    /// A draw outside the range of numbers becomes its end.
    fn sample<N: MixingNoise + ?Sized>(&self, noise: &mut N) -> f64 {
        self.log.sample(noise).exp().clamp(f64::MIN_POSITIVE, f64::MAX)
    }

    fn path_derivative(&self, z: f64) -> Parameters {
        self.log.path_derivative(z.ln()).map(|dy| z * dy)
    }

    fn with_moments(&self, mean: f64, variance: f64) -> Option<Self> {
        let log_variance = (variance / (mean * mean)).ln_1p();
        Self::new(mean.ln() - 0.5 * log_variance, log_variance.sqrt())
    }

    fn chart(&self) -> Parameters {
        self.log.chart()
    }

    fn with_chart(&self, coordinates: Parameters) -> Option<Self> {
        Some(Self { log: self.log.with_chart(coordinates)? })
    }

    fn chart_jacobian(&self) -> ParameterMatrix {
        self.log.chart_jacobian()
    }
}
