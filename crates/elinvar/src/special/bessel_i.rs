//! The modified Bessel functions I₀ and I₁ as the von Mises distribution needs them (mathematics §5.2).

use std::f64::consts::PI;

/// What is needed of I₀(κ) and I₁(κ), in forms that neither overflow nor cancel for κ from 0 to 1e100.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct BesselI {
    /// log I₀(κ); relatively accurate for small κ.
    pub log: f64,
    /// log{I₀(κ) e^{−κ}}.
    pub log_scaled: f64,
    /// A(κ) = I₁(κ)/I₀(κ) = E[cos θ].
    pub ratio: f64,
    /// 1 − A(κ).
    pub complement: f64,
    /// A(κ)/κ; ½ at 0.
    pub ratio_over_kappa: f64,
    /// A′(κ) = Var(cos θ) = 1 − A² − A/κ.
    pub slope: f64,
}

/// From here on the integrand e^{κ(cos θ − 1)} is negligible long before the antipode.
const LARGE: f64 = 30.0;

/// I₀ and I₁ at κ ≥ 0; NaN outside.
pub(crate) fn bessel_i(kappa: f64) -> BesselI {
    if !(0.0..f64::INFINITY).contains(&kappa) {
        let nan = f64::NAN;
        return BesselI { log: nan, log_scaled: nan, ratio: nan, complement: nan, ratio_over_kappa: nan, slope: nan };
    }
    if kappa < LARGE { periodic(kappa) } else { concentrated(kappa) }
}

/// The trapezoid sum over the circle, whose error with 4n points is of the order of I_{4n}(κ)/I₀(κ). The four points ±θ
/// and π ± θ are taken together, so that all sums are of positive terms.
fn periodic(kappa: f64) -> BesselI {
    const N: usize = 20;
    let (mut even, mut odd, mut excess) = (0.0, 0.0, 0.0);
    let cosines: [f64; N] = std::array::from_fn(|j| ((j as f64 + 0.5) * PI / (2 * N) as f64).cos());
    for c in cosines {
        let x = kappa * c;
        let half = (0.5 * x).sinh();
        excess += 2.0 * half * half;
        even += x.cosh();
        odd += c * if kappa > 0.0 { x.sinh() / kappa } else { c };
    }
    let ratio_over_kappa = odd / even;
    let ratio = kappa * ratio_over_kappa;
    // 1 − A and Var(cos θ) are means over c and −c with weights e^{±κc}.
    let (mut gap, mut spread) = (0.0, 0.0);
    for c in cosines {
        let grow = (kappa * c).exp();
        let (below, above) = (c - ratio, c + ratio);
        gap += 0.5 * (grow * (1.0 - c) + (1.0 + c) / grow);
        spread += 0.5 * (grow * below * below + above * above / grow);
    }
    let log = (excess / N as f64).ln_1p();
    BesselI { log, log_scaled: log - kappa, ratio, complement: gap / even, ratio_over_kappa, slope: spread / even }
}

/// With y = √(2κ) sin(θ/2) the weight is e^{−y²}/√(1 − y²/2κ), to which the trapezoid rule converges like
/// e^{−π²/step²}.
fn concentrated(kappa: f64) -> BesselI {
    const STEP: f64 = 0.42;
    let (mut total, mut first, mut second) = (0.5, 0.0, 0.0);
    for j in 1..=16 {
        let y = STEP * f64::from(j);
        let x = y * y;
        let weight = (-x).exp() / (1.0 - x / (2.0 * kappa)).sqrt();
        // x = κ(1 − cos θ).
        total += weight;
        first += weight * x;
        second += weight * x * x;
    }
    let (mean, square) = (first / total, second / total);
    let log_scaled = (STEP * total * 2.0 / (PI * (2.0 * kappa).sqrt())).ln();
    let complement = mean / kappa;
    let ratio = 1.0 - complement;
    BesselI {
        log: log_scaled + kappa,
        log_scaled,
        ratio,
        complement,
        ratio_over_kappa: ratio / kappa,
        slope: (square - mean * mean) / kappa / kappa,
    }
}

/// The κ ≥ 0 with A(κ) = r, for 0 ≤ r < 1, given 1 − r; NaN otherwise.
///
/// Newton's method in log κ from the limits r → 0 and r → 1.
pub(crate) fn inverse_bessel_ratio(r: f64, complement: f64) -> f64 {
    let valid = r >= 0.0 && complement > 0.0;
    if !valid {
        return f64::NAN;
    }
    if r == 0.0 {
        return 0.0;
    }
    let mut kappa = if r < 0.5 { 2.0 * r + r * r * r } else { 0.5 / complement + 0.25 };
    // Converges quadratically; the cap only ends a cycle between neighbouring doubles.
    for _ in 0..60 {
        let b = bessel_i(kappa);
        let gap = if r < 0.5 { r - b.ratio } else { b.complement - complement };
        let step = gap / (kappa * b.slope);
        kappa *= step.clamp(-2.0, 2.0).exp();
        if step.abs() < 4.0 * f64::EPSILON {
            break;
        }
    }
    kappa
}

#[cfg(test)]
mod tests {
    use super::*;

