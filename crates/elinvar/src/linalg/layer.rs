//! The products of an affine layer: items × units matrices with unit after unit in memory, weights with a unit per
//! column.

use faer::{Accum, MatRef};

use super::products::multiply;

/// out = A W for A (n × f) and W (f × o).
pub(crate) fn forward(a: &[f64], w: &[f64], n: usize, f: usize, o: usize, out: &mut [f64]) {
    multiply(
        Accum::Replace,
        1.0,
        MatRef::from_column_major_slice(a, n, f),
        MatRef::from_column_major_slice(w, f, o),
        out,
    );
}

/// out += c AᵀD for A (n × f) and D (n × o).
pub(crate) fn add_gradient(c: f64, a: &[f64], delta: &[f64], n: usize, f: usize, o: usize, out: &mut [f64]) {
    multiply(
        Accum::Add,
        c,
        MatRef::from_column_major_slice(a, n, f).transpose(),
        MatRef::from_column_major_slice(delta, n, o),
        out,
    );
}

/// out = D Wᵀ without the column of the last row of W, for D (n × o) and W (f × o); out is n × (f − 1).
pub(crate) fn backward(delta: &[f64], w: &[f64], n: usize, f: usize, o: usize, out: &mut [f64]) {
    multiply(
        Accum::Replace,
        1.0,
        MatRef::from_column_major_slice(delta, n, o),
        MatRef::from_column_major_slice(w, f, o).subrows(0, f - 1).transpose(),
        out,
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(n: usize, seed: f64) -> Vec<f64> {
        (0..n).map(|i| (seed + 0.7 * i as f64 * i as f64).sin()).collect()
    }

    #[test]
    fn the_three_products_agree_with_their_definition() {
        for (n, f, o) in [(1, 2, 1), (5, 3, 2), (40, 14, 50), (33, 51, 1)] {
            let (a, w, delta) = (numbers(n * f, 0.1), numbers(f * o, 0.2), numbers(n * o, 0.3));
            let (mut h, mut grad, mut back) = (vec![9.0; n * o], vec![1.0; f * o], vec![9.0; n * (f - 1)]);
            forward(&a, &w, n, f, o, &mut h);
            add_gradient(-2.0, &a, &delta, n, f, o, &mut grad);
            backward(&delta, &w, n, f, o, &mut back);
            for j in 0..o {
                for i in 0..n {
                    let expected: f64 = (0..f).map(|k| a[k * n + i] * w[j * f + k]).sum();
                    assert!((h[j * n + i] - expected).abs() < 1e-12);
                }
                for k in 0..f {
                    let expected = 1.0 - 2.0 * (0..n).map(|i| a[k * n + i] * delta[j * n + i]).sum::<f64>();
                    assert!((grad[j * f + k] - expected).abs() < 1e-12);
                }
            }
            for k in 0..f - 1 {
                for i in 0..n {
                    let expected: f64 = (0..o).map(|j| delta[j * n + i] * w[j * f + k]).sum();
                    assert!((back[k * n + i] - expected).abs() < 1e-12);
                }
            }
        }
    }
}
