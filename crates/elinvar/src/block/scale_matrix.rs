//! What a location block asks of its precision matrix, full or diagonal.

use crate::Error;
use crate::rule::Rule;
use crate::target::Covariance;

/// Entries of a state stay below this in size, so that no product of two of them overflows.
pub(crate) const LARGEST: f64 = 1e140;

/// Share κ of the old precision that a plain natural-gradient step keeps: S_new ⪰ κS.
///
/// Positive definite is not enough: a precision that is barely so draws points so far out that the next gradient overflows.
pub(crate) const MARGIN: f64 = 0.05;

/// Largest squared length bᵀPb of a column of B other than μ, in units of the conditional noise.
///
/// Beyond it a shift or factor is so long that I + AᵀPA is singular to the accuracy of a number, and squares soon overflow.
pub(crate) const LARGEST_SHIFT: f64 = 1e12;

/// A precision matrix P = Σ⁻¹ = L Lᵀ, stored with its factor; batches are d × n with the points as columns.
pub trait ScaleMatrix: Clone + Send + Sync + std::fmt::Debug + Sized {
    /// Full or diagonal.
    const COVARIANCE: Covariance;

    /// The matrix with these entries: d² numbers (column-major, symmetric) when full, d when diagonal.
    ///
    /// # Errors
    /// [`Error::Shape`] for a wrong number of entries, [`Error::NotPositiveDefinite`] otherwise.
    fn from_precision(dim: usize, entries: Vec<f64>) -> Result<Self, Error>;
    /// d.
    fn dim(&self) -> usize;
    /// The entries of P.
    fn precision(&self) -> &[f64];
    /// log |P|.
    fn log_det_precision(&self) -> f64;
    /// X ← L⁻ᵀ X: standard normals become draws with covariance Σ.
    fn unwhiten(&self, x: &mut [f64]);
    /// out = Lᵀ X.
    fn whiten(&self, x: &[f64], out: &mut [f64]);
    /// X ← L⁻¹ X: whitens a gradient.
    fn whiten_gradient(&self, x: &mut [f64]);
    /// out = L X.
    fn factor_times(&self, x: &[f64], out: &mut [f64]);
    /// out += P x for one point.
    fn add_precision_times(&self, x: &[f64], out: &mut [f64]);
    /// X ← Σ X.
    fn solve(&self, x: &mut [f64]);
    /// out = Σ, a full d × d matrix.
    fn covariance_into(&self, out: &mut [f64]);

    /// acc += c v vᵀ.
    fn add_outer(c: f64, v: &[f64], acc: &mut [f64]);
    /// acc += c on the first `leading` diagonal entries.
    fn add_identity(dim: usize, c: f64, leading: usize, acc: &mut [f64]);
    /// acc += Σ_s w_s r_s r_sᵀ; only the lower triangle is written until [`ScaleMatrix::complete`].
    fn add_weighted_gram(dim: usize, r: &[f64], w: &[f64], scratch: &mut [f64], acc: &mut [f64]);
    /// acc += ½ Σ_s w_s (r_s g_sᵀ + g_s r_sᵀ), with the same remark.
    fn add_symmetrised(dim: usize, r: &[f64], g: &[f64], w: &[f64], scratch: &mut [f64], acc: &mut [f64]);
    /// Fills the upper triangle from the lower one.
    fn complete(dim: usize, acc: &mut [f64]);

    /// Writes the precision after a step β in direction G, with its factor, to `candidate`; false if it is not admissible.
    ///
    /// Plain rule: P + βG, kept above κP. Retraction: P + βG + ½β² GΣG, which is positive definite for every β (mathematics §10.1);
    /// `direction_ready` says that the β-independent part GΣG is already in `candidate` from an earlier call.
    fn propose(&self, rule: Rule, beta: f64, g: &[f64], direction_ready: bool, candidate: &mut Candidate) -> bool;
    /// X ← Σ_new X with the factor in `candidate`.
    fn solve_candidate(dim: usize, candidate: &Candidate, x: &mut [f64]);
    /// out = L_newᵀ X with the factor in `candidate`.
    fn whiten_candidate(dim: usize, candidate: &Candidate, x: &[f64], out: &mut [f64]);
    /// tr(PΣ_new) − d − log |PΣ_new| for the matrix in `candidate`: twice the KL divergence of the covariance part of a step.
    fn divergence(&self, candidate: &mut Candidate) -> f64;
    /// Makes the candidate the state.
    fn accept(&mut self, candidate: &mut Candidate);
    /// tr(ΣAΣB) for two symmetric matrices.
    fn trace_product(&self, a: &[f64], b: &[f64], candidate: &mut Candidate) -> f64;

    /// Number of entries of the lower factor C of Σ = C Cᵀ: the coordinates of [`Approximation::chart`].
    ///
    /// [`Approximation::chart`]: crate::family::Approximation::chart
    fn chart_len(dim: usize) -> usize;
    /// Writes C, its lower triangle column by column with the logarithms of the diagonal; NaN if P has no such factor in floating
    /// point.
    fn chart(&self, candidate: &mut Candidate, out: &mut [f64]);
    /// Writes `factor` times the gradient in these coordinates: −GC with its diagonal times that of C (mathematics §9.4).
    fn chart_gradient(&self, factor: f64, g: &[f64], candidate: &mut Candidate, out: &mut [f64]);
    /// Writes the precision with these coordinates, with its factor, to `candidate`; false if it is out of range.
    fn propose_chart(dim: usize, coordinates: &[f64], candidate: &mut Candidate) -> bool;
}

/// A proposed precision with its factor, and the memory to make it.
#[derive(Debug)]
pub struct Candidate {
    pub(crate) precision: Vec<f64>,
    pub(crate) factor: Vec<f64>,
    /// GΣG, the second-order part of a retraction.
    pub(crate) second: Vec<f64>,
    pub(crate) spare: Vec<f64>,
    pub(crate) workspace: crate::linalg::cholesky::Workspace,
}

impl Candidate {
    /// Memory for matrices of dimension `dim`.
    pub(crate) fn new(covariance: Covariance, dim: usize) -> Self {
        let n = covariance.n_entries(dim);
        Self {
            precision: vec![0.0; n],
            factor: vec![0.0; n],
            second: vec![0.0; n],
            spare: vec![0.0; n],
            workspace: crate::linalg::cholesky::Workspace::new(if covariance == Covariance::Full { dim } else { 1 }),
        }
    }
}

/// Whether every entry is finite and small enough to be squared.
pub(crate) fn in_range(entries: &[f64]) -> bool {
    entries.iter().all(|v| v.abs() < LARGEST)
}
