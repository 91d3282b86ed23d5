//! Digamma-type combinations and log-gamma differences without cancellation (mathematics §8.2, mathematics §2.1).

use super::normal::HALF_LOG_TWO_PI;

/// dl(a) = ψ(a) − log a, a > 0.
pub fn digamma_minus_log(a: f64) -> f64 {
    let (mut a, mut shift) = (a, 0.0);
    while a < 15.0 {
        shift += (1.0 / a).ln_1p() - 1.0 / a;
        a += 1.0;
    }
    let y = 1.0 / (a * a);
    const C: [f64; 7] =
        [-1.0 / 12.0, 1.0 / 120.0, -1.0 / 252.0, 1.0 / 240.0, -1.0 / 132.0, 691.0 / 32760.0, -1.0 / 12.0];
    shift - 0.5 / a + y * horner(&C, y)
}

/// ti(a) = ψ′(a) − 1/a, a > 0: the Fisher information of the shape in IG(a, a).
pub fn trigamma_minus_inv(a: f64) -> f64 {
    let (mut a, mut shift) = (a, 0.0);
    while a < 15.0 {
        shift += 1.0 / (a * a * (a + 1.0));
        a += 1.0;
    }
    let y = 1.0 / (a * a);
    const C: [f64; 7] = [1.0 / 6.0, -1.0 / 30.0, 1.0 / 42.0, -1.0 / 30.0, 5.0 / 66.0, -691.0 / 2730.0, 7.0 / 6.0];
    shift + y * (0.5 + horner(&C, y) / a)
}

/// te(a) = ψ″(a) + 1/a² = ti′(a), a > 0.
pub fn tetragamma_plus_inv2(a: f64) -> f64 {
    let (mut a, mut shift) = (a, 0.0);
    while a < 15.0 {
        shift -= (3.0 * a + 2.0) / (a * a * a * (a + 1.0) * (a + 1.0));
        a += 1.0;
    }
    let y = 1.0 / (a * a);
    const C: [f64; 7] = [-0.5, 1.0 / 6.0, -1.0 / 6.0, 3.0 / 10.0, -5.0 / 6.0, 691.0 / 210.0, -35.0 / 2.0];
    shift + y * (-1.0 / a + y * horner(&C, y))
}

/// ψ(a), a > 0; near its root 1.4616… the error is small in absolute, not in relative terms.
pub fn digamma(a: f64) -> f64 {
    digamma_minus_log(a) + a.ln()
}

/// ψ′(a), a > 0.
pub fn trigamma(a: f64) -> f64 {
    trigamma_minus_inv(a) + 1.0 / a
}

/// The a > 0 with ψ(a) − log a = y, for y < 0; NaN otherwise.
///
/// Newton's method in log a from the limits a → 0 and a → ∞ (mathematics §8.2).
pub(crate) fn inverse_digamma_minus_log(y: f64) -> f64 {
    if y.is_nan() || y >= 0.0 {
        return f64::NAN;
    }
    let mut a = if y > -1.0 {
        (-1.0 - (1.0 - 4.0 * y / 3.0).sqrt()) / (4.0 * y)
    } else if y < -3.0 {
        -1.0 / (y - (-y).ln())
    } else {
        0.5
    };
    // Converges quadratically; the cap only ends a cycle between neighbouring doubles.
    for _ in 0..60 {
        let step = -(digamma_minus_log(a) - y) / (a * trigamma_minus_inv(a));
        a *= step.clamp(-2.0, 2.0).exp();
        if step.abs() < 4.0 * f64::EPSILON {
            break;
        }
    }
    a
}

/// log Γ(a), a > 0.
#[inline]
pub fn ln_gamma(a: f64) -> f64 {
    libm::lgamma(a)
}

/// log Γ(a + x) − log Γ(a) − x log a for a > 0, x ≥ 0, without cancellation for large a (it tends to x(x−1)/2a).
pub(crate) fn ln_gamma_ratio(a: f64, x: f64) -> f64 {
    let (mut a, mut shift) = (a, 0.0);
    while a < 10.0 {
        shift += x * (1.0 / a).ln_1p() - (x / a).ln_1p();
        a += 1.0;
    }
    let b = a + x;
    // Stirling: a{log1p(x/a) − x/a} + (x − ½) log1p(x/a) + S(a+x) − S(a); the leading term of S is differenced exactly.
    let y = x / a;
    shift + a * log1p_minus(y) + (x - 0.5) * y.ln_1p() - x / (12.0 * a * b) + stirling_tail(b) - stirling_tail(a)
}

/// log Γ(a) − {(a − ½) log a − a + ½ log 2π}, the remainder of Stirling's formula, a > 0.
pub(crate) fn stirling_remainder(a: f64) -> f64 {
    if a < 10.0 {
        ln_gamma(a) - ((a - 0.5) * a.ln() - a + HALF_LOG_TWO_PI)
    } else {
        1.0 / (12.0 * a) + stirling_tail(a)
    }
}

