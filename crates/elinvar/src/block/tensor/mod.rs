//! One tensor-variate Gaussian: W and the factors of its Kronecker precision.

mod chart;
mod metric;
mod stack;
mod step;

pub(crate) use stack::Stack;
pub(crate) use step::TensorScratch;

use super::gradient::BlockGradient;
use super::scale::{Scale, in_range};
use crate::Error;
use crate::linalg::axpy;

/// Most modes of a tensor.
pub(crate) const MOST_MODES: usize = 4;

/// vec Z ~ N(vec W, V_K ⊗ … ⊗ V_1) with P_j = V_j⁻¹ stored; the first mode is the fastest.
#[derive(Debug, PartialEq)]
pub struct Tensor {
    w: Vec<f64>,
    factors: Vec<Scale>,
}

impl Clone for Tensor {
    fn clone(&self) -> Self {
        Self { w: self.w.clone(), factors: self.factors.clone() }
    }

    /// Allocates nothing where the shapes agree.
    fn clone_from(&mut self, source: &Self) {
        self.w.clone_from(&source.w);
        self.factors.clone_from(&source.factors);
    }
}

impl Tensor {
    /// The tensor with this mean and these precision factors.
    ///
    /// # Errors
    /// [`Error::Shape`] if W does not have as many entries as the factors say, [`Error::Domain`] if one is not finite.
    pub fn new(w: Vec<f64>, factors: Vec<Scale>) -> Result<Self, Error> {
        let expected = factors.iter().map(Scale::dim).product();
        if w.len() != expected || factors.is_empty() || factors.len() > MOST_MODES {
            return Err(Error::Shape { what: "entries of W", expected, found: w.len() });
        }
        if let Some(value) = w.iter().copied().find(|v| !in_range(&[*v])) {
            return Err(Error::Domain { parameter: "location", value, reason: "locations are finite numbers" });
        }
        Ok(Self { w, factors })
    }

    /// W, the first mode fastest.
    pub fn w(&self) -> &[f64] {
        &self.w
    }

    /// P_1, …, P_K.
    pub fn factors(&self) -> &[Scale] {
        &self.factors
    }

    /// D, the number of entries of Z.
    pub fn size(&self) -> usize {
        self.w.len()
    }

    /// D₋ⱼ = D/d_j.
    pub(crate) fn others(&self, j: usize) -> f64 {
        (self.w.len() / self.factors[j].dim()) as f64
    }

    /// Numbers that hold one symmetric matrix per factor.
    pub(crate) fn n_entries(&self) -> usize {
        self.factors.iter().map(|factor| factor.precision().len()).sum()
    }

