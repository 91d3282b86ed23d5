//! Invertible matrices with a given condition number.

use elinvar::random::{Purpose, Stream};

/// A square matrix with its inverse, both column by column.
#[derive(Clone, Debug)]
pub(crate) struct LinearMap {
    pub(crate) forward: Vec<f64>,
    pub(crate) inverse: Vec<f64>,
    /// log |det|.
    pub(crate) log_det: f64,
}

impl LinearMap {
    pub(crate) fn identity(dim: usize) -> Self {
        let forward: Vec<f64> = (0..dim * dim).map(|i| f64::from(u8::from(i % (dim + 1) == 0))).collect();
        Self { inverse: forward.clone(), forward, log_det: 0.0 }
    }

    /// Q D Rᵀ with random rotations Q and R and singular values that fall geometrically from √condition to
    /// 1/√condition.
    pub(crate) fn with_condition(dim: usize, condition: f64, seed: u64) -> Self {
        let (q, r) = (rotation(dim, seed, 0), rotation(dim, seed, 1));
        let values = singular_values(dim, condition);
        let inverses: Vec<f64> = values.iter().map(|v| 1.0 / v).collect();
        let log_det = values.iter().map(|v| v.ln()).sum();
        Self { forward: sandwich(dim, &q, &values, &r), inverse: sandwich(dim, &r, &inverses, &q), log_det }
    }

    /// A diagonal matrix with the same singular values, in an order that alternates between large and small.
    pub(crate) fn scaling(dim: usize, condition: f64) -> Self {
        let values = singular_values(dim, condition);
        let mut map = Self::identity(dim);
        for i in 0..dim {
            let value = values[if i % 2 == 0 { i / 2 } else { dim - 1 - i / 2 }];
            map.forward[i * (dim + 1)] = value;
            map.inverse[i * (dim + 1)] = 1.0 / value;
            map.log_det += value.ln();
        }
        map
    }

    /// A x.
    pub(crate) fn apply(&self, x: &[f64], out: &mut [f64]) {
        times(&self.forward, x, out);
    }

    /// A⁻¹ z.
    pub(crate) fn solve(&self, z: &[f64], out: &mut [f64]) {
        times(&self.inverse, z, out);
    }

    /// Aᵀ g.
    pub(crate) fn apply_transposed(&self, g: &[f64], out: &mut [f64]) {
        times_transposed(&self.forward, g, out);
    }

    /// A⁻ᵀ g.
    pub(crate) fn solve_transposed(&self, g: &[f64], out: &mut [f64]) {
        times_transposed(&self.inverse, g, out);
    }
}

/// A covariance Q D Qᵀ of the given condition number, with its inverse.
pub(crate) fn covariance(dim: usize, condition: f64, seed: u64) -> LinearMap {
    let q = rotation(dim, seed, 0);
    let values = singular_values(dim, condition);
    let inverses: Vec<f64> = values.iter().map(|v| 1.0 / v).collect();
    let log_det = values.iter().map(|v| v.ln()).sum();
    LinearMap { forward: sandwich(dim, &q, &values, &q), inverse: sandwich(dim, &q, &inverses, &q), log_det }
}

fn singular_values(dim: usize, condition: f64) -> Vec<f64> {
    let last = (dim - 1).max(1) as f64;
    (0..dim).map(|i| condition.powf(0.5 - i as f64 / last)).collect()
}

/// A product of d reflections with normals from a fixed stream: an orthogonal matrix, column by column.
fn rotation(dim: usize, seed: u64, which: u32) -> Vec<f64> {
    let mut q = LinearMap::identity(dim).forward;
    let mut stream = Stream::open(seed, Purpose::Sample, 0, which);
    let mut normal = vec![0.0; dim];
    for _ in 0..dim {
        stream.fill_normal(&mut normal);
        let square: f64 = normal.iter().map(|v| v * v).sum();
        for column in q.chunks_exact_mut(dim) {
            let along: f64 = 2.0 * dot(column, &normal) / square;
            column.iter_mut().zip(&normal).for_each(|(q, v)| *q -= along * v);
        }
    }
    q
}

/// L diag(v) Rᵀ.
fn sandwich(dim: usize, left: &[f64], values: &[f64], right: &[f64]) -> Vec<f64> {
    let mut out = vec![0.0; dim * dim];
    for k in 0..dim {
        for j in 0..dim {
            let factor = values[k] * right[k * dim + j];
            for i in 0..dim {
                out[j * dim + i] += left[k * dim + i] * factor;
            }
        }
    }
    out
}

pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn times(matrix: &[f64], x: &[f64], out: &mut [f64]) {
    out.fill(0.0);
    for (column, x) in matrix.chunks_exact(x.len()).zip(x) {
        out.iter_mut().zip(column).for_each(|(o, c)| *o += c * x);
    }
}

fn times_transposed(matrix: &[f64], g: &[f64], out: &mut [f64]) {
    for (column, o) in matrix.chunks_exact(g.len()).zip(out) {
        *o = dot(column, g);
    }
}

/// Bᵀ H B for d × d matrices, column by column; exactly symmetric.
pub(crate) fn congruence(dim: usize, b: &[f64], h: &[f64], out: &mut [f64]) {
    let mut hb = vec![0.0; dim * dim];
    for (column, b) in hb.chunks_exact_mut(dim).zip(b.chunks_exact(dim)) {
        times(h, b, column);
    }
    for j in 0..dim {
        for i in j..dim {
            let value = dot(&b[i * dim..(i + 1) * dim], &hb[j * dim..(j + 1) * dim]);
            out[j * dim + i] = value;
            out[i * dim + j] = value;
        }
    }
}
