//! Coordinates of a law that is Gaussian given its scales: precision and mean depend on few coordinates, the drivers
//! (mathematics §11.9).
//!
//! With t the drivers and y all other components of x:
//!
//! y = P(t)⁻¹ b(t) + L(t)⁻ᵀ u,  P(t) = Σ_f e^{κ_f·t} P_f = L(t) L(t)ᵀ,  b(t) = Σ_f e^{κ_f·t} b_f.
//!
//! Drivers stay as they are, so that the map is triangular by blocks: log |∂x/∂u| = −Σ log L_jj(t).

use crate::linalg::cholesky::{self, Workspace};
use crate::linalg::{axpy, dot};

/// A pivot that rounding has made worse than this share of its diagonal entry is set to it, so that the map is always
/// one.
const PIVOT: f64 = 1e-12;

/// One term: e^{κ·t} times a matrix and a vector.
#[derive(Clone, Debug)]
pub(super) struct Term {
    /// κ, a number for each driver.
    pub(super) exponents: Vec<f64>,
    /// P_f, column by column.
    pub(super) precision: Vec<f64>,
    /// b_f.
    pub(super) pull: Vec<f64>,
}

/// The map of some drivers.
#[derive(Clone, Debug)]
pub(crate) struct Pinch {
    drivers: Vec<usize>,
    others: Vec<usize>,
    terms: Vec<Term>,
    /// Where each driver ends: beyond, precision and mean are as they are there.
    ends: Vec<[f64; 2]>,
}

/// Memory for one point.
#[derive(Debug, Default)]
pub(crate) struct Bench {
    /// e^{κ_f·t}.
    sizes: Vec<f64>,
    factor: Vec<f64>,
    precision: Vec<f64>,
    mean: Vec<f64>,
    own: Vec<f64>,
    by_own: Vec<f64>,
    back: Vec<f64>,
    cross: Vec<f64>,
    workspace: Option<(usize, Workspace)>,
}

impl Clone for Bench {
    /// Memory says nothing: that of a copy is made when it is needed.
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Bench {
    fn make_room(&mut self, m: usize, terms: usize) {
        if self.workspace.as_ref().is_some_and(|(of, _)| *of == m) && self.sizes.len() == terms {
            return;
        }
        self.sizes = vec![0.0; terms];
        for matrix in [&mut self.factor, &mut self.precision, &mut self.cross] {
            *matrix = vec![0.0; m * m];
        }
        for vector in [&mut self.mean, &mut self.own, &mut self.by_own, &mut self.back] {
            *vector = vec![0.0; m];
        }
        self.workspace = Some((m, Workspace::new(m)));
    }
}

impl Pinch {
    /// Of d components, those that drive, and what they do.
    pub(super) fn new(d: usize, drivers: Vec<usize>, terms: Vec<Term>, ends: Vec<[f64; 2]>) -> Self {
        let others = (0..d).filter(|i| !drivers.contains(i)).collect();
        Self { drivers, others, terms, ends }
    }

    /// The components that stay as they are.
    pub(super) fn drivers(&self) -> &[usize] {
        &self.drivers
    }

    /// Where each driver ends.
    pub(super) fn ends(&self) -> &[[f64; 2]] {
        &self.ends
    }

    /// The components whose law given the drivers is to be N(0, I).
    pub(super) fn others(&self) -> &[usize] {
        &self.others
    }

    /// The sizes of all terms at x, the precision and its factor, and the mean.
    fn settle(&self, point: &[f64], bench: &mut Bench) {
        let m = self.others.len();
        bench.make_room(m, self.terms.len());
        let Bench { sizes, factor, precision, mean, workspace, .. } = bench;
        precision.fill(0.0);
        mean.fill(0.0);
        for (size, term) in sizes.iter_mut().zip(&self.terms) {
            let along =
                |((driver, ends), kappa): ((&usize, &[f64; 2]), &f64)| kappa * point[*driver].clamp(ends[0], ends[1]);
            *size = self.drivers.iter().zip(&self.ends).zip(&term.exponents).map(along).sum::<f64>().exp();
            axpy(*size, &term.precision, precision);
            axpy(*size, &term.pull, mean);
        }
        let Some((_, workspace)) = workspace else { return };
        let whole = cholesky::factor(m, precision, factor, workspace);
        let is_whole = |i: usize| factor[i * (m + 1)].powi(2) > PIVOT * precision[i * (m + 1)];
        if whole.is_err() || !(0..m).all(is_whole) {
            mended(m, precision, factor);
        }
        cholesky::solve_factor(m, factor, mean);
        cholesky::solve_factor_transposed(m, factor, mean);
    }