    /// Calls `f` with each factor, its index and its part of `entries`.
    pub(crate) fn each<'a>(&'a self, mut entries: &'a [f64], mut f: impl FnMut(usize, &'a Scale, &'a [f64])) {
        for (j, factor) in self.factors.iter().enumerate() {
            let (own, rest) = entries.split_at(factor.precision().len());
            f(j, factor, own);
            entries = rest;
        }
    }

    /// The same with parts that can be written.
    pub(crate) fn each_mut(&self, mut entries: &mut [f64], mut f: impl FnMut(usize, &Scale, &mut [f64])) {
        for (j, factor) in self.factors.iter().enumerate() {
            let (own, rest) = entries.split_at_mut(factor.precision().len());
            f(j, factor, own);
            entries = rest;
        }
    }

    fn by_modes(&self, tensors: &mut Stack, mut f: impl FnMut(&Scale, &mut Stack)) {
        for factor in &self.factors {
            f(factor, tensors);
            tensors.turn(factor.dim(), self.w.len());
        }
    }

    /// X ← X ×_j L_j⁻ᵀ for all j: standard normals become Z − W.
    pub(crate) fn unwhiten(&self, x: &mut Stack) {
        self.by_modes(x, |factor, x| factor.unwhiten(x.values_mut()));
    }

    /// X ← X ×_j L_jᵀ for all j: Z − W becomes standard normal.
    pub(crate) fn whiten(&self, x: &mut Stack) {
        self.by_modes(x, |factor, x| x.map(|from, to| factor.whiten(from, to)));
    }

    /// X ← X ×_j L_j⁻¹ for all j: whitens gradients.
    pub(crate) fn whiten_gradient(&self, x: &mut Stack) {
        self.by_modes(x, |factor, x| factor.whiten_gradient(x.values_mut()));
    }

    /// X ← X ×_j L_j for all j.
    pub(crate) fn factor_times(&self, x: &mut Stack) {
        self.by_modes(x, |factor, x| x.map(|from, to| factor.factor_times(from, to)));
    }

    /// X ← X ×_i V_i for all i but j.
    pub(crate) fn solve_others(&self, j: usize, x: &mut Stack) {
        for (i, factor) in self.factors.iter().enumerate() {
            if i != j {
                factor.solve(x.values_mut());
            }
            x.turn(factor.dim(), self.w.len());
        }
    }

    /// X ← X ×_j V_j for all j.
    pub(crate) fn solve(&self, x: &mut Stack) {
        self.by_modes(x, |factor, x| factor.solve(x.values_mut()));
    }

    /// log |P_K ⊗ … ⊗ P_1| = Σ_j D₋ⱼ log |P_j|.
    pub(crate) fn log_det(&self) -> f64 {
        self.factors.iter().enumerate().map(|(j, factor)| self.others(j) * factor.log_det_precision()).sum()
    }

    /// By which c_j, with product one, the factors have to be multiplied for log |P_j|/d_j to be equal: q is the same
    /// for all of them (mathematics §6, scale ambiguity).
    pub(crate) fn balance(&self) -> [f64; MOST_MODES] {
        let mut logs = self.scales();
        let k = self.factors.len();
        let mean = logs[..k].iter().sum::<f64>() / k as f64;
        logs[..k].iter_mut().for_each(|log| *log = (mean - *log).exp());
        logs
    }

    /// log |P_j|/d_j.
    pub(crate) fn scales(&self) -> [f64; MOST_MODES] {
        let mut logs = [0.0; MOST_MODES];
        for (log, factor) in logs.iter_mut().zip(&self.factors) {
            *log = factor.log_det_precision() / factor.dim() as f64;
        }
        logs
    }

    /// The diagonals of V_1, …, V_K one after the other; `scratch` holds d² numbers for the longest mode when full.
    pub(crate) fn variances(&self, scratch: &mut [f64], out: &mut [f64]) {
        let mut out = out;
        for factor in &self.factors {
            let d = factor.dim();
            let (own, rest) = out.split_at_mut(d);
            factor.variances_into(scratch, own);
            out = rest;
        }
    }

    /// Calls `f` with the number of an entry of Z and its index in each mode.
    pub(crate) fn entries(&self, mut f: impl FnMut(usize, &[usize])) {
        let mut index = [0; MOST_MODES];
        let k = self.factors.len();
        for entry in 0..self.w.len() {
            f(entry, &index[..k]);
            for (i, factor) in index.iter_mut().zip(&self.factors) {
                *i += 1;
                if *i < factor.dim() {
                    break;
                }
                *i = 0;
            }
        }
    }

    /// tr(V_j G)/d_j for a matrix G of factor j; `scratch` holds as many numbers as G.
    pub(crate) fn mean_eigenvalue(&self, j: usize, g: &[f64], scratch: &mut [f64]) -> f64 {
        let factor = &self.factors[j];
        factor.trace_of_solved(g, scratch) / factor.dim() as f64
    }

    /// A zero gradient with the shape of the block.
    pub(crate) fn gradient(&self) -> BlockGradient {
        BlockGradient::zeros(self.w.len(), self.n_entries())
    }

    /// Number of the coordinates that [`Tensor::add_natural`] sums.
    pub(crate) fn natural_len(&self) -> usize {
        self.w.len() + self.n_entries()
    }

    /// The variance of every entry.
    pub(crate) fn entry_variances(&self) -> Vec<f64> {
        let most = self.factors.iter().map(|factor| factor.precision().len()).max().unwrap_or(1);
        let mut diagonals = vec![0.0; self.factors.iter().map(Scale::dim).sum()];
        self.variances(&mut vec![0.0; most], &mut diagonals);
        let mut out = vec![0.0; self.size()];
        self.entries(|entry, index| {
            let mut start = 0;
            let factor = |(i, factor): (&usize, &Scale)| {
                start += factor.dim();
                diagonals[start - factor.dim() + i]
            };
            out[entry] = index.iter().zip(&self.factors).map(factor).product();
        });
        out
    }

    /// sum += (W − W₀, c_1 P_1, …, c_K P_K) with the c of [`Tensor::balance`].
    pub(crate) fn add_natural(&self, reference: &Self, sum: &mut [f64]) {
        let (location, precisions) = sum.split_at_mut(self.w.len());
        location.iter_mut().zip(self.w.iter().zip(&reference.w)).for_each(|(sum, (w, from))| *sum += w - from);
        let balance = self.balance();
        self.each_mut(precisions, |j, factor, own| axpy(balance[j], factor.precision(), own));
    }

    /// The tensor with `share` times these sums, if it exists.
    pub(crate) fn from_natural(reference: &Self, sum: &[f64], share: f64) -> Option<Self> {
        let (location, precisions) = sum.split_at(reference.w.len());
        let w = location.iter().zip(&reference.w).map(|(v, from)| from + share * v).collect();
        let mut factors = Vec::with_capacity(reference.factors.len());
        reference.each(precisions, |_, factor, own| {
            factors.push(Scale::from_precision(factor.shape(), own.iter().map(|p| share * p).collect()).ok());
        });
        Self::new(w, factors.into_iter().collect::<Option<_>>()?).ok()
    }
}
