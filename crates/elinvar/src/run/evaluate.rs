//! One batch of a run: drawn, evaluated, turned into a gradient.

use super::Run;
use crate::Error;
use crate::evaluate::Asked;
use crate::family::Approximation;
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

impl<A: Approximation> Run<'_, A> {
    /// Draws batch `index` of a purpose, evaluates the target on it and writes the gradient of the bound.
    pub(super) fn estimate(&mut self, purpose: Purpose, index: u64) -> Result<Outcome, Error> {
        let Self { evaluator, q, work, batch, plan, .. } = self;
        q.draw(plan.seed, purpose, index, work, batch);
        evaluator.choose_rows(plan.seed, purpose, index);
        q.weigh(work, batch);
        match evaluator.batch(q, work, batch)? {
            Asked::Good => {}
            Asked::TooManyBad(bad) => return Ok(Outcome::TooManyBad(bad)),
            Asked::NotFinite => return Ok(Outcome::NotFinite),
        }
        let (answer, prior) = (evaluator.answer(), &evaluator.about().prior);
        let elbo = q.elbo(answer.log_p(), prior, work, batch);
        // The first batch has to lend its own mean; later ones take that of the step before.
        let baseline = *self.baseline.get_or_insert(if elbo.0.is_finite() { -elbo.0 } else { 0.0 });
        q.set_baseline(work, baseline);
        let finite = q.gradient(answer, evaluator.curvature(), prior, work, batch, &mut self.gradient);
        Ok(if finite { Outcome::Ready { elbo } } else { Outcome::NotFinite })
    }
}
