//! The k × k algebra of a factor covariance: W = (I + AᵀPA)⁻¹ and (Σ + AAᵀ)⁻¹ = P − XXᵀ.

use crate::block::Location;
use crate::linalg::{axpy, cholesky, dot};

/// Factors of I + AᵀPA = M Mᵀ, so that W = M⁻ᵀM⁻¹, with white = LᵀA and X = PA M⁻ᵀ.
#[derive(Debug)]
pub(super) struct Factors {
    rank: usize,
    /// LᵀA, d × k.
    pub(super) white: Vec<f64>,
    /// M, k × k.
    pub(super) m: Vec<f64>,
    /// X = PA M⁻ᵀ, d × k: PAWAᵀP = XXᵀ.
    pub(super) x: Vec<f64>,
    inner: Vec<f64>,
    workspace: cholesky::Workspace,
}

impl Factors {
    pub(super) fn new(dim: usize, rank: usize) -> Self {
        Self {
            rank,
            white: vec![0.0; dim * rank],
            m: vec![0.0; rank * rank],
            x: vec![0.0; dim * rank],
            inner: vec![0.0; rank * rank],
            workspace: cholesky::Workspace::new(rank),
        }
    }

    /// The factors of a block.
    pub(super) fn of(block: &Location) -> Self {
        let mut factors = Self::new(block.dim(), block.n_columns() - 1);
        factors.update(block);
        factors
    }

    pub(super) fn update(&mut self, block: &Location) {
        let (d, k) = (block.dim(), self.rank);
        block.scale().whiten(&block.b()[d..], &mut self.white);
        for j in 0..k {
            for i in 0..k {
                let product = dot(&self.white[i * d..(i + 1) * d], &self.white[j * d..(j + 1) * d]);
                self.inner[j * k + i] = product + if i == j { 1.0 } else { 0.0 };
            }
        }
        // I + AᵀPA has eigenvalues of at least one: it factors whenever its entries are finite.
        if cholesky::factor(k, &self.inner, &mut self.m, &mut self.workspace).is_err() {
            self.m.fill(f64::NAN);
        }
        block.scale().factor_times(&self.white, &mut self.x);
        for j in 0..k {
            let (done, rest) = self.x.split_at_mut(j * d);
            let column = &mut rest[..d];
            for (i, earlier) in done.chunks_exact(d).enumerate() {
                axpy(-self.m[i * k + j], earlier, column);
            }
            let pivot = self.m[j * k + j];
            column.iter_mut().for_each(|v| *v /= pivot);
        }
    }

    /// log |(Σ + AAᵀ)⁻¹| = log|P| + log|W|.
    pub(super) fn log_det(&self, block: &Location) -> f64 {
        block.scale().log_det_precision() - cholesky::log_det(self.rank, &self.m)
    }

    /// (z−μ)ᵀ(Σ+AAᵀ)⁻¹(z−μ) and −(Σ+AAᵀ)⁻¹(z−μ).
    pub(super) fn quadratic(&self, block: &Location, z: &[f64]) -> (f64, Vec<f64>) {
        let d = block.dim();
        assert_eq!(z.len(), d, "a point has {d} coordinates");
        let difference: Vec<f64> = z.iter().zip(block.column(0)).map(|(z, mu)| z - mu).collect();
        let (mut y, mut score) = (vec![0.0; d], vec![0.0; d]);
        block.scale().whiten(&difference, &mut y);
        block.scale().factor_times(&y, &mut score);
        score.iter_mut().for_each(|v| *v = -*v);
        let mut q = dot(&y, &y);
        for x in self.x.chunks_exact(d) {
            let along = dot(x, &difference);
            q -= along * along;
            axpy(along, x, &mut score);
        }
        (q, score)
    }
}
