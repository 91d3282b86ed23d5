//! The modified Bessel function of the second kind: its logarithm, ratios of neighbours, and their growth (mathematics
//! §8.3).

use std::f64::consts::{FRAC_PI_2, PI};

/// What is needed of K_v(x), in forms that neither overflow nor cancel for v ≥ 0 and x from 1e−100 to 1e100.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BesselK {
    /// log(K_v(x) eˣ).
    pub log_scaled: f64,
    /// K_{v−1}(x)/K_v(x).
    pub ratio: f64,
    /// K_{v+1}(x)/K_v(x).
    pub upper_ratio: f64,
    /// K_{v+2}(x)/K_{v+1}(x) − K_{v+1}(x)/K_v(x) − 1/x.
    growth_excess: f64,
    v: f64,
    x: f64,
}

impl BesselK {
    /// K_{v+2}/K_v − (K_{v+1}/K_v)² > 0: the variance of w under the density ∝ w^{v−1} exp{−x(w + 1/w)/2}.
    pub fn turan(&self) -> f64 {
        self.upper_ratio * (1.0 / self.x + self.growth_excess)
    }

    /// (log K_v)′(x) = −K_{v−1}/K_v − v/x (mathematics §4.3).
    pub fn log_derivative(&self) -> f64 {
        -self.ratio - self.v / self.x
    }

    /// (log K_v)″(x) (mathematics §4.3), without its cancellation for large x.
    pub fn log_second_derivative(&self) -> f64 {
        // 1 − R² + (1−2v)R/x + v/x² = ρ(δ − 1/x) − v/x² with ρ = K_{v+1}/K_v and δ its growth from v to v + 1.
        self.upper_ratio * self.growth_excess - self.v / (self.x * self.x)
    }
}

/// K_v(x) for v ≥ 0 and x > 0, in O(v) operations; NaN outside.
pub fn bessel_k(v: f64, x: f64) -> BesselK {
    if !(v >= 0.0 && x > 0.0 && v.is_finite()) {
        let nan = f64::NAN;
        return BesselK { log_scaled: nan, ratio: nan, upper_ratio: nan, growth_excess: nan, v, x };
    }
    let doubled = 2.0 * v;
    let half_integer = doubled == doubled.floor() && doubled % 2.0 == 1.0;
    let steps = if half_integer { v - 0.5 } else { (v + 0.5).floor() };
    let mu = v - steps;
    let base = if half_integer {
        Base { log_scaled: 0.5 * (FRAC_PI_2 / x).ln(), excess: 1.0 / x, lower_excess: 0.0, growth_excess: 0.0 }
    } else if x <= 2.0 {
        Base::temme(mu, x)
    } else {
        Base::steed(mu, x)
    };
    let Base { mut log_scaled, mut excess, lower_excess, mut growth_excess } = base;
    let mut ratio = 1.0 + lower_excess;
    let mut product = 1.0;
    // With order μ + k: ρ = K_{+1}/K = 1 + excess, ratio = K_{−1}/K = 1/ρ₋; ρ = 2(μ+k)/x + 1/ρ₋ gives the recurrences
    // of the excess and of the growth ρ₊ − ρ = 1/x + growth_excess. No sum in them is much smaller than its terms.
    let mut order = mu;
    loop {
        let rho = 1.0 + excess;
        growth_excess = (2.0 * order / (x * x) - growth_excess * ratio) / rho;
        if order >= v {
            log_scaled += f64::ln(product);
            return BesselK { log_scaled, ratio, upper_ratio: rho, growth_excess, v, x };
        }
        product *= rho;
        if product > 1e100 {
            log_scaled += f64::ln(product);
            product = 1.0;
        }
        order += 1.0;
        ratio = 1.0 / rho;
        excess = 2.0 * order / x - excess * ratio;
    }
}

/// Algebraic bounds of K_{v−1}(x)/K_v(x), valid for v ≥ ½: (lower, upper) = (D_{2v−1}, D₀).
///
/// Paper: App. G, App. H.
pub fn paper_ratio_bounds(v: f64, x: f64) -> (f64, f64) {
    let bound = |psi: f64| x / (psi + psi.hypot(x));
    let tau = v - 0.5;
    // ψ₀ = τ − τ/(2h), h = √(τ² + x²), without the cancellation at v = 1.
    let doubled = 2.0 * tau.hypot(x);
    let psi = tau * ((2.0 * tau - 1.0) * (2.0 * tau + 1.0) + 4.0 * x * x) / (doubled * (doubled + 1.0));
    (bound(tau), bound(psi))
}

