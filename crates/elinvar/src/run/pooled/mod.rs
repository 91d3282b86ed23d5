//! A run of a mixture of Gaussians that is fitted to a pool of past evaluations (mathematics §12.7): steps without
//! draws until the pool says no more, then fresh draws that judge the mixture and join the pool.

mod judge;
mod mixture;
mod momentum;
mod pace;
mod pool;
mod sight;
mod step;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use super::components::GrowthState;
use super::drive::Driven;
use super::journal::{self, Content, Entry};
use super::prior::check_prior;
use super::{Bound, Counts, Plan, Step, StopReason, check_support};
use crate::Error;
use crate::evaluate::{Clock, Evaluator, Limits};
use crate::family::{Approximation, Kind};
use crate::posterior::Posterior;
use crate::random::Purpose;
use crate::target::{Covariance, Draws, Target};
use crate::tuning::pooled as tuned;
use judge::{Judging, mirrored};
use mixture::{Mixture, Whitening};
use momentum::Momentum;
use pace::{Pace, Until};
pub(super) use pool::Pool;
use sight::Sight;
use step::Stepping;

/// A run in progress.
pub(super) struct PooledRun<'t> {
    evaluator: Evaluator<'t>,
    plan: Plan,
    start: Approximation,
    q: Mixture,
    pool: Pool,
    pace: Pace,
    momentum: Momentum,
    judging: Option<Judging>,
    remaining: Option<(f64, f64)>,
    /// Memory, and what the pool says about `q` where that is known.
    whitening: Whitening,
    sight: Sight,
    stepping: Stepping,
    before: Mixture,
    is_seen: bool,
}

/// The parts of a run that change from step to step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct PooledState {
    q: Mixture,
    pool: Pool,
    pace: Pace,
    #[serde(default)]
    momentum: Momentum,
    judging: Option<Judging>,
    remaining: Option<(f64, f64)>,
}

impl PooledState {
    /// Steps so far.
    pub(super) fn step(&self) -> u64 {
        self.pace.step
    }
}

impl<'t> PooledRun<'t> {
    /// A run from the mixture `start` to its end.
    ///
    /// # Errors
    /// A sentence about the first thing that does not fit together.
    pub(super) fn new(target: &'t dyn Target, start: Approximation, plan: &Plan) -> Result<Self, Error> {
        let pool = Pool::new(start.dim());
        Self::build(target, start, plan, pool, Until::Judged)
    }

    /// [`PooledRun::new`] that begins with what an earlier run has seen.
    ///
    /// # Errors
    /// As [`PooledRun::new`].
    pub(super) fn with_pool(
        target: &'t dyn Target,
        start: Approximation,
        plan: &Plan,
        pool: Pool,
    ) -> Result<Self, Error> {
        Self::build(target, start, plan, pool, Until::Judged)
    }

    /// A round of a growing mixture: until the mixture fits the pool.
    ///
    /// # Errors
    /// As [`PooledRun::new`].
    pub(super) fn round(target: &'t dyn Target, start: Approximation, plan: &Plan, pool: Pool) -> Result<Self, Error> {
        Self::build(target, start, plan, pool, Until::Fitted)
    }

    fn build(
        target: &'t dyn Target,
        start: Approximation,
        plan: &Plan,
        pool: Pool,
        until: Until,
    ) -> Result<Self, Error> {
        let about = target.about();
        let plan = plan.resolve(target)?;
        check_support(start.family(), start.support(), about.support)?;
        if start.dim() != about.dim {
            return Err(Error::Shape { what: "dimension of the start", expected: about.dim, found: start.dim() });
        }
        check_prior(&start, &about.prior)?;
        about.check()?;
        let (d, q) = (about.dim, Mixture::of(&start));
        Ok(Self {
            evaluator: Evaluator::new(target, None).within(Limits::of(&plan), Clock::at(0.0)),
            stepping: Stepping::new(d, q.n_components()),
            pace: Pace::new(until),
            momentum: Momentum::default(),
            judging: None,
            remaining: None,
            whitening: Whitening::default(),
            sight: Sight::default(),
            before: q.clone(),
            is_seen: false,
            start,
            plan,
            pool,
            q,
        })
    }

    /// What the run has reached.
    pub(super) fn reached(&self) -> Result<Approximation, Error> {
        match self.start.family().kind {
            Kind::Gaussian => self.q.blocks[0].approximation(Covariance::Full),
            _ => self.q.approximation(),
        }
    }

    /// The pool, for the next run.
    pub(super) fn into_pool(self) -> Pool {
        self.pool
    }

    /// The bound by the pool.
    pub(super) fn bound(&self) -> f64 {
        self.sight.bound
    }

    /// The posterior that the run has reached, without a record.
    pub(super) fn posterior(&self, reason: StopReason) -> Result<Posterior, Error> {
        Ok(Posterior::of_run(self.evaluator.about(), self.reached()?, &self.plan, reason, self.remaining))
    }

