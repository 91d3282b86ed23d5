//! Matrix products: C += αAB, Xᵀ diag(w) X and its relatives.

use faer::linalg::matmul::matmul;
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::{Accum, MatMut, MatRef, Par};

use super::SMALL;

/// out = cAB or out += cAB.
pub(super) fn multiply(kept: Accum, c: f64, a: MatRef<'_, f64>, b: MatRef<'_, f64>, out: &mut [f64]) {
    let out = MatMut::from_column_major_slice_mut(out, a.nrows(), b.ncols());
    matmul(out, kept, a, b, c, Par::Seq);
}

/// out = X Z for a row-major X (n × d) and Z (d × s); out is n × s.
pub(crate) fn rows_times(x: &[f64], d: usize, z: &[f64], out: &mut [f64]) {
    let (n, s) = (x.len() / d, z.len() / d);
    multiply(Accum::Replace, 1.0, MatRef::from_row_major_slice(x, n, d), MatRef::from_column_major_slice(z, d, s), out);
}

/// out += X Z, as [`rows_times`].
pub(crate) fn add_rows_times(x: &[f64], d: usize, z: &[f64], out: &mut [f64]) {
    let (n, s) = (x.len() / d, z.len() / d);
    multiply(Accum::Add, 1.0, MatRef::from_row_major_slice(x, n, d), MatRef::from_column_major_slice(z, d, s), out);
}

/// out += Xᵀ R for a row-major X (n × d) and R (n × s); out is d × s.
pub(crate) fn add_rows_transposed_times(x: &[f64], d: usize, r: &[f64], out: &mut [f64]) {
    let n = x.len() / d;
    let s = out.len() / d;
    multiply(
        Accum::Add,
        1.0,
        MatRef::from_row_major_slice(x, n, d).transpose(),
        MatRef::from_column_major_slice(r, n, s),
        out,
    );
}

/// out += A B, where A is m × k and B is k × n.
pub(crate) fn add_product(a: &[f64], b: &[f64], m: usize, k: usize, n: usize, out: &mut [f64]) {
    if m.max(k) <= SMALL {
        for (b_column, out_column) in b.chunks_exact(k).zip(out.chunks_exact_mut(m)) {
            for (a_column, factor) in a.chunks_exact(m).zip(b_column) {
                super::axpy(*factor, a_column, out_column);
            }
        }
        return;
    }
    multiply(Accum::Add, 1.0, MatRef::from_column_major_slice(a, m, k), MatRef::from_column_major_slice(b, k, n), out);
}

/// out += Aᵀ B, where A is d × m and B is d × n.
pub(crate) fn add_transposed_product(a: &[f64], b: &[f64], d: usize, out: &mut [f64]) {
    let (m, n) = (a.len() / d, b.len() / d);
    if d <= SMALL && m <= SMALL {
        for (b_column, out_column) in b.chunks_exact(d).zip(out.chunks_exact_mut(m)) {
            for (entry, a_column) in out_column.iter_mut().zip(a.chunks_exact(d)) {
                *entry += super::dot(a_column, b_column);
            }
        }
        return;
    }
    matmul(
        MatMut::from_column_major_slice_mut(out, m, n),
        Accum::Add,
        MatRef::from_column_major_slice(a, d, m).transpose(),
        MatRef::from_column_major_slice(b, d, n),
        1.0,
        Par::Seq,
    );
}

/// Number of rows that are scaled and multiplied at a time; also the scratch length in units of d.
pub(crate) const GRAM_BLOCK: usize = 256;

/// Up to this many rows of dimension up to [`SMALL`] are added one by one; with 32 rows the library is as fast, with
/// 256 three times faster.
const FEW_ROWS: usize = 16;

/// Lower triangle of out += Xᵀ diag(w) X for a row-major X (n × d); `scratch` holds min(n, GRAM_BLOCK)·d numbers.
///
/// With the draws as columns of a d × n matrix R this is R diag(w) Rᵀ.
pub(crate) fn add_weighted_gram(x: &[f64], d: usize, w: &[f64], scratch: &mut [f64], out: &mut [f64]) {
    if d <= SMALL && w.len() <= FEW_ROWS {
        for (row, weight) in x.chunks_exact(d).zip(w) {
            for (j, out_column) in out.chunks_exact_mut(d).enumerate() {
                super::axpy(weight * row[j], &row[j..], &mut out_column[j..]);
            }
        }
        return;
    }
    for (block, weights) in x.chunks(GRAM_BLOCK * d).zip(w.chunks(GRAM_BLOCK)) {
        let scaled = scale_rows(block, weights, 1.0, d, scratch);
        add_lower_product(scaled, block, d, weights.len(), out);
    }
}

