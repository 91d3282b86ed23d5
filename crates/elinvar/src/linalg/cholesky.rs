//! The factor P = L Lᵀ of a precision matrix and everything done with it.

use faer::dyn_stack::{MemBuffer, MemStack, StackReq};
use faer::linalg::cholesky::llt::{self, factor::LltRegularization};
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::linalg::triangular_solve::{solve_lower_triangular_in_place, solve_upper_triangular_in_place};
use faer::{Accum, MatMut, MatRef, Par, Spec};

use super::SMALL;

/// Scratch memory for [`factor`] and [`inverse`] at one dimension.
pub(crate) struct Workspace {
    memory: MemBuffer,
}

impl Workspace {
    /// Memory for matrices of dimension `d`.
    pub(crate) fn new(d: usize) -> Self {
        let request = StackReq::any_of(&[
            llt::factor::cholesky_in_place_scratch::<f64>(d, Par::Seq, Spec::default()),
            llt::inverse::inverse_scratch::<f64>(d, Par::Seq),
        ]);
        Self { memory: MemBuffer::new(request) }
    }
}

impl std::fmt::Debug for Workspace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Workspace")
    }
}

/// Writes the lower factor of `matrix` (lower triangle read) to `l`, with zeros above the diagonal.
///
/// # Errors
/// The first pivot that is not positive and finite; `l` is then unspecified.
pub(crate) fn factor(d: usize, matrix: &[f64], l: &mut [f64], workspace: &mut Workspace) -> Result<(), usize> {
    l.copy_from_slice(matrix);
    if d <= SMALL {
        factor_small(d, l)?;
    } else {
        llt::factor::cholesky_in_place(
            MatMut::from_column_major_slice_mut(l, d, d),
            LltRegularization::default(),
            Par::Seq,
            MemStack::new(&mut workspace.memory),
            Spec::default(),
        )
        .map_err(|llt::factor::LltError::NonPositivePivot { index }| index)?;
    }
    for (j, column) in l.chunks_exact_mut(d).enumerate() {
        // The library leaves rounding noise above the diagonal.
        column[..j].fill(0.0);
        if !(column[j].is_finite() && column[j] > 0.0) {
            return Err(j);
        }
    }
    Ok(())
}

fn factor_small(d: usize, l: &mut [f64]) -> Result<(), usize> {
    for j in 0..d {
        let (done, rest) = l.split_at_mut(j * d);
        let column = &mut rest[..d];
        for earlier in done.chunks_exact(d) {
            super::axpy(-earlier[j], &earlier[j..], &mut column[j..]);
        }
        let pivot = column[j];
        if !(pivot > 0.0 && pivot.is_finite()) {
            return Err(j);
        }
        let scale = 1.0 / pivot.sqrt();
        for entry in &mut column[j..] {
            *entry *= scale;
        }
        column[j] = pivot.sqrt();
    }
    Ok(())
}

/// X ← L⁻ᵀ X for the d × n matrix X.
pub(crate) fn solve_factor_transposed(d: usize, l: &[f64], x: &mut [f64]) {
    if d <= SMALL {
        for column in x.chunks_exact_mut(d) {
            for j in (0..d).rev() {
                let l_column = &l[j * d..(j + 1) * d];
                let sum = super::dot(&l_column[j + 1..], &column[j + 1..]);
                column[j] = (column[j] - sum) / l_column[j];
            }
        }
        return;
    }
    let n = x.len() / d;
    solve_upper_triangular_in_place(
        MatRef::from_column_major_slice(l, d, d).transpose(),
        MatMut::from_column_major_slice_mut(x, d, n),
        Par::Seq,
    );
}

/// X ← L⁻¹ X for the d × n matrix X.
pub(crate) fn solve_factor(d: usize, l: &[f64], x: &mut [f64]) {
    if d <= SMALL {
        for column in x.chunks_exact_mut(d) {
            for j in 0..d {
                let l_column = &l[j * d..(j + 1) * d];
                let value = column[j] / l_column[j];
                column[j] = value;
                super::axpy(-value, &l_column[j + 1..], &mut column[j + 1..]);
            }
        }
        return;
    }
    let n = x.len() / d;
    solve_lower_triangular_in_place(
        MatRef::from_column_major_slice(l, d, d),
        MatMut::from_column_major_slice_mut(x, d, n),
        Par::Seq,
    );
}

/// out = L X for the d × n matrix X.
pub(crate) fn factor_times(d: usize, l: &[f64], x: &[f64], out: &mut [f64]) {
    if d <= SMALL {
        out.fill(0.0);
        for (column, out_column) in x.chunks_exact(d).zip(out.chunks_exact_mut(d)) {
            for (j, value) in column.iter().enumerate() {
                super::axpy(*value, &l[j * d + j..(j + 1) * d], &mut out_column[j..]);
            }
        }
        return;
    }
    triangular_times(MatRef::from_column_major_slice(l, d, d), BlockStructure::TriangularLower, d, x, out);
}

/// out = Lᵀ X for the d × n matrix X.
pub(crate) fn factor_transposed_times(d: usize, l: &[f64], x: &[f64], out: &mut [f64]) {
    if d <= SMALL {
        for (column, out_column) in x.chunks_exact(d).zip(out.chunks_exact_mut(d)) {
            for (j, target) in out_column.iter_mut().enumerate() {
                *target = super::dot(&l[j * d + j..(j + 1) * d], &column[j..]);
            }
        }
        return;
    }
    let l = MatRef::from_column_major_slice(l, d, d).transpose();
    triangular_times(l, BlockStructure::TriangularUpper, d, x, out);
}

