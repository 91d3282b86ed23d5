//! The Gaussian that a run by residual scores moves: a mean and the factor of its precision.

use serde::{Deserialize, Serialize};

use crate::Error;
use crate::block::Location;
use crate::family::Approximation;
use crate::linalg::{axpy, cholesky, dot, eigen, products};
use crate::target::Covariance;
use crate::tuning::residual as tuned;

/// N(μ, (LLᵀ)⁻¹).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(in crate::run) struct Whitened {
    pub(in crate::run) mean: Vec<f64>,
    /// L, lower triangular, d × d.
    pub(in crate::run) factor: Vec<f64>,
}

/// Memory for the steps of one.
pub(in crate::run) struct Room {
    matrix: Vec<f64>,
    factor: Vec<f64>,
    product: Vec<f64>,
    shift: Vec<f64>,
    workspace: cholesky::Workspace,
    /// What clipping eigenvalues takes, once it was needed.
    clipping: Option<Clipping>,
}

struct Clipping {
    values: Vec<f64>,
    vectors: Vec<f64>,
    scaled: Vec<f64>,
    workspace: eigen::Workspace,
}

impl Room {
    pub(in crate::run) fn new(d: usize) -> Self {
        Self {
            matrix: vec![0.0; d * d],
            factor: vec![0.0; d * d],
            product: vec![0.0; d * d],
            shift: vec![0.0; d],
            workspace: cholesky::Workspace::new(d),
            clipping: None,
        }
    }
}

impl Whitened {
    /// The numbers of a full Gaussian.
    pub(in crate::run) fn of(q: &Approximation) -> Self {
        Self::of_block(&q.locations()[0])
    }

    /// The numbers of one full component.
    pub(in crate::run) fn of_block(block: &Location) -> Self {
        let d = block.dim();
        let mut factor = vec![0.0; d * d];
        // L I, column by column.
        let mut unit = vec![0.0; d * d];
        unit.iter_mut().step_by(d + 1).for_each(|entry| *entry = 1.0);
        block.scale().factor_times(&unit, &mut factor);
        Self { mean: block.b().to_vec(), factor }
    }

    /// The Gaussian with this mean and precision, of which a diagonal one has the diagonal.
    pub(in crate::run) fn approximation(&self, covariance: Covariance) -> Result<Approximation, Error> {
        let d = self.mean.len();
        let precision = match covariance {
            Covariance::Diagonal => self.factor.iter().step_by(d + 1).map(|entry| entry * entry).collect(),
            _ => self.precision(),
        };
        Approximation::gaussian(self.mean.clone(), covariance, precision)
    }

    /// LLᵀ.
    pub(in crate::run) fn precision(&self) -> Vec<f64> {
        let d = self.mean.len();
        let mut precision = vec![0.0; d * d];
        for column in self.factor.chunks_exact(d) {
            for (j, out) in precision.chunks_exact_mut(d).enumerate() {
                if column[j] != 0.0 {
                    axpy(column[j], column, out);
                }
            }
        }
        products::mirror_lower(d, &mut precision);
        precision
    }

    /// Whether a run in `dim` coordinates can have kept it.
    pub(in crate::run) fn is_sound(&self, dim: usize) -> bool {
        self.mean.len() == dim
            && self.factor.len() == dim * dim
            && self.factor.iter().step_by(dim + 1).all(|entry| *entry > 0.0)
            && self.mean.iter().chain(&self.factor).all(|v| v.is_finite())
    }

    /// ½ log |LLᵀ|.
    pub(in crate::run) fn half_log_det(&self) -> f64 {
        0.5 * cholesky::log_det(self.mean.len(), &self.factor)
    }

    /// Half the width in every direction.
    pub(in crate::run) fn narrow(&mut self) {
        self.factor.iter_mut().for_each(|entry| *entry *= 2.0);
    }