/// The rows (of d numbers), each times its weight and `factor`, in the first numbers of `scratch`.
fn scale_rows<'s>(rows: &[f64], weights: &[f64], factor: f64, d: usize, scratch: &'s mut [f64]) -> &'s [f64] {
    let scaled = &mut scratch[..weights.len() * d];
    for ((row, weight), scaled_row) in rows.chunks_exact(d).zip(weights).zip(scaled.chunks_exact_mut(d)) {
        for (value, target) in row.iter().zip(scaled_row) {
            *target = factor * weight * value;
        }
    }
    scaled
}

/// Lower triangle of out += Xᵀ Y for row-major X, Y (n × d) whose product is symmetric.
fn add_lower_product(x: &[f64], y: &[f64], d: usize, n: usize, out: &mut [f64]) {
    let (x, y) = (MatRef::from_row_major_slice(x, n, d), MatRef::from_row_major_slice(y, n, d));
    add_lower_of(x.transpose(), y, out);
}

/// Lower triangle of out += A B.
fn add_lower_of(a: MatRef<'_, f64>, b: MatRef<'_, f64>, out: &mut [f64]) {
    triangular::matmul(
        MatMut::from_column_major_slice_mut(out, a.nrows(), a.nrows()),
        BlockStructure::TriangularLower,
        Accum::Add,
        a,
        BlockStructure::Rectangular,
        b,
        BlockStructure::Rectangular,
        1.0,
        Par::Seq,
    );
}

/// Lower triangle of out += Wᵀ W for a column-major d × d matrix W.
pub(crate) fn add_transposed_gram(w: &[f64], d: usize, out: &mut [f64]) {
    if d <= SMALL {
        for j in 0..d {
            for i in j..d {
                out[j * d + i] += super::dot(&w[i * d..(i + 1) * d], &w[j * d..(j + 1) * d]);
            }
        }
        return;
    }
    let w = MatRef::from_column_major_slice(w, d, d);
    add_lower_of(w.transpose(), w, out);
}

/// Lower triangle of out += ½ Σ_s w_s (r_s g_sᵀ + g_s r_sᵀ); `scratch` holds min(n, GRAM_BLOCK)·d numbers.
pub(crate) fn add_symmetrised(r: &[f64], g: &[f64], d: usize, w: &[f64], scratch: &mut [f64], out: &mut [f64]) {
    if d <= SMALL {
        for ((r, g), weight) in r.chunks_exact(d).zip(g.chunks_exact(d)).zip(w) {
            for (j, out_column) in out.chunks_exact_mut(d).enumerate() {
                super::axpy(0.5 * weight * g[j], &r[j..], &mut out_column[j..]);
                super::axpy(0.5 * weight * r[j], &g[j..], &mut out_column[j..]);
            }
        }
        return;
    }
    let blocks = r.chunks(GRAM_BLOCK * d).zip(g.chunks(GRAM_BLOCK * d)).zip(w.chunks(GRAM_BLOCK));
    for ((r, g), weights) in blocks {
        let n = weights.len();
        let scaled = scale_rows(r, weights, 0.5, d, scratch);
        add_lower_product(scaled, g, d, n, out);
        add_lower_product(g, scaled, d, n, out);
    }
}

/// out += Σ_s w_s r_s g_sᵀ; `scratch` holds min(n, GRAM_BLOCK)·d numbers.
pub(crate) fn add_weighted_cross(r: &[f64], g: &[f64], d: usize, w: &[f64], scratch: &mut [f64], out: &mut [f64]) {
    if d <= SMALL {
        for ((r, g), weight) in r.chunks_exact(d).zip(g.chunks_exact(d)).zip(w) {
            for (g, out_column) in g.iter().zip(out.chunks_exact_mut(d)) {
                super::axpy(weight * g, r, out_column);
            }
        }
        return;
    }
    let blocks = r.chunks(GRAM_BLOCK * d).zip(g.chunks(GRAM_BLOCK * d)).zip(w.chunks(GRAM_BLOCK));
    for ((r, g), weights) in blocks {
        let n = weights.len();
        let scaled = scale_rows(r, weights, 1.0, d, scratch);
        let (scaled, g) = (MatRef::from_row_major_slice(scaled, n, d), MatRef::from_row_major_slice(g, n, d));
        multiply(Accum::Add, 1.0, scaled.transpose(), g, out);
    }
}