/// The paper's approximation of K_{v−1}(x)/K_v(x), the mean of its two bounds: exact at v = ½ only, 25 % off at v =
/// 3/2.
///
/// Paper: App. G, App. H.
pub fn paper_ratio(v: f64, x: f64) -> f64 {
    let (lower, upper) = paper_ratio_bounds(v, x);
    0.5 * (lower + upper)
}

/// Values at the order μ, |μ| ≤ ½, from which the recurrence starts.
struct Base {
    /// log(K_μ eˣ).
    log_scaled: f64,
    /// K_{μ+1}/K_μ − 1.
    excess: f64,
    /// K_{μ−1}/K_μ − 1.
    lower_excess: f64,
    /// K_{μ+1}/K_μ − K_μ/K_{μ−1} − 1/x.
    growth_excess: f64,
}

impl Base {
    /// Temme's series, for x ≤ 2.
    fn temme(mu: f64, x: f64) -> Self {
        let (k, k_upper) = temme_pair(mu, x);
        let rho = k_upper / k;
        // For 0 < μ, ρ − 2μ/x would cancel: K_{μ−1} = K_{1−μ} has its own series.
        let ratio = if mu > 0.0 { temme_pair(-mu, x).1 / k } else { rho - 2.0 * mu / x };
        Self {
            log_scaled: k.ln() + x,
            excess: rho - 1.0,
            lower_excess: ratio - 1.0,
            growth_excess: rho - 1.0 / ratio - 1.0 / x,
        }
    }

    /// Steed's continued fraction, for x > 2.
    fn steed(mu: f64, x: f64) -> Self {
        let a1 = 0.25 - mu * mu;
        let mut b = 2.0 * (1.0 + x);
        let mut d = 1.0 / b;
        let mut delta = d;
        let mut h = d;
        let (mut q1, mut q2) = (0.0, 1.0);
        let (mut q, mut c, mut a) = (a1, a1, -a1);
        let mut s = 1.0 + q * delta;
        let mut i = 2.0;
        loop {
            a -= 2.0 * (i - 1.0);
            c = -a * c / i;
            let next = (q1 - b * q2) / a;
            (q1, q2) = (q2, next);
            q += c * next;
            b += 2.0;
            d = 1.0 / (b + a * d);
            delta *= b * d - 1.0;
            h += delta;
            s += q * delta;
            // At x > 2 some 60 terms are enough; the cap guards the loop against NaN.
            if (q * delta / s).abs() < 0.1 * f64::EPSILON || i > 500.0 {
                break;
            }
            i += 1.0;
        }
        let shift = a1 * h;
        let excess = (0.5 + mu - shift) / x;
        let lower_excess = (0.5 - mu - shift) / x;
        let numerator = -2.0 * shift / x - lower_excess * (0.5 - mu + shift) / x;
        Self {
            log_scaled: 0.5 * (FRAC_PI_2 / x).ln() - s.ln(),
            excess,
            lower_excess,
            growth_excess: numerator / (1.0 + lower_excess),
        }
    }
}

/// (K_μ, K_{μ+1}) for |μ| ≤ ½ and x ≤ 2.
fn temme_pair(mu: f64, x: f64) -> (f64, f64) {
    // 1/Γ(1 ± μ) = even ± μ·odd.
    let mu2 = mu * mu;
    let even = RECIPROCAL_GAMMA.iter().rev().fold(0.0, |sum, c| sum * mu2 + c[0]);
    let odd = RECIPROCAL_GAMMA.iter().rev().fold(0.0, |sum, c| sum * mu2 + c[1]);
    let sigma = (2.0 / x).ln();
    let e = mu * sigma;
    let sinhc = if e.abs() < 1e-8 { 1.0 } else { e.sinh() / e };
    let reflection = if mu == 0.0 { 1.0 } else { PI * mu / (PI * mu).sin() };
    let mut f = reflection * (-odd * e.cosh() + even * sinhc * sigma);
    let mut p = 0.5 * e.exp() / (even + mu * odd);
    let mut q = 0.5 * (-e).exp() / (even - mu * odd);
    let quarter = 0.25 * x * x;
    let (mut gamma, mut k, mut k_upper, mut i) = (1.0, f, p, 1.0);
    loop {
        f = (i * f + p + q) / (i * i - mu2);
        gamma *= quarter / i;
        p /= i - mu;
        q /= i + mu;
        let term = gamma * f;
        k += term;
        k_upper += gamma * (p - i * f);
        if term < 0.01 * f64::EPSILON * k || i > 60.0 {
            return (k, k_upper * 2.0 / x);
        }
        i += 1.0;
    }
}

