//! What a shard answers, as plain data.

use serde::{Deserialize, Serialize};

use super::{Request, Wanted};
use crate::linalg::axpy;
use crate::target::{Answer, Target, TargetError};

/// Sums over the rows of a shard, or of several; what was not asked for is empty.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sums {
    /// log p at each draw.
    pub log_p: Vec<f64>,
    /// ∇log p of all draws, one after the other.
    pub grad: Vec<f64>,
    /// Sums of second derivatives, one after the other.
    pub curvature: Vec<f64>,
    /// Rows that were summed.
    pub rows: u64,
    /// Gradients that an expectation under a Gaussian came to, times the rows: work that adds up.
    pub row_gradients: u64,
}

impl Sums {
    /// Adds those of other rows.
    pub(super) fn add(&mut self, other: &Sums) {
        axpy(1.0, &other.log_p, &mut self.log_p);
        axpy(1.0, &other.grad, &mut self.grad);
        axpy(1.0, &other.curvature, &mut self.curvature);
        self.rows = self.rows.saturating_add(other.rows);
        self.row_gradients = self.row_gradients.saturating_add(other.row_gradients);
    }

    /// Gradients of all rows that the work comes to.
    pub(super) fn gradients(&self) -> u64 {
        self.row_gradients.div_ceil(self.rows.max(1)).max(1)
    }

    pub(super) fn lengths(&self) -> [usize; 3] {
        [self.log_p.len(), self.grad.len(), self.curvature.len()]
    }
}

/// What a shard, whose model is `part`, answers to a request.
///
/// This is all that is done where a shard is: a request in, sums out.
///
/// # Errors
/// What the model says, or that the request does not suit it.
pub fn evaluate(part: &dyn Target, request: &Request) -> Result<Sums, TargetError> {
    evaluate_with(part, request, &mut request.room())
}

/// [`evaluate`] in the [`Request::room`] of earlier shards, for whoever asks one after the other.
///
/// # Errors
/// As [`evaluate`].
pub fn evaluate_with(part: &dyn Target, request: &Request, answer: &mut Answer) -> Result<Sums, TargetError> {
    let about = part.about();
    request.check().map_err(|error| TargetError::fatal(error.to_string()))?;
    if about.dim != request.dim {
        let sentence = format!("the request has {} coordinates and the shard {}", request.dim, about.dim);
        return Err(TargetError::fatal(sentence));
    }
    let offers = about.offers;
    let is_offered = match &request.wanted {
        Wanted::Values | Wanted::Gradients => true,
        Wanted::Contracted { which: super::Which::GaussNewton, .. } => offers.gauss_newton,
        Wanted::Contracted { .. } => offers.hessian,
        Wanted::GaussianExpectation { .. } => offers.gaussian_expectation,
    };
    if !is_offered {
        return Err(TargetError::not_offered());
    }
    if let Some((covariance, n)) = request.matrices() {
        answer.set_curvature(covariance, n);
    }
    part.evaluate(&request.ask(), answer)?;
    let rows = about.n_rows.unwrap_or(1) as u64;
    let work = if matches!(request.wanted, Wanted::GaussianExpectation { .. }) { answer.work() } else { 1 };
    let [log_p, grad, curvature] = request.lengths();
    Ok(Sums {
        log_p: answer.log_p()[..log_p].to_vec(),
        grad: answer.grads()[..grad].to_vec(),
        curvature: answer.curvature()[..curvature].to_vec(),
        rows,
        row_gradients: work.saturating_mul(rows),
    })
}
