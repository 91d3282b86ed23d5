//! One fit of a growing mixture: a short round, or a run to its end.

use super::{At, Growth};
use crate::Error;
use crate::block::ScaleMatrix;
use crate::random::{Purpose, Stream};
use crate::run::average::Average;
use crate::run::{Plan, Run, Stop, StopReason};

/// Blocks of [`Purpose::Start`] that belong to the rounds.
const SEED_BLOCK: u32 = 1 << 16;

impl Growth<'_, '_, '_> {
    /// Fits the mixture: a short round of so many steps, the later half averaged, or a run with the plan's own limits. Only these
    /// limits are reasons other than convergence.
    pub(super) fn fit<S: ScaleMatrix>(&mut self, at: &mut At<S>, short: Option<u64>) -> Result<StopReason, Error> {
        let under_way = self.under_way.take();
        // What was made of a fit that is under way has been counted.
        let done = self.trace.len() as u64 - under_way.as_ref().map_or(0, |checkpoint| checkpoint.step);
        let left = self.plan.stop.max_steps.saturating_sub(done);
        let steps = short.unwrap_or(left).min(left);
        let stop = Stop { max_steps: steps, ..self.plan.stop };
        let n_draws = if short.is_some() { self.n_draws } else { self.plan.n_draws };
        let plan = Plan { seed: self.round_seed(), stop, n_draws, ..self.plan.clone() };
        let mut run = Run::new(self.evaluator.target(), at.q.clone(), &plan)?;
        run.evaluator.set_counts(self.evaluator.counts());
        run.seconds_before = self.seconds();
        run.longest = self.longest;
        // A round that a limit cuts short is another one without that limit: it is repeated from its beginning.
        let is_whole = short.is_none_or(|short| short == steps);
        if let Some(checkpoint) = under_way {
            run.restore(&checkpoint)?;
        } else if self.watch.is_due() || !is_whole {
            self.keep(at, None)?;
        }
        let reason = loop {
            if let Some(reason) = run.reason_to_stop() {
                break reason;
            }
            let mut step = run.step()?;
            if !run.evaluator.has_minibatch() {
                self.store.keep(&run.batch, run.evaluator.answer().log_p(), &run.evaluator.about().prior);
            }
            if short.is_none() && run.review_is_due() {
                run.review()?;
                step.remaining = run.last_remaining();
            } else if short.is_some() && run.step == steps / 2 {
                // The way to the new place is not part of the average.
                run.average = Average::new(run.q.clone());
            }
            step.index += done;
            self.trace.push(step);
            let over = self.watch.show(&step).is_break();
            if is_whole && (over || self.watch.is_due()) {
                self.keep(at, Some(run.checkpoint()))?;
            }
            if over && self.watch.ends_with_error() {
                return Err(Error::Interrupted);
            } else if over {
                break StopReason::Interrupted;
            }
        };
        if short.is_none() && reason != StopReason::Converged {
            run.close()?;
        }
        self.evaluator.set_counts(run.counts());
        at.q = if short.is_some() { run.average.value().unwrap_or(run.q) } else { run.best().clone() };
        self.n_fits += 1;
        Ok(if reason == StopReason::MaxSteps && steps < left { StopReason::Converged } else { reason })
    }

    /// A seed for the next fit and what follows it; no two rounds share random numbers.
    pub(super) fn round_seed(&self) -> u64 {
        Stream::open(self.plan.seed, Purpose::Start, self.n_fits, SEED_BLOCK).next_u64()
    }
}
