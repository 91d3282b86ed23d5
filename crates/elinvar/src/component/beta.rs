//! The beta distribution (mathematics §5.2, mathematics §8.6).

use super::{ExponentialFamily, ParameterMatrix, Parameters};
use crate::random::MixingNoise;
use crate::special::gamma::{digamma_minus_log, ln_beta, log_minus_excess, stirling_remainder, trigamma_minus_inv};
use crate::special::half_line::integrate_half_line;
use crate::special::normal::HALF_LOG_TWO_PI;
use crate::target::Support;

/// z^{a−1}(1−z)^{b−1}/B(a, b) on 0 < z < 1; t = (log z, log(1−z)) with base 1/z(1−z), η = (a, b).
///
/// Paper: App. B.5.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Beta {
    a: f64,
    b: f64,
    /// m = (ψ(a) − ψ(a+b), ψ(b) − ψ(a+b)).
    expectation: [f64; 2],
    /// log{z(1−z) q(z)} at the mean.
    log_peak: f64,
}

impl Beta {
    /// The distribution with these shapes, if both are positive and finite.
    pub(crate) fn new(a: f64, b: f64) -> Option<Self> {
        let valid = a > 0.0 && b > 0.0 && (a + b).is_finite();
        valid.then(|| Self { a, b, expectation: expectation(a, b), log_peak: log_peak(a, b) })
    }
}

/// log{aᵃ bᵇ/(a+b)^{a+b}} − log B(a, b), by Stirling's formula: nothing cancels for large shapes.
fn log_peak(a: f64, b: f64) -> f64 {
    let remainders = stirling_remainder(a + b) - stirling_remainder(a) - stirling_remainder(b);
    0.5 * (a.ln() - (a / b).ln_1p()) - HALF_LOG_TWO_PI + remainders
}

/// ψ(a) − ψ(a+b) and ψ(b) − ψ(a+b).
fn expectation(a: f64, b: f64) -> [f64; 2] {
    let both = digamma_minus_log(a + b);
    [digamma_minus_log(a) - both - (b / a).ln_1p(), digamma_minus_log(b) - both - (a / b).ln_1p()]
}

/// F, and |F| without the cancellation of ψ′(a)ψ′(b) − ψ′(a+b){ψ′(a) + ψ′(b)} for large shapes.
fn information(a: f64, b: f64) -> ([f64; 3], f64) {
    let sum = a + b;
    // ψ′(x) = 1/x + t(x); the terms without t cancel exactly.
    let (ta, tb, t) = (trigamma_minus_inv(a), trigamma_minus_inv(b), trigamma_minus_inv(sum));
    let determinant = ta * (a / (b * sum)) + tb * (b / (a * sum)) - t * (1.0 / a + 1.0 / b) + ta * tb - t * (ta + tb);
    ([ta - t + b / (a * sum), -(t + 1.0 / sum), tb - t + a / (b * sum)], determinant)
}

/// ∂z/∂a of a draw z ~ Beta(a, b), given 1 − z; positive.
pub(crate) fn path_of_first_shape(a: f64, b: f64, z: f64, rest: f64) -> f64 {
    first_shape_derivative(a, b, z, rest, expectation(a, b)[0])
}

/// The same, given m₁ = ψ(a) − ψ(a+b), too.
fn first_shape_derivative(a: f64, b: f64, z: f64, rest: f64, m1: f64) -> f64 {
    let delta = m1 - if z < 0.5 { z.ln() } else { (-rest).ln_1p() };
    // From below in u = log(z/y) where log y < m₁, so that every term has the same sign; also somewhat above, where z
    // is small, because from above the integrand would have lengths from z to 1. Otherwise from above in u =
    // log{(1−z)/(1−y)}.
    let from_below = delta >= 0.0 || (delta + 1.0 / a >= 0.0 && z < 0.5);
    let (p, q, x, y) = if from_below { (a, b, z, rest) } else { (b, a, rest, z) };
    let odds = x / y;
    let width = 1.0 / ((p - (q - 1.0) * odds).abs() + ((q - 1.0).abs() * x).sqrt() / y);
    let [integral] = integrate_half_line(width, |u| {
        let growth = (-odds * (-u).exp_m1()).ln_1p();
        (-p * u + (q - 1.0) * growth, [if from_below { delta + u } else { growth - delta }])
    });
    x * integral
}

