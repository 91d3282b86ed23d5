//! The law of s = 4K², K the limit of Kolmogorov's statistic: the scale of a logistic variable (mathematics §10.6).

use std::f64::consts::{LN_2, PI};

/// Where the two series of the distribution converge equally fast.
const MIDDLE: f64 = PI;
/// π²/2.
const C: f64 = 0.5 * PI * PI;
/// log 2√(2π).
const LOG_FACTOR: f64 = 1.612_085_713_764_618;

/// log of the density Σ (−1)^{k−1} k² e^{−k²s/2} of s.
pub(crate) fn log_density(s: f64) -> f64 {
    if s.is_nan() || s <= 0.0 {
        return f64::NEG_INFINITY;
    }
    if s < MIDDLE {
        // 2√(2π) s^{−3/2} Σ e^{−c_k/s}(c_k/s − ½), c_k = (2k−1)²π²/2.
        let y = C / s;
        let tail = (-8.0 * y).exp() * (9.0 * y - 0.5) + (-24.0 * y).exp() * (25.0 * y - 0.5);
        LOG_FACTOR - 1.5 * s.ln() - y + (y - 0.5 + tail).ln()
    } else {
        let e = (-0.5 * s).exp();
        let term = |k: i32| f64::from(k * k) * e.powi(k * k - 1);
        -0.5 * s + (term(3) - term(2) - term(4) + term(5)).ln_1p()
    }
}

/// (log P(S ≤ s), log P(S > s)); the smaller of the two is accurate.
fn log_tails(s: f64) -> (f64, f64) {
    if s < MIDDLE {
        let y = C / s;
        let lower = LOG_FACTOR - 0.5 * s.ln() - y + ((-8.0 * y).exp() + (-24.0 * y).exp()).ln_1p();
        (lower, (-lower.exp()).ln_1p())
    } else {
        let e = (-0.5 * s).exp();
        let upper = LN_2 - 0.5 * s + (e.powi(8) - e.powi(3) - e.powi(15)).ln_1p();
        ((-upper.exp()).ln_1p(), upper)
    }
}

/// The s with P(S ≤ s) = u, for u in the open unit interval.
pub(crate) fn quantile(u: f64) -> f64 {
    let upper_half = u > 0.5;
    let goal = if upper_half { (-u).ln_1p() } else { u.ln() };
    let mut s = if upper_half { 2.0 * (LN_2 - goal) } else { C / (1.0 - goal) };
    // Newton's method in log s for the logarithm of the smaller tail, which is concave in it.
    for _ in 0..60 {
        let (lower, upper) = log_tails(s);
        let log_slope = log_density(s) + s.ln();
        let step = if upper_half {
            (upper - goal) / (log_slope - upper).exp()
        } else {
            (goal - lower) / (log_slope - lower).exp()
        };
        s *= step.clamp(-1.0, 1.0).exp();
        if step.abs() < 1e-14 {
            break;
        }
    }
    s
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_density_has_the_listed_moments_and_its_series_meet() {
        let step = 1e-3;
        let mut sums = [0.0; 3];
        for i in -4_000..6_000 {
            let s = (f64::from(i) * step).exp();
            let mass = log_density(s).exp() * s * step;
            [1.0, s, 1.0 / s].iter().zip(&mut sums).for_each(|(f, sum)| *sum += f * mass);
        }
        for (found, expected) in sums.iter().zip([1.0, PI * PI / 3.0, 0.426_278_398_817_505_8]) {
            assert!((found / expected - 1.0).abs() < 1e-13, "{found} and {expected}");
        }
        let (below, above) = (log_density(MIDDLE * (1.0 - 1e-12)), log_density(MIDDLE * (1.0 + 1e-12)));
        assert!((below - above).abs() < 1e-11, "{below} {above}");
    }

    #[test]
    fn quantiles_invert_the_distribution() {
        for u in [1e-300, 1e-12, 1e-3, 0.2, 0.5, 0.500_001, 0.77, 0.99, 1.0 - 1e-12] {
            let (lower, upper) = log_tails(quantile(u));
            let (found, expected) = if u > 0.5 { (upper, (-u).ln_1p()) } else { (lower, f64::ln(u)) };
            assert!((found - expected).abs() < 1e-12 * (1.0 + expected.abs()), "{u}: {found} and {expected}");
        }
        // P(K ≤ 1.3581) = 0.95: the usual table.
        assert!((quantile(0.95) - 4.0 * 1.358_098_8f64.powi(2)).abs() < 1e-5);
    }
}
