//! A few dense matrices by plain loops, row by row.

pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The lower factor C of a symmetric A = CCᵀ, row by row; nothing if A is not positive definite.
pub(super) fn cholesky(d: usize, a: &[f64]) -> Option<Vec<f64>> {
    let mut c = vec![0.0; d * d];
    for i in 0..d {
        for j in 0..=i {
            let (done, rest) = c.split_at_mut(i * d);
            let row = &mut rest[..d];
            if j < i {
                let other = &done[j * d..j * d + d];
                row[j] = (a[i * d + j] - dot(&row[..j], &other[..j])) / other[j];
            } else {
                let pivot = a[i * d + i] - dot(&row[..i], &row[..i]);
                if !(pivot > 0.0 && pivot.is_finite()) {
                    return None;
                }
                row[i] = pivot.sqrt();
            }
        }
    }
    Some(c)
}

/// CᵀHC for a lower C and a symmetric H.
pub(super) fn congruent(d: usize, c: &[f64], h: &[f64]) -> Vec<f64> {
    // HC, then Cᵀ(HC), both by rows.
    let mut hc = vec![0.0; d * d];
    for (row, out) in h.chunks_exact(d).zip(hc.chunks_exact_mut(d)) {
        for (j, factor) in row.iter().enumerate() {
            out[..=j].iter_mut().zip(&c[j * d..]).for_each(|(o, c)| *o += factor * c);
        }
    }
    let mut out = vec![0.0; d * d];
    for (j, row) in hc.chunks_exact(d).enumerate() {
        for i in 0..=j {
            let factor = c[j * d + i];
            out[i * d..(i + 1) * d].iter_mut().zip(row).for_each(|(o, v)| *o += factor * v);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_factor_gives_the_matrix_back_and_whitens_its_inverse() {
        let a = [4.0, 1.0, 0.5, 1.0, 3.0, -0.2, 0.5, -0.2, 2.0];
        let c = cholesky(3, &a).unwrap();
        for i in 0..3 {
            for j in 0..3 {
                assert!((dot(&c[3 * i..3 * i + 3], &c[3 * j..3 * j + 3]) - a[3 * i + j]).abs() < 1e-14);
            }
        }
        // CᵀIC = CᵀC has the trace of A.
        let unit = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
        let b = congruent(3, &c, &unit);
        assert!((b[0] + b[4] + b[8] - 9.0).abs() < 1e-13);
        assert!(cholesky(2, &[1.0, 2.0, 2.0, 1.0]).is_none());
    }
}
