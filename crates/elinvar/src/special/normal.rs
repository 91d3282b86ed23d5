//! The tails of the normal law: log Φ, the Mills ratio and the moments of a truncated normal (mathematics §8.1).

use std::f64::consts::{FRAC_1_SQRT_2, PI};

use errorfunctions::RealErrorFunctions;

/// ½ log 2π.
pub const HALF_LOG_TWO_PI: f64 = 0.918_938_533_204_672_8;
const SQRT_HALF_PI: f64 = 1.253_314_137_315_500_3;

/// φ(t), the standard normal density.
#[inline]
pub(crate) fn normal_density(t: f64) -> f64 {
    (-0.5 * t * t).exp() / (2.0 * PI).sqrt()
}

/// Φ(t), the standard normal distribution function, with relative accuracy in the lower tail.
#[inline]
pub(crate) fn normal_cdf(t: f64) -> f64 {
    0.5 * libm::erfc(-t * FRAC_1_SQRT_2)
}

/// log Φ(t).
pub fn log_ndtr(t: f64) -> f64 {
    if t > 0.0 {
        (-0.5 * libm::erfc(t * FRAC_1_SQRT_2)).ln_1p()
    } else if t > -1.0 {
        normal_cdf(t).ln()
    } else {
        (0.5 * (-t * FRAC_1_SQRT_2).erfcx()).ln() - 0.5 * t * t
    }
}

/// The Mills ratio m(x) = {1 − Φ(x)}/φ(x); overflows to infinity below x ≈ −37.
#[inline]
pub(crate) fn mills(x: f64) -> f64 {
    SQRT_HALF_PI * (x * FRAC_1_SQRT_2).erfcx()
}

/// The normal law N(t, 1) restricted to (0, ∞).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TruncatedNormal {
    /// ρ(t) = φ(t)/Φ(t), the inverse Mills ratio.
    pub inverse_mills: f64,
    /// t + ρ(t), the mean.
    pub mean: f64,
    /// 1 − ρ(t){ρ(t) + t}, the variance.
    pub variance: f64,
}

impl TruncatedNormal {
    /// The law with location t; all three numbers are relatively accurate for every t.
    pub fn new(t: f64) -> Self {
        if t > 39.0 {
            return Self { inverse_mills: normal_density(t), mean: t, variance: 1.0 };
        }
        if t > -1.0 {
            let rho = normal_density(t) / normal_cdf(t);
            return Self { inverse_mills: rho, mean: t + rho, variance: 1.0 - rho * (rho + t) };
        }
        let x = -t;
        if x < 6.0 { Self::from_taylor(x) } else { Self::from_continued_fraction(x) }
    }

    /// J_k = ∫₀^∞ sᵏ e^{−xs−s²/2} ds gives mean J₁/J₀ and variance J₂/J₀ − (J₁/J₀)². Since J_k = (−1)ᵏ m⁽ᵏ⁾(x), J₁ and
    /// J₂ come from the Taylor series of m at a grid point x₀, whose coefficients T_k = J_k/k! obey the stable downward
    /// recurrence T_{k−1} = (k+1) T_{k+1} + x₀ T_k.
    fn from_taylor(x: f64) -> Self {
        let i = (((x - 1.0) * 4.0) as usize).min(TAYLOR_START.len() - 1);
        let x0 = 1.125 + 0.25 * i as f64;
        let h = x0 - x;
        let [mut upper, mut lower] = TAYLOR_START[i];
        let mut k = 15.0;
        let (mut j1, mut j2) = (k * upper, k * (k - 1.0) * upper);
        loop {
            k -= 1.0;
            j1 = j1 * h + k * lower;
            if k < 2.0 {
                break;
            }
            j2 = j2 * h + k * (k - 1.0) * lower;
            (upper, lower) = (lower, (k + 1.0) * upper + x0 * lower);
        }
        let rho = 1.0 / (j2 + x * j1);
        let mean = j1 * rho;
        Self { inverse_mills: rho, mean, variance: (j2 - mean * j1) * rho }
    }

