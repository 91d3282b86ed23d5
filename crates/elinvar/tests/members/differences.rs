//! Derivatives by the five-point stencil, and small dense systems.

/// Step of the stencil: its error is h⁴/30 of a fifth derivative, rounding adds ε/h.
pub(crate) const H: f64 = 3e-4;

/// Offsets of the stencil in units of H, with the weights that give the derivative.
pub(crate) const STENCIL: [(f64, f64); 4] =
    [(-2.0, 1.0 / (12.0 * H)), (-1.0, -8.0 / (12.0 * H)), (1.0, 8.0 / (12.0 * H)), (2.0, -1.0 / (12.0 * H))];

/// ∂f/∂x_k at x, for a vector-valued f.
pub(crate) fn partial(x: &[f64], k: usize, mut f: impl FnMut(&[f64]) -> Vec<f64>) -> Vec<f64> {
    let mut out = Vec::new();
    for (offset, weight) in STENCIL {
        let mut at = x.to_vec();
        at[k] += offset * H;
        let value = f(&at);
        out.resize(value.len(), 0.0);
        out.iter_mut().zip(value).for_each(|(o, v)| *o += weight * v);
    }
    out
}

/// Df/Dx, column k = ∂f/∂x_k.
pub(crate) fn jacobian(x: &[f64], mut f: impl FnMut(&[f64]) -> Vec<f64>) -> Vec<Vec<f64>> {
    (0..x.len()).map(|k| partial(x, k, &mut f)).collect()
}

/// ∇f of a scalar function.
pub(crate) fn gradient(x: &[f64], mut f: impl FnMut(&[f64]) -> f64) -> Vec<f64> {
    (0..x.len()).map(|k| partial(x, k, |at| vec![f(at)])[0]).collect()
}

/// A⁻¹b for a matrix given by its columns, with row exchanges.
pub(crate) fn solve(columns: &[Vec<f64>], b: &[f64]) -> Vec<f64> {
    let n = b.len();
    let mut rows: Vec<Vec<f64>> =
        (0..n).map(|i| columns.iter().map(|column| column[i]).chain([b[i]]).collect()).collect();
    for k in 0..n {
        let pivot = (k..n).max_by(|i, j| rows[*i][k].abs().total_cmp(&rows[*j][k].abs())).unwrap();
        rows.swap(k, pivot);
        let top = rows[k].clone();
        for row in &mut rows[k + 1..] {
            let factor = row[k] / top[k];
            row.iter_mut().zip(&top).for_each(|(r, t)| *r -= factor * t);
        }
    }
    let mut x = vec![0.0; n];
    for k in (0..n).rev() {
        let known: f64 = (k + 1..n).map(|j| rows[k][j] * x[j]).sum();
        x[k] = (rows[k][n] - known) / rows[k][k];
    }
    x
}

/// The smallest eigenvalue of a symmetric matrix by Jacobi rotations.
pub(crate) fn smallest_eigenvalue(n: usize, matrix: &[f64]) -> f64 {
    let mut a = matrix.to_vec();
    for _ in 0..50 {
        for p in 0..n {
            for q in p + 1..n {
                if a[p * n + q] == 0.0 {
                    continue;
                }
                let theta = 0.5 * (2.0 * a[p * n + q]).atan2(a[q * n + q] - a[p * n + p]);
                let (s, c) = theta.sin_cos();
                for k in 0..n {
                    let (x, y) = (a[k * n + p], a[k * n + q]);
                    (a[k * n + p], a[k * n + q]) = (c * x - s * y, s * x + c * y);
                }
                for k in 0..n {
                    let (x, y) = (a[p * n + k], a[q * n + k]);
                    (a[p * n + k], a[q * n + k]) = (c * x - s * y, s * x + c * y);
                }
            }
        }
    }
    (0..n).map(|i| a[i * n + i]).fold(f64::INFINITY, f64::min)
}

/// Differences up to `tolerance` times the largest entry of the expected vector.
#[track_caller]
pub(crate) fn close(what: &str, found: &[f64], expected: &[f64], tolerance: f64) {
    let scale = expected.iter().fold(0.0f64, |scale, e| scale.max(e.abs()));
    within(what, found, expected, tolerance * scale);
}

/// Differences up to `absolute`.
#[track_caller]
pub(crate) fn within(what: &str, found: &[f64], expected: &[f64], absolute: f64) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (k, (f, e)) in found.iter().zip(expected).enumerate() {
        assert!((f - e).abs() <= absolute, "{what}[{k}]: found {f:e}, expected {e:e} within {absolute:e}");
    }
}
