//! Implicit reparameterisation of any univariate exponential family (mathematics §5 (5.1), mathematics §8.6).

use super::{ExponentialFamily, Parameters};
use crate::special::legendre::integrate;
use crate::target::Support;

/// ∂z/∂η of a draw z at fixed probability, −∫_{−∞}^z {t(y) − m} q(y) dy / q(z), by quadrature from the nearer end of
/// the support.
///
/// Needs only the log density, the statistics, their expectation and the support; some hundred evaluations of each. It
/// is what a new component can use before it has a formula of its own, and what formulas are tested against. On the
/// circle the statistics must begin with cos z and sin z, and the probability is counted from the mean direction, which
/// moves with η. NaN where neither tail fits into the range of numbers, as for a beta distribution whose shapes are
/// both 1e−3.
pub(crate) fn path_derivative<E: ExponentialFamily>(member: &E, z: f64) -> Parameters {
    if member.support() == Support::Circle {
        return on_the_circle(member, z);
    }
    let m = member.expectation();
    let scale = Line::through(member.support(), z);
    let slope = scale.point(0.0).1;
    let Tails { lower, upper, lower_is_whole, upper_is_whole } = tails(member, &scale, z, |y| {
        let t = member.statistics(y);
        [1.0, t[0] - m[0], t[1] - m[1], t[2] - m[2]]
    });
    // A tail that leaves the range of numbers before it has died out is not used if the other one can be.
    if !lower_is_whole && !upper_is_whole {
        return std::array::from_fn(|i| if i < member.n_free() { f64::NAN } else { 0.0 });
    }
    let from_below = if lower_is_whole == upper_is_whole { lower[0] <= upper[0] } else { lower_is_whole };
    std::array::from_fn(|i| if from_below { -slope * lower[i + 1] } else { slope * upper[i + 1] })
}

/// E\[z\] and Var\[z\] by quadrature to both sides of z, any point where there is mass; not for the circle.
pub(super) fn mean_and_variance<E: ExponentialFamily>(member: &E, z: f64) -> (f64, f64) {
    let (_, [mass, first, square]) = integrals(member, z, |y| [1.0, y - z, (y - z) * (y - z)]);
    let mean = first / mass;
    (z + mean, square / mass - mean * mean)
}

/// ∫ f q over y ≤ z and over the whole support, likewise.
pub(crate) fn integrals<E: ExponentialFamily, const N: usize>(
    member: &E,
    z: f64,
    f: impl Fn(f64) -> [f64; N],
) -> ([f64; N], [f64; N]) {
    let scale = Line::through(member.support(), z);
    let height = scale.point(0.0).1 * member.log_density(z).exp();
    let Tails { lower, upper, .. } = tails(member, &scale, z, f);
    (lower.map(|part| height * part), std::array::from_fn(|i| height * (lower[i] + upper[i])))
}

/// Coordinates u ∈ ℝ of the points of a support that is no circle, in which densities are smooth; u = 0 is z.
enum Line {
    Itself(f64),
    Logarithm(f64),
    LogOdds(f64),
}

impl Line {
    fn through(support: Support, z: f64) -> Self {
        match support {
            Support::Positive => Self::Logarithm(z),
            Support::Unit => Self::LogOdds(z / (1.0 - z)),
            Support::Real | Support::Circle | Support::Simplex => Self::Itself(z),
        }
    }

    /// y and dy/du, increasing.
    fn point(&self, u: f64) -> (f64, f64) {
        match self {
            Self::Itself(z) => (z + u, 1.0),
            Self::Logarithm(z) => {
                let y = z * u.exp();
                (y, y)
            }
            Self::LogOdds(odds) => {
                let upper = odds * u.exp();
                (
                    if upper > 1.0 { 1.0 / (1.0 + 1.0 / upper) } else { upper / (1.0 + upper) },
                    upper / (1.0 + upper).powi(2),
                )
            }
        }
    }

    /// No panel of the rule is longer.
    fn longest_panel(&self) -> f64 {
        match self {
            Self::Itself(_) => f64::INFINITY,
            Self::Logarithm(_) | Self::LogOdds(_) => LOG_PANEL,
        }
    }
}

/// Integrals to both sides of a point, relative to q(z) dz/du there, and whether the density dies out in each.
struct Tails<const N: usize> {
    lower: [f64; N],
    upper: [f64; N],
    lower_is_whole: bool,
    upper_is_whole: bool,
}

