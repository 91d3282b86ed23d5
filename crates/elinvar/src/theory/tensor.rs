//! The exact view of the tensor-variate Gaussian: for each group the blocks W, P_1, …, P_K (mathematics §6.1, §10.5).

use super::coordinates::{covariance, multiplicity};
use super::{Multilinear, check_length};
use crate::Error;
use crate::block::{Scale, Stack, Tensor};
use crate::family::{Approximation, Gradient};
use crate::linalg::{axpy, dot};
use crate::target::Shape;

/// A block: W of a group, or one of its factors.
enum Block {
    Location,
    Factor(usize),
}

impl Approximation {
    /// The group of block k and what it is there.
    fn multilinear_block(&self, k: usize) -> (usize, Block) {
        let mut k = k;
        for (g, group) in self.tensors().iter().enumerate() {
            if k == 0 {
                return (g, Block::Location);
            }
            if k <= group.factors().len() {
                return (g, Block::Factor(k - 1));
            }
            k -= group.factors().len() + 1;
        }
        panic!("there is no such block");
    }

    /// The coordinates of a group.
    fn rows_of_group(&self, g: usize) -> std::ops::Range<usize> {
        let start = self.tensors()[..g].iter().map(Tensor::size).sum();
        start..start + self.tensors()[g].size()
    }

    fn with_group(&self, g: usize, group: Tensor) -> Result<Self, Error> {
        let mut groups = self.tensors().to_vec();
        groups[g] = group;
        Self::tensors_of(groups, self.update())
    }
}

/// X ×_i M_i over the modes i that `wanted` accepts, with M_i = P_i or V_i.
fn times(group: &Tensor, x: &[f64], precision: bool, wanted: impl Fn(usize) -> bool) -> Stack {
    let mut tensors = Stack::new(x.len());
    tensors.set(x);
    for (i, factor) in group.factors().iter().enumerate() {
        if wanted(i) && precision {
            tensors.map(|from, to| factor.whiten(from, to));
            tensors.map(|from, to| factor.factor_times(from, to));
        } else if wanted(i) {
            factor.solve(tensors.values_mut());
        }
        tensors.turn(factor.dim(), x.len());
    }
    tensors
}

/// X_(j)(⊗_{i≠j} P_i)Y_(j)ᵀ, d_j × d_j.
fn contracted(group: &Tensor, j: usize, x: &[f64], y: &[f64]) -> Vec<f64> {
    let unfolded = |mut stack: Stack| {
        group.factors()[..j].iter().for_each(|factor| stack.turn(factor.dim(), group.size()));
        stack.values().to_vec()
    };
    let (x, y) = (unfolded(times(group, x, true, |_| false)), unfolded(times(group, y, true, |i| i != j)));
    let d = group.factors()[j].dim();
    let mut out = vec![0.0; d * d];
    for (x, y) in x.chunks_exact(d).zip(y.chunks_exact(d)) {
        out.chunks_exact_mut(d).zip(y).for_each(|(column, y)| axpy(*y, x, column));
    }
    out
}

/// The entries of a symmetric matrix in dual coordinates.
fn dual(shape: Shape, matrix: impl Fn(usize, usize) -> f64) -> Vec<f64> {
    shape.positions().iter().map(|&(i, j)| multiplicity(i, j) * matrix(i, j)).collect()
}

/// The matrix of a factor with these entries at the positions of its triangle.
fn stored(shape: Shape, values: &[f64]) -> Vec<f64> {
    let mut out = vec![0.0; shape.n_entries()];
    for (&(i, j), value) in shape.positions().iter().zip(values) {
        out[shape.index(i, j)] = *value;
        out[shape.index(j, i)] = *value;
    }
    out
}

impl Multilinear for Approximation {
    fn n_natural_blocks(&self) -> usize {
        self.tensors().iter().map(|group| group.factors().len() + 1).sum()
    }

    fn natural_block(&self, k: usize) -> Vec<f64> {
        let (g, block) = self.multilinear_block(k);
        let group = &self.tensors()[g];
        match block {
            Block::Location => group.w().to_vec(),
            Block::Factor(j) => {
                let factor = &group.factors()[j];
                let shape = factor.shape();
                shape.positions().iter().map(|&(i, j)| factor.precision()[shape.index(i, j)]).collect()
            }
        }
    }

    fn with_natural_block(&self, k: usize, natural: &[f64]) -> Result<Self, Error> {
        check_length(self.natural_block(k).len(), natural)?;
        let (g, block) = self.multilinear_block(k);
        let group = &self.tensors()[g];
        let (mut w, mut factors) = (group.w().to_vec(), group.factors().to_vec());
        match block {
            Block::Location => w = natural.to_vec(),
            Block::Factor(j) => {
                let shape = factors[j].shape();
                factors[j] = Scale::from_precision(shape, stored(shape, natural))?;
            }
        }
        self.with_group(g, Tensor::new(w, factors)?)
    }

