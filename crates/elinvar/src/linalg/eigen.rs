//! Eigenvalues and eigenvectors of a symmetric matrix.

use faer::diag::DiagMut;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::evd::{ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch};
use faer::{MatMut, MatRef, Par, Spec};

/// Scratch memory for [`decompose`] at dimensions up to one.
pub(crate) struct Workspace {
    memory: MemBuffer,
}

impl Workspace {
    /// Memory for matrices of dimension up to `d`.
    pub(crate) fn new(d: usize) -> Self {
        let request = self_adjoint_evd_scratch::<f64>(d, ComputeEigenvectors::Yes, Par::Seq, Spec::default());
        Self { memory: MemBuffer::new(request) }
    }
}

/// The eigenvalues, smallest first, and the matrix with the eigenvectors as columns; nothing if the iteration fails.
pub(crate) fn symmetric(d: usize, matrix: &[f64]) -> Option<(Vec<f64>, Vec<f64>)> {
    let (mut values, mut vectors) = (vec![0.0; d], vec![0.0; d * d]);
    decompose(d, matrix, &mut values, &mut vectors, &mut Workspace::new(d)).then_some((values, vectors))
}

/// Writes the eigenvalues, smallest first, and the eigenvectors as columns; false if the iteration fails.
pub(crate) fn decompose(
    d: usize,
    matrix: &[f64],
    values: &mut [f64],
    vectors: &mut [f64],
    workspace: &mut Workspace,
) -> bool {
    let done = self_adjoint_evd(
        MatRef::from_column_major_slice(matrix, d, d),
        DiagMut::from_slice_mut(values),
        Some(MatMut::from_column_major_slice_mut(vectors, d, d)),
        Par::Seq,
        MemStack::new(&mut workspace.memory),
        Spec::default(),
    );
    done.is_ok() && values.iter().chain(vectors.iter()).all(|v| v.is_finite())
}

/// The eigenvalues alone, smallest first, for a third of the work; nothing if the iteration fails.
pub(crate) fn values(d: usize, matrix: &[f64]) -> Option<Vec<f64>> {
    let mut values = vec![0.0; d];
    let request = self_adjoint_evd_scratch::<f64>(d, ComputeEigenvectors::No, Par::Seq, Spec::default());
    self_adjoint_evd(
        MatRef::from_column_major_slice(matrix, d, d),
        DiagMut::from_slice_mut(&mut values),
        None,
        Par::Seq,
        MemStack::new(&mut MemBuffer::new(request)),
        Spec::default(),
    )
    .ok()?;
    values.iter().all(|v| v.is_finite()).then_some(values)
}

#[cfg(test)]
mod tests {
    use super::{symmetric, values};
    use crate::linalg::dot;

    #[test]
    fn the_vectors_are_orthonormal_and_give_the_matrix_back() {
        for d in [1, 2, 5, 40] {
            let mut matrix = vec![0.0; d * d];
            for i in 0..d {
                for j in 0..d {
                    matrix[j * d + i] = ((i + j) as f64 * 0.7).sin() + ((i * j) as f64).cos();
                }
            }
            let alone = values(d, &matrix).unwrap();
            let (values, vectors) = symmetric(d, &matrix).unwrap();
            assert!(values.is_sorted());
            assert!(alone.iter().zip(&values).all(|(a, b)| (a - b).abs() < 1e-11 * d as f64));
            let column = |k: usize| &vectors[k * d..(k + 1) * d];
            for i in 0..d {
                for j in 0..d {
                    let unit = f64::from(u8::from(i == j));
                    assert!((dot(column(i), column(j)) - unit).abs() < 1e-12 * d as f64);
                    let entry: f64 = (0..d).map(|k| values[k] * column(k)[i] * column(k)[j]).sum();
                    assert!((entry - matrix[j * d + i]).abs() < 1e-11 * d as f64);
                }
            }
        }
    }
}
