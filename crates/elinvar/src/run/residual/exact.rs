//! The gradient in mean and precision by exact expectations, where a target has them (mathematics §12.6).

use super::batch::Look;
use super::by_hessians::whiten;
use super::diagonal::Entries;
use super::findings::{Findings, Norm};
use super::gaussian::Whitened;
use crate::Error;
use crate::evaluate::Evaluator;
use crate::linalg::{cholesky, dot};

/// Memory for expectations in one number of dimensions.
pub(super) struct Exact {
    entries: Entries,
    covariance: Vec<f64>,
    variances: Vec<f64>,
    turned: Vec<f64>,
    workspace: cholesky::Workspace,
}

impl Exact {
    pub(super) fn new(d: usize, entries: Entries) -> Self {
        Self {
            entries,
            covariance: vec![0.0; d * d],
            variances: vec![0.0; d],
            turned: vec![0.0; d * d],
            workspace: cholesky::Workspace::new(d),
        }
    }

    /// Asks at `q`; writes the whitened gradient, a and then B, to `gradient`.
    ///
    /// # Errors
    /// A fatal error of the target; [`Error::Interrupted`].
    pub(super) fn look(
        &mut self,
        q: &Whitened,
        evaluator: &mut Evaluator<'_>,
        gradient: &mut [f64],
    ) -> Result<Look, Error> {
        let d = q.mean.len();
        cholesky::inverse(d, &q.factor, &mut self.covariance, &mut self.workspace);
        self.variances.iter_mut().zip(self.covariance.iter().step_by(d + 1)).for_each(|(v, c)| *v = *c);
        if !evaluator.expect(&q.mean, &self.variances, &self.covariance)? {
            return Ok(Look::TooManyBad);
        }
        let answer = evaluator.answer();
        let (a, b) = gradient.split_at_mut(d);
        a.copy_from_slice(answer.grad(0));
        cholesky::solve_factor(d, &q.factor, a);
        whiten(d, q, answer.curvature(), &mut self.turned, b);
        b.iter_mut().step_by(d + 1).for_each(|entry| *entry -= 1.0);
        let known = |square: f64| Norm { raw: square, signal: square };
        let found = Findings {
            mean: known(dot(a, a)),
            scale: known(self.entries.square(d, b)),
            n_pairs: 0,
            n_lost: 0,
            is_determined: true,
            knows_noise: true,
            entries: self.entries,
        };
        if !gradient.iter().all(|v| v.is_finite()) {
            return Ok(Look::TooManyBad);
        }
        let entropy = 0.5 * d as f64 * (1.0 + std::f64::consts::TAU.ln()) - q.half_log_det();
        Ok(Look::Good { elbo: (answer.log_p()[0] + entropy, 0.0), found })
    }
}