    /// u ↦ x, in place.
    pub(crate) fn forward(&self, point: &mut [f64], bench: &mut Bench) {
        self.settle(point, bench);
        let Bench { factor, mean, own, .. } = bench;
        own.iter_mut().zip(&self.others).for_each(|(own, i)| *own = point[*i]);
        cholesky::solve_factor_transposed(self.others.len(), factor, own);
        self.others.iter().zip(own.iter().zip(mean)).for_each(|(i, (own, mean))| point[*i] = *own + *mean);
    }

    /// x ↦ u, in place.
    pub(crate) fn backward(&self, point: &mut [f64], bench: &mut Bench) {
        self.settle(point, bench);
        let Bench { factor, mean, own, back, .. } = bench;
        own.iter_mut().zip(self.others.iter().zip(mean)).for_each(|(own, (i, mean))| *own = point[*i] - *mean);
        cholesky::factor_transposed_times(self.others.len(), factor, own, back);
        self.others.iter().zip(back).for_each(|(i, u)| point[*i] = *u);
    }

    /// The gradient of log p + log |∂x/∂u| by u, in place of that of log p by x, at a point u; returns log |∂x/∂u|.
    ///
    /// With w = L⁻¹g, q = L⁻ᵀw and N the strict lower triangle of u wᵀ with half of 1 + u_j w_j on the diagonal, the
    /// slope along a driver gains Σ_f κ_f e^{κ_f·t} {qᵀb_f − ⟨q μᵀ + L⁻ᵀ N L⁻¹, P_f⟩}.
    pub(crate) fn pull(&self, point: &[f64], gradient: &mut [f64], bench: &mut Bench) -> f64 {
        self.settle(point, bench);
        let m = self.others.len();
        let Bench { sizes, factor, precision, mean, own, by_own, back, cross, .. } = bench;
        for (k, i) in self.others.iter().enumerate() {
            (own[k], by_own[k]) = (point[*i], gradient[*i]);
        }
        cholesky::solve_factor(m, factor, by_own);
        self.others.iter().zip(by_own.iter()).for_each(|(i, w)| gradient[*i] = *w);
        back.copy_from_slice(by_own);
        cholesky::solve_factor_transposed(m, factor, back);
        for (j, (column, w)) in cross.chunks_exact_mut(m).zip(by_own.iter()).enumerate() {
            column[..j].fill(0.0);
            column[j] = 0.5 * (1.0 + own[j] * w);
            column[j + 1..].iter_mut().zip(&own[j + 1..]).for_each(|(entry, u)| *entry = u * w);
        }
        cholesky::solve_factor_transposed(m, factor, cross);
        // L⁻ᵀ N L⁻¹ is the transpose of L⁻ᵀ (L⁻ᵀ N)ᵀ, and P_f is symmetric.
        for j in 0..m {
            for i in 0..m {
                precision[i * m + j] = cross[j * m + i];
            }
        }
        cholesky::solve_factor_transposed(m, factor, precision);
        precision.chunks_exact_mut(m).zip(mean.iter()).for_each(|(column, mean)| axpy(*mean, back, column));
        for (size, term) in sizes.iter().zip(&self.terms) {
            let slope = size * (dot(back, &term.pull) - dot(precision, &term.precision));
            for ((driver, ends), kappa) in self.drivers.iter().zip(&self.ends).zip(&term.exponents) {
                if point[*driver] > ends[0] && point[*driver] < ends[1] {
                    gradient[*driver] += kappa * slope;
                }
            }
        }
        -(0..m).map(|i| factor[i * (m + 1)].ln()).sum::<f64>()
    }
}

/// The lower factor of a matrix some of whose pivots are not positive, as if they were a little.
fn mended(m: usize, matrix: &[f64], factor: &mut [f64]) {
    factor.copy_from_slice(matrix);
    for j in 0..m {
        let floor = PIVOT * matrix[j * (m + 1)].abs() + f64::MIN_POSITIVE;
        let pivot = factor[j * (m + 1)].max(floor).sqrt();
        let (left, right) = factor.split_at_mut((j + 1) * m);
        let column = &mut left[j * m..];
        column[..j].fill(0.0);
        column[j] = pivot;
        column[j + 1..].iter_mut().for_each(|entry| *entry /= pivot);
        for (k, later) in right.chunks_exact_mut(m).enumerate() {
            axpy(-column[j + 1 + k], &column[j + 1 + k..], &mut later[j + 1 + k..]);
        }
    }
}

#[cfg(test)]
mod tests;
