//! The rising factorial (a)_n = a(a+1)…(a+n−1) = Γ(a+n)/Γ(a): logarithms of ratios and their derivatives without
//! cancellation.
//!
//! Few factors are summed one by one. Otherwise the first factors are, until a ≥ [`LARGE`], and the rest is a
//! difference of Stirling series in which the large terms have been cancelled on paper (mathematics §9.1, mathematics
//! §2).

use crate::special::gamma::ln_gamma_ratio;

/// Up to this many factors are summed one by one.
const FEW: u64 = 48;
/// From here on the series below are exact to rounding.
const LARGE: f64 = 20.0;

/// log (a)_n − log (b)_n, where a − b is given as `difference`.
pub(super) fn log_ratio(a: f64, b: f64, difference: f64, n: u64) -> f64 {
    let first = if n <= FEW { n } else { n_first(a.min(b)) };
    let mut sum = 0.0;
    for i in 0..first {
        let (x, y) = (a + i as f64, b + i as f64);
        let ratio = x / y;
        sum += if ratio < 0.5 { ratio.ln() } else { (difference / y).ln_1p() };
    }
    if n <= FEW {
        return sum;
    }
    let (a, b, n) = (a + first as f64, b + first as f64, (n - first) as f64);
    let (s, t) = (n / a, n / b);
    let ratio = (a + n) / (b + n);
    let log_ratio = if ratio < 0.5 { ratio.ln() } else { (difference / (b + n)).ln_1p() };
    // log (a)_n = a(log(1 + n/a) − n/a) − ½ log(1 + n/a) + n log(a + n) + c(a + n) − c(a).
    sum + (a * ln_1p_minus(s) - b * ln_1p_minus(t)) - 0.5 * (s.ln_1p() - t.ln_1p())
        + n * log_ratio
        + ((correction(a + n) - correction(a)) - (correction(b + n) - correction(b)))
}

/// log (a)_n − n log a = Σ log(1 + i/a) over i < n, for a > 0.
///
/// Of few factors the product is taken, up to sixteen for each logarithm: what a logarithm of each would take is
/// most of the time of a regression on counts.
pub(super) fn log_rise(a: f64, n: u64) -> f64 {
    /// (1 + FEW/a)^FACTORS is finite for every a that is not below `SMALLEST`.
    const FACTORS: u64 = 16;
    const SMALLEST: f64 = 1e-15;
    if n > FEW || a < SMALLEST {
        return ln_gamma_ratio(a, n as f64);
    }
    let mut sum = 0.0;
    let mut next = 1;
    while next < n {
        let end = n.min(next + FACTORS);
        // The product minus one, which keeps its digits where all factors are near one.
        let rise = (next..end).fold(0.0, |rise, i| rise + (1.0 + rise) * (i as f64 / a));
        sum += f64::ln_1p(rise);
        next = end;
    }
    sum
}

/// ψ(a + n) − ψ(a) and ψ′(a + n) − ψ′(a), that is Σ 1/(a+i) and −Σ 1/(a+i)².
pub(super) fn polygamma_rises(a: f64, n: u64) -> [f64; 2] {
    let first = if n <= FEW { n } else { n_first(a) };
    let (mut digamma, mut trigamma) = (0.0, 0.0);
    for i in 0..first {
        let inverse = 1.0 / (a + i as f64);
        digamma += inverse;
        trigamma -= inverse * inverse;
    }
    if n <= FEW {
        return [digamma, trigamma];
    }
    let (a, n) = (a + first as f64, (n - first) as f64);
    let b = a + n;
    // 1/a − 1/b, the leading term of both.
    let leading = n / (a * b);
    let [digamma_a, trigamma_a] = polygamma_corrections(a);
    let [digamma_b, trigamma_b] = polygamma_corrections(b);
    [
        digamma + (n / a).ln_1p() + 0.5 * leading + (digamma_b - digamma_a),
        trigamma - leading - 0.5 * leading * (1.0 / a + 1.0 / b) + (trigamma_b - trigamma_a),
    ]
}