fn tails<E: ExponentialFamily, const N: usize>(
    member: &E,
    scale: &Line,
    z: f64,
    f: impl Fn(f64) -> [f64; N],
) -> Tails<N> {
    let reference = member.log_density(z) + scale.point(0.0).1.ln();
    // log of q(y) dy/du relative to its value at z.
    let log_ratio = |u: f64| {
        let (y, slope) = scale.point(u);
        let value = if slope > 0.0 { member.log_density(y) + slope.ln() } else { f64::NEG_INFINITY };
        if value.is_nan() { f64::NEG_INFINITY } else { value - reference }
    };
    let tail = |sign: f64| {
        let g = |u: f64| log_ratio(sign * u);
        let end = reach(g, DEPTH);
        let sums = graded(end, 0.25 * reach(g, 1.0).min(1.0), scale.longest_panel(), |u| {
            let ratio = g(u).exp();
            f(scale.point(sign * u).0).map(|value| ratio * value)
        });
        (sums, g(end) < 5.0 - DEPTH)
    };
    let ((lower, lower_is_whole), (upper, upper_is_whole)) = (tail(-1.0), tail(1.0));
    Tails { lower, upper, lower_is_whole, upper_is_whole }
}

/// ∫₀^end f(u) du by panels that grow from `first` to at most `longest`: they see every length from that of the density
/// at z on.
fn graded<const N: usize>(end: f64, first: f64, longest: f64, f: impl Fn(f64) -> [f64; N]) -> [f64; N] {
    let (mut left, mut right) = (0.0, first);
    let mut sums = [0.0; N];
    while left < end {
        right = right.min(end);
        let part = integrate(left, right, 1, &f);
        sums.iter_mut().zip(part).for_each(|(sum, part)| *sum += part);
        (left, right) = (right, right + (0.5 * right).min(longest));
    }
    sums
}

/// In log z and logit z densities vary on lengths of about one.
const LOG_PANEL: f64 = 2.0;
/// Tails are followed until the density has fallen by e^{−DEPTH}.
const DEPTH: f64 = 50.0;

/// The largest u > 0 at which a unimodal g with g(0) = 0 is still above −depth.
fn reach(g: impl Fn(f64) -> f64, depth: f64) -> f64 {
    let (mut inside, mut outside) = (0.0, 1.0);
    while g(outside) > -depth && outside < 1e300 {
        (inside, outside) = (outside, 2.0 * outside);
    }
    if inside == 0.0 {
        while g(0.5 * outside) <= -depth && outside > 1e-300 {
            outside *= 0.5;
        }
        inside = 0.5 * outside;
    }
    for _ in 0..40 {
        let middle = 0.5 * (inside + outside);
        if g(middle) > -depth {
            inside = middle;
        } else {
            outside = middle;
        }
    }
    inside
}

fn on_the_circle<E: ExponentialFamily>(member: &E, z: f64) -> Parameters {
    use std::f64::consts::PI;
    let (direction, _) = member.mean_and_variance();
    let m = member.expectation();
    let fisher = member.fisher();
    let square = m[0] * m[0] + m[1] * m[1];
    let log_q = member.log_density(z);
    let ratio = |y: f64| (member.log_density(y) - log_q).exp();
    let turn = ((z - direction) / (2.0 * PI)).round();
    let from = direction + 2.0 * PI * turn;
    let antipode = from + PI.copysign(z - from);
    let towards = |end: f64| {
        let sign = (end - z).signum();
        let width = reach(|u| -(member.log_density(z + sign * u) - log_q).abs(), 1.0);
        let sums = graded((end - z).abs(), 0.25 * width.min(1.0), f64::INFINITY, |u| {
            let y = z + sign * u;
            let (t, ratio) = (member.statistics(y), ratio(y));
            [ratio, ratio * (t[0] - m[0]), ratio * (t[1] - m[1]), ratio * (t[2] - m[2])]
        });
        (end, sign, sums)
    };
    // From whichever of mean direction and antipode has less mass on the way: there less cancels.
    let (one, two) = (towards(from), towards(antipode));
    let (end, sign, sums) = if one.2[0] < two.2[0] { one } else { two };
    std::array::from_fn(|i| {
        let turning = (m[0] * fisher[1][i] - m[1] * fisher[0][i]) / square;
        ratio(end) * turning + sign * sums[i + 1]
    })
}
