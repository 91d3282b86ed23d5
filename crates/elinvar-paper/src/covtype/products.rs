//! What an epoch cannot avoid: reading the rows once, and the matrix products over them.

use std::ops::Range;
use std::time::Instant;

use elinvar::internals::target::Minibatch;
use elinvar::model::DesignMatrix;
use faer::linalg::matmul::matmul;
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::{Accum, MatMut, MatRef, Par};

/// Rows of a product, as many as a cache holds.
const BLOCK: usize = 256;

/// Seconds of one pass over all rows, one thread: for each stretch of rows the minimum of repeats, and these added up.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bare {
    /// Every number is read and added up.
    pub(super) read: f64,
    /// X·Z and Xᵀ·R for so many draws: what a gradient needs.
    pub(super) gradient: f64,
    /// The same and XᵀX: what a gradient and a Hessian need.
    pub(super) hessian: f64,
    /// The same over mini-batches: as many rows, chosen at random and copied next to each other first.
    pub(super) gathered: f64,
}

/// Stretches of `stretch` rows, as long as a mini-batch: what disturbs one of them does not disturb all.
pub(super) fn measure(x: &DesignMatrix, n_draws: usize, stretch: usize, repeats: usize) -> Bare {
    let mut passes = Passes::new(x, n_draws);
    let mut minibatch = Minibatch::new(x.n_rows(), stretch);
    let mut chosen = vec![0; stretch];
    let n_stretches = x.n_rows().div_ceil(stretch);
    let mut fastest = vec![[f64::INFINITY; 4]; n_stretches];
    for repeat in 0..repeats {
        // All stretches of one kind after each other, so that a stretch is not in the cache from the last time.
        for kind in 0..4 {
            for (k, fastest) in fastest.iter_mut().enumerate() {
                let rows = k * stretch..x.n_rows().min((k + 1) * stretch);
                // Choosing the rows is no product.
                minibatch.fill(repeat as u64, k as u64, &mut chosen);
                let clock = Instant::now();
                match kind {
                    0 => passes.read(rows),
                    1 => passes.products(rows, false),
                    2 => passes.products(rows, true),
                    _ => passes.gathered_products(&chosen[..rows.len()]),
                }
                fastest[kind] = fastest[kind].min(clock.elapsed().as_secs_f64());
            }
        }
    }
    let total = |kind: usize| fastest.iter().map(|seconds| seconds[kind]).sum();
    Bare { read: total(0), gradient: total(1), hessian: total(2), gathered: total(3) }
}

struct Passes<'x> {
    x: &'x DesignMatrix,
    n_draws: usize,
    z: Vec<f64>,
    eta: Vec<f64>,
    gradient: Vec<f64>,
    hessian: Vec<f64>,
    gathered: Vec<f64>,
}

impl<'x> Passes<'x> {
    fn new(x: &'x DesignMatrix, n_draws: usize) -> Self {
        let d = x.n_cols();
        let z = (0..d * n_draws).map(|i| 1e-3 * (i as f64).sin()).collect();
        let (eta, gradient) = (vec![0.0; BLOCK * n_draws], vec![0.0; d * n_draws]);
        Self { x, n_draws, z, eta, gradient, hessian: vec![0.0; d * d], gathered: vec![0.0; BLOCK * d] }
    }

    fn read(&mut self, rows: Range<usize>) {
        let all = self.x.rows(rows);
        // Eight sums at a time, so that the additions do not wait for each other.
        let mut sums = [0.0; 8];
        for values in all.chunks_exact(8) {
            sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
        }
        self.gradient[0] = std::hint::black_box(sums.iter().sum());
    }

    fn products(&mut self, rows: Range<usize>, with_hessian: bool) {
        self.clear();
        for x in self.x.rows(rows).chunks(BLOCK * self.x.n_cols()) {
            self.add_products(x, with_hessian);
        }
        std::hint::black_box((&self.gradient, &self.hessian));
    }

    fn gathered_products(&mut self, rows: &[u32]) {
        let d = self.x.n_cols();
        self.clear();
        let mut gathered = std::mem::take(&mut self.gathered);
        for rows in rows.chunks(BLOCK) {
            for (row, copy) in rows.iter().zip(gathered.chunks_exact_mut(d)) {
                copy.copy_from_slice(self.x.row(*row as usize));
            }
            self.add_products(&gathered[..rows.len() * d], true);
        }
        self.gathered = gathered;
        std::hint::black_box((&self.gradient, &self.hessian));
    }

    fn clear(&mut self) {
        self.gradient.fill(0.0);
        self.hessian.fill(0.0);
    }

    fn add_products(&mut self, x: &[f64], with_hessian: bool) {
        let (d, s) = (self.x.n_cols(), self.n_draws);
        let n = x.len() / d;
        let rows = MatRef::from_row_major_slice(x, n, d);
        let eta = &mut self.eta[..n * s];
        let z = MatRef::from_column_major_slice(&self.z, d, s);
        matmul(MatMut::from_column_major_slice_mut(eta, n, s), Accum::Replace, rows, z, 1.0, Par::Seq);
        let gradient = MatMut::from_column_major_slice_mut(&mut self.gradient, d, s);
        let eta = MatRef::from_column_major_slice(eta, n, s);
        matmul(gradient, Accum::Add, rows.transpose(), eta, 1.0, Par::Seq);
        if with_hessian {
            triangular::matmul(
                MatMut::from_column_major_slice_mut(&mut self.hessian, d, d),
                BlockStructure::TriangularLower,
                Accum::Add,
                rows.transpose(),
                BlockStructure::Rectangular,
                rows,
                BlockStructure::Rectangular,
                1.0,
                Par::Seq,
            );
        }
    }
}
