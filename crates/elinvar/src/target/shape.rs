//! Which entries of a symmetric matrix are stored, and how sums of products are added to them.

use serde::{Deserialize, Serialize};

use crate::linalg::{axpy, dot, eigen, products};

/// Whether a scale matrix is a full symmetric matrix or a diagonal:
/// [`Family::with_covariance`](crate::Family::with_covariance).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Covariance {
    /// All d(d+1)/2 entries.
    Full,
    /// The diagonal only.
    Diagonal,
}

impl std::fmt::Display for Covariance {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Covariance::Full => "full",
            Covariance::Diagonal => "diagonal",
        })
    }
}

impl Covariance {
    /// How many numbers store one matrix of dimension `dim`.
    pub fn n_entries(self, dim: usize) -> usize {
        match self {
            Covariance::Full => dim * dim,
            Covariance::Diagonal => dim,
        }
    }
}

/// The shape of a symmetric matrix of dimension d.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Shape {
    /// All d² entries, column-major.
    Full(usize),
    /// The d entries of the diagonal.
    Diagonal(usize),
}

impl Shape {
    /// The shape of a scale matrix of dimension `dim`.
    pub fn new(covariance: Covariance, dim: usize) -> Self {
        match covariance {
            Covariance::Full => Shape::Full(dim),
            Covariance::Diagonal => Shape::Diagonal(dim),
        }
    }

    /// d.
    pub fn dim(self) -> usize {
        match self {
            Shape::Full(dim) | Shape::Diagonal(dim) => dim,
        }
    }

    /// The word for it.
    pub fn covariance(self) -> Covariance {
        match self {
            Shape::Full(_) => Covariance::Full,
            Shape::Diagonal(_) => Covariance::Diagonal,
        }
    }

    /// How many numbers store one matrix; as many as there can be, if they are more than that.
    pub fn n_entries(self) -> usize {
        match self {
            Shape::Full(dim) => dim.saturating_mul(dim),
            Shape::Diagonal(dim) => dim,
        }
    }

    /// The distance between two entries of the diagonal.
    pub(crate) fn stride(self) -> usize {
        match self {
            Shape::Full(dim) => dim + 1,
            Shape::Diagonal(_) => 1,
        }
    }

    /// The matrix with this diagonal and nothing beside it.
    pub(crate) fn with_diagonal(self, diagonal: impl IntoIterator<Item = f64>) -> Vec<f64> {
        let mut matrix = vec![0.0; self.n_entries()];
        matrix.iter_mut().step_by(self.stride()).zip(diagonal).for_each(|(entry, value)| *entry = value);
        matrix
    }

    /// tr(MC) for a matrix M of this shape and a full one C.
    pub(crate) fn trace_with_full(self, matrix: &[f64], full: &[f64]) -> f64 {
        match self {
            Shape::Full(_) => dot(matrix, full),
            Shape::Diagonal(dim) => (0..dim).map(|i| matrix[i] * full[i * dim + i]).sum(),
        }
    }

    /// The smallest eigenvalue of a matrix; NaN if it cannot be found.
    pub(crate) fn smallest_eigenvalue(self, matrix: &[f64]) -> f64 {
        match self {
            Shape::Full(dim) => eigen::symmetric(dim, matrix).map_or(f64::NAN, |(values, _)| values[0]),
            Shape::Diagonal(_) => matrix.iter().copied().fold(f64::INFINITY, f64::min),
        }
    }

    /// acc += c v vᵀ.
    pub(crate) fn add_outer(self, c: f64, v: &[f64], acc: &mut [f64]) {
        match self {
            Shape::Full(_) => {
                for (column, vj) in acc.chunks_exact_mut(v.len()).zip(v) {
                    axpy(c * vj, v, column);
                }
            }
            Shape::Diagonal(_) => {
                for (entry, vi) in acc.iter_mut().zip(v) {
                    *entry += c * vi * vi;
                }
            }
        }
    }