/// Taylor coefficients c_{2k}, c_{2k+1} of 1/Γ(1 + x).
const RECIPROCAL_GAMMA: [[f64; 2]; 14] = [
    [1.0, 0.577_215_664_901_532_9],
    [-0.655_878_071_520_253_9, -0.042_002_635_034_095_24],
    [0.166_538_611_382_291_5, -0.042_197_734_555_544_33],
    [-0.009_621_971_527_876_973, 0.007_218_943_246_663_1],
    [-0.001_165_167_591_859_065_2, -0.000_215_241_674_114_951],
    [0.000_128_050_282_388_116_2, -0.000_020_134_854_780_788_2],
    [-0.000_001_250_493_482_142_7, 0.000_001_133_027_231_981_7],
    [-0.000_000_205_633_841_697_8, 0.000_000_006_116_095_104_5],
    [0.000_000_005_002_007_644_5, -0.000_000_001_181_274_570_5],
    [0.000_000_000_104_342_671_2, 0.000_000_000_007_782_263_4],
    [-0.000_000_000_003_696_805_6, 0.000_000_000_000_510_037],
    [-0.000_000_000_000_020_583_3, -0.000_000_000_000_005_348_1],
    [0.000_000_000_000_001_226_8, -0.000_000_000_000_000_118_1],
    [0.000_000_000_000_000_001_2, 0.000_000_000_000_000_001_4],
];

#[cfg(test)]
mod reference;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_high_precision() {
        for [v, x, log_scaled, ratio, upper_ratio] in reference::REFERENCE {
            let k = bessel_k(v, x);
            assert!((k.log_scaled - log_scaled).abs() < 2e-13, "log at {v}, {x}");
            assert!((k.ratio / ratio - 1.0).abs() < 2e-13, "ratio at {v}, {x}");
            assert!((k.upper_ratio / upper_ratio - 1.0).abs() < 2e-13, "upper ratio at {v}, {x}");
        }
    }

    #[test]
    fn half_integers_have_closed_forms() {
        for x in [1e-6, 0.3, 4.0, 1e5] {
            assert_eq!(bessel_k(0.5, x).ratio, 1.0);
            let k = bessel_k(1.5, x);
            assert!((k.ratio * (1.0 + x) / x - 1.0).abs() < 4e-16);
            // K_{5/2}/K_{3/2} = (x² + 3x + 3)/(x(x+1)) and K_{7/2}/K_{5/2} = (x³ + 6x² + 15x + 15)/(x(x² + 3x + 3)).
            let upper = (x * x + 3.0 * x + 3.0) / (x * (x + 1.0));
            let growth = (x.powi(3) + 6.0 * x * x + 12.0 * x + 6.0) / (x * (x + 1.0) * (x * x + 3.0 * x + 3.0));
            assert!(
                (k.turan() / (upper * growth) - 1.0).abs() < 1e-15,
                "{x}: {:e}",
                k.turan() / (upper * growth) - 1.0
            );
        }
    }

    #[test]
    fn the_papers_bounds_hold_and_their_mean_is_as_bad_as_stated() {
        for v in [0.5, 1.0, 1.5, 3.0, 20.0] {
            for x in [1e-3, 0.1, 1.0, 30.0, 1e3] {
                let ((lower, upper), exact) = (paper_ratio_bounds(v, x), bessel_k(v, x).ratio);
                assert!(lower <= exact * (1.0 + 1e-14) && exact <= upper * (1.0 + 1e-14), "{v} {x}");
            }
        }
        assert!((paper_ratio(1.0, 1e-3) / bessel_k(1.0, 1e-3).ratio - 71.0).abs() < 1.0);
        assert!(bessel_k(-1.0, 1.0).ratio.is_nan() && bessel_k(1.0, 0.0).ratio.is_nan());
    }
}
