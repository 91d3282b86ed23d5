//! The Gaussian of diagonal and few factors that is nearest to one with a full covariance.

use crate::linalg::{dot, eigen};
use crate::tuning::start::{FACTOR_ITERATIONS, FACTOR_TOLERANCE};

/// The diagonal of Σ and the columns of A, one after the other, for which N(·, Σ + AAᵀ) has the least divergence from
/// the Gaussian with this precision P: tr P(Σ + AAᵀ) − log |Σ + AAᵀ| is least.
///
/// For a given Σ the best A is known: with the eigenvectors v and eigenvalues λ of Σ^½PΣ^½, its columns are
/// Σ^½v √(1/λ − 1) for the smallest λ below 1. The slope in log Σ_j is then Σ_jP_jj − 1 + ∑(1 − λ)v_j², which the
/// iteration Σ_j ← (1 − ∑(1 − λ)v_j²)/P_jj brings to zero (mathematics §3.5). Directions that a column is not needed
/// for have a column of zeros. Nothing if the eigenvalues cannot be found.
pub(super) fn nearest(dim: usize, rank: usize, precision: &[f64]) -> Option<(Vec<f64>, Vec<f64>)> {
    let diagonal: Vec<f64> = precision.iter().step_by(dim + 1).copied().collect();
    let mut variances: Vec<f64> = diagonal.iter().map(|p| 1.0 / p).collect();
    let mut scaled = vec![0.0; dim * dim];
    let mut columns = vec![0.0; dim * rank];
    for _ in 0..FACTOR_ITERATIONS {
        for (j, column) in scaled.chunks_exact_mut(dim).enumerate() {
            for (i, entry) in column.iter_mut().enumerate() {
                *entry = precision[j * dim + i] * (variances[i] * variances[j]).sqrt();
            }
        }
        let (values, vectors) = eigen::symmetric(dim, &scaled)?;
        let mut shares = vec![1.0; dim];
        for ((lambda, v), column) in values.iter().zip(vectors.chunks_exact(dim)).zip(columns.chunks_exact_mut(dim)) {
            let length = if *lambda > 0.0 && *lambda < 1.0 { (1.0 / lambda - 1.0).sqrt() } else { 0.0 };
            let taken = if length > 0.0 { 1.0 - lambda } else { 0.0 };
            for (((share, a), v), variance) in shares.iter_mut().zip(column).zip(v).zip(&variances) {
                *share -= taken * v * v;
                *a = length * variance.sqrt() * v;
            }
        }
        let slope: Vec<f64> = (0..dim).map(|j| variances[j] * diagonal[j] - shares[j]).collect();
        if dot(&slope, &slope) < FACTOR_TOLERANCE * dim as f64 {
            break;
        }
        for ((variance, share), p) in variances.iter_mut().zip(&shares).zip(&diagonal) {
            *variance = share / p;
        }
    }
    let is_good = variances.iter().all(|v| *v > 0.0 && v.is_finite()) && columns.iter().all(|v| v.is_finite());
    is_good.then_some((variances, columns))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::cholesky;
    use crate::random::{Purpose, Stream};

    /// The inverse of a positive definite matrix, and its log-determinant.
    fn inverse(d: usize, matrix: &[f64]) -> (Vec<f64>, f64) {
        let (mut factor, mut out) = (vec![0.0; d * d], vec![0.0; d * d]);
        cholesky::factor(d, matrix, &mut factor, &mut cholesky::Workspace::new(d)).unwrap();
        for (i, column) in out.chunks_exact_mut(d).enumerate() {
            column[i] = 1.0;
            cholesky::solve_factor(d, &factor, column);
            cholesky::solve_factor_transposed(d, &factor, column);
        }
        (out, cholesky::log_det(d, &factor))
    }

    fn covariance(d: usize, variances: &[f64], columns: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; d * d];
        (0..d).for_each(|i| out[i * d + i] = variances[i]);
        for a in columns.chunks_exact(d) {
            (0..d * d).for_each(|at| out[at] += a[at / d] * a[at % d]);
        }
        out
    }

    /// tr PS − log |S|.
    fn divergence(d: usize, precision: &[f64], covariance: &[f64]) -> f64 {
        dot(precision, covariance) - inverse(d, covariance).1
    }

    #[test]
    fn a_diagonal_with_factors_is_found_again() {
        let d = 5;
        let variances = [0.5, 1.0, 2.0, 0.3, 1.5];
        let columns = [1.0, -2.0, 0.5, 0.7, 0.0, 0.2, 0.9, 1.5, -0.4, 1.1];
        let wanted = covariance(d, &variances, &columns);
        let (variances, columns) = nearest(d, 2, &inverse(d, &wanted).0).unwrap();
        let found = covariance(d, &variances, &columns);
        let furthest = wanted.iter().zip(&found).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(furthest < 2e-2, "{furthest}");
    }

    /// Any other diagonal and factors nearby are further from a covariance of full rank.
    #[test]
    fn nothing_nearby_is_nearer() {
        let d = 6;
        let mut stream = Stream::open(3, Purpose::Check, 0, 0);
        let mut normals = vec![0.0; d * d];
        stream.fill_normal(&mut normals);
        let target = covariance(d, &[0.2; 6], &normals);
        let precision = inverse(d, &target).0;
        let (variances, columns) = nearest(d, 2, &precision).unwrap();
        let least = divergence(d, &precision, &covariance(d, &variances, &columns));
        for _ in 0..200 {
            let moved: Vec<f64> = variances.iter().map(|v| v * (0.1 * stream.normal()).exp()).collect();
            let turned: Vec<f64> = columns.iter().map(|a| a + 0.05 * stream.normal()).collect();
            assert!(divergence(d, &precision, &covariance(d, &moved, &turned)) > least);
        }
        let diagonal: Vec<f64> = precision.iter().step_by(d + 1).map(|p| 1.0 / p).collect();
        assert!(divergence(d, &precision, &covariance(d, &diagonal, &[])) > least + 0.1);
    }

    #[test]
    fn an_uncorrelated_target_needs_no_factors() {
        let (variances, columns) = nearest(2, 1, &[4.0, 0.0, 0.0, 0.25]).unwrap();
        assert!((variances[0] - 0.25).abs() < 1e-12 && (variances[1] - 4.0).abs() < 1e-12);
        assert!(columns.iter().all(|a| a.abs() < 1e-6), "{columns:?}");
    }
}