/// log B(a, b) = log Γ(a) + log Γ(b) − log Γ(a + b).
pub fn ln_beta(a: f64, b: f64) -> f64 {
    let (small, large) = if a < b { (a, b) } else { (b, a) };
    ln_gamma(small) - ln_gamma_ratio(large, small) - small * large.ln()
}

/// log(1 + y) − y for y > −1, relatively accurate near 0.
pub(crate) fn log1p_minus(y: f64) -> f64 {
    if y.abs() > 0.25 {
        return y.ln_1p() - y;
    }
    // log(1+y) = 2 artanh(r), r = y/(2+y), and 2r − y = −r y.
    let r = y / (2.0 + y);
    let r2 = r * r;
    let (mut term, mut sum, mut k) = (2.0 * r * r2, 0.0, 3.0);
    while term.abs() > 1e-17 * r2 {
        sum += term / k;
        term *= r2;
        k += 2.0;
    }
    sum - r * y
}

/// log r − (r − 1) for r > 0, relatively accurate near 1; −∞ where it overflows.
pub(crate) fn log_minus_excess(r: f64) -> f64 {
    let excess = r - 1.0;
    if excess.abs() > 0.25 { r.min(f64::MAX).ln() - excess } else { log1p_minus(excess) }
}

/// Σ_{k≥2} B_{2k}/{2k(2k−1) y^{2k−1}}, the part of Stirling's series after 1/(12y), for y ≥ 10.
fn stirling_tail(y: f64) -> f64 {
    let z = 1.0 / (y * y);
    const C: [f64; 7] =
        [-1.0 / 360.0, 1.0 / 1260.0, -1.0 / 1680.0, 1.0 / 1188.0, -691.0 / 360360.0, 1.0 / 156.0, -3617.0 / 122400.0];
    z / y * horner(&C, z)
}

#[inline]
fn horner<const N: usize>(coefficients: &[f64; N], x: f64) -> f64 {
    coefficients.iter().rev().fold(0.0, |sum, c| sum * x + c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shape_is_recovered_from_its_expectation_parameter() {
        for i in -40..80 {
            let a = 10f64.powf(i as f64 / 8.0);
            let found = inverse_digamma_minus_log(digamma_minus_log(a));
            assert!((found / a - 1.0).abs() < 4e-15, "a = {a}: {:e}", found / a - 1.0);
        }
        assert!(inverse_digamma_minus_log(0.0).is_nan());
    }

    #[test]
    fn log_gamma_ratio_against_known_products() {
        for a in [1e-6, 0.1, 0.7, 2.0, 9.99, 10.0, 35.0, 1e4, 1e9, 1e15] {
            assert!(ln_gamma_ratio(a, 0.0).abs() < 1e-16 && ln_gamma_ratio(a, 1.0).abs() < 2e-15);
            // Γ(a+3)/(Γ(a) a³) = (1 + 1/a)(1 + 2/a).
            let exact = (1.0 / a).ln_1p() + (2.0 / a).ln_1p();
            assert!((ln_gamma_ratio(a, 3.0) / exact - 1.0).abs() < 3e-15, "a = {a}");
        }
        // log Γ(100.5) − log Γ(0.5) − 100 log 0.5 from Γ(n+½) = (2n)! √π/(4ⁿ n!).
        let exact = ln_gamma(201.0) - ln_gamma(101.0) - 100.0 * 4f64.ln() - 100.0 * 0.5f64.ln();
        assert!((ln_gamma_ratio(0.5, 100.0) / exact - 1.0).abs() < 1e-14);
        assert!((ln_beta(2.0, 3.0) - (1.0f64 / 12.0).ln()).abs() < 1e-15);
        assert!((ln_beta(1e10, 0.5) - (0.5 * std::f64::consts::PI.ln() - 0.5 * 1e10f64.ln())).abs() < 1e-10);
    }

    #[test]
    fn stirling_remainder_joins_and_decays() {
        assert!((stirling_remainder(10f64.next_down()) - stirling_remainder(10.0)).abs() < 1e-14);
        assert!((stirling_remainder(1e6) * 12e6 - 1.0).abs() < 1e-12);
    }

    #[test]
    fn log1p_minus_joins_and_has_the_right_limit() {
        assert!((log1p_minus(1e-9) / -5e-19 - 1.0).abs() < 1e-9);
        for y in [-0.25f64, 0.25] {
            let (inner, outer) = (log1p_minus(y * (1.0 - 1e-12)), log1p_minus(y * (1.0 + 1e-12)));
            assert!((inner - outer).abs() < 1e-12);
        }
        assert!((log1p_minus(0.2) - (1.2f64.ln() - 0.2)).abs() < 1e-16);
    }
}
