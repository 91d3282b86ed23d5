//! Numbers that carry their first and second derivatives by two parameters of a kernel, and triangular matrices of
//! them.

use elinvar::target::TargetError;

/// Number of parameters.
pub(super) const N_KERNEL: usize = 2;
/// A number with its derivatives by the first (1) and the second parameter (2): value, 1, 2, 11, 12, 22; or the value
/// alone.
pub(super) type Jet<const J: usize> = [f64; J];
/// Length of a [`Jet`] without derivatives.
pub(super) const VALUE: usize = 1;
/// Length of a [`Jet`] with them.
pub(super) const FULL: usize = 6;
/// Where the second derivative by two of the parameters stands in a [`Jet`].
pub(super) const SECOND: [[usize; N_KERNEL]; N_KERNEL] = [[3, 4], [4, 5]];

const OUT_OF_RANGE: &str = "the covariance of the process is not positive definite in double precision";

/// a + c · b for a number c.
pub(super) fn add_scaled<const J: usize>(a: &mut Jet<J>, c: f64, b: &Jet<J>) {
    a.iter_mut().zip(b).for_each(|(a, b)| *a += c * b);
}

/// a + bc.
pub(super) fn add_product<const J: usize>(a: &mut Jet<J>, b: &Jet<J>, c: &Jet<J>) {
    a[0] += b[0] * c[0];
    if J < FULL {
        return;
    }
    a[1] += b[0] * c[1] + b[1] * c[0];
    a[2] += b[0] * c[2] + b[2] * c[0];
    a[3] += b[0] * c[3] + 2.0 * b[1] * c[1] + b[3] * c[0];
    a[4] += b[0] * c[4] + b[1] * c[2] + b[2] * c[1] + b[4] * c[0];
    a[5] += b[0] * c[5] + 2.0 * b[2] * c[2] + b[5] * c[0];
}

/// bc.
fn product<const J: usize>(b: &Jet<J>, c: &Jet<J>) -> Jet<J> {
    let mut a = [0.0; J];
    add_product(&mut a, b, c);
    a
}

fn negative<const J: usize>(a: &Jet<J>) -> Jet<J> {
    a.map(|v| -v)
}

/// g(a) for a function with value and first two derivatives `g` at a.
fn chain<const J: usize>(a: &Jet<J>, g: [f64; 3]) -> Jet<J> {
    let mut out = [0.0; J];
    out[0] = g[0];
    if J == FULL {
        out[1] = g[1] * a[1];
        out[2] = g[1] * a[2];
        out[3] = g[1] * a[3] + g[2] * a[1] * a[1];
        out[4] = g[1] * a[4] + g[2] * a[1] * a[2];
        out[5] = g[1] * a[5] + g[2] * a[2] * a[2];
    }
    out
}

/// 1/a.
fn reciprocal<const J: usize>(a: &Jet<J>) -> Jet<J> {
    let inv = 1.0 / a[0];
    chain(a, [inv, -inv * inv, 2.0 * inv * inv * inv])
}

/// log a.
pub(super) fn logarithm<const J: usize>(a: &Jet<J>) -> Jet<J> {
    let inv = 1.0 / a[0];
    chain(a, [a[0].ln(), inv, -inv * inv])
}

/// Where row i of a lower triangle begins: rows follow each other, row i of i + 1 jets.
pub(super) fn row_start(i: usize) -> usize {
    i * (i + 1) / 2
}

/// Row i of a lower triangle.
pub(super) fn row<const J: usize>(triangle: &[Jet<J>], i: usize) -> &[Jet<J>] {
    &triangle[row_start(i)..][..=i]
}

/// Replaces the lower triangle of a matrix by its Cholesky factor.
pub(super) fn factor<const J: usize>(n: usize, triangle: &mut [Jet<J>]) -> Result<(), TargetError> {
    for i in 0..n {
        let (above, own) = triangle.split_at_mut(row_start(i));
        for j in 0..i {
            let other = row(above, j);
            let mut entry = own[j];
            (0..j).for_each(|m| add_product(&mut entry, &negative(&own[m]), &other[m]));
            own[j] = product(&entry, &reciprocal(&other[j]));
        }
        let mut square = own[i];
        (0..i).for_each(|m| add_product(&mut square, &negative(&own[m]), &own[m]));
        if !(square[0] > 0.0 && square.iter().all(|v| v.is_finite())) {
            return Err(TargetError::recoverable(OUT_OF_RANGE));
        }
        let root = square[0].sqrt();
        own[i] = chain(&square, [root, 0.5 / root, -0.25 / (root * square[0])]);
    }
    Ok(())
}

