//! The Birnbaum–Saunders (fatigue life) distribution with a fixed weight p (mathematics §5.4).
//!
//! It is the margin in z of a conditional exponential family in (z, w), not an exponential family itself: w = 0 with
//! probability p, then z ~ InvGauss(μ, v); otherwise z has the density (z/μ) InvGauss(z | μ, v), the law of 1/y with y
//! ~ InvGauss(1/μ, v/μ²). The items of [`ExponentialFamily`] are to be read so: statistics, natural and expectation
//! parameters, log partition function and Fisher matrix are those of the joint law of (z, w) (mathematics §0.4),
//! everything about densities, draws and derivatives is about the margin. Both laws have the same t = (z, 1/z) and η,
//! so m = E\[t\] is an expectation over z alone. ∂z/∂η is the implicit derivative of the margin, which is the average
//! of those of the two laws given z.

use super::{ExponentialFamily, InverseGaussian, ParameterMatrix, Parameters};
use crate::random::MixingNoise;
use crate::special::implicit::inverse_gaussian_natural_derivatives;
use crate::target::Support;

/// {p + (1−p) z/μ} InvGauss(z | μ, v) with constant p; t = (z, 1/z), η = (−v/2μ², −v/2).
///
/// Paper: App. C.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BirnbaumSaunders {
    base: InverseGaussian,
    p: f64,
    /// 1 − p.
    rest: f64,
}

impl BirnbaumSaunders {
    /// The distribution with weight p of the inverse Gaussian itself, if 0 ≤ p ≤ 1 and μ and v are positive and finite.
    pub(crate) fn new(p: f64, mu: f64, v: f64) -> Option<Self> {
        Self::with_weights(p, 1.0 - p, mu, v)
    }

    /// As [`BirnbaumSaunders::new`], with 1 − p given, which may be smaller than the rounding of p.
    pub(super) fn with_weights(p: f64, rest: f64, mu: f64, v: f64) -> Option<Self> {
        let base = InverseGaussian::new(mu, v)?;
        (p >= 0.0 && rest >= 0.0).then_some(Self { base, p, rest })
    }

    /// p = P(w = 0).
    pub(crate) fn p(&self) -> f64 {
        self.p
    }

    /// μ; the median if p = ½.
    pub(crate) fn mu(&self) -> f64 {
        self.base.mean()
    }

    /// v.
    pub(crate) fn v(&self) -> f64 {
        self.base.shape()
    }

    fn with_base(&self, mu: f64, v: f64) -> Option<Self> {
        Self::with_weights(self.p, self.rest, mu, v)
    }

    /// q(z)/InvGauss(z | μ, v) = p + (1−p) z/μ.
    pub(super) fn tilt(&self, z: f64) -> f64 {
        self.p + self.rest * (z / self.mu())
    }
}

