//! One tensor-variate Gaussian: W and the factors of its Kronecker precision.

use super::tensors::Tensors;
use crate::Error;
use crate::block::{ScaleMatrix, in_range};
use crate::family::layout::MOST_MODES;
use crate::family::{BlockState, state};
use crate::linalg::{axpy, dot};
use crate::target::Covariance;

/// vec Z ~ N(vec W, V_K ⊗ … ⊗ V_1) with P_j = V_j⁻¹ stored; the first mode is the fastest.
#[derive(Debug, PartialEq)]
pub struct Group<S> {
    pub(super) w: Vec<f64>,
    pub(super) factors: Vec<S>,
}

impl<S: Clone> Clone for Group<S> {
    fn clone(&self) -> Self {
        Self { w: self.w.clone(), factors: self.factors.clone() }
    }

    /// Allocates nothing where the shapes agree.
    fn clone_from(&mut self, source: &Self) {
        self.w.clone_from(&source.w);
        self.factors.clone_from(&source.factors);
    }
}

impl<S: ScaleMatrix> Group<S> {
    /// The group with this mean and these precision factors.
    ///
    /// # Errors
    /// [`Error::Shape`] if W does not have as many entries as the factors say, [`Error::Domain`] if one is not finite.
    pub fn new(w: Vec<f64>, factors: Vec<S>) -> Result<Self, Error> {
        let expected = factors.iter().map(S::dim).product();
        if w.len() != expected || factors.is_empty() || factors.len() > MOST_MODES {
            return Err(Error::Shape { what: "entries of W", expected, found: w.len() });
        }
        if let Some(value) = w.iter().copied().find(|v| !in_range(&[*v])) {
            return Err(Error::Domain { parameter: "location", value, reason: "locations are finite numbers" });
        }
        Ok(Self { w, factors })
    }

    /// The group of a state with these lengths of modes.
    pub(super) fn from_state(dims: &[u32], block: &BlockState) -> Result<Self, Error> {
        let lengths = || dims.iter().map(|d| *d as usize);
        let entries = |d: usize| match S::COVARIANCE {
            Covariance::Full => d.saturating_mul(d),
            Covariance::Diagonal => d,
        };
        // Lengths of a file may be anything: nothing is read before the count is right.
        let expected = lengths().map(entries).fold(0usize, usize::saturating_add);
        if block.precision.len() != expected {
            let what = "entries of the precision factors";
            return Err(Error::Shape { what, expected, found: block.precision.len() });
        }
        let mut rest = &block.precision[..];
        let mut factors = Vec::new();
        for d in lengths() {
            let (own, others) = rest.split_at(entries(d));
            factors.push(S::from_precision(d, own.to_vec())?);
            if S::COVARIANCE == Covariance::Full {
                state::check_symmetry(d, own)?;
            }
            rest = others;
        }
        Self::new(block.b.clone(), factors)
    }

    pub(super) fn state(&self) -> BlockState {
        let precision = self.factors.iter().flat_map(|factor| factor.precision().iter().copied()).collect();
        BlockState { b: self.w.clone(), precision }
    }

    /// W, the first mode fastest.
    pub fn w(&self) -> &[f64] {
        &self.w
    }

    /// P_1, …, P_K.
    pub fn factors(&self) -> &[S] {
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
    pub(crate) fn each<'a>(&'a self, mut entries: &'a [f64], mut f: impl FnMut(usize, &'a S, &'a [f64])) {
        for (j, factor) in self.factors.iter().enumerate() {
            let (own, rest) = entries.split_at(factor.precision().len());
            f(j, factor, own);
            entries = rest;
        }
    }

    /// The same with parts that can be written.
    pub(crate) fn each_mut(&self, mut entries: &mut [f64], mut f: impl FnMut(usize, &S, &mut [f64])) {
        for (j, factor) in self.factors.iter().enumerate() {
            let (own, rest) = entries.split_at_mut(factor.precision().len());
            f(j, factor, own);
            entries = rest;
        }
    }

    fn by_modes(&self, tensors: &mut Tensors, mut f: impl FnMut(&S, &mut Tensors)) {
        for factor in &self.factors {
            f(factor, tensors);
            tensors.turn(factor.dim(), self.w.len());
        }
    }

