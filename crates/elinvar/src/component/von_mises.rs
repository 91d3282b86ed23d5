//! The von Mises distribution on the circle (mathematics §5.2).

use std::f64::consts::{LN_2, PI};

use super::{ExponentialFamily, ParameterMatrix, Parameters};
use crate::random::MixingNoise;
use crate::special::bessel_i::{BesselI, bessel_i, inverse_bessel_ratio};
use crate::special::legendre::integrate;
use crate::special::normal_quantile::normal_quantile;
use crate::target::Support;

/// e^{κ cos(z−μ)}/2πI₀(κ) on (−π, π]; t = (cos z, sin z), η = κ(cos μ, sin μ).
///
/// Paper: App. B.5.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VonMises {
    direction: f64,
    kappa: f64,
    bessel: BesselI,
}

/// log 2π.
const LOG_TWO_PI: f64 = LN_2 + 1.144_729_885_849_400_2;

/// The density is followed until it has fallen by e^{−DEPTH}.
const DEPTH: f64 = 40.0;

impl VonMises {
    /// The distribution with this mean direction and concentration, if they are finite and κ is not negative; κ = 0 is
    /// uniform.
    pub(crate) fn new(direction: f64, kappa: f64) -> Option<Self> {
        let valid = direction.is_finite() && kappa >= 0.0 && kappa.is_finite();
        valid.then(|| Self { direction: wrapped(direction), kappa, bessel: bessel_i(kappa) })
    }

    /// The unit vectors along and across the mean direction.
    fn axes(&self) -> ([f64; 2], [f64; 2]) {
        let (sine, cosine) = self.direction.sin_cos();
        ([cosine, sine], [-sine, cosine])
    }

    /// Where the density has fallen by e^{−DEPTH} from its value at the distance d, or π.
    fn end(&self, d: f64) -> f64 {
        let square = (0.5 * d).sin().powi(2) + 0.5 * DEPTH / self.kappa;
        if square < 1.0 { 2.0 * square.sqrt().asin() } else { PI }
    }

    /// ∂θ/∂κ at the distance d ≥ 0 from the mean direction, which does not move: every term has the same sign.
    fn concentration_derivative(&self, d: f64) -> f64 {
        let square = (0.5 * d).sin().powi(2);
        // 1 − cos y = 2 sin²(y/2); cos y − A changes sign where that is 1 − A.
        let integrand = |y: f64| {
            let s = (0.5 * y).sin().powi(2);
            [(self.bessel.complement - 2.0 * s) * (2.0 * self.kappa * (square - s)).exp()]
        };
        if 2.0 * square <= self.bessel.complement {
            -integrate(0.0, d, 1, integrand)[0]
        } else {
            integrate(d, self.end(d), 3, integrand)[0]
        }
    }

    /// The distance d at which P(θ − μ > d) = tail, for 0 < tail ≤ ½: Newton's method for its logarithm.
    fn distance(&self, tail: f64) -> f64 {
        let log_target = tail.ln() + LOG_TWO_PI + self.bessel.log_scaled;
        // Nearly normal in 2√κ sin(d/2), and closer than under the uniform law.
        let half = 0.5 * -normal_quantile(tail) / self.kappa.sqrt();
        let mut d = (PI * (1.0 - 2.0 * tail)).min(PI - 1e-12).min(if half < 1.0 { 2.0 * half.asin() } else { PI });
        for _ in 0..40 {
            let square = (0.5 * d).sin().powi(2);
            let ratio = |y: f64| [(2.0 * self.kappa * (square - (0.5 * y).sin().powi(2))).exp()];
            let [mass] = integrate(d, self.end(d), 3, ratio);
            let step = mass * (mass.ln() - 2.0 * self.kappa * square - log_target);
            let next = (d + step).clamp(0.0, 0.5 * (d + PI));
            let change = next - d;
            d = next;
            if change.abs() <= 1e-8 * d {
                break;
            }
        }
        d
    }
}

/// The same angle in (−π, π].
fn wrapped(angle: f64) -> f64 {
    if angle > -PI && angle <= PI {
        return angle;
    }
    let turned = angle - 2.0 * PI * (angle / (2.0 * PI)).round();
    turned.clamp((-PI).next_up(), PI)
}

