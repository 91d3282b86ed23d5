//! The entropy of the skew-Gaussian and the exponentially modified Gaussian beyond the Gaussian part (mathematics
//! §3.4).
//!
//! H(z) = ½ d log(2πe) + ½ log|Σ| + E(κ), κ = αᵀΣ⁻¹α, and e(κ) = 2E′(κ) = E[Var(u | z)]. All integrands are analytic in
//! a strip of half-width 2.8 (the first complex zero of Φ), so a trapezoid sum of step 3/8 has an error of about
//! e^{−2π·2.8/0.375} ≈ 4e−21.

use std::f64::consts::{FRAC_1_SQRT_2, LN_2, TAU};

use super::normal::{HALF_LOG_TWO_PI, TruncatedNormal, inverse_mills, log_ndtr, normal_density};

/// E(κ) and its slope.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeanMixtureEntropy {
    /// E(κ) ≥ 0.
    pub value: f64,
    /// e(κ) = 2E′(κ).
    pub slope: f64,
}

const STEP: f64 = 0.375;
/// φ is below 1e−18 beyond 24 steps.
const REACH: i32 = 24;

/// Below this κ the sums of EMG are replaced by their Taylor series, whose next term, 17κ⁴, is then below 1.1e−16.
const SMALL_KAPPA: f64 = 5e-5;

/// E and e for u = |w|, w ~ N(0, 1).
///
/// Paper: §4.3, App. E.
pub fn skew(kappa: f64) -> MeanMixtureEntropy {
    let total = 1.0 + kappa;
    let shrink = (kappa / total).sqrt();
    let root = kappa.sqrt();
    let wide = kappa > 1.0;
    let mut mean_rho = normal_density(0.0) * inverse_mills(0.0);
    let mut mean_gain = if wide { -LN_2 * normal_density(0.0) / root } else { 0.0 };
    for j in 1..=REACH {
        let x = j as f64 * STEP;
        let density = normal_density(x);
        mean_rho += density * (inverse_mills(x * shrink) + inverse_mills(-x * shrink));
        // ∫ N(x | 0, κ) 2Φ log 2Φ dx in units of √κ; for large κ in x itself, where 2Φ log Φ bounds the range.
        mean_gain += if wide {
            normal_density(x / root) / root * (paired_gain(x) - 2.0 * LN_2)
        } else {
            density * paired_gain(root * x)
        };
    }
    let constant = if wide { -LN_2 } else { 0.0 };
    MeanMixtureEntropy {
        value: 0.5 * kappa.ln_1p() + constant - mean_gain * STEP,
        slope: 1.0 / total - 2.0 * mean_rho * STEP / (TAU.sqrt() * total * total.sqrt()),
    }
}

/// 2Φ(x) log 2Φ(x) + 2Φ(−x) log 2Φ(−x) for x ≥ 0: with z = 2Φ(x) − 1 it is z² + z⁴/6 + …, and log 4 for x → ∞.
fn paired_gain(x: f64) -> f64 {
    let scaled = x * FRAC_1_SQRT_2;
    if x < 1.0 {
        let z = libm::erf(scaled);
        2.0 * z * z.atanh() + (-z * z).ln_1p()
    } else {
        let upper = libm::erfc(scaled);
        (2.0 - upper) * (2.0 - upper).ln() + if upper > 0.0 { upper * upper.ln() } else { 0.0 }
    }
}

/// E and e for u ~ Exp(1).
///
/// Paper: App. F.
pub fn emg(kappa: f64) -> MeanMixtureEntropy {
    if kappa < SMALL_KAPPA {
        small_kappa(kappa)
    } else if kappa < 0.1 {
        emg_narrow(kappa)
    } else {
        emg_wide(kappa)
    }
}

/// With s = √κ, t = y − 1/s and ρ = ρ(t), the density of y = s u + ε is φ(y)/(sρ). Here it is nearly φ(y).
fn emg_narrow(kappa: f64) -> MeanMixtureEntropy {
    let s = kappa.sqrt();
    // The right tail is e^{−y/s}.
    let last = ((9.0 + 38.0 * s) / STEP).ceil() as i32;
    let (mut variance, mut log_mean) = (0.0, 0.0);
    for j in -REACH..=last {
        let y = j as f64 * STEP;
        let truncated = TruncatedNormal::new(y - 1.0 / s);
        let scaled = s * truncated.inverse_mills;
        // log(sρ); for small s, sρ = 1 + s(t + ρ − y) is close to 1.
        let log_scaled = if y - 1.0 / s > -1.0 { scaled.ln() } else { (s * (truncated.mean - y)).ln_1p() };
        let density = normal_density(y) / scaled;
        variance += density * truncated.variance;
        log_mean += density * log_scaled;
    }
    MeanMixtureEntropy { value: kappa + log_mean * STEP, slope: variance * STEP / kappa }
}