/// Copies the strict lower triangle of a d × d matrix onto the upper one.
pub(crate) fn mirror_lower(d: usize, matrix: &mut [f64]) {
    for j in 0..d {
        for i in j + 1..d {
            matrix[i * d + j] = matrix[j * d + i];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(n: usize, seed: u64) -> Vec<f64> {
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 11) as f64 / (1u64 << 53) as f64 - 0.5
        };
        (0..n).map(|_| next()).collect()
    }

    fn assert_close(a: &[f64], b: &[f64]) {
        for (a, b) in a.iter().zip(b) {
            assert!((a - b).abs() < 1e-12, "{a} and {b} differ");
        }
    }

    #[test]
    fn products_agree_with_the_definition_on_both_sides_of_the_switch() {
        for d in [1, 2, 7, SMALL, SMALL + 1, 40] {
            for n in [10, 300] {
                let s = 5;
                let (x, z, w, r) = (numbers(n * d, 1), numbers(d * s, 2), numbers(n, 3), numbers(n * s, 4));
                let mut xz = vec![0.0; n * s];
                rows_times(&x, d, &z, &mut xz);
                let expected: Vec<f64> = (0..s)
                    .flat_map(|k| (0..n).map(move |i| (i, k)))
                    .map(|(i, k)| crate::linalg::dot(&x[i * d..(i + 1) * d], &z[k * d..(k + 1) * d]))
                    .collect();
                assert_close(&xz, &expected);

                let mut xr = vec![0.0; d * s];
                add_rows_transposed_times(&x, d, &r, &mut xr);
                let expected: Vec<f64> = (0..s)
                    .flat_map(|k| (0..d).map(move |j| (j, k)))
                    .map(|(j, k)| (0..n).map(|i| x[i * d + j] * r[k * n + i]).sum())
                    .collect();
                assert_close(&xr, &expected);

                let mut across = vec![0.0; n * s];
                add_transposed_product(&x, &z, d, &mut across);
                assert_close(&across, &xz);

                let (mut gram, mut sym) = (vec![0.0; d * d], vec![0.0; d * d]);
                let mut scratch = vec![0.0; GRAM_BLOCK * d];
                let y = numbers(n * d, 5);
                add_weighted_gram(&x, d, &w, &mut scratch, &mut gram);
                add_symmetrised(&x, &y, d, &w, &mut scratch, &mut sym);
                mirror_lower(d, &mut gram);
                mirror_lower(d, &mut sym);
                for i in 0..d {
                    for j in 0..d {
                        let g: f64 = (0..n).map(|k| w[k] * x[k * d + i] * x[k * d + j]).sum();
                        let h: f64 = (0..n)
                            .map(|k| 0.5 * w[k] * (x[k * d + i] * y[k * d + j] + y[k * d + i] * x[k * d + j]))
                            .sum();
                        assert_close(&[gram[j * d + i], sym[j * d + i]], &[g, h]);
                    }
                }

                let mut product = vec![1.0; d * s];
                let a = numbers(d * d, 6);
                add_product(&a, &z, d, d, s, &mut product);
                for k in 0..s {
                    for i in 0..d {
                        let e: f64 = 1.0 + (0..d).map(|j| a[j * d + i] * z[k * d + j]).sum::<f64>();
                        assert_close(&[product[k * d + i]], &[e]);
                    }
                }
            }
        }
    }

    #[test]
    fn a_weighted_cross_product_is_its_sum_on_both_sides_of_the_switch() {
        for (d, n) in [(3, 50), (SMALL + 3, 7), (40, 300)] {
            let (r, g, w) = (numbers(n * d, 1), numbers(n * d, 2), numbers(n, 3));
            let (mut found, mut scratch) = (vec![1.0; d * d], vec![0.0; d * GRAM_BLOCK]);
            add_weighted_cross(&r, &g, d, &w, &mut scratch, &mut found);
            let entry = |at: usize| (0..n).map(|s| w[s] * r[s * d + at % d] * g[s * d + at / d]).sum::<f64>();
            let expected: Vec<f64> = (0..d * d).map(|at| 1.0 + entry(at)).collect();
            assert_close(&found, &expected);
        }
    }
}