fn triangular_times(l: MatRef<'_, f64>, structure: BlockStructure, d: usize, x: &[f64], out: &mut [f64]) {
    let n = x.len() / d;
    triangular::matmul(
        MatMut::from_column_major_slice_mut(out, d, n),
        BlockStructure::Rectangular,
        Accum::Replace,
        l,
        structure,
        MatRef::from_column_major_slice(x, d, n),
        BlockStructure::Rectangular,
        1.0,
        Par::Seq,
    );
}

/// out = (L Lᵀ)⁻¹.
pub(crate) fn inverse(d: usize, l: &[f64], out: &mut [f64], workspace: &mut Workspace) {
    if d <= SMALL {
        out.fill(0.0);
        for (j, column) in out.chunks_exact_mut(d).enumerate() {
            column[j] = 1.0;
        }
        solve_factor(d, l, out);
        solve_factor_transposed(d, l, out);
        return;
    }
    llt::inverse::inverse(
        MatMut::from_column_major_slice_mut(out, d, d),
        MatRef::from_column_major_slice(l, d, d),
        Par::Seq,
        MemStack::new(&mut workspace.memory),
    );
    super::products::mirror_lower(d, out);
}

/// ‖L⁻¹ M‖² for two lower factors; `m` (zeros above its diagonal) is overwritten.
///
/// Column j of L⁻¹M starts at row j, so blocks of columns need the trailing part of L only: a third of the full solve.
pub(crate) fn norm_of_quotient(d: usize, l: &[f64], m: &mut [f64]) -> f64 {
    const BLOCK: usize = 32;
    if d <= SMALL {
        solve_factor(d, l, m);
    } else {
        let l = MatRef::from_column_major_slice(l, d, d);
        let mut m = MatMut::from_column_major_slice_mut(m, d, d);
        for start in (0..d).step_by(BLOCK) {
            let (rows, columns) = (d - start, BLOCK.min(d - start));
            solve_lower_triangular_in_place(
                l.submatrix(start, start, rows, rows),
                m.as_mut().submatrix_mut(start, start, rows, columns),
                Par::Seq,
            );
        }
    }
    super::dot(m, m)
}

/// log |L Lᵀ|.
pub(crate) fn log_det(d: usize, l: &[f64]) -> f64 {
    2.0 * (0..d).map(|i| l[i * d + i].ln()).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::products;

    /// A positive definite matrix with irregular entries.
    fn example(d: usize) -> Vec<f64> {
        let x: Vec<f64> = (0..2 * d * d).map(|i| ((i * i + 7) as f64 * 0.61803).sin()).collect();
        let mut matrix = vec![0.0; d * d];
        products::add_weighted_gram(&x, d, &vec![1.0; 2 * d], &mut vec![0.0; 2 * d * d], &mut matrix);
        products::mirror_lower(d, &mut matrix);
        (0..d).for_each(|i| matrix[i * d + i] += 0.5);
        matrix
    }

    #[test]
    fn factor_solves_and_inverts_on_both_sides_of_the_switch() {
        for d in [1, 3, SMALL, SMALL + 1, 37] {
            let matrix = example(d);
            let mut workspace = Workspace::new(d);
            let (mut l, mut inv) = (vec![0.0; d * d], vec![0.0; d * d]);
            factor(d, &matrix, &mut l, &mut workspace).expect("positive definite");
            let x: Vec<f64> = (0..3 * d).map(|i| (i as f64).cos()).collect();
            let (mut y, mut z) = (vec![0.0; 3 * d], vec![0.0; 3 * d]);
            factor_transposed_times(d, &l, &x, &mut y);
            factor_times(d, &l, &y, &mut z);
            let mut direct = vec![0.0; 3 * d];
            products::add_product(&matrix, &x, d, d, 3, &mut direct);
            for (a, b) in z.iter().zip(&direct) {
                assert!((a - b).abs() < 1e-11 * d as f64);
            }
            let mut quotient = l.clone();
            let mut half = l.clone();
            half.iter_mut().for_each(|v| *v *= 0.5);
            assert!((norm_of_quotient(d, &half, &mut quotient) - 4.0 * d as f64).abs() < 1e-10);
            let (mut inverse_l, mut other) = (vec![0.0; d * d], vec![0.0; d * d]);
            (0..d).for_each(|i| inverse_l[i * d + i] = 1.0);
            factor(d, &inverse_l.clone(), &mut other, &mut workspace).expect("positive definite");
            solve_factor(d, &l, &mut inverse_l);
            let expected = crate::linalg::dot(&inverse_l, &inverse_l);
            assert!((norm_of_quotient(d, &l, &mut other) - expected).abs() < 1e-12 * expected);
            solve_factor(d, &l, &mut z);
            solve_factor_transposed(d, &l, &mut z);
            inverse(d, &l, &mut inv, &mut workspace);
            let mut by_inverse = vec![0.0; 3 * d];
            products::add_product(&inv, &direct, d, d, 3, &mut by_inverse);
            for ((a, b), c) in z.iter().zip(&x).zip(&by_inverse) {
                assert!((a - b).abs() < 1e-10 && (c - b).abs() < 1e-10);
            }
        }
    }

    #[test]
    fn a_matrix_that_is_not_positive_definite_names_its_pivot() {
        for d in [4, 30] {
            let mut matrix = example(d);
            matrix[2 * d + 2] = -1.0;
            let mut l = vec![0.0; d * d];
            assert_eq!(factor(d, &matrix, &mut l, &mut Workspace::new(d)), Err(2));
            matrix[2 * d + 2] = f64::NAN;
            assert!(factor(d, &matrix, &mut l, &mut Workspace::new(d)).is_err());
        }
    }
}
