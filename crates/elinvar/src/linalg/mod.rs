//! Dense linear algebra on slices: the only place that names the matrix library.
//!
//! Matrices are column-major slices. A design matrix is row-major (N × d), which is the same memory as a column-major d
//! × N matrix: one routine serves both readings. Below [`SMALL`] plain loops are used, because there the fixed cost of
//! a call into the library was measured to be larger than the work.

pub(crate) mod cholesky;
pub(crate) mod eigen;
pub(crate) mod layer;
pub(crate) mod products;
pub(crate) mod singular;

/// Dimensions up to this are handled by plain loops.
pub(crate) const SMALL: usize = 16;

/// Σ x_i y_i.
#[inline]
pub(crate) fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(a, b)| a * b).sum()
}

/// y += c x.
#[inline]
pub(crate) fn axpy(c: f64, x: &[f64], y: &mut [f64]) {
    for (b, a) in y.iter_mut().zip(x) {
        *b += c * a;
    }
}