    /// P ← L(I + γB)Lᵀ and μ ← μ + L⁻ᵀ(I + γB)⁻¹βa, in the coordinates in which this is N(0, I); eigenvalues of B and
    /// the length of the shift are bounded. False, and nothing changed, if rounding leaves no factor.
    pub(in crate::run) fn advance(&mut self, a: &[f64], beta: f64, b: &[f64], gamma: f64, room: &mut Room) -> bool {
        let d = self.mean.len();
        room.matrix.copy_from_slice(b);
        let bounds = [tuned::LOWEST_EIGENVALUE, tuned::HIGHEST_EIGENVALUE].map(|bound| bound / gamma.max(1.0));
        if !is_moderate(d, b, bounds, room) {
            clip(d, b, bounds, room);
        }
        room.matrix.iter_mut().for_each(|entry| *entry *= gamma);
        room.matrix.iter_mut().step_by(d + 1).for_each(|entry| *entry += 1.0);
        if cholesky::factor(d, &room.matrix, &mut room.factor, &mut room.workspace).is_err() {
            return false;
        }
        room.shift.iter_mut().zip(a).for_each(|(shift, a)| *shift = beta * a);
        cholesky::solve_factor(d, &room.factor, &mut room.shift);
        cholesky::solve_factor_transposed(d, &room.factor, &mut room.shift);
        let (length, longest) = (dot(&room.shift, &room.shift).sqrt(), (0.3 * (d as f64).sqrt()).max(1.0));
        let part = if length > longest { longest / length } else { 1.0 };
        cholesky::solve_factor_transposed(d, &self.factor, &mut room.shift);
        cholesky::factor_times(d, &self.factor, &room.factor, &mut room.product);
        if !room.product.iter().chain(&room.shift).all(|v| v.is_finite()) {
            return false;
        }
        axpy(part, &room.shift, &mut self.mean);
        self.factor.copy_from_slice(&room.product);
        for (j, column) in self.factor.chunks_exact_mut(d).enumerate() {
            column[..j].fill(0.0);
        }
        true
    }
}

/// Whether all eigenvalues of B are within their bounds.
fn is_moderate(d: usize, b: &[f64], [lowest, highest]: [f64; 2], room: &mut Room) -> bool {
    let norm = dot(b, b).sqrt();
    if norm < -lowest {
        return true;
    }
    // B less the lower bound, then the upper bound less B.
    for (bound, sign) in [(lowest, 1.0), (highest, -1.0)] {
        if norm < bound * -sign {
            continue;
        }
        room.product.iter_mut().zip(b).for_each(|(out, entry)| *out = sign * entry);
        room.product.iter_mut().step_by(d + 1).for_each(|entry| *entry -= sign * bound);
        if cholesky::factor(d, &room.product, &mut room.factor, &mut room.workspace).is_err() {
            return false;
        }
    }
    true
}

/// `room.matrix` ← B with its eigenvalues within their bounds.
fn clip(d: usize, b: &[f64], [lowest, highest]: [f64; 2], room: &mut Room) {
    let clipping = room.clipping.get_or_insert_with(|| Clipping {
        values: vec![0.0; d],
        vectors: vec![0.0; d * d],
        scaled: vec![0.0; d * d],
        workspace: eigen::Workspace::new(d),
    });
    let Clipping { values, vectors, scaled, workspace } = clipping;
    if !eigen::decompose(d, b, values, vectors, workspace) {
        room.matrix.fill(0.0);
        return;
    }
    for ((value, vector), out) in values.iter().zip(vectors.chunks_exact(d)).zip(scaled.chunks_exact_mut(d)) {
        let bounded = value.clamp(lowest, highest);
        out.iter_mut().zip(vector).for_each(|(out, v)| *out = bounded * v);
    }
    // The vectors become rows, so that Σ λvvᵀ is one product.
    for (j, column) in room.product.chunks_exact_mut(d).enumerate() {
        column.iter_mut().enumerate().for_each(|(i, entry)| *entry = vectors[i * d + j]);
    }
    room.matrix.fill(0.0);
    products::add_product(scaled, &room.product, d, d, d, &mut room.matrix);
    products::mirror_lower(d, &mut room.matrix);
}
