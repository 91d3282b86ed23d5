//! The matrix products that one step cannot avoid, and nothing else.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt;
use faer::linalg::matmul::matmul;
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::linalg::triangular_solve::{solve_lower_triangular_in_place, solve_upper_triangular_in_place};
use faer::{Accum, MatMut, MatRef, Par, Spec};

/// Sizes of a step; no rows: a Gaussian target.
#[derive(Clone, Copy)]
pub(crate) struct Sizes {
    pub(crate) n_rows: usize,
    pub(crate) dim: usize,
    pub(crate) n_draws: usize,
    pub(crate) n_components: usize,
    pub(crate) full: bool,
}

/// Memory for the products.
pub(crate) struct Bare {
    sizes: Sizes,
    x: Vec<f64>,
    z: Vec<f64>,
    eta: Vec<f64>,
    grad: Vec<f64>,
    square: Vec<f64>,
    factor: Vec<f64>,
    white: Vec<f64>,
    direction: Vec<f64>,
    memory: MemBuffer,
}

impl Bare {
    pub(crate) fn new(sizes: Sizes) -> Self {
        let Sizes { n_rows, dim, n_draws, n_components, .. } = sizes;
        let s = n_draws * n_components;
        let mut square = vec![0.01; dim * dim];
        (0..dim).for_each(|i| square[i * dim + i] = dim as f64);
        Self {
            sizes,
            x: (0..n_rows * dim).map(|i| (i as f64 * 0.37).sin()).collect(),
            z: (0..s * dim).map(|i| (i as f64 * 0.73).cos()).collect(),
            eta: vec![0.0; n_rows * s],
            grad: vec![0.0; dim * s],
            factor: square.clone(),
            square,
            white: vec![0.5; dim * s],
            direction: vec![0.3; dim * dim],
            memory: MemBuffer::new(llt::factor::cholesky_in_place_scratch::<f64>(dim, Par::Seq, Spec::default())),
        }
    }

    /// For a regression X·Z, Xᵀ·R and, per component of a full family, XᵀDX in blocks of 256 rows; for a Gaussian
    /// target PZ. Per component of a full family a Cholesky factor, L⁻ᵀE and the products L⁻¹G and WᵀW of the
    /// retraction; for a mixture also LᵀZ and LY of every component at every draw and the Gram products of ∇²log q.
    pub(crate) fn run(&mut self) {
        let Sizes { n_rows, dim: d, n_draws, n_components: k, full } = self.sizes;
        let s = n_draws * k;
        for x in self.x.chunks(256 * d) {
            let n = x.len() / d;
            let rows = MatRef::from_row_major_slice(x, n, d);
            let eta = &mut self.eta[..n * s];
            let z = MatRef::from_column_major_slice(&self.z, d, s);
            matmul(MatMut::from_column_major_slice_mut(eta, n, s), Accum::Replace, rows, z, 1.0, Par::Seq);
            let grad = MatMut::from_column_major_slice_mut(&mut self.grad, d, s);
            matmul(grad, Accum::Add, rows.transpose(), MatRef::from_column_major_slice(eta, n, s), 1.0, Par::Seq);
            for _ in 0..if full { k } else { 0 } {
                lower(&mut self.square, d, rows.transpose(), rows);
            }
        }
        if n_rows == 0 {
            let precision = MatRef::from_column_major_slice(&self.square, d, d);
            let z = MatRef::from_column_major_slice(&self.z, d, s);
            let grad = MatMut::from_column_major_slice_mut(&mut self.grad, d, s);
            matmul(grad, Accum::Replace, precision, z, 1.0, Par::Seq);
        }
        for c in 0..if full { k } else { 0 } {
            self.factor.fill(0.01);
            (0..d).for_each(|i| self.factor[i * d + i] = d as f64);
            let factor = MatMut::from_column_major_slice_mut(&mut self.factor, d, d);
            let stack = MemStack::new(&mut self.memory);
            llt::factor::cholesky_in_place(factor, Default::default(), Par::Seq, stack, Spec::default())
                .expect("positive");
            let l = MatRef::from_column_major_slice(&self.factor, d, d);
            let own = &mut self.white[c * d * n_draws..(c + 1) * d * n_draws];
            solve_upper_triangular_in_place(
                l.transpose(),
                MatMut::from_column_major_slice_mut(own, d, n_draws),
                Par::Seq,
            );
            own.iter_mut().for_each(|v| *v = v.clamp(-1.0, 1.0));
            let direction = MatMut::from_column_major_slice_mut(&mut self.direction, d, d);
            solve_lower_triangular_in_place(l, direction, Par::Seq);
            let w = MatRef::from_column_major_slice(&self.direction, d, d);
            lower(&mut self.square, d, w.transpose(), w);
            self.direction.iter_mut().for_each(|v| *v = v.clamp(-1.0, 1.0));
        }
        if k > 1 {
            let l = MatRef::from_column_major_slice(&self.factor, d, d);
            for _ in 0..k {
                for (matrix, structure) in
                    [(l.transpose(), BlockStructure::TriangularUpper), (l, BlockStructure::TriangularLower)]
                {
                    triangular::matmul(
                        MatMut::from_column_major_slice_mut(&mut self.grad, d, s),
                        BlockStructure::Rectangular,
                        Accum::Replace,
                        matrix,
                        structure,
                        MatRef::from_column_major_slice(&self.white, d, s),
                        BlockStructure::Rectangular,
                        1.0,
                        Par::Seq,
                    );
                }
                for own in self.white.chunks(d * n_draws) {
                    let own = MatRef::from_column_major_slice(own, d, n_draws);
                    lower(&mut self.square, d, own, own.transpose());
                }
            }
        }
        self.square.iter_mut().for_each(|v| *v = v.clamp(-1.0, 1.0));
        self.grad.iter_mut().for_each(|v| *v = v.clamp(-1.0, 1.0));
    }
}

fn lower(out: &mut [f64], d: usize, a: MatRef<'_, f64>, b: MatRef<'_, f64>) {
    triangular::matmul(
        MatMut::from_column_major_slice_mut(out, d, d),
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