fn n_first(a: f64) -> u64 {
    (LARGE - a).ceil().max(0.0) as u64
}

/// log(1 + t) − t for t ≥ 0.
fn ln_1p_minus(t: f64) -> f64 {
    if t > 0.25 {
        return t.ln_1p() - t;
    }
    // log(1 + t) = 2 atanh(s) with s = t/(2 + t), and 2s − t = −st.
    let s = t / (2.0 + t);
    let square = s * s;
    let mut series = 0.0;
    for k in (1..=12).rev() {
        series = square * (1.0 / f64::from(2 * k + 1) + series);
    }
    s * (2.0 * series - t)
}

/// log Γ(a) − {(a − ½) log a − a + ½ log 2π}.
fn correction(a: f64) -> f64 {
    let inverse = 1.0 / a;
    let square = inverse * inverse;
    inverse
        * (1.0 / 12.0
            - square * (1.0 / 360.0 - square * (1.0 / 1260.0 - square * (1.0 / 1680.0 - square * (1.0 / 1188.0)))))
}

/// ψ(a) − log a + 1/(2a) and ψ′(a) − 1/a − 1/(2a²).
fn polygamma_corrections(a: f64) -> [f64; 2] {
    let inverse = 1.0 / a;
    let square = inverse * inverse;
    let digamma = -square
        * (1.0 / 12.0 - square * (1.0 / 120.0 - square * (1.0 / 252.0 - square * (1.0 / 240.0 - square / 132.0))));
    let trigamma = square
        * inverse
        * (1.0 / 6.0 - square * (1.0 / 30.0 - square * (1.0 / 42.0 - square * (1.0 / 30.0 - square * 5.0 / 66.0))));
    [digamma, trigamma]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_series_agree_with_the_sums() {
        for (a, b) in
            [(1e-3, 2.0), (0.7, 0.5), (3.3, 900.0), (25.0, 24.5), (2980.0, 2983.3), (1e6, 1.001e6), (4e9, 4e9)]
        {
            for n in [49, 100, 3461] {
                let mut sums = [0.0; 3];
                for i in (0..n).rev() {
                    let (x, y) = (a + i as f64, b + i as f64);
                    sums[0] += if x / y < 0.5 { (x / y).ln() } else { ((a - b) / y).ln_1p() };
                    sums[1] += 1.0 / x;
                    sums[2] -= 1.0 / (x * x);
                }
                let [digamma, trigamma] = polygamma_rises(a, n);
                let found = [log_ratio(a, b, a - b, n), digamma, trigamma];
                // The leading terms of the logarithm, which cancel, are of size n.
                let size = [sums[0].abs().max(1e-2 * n as f64), sums[1], sums[2].abs()];
                for ((found, expected), size) in found.iter().zip(&sums).zip(&size) {
                    assert!((found - expected).abs() <= 1e-13 * size, "a={a} b={b} n={n}: {found} and {expected}");
                }
            }
        }
    }

    #[test]
    fn products_of_few_factors_agree_with_sums() {
        for a in [1e-15, 1e-3, 0.5, 3.3, 25.0, 1e6, 1e12] {
            for n in [0, 1, 2, 16, 17, 18, 33, 48, 49, 500] {
                let expected: f64 = (1..n).rev().map(|i| (i as f64 / a).ln_1p()).sum();
                let found = log_rise(a, n);
                assert!((found - expected).abs() <= 1e-13 * expected.abs(), "a={a} n={n}: {found} and {expected}");
            }
        }
    }

    #[test]
    fn a_huge_argument_keeps_the_small_difference() {
        // log (K(1−η))_n − log (K)_n = n log(1 − η) + n(n−1)/(2K) η/(1−η) + O(n³/K²).
        let (k, eta, n) = (1e15, 1e-3, 53_637);
        let found = log_ratio(k * (1.0 - eta), k, -k * eta, n);
        let n = n as f64;
        let expected = n * (-eta).ln_1p() + 0.5 * n * (n - 1.0) / k * eta / (1.0 - eta);
        assert!((found - expected).abs() < 2e-14 * expected.abs(), "{found} and {expected}");
    }
}