    /// c_k = k/(x + c_{k+1}); mean c₁, variance c₁²(x + 2c₂ − c₃)/(x + c₃).
    fn from_continued_fraction(x: f64) -> Self {
        let n = (10.0 + 700.0 / (x * x)) as usize;
        let mut c = (n as f64).sqrt();
        for k in (3..=n).rev() {
            c = k as f64 / (x + c);
        }
        let c2 = 2.0 / (x + c);
        let c1 = 1.0 / (x + c2);
        Self { inverse_mills: x + c1, mean: c1, variance: c1 * c1 * ((x + 2.0 * c2 - c) / (x + c)) }
    }
}

/// ρ(t) = φ(t)/Φ(t).
pub fn inverse_mills(t: f64) -> f64 {
    if t > -1.0 { normal_density(t) / normal_cdf(t) } else { 1.0 / mills(-t) }
}

/// t + ρ(t), without cancellation for t → −∞.
pub fn t_plus_inverse_mills(t: f64) -> f64 {
    TruncatedNormal::new(t).mean
}

/// tv(t) = 1 − ρ(t){ρ(t) + t}, without cancellation for t → −∞.
pub fn truncated_variance(t: f64) -> f64 {
    TruncatedNormal::new(t).variance
}

/// T₁₅ and T₁₄ at x₀ = 1.125, 1.375, …, 5.875 (T_k = e^{x²/4} D_{−k−1}(x) in terms of the parabolic cylinder function).
const TAYLOR_START: [[f64; 2]; 20] = [
    [7.903298032766795e-09, 3.595446254741103e-08],
    [3.4015482758615938e-09, 1.597273146247797e-08],
    [1.5017146445211181e-09, 7.2771240715613124e-09],
    [6.794224179660938e-10, 3.396897435859099e-09],
    [3.1473246222824063e-10, 1.623095870173085e-09],
    [1.491451189790899e-10, 7.931438435155007e-10],
    [7.223850665024752e-11, 3.9602569473820316e-10],
    [3.573200048647664e-11, 2.0187713437027972e-10],
    [1.803524800376324e-11, 1.0497444519929967e-10],
    [9.281571649738483e-12, 5.563716280495359e-11],
    [4.8665951217830145e-12, 3.003278843464427e-11],
    [2.5978513878920908e-12, 1.6498795324906357e-11],
    [1.4108517147433493e-12, 9.217721399848508e-12],
    [7.78987493168401e-13, 5.233723393926447e-12],
    [4.3699565528693783e-13, 3.018053772527722e-12],
    [2.489132505837058e-13, 1.7664334604428046e-12],
    [1.4387356666610137e-13, 1.0487173566762005e-12],
    [8.433829149361735e-14, 6.311878896388269e-13],
    [5.011164829849093e-14, 3.849081862607017e-13],
    [3.016423398477231e-14, 2.3769713368001723e-13],
];

#[cfg(test)]
mod tests {
    use super::*;

    /// The continued fraction of mathematics §8.1 with its (slow) number of terms.
    fn reference(x: f64) -> (f64, f64) {
        let n = (30.0 + 260.0 / (x * x)) as usize;
        let mut c = [0.0, 0.0, 0.0, (n as f64).sqrt()];
        for k in (1..=n).rev() {
            c = [0.0, k as f64 / (x + c[if k == n { 3 } else { 1 }]), c[1], c[2]];
        }
        (c[1], c[1] * c[1] * (x + 2.0 * c[2] - c[3]) / (x + c[3]))
    }

    #[test]
    fn truncated_moments_agree_with_the_long_continued_fraction() {
        let mut x = 1.0;
        while x < 1e5 {
            let (mean, variance) = reference(x);
            let t = TruncatedNormal::new(-x);
            assert!((t.mean / mean - 1.0).abs() < 2e-15, "mean at {x}: {:e}", t.mean / mean - 1.0);
            assert!((t.variance / variance - 1.0).abs() < 5e-15, "variance at {x}: {:e}", t.variance / variance - 1.0);
            assert!((t.inverse_mills * mills(x) - 1.0).abs() < 2e-15);
            x *= 1.0037;
        }
    }

    #[test]
    fn branches_join() {
        for t in [-1.0_f64, 39.0] {
            let (below, above) = (TruncatedNormal::new(t.next_down()), TruncatedNormal::new(t.next_up()));
            assert!((below.mean - above.mean).abs() < 1e-14 * above.mean);
            assert!((below.variance - above.variance).abs() < 1e-14);
        }
        assert_eq!(TruncatedNormal::new(f64::NEG_INFINITY).mean, 0.0);
    }
}