impl ExponentialFamily for BirnbaumSaunders {
    const NAME: &'static str = "birnbaum_saunders";
    const SUPPORT: Support = Support::Positive;
    const PARAMETERS: &'static [&'static str] = &["mu", "v"];
    const CONSTANT: Option<(&'static str, f64)> = Some(("p", 0.5));

    fn standard(constant: f64) -> Option<Self> {
        Self::new(constant, 1.0, 1.0)
    }

    fn constant(&self) -> f64 {
        self.p
    }

    fn parameters(&self) -> Parameters {
        self.base.parameters()
    }

    fn with_parameters(&self, parameters: Parameters) -> Option<Self> {
        self.with_base(parameters[0], parameters[1])
    }

    fn natural(&self) -> Parameters {
        self.base.natural()
    }

    fn with_natural(&self, natural: Parameters) -> Option<Self> {
        Some(Self { base: self.base.with_natural(natural)?, ..*self })
    }

    fn expectation(&self) -> Parameters {
        let (mu, v) = (self.mu(), self.v());
        [mu + self.rest * (mu * (mu / v)), 1.0 / mu + self.p / v, 0.0]
    }

    fn with_expectation(&self, expectation: Parameters) -> Option<Self> {
        let [m1, m2, _] = expectation;
        let (p, rest) = (self.p, self.rest);
        let odd = p - rest;
        let root = (odd * odd + 4.0 * p * rest * m1 * m2).sqrt();
        // Two forms of the same solution: neither divides by the smaller of p and 1 − p.
        if p >= rest {
            let mu = 2.0 * p * m1 / (root + odd);
            self.with_base(mu, p * mu / (m2 * mu - 1.0))
        } else {
            let mu = (root - odd) / (2.0 * rest * m2);
            self.with_base(mu, rest * mu / (m1 / mu - 1.0))
        }
    }

    fn fisher(&self) -> ParameterMatrix {
        let (mu, inverse) = (self.mu(), 1.0 / self.v());
        let r = mu * inverse;
        let first = mu * mu * (r + 2.0 * self.rest * r * r);
        [[first, -r, 0.0], [-r, inverse / mu + 2.0 * self.p * inverse * inverse, 0.0], [0.0; 3]]
    }

    /// v²|F|/μ² = 2r + 4p(1−p) r² with r = μ/v: the leading terms of the two products cancel exactly.
    fn natural_gradient(&self, gradient: Parameters) -> Parameters {
        let (mu, v) = (self.mu(), self.v());
        let r = mu / v;
        // In units of μ: F = r (μ² (1 + 2(1−p) r), −1; −1, μ⁻² (1 + 2p r)).
        let (g1, g2) = (gradient[0] / mu, gradient[1] * mu);
        let determinant = r * r * (2.0 + 4.0 * self.p * self.rest * r);
        let x1 = ((1.0 + 2.0 * self.p * r) * g1 + g2) / determinant;
        let x2 = (g1 + (1.0 + 2.0 * self.rest * r) * g2) / determinant;
        [x1 / mu, x2 * mu, 0.0]
    }

    /// The average over w of A(η, w).
    fn log_partition(&self) -> f64 {
        self.base.log_partition() + self.rest * self.mu().ln()
    }

    fn statistics(&self, z: f64) -> Parameters {
        self.base.statistics(z)
    }

    fn statistics_slope(&self, z: f64) -> Option<Parameters> {
        self.base.statistics_slope(z)
    }

    fn log_density(&self, z: f64) -> f64 {
        if z > 0.0 { self.base.log_density(z) + self.tilt(z).ln() } else { f64::NEG_INFINITY }
    }

    fn score(&self, z: f64) -> f64 {
        self.base.score(z) + self.rest / self.mu() / self.tilt(z)
    }

    fn second_derivative(&self, z: f64) -> f64 {
        let slope = self.rest / self.mu() / self.tilt(z);
        self.base.second_derivative(z) - slope * slope
    }

    fn mean_and_variance(&self) -> (f64, f64) {
        let (mu, r) = (self.mu(), self.mu() / self.v());
        (self.expectation()[0], mu * mu * r * (1.0 + self.rest * (2.0 + self.p) * r))
    }

    /// Not known in closed form.
    fn entropy(&self) -> Option<f64> {
        None
    }

    /// For p = ½ an increasing function of one normal number; otherwise (z−μ)²v/μ²z is χ²₁ under both laws, and a
    /// uniform number chooses between its two roots.
    fn sample<N: MixingNoise + ?Sized>(&self, noise: &mut N) -> f64 {
        let (mu, half) = (self.mu(), 0.5 * (self.mu() / self.v()).sqrt());
        let normal = noise.normal();
        let x = half * normal.abs();
        let root = x + (1.0 + x * x).sqrt();
        let large = root * root;
        let upper = if self.p == self.rest {
            normal > 0.0
        } else {
            // With z = μ/large: P(z) = {pμ + (1−p) z}/(μ + z).
            noise.uniform() * (large + 1.0) > self.p * large + self.rest
        };
        (mu * if upper { large } else { 1.0 / large }).clamp(f64::MIN_POSITIVE, f64::MAX)
    }

    /// P(w = 0 | z) ∂z₀ + P(w = 1 | z) ∂z₁, where z₁ = 1/y and y has the natural parameters of z₀ exchanged.
    fn path_derivative(&self, z: f64) -> Parameters {
        let (mu, v) = (self.mu(), self.v());
        let here = self.p / self.tilt(z);
        let there = self.rest * (z / mu) / self.tilt(z);
        let plain = inverse_gaussian_natural_derivatives(mu, v, z);
        let reciprocal = inverse_gaussian_natural_derivatives(1.0 / mu, v / mu / mu, 1.0 / z);
        [here * plain.0 - there * z * z * reciprocal.1, here * plain.1 - there * z * z * reciprocal.0, 0.0]
    }

    /// A coefficient of variation that is too large for p becomes nearly the largest possible.
    fn with_moments(&self, mean: f64, variance: f64) -> Option<Self> {
        // With r = μ/v: mean = μ(1 + (1−p) r) and variance = μ²(r + c r²), c = (1−p)(2 + p).
        let (rest, c) = (self.rest, self.rest * (2.0 + self.p));
        let mut k = variance / (mean * mean);
        if rest > 0.0 {
            k = k.min(0.99 * c / (rest * rest));
        }
        let (square, linear) = (c - k * rest * rest, 1.0 - 2.0 * k * rest);
        // The positive root of square·r² + linear·r = k, in the form that also serves square = 0.
        let r = 2.0 * k / (linear + (linear * linear + 4.0 * square * k).sqrt());
        let mu = mean / (1.0 + rest * r);
        self.with_base(mu, mu / r)
    }

    fn chart(&self) -> Parameters {
        self.base.chart()
    }

    fn with_chart(&self, coordinates: Parameters) -> Option<Self> {
        Some(Self { base: self.base.with_chart(coordinates)?, ..*self })
    }

    fn chart_jacobian(&self) -> ParameterMatrix {
        self.base.chart_jacobian()
    }
}