    fn tolerance(&self) -> f64 {
        self.plan.stop.remaining_nats * (self.q.dim() as f64 / 10.0).max(1.0)
    }

    fn see(&mut self) {
        self.sight.look(&self.pool, &self.q, &mut self.whitening);
        self.is_seen = true;
    }

    /// Draws from every component that the pool does not cover; how many draws there were.
    fn fill(&mut self) -> Result<usize, Error> {
        let (d, n) = (self.q.dim(), tuned::draws_at_a_time(self.q.dim()));
        let (mut drawn, mut is_short) = (0, false);
        for c in 0..self.q.n_components() {
            for fill in 0..=tuned::MOST_FILLS {
                if !self.is_seen {
                    self.see();
                }
                if self.sight.is_covered(c, d) {
                    break;
                }
                if fill == tuned::MOST_FILLS {
                    is_short = true;
                    break;
                }
                let part = (c * tuned::MOST_FILLS + fill) as u32;
                let block = &self.q.blocks[c];
                let z = mirrored(block, n, (self.plan.seed, Purpose::Draws, self.pace.step), part);
                let draws = Draws::new(d, &z);
                self.evaluator.evaluate_gradients(draws)?;
                drawn += n;
                self.is_seen = false;
                let kept = self.pool.add(block, draws, self.evaluator.answer(), &mut self.whitening);
                if self.pace.step == 0 && self.pace.until == Until::Judged && 2 * kept < n {
                    return Err(self.bad_start(draws));
                }
            }
        }
        self.pace.short = if is_short { self.pace.short + 1 } else { 0 };
        if !self.is_seen {
            self.see();
        }
        Ok(drawn)
    }

    fn bad_start(&self, draws: Draws<'_>) -> Error {
        let answer = self.evaluator.answer();
        let is_bad = |s: &usize| !(answer.log_p()[*s].is_finite() && answer.grad(*s).iter().all(|v| v.is_finite()));
        let bad = (0..answer.len()).filter(is_bad).count();
        let example = (0..answer.len()).find(is_bad).unwrap_or(0);
        Error::bad_start(bad, answer.len(), draws.get(example), answer.log_p()[example])
    }

    /// The gradient at the present state; what is left to gain by the pool.
    fn estimate(&mut self) -> f64 {
        self.sight.slopes(&self.pool, &self.q);
        self.stepping.estimate(&self.q, &self.sight)
    }

    /// A step along the gradient, halved where the pooled bound falls; the β that was taken.
    fn advance(&mut self) -> f64 {
        let (bound, fall) = (self.sight.bound, tuned::FALL * self.tolerance());
        self.before.set(&self.q);
        self.momentum.add_to(&self.q, &mut self.stepping.slopes);
        let mut is_whole = true;
        for halving in 0..=tuned::HALVINGS {
            let beta = self.pace.beta;
            if !self.stepping.advance(&mut self.q, beta) {
                self.q.set(&self.before);
                self.pace.wild = true;
                return 0.0;
            }
            self.see();
            let falls = self.sight.bound < bound - fall;
            let is_known = self.sight.effective > tuned::fewest_effective(self.q.dim());
            if !(falls && is_known) || halving == tuned::HALVINGS {
                if is_whole {
                    self.pace.beta = (self.pace.beta * tuned::GROWTH_OF_BETA).min(1.0);
                }
                return beta;
            }
            is_whole = false;
            self.momentum.forget();
            self.pace.beta = (0.5 * beta).max(tuned::SMALLEST_BETA);
            self.q.set(&self.before);
        }
        0.0
    }

    /// More fresh draws of a fitted mixture, and the verdict once there are enough.
    fn judge(&mut self) -> Result<usize, Error> {
        let key = (self.plan.seed, self.pace.step);
        let tolerance = self.tolerance();
        let before = self.evaluator.counts();
        let mut judging = match self.judging.take() {
            Some(judging) => judging,
            None => Judging::new(self.sight.bound, self.q.n_components()),
        };
        judging.draw(&self.q, key, &mut self.evaluator, &mut self.pool, &mut self.whitening)?;
        self.is_seen = false;
        let fresh = judging.fresh(&self.q);
        if judging.is_clear(fresh, tuned::JUDGED_ERROR * tolerance) {
            self.see();
            let left = self.estimate();
            let too_much = judging.promised - fresh.bound;
            self.remaining = Some((left, (2.0 * fresh.error).min(too_much.max(0.0))));
            let is_good = tuned::CAUTION * left < tolerance
                && too_much < (2.0 * fresh.error).max(tuned::JUDGED_ERROR * tolerance);
            self.pace.after_look(is_good, fresh.lost);
        } else {
            self.judging = Some(judging);
        }
        Ok((self.evaluator.counts().since(before).gradient) as usize)
    }
}