    /// The same with products that round alike in both triangles.
    pub(crate) fn add_outer_alike(self, c: f64, v: &[f64], acc: &mut [f64]) {
        match self {
            Shape::Full(dim) => {
                for (column, vj) in acc.chunks_exact_mut(dim).zip(v) {
                    for (entry, vi) in column.iter_mut().zip(v) {
                        *entry += c * (vi * vj);
                    }
                }
            }
            Shape::Diagonal(_) => {
                for (entry, vi) in acc.iter_mut().zip(v) {
                    *entry += c * (vi * vi);
                }
            }
        }
    }

    /// acc += c M for a full matrix M, as far as this shape stores it.
    pub(crate) fn add_full(self, c: f64, full: &[f64], acc: &mut [f64]) {
        match self {
            Shape::Full(_) => acc.iter_mut().zip(full).for_each(|(entry, value)| *entry += c * value),
            Shape::Diagonal(dim) => {
                acc.iter_mut().zip(full.iter().step_by(dim + 1)).for_each(|(entry, value)| *entry += c * value);
            }
        }
    }

    /// acc += Σ_s w_s r_s r_sᵀ; only the lower triangle is written until [`Shape::complete`].
    pub(crate) fn add_weighted_gram(self, r: &[f64], w: &[f64], scratch: &mut [f64], acc: &mut [f64]) {
        match self {
            Shape::Full(dim) => products::add_weighted_gram(r, dim, w, scratch, acc),
            Shape::Diagonal(dim) => {
                for (column, weight) in r.chunks_exact(dim).zip(w) {
                    self.add_outer(*weight, column, acc);
                }
            }
        }
    }

    /// acc += ½ Σ_s w_s (r_s g_sᵀ + g_s r_sᵀ), with the same remark.
    pub(crate) fn add_symmetrised(self, r: &[f64], g: &[f64], w: &[f64], scratch: &mut [f64], acc: &mut [f64]) {
        match self {
            Shape::Full(dim) => products::add_symmetrised(r, g, dim, w, scratch, acc),
            Shape::Diagonal(dim) => {
                for ((r, g), weight) in r.chunks_exact(dim).zip(g.chunks_exact(dim)).zip(w) {
                    for ((entry, ri), gi) in acc.iter_mut().zip(r).zip(g) {
                        *entry += weight * ri * gi;
                    }
                }
            }
        }
    }

    /// Fills the upper triangle from the lower one.
    pub(crate) fn complete(self, acc: &mut [f64]) {
        if let Shape::Full(dim) = self {
            products::mirror_lower(dim, acc);
        }
    }

    /// out += c M for a matrix M of this shape and a full one `out`.
    pub(crate) fn add_to_full(self, c: f64, matrix: &[f64], out: &mut [f64]) {
        match self {
            Shape::Full(_) => axpy(c, matrix, out),
            Shape::Diagonal(dim) => {
                out.iter_mut().step_by(dim + 1).zip(matrix).for_each(|(entry, m)| *entry += c * m);
            }
        }
    }
}

/// What the exact view of the theory asks besides.
#[cfg(feature = "theory")]
impl Shape {
    /// Rows and columns (i, j), i ≥ j, of its free entries, in their order.
    pub(crate) fn positions(self) -> Vec<(usize, usize)> {
        match self {
            Shape::Full(dim) => (0..dim).flat_map(|j| (j..dim).map(move |i| (i, j))).collect(),
            Shape::Diagonal(dim) => (0..dim).map(|i| (i, i)).collect(),
        }
    }

    /// Index of such an entry.
    pub(crate) fn index(self, i: usize, j: usize) -> usize {
        match self {
            Shape::Full(dim) => j * dim + i,
            Shape::Diagonal(_) => i,
        }
    }

    /// (Mv)_i.
    pub(crate) fn row_times(self, matrix: &[f64], i: usize, v: &[f64]) -> f64 {
        match self {
            Shape::Full(dim) => dot(&matrix[i * dim..(i + 1) * dim], v),
            Shape::Diagonal(_) => matrix[i] * v[i],
        }
    }
}
