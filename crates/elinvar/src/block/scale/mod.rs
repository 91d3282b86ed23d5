//! The precision matrix of a location block or of a mode of a tensor: full or diagonal, with its factor.

mod diagonal;
mod full;

pub(super) use diagonal::Diagonal;
pub(super) use full::Full;

use crate::Error;
use crate::linalg::{cholesky, products};
use crate::rule::Rule;
use crate::target::Shape;

/// Entries of a state stay below this in size, so that no product of two of them overflows.
pub(crate) const LARGEST: f64 = 1e140;

/// Share κ of the old precision that a plain natural-gradient step keeps: S_new ⪰ κS.
///
/// Positive definite is not enough: a precision that is barely so draws points so far out that the next gradient
/// overflows.
pub(crate) const MARGIN: f64 = 0.05;

/// Largest squared length bᵀPb of a column of B other than μ, in units of the conditional noise.
///
/// Beyond it a shift or factor is so long that I + AᵀPA is singular to the accuracy of a number, and squares soon
/// overflow.
pub(crate) const LARGEST_SHIFT: f64 = 1e12;

/// A precision matrix P = Σ⁻¹ = L Lᵀ, stored with its factor; batches are d × n with the points as columns.
#[derive(Debug, PartialEq)]
#[non_exhaustive]
pub enum Scale {
    /// All entries.
    Full(Full),
    /// The diagonal only.
    Diagonal(Diagonal),
}

impl Clone for Scale {
    fn clone(&self) -> Self {
        match self {
            Self::Full(matrix) => Self::Full(matrix.clone()),
            Self::Diagonal(matrix) => Self::Diagonal(matrix.clone()),
        }
    }

    /// Allocates nothing where the shapes agree.
    fn clone_from(&mut self, source: &Self) {
        match (self, source) {
            (Self::Full(to), Self::Full(from)) => to.clone_from(from),
            (Self::Diagonal(to), Self::Diagonal(from)) => to.clone_from(from),
            (to, from) => *to = from.clone(),
        }
    }
}

/// Calls a method of the matrix.
macro_rules! of_matrix {
    ($self_:expr, $matrix:ident => $body:expr) => {
        match $self_ {
            Scale::Full($matrix) => $body,
            Scale::Diagonal($matrix) => $body,
        }
    };
}

impl Scale {
    /// The matrix with these entries: d² numbers (column-major, symmetric) when full, d when diagonal.
    ///
    /// # Errors
    /// [`Error::Shape`] for a wrong number of entries, [`Error::NotPositiveDefinite`] otherwise.
    pub fn from_precision(shape: Shape, entries: Vec<f64>) -> Result<Self, Error> {
        Ok(match shape {
            Shape::Full(dim) => Self::Full(Full::from_precision(dim, entries)?),
            Shape::Diagonal(dim) => Self::Diagonal(Diagonal::from_precision(dim, entries)?),
        })
    }

    /// The scale matrix with this covariance, or as much of it as the shape stores; none where it is not positive
    /// definite.
    pub(crate) fn from_covariance(shape: Shape, cov: &[f64]) -> Option<Self> {
        let precision = match shape {
            Shape::Diagonal(d) => (0..d).map(|i| 1.0 / cov[i * d + i]).collect(),
            Shape::Full(d) => {
                let (mut l, mut inverse) = (vec![0.0; d * d], vec![0.0; d * d]);
                let mut workspace = cholesky::Workspace::new(d);
                cholesky::factor(d, cov, &mut l, &mut workspace).ok()?;
                cholesky::inverse(d, &l, &mut inverse, &mut workspace);
                products::mirror_lower(d, &mut inverse);
                inverse
            }
        };
        Self::from_precision(shape, precision).ok()
    }

    /// Makes `precision`, which is P, that of Σ − c xxᵀ with x = L⁻ᵀu and |u|² = `square`: P + c/(1 − c|u|²) Lu(Lu)ᵀ. A
    /// diagonal takes the share of each coordinate from its variance instead.
    pub(crate) fn take_out(&self, c: f64, u: &[f64], square: f64, precision: &mut [f64]) {
        match self {
            Scale::Full(_) => {
                let mut v = vec![0.0; u.len()];
                self.factor_times(u, &mut v);
                self.shape().add_outer(c / (1.0 - c * square), &v, precision);
            }
            Scale::Diagonal(_) => precision.iter_mut().zip(u).for_each(|(p, u)| *p /= 1.0 - c * u * u),
        }
    }

    /// Which of its entries are stored.
    pub fn shape(&self) -> Shape {
        match self {
            Self::Full(matrix) => Shape::Full(matrix.dim()),
            Self::Diagonal(matrix) => Shape::Diagonal(matrix.dim()),
        }
    }

    /// Makes the candidate the state.
    pub(crate) fn accept(&mut self, candidate: &mut Candidate) {
        of_matrix!(self, matrix => matrix.accept(candidate));
    }
}