impl<'t> Driven<'t> for PooledRun<'t> {
    fn plan(&self) -> &Plan {
        &self.plan
    }

    fn evaluator(&self) -> &Evaluator<'t> {
        &self.evaluator
    }

    fn evaluator_mut(&mut self) -> &mut Evaluator<'t> {
        &mut self.evaluator
    }

    fn n_steps(&self) -> u64 {
        self.pace.step
    }

    fn reached_by_now(&self, remaining: Option<(f64, f64)>) -> Option<Posterior> {
        let q = self.reached().ok()?;
        let (about, remaining) = (self.evaluator.about(), remaining.or(self.remaining));
        Some(Posterior::of_run(about, q, &self.plan, StopReason::Interrupted, remaining))
    }

    fn reason_to_stop(&self) -> Option<StopReason> {
        self.pace.reason_to_stop(&self.plan).or_else(|| self.evaluator.limit_reached())
    }

    fn advance_once(&mut self) -> Result<Step, Error> {
        let (index, before) = (self.pace.step, self.evaluator.counts());
        let (beta, mut taken, mut drawn) = (self.pace.beta, 0.0, 0);
        let looks = self.pace.looks;
        let (bound, error);
        if self.judging.is_some() {
            if !self.is_seen {
                self.see();
            }
            (bound, error) = (self.sight.bound, self.sight.error);
            drawn = self.judge()?;
        } else {
            drawn += self.fill()?;
            (bound, error) = (self.sight.bound, self.sight.error);
            let left = self.estimate();
            if !self.pace.has_fitted(left, self.sight.bound, drawn > 0, self.tolerance()) {
                taken = self.advance();
            } else if self.pace.until == Until::Judged {
                drawn += self.judge()?;
            }
        }
        self.pace.step += 1;
        let counts = self.evaluator.counts();
        let known = |value: f64| Some(value).filter(|value| value.is_finite() && value.abs() < f64::MAX);
        Ok(Step {
            index,
            elbo: known(bound),
            elbo_se: known(error),
            beta,
            taken,
            kl: None,
            remaining: self.remaining.filter(|_| self.pace.looks > looks),
            dropped: counts.since(before).dropped,
            n_draws: drawn.div_ceil(self.q.n_components()),
            components: self.q.n_components(),
            counts,
            seconds: self.evaluator.clock.seconds(),
            bound: Bound::default(),
        })
    }

    fn origin(&self, counts: Counts) -> String {
        journal::origin(&self.start, &self.plan, counts)
    }

    fn passes(&self, entry: &Entry) -> bool {
        let Content::Pooled(state) = &entry.content else { return false };
        journal::passes(&self.plan.stop, &entry.limits, state.step(), entry.counts.gradient)
    }

    fn content(&self) -> Content {
        Content::Pooled(Box::new(self.state()))
    }

    fn content_within(&self, growth: &GrowthState) -> Content {
        Content::Growth(Box::new(growth.within_pooled(self.state())))
    }

    fn restore_from(&mut self, content: Content) -> Result<(), Error> {
        let Content::Pooled(state) = content else { return Ok(()) };
        let (d, k) = (self.q.dim(), self.q.n_components());
        if let Some(problem) = state.problem(d, k) {
            return Err(journal::never_kept(problem));
        }
        let PooledState { q, pool, pace, momentum, judging, remaining } = *state;
        (self.q, self.pool, self.pace, self.momentum) = (q, pool, pace, momentum);
        (self.judging, self.remaining) = (judging, remaining);
        self.is_seen = false;
        Ok(())
    }
}

impl PooledRun<'_> {
    fn state(&self) -> PooledState {
        PooledState {
            q: self.q.clone(),
            pool: self.pool.clone(),
            pace: self.pace.clone(),
            momentum: self.momentum.clone(),
            judging: self.judging.clone(),
            remaining: self.remaining,
        }
    }
}

/// What each component of `q` adds to ½ E[(h − E h)²], h = log p − log q, by a pool.
pub(super) fn shares(pool: &Pool, q: &Approximation) -> Vec<f64> {
    let (q, mut sight) = (Mixture::of(q), Sight::default());
    sight.look(pool, &q, &mut Whitening::default());
    sight.shares(&q)
}

impl PooledState {
    /// What cannot be in the state of a run with `k` components in `d` coordinates.
    fn problem(&self, d: usize, k: usize) -> Option<&'static str> {
        match () {
            () if !self.q.is_sound(d, k) => Some("its mixture cannot be"),
            () if !self.momentum.is_sound(d, k) => Some("its steps cannot be"),
            () if !self.pool.is_sound(d) => Some("the points that it has kept do not fit together"),
            () if self.judging.as_ref().is_some_and(|judging| !judging.is_sound(k)) => Some("its draws cannot be"),
            () => self.pace.problem(),
        }
    }
}