    /// I_n(κ) Σ-series scaled by (2/κ)ⁿ: positive terms, so accurate for every moderate κ.
    fn series(n: f64, kappa: f64) -> f64 {
        let q = 0.25 * kappa * kappa;
        let (mut term, mut sum, mut k) = (1.0, 0.0, 0.0);
        while term > 1e-18 * sum {
            sum += term;
            k += 1.0;
            term *= q / (k * (k + n));
        }
        sum
    }

    #[test]
    fn power_series_up_to_kappa_100() {
        for i in 0..400 {
            let kappa = 1e-6 * 10f64.powf(f64::from(i) / 50.0);
            let b = bessel_i(kappa);
            // A/κ = ½ S₁/S₀ with S_n = Σ (κ²/4)ᵏ n!/(k!(k+n)!); A′ = ½ + ½ I₂/I₀ − A².
            let (s0, s1, s2) = (series(0.0, kappa), series(1.0, kappa), series(2.0, kappa));
            let exact = 0.5 * s1 / s0;
            assert!(
                (b.ratio_over_kappa / exact - 1.0).abs() < 2e-15,
                "A at {kappa}: {:e}",
                b.ratio_over_kappa / exact - 1.0
            );
            // S₀ − 1 = (κ²/4) Σ (κ²/4)ᵏ/(k+1)!², from its own terms.
            let (mut term, mut excess, mut k) = (0.25 * kappa * kappa, 0.0, 1.0);
            while term > 1e-18 * excess {
                excess += term;
                k += 1.0;
                term *= 0.25 * kappa * kappa / (k * k);
            }
            let exact = excess.ln_1p();
            assert!((b.log / exact - 1.0).abs() < 4e-15, "log I₀ at {kappa}: {:e}", b.log / exact - 1.0);
            let slope = 0.5 + kappa * kappa / 16.0 * s2 / s0 - b.ratio * b.ratio;
            assert!((b.slope - slope).abs() < 2e-15, "A′ at {kappa}: {} against {slope}", b.slope);
            assert!((b.complement + b.ratio - 1.0).abs() < 1e-15);
        }
        let zero = bessel_i(0.0);
        assert_eq!((zero.log, zero.ratio), (0.0, 0.0));
        assert!((zero.ratio_over_kappa - 0.5).abs() < 1e-16 && (zero.slope - 0.5).abs() < 1e-15);
    }

    #[test]
    fn asymptotic_series_from_kappa_200_on() {
        for kappa in [200.0, 1e3, 4e4, 1e6, 1e12] {
            // I_n e^{−κ}√(2πκ) = Σ (−1)ᵏ Π{4n² − (2j−1)²}/(k!(8κ)ᵏ); the complement and A′ follow term by term.
            let x: f64 = 1.0 / kappa;
            let sums = |n: f64| {
                let (mut term, mut sum) = (1.0, 0.0);
                for k in 1..=12 {
                    sum += term;
                    let k = f64::from(k);
                    term *= -(4.0 * n * n - (2.0 * k - 1.0).powi(2)) * x / (8.0 * k);
                }
                sum
            };
            let b = bessel_i(kappa);
            let log_scaled = sums(0.0).ln() - 0.5 * (2.0 * PI * kappa).ln();
            assert!((b.log_scaled - log_scaled).abs() < 1e-14, "log I₀ at {kappa}");
            // 1 − A = ½x + x²/8 + x³/8 + 25x⁴/128 + 13x⁵/32 + 1073x⁶/1024 + …, A′ its derivative.
            let c = [0.5, 0.125, 0.125, 25.0 / 128.0, 13.0 / 32.0, 1073.0 / 1024.0];
            let complement: f64 = c.iter().enumerate().map(|(k, c)| c * x.powi(k as i32 + 1)).sum();
            let slope: f64 = c.iter().enumerate().map(|(k, c)| (k + 1) as f64 * c * x.powi(k as i32 + 2)).sum();
            let rest = 10.0 * x.powi(6);
            assert!((b.complement / complement - 1.0).abs() < 4e-15 + rest, "1 − A at {kappa}");
            assert!((b.slope / slope - 1.0).abs() < 1e-14 + 10.0 * rest, "A′ at {kappa}: {:e}", b.slope / slope - 1.0);
        }
    }

    #[test]
    fn branches_join_and_the_ratio_is_inverted() {
        let (below, above) = (periodic(LARGE), concentrated(LARGE));
        assert!((below.log_scaled - above.log_scaled).abs() < 1e-14);
        assert!(
            (below.slope / above.slope - 1.0).abs() < 1e-13
                && (below.complement / above.complement - 1.0).abs() < 1e-13
        );
        for i in 0..120 {
            let kappa = 1e-6 * 10f64.powf(f64::from(i) / 10.0);
            let b = bessel_i(kappa);
            let found = inverse_bessel_ratio(b.ratio, b.complement);
            assert!((found / kappa - 1.0).abs() < 3e-14, "κ = {kappa}: {:e}", found / kappa - 1.0);
        }
        assert!(inverse_bessel_ratio(1.0, 0.0).is_nan() && bessel_i(-1.0).ratio.is_nan());
    }
}
