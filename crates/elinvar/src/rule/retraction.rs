//! The step of a positive definite matrix along the geodesic to second order: P⁺ = P + βG + ½β²GΣG (mathematics §10.1).
//!
//! It is ½{P + (P + βG)Σ(P + βG)}, a sum of a positive definite and a positive semi-definite matrix: positive definite for every β.
//!
//! Lin, Schmidt & Khan 2020.

use crate::linalg::{axpy, cholesky, products};

/// Writes GΣG to `second`, the part of the step that does not depend on β, where `factor` is L of P = LLᵀ; `spare` is overwritten.
pub(crate) fn second_order(dim: usize, factor: &[f64], g: &[f64], spare: &mut [f64], second: &mut [f64]) {
    // GΣG = WᵀW with W = L⁻¹G.
    spare.copy_from_slice(g);
    cholesky::solve_factor(dim, factor, spare);
    second.fill(0.0);
    products::add_transposed_gram(spare, dim, second);
    products::mirror_lower(dim, second);
}

/// Completes the plain step P + βG of a full matrix.
pub(crate) fn complete(beta: f64, second: &[f64], plain: &mut [f64]) {
    axpy(0.5 * beta * beta, second, plain);
}

/// The step of a positive number p, an entry of a diagonal matrix, by `by` = βg.
pub(crate) fn positive(p: f64, by: f64) -> f64 {
    // ½[p + (p + βg)²/p]: a sum of non-negative terms.
    0.5 * (p + (p + by) * ((p + by) / p))
}

/// By how much a negative number η = −ρ, ρ a rate with F ∝ 1/ρ², moves when its plain step is `by`.
pub(crate) fn negative(eta: f64, by: f64) -> f64 {
    by + 0.5 * by * by / eta
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_and_its_negative_take_the_same_step_and_keep_their_sign() {
        for (p, by) in [(1.0, 0.3), (2.5, -2.4), (1e-3, -5.0), (7.0, 100.0)] {
            let (up, down) = (positive(p, by), -p + negative(-p, -by));
            assert!(up > 0.0 && (up + down).abs() < 1e-12 * up, "{up} {down}");
        }
    }

    #[test]
    fn a_diagonal_matrix_takes_the_step_of_its_entries() {
        let (p, g, beta) = ([4.0, 0.25], [-3.0, 2.0], 0.7);
        let (factor, matrix) = ([2.0, 0.0, 0.0, 0.5], [g[0], 0.0, 0.0, g[1]]);
        let (mut spare, mut second) = ([0.0; 4], [0.0; 4]);
        second_order(2, &factor, &matrix, &mut spare, &mut second);
        let mut found = [p[0] + beta * g[0], 0.0, 0.0, p[1] + beta * g[1]];
        complete(beta, &second, &mut found);
        for i in 0..2 {
            assert!((found[3 * i] - positive(p[i], beta * g[i])).abs() < 1e-14);
        }
    }
}
