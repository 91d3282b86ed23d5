//! One fit of a growing mixture: a short round, or a run to its end.

use super::{At, Growth};
use crate::Error;
use crate::random::{Purpose, Stream};
use crate::run::pooled::{Pool, PooledRun};
use crate::run::{Plan, Run, Stop, StopReason};

/// Blocks of [`Purpose::Start`] that belong to the rounds.
const SEED_BLOCK: u32 = 1 << 16;

impl Growth<'_, '_, '_> {
    /// Fits the mixture: a round of so many steps, the later half averaged, or a run with the plan's own limits. Only
    /// these limits are reasons other than convergence.
    pub(super) fn fit(&mut self, at: &mut At, round: Option<u64>) -> Result<StopReason, Error> {
        if let Some(pool) = self.pool.take() {
            return self.fit_to_pool(at, pool, round.is_some());
        }
        let under_way = self.under_way.take();
        // What was made of a fit that is under way has been counted.
        let done = self.fit.steps_of_part() - under_way.as_ref().map_or(0, |run| run.step());
        let stop = Stop { max_steps: self.plan.stop.max_steps.saturating_sub(done), ..self.plan.stop };
        let n_draws = if round.is_some() { self.n_draws } else { self.plan.n_draws };
        let plan = Plan { seed: self.round_seed(), stop, n_draws, ..self.plan.clone() };
        let mut run = Run::new(self.evaluator.target(), at.q.clone(), &plan)?;
        run.pace = run.pace.at_most(self.longest);
        if let Some(steps) = round {
            run.pace = run.pace.round(steps, &stop);
        }
        let state = self.state(at, under_way);
        run.evaluator.store = self.evaluator.store.take();
        let reason = self.fit.carry_round(&mut run, state);
        self.evaluator.store = run.evaluator.store.take();
        let reason = reason?;
        at.q = if round.is_some() { run.average.value().unwrap_or(run.q) } else { run.best().clone() };
        self.n_fits += 1;
        Ok(reason)
    }

    /// Fits the mixture to the pool: a round, or until fresh draws confirm it. Where the pool leads nowhere the rounds
    /// go on without it.
    fn fit_to_pool(&mut self, at: &mut At, pool: Pool, is_round: bool) -> Result<StopReason, Error> {
        let under_way = self.pooled_under_way.take();
        let done = self.fit.steps_of_part() - under_way.as_ref().map_or(0, |run| run.step());
        let stop = Stop { max_steps: self.plan.stop.max_steps.saturating_sub(done), ..self.plan.stop };
        let plan = Plan { seed: self.round_seed(), stop, ..self.plan.clone() };
        let state = self.state(at, None).with_pool(&pool, under_way);
        let target = self.evaluator.target();
        let mut run = match is_round {
            true => PooledRun::round(target, at.q.clone(), &plan, pool)?,
            false => PooledRun::with_pool(target, at.q.clone(), &plan, pool)?,
        };
        let reason = self.fit.carry_round(&mut run, state)?;
        (at.q, self.promised) = (run.reached()?, run.bound());
        self.n_fits += 1;
        if reason == StopReason::Stagnated {
            return Ok(StopReason::Converged);
        }
        self.pool = Some(run.into_pool());
        Ok(reason)
    }

    /// A seed for the next fit and what follows it; no two rounds share random numbers.
    pub(super) fn round_seed(&self) -> u64 {
        Stream::open(self.plan.seed, Purpose::Start, self.n_fits, SEED_BLOCK).next_u64()
    }
}
