//! Steps of a positive scalar along its natural gradient.

use crate::special::gamma::{tetragamma_plus_inv2, trigamma_minus_inv};

/// a⁺ = a + βg − ½β²Γg²: the geodesic of the Fisher metric F(a) to second order, Γ = F′/(2F) (mathematics §10.1).
///
/// `natural_gradient` is g = F⁻¹∂L/∂a and `christoffel` is Γ. The result is positive for every β if 2a|Γ| > 1 and Γ <
/// 0.
pub fn geodesic_step(a: f64, natural_gradient: f64, beta: f64, christoffel: f64) -> f64 {
    let move_by = beta * natural_gradient;
    a + move_by - 0.5 * christoffel * move_by * move_by
}

/// a⁺ = b + (a − b) exp{βg/(a − b)} for a > b = `lower`, the exponent kept within ±1 (mathematics §2.3 with b = 1).
///
/// Agrees with a + βg to first order and never leaves a > b.
pub fn log_step(a: f64, lower: f64, natural_gradient: f64, beta: f64) -> f64 {
    let above = a - lower;
    lower + above * (beta * natural_gradient / above).clamp(-1.0, 1.0).exp()
}

/// Γ of the Student-t shape a, whose Fisher information is F = ψ′(a) − 1/a; 2a|Γ| ≥ 2 for every a.
pub fn student_t_christoffel(a: f64) -> f64 {
    0.5 * tetragamma_plus_inv2(a) / trigamma_minus_inv(a)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With F ∝ 1/a² the geodesic is a exp(βg/a): the difference is of third order.
    #[test]
    fn the_second_order_step_follows_the_geodesic_of_a_scale() {
        let (a, g) = (1.7, -0.9);
        for beta in [1e-2, 1e-3] {
            let error = geodesic_step(a, g, beta, -1.0 / a) - a * (beta * g / a).exp();
            let third = -a * (beta * g / a).powi(3) / 6.0;
            assert!((error / third - 1.0).abs() < 1e-2, "error {error:e}, third-order term {third:e}");
        }
    }

    #[test]
    fn no_step_leaves_the_domain() {
        for a in [1e-4, 0.3, 1.0, 7.0, 1e3, 1e6] {
            let christoffel = student_t_christoffel(a);
            assert!(-2.0 * a * christoffel >= 2.0 * (1.0 - 1e-9), "2a|Γ| = {} at {a}", -2.0 * a * christoffel);
            for move_by in [-100.0, -2.0, -1.0, -0.5, 3.0] {
                assert!(geodesic_step(a, move_by * a, 1.0, christoffel) > 0.0);
                assert!(log_step(1.0 + a, 1.0, move_by * a, 1.0) > 1.0);
            }
        }
    }

    #[test]
    fn both_forms_agree_with_the_plain_step_to_first_order() {
        let (a, g, beta) = (2.5, 0.8, 1e-6);
        assert!((geodesic_step(a, g, beta, student_t_christoffel(a)) - (a + beta * g)).abs() < 1e-11);
        assert!((log_step(a, 1.0, g, beta) - (a + beta * g)).abs() < 1e-11);
        assert!((log_step(a, 1.0, 1e9, 1.0) - (1.0 + 1.5 * std::f64::consts::E)).abs() < 1e-12);
    }
}