    /// X ← X ×_j L_j⁻ᵀ for all j: standard normals become Z − W.
    pub(crate) fn unwhiten(&self, x: &mut Tensors) {
        self.by_modes(x, |factor, x| factor.unwhiten(x.values_mut()));
    }

    /// X ← X ×_j L_jᵀ for all j: Z − W becomes standard normal.
    pub(crate) fn whiten(&self, x: &mut Tensors) {
        self.by_modes(x, |factor, x| x.map(|from, to| factor.whiten(from, to)));
    }

    /// X ← X ×_j L_j⁻¹ for all j: whitens gradients.
    pub(crate) fn whiten_gradient(&self, x: &mut Tensors) {
        self.by_modes(x, |factor, x| factor.whiten_gradient(x.values_mut()));
    }

    /// X ← X ×_j L_j for all j.
    pub(crate) fn factor_times(&self, x: &mut Tensors) {
        self.by_modes(x, |factor, x| x.map(|from, to| factor.factor_times(from, to)));
    }

    /// X ← X ×_i V_i for all i but j.
    pub(crate) fn solve_others(&self, j: usize, x: &mut Tensors) {
        for (i, factor) in self.factors.iter().enumerate() {
            if i != j {
                factor.solve(x.values_mut());
            }
            x.turn(factor.dim(), self.w.len());
        }
    }

    /// X ← X ×_j V_j for all j.
    pub(crate) fn solve(&self, x: &mut Tensors) {
        self.by_modes(x, |factor, x| factor.solve(x.values_mut()));
    }

    /// log |P_K ⊗ … ⊗ P_1| = Σ_j D₋ⱼ log |P_j|.
    pub(crate) fn log_det(&self) -> f64 {
        self.factors.iter().enumerate().map(|(j, factor)| self.others(j) * factor.log_det_precision()).sum()
    }

    /// By which c_j, with product one, the factors have to be multiplied for log |P_j|/d_j to be equal: q is the same for all of
    /// them (mathematics §6, scale ambiguity).
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
            match S::COVARIANCE {
                Covariance::Diagonal => own.iter_mut().zip(factor.precision()).for_each(|(v, p)| *v = 1.0 / p),
                Covariance::Full => {
                    // V = L⁻ᵀL⁻¹: the squared columns of L⁻¹.
                    let inverse = &mut scratch[..d * d];
                    inverse.fill(0.0);
                    inverse.iter_mut().step_by(d + 1).for_each(|v| *v = 1.0);
                    factor.whiten_gradient(inverse);
                    own.iter_mut().zip(inverse.chunks_exact(d)).for_each(|(v, column)| *v = dot(column, column));
                }
            }
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
        let d = factor.dim();
        let sum: f64 = match S::COVARIANCE {
            Covariance::Diagonal => g.iter().zip(factor.precision()).map(|(g, p)| g / p).sum(),
            Covariance::Full => {
                let product = &mut scratch[..d * d];
                product.copy_from_slice(g);
                factor.solve(product);
                product.iter().step_by(d + 1).sum()
            }
        };
        sum / d as f64
    }

    /// sum += (W − W₀, c_1 P_1, …, c_K P_K) with the c of [`Group::balance`].
    pub(super) fn add_natural(&self, reference: &Self, sum: &mut [f64]) {
        let (location, precisions) = sum.split_at_mut(self.w.len());
        location.iter_mut().zip(self.w.iter().zip(&reference.w)).for_each(|(sum, (w, from))| *sum += w - from);
        let balance = self.balance();
        self.each_mut(precisions, |j, factor, own| axpy(balance[j], factor.precision(), own));
    }

    /// The group with `share` times these sums, if it exists.
    pub(super) fn from_natural(reference: &Self, sum: &[f64], share: f64) -> Option<Self> {
        let (location, precisions) = sum.split_at(reference.w.len());
        let w = location.iter().zip(&reference.w).map(|(v, from)| from + share * v).collect();
        let mut factors = Vec::with_capacity(reference.factors.len());
        reference.each(precisions, |_, factor, own| {
            factors.push(S::from_precision(factor.dim(), own.iter().map(|p| share * p).collect()).ok());
        });
        Self::new(w, factors.into_iter().collect::<Option<_>>()?).ok()
    }
}
