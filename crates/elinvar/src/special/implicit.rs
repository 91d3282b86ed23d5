//! Implicit derivatives: how a draw moves with the parameters of its law at fixed probability (mathematics §8.4, §8.5).

use super::gamma::digamma_minus_log;
use super::half_line::integrate_half_line;
use super::normal::{HALF_LOG_TWO_PI, TruncatedNormal, mills, normal_cdf, normal_density};

/// D(a, x) = ∂x/∂a of a draw x ~ Gamma(a, 1); NaN unless a and x are positive and finite.
///
/// Relative error below 3e−13 for a from 1e−3 to 1e6 and x from 1e−3·a to 12 standard deviations above a.
pub fn gamma_shape_derivative(a: f64, x: f64) -> f64 {
    let valid = a > 0.0 && x > 0.0 && a.is_finite() && x.is_finite();
    if !valid {
        return f64::NAN;
    }
    // Δ = ψ(a) − log x; every branch adds positive terms only.
    let delta = digamma_minus_log(a) + (a / x).ln();
    if a <= 200.0 && delta + 1.0 / a >= 0.0 {
        return gamma_series(a, x, delta);
    }
    let width = 1.0 / ((a - x).abs() + x.sqrt());
    let [integral] = if delta >= 0.0 {
        integrate_half_line(width, |tau| (-a * tau - x * (-tau).exp_m1(), [delta + tau]))
    } else {
        integrate_half_line(width, |tau| {
            let log = tau.ln_1p();
            ((a - 1.0) * log - x * tau, [log - delta])
        })
    };
    x * integral
}

fn gamma_series(a: f64, x: f64, delta: f64) -> f64 {
    let mut term = x / a;
    let mut weight = delta + 1.0 / a;
    let mut sum = term * weight;
    let mut k = 1.0;
    loop {
        term *= x / (a + k);
        weight += 1.0 / (a + k);
        let add = term * weight;
        sum += add;
        // A first weight of zero makes the first terms small; x < a + k + 1 says that the terms decrease from here on.
        if add <= 0.25 * f64::EPSILON * sum && x < a + k + 1.0 {
            return sum;
        }
        k += 1.0;
    }
}

/// ∂w/∂a of a draw w ~ IG(a, a), shape and scale moving together: (w/a){1 − w D(a, a/w)}.
///
/// Changes sign near w = 1 − 1/(3a); there about ½ log₁₀ a digits are lost.
pub fn inverse_gamma_derivative(a: f64, w: f64) -> f64 {
    w / a * (1.0 - w * gamma_shape_derivative(a, a / w))
}

/// Distribution function of InvGauss(μ, v) at z.
pub fn inverse_gaussian_cdf(mu: f64, v: f64, z: f64) -> f64 {
    let root = (v / z).sqrt();
    let (a, b) = (root * (z / mu - 1.0), root * (z / mu + 1.0));
    // e^{2v/μ} φ(B) = φ(A), so the exponential that overflows never appears.
    if a > 0.0 { normal_cdf(a) + normal_density(a) * mills(b) } else { normal_density(a) * (mills(-a) + mills(b)) }
}

/// Log density of InvGauss(μ, v) at z.
pub fn inverse_gaussian_log_density(mu: f64, v: f64, z: f64) -> f64 {
    let gap = (z - mu) / mu;
    0.5 * (v / z).ln() - z.ln() - HALF_LOG_TWO_PI - 0.5 * v * gap * gap / z
}

/// (∂z/∂μ, ∂z/∂v) of a draw z ~ InvGauss(μ, v).
pub fn inverse_gaussian_derivatives(mu: f64, v: f64, z: f64) -> (f64, f64) {
    let b = (v / z).sqrt() * (z / mu + 1.0);
    let m = mills(b);
    let c1 = TruncatedNormal::new(-b).mean;
    let power = z * z.sqrt();
    let d_mu = 2.0 * v.sqrt() * power / (mu * mu) * m;
    let d_v = z / v * ((mu - z) / (mu + z)) + 2.0 * power / (mu * v.sqrt()) * (m * c1 / b);
    (d_mu, d_v)
}

/// (∂z/∂η₁, ∂z/∂η₂) of a draw z ~ InvGauss(μ, v) in its natural parameters η = (−v/2μ², −v/2); each is one product.
pub(crate) fn inverse_gaussian_natural_derivatives(mu: f64, v: f64, z: f64) -> (f64, f64) {
    let root = (v / z).sqrt();
    let b = root * (z / mu + 1.0);
    let m = mills(b);
    (2.0 * mu * z / root * m, -2.0 * z / v * m * (TruncatedNormal::new(-b).mean + root))
}