impl ExponentialFamily for Beta {
    const NAME: &'static str = "beta";
    const SUPPORT: Support = Support::Unit;
    const PARAMETERS: &'static [&'static str] = &["a", "b"];

    fn standard(_constant: f64) -> Option<Self> {
        Self::new(2.0, 2.0)
    }

    fn parameters(&self) -> Parameters {
        [self.a, self.b, 0.0]
    }

    fn with_parameters(&self, parameters: Parameters) -> Option<Self> {
        Self::new(parameters[0], parameters[1])
    }

    fn natural(&self) -> Parameters {
        self.parameters()
    }

    fn with_natural(&self, natural: Parameters) -> Option<Self> {
        self.with_parameters(natural)
    }

    fn expectation(&self) -> Parameters {
        [self.expectation[0], self.expectation[1], 0.0]
    }

    /// Newton's method in (log a, log b); e^{m₁} + e^{m₂} < 1 for every member.
    fn with_expectation(&self, expectation: Parameters) -> Option<Self> {
        let [m1, m2, _] = expectation;
        let gap = -(m1.exp() + m2.exp_m1());
        if gap.is_nan() || gap <= 0.0 {
            return None;
        }
        let mut found = Self::new(0.5 + 0.5 * m1.exp() / gap, 0.5 + 0.5 * m2.exp() / gap)?;
        for _ in 0..200 {
            let [f1, f2] = found.expectation;
            let step = found.natural_gradient([m1 - f1, m2 - f2, 0.0]);
            let log_step = [step[0] / found.a, step[1] / found.b];
            let longest = log_step[0].abs().max(log_step[1].abs());
            let scale = (2.0 / longest).min(1.0);
            found = Self::new(found.a * (scale * log_step[0]).exp(), found.b * (scale * log_step[1]).exp())?;
            if longest < 4.0 * f64::EPSILON {
                break;
            }
        }
        Some(found)
    }

    fn fisher(&self) -> ParameterMatrix {
        let ([first, cross, second], _) = information(self.a, self.b);
        [[first, cross, 0.0], [cross, second, 0.0], [0.0; 3]]
    }

    fn natural_gradient(&self, gradient: Parameters) -> Parameters {
        let ([first, cross, second], determinant) = information(self.a, self.b);
        [
            (second * gradient[0] - cross * gradient[1]) / determinant,
            (first * gradient[1] - cross * gradient[0]) / determinant,
            0.0,
        ]
    }

    fn log_partition(&self) -> f64 {
        ln_beta(self.a, self.b)
    }

    fn statistics(&self, z: f64) -> Parameters {
        [z.ln(), (-z).ln_1p(), 0.0]
    }

    fn statistics_slope(&self, z: f64) -> Option<Parameters> {
        Some([1.0 / z, -1.0 / (1.0 - z), 0.0])
    }

    fn log_density(&self, z: f64) -> f64 {
        if z > 0.0 && z < 1.0 {
            let (sum, rest) = (self.a + self.b, 1.0 - z);
            // a log z + b log(1−z) less its value at the mean, as two parts that are never positive.
            let fall = self.a * log_minus_excess(z * (sum / self.a)) + self.b * log_minus_excess(rest * (sum / self.b));
            self.log_peak - z.ln() - (-z).ln_1p() + fall
        } else {
            f64::NEG_INFINITY
        }
    }

    fn score(&self, z: f64) -> f64 {
        (self.a - 1.0) / z - (self.b - 1.0) / (1.0 - z)
    }

    fn second_derivative(&self, z: f64) -> f64 {
        let rest = 1.0 - z;
        -(self.a - 1.0) / (z * z) - (self.b - 1.0) / (rest * rest)
    }

    fn mean_and_variance(&self) -> (f64, f64) {
        let sum = self.a + self.b;
        let mean = self.a / sum;
        (mean, mean * (self.b / sum) / (sum + 1.0))
    }

    fn entropy(&self) -> Option<f64> {
        let both = digamma_minus_log(self.a + self.b);
        let part = |shape: f64, mean: f64| mean - shape * (digamma_minus_log(shape) - both);
        Some(part(self.a, self.expectation[0]) + part(self.b, self.expectation[1]) - self.log_peak)
    }

    /// x/(x + y) with two gamma draws, for small shapes in logarithms; a draw that is 0 or 1 after rounding becomes its
    /// neighbour.
    fn sample<N: MixingNoise + ?Sized>(&self, noise: &mut N) -> f64 {
        let z = if self.a.min(self.b) > 0.1 {
            let x = noise.gamma(self.a);
            x / (x + noise.gamma(self.b))
        } else {
            // Gamma(a) is Gamma(a + 1) U^{1/a}.
            let mut log_gamma = |shape: f64| noise.gamma(shape + 1.0).ln() + noise.uniform().ln() / shape;
            let (x, y) = (log_gamma(self.a), log_gamma(self.b));
            1.0 / (1.0 + (y - x).exp())
        };
        z.clamp(f64::MIN_POSITIVE, 1.0 - 0.5 * f64::EPSILON)
    }

    /// ∂z/∂b is −∂(1−z)/∂b with the shapes exchanged.
    fn path_derivative(&self, z: f64) -> Parameters {
        let (rest, [m1, m2]) = (1.0 - z, self.expectation);
        [first_shape_derivative(self.a, self.b, z, rest, m1), -first_shape_derivative(self.b, self.a, rest, z, m2), 0.0]
    }

    /// A variance that no beta distribution with this mean has becomes nearly the largest possible.
    fn with_moments(&self, mean: f64, variance: f64) -> Option<Self> {
        let largest = mean * (1.0 - mean);
        let sum = largest / variance.min(0.99 * largest) - 1.0;
        Self::new(mean * sum, (1.0 - mean) * sum)
    }

    fn chart_jacobian(&self) -> ParameterMatrix {
        [[self.a, 0.0, 0.0], [0.0, self.b, 0.0], [0.0; 3]]
    }
}