/// The same integrals after E\[Var\] = (1 − E[ρ(ρ + t)])/κ: φ(y) alone bounds the range.
fn emg_wide(kappa: f64) -> MeanMixtureEntropy {
    let s = kappa.sqrt();
    let (mut shortfall, mut log_mean) = (0.0, 0.0);
    for j in -REACH..=REACH {
        let y = j as f64 * STEP;
        let t = y - 1.0 / s;
        let truncated = TruncatedNormal::new(t);
        let rho = truncated.inverse_mills;
        let log_cdf = if t > -1.0 { log_ndtr(t) } else { -0.5 * t * t - HALF_LOG_TWO_PI - rho.ln() };
        let density = normal_density(y);
        shortfall += density * truncated.mean;
        log_mean += density * log_cdf / rho;
    }
    let scale = STEP / s;
    MeanMixtureEntropy {
        value: 0.5 * (kappa.ln() + 1.0 - 1.0 / kappa) - HALF_LOG_TWO_PI - log_mean * scale,
        slope: (1.0 - shortfall * scale) / kappa,
    }
}

/// The expansion of the minimum mean-square error at low signal-to-noise ratio, 1 − κ + (2 − m₃²)κ²/2 − (15 − 12m₃² −
/// 6m₄ + m₄²)κ³/6
/// + O(κ⁴), with the central moments m₃ = 2 and m₄ = 9 of Exp(1).
fn small_kappa(kappa: f64) -> MeanMixtureEntropy {
    MeanMixtureEntropy {
        value: 0.5 * kappa * (1.0 - kappa * (0.5 + kappa * (1.0 / 3.0 - 0.25 * kappa))),
        slope: 1.0 - kappa * (1.0 + kappa * (1.0 - kappa)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::quadrature::{Rule, gauss_hermite, gauss_laguerre};
    use super::*;

    /// The 30 × 30-point rule of the paper for u ~ Exp(1), for comparison only: its error in e is 1e−2 at κ = 1e4, and
    /// about 1e−16/κ² for small κ, where its terms cancel. Pass 30-point Gauss–Laguerre and Gauss–Hermite rules.
    ///
    /// Paper: App. F (with log Φ and Σ⁻¹ where it prints log φ and Σ).
    fn emg_paper(kappa: f64, laguerre: &Rule, hermite: &Rule) -> MeanMixtureEntropy {
        let s = kappa.sqrt();
        let (mut log_mean, mut rho_mean) = (0.0, 0.0);
        for (&w, &weight_w) in laguerre.nodes.iter().zip(&laguerre.weights) {
            for (&x, &weight_x) in hermite.nodes.iter().zip(&hermite.weights) {
                let t = x + w * s - 1.0 / s;
                log_mean += weight_w * weight_x * log_ndtr(t);
                rho_mean += weight_w * weight_x * inverse_mills(t) * (w + 1.0 / kappa);
            }
        }
        MeanMixtureEntropy {
            value: 0.5 * (kappa.ln() + 1.0 - 1.0 / kappa) - HALF_LOG_TWO_PI - log_mean,
            slope: 1.0 / kappa + 1.0 / (kappa * kappa) - rho_mean / s,
        }
    }

    #[test]
    fn branches_join() {
        for f in [skew as fn(f64) -> MeanMixtureEntropy, emg] {
            for k in [1e-9, SMALL_KAPPA, 0.1, 1.0] {
                let (below, above) = (f(k * (1.0 - 1e-15)), f(k));
                assert!(
                    (below.slope / above.slope - 1.0).abs() < 2e-14,
                    "e at {k}: {:e}",
                    below.slope / above.slope - 1.0
                );
                assert!(
                    (below.value / above.value - 1.0).abs() < 1e-12,
                    "E at {k}: {:e}",
                    below.value / above.value - 1.0
                );
            }
            assert_eq!(f(0.0).value, 0.0);
            assert!((f(1e8).slope * 1e8 - 1.0).abs() < 1e-3);
        }
    }

    #[test]
    fn slope_is_twice_the_derivative() {
        for f in [skew as fn(f64) -> MeanMixtureEntropy, emg] {
            for k in [1e-6, 1e-3, 0.04, 0.3, 2.0, 50.0, 1e4] {
                let h = 1e-4 * k;
                let difference = (f(k + h).value - f(k - h).value) / h;
                assert!((difference / f(k).slope - 1.0).abs() < 1e-7, "κ = {k}: {:e}", difference / f(k).slope - 1.0);
            }
        }
    }

    #[test]
    fn the_papers_rule_agrees_only_in_the_middle() {
        let (laguerre, hermite) = (gauss_laguerre(30, 0.0), gauss_hermite(30));
        let error = |k: f64| (emg_paper(k, &laguerre, &hermite).slope / emg(k).slope - 1.0).abs();
        assert!(error(0.5) < 1e-7 && error(1e-6) > 1e-5 && error(1e4) > 5e-3);
        assert!((emg_paper(0.5, &laguerre, &hermite).value - emg(0.5).value).abs() < 1e-7);
    }
}