    /// M_W = W ×_j P_j and M_j = ½{W_(j)(⊗_{i≠j} P_i)W_(j)ᵀ − D₋ⱼ V_j}.
    fn expectation_block(&self, k: usize) -> Vec<f64> {
        let (g, block) = self.multilinear_block(k);
        let group = &self.tensors()[g];
        match block {
            Block::Location => times(group, group.w(), true, |_| true).values().to_vec(),
            Block::Factor(j) => {
                let (d, v) = (group.factors()[j].dim(), covariance(&group.factors()[j]));
                let square = contracted(group, j, group.w(), group.w());
                dual(group.factors()[j].shape(), |a, b| 0.5 * (square[b * d + a] - group.others(j) * v[b * d + a]))
            }
        }
    }

    fn with_expectation_block(&self, k: usize, expectation: &[f64]) -> Result<Self, Error> {
        check_length(self.natural_block(k).len(), expectation)?;
        let (g, block) = self.multilinear_block(k);
        let group = &self.tensors()[g];
        match block {
            Block::Location => self.with_natural_block(k, times(group, expectation, false, |_| true).values()),
            Block::Factor(j) => {
                let d = group.factors()[j].dim();
                let square = contracted(group, j, group.w(), group.w());
                let places = group.factors()[j].shape().positions();
                let v: Vec<f64> = places
                    .iter()
                    .zip(expectation)
                    .map(|(&(a, b), m)| (square[b * d + a] - 2.0 * m / multiplicity(a, b)) / group.others(j))
                    .collect();
                let shape = group.factors()[j].shape();
                let v = Scale::from_precision(shape, stored(shape, &v))?;
                let p = covariance(&v);
                let natural: Vec<f64> = places.iter().map(|&(a, b)| p[b * d + a]).collect();
                self.with_natural_block(k, &natural)
            }
        }
    }

    /// t_W = Z ×_j P_j and t_j = −½Z_(j)(⊗_{i≠j} P_i)Z_(j)ᵀ + sym{Z_(j)(⊗_{i≠j} P_i)W_(j)ᵀ}.
    fn statistics_block(&self, k: usize, z: &[f64]) -> Vec<f64> {
        let (g, block) = self.multilinear_block(k);
        let (group, z) = (&self.tensors()[g], &z[self.rows_of_group(g)]);
        match block {
            Block::Location => times(group, z, true, |_| true).values().to_vec(),
            Block::Factor(j) => {
                let d = group.factors()[j].dim();
                let (square, mixed) = (contracted(group, j, z, z), contracted(group, j, z, group.w()));
                dual(group.factors()[j].shape(), |a, b| 0.5 * (mixed[b * d + a] + mixed[a * d + b] - square[b * d + a]))
            }
        }
    }

    /// A = ½Σ{⟨W, W ×_j P_j⟩ − Σ_j D₋ⱼ log |P_j|} over the groups: minus signs, where the paper prints plus.
    fn multilinear_log_partition(&self) -> f64 {
        let of_group = |group: &Tensor| {
            let square = dot(times(group, group.w(), true, |_| true).values(), group.w());
            0.5 * (square - group.log_det())
        };
        self.tensors().iter().map(of_group).sum()
    }

    /// F_W = P_K ⊗ … ⊗ P_1 and F_j(A, B) = ½D₋ⱼ tr(V_j A V_j B).
    fn fisher_block(&self, k: usize) -> Vec<f64> {
        let (g, block) = self.multilinear_block(k);
        let group = &self.tensors()[g];
        match block {
            Block::Location => {
                let mut out = Vec::with_capacity(group.size() * group.size());
                for i in 0..group.size() {
                    let mut unit = vec![0.0; group.size()];
                    unit[i] = 1.0;
                    out.extend_from_slice(times(group, &unit, true, |_| true).values());
                }
                out
            }
            Block::Factor(j) => {
                let factor = &group.factors()[j];
                let d = factor.dim();
                let v = covariance(factor);
                let places = group.factors()[j].shape().positions();
                // tr(V A V B) for A = e_a e_bᵀ + e_b e_aᵀ (once on the diagonal), likewise B.
                let product = |&(a, b): &(usize, usize), &(c, e): &(usize, usize)| {
                    let cross = 2.0 * (v[a * d + c] * v[b * d + e] + v[a * d + e] * v[b * d + c]);
                    let halves = 0.5 * multiplicity(a, b) * 0.5 * multiplicity(c, e);
                    0.5 * group.others(j) * cross * halves
                };
                places.iter().flat_map(|one| places.iter().map(move |two| product(one, two))).collect()
            }
        }
    }

    /// ∇_{M_W} L = ∇_W L ×_j V_j and ∇_{M_j} L = G_j = −(2/D₋ⱼ)∇_{V_j} L.
    fn natural_gradient_block(&self, k: usize, gradient: &Gradient) -> Vec<f64> {
        let (g, block) = self.multilinear_block(k);
        let group = &self.tensors()[g];
        match block {
            Block::Location => times(group, &gradient.blocks[g].b, false, |_| true).values().to_vec(),
            Block::Factor(j) => {
                let within: usize = group.factors()[..j].iter().map(|factor| factor.precision().len()).sum();
                let shape = group.factors()[j].shape();
                let own = &gradient.blocks[g].g[within..];
                shape.positions().iter().map(|&(a, b)| own[shape.index(a, b)]).collect()
            }
        }
    }
}
