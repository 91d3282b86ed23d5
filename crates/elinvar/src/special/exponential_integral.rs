//! The exponential integral.

/// eˣ E₁(x) = ∫₀^∞ e^{−xt}/(1 + t) dt for x > 0.
pub(crate) fn scaled_exponential_integral(x: f64) -> f64 {
    if x <= 1.0 {
        // E₁(x) = −γ − log x − Σ (−x)ᵏ/(k k!).
        let (mut term, mut sum, mut k) = (1.0f64, 0.0, 0.0);
        while term.abs() > 1e-17 {
            k += 1.0;
            term *= -x / k;
            sum -= term / k;
        }
        return x.exp() * (sum - x.ln() - EULER_GAMMA);
    }
    // The even part of the continued fraction: 1/(x+1 − 1²/(x+3 − 2²/(x+5 − …))), from the inside out.
    let n = (12.0 + 300.0 / x) as usize;
    let mut tail = 0.0;
    for k in (1..=n).rev() {
        let k = k as f64;
        tail = k * k / (x + 2.0 * k + 1.0 - tail);
    }
    1.0 / (x + 1.0 - tail)
}

/// Euler's constant γ.
pub(crate) const EULER_GAMMA: f64 = 0.577_215_664_901_532_9;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_branches_agree_with_the_integral() {
        for x in [1e-6, 0.03, 0.5, 1.0, 1.001, 2.0, 7.0, 40.0, 1e3, 1e8] {
            // t = exp(s − e^{−s})/x: a trapezoid sum that converges geometrically.
            let sum: f64 = (-400..=1600)
                .map(|j| {
                    let s = f64::from(j) / 64.0;
                    let t = (s - (-s).exp()).exp() / x;
                    (-x * t).exp() / (1.0 + t) * t * (1.0 + (-s).exp()) / 64.0
                })
                .sum();
            let found = scaled_exponential_integral(x);
            assert!((found / sum - 1.0).abs() < 4e-15, "x = {x}: {found:e} against {sum:e}");
        }
    }
}
