//! Softplus, the logistic function and log-sum-exp without overflow (mathematics §8.8).

/// log(1 + eᵗ).
#[inline]
pub fn log1p_exp(t: f64) -> f64 {
    if t > 0.0 { t + (-t).exp().ln_1p() } else { t.exp().ln_1p() }
}

/// σ(t) = 1/(1 + e⁻ᵗ).
#[inline]
pub fn sigmoid(t: f64) -> f64 {
    let e = (-t.abs()).exp();
    if t >= 0.0 { 1.0 / (1.0 + e) } else { e / (1.0 + e) }
}

/// σ′(t) = σ(t) σ(−t).
#[inline]
pub fn logistic_variance(t: f64) -> f64 {
    let e = (-t.abs()).exp();
    e / ((1.0 + e) * (1.0 + e))
}

/// log(1 + eᵗ), σ(t) and σ(−t), by one exponential.
#[inline]
pub(crate) fn softplus_and_shares(t: f64) -> [f64; 3] {
    let e = (-t.abs()).exp();
    let (upper, lower) = (1.0 / (1.0 + e), e / (1.0 + e));
    if t >= 0.0 { [t + e.ln_1p(), upper, lower] } else { [e.ln_1p(), lower, upper] }
}

/// log Σᵢ exp(xᵢ); −∞ for an empty slice.
pub fn log_sum_exp(x: &[f64]) -> f64 {
    let max = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if !max.is_finite() {
        return if x.iter().any(|v| v.is_nan()) { f64::NAN } else { max };
    }
    max + x.iter().map(|v| (v - max).exp()).sum::<f64>().ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_values_and_extremes() {
        assert!((log1p_exp(0.0) - std::f64::consts::LN_2).abs() < 1e-16);
        assert_eq!(log1p_exp(800.0), 800.0);
        assert!((log1p_exp(-40.0) / (-40.0_f64).exp() - 1.0).abs() < 1e-15);
        assert_eq!(sigmoid(-800.0), 0.0);
        assert_eq!(sigmoid(800.0), 1.0);
        assert!((sigmoid(-30.0) / ((-30.0_f64).exp() / (1.0 + (-30.0_f64).exp())) - 1.0).abs() < 1e-15);
        for t in [-700.0, -3.0, -0.1, 0.0, 2.0, 40.0] {
            assert!((logistic_variance(t) - sigmoid(t) * sigmoid(-t)).abs() <= 1e-15 * logistic_variance(t));
        }
    }

    #[test]
    fn log_sum_exp_of_shifted_and_degenerate_lists() {
        assert!((log_sum_exp(&[1000.0, 1000.0]) - 1000.0 - std::f64::consts::LN_2).abs() < 1e-12);
        assert_eq!(log_sum_exp(&[]), f64::NEG_INFINITY);
        assert_eq!(log_sum_exp(&[f64::NEG_INFINITY, f64::NEG_INFINITY]), f64::NEG_INFINITY);
        assert_eq!(log_sum_exp(&[f64::NEG_INFINITY, 2.0]), 2.0);
        assert!(log_sum_exp(&[f64::NAN, 2.0]).is_nan());
    }
}