/// Replaces a lower triangular matrix by its inverse.
pub(super) fn invert<const J: usize>(n: usize, triangle: &mut [Jet<J>]) {
    for i in 0..n {
        let (above, own) = triangle.split_at_mut(row_start(i));
        let inverse = reciprocal(&own[i]);
        // Row i of the inverse: −(Σ_m M_im X_mj)/M_ii; entry j needs the old entries m ≥ j only.
        for j in 0..i {
            let mut sum = [0.0; J];
            (j..i).for_each(|m| add_product(&mut sum, &own[m], &row(above, m)[j]));
            own[j] = negative(&product(&sum, &inverse));
        }
        own[i] = inverse;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A positive definite 3 × 3 matrix that depends on two parameters, as jets of its lower triangle.
    fn matrix(a: f64, b: f64) -> Vec<Jet<FULL>> {
        vec![
            [3.0 + a * a, 2.0 * a, 0.0, 2.0, 0.0, 0.0],
            [a * b, b, a, 0.0, 1.0, 0.0],
            [4.0 + b.exp(), 0.0, b.exp(), 0.0, 0.0, b.exp()],
            [a.sin(), a.cos(), 0.0, -a.sin(), 0.0, 0.0],
            [0.5 * b, 0.0, 0.5, 0.0, 0.0, 0.0],
            [2.0 + (a - b) * (a - b), 2.0 * (a - b), -2.0 * (a - b), 2.0, -2.0, 2.0],
        ]
    }

    #[test]
    fn factor_and_inverse_agree_with_differences_of_their_values() {
        let at = |a: f64, b: f64, inverted: bool| {
            let mut l = matrix(a, b);
            factor(3, &mut l).unwrap();
            if inverted {
                invert(3, &mut l);
            }
            l
        };
        let (a, b, h) = (0.4, -0.3, 1e-3);
        for inverted in [false, true] {
            let found = at(a, b, inverted);
            let value = |i: usize, da: f64, db: f64| at(a + da * h, b + db * h, inverted)[i][0];
            for (i, jet) in found.iter().enumerate() {
                let mixed = value(i, 1.0, 1.0) - value(i, 1.0, -1.0) - value(i, -1.0, 1.0) + value(i, -1.0, -1.0);
                let expected = [
                    (value(i, 1.0, 0.0) - value(i, -1.0, 0.0)) / (2.0 * h),
                    (value(i, 0.0, 1.0) - value(i, 0.0, -1.0)) / (2.0 * h),
                    (value(i, 1.0, 0.0) - 2.0 * jet[0] + value(i, -1.0, 0.0)) / (h * h),
                    mixed / (4.0 * h * h),
                    (value(i, 0.0, 1.0) - 2.0 * jet[0] + value(i, 0.0, -1.0)) / (h * h),
                ];
                for (found, expected) in jet[1..].iter().zip(expected) {
                    assert!((found - expected).abs() < 1e-5, "{inverted}, entry {i}: {jet:?} {expected}");
                }
            }
        }
    }

    #[test]
    fn factor_times_its_transpose_and_inverse_times_factor() {
        let original = matrix(0.4, -0.3);
        let mut l = original.clone();
        factor(3, &mut l).unwrap();
        let mut x = l.clone();
        invert(3, &mut x);
        for i in 0..3 {
            for j in 0..=i {
                let (mut square, mut identity) = ([0.0; FULL], [0.0; FULL]);
                (0..=j).for_each(|m| add_product(&mut square, &row(&l, i)[m], &row(&l, j)[m]));
                (j..=i).for_each(|m| add_product(&mut identity, &row(&x, i)[m], &row(&l, m)[j]));
                let one = if i == j { 1.0 } else { 0.0 };
                let expected = row(&original, i)[j];
                assert!(square.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-13), "{i} {j}: {square:?}");
                assert!((identity[0] - one).abs() < 1e-14 && identity[1..].iter().all(|v| v.abs() < 1e-13));
            }
        }
        assert!(factor(1, &mut [[-1.0, 0.0, 0.0, 0.0, 0.0, 0.0]]).unwrap_err().recoverable);
    }
}
