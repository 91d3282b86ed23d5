//! A Gaussian with independent coordinates (mathematics §12.8): its precision takes the diagonal of B, its mean steps
//! by all of it.

use serde::{Deserialize, Serialize};

use super::findings::{Findings, Norm};
use super::gaussian::Whitened;
use crate::linalg::{axpy, cholesky, dot, eigen, products};
use crate::target::Covariance;
use crate::tuning::residual as tuned;

#[cfg(test)]
mod tests;

/// Which entries of B the precision of a family has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Entries {
    All,
    Diagonal,
}

impl Entries {
    pub(super) fn of(covariance: Covariance) -> Self {
        if covariance == Covariance::Diagonal { Self::Diagonal } else { Self::All }
    }

    /// The sum of the squares of these entries.
    pub(super) fn square(self, d: usize, b: &[f64]) -> f64 {
        match self {
            Self::All => dot(b, b),
            Self::Diagonal => b.iter().step_by(d + 1).map(|v| v * v).sum(),
        }
    }

    /// How many numbers they are.
    pub(super) fn count(self, d: usize) -> f64 {
        match self {
            Self::All => 0.5 * d as f64 * (d as f64 + 1.0),
            Self::Diagonal => d as f64,
        }
    }
}

/// All of B at the present state, the mean of what was seen there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Curvature {
    b: Vec<f64>,
    n_pairs: usize,
}

impl Curvature {
    /// Whether a run in `dim` coordinates can have kept it.
    pub(super) fn is_sound(&self, dim: usize) -> bool {
        self.b.len() == dim * dim && self.n_pairs < usize::MAX >> 20 && self.b.iter().all(|v| v.is_finite())
    }
}

/// The steps of such a Gaussian.
pub(super) struct Diagonal {
    pub(super) curvature: Curvature,
    /// I + B and its factor.
    matrix: Vec<f64>,
    factor: Vec<f64>,
    inverse: Vec<f64>,
    shift: Vec<f64>,
    workspace: cholesky::Workspace,
    /// What eigenvalues take, once they were needed.
    lifting: Option<Lifting>,
}

struct Lifting {
    values: Vec<f64>,
    vectors: Vec<f64>,
    workspace: eigen::Workspace,
}

impl Diagonal {
    pub(super) fn new(d: usize) -> Self {
        Self {
            curvature: Curvature { b: vec![0.0; d * d], n_pairs: 0 },
            matrix: vec![0.0; d * d],
            factor: vec![0.0; d * d],
            inverse: vec![0.0; d * d],
            shift: vec![0.0; d],
            workspace: cholesky::Workspace::new(d),
            lifting: None,
        }
    }

    /// Nothing was seen of the present state.
    pub(super) fn clear(&mut self) {
        self.curvature.n_pairs = 0;
    }

    /// Keeps all of the B that a look has found, and leaves its diagonal in the gradient.
    pub(super) fn keep(&mut self, found: &Findings, gradient: &mut [f64]) {
        let d = self.shift.len();
        let (b, n) = (&mut gradient[d..], found.n_pairs.max(1));
        self.curvature.n_pairs += n;
        let share = n as f64 / self.curvature.n_pairs as f64;
        // The first look replaces what was there, whatever that was.
        self.curvature.b.iter_mut().for_each(|kept| *kept *= 1.0 - share);
        axpy(share, b, &mut self.curvature.b);
        for (j, column) in b.chunks_exact_mut(d).enumerate() {
            let own = column[j];
            column.fill(0.0);
            column[j] = own;
        }
    }

    /// Turns the gradient in the mean into the coordinates in which the bound curves alike in all directions, a ← Λ⁻¹a
    /// with ΛΛᵀ = I + B: half of its square is then what a whole step gains.
    pub(super) fn turn(&mut self, found: &Findings, gradient: &mut [f64]) -> Findings {
        let d = self.shift.len();
        self.matrix.copy_from_slice(&self.curvature.b);
        self.matrix.iter_mut().step_by(d + 1).for_each(|entry| *entry += 1.0);
        if cholesky::factor(d, &self.matrix, &mut self.factor, &mut self.workspace).is_err() {
            self.lift();
        }
        let a = &mut gradient[..d];
        cholesky::solve_factor(d, &self.factor, a);
        let raw = dot(a, a);
        let mut noise = found.mean.noise();
        if noise != 0.0 {
            self.inverse.fill(0.0);
            self.inverse.iter_mut().step_by(d + 1).for_each(|entry| *entry = 1.0);
            cholesky::solve_factor(d, &self.factor, &mut self.inverse);
            noise *= dot(&self.inverse, &self.inverse) / d as f64;
        }
        Findings { mean: Norm { raw, signal: raw - noise }, ..*found }
    }

    /// The factor of |I + B|, whose eigenvalues are at least a small number.
    fn lift(&mut self) {
        let d = self.shift.len();
        let lifting = self.lifting.get_or_insert_with(|| Lifting {
            values: vec![0.0; d],
            vectors: vec![0.0; d * d],
            workspace: eigen::Workspace::new(d),
        });
        let Lifting { values, vectors, workspace } = lifting;
        self.factor.fill(0.0);
        self.factor.iter_mut().step_by(d + 1).for_each(|entry| *entry = 1.0);
        if !eigen::decompose(d, &self.matrix, values, vectors, workspace) {
            return;
        }
        self.matrix.fill(0.0);
        for (value, vector) in values.iter().zip(vectors.chunks_exact(d)) {
            let height = value.abs().max(tuned::LEAST_CURVATURE);
            for (j, column) in self.matrix.chunks_exact_mut(d).enumerate() {
                axpy(height * vector[j], vector, column);
            }
        }
        products::mirror_lower(d, &mut self.matrix);
        if cholesky::factor(d, &self.matrix, &mut self.factor, &mut self.workspace).is_err() {
            self.factor.fill(0.0);
            self.factor.iter_mut().step_by(d + 1).for_each(|entry| *entry = 1.0);
        }
    }

    /// μ ← μ + βL⁻ᵀΛ⁻ᵀa for a turned gradient a, P_ii ← P_ii(1 + γB_ii); the length of the shift and every B_ii are
    /// bounded. False, and nothing changed, if the numbers are not finite.
    pub(super) fn advance(&mut self, q: &mut Whitened, gradient: &[f64], beta: f64, gamma: f64) -> bool {
        let d = self.shift.len();
        let (a, b) = gradient.split_at(d);
        let (length, longest) = (beta * dot(a, a).sqrt(), (0.3 * (d as f64).sqrt()).max(1.0));
        let part = if length > longest { longest / length } else { 1.0 };
        self.shift.iter_mut().zip(a).for_each(|(shift, a)| *shift = part * beta * a);
        cholesky::solve_factor_transposed(d, &self.factor, &mut self.shift);
        let [lowest, highest] =
            [tuned::LOWEST_EIGENVALUE, tuned::HIGHEST_EIGENVALUE].map(|bound| bound / gamma.max(1.0));
        let is_finite = |v: &f64| v.is_finite();
        if !(self.shift.iter().all(is_finite) && b.iter().step_by(d + 1).all(is_finite)) {
            return false;
        }
        for i in 0..d {
            let own = &mut q.factor[i * d + i];
            q.mean[i] += self.shift[i] / *own;
            *own *= (1.0 + gamma * b[i * d + i].clamp(lowest, highest)).sqrt();
        }
        true
    }
}