/// −{Q₀(z) − Q₁(z)}/q₀(z), where q₀ is the density of InvGauss(μ, v) with distribution function Q₀, and Q₁ belongs to
/// (z/μ) q₀(z).
///
/// Divided by p + (1−p) z/μ it is ∂z/∂p of a Birnbaum–Saunders draw. Q₀ = Φ(A) + φ(A)m(B) and Q₁ = Φ(A) − φ(A)m(B):
/// nothing cancels.
pub(crate) fn birnbaum_saunders_weight_derivative(mu: f64, v: f64, z: f64) -> f64 {
    let root = (v / z).sqrt();
    -2.0 * z / root * mills(root * (z / mu + 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn incomplete_gamma_moves_with_its_shape() {
        // P(a, x) = x^a Σ (−x)^k/(k! (a + k))/Γ(a) for small x, differentiated by five-point differences.
        let p = |a: f64, x: f64| {
            let (mut term, mut sum) = (1.0, 0.0);
            for k in 0..60 {
                sum += term / (a + f64::from(k));
                term *= -x / f64::from(k + 1);
            }
            sum * (a * x.ln() - libm::lgamma(a)).exp()
        };
        for (a, x) in [(0.4, 0.2), (1.0, 1.0), (2.5, 2.0), (4.0, 3.0), (0.05, 0.01)] {
            let h = 1e-3 * a;
            let slope = (8.0 * (p(a + h, x) - p(a - h, x)) - (p(a + 2.0 * h, x) - p(a - 2.0 * h, x))) / (12.0 * h);
            // ∂P/∂a is −D(a, x) times the density of Gamma(a, 1) at x.
            let log_density = (a - 1.0) * x.ln() - x - libm::lgamma(a);
            let found = -gamma_shape_derivative(a, x) * log_density.exp();
            assert!((found / slope - 1.0).abs() < 1e-9, "a = {a}, x = {x}: {found} against {slope}");
        }
    }

    #[test]
    fn gamma_shape_derivative_is_continuous_and_has_the_right_lower_tail() {
        for a in [0.3, 5.0, 150.0, 199.999_999, 200.000_001, 3e3] {
            for scale in [0.5, 0.9, 0.999, 1.0, 1.001, 1.1, 1.5] {
                let x = a * scale;
                let (below, above) =
                    (gamma_shape_derivative(a, x * (1.0 - 1e-7)), gamma_shape_derivative(a, x * (1.0 + 1e-7)));
                assert!((below / above - 1.0).abs() < 1e-5 && below > 0.0, "a = {a}, x = {x}");
            }
        }
        // Lower tail: x^a/Γ(a+1) ≈ p gives D ≈ x (Δ + 1/a)/a.
        let (a, x) = (0.5, 1e-12);
        let exact = x / a * (digamma_minus_log(a) + (a / x).ln() + 1.0 / a);
        assert!((gamma_shape_derivative(a, x) / exact - 1.0).abs() < 1e-11);
    }

    #[test]
    fn inverse_gaussian_derivatives_keep_the_probability() {
        for (mu, v, z) in [(1.0, 0.3, 0.2), (1.0, 8.0, 1.4), (2.5, 40.0, 2.0), (1.0, 1e4, 1.01)] {
            let (d_mu, d_v) = inverse_gaussian_derivatives(mu, v, z);
            let density = inverse_gaussian_log_density(mu, v, z).exp();
            let h = 1e-5;
            let by_mu = (inverse_gaussian_cdf(mu * (1.0 + h), v, z) - inverse_gaussian_cdf(mu * (1.0 - h), v, z))
                / (2.0 * h * mu);
            let by_v = (inverse_gaussian_cdf(mu, v * (1.0 + h), z) - inverse_gaussian_cdf(mu, v * (1.0 - h), z))
                / (2.0 * h * v);
            let by_z = (inverse_gaussian_cdf(mu, v, z * (1.0 + h)) - inverse_gaussian_cdf(mu, v, z * (1.0 - h)))
                / (2.0 * h * z);
            assert!((-by_mu / density - d_mu).abs() < 1e-5 * d_mu.abs());
            assert!((-by_v / density - d_v).abs() < 1e-5 * d_v.abs());
            assert!((by_z / density - 1.0).abs() < 1e-5);
        }
    }
}