/// What a block asks of its matrix, by the kind of matrix.
macro_rules! forward {
    ($($(#[$doc:meta])* $visible:vis fn $name:ident($($argument:ident: $type:ty),*) $(-> $out:ty)?;)*) => {
        impl Scale {
            $($(#[$doc])*
            $visible fn $name(&self $(, $argument: $type)*) $(-> $out)? {
                of_matrix!(self, matrix => matrix.$name($($argument),*))
            })*
        }
    };
}

forward! {
    /// d.
    pub fn dim() -> usize;
    /// The entries of P.
    pub fn precision() -> &[f64];
    /// log |P|.
    pub(crate) fn log_det_precision() -> f64;
    /// X ← L⁻ᵀ X: standard normals become draws with covariance Σ.
    pub(crate) fn unwhiten(x: &mut [f64]);
    /// out = Lᵀ X.
    pub(crate) fn whiten(x: &[f64], out: &mut [f64]);
    /// X ← L⁻¹ X: whitens a gradient.
    pub(crate) fn whiten_gradient(x: &mut [f64]);
    /// out = L X.
    pub(crate) fn factor_times(x: &[f64], out: &mut [f64]);
    /// out += P x for one point.
    pub(crate) fn add_precision_times(x: &[f64], out: &mut [f64]);
    /// X ← Σ X.
    pub fn solve(x: &mut [f64]);
    /// out = Σ, a full d × d matrix.
    pub fn covariance_into(out: &mut [f64]);
    /// The diagonal of Σ; `scratch` holds as many numbers as P.
    pub(crate) fn variances_into(scratch: &mut [f64], out: &mut [f64]);
    /// tr(ΣG) of a matrix stored as P is; `scratch` holds as many numbers.
    pub(crate) fn trace_of_solved(g: &[f64], scratch: &mut [f64]) -> f64;
    /// out = L M Lᵀ of a matrix stored as P is; each part of `scratch` holds as many numbers.
    pub(crate) fn congruent(m: &[f64], scratch: &mut [Vec<f64>; 2], out: &mut [f64]);
    /// tr(ΣAΣB) for two symmetric matrices.
    pub(crate) fn trace_product(a: &[f64], b: &[f64], candidate: &mut Candidate) -> f64;

    /// Writes the precision after a step β in direction G, with its factor, to `candidate`; false if it is not
    /// admissible.
    ///
    /// Plain rule: P + βG, kept above κP. Retraction: P + βG + ½β² GΣG; `direction_ready` says that the β-independent
    /// part GΣG is already in `candidate` from an earlier call.
    pub(crate) fn propose(rule: Rule, beta: f64, g: &[f64], direction_ready: bool, candidate: &mut Candidate) -> bool;
    /// Factors the precision that is in `candidate`; false if it is not positive definite.
    pub(crate) fn refactor(candidate: &mut Candidate) -> bool;
    /// X ← Σ_new X with the factor in `candidate`.
    pub(crate) fn solve_candidate(candidate: &Candidate, x: &mut [f64]);
    /// out = L_newᵀ X with the factor in `candidate`.
    pub(crate) fn whiten_candidate(candidate: &Candidate, x: &[f64], out: &mut [f64]);
    /// log |P_new| of the matrix in `candidate`.
    pub(crate) fn log_det_candidate(candidate: &Candidate) -> f64;
    /// tr(PΣ_new) − d − log |PΣ_new| for the matrix in `candidate`: twice the KL divergence of the covariance part of a
    /// step.
    pub(crate) fn divergence(candidate: &mut Candidate) -> f64;

    /// Number of entries of the lower factor C of Σ = C Cᵀ: the coordinates of the chart.
    pub(crate) fn chart_len() -> usize;
    /// Writes C, its lower triangle column by column with the logarithms of the diagonal; NaN if P has no such factor
    /// in floating point.
    pub(crate) fn chart(candidate: &mut Candidate, out: &mut [f64]);
    /// Writes `factor` times the gradient in these coordinates: −GC with its diagonal times that of C (mathematics
    /// §9.4).
    pub(crate) fn chart_gradient(factor: f64, g: &[f64], candidate: &mut Candidate, out: &mut [f64]);
    /// Writes the precision with these coordinates, with its factor, to `candidate`; false if it is out of range.
    pub(crate) fn propose_chart(coordinates: &[f64], candidate: &mut Candidate) -> bool;
}

/// A proposed precision with its factor, and the memory to make it.
#[derive(Debug)]
pub(crate) struct Candidate {
    pub(crate) precision: Vec<f64>,
    pub(crate) factor: Vec<f64>,
    /// GΣG, the second-order part of a retraction.
    pub(crate) second: Vec<f64>,
    pub(crate) spare: Vec<f64>,
    pub(crate) workspace: crate::linalg::cholesky::Workspace,
}

impl Candidate {
    /// Memory for matrices of this shape.
    pub(crate) fn new(shape: Shape) -> Self {
        let n = shape.n_entries();
        Self {
            precision: vec![0.0; n],
            factor: vec![0.0; n],
            second: vec![0.0; n],
            spare: vec![0.0; n],
            workspace: crate::linalg::cholesky::Workspace::new(match shape {
                Shape::Full(dim) => dim,
                Shape::Diagonal(_) => 1,
            }),
        }
    }
}

/// Whether every entry is finite and small enough to be squared.
pub(crate) fn in_range(entries: &[f64]) -> bool {
    entries.iter().all(|v| v.abs() < LARGEST)
}