impl ExponentialFamily for VonMises {
    const NAME: &'static str = "von_mises";
    const SUPPORT: Support = Support::Circle;
    const PARAMETERS: &'static [&'static str] = &["direction", "kappa"];

    fn standard(_constant: f64) -> Option<Self> {
        Self::new(0.0, 1.0)
    }

    fn parameters(&self) -> Parameters {
        [self.direction, self.kappa, 0.0]
    }

    fn with_parameters(&self, parameters: Parameters) -> Option<Self> {
        Self::new(parameters[0], parameters[1])
    }

    fn natural(&self) -> Parameters {
        let (along, _) = self.axes();
        [self.kappa * along[0], self.kappa * along[1], 0.0]
    }

    fn with_natural(&self, natural: Parameters) -> Option<Self> {
        Self::new(natural[1].atan2(natural[0]), natural[0].hypot(natural[1]))
    }

    fn expectation(&self) -> Parameters {
        let (along, _) = self.axes();
        [self.bessel.ratio * along[0], self.bessel.ratio * along[1], 0.0]
    }

    fn with_expectation(&self, expectation: Parameters) -> Option<Self> {
        let length = expectation[0].hypot(expectation[1]);
        Self::new(expectation[1].atan2(expectation[0]), inverse_bessel_ratio(length, 1.0 - length))
    }

    /// A′(κ) along the mean direction, A(κ)/κ across.
    fn fisher(&self) -> ParameterMatrix {
        let (along, across) = self.axes();
        let mut fisher = [[0.0; 3]; 3];
        for (i, row) in fisher.iter_mut().enumerate().take(2) {
            for (j, entry) in row.iter_mut().enumerate().take(2) {
                *entry = self.bessel.slope * along[i] * along[j] + self.bessel.ratio_over_kappa * across[i] * across[j];
            }
        }
        fisher
    }

    fn natural_gradient(&self, gradient: Parameters) -> Parameters {
        let (along, across) = self.axes();
        let radial = (gradient[0] * along[0] + gradient[1] * along[1]) / self.bessel.slope;
        let tangential = (gradient[0] * across[0] + gradient[1] * across[1]) / self.bessel.ratio_over_kappa;
        [radial * along[0] + tangential * across[0], radial * along[1] + tangential * across[1], 0.0]
    }

    fn log_partition(&self) -> f64 {
        LOG_TWO_PI + self.bessel.log
    }

    fn statistics(&self, z: f64) -> Parameters {
        [z.cos(), z.sin(), 0.0]
    }

    fn statistics_slope(&self, z: f64) -> Option<Parameters> {
        Some([-z.sin(), z.cos(), 0.0])
    }

    fn log_density(&self, z: f64) -> f64 {
        let half = (0.5 * (z - self.direction)).sin();
        -2.0 * self.kappa * half * half - LOG_TWO_PI - self.bessel.log_scaled
    }

    fn score(&self, z: f64) -> f64 {
        -self.kappa * (z - self.direction).sin()
    }

    fn second_derivative(&self, z: f64) -> f64 {
        -self.kappa * (z - self.direction).cos()
    }

    fn mean_and_variance(&self) -> (f64, f64) {
        (self.direction, -2.0 * (-self.bessel.complement).ln_1p())
    }

    fn entropy(&self) -> Option<f64> {
        Some(LOG_TWO_PI + self.bessel.log_scaled + self.kappa * self.bessel.complement)
    }

    /// The quantile function at one uniform number.
    fn sample<N: MixingNoise + ?Sized>(&self, noise: &mut N) -> f64 {
        let u = noise.uniform();
        wrapped(self.direction + if u < 0.5 { -self.distance(u) } else { self.distance(1.0 - u) })
    }

    /// On the circle (5.1) holds with any constant of integration, that is, up to a multiple of 1/q(z). Along the mean
    /// direction the probability is counted from there. Across, ∂z/∂μ = 1 would be the rotation, whose ∂z/∂η grows like
    /// 1/κ as κ → 0; taken is ∂z/∂μ = 1 − e^{−κ cos(z−μ)}/I₀(κ), which of all choices has the smallest mean square and
    /// is κ cos(z−μ) for small κ.
    fn path_derivative(&self, z: f64) -> Parameters {
        let (along, across) = self.axes();
        let d = wrapped(z - self.direction);
        let radial = self.concentration_derivative(d.abs()).copysign(-d);
        let kappa = self.kappa;
        let tangential = if kappa < 1e-10 {
            d.cos()
        } else if kappa < 1.0 {
            -(-kappa * d.cos() - self.bessel.log).exp_m1() / kappa
        } else {
            -(-2.0 * kappa * (0.5 * d).cos().powi(2) - self.bessel.log_scaled).exp_m1() / kappa
        };
        [radial * along[0] + tangential * across[0], radial * along[1] + tangential * across[1], 0.0]
    }

    fn with_moments(&self, mean: f64, variance: f64) -> Option<Self> {
        let complement = -(-0.5 * variance).exp_m1();
        Self::new(mean, inverse_bessel_ratio(1.0 - complement, complement))
    }

    /// η itself: every point of the plane is a member.
    fn chart(&self) -> Parameters {
        self.natural()
    }

    fn with_chart(&self, coordinates: Parameters) -> Option<Self> {
        self.with_natural(coordinates)
    }

    fn chart_jacobian(&self) -> ParameterMatrix {
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0; 3]]
    }
}
