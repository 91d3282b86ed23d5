//! One batch of a run: drawn, evaluated, turned into a gradient.

use super::Run;
use crate::Error;
use crate::evaluate::Asked;
use crate::family::{NoiseKey, Seen};
use crate::random::Purpose;

/// What came of one batch.
pub(super) enum Outcome {
    /// The gradient is there; with the ELBO of the batch and its standard error.
    Ready {
        elbo: (f64, f64),
    },
    TooManyBad(usize),
    NotFinite,
}

impl Run<'_> {
    /// Draws batch `index` of a purpose, evaluates the target on it and writes the gradient of the bound.
    pub(super) fn estimate(&mut self, purpose: Purpose, index: u64) -> Result<Outcome, Error> {
        let Self { evaluator, q, estimator, batch, plan, .. } = self;
        estimator.draw(q, NoiseKey { seed: plan.seed, purpose, step: index }, batch);
        evaluator.choose_rows(plan.seed, purpose, index);
        estimator.weigh(q, batch);
        match evaluator.batch(q, estimator.as_mut(), batch)? {
            Asked::Good => {}
            Asked::TooManyBad(bad) => return Ok(Outcome::TooManyBad(bad)),
            Asked::NotFinite => return Ok(Outcome::NotFinite),
        }
        let (answer, prior) = (evaluator.answer(), evaluator.prior());
        let elbo = estimator.elbo(q, answer.log_p(), prior, batch);
        let baseline = self.pace.baseline(elbo.0);
        let seen = Seen { evaluations: answer, curvature: evaluator.curvature(), prior, batch };
        let finite = estimator.gradient(q, &seen, baseline, &mut self.gradient);
        Ok(if finite { Outcome::Ready { elbo } } else { Outcome::NotFinite })
    }
}
