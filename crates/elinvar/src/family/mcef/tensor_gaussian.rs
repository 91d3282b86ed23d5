//! The exact view of the tensor-variate Gaussian: for each group the blocks W, P_1, …, P_K (mathematics §6.1, §10.5).

use super::coordinates::{entry, multiplicity, positions};
use super::{Multilinear, check_length};
use crate::Error;
use crate::block::ScaleMatrix;
use crate::family::tensor_gaussian::Tensors;
use crate::family::{Group, TensorGaussian, TensorGradient};
use crate::linalg::{axpy, dot};

/// A block: W of a group, or one of its factors.
enum Block {
    Location,
    Factor(usize),
}

impl<S: ScaleMatrix> TensorGaussian<S> {
    /// The group of block k and what it is there.
    fn block(&self, k: usize) -> (usize, Block) {
        let mut k = k;
        for (g, group) in self.groups().iter().enumerate() {
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
    fn rows(&self, g: usize) -> std::ops::Range<usize> {
        let start = self.groups()[..g].iter().map(Group::size).sum();
        start..start + self.groups()[g].size()
    }

    fn with_group(&self, g: usize, group: Group<S>) -> Result<Self, Error> {
        let mut groups = self.groups().to_vec();
        groups[g] = group;
        Self::new(groups, self.update())
    }
}

/// X ×_i M_i over the modes i that `wanted` accepts, with M_i = P_i or V_i.
fn times<S: ScaleMatrix>(group: &Group<S>, x: &[f64], precision: bool, wanted: impl Fn(usize) -> bool) -> Tensors {
    let mut tensors = Tensors::new(x.len());
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
fn contracted<S: ScaleMatrix>(group: &Group<S>, j: usize, x: &[f64], y: &[f64]) -> Vec<f64> {
    let unfolded = |mut tensors: Tensors| {
        group.factors()[..j].iter().for_each(|factor| tensors.turn(factor.dim(), group.size()));
        tensors.values().to_vec()
    };
    let (x, y) = (unfolded(times(group, x, true, |_| false)), unfolded(times(group, y, true, |i| i != j)));
    let d = group.factors()[j].dim();
    let mut out = vec![0.0; d * d];
    for (x, y) in x.chunks_exact(d).zip(y.chunks_exact(d)) {
        out.chunks_exact_mut(d).zip(y).for_each(|(column, y)| axpy(*y, x, column));
    }
    out
}

fn covariance<S: ScaleMatrix>(factor: &S) -> Vec<f64> {
    let mut out = vec![0.0; factor.dim() * factor.dim()];
    factor.covariance_into(&mut out);
    out
}

/// The entries of a symmetric matrix in dual coordinates.
fn dual<S: ScaleMatrix>(d: usize, matrix: impl Fn(usize, usize) -> f64) -> Vec<f64> {
    positions::<S>(d).iter().map(|&(i, j)| multiplicity(i, j) * matrix(i, j)).collect()
}

/// The matrix of a factor with these entries at the positions of its triangle.
fn stored<S: ScaleMatrix>(d: usize, values: &[f64]) -> Vec<f64> {
    let mut out = vec![0.0; S::COVARIANCE.n_entries(d)];
    for (&(i, j), value) in positions::<S>(d).iter().zip(values) {
        out[entry::<S>(d, i, j)] = *value;
        out[entry::<S>(d, j, i)] = *value;
    }
    out
}

impl<S: ScaleMatrix> Multilinear for TensorGaussian<S> {
    fn n_natural_blocks(&self) -> usize {
        self.groups().iter().map(|group| group.factors().len() + 1).sum()
    }

    fn natural_block(&self, k: usize) -> Vec<f64> {
        let (g, block) = self.block(k);
        let group = &self.groups()[g];
        match block {
            Block::Location => group.w().to_vec(),
            Block::Factor(j) => {
                let factor = &group.factors()[j];
                let d = factor.dim();
                positions::<S>(d).iter().map(|&(i, j)| factor.precision()[entry::<S>(d, i, j)]).collect()
            }
        }
    }

    fn with_natural_block(&self, k: usize, natural: &[f64]) -> Result<Self, Error> {
        check_length(self.natural_block(k).len(), natural)?;
        let (g, block) = self.block(k);
        let group = &self.groups()[g];
        let (mut w, mut factors) = (group.w().to_vec(), group.factors().to_vec());
        match block {
            Block::Location => w = natural.to_vec(),
            Block::Factor(j) => {
                let d = factors[j].dim();
                factors[j] = S::from_precision(d, stored::<S>(d, natural))?;
            }
        }
        self.with_group(g, Group::new(w, factors)?)
    }

    /// M_W = W ×_j P_j and M_j = ½{W_(j)(⊗_{i≠j} P_i)W_(j)ᵀ − D₋ⱼ V_j}.
    fn expectation_block(&self, k: usize) -> Vec<f64> {
        let (g, block) = self.block(k);
        let group = &self.groups()[g];
        match block {
            Block::Location => times(group, group.w(), true, |_| true).values().to_vec(),
            Block::Factor(j) => {
                let (d, v) = (group.factors()[j].dim(), covariance(&group.factors()[j]));
                let square = contracted(group, j, group.w(), group.w());
                dual::<S>(d, |a, b| 0.5 * (square[b * d + a] - group.others(j) * v[b * d + a]))
            }
        }
    }

    fn with_expectation_block(&self, k: usize, expectation: &[f64]) -> Result<Self, Error> {
        check_length(self.natural_block(k).len(), expectation)?;
        let (g, block) = self.block(k);
        let group = &self.groups()[g];
        match block {
            Block::Location => self.with_natural_block(k, times(group, expectation, false, |_| true).values()),
            Block::Factor(j) => {
                let d = group.factors()[j].dim();
                let square = contracted(group, j, group.w(), group.w());
                let places = positions::<S>(d);
                let v: Vec<f64> = places
                    .iter()
                    .zip(expectation)
                    .map(|(&(a, b), m)| (square[b * d + a] - 2.0 * m / multiplicity(a, b)) / group.others(j))
                    .collect();
                let v = S::from_precision(d, stored::<S>(d, &v))?;
                let p = covariance(&v);
                let natural: Vec<f64> = places.iter().map(|&(a, b)| p[b * d + a]).collect();
                self.with_natural_block(k, &natural)
            }
        }
    }

    /// t_W = Z ×_j P_j and t_j = −½Z_(j)(⊗_{i≠j} P_i)Z_(j)ᵀ + sym{Z_(j)(⊗_{i≠j} P_i)W_(j)ᵀ}.
    fn statistics_block(&self, k: usize, z: &[f64]) -> Vec<f64> {
        let (g, block) = self.block(k);
        let (group, z) = (&self.groups()[g], &z[self.rows(g)]);
        match block {
            Block::Location => times(group, z, true, |_| true).values().to_vec(),
            Block::Factor(j) => {
                let d = group.factors()[j].dim();
                let (square, mixed) = (contracted(group, j, z, z), contracted(group, j, z, group.w()));
                dual::<S>(d, |a, b| 0.5 * (mixed[b * d + a] + mixed[a * d + b] - square[b * d + a]))
            }
        }
    }

    /// A = ½Σ{⟨W, W ×_j P_j⟩ − Σ_j D₋ⱼ log |P_j|} over the groups: minus signs, where the paper prints plus.
    fn multilinear_log_partition(&self) -> f64 {
        let of_group = |group: &Group<S>| {
            let square = dot(times(group, group.w(), true, |_| true).values(), group.w());
            0.5 * (square - group.log_det())
        };
        self.groups().iter().map(of_group).sum()
    }

    /// F_W = P_K ⊗ … ⊗ P_1 and F_j(A, B) = ½D₋ⱼ tr(V_j A V_j B).
    fn fisher_block(&self, k: usize) -> Vec<f64> {
        let (g, block) = self.block(k);
        let group = &self.groups()[g];
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
                let places = positions::<S>(d);
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
    fn natural_gradient_block(&self, k: usize, gradient: &TensorGradient) -> Vec<f64> {
        let (g, block) = self.block(k);
        let group = &self.groups()[g];
        match block {
            Block::Location => times(group, &gradient.w[self.rows(g)], false, |_| true).values().to_vec(),
            Block::Factor(j) => {
                let before: usize = self.groups()[..g].iter().map(Group::n_entries).sum();
                let within: usize = group.factors()[..j].iter().map(|factor| factor.precision().len()).sum();
                let d = group.factors()[j].dim();
                let own = &gradient.g[before + within..];
                positions::<S>(d).iter().map(|&(a, b)| own[entry::<S>(d, a, b)]).collect()
            }
        }
    }
}
