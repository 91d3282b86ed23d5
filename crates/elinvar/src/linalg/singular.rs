//! The singular values of a wide matrix, and the directions in which its rows lie.

use faer::diag::DiagMut;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::svd::{ComputeSvdVectors, svd, svd_scratch};
use faer::{Accum, MatMut, MatRef, Par, Spec};

use super::products::multiply;

/// Singular values, and an orthonormal basis of what the rows span.
pub(crate) struct Directions {
    /// Singular values, largest first; those that are rounding are left out.
    pub(crate) values: Vec<f64>,
    /// As many vectors of `d` numbers: of independent rows those whose products with them are the symmetric root of
    /// XXᵀ, each of them mostly along one row; otherwise the singular vectors.
    pub(crate) vectors: Vec<f64>,
}

/// Those of a row-major matrix with rows of length `d`; nothing if the iteration fails.
pub(crate) fn directions(rows: &[f64], d: usize) -> Option<Directions> {
    let n = rows.len() / d;
    let k = n.min(d);
    // The rows are the columns of a d × n matrix in the same memory, whose left vectors these are.
    let (mut values, mut vectors, mut of_rows) = (vec![0.0; k], vec![0.0; d * k], vec![0.0; n * k]);
    let thin = ComputeSvdVectors::Thin;
    let request = svd_scratch::<f64>(d, n, thin, thin, Par::Seq, Spec::default());
    svd(
        MatRef::from_column_major_slice(rows, d, n),
        DiagMut::from_slice_mut(&mut values),
        Some(MatMut::from_column_major_slice_mut(&mut vectors, d, k)),
        Some(MatMut::from_column_major_slice_mut(&mut of_rows, n, k)),
        Par::Seq,
        MemStack::new(&mut MemBuffer::new(request)),
        Spec::default(),
    )
    .ok()?;
    if !values.iter().chain(&vectors).all(|v| v.is_finite()) {
        return None;
    }
    let rounding = values.first().copied().unwrap_or(0.0) * n.max(d) as f64 * f64::EPSILON;
    let rank = values.iter().take_while(|value| **value > rounding).count();
    values.truncate(rank);
    vectors.truncate(rank * d);
    if rank == n {
        let mut turned = vec![0.0; d * n];
        multiply(
            Accum::Replace,
            1.0,
            MatRef::from_column_major_slice(&vectors, d, n),
            MatRef::from_column_major_slice(&of_rows, n, n).transpose(),
            &mut turned,
        );
        vectors = turned;
    }
    Some(Directions { values, vectors })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::dot;

    fn numbers(n: usize) -> Vec<f64> {
        let mut state = 1_u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
        };
        (0..n).map(|_| next()).collect()
    }

    #[test]
    fn the_rows_lie_in_the_span_of_orthonormal_directions() {
        for (n, d) in [(3, 7), (20, 50), (9, 4)] {
            let mut rows = numbers(n * d);
            // One row is the sum of two others.
            let sum: Vec<f64> = (0..d).map(|j| rows[j] + rows[d + j]).collect();
            rows[2 * d..3 * d].copy_from_slice(&sum);
            let Directions { values, vectors } = directions(&rows, d).unwrap();
            assert_eq!(values.len(), (n - 1).min(d));
            assert!(values.windows(2).all(|pair| pair[0] >= pair[1]));
            let vectors: Vec<&[f64]> = vectors.chunks_exact(d).collect();
            let squares: f64 = rows.iter().map(|x| x * x).sum();
            assert!((dot(&values, &values) - squares).abs() < 1e-12 * squares);
            for (i, a) in vectors.iter().enumerate() {
                for (j, b) in vectors.iter().enumerate() {
                    assert!((dot(a, b) - f64::from(u8::from(i == j))).abs() < 1e-13);
                }
            }
            for row in rows.chunks_exact(d) {
                let seen: f64 = vectors.iter().map(|v| dot(row, v).powi(2)).sum();
                assert!((seen - dot(row, row)).abs() < 1e-12 * dot(row, row));
            }
        }
    }
    #[test]
    fn products_of_independent_rows_with_their_directions_are_symmetric() {
        let (n, d) = (6, 11);
        let rows = numbers(n * d);
        let Directions { vectors, .. } = directions(&rows, d).unwrap();
        let at = |i: usize, k: usize| dot(&rows[i * d..(i + 1) * d], &vectors[k * d..(k + 1) * d]);
        for i in 0..n {
            assert!((0..i).all(|k| (at(i, k) - at(k, i)).abs() < 1e-13));
            assert!(at(i, i) > 0.0);
        }
    }
}
