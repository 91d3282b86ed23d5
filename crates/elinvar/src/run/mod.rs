//! The loop: draw, evaluate, differentiate, move — and what stops it.

mod advance;
mod average;
mod checkpoint;
pub mod components;
mod evaluate;
mod fit;
pub mod journal;
mod ladder;
mod plan;
mod radius;
mod remaining;
mod restarts;
mod review;
mod search;
mod start;
mod stop;
mod support;
mod trace;
mod values;
mod watch;

pub use crate::evaluate::{Counts, Interrupt};
pub use checkpoint::Checkpoint;
pub use fit::{Spent, fit, fit_from, fit_from_journaled, fit_journaled, fit_observed};
pub use journal::Journal;
pub use plan::Plan;
pub use start::{Start, start, start_at_guess};
pub use stop::{Stop, StopReason};
pub(crate) use support::check_support;
pub use trace::Step;
pub use watch::Kept;

use std::ops::ControlFlow;
use std::time::Instant;

use advance::Memory;
use average::Average;
use evaluate::Outcome;
use radius::Radius;
use remaining::{BATCHES, Remaining};
use review::{Best, Closing};
use values::check_values;
use watch::Watch;

use crate::Error;
use crate::estimate::Curvature;
use crate::evaluate::Evaluator;
use crate::family::{Approximation, Batch, StepRequest};
use crate::random::Purpose;
use crate::rule::StepSize;
use crate::target::Target;

/// Steps without progress after which a run gives up.
const PATIENCE: u32 = 25;

/// A fit in progress: owns the state, borrows the target.
pub struct Run<'t, A: Approximation> {
    evaluator: Evaluator<'t>,
    plan: Plan,
    q: A,
    work: A::Work,
    batch: Batch,
    gradient: A::Gradient,
    /// What the rule remembers of earlier steps.
    memory: Memory<A>,
    /// The gradients of a review.
    checks: Vec<A::Gradient>,
    /// Draws per component of the next step.
    n_draws: usize,
    step: u64,
    /// −ELBO of the last step.
    baseline: Option<f64>,
    remaining: Option<Remaining>,
    previous: Option<Remaining>,
    /// Longest step that noise allows, and that retreats have left.
    reach: f64,
    longest: f64,
    /// Draws per component of the next review.
    review_draws: usize,
    /// Reviews in a row without a gain.
    idle: u32,
    wild: bool,
    radius: Radius,
    average: Average<A>,
    best: Option<Best<A>>,
    /// What was found when the run ended within a window.
    closing: Option<Closing<A>>,
    /// The step at which the present window ends.
    review_at: u64,
    /// Variances of the start, by which divergence is judged.
    first_variances: Vec<f64>,
    trace: Vec<Step>,
    /// Steps in a row that were skipped for bad evaluations, or in which a block could not move.
    skipped: u32,
    stuck: u32,
    started: Instant,
    seconds_before: f64,
}

impl<'t, A: Approximation> Run<'t, A> {
    /// A run from `start`; every check happens here.
    ///
    /// # Errors
    /// A sentence about the first thing that does not fit together.
    pub fn new(target: &'t dyn Target, start: A, plan: &Plan) -> Result<Self, Error> {
        let about = target.about();
        let mut plan = plan.resolve(target)?;
        if !start.takes_curvature() {
            plan.curvature = Curvature::Stein { control_variate: false };
        }
        check_support(start.family(), start.support(), about.support)?;
        check_values(&about, &start, plan.curvature)?;
        if start.dim() != about.dim {
            return Err(Error::Shape { what: "dimension of the start", expected: about.dim, found: start.dim() });
        }
        start.check_prior(&about.prior)?;
        let mut start = start;
        let memory = Memory::new(&plan, &about.prior, &mut start)?;
        about.check()?;
        let n_draws = plan.n_draws;
        let draw_plan = plan.draw_plan(n_draws);
        let batch = start.batch(&draw_plan);
        let mut evaluator = Evaluator::of_run(target, plan.curvature, plan.minibatch);
        evaluator.make_room(&start, &batch);
        Ok(Self {
            evaluator,
            work: start.work(&draw_plan),
            batch,
            gradient: start.gradient_buffer(),
            memory,
            checks: (0..BATCHES).map(|_| start.gradient_buffer()).collect(),
            average: Average::new(start.clone()),
            best: None,
            closing: None,
            review_at: Self::first_review(&start, plan.rule),
            radius: Radius::new(plan.max_kl.unwrap_or(f64::MAX)),
            first_variances: start.variances(),
            q: start,
            plan,
            n_draws,
            step: 0,
            baseline: None,
            remaining: None,
            previous: None,
            reach: 1.0,
            longest: 1.0,
            review_draws: n_draws,
            idle: 0,
            wild: false,
            trace: Vec::new(),
            skipped: 0,
            stuck: 0,
            started: Instant::now(),
            seconds_before: 0.0,
        })
    }

    /// The present state.
    pub fn q(&self) -> &A {
        &self.q
    }

    /// The best average of a window so far; the present state before the first.
    pub fn best(&self) -> &A {
        let closing = self.closing.as_ref().and_then(|closing| closing.q.as_ref());
        closing.or(self.best.as_ref().map(|best| &best.q)).unwrap_or(&self.q)
    }

    /// The plan with every automatic choice made.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Evaluations so far.
    pub fn counts(&self) -> Counts {
        let mut counts = self.evaluator.counts();
        counts += self.closing.as_ref().map(|closing| closing.counts).unwrap_or_default();
        counts
    }

    /// The steps that [`Run::fit`] recorded.
    pub fn trace(&self) -> &[Step] {
        &self.trace
    }

    /// Seconds spent so far, those before a checkpoint included.
    pub fn seconds(&self) -> f64 {
        self.seconds_before + self.started.elapsed().as_secs_f64()
    }

    /// Draws per component of the next step.
    pub fn n_draws(&self) -> usize {
        self.n_draws
    }

    /// Whether the run finds the length of its steps by itself.
    fn learns(&self) -> bool {
        self.plan.step_size == StepSize::Auto && self.plan.max_kl.is_some()
    }

    fn set_n_draws(&mut self, n_draws: usize) {
        self.n_draws = n_draws;
        self.radius.forget();
        let draw_plan = self.plan.draw_plan(n_draws);
        self.work = self.q.work(&draw_plan);
        self.batch = self.q.batch(&draw_plan);
        self.evaluator.make_room(&self.q, &self.batch);
    }

    /// One iteration; allocates nothing.
    ///
    /// # Errors
    /// [`Error::BadStart`] if most of the very first draws cannot be evaluated; a fatal error of the target.
    pub fn step(&mut self) -> Result<Step, Error> {
        self.closing = None;
        let index = self.step;
        let learns = self.learns();
        let longest = if learns { self.reach.min(self.longest) } else { f64::INFINITY };
        let before = self.evaluator.counts();
        let beta = self.plan.step_size.at(index).min(longest);
        let (mut taken, mut kl, mut elbo) = (0.0, None, None);
        let noise = if learns { Radius::noise_of(index) } else { index };
        match self.estimate(Purpose::Draws, noise)? {
            Outcome::Ready { elbo: estimate } => {
                elbo = Some(estimate).filter(|(value, _)| value.is_finite());
                if let Some((value, _)) = elbo.filter(|_| learns) {
                    self.radius.observe(index, value);
                }
                let steps = self.advance(StepRequest {
                    rule: self.plan.rule,
                    beta,
                    mixing_beta: self.plan.mixing_step_size.at(index).min(longest),
                    max_kl: if learns { Some(self.radius.value()) } else { self.plan.max_kl },
                });
                (taken, kl) = (steps.smallest, steps.kl);
                self.average.add(&self.q);
                self.baseline = elbo.map(|(value, _)| -value);
                self.skipped = 0;
                self.stuck = if steps.largest > 0.0 { 0 } else { self.stuck + 1 };
            }
            Outcome::TooManyBad(bad) if index == 0 => return Err(self.bad_start(bad)),
            Outcome::TooManyBad(_) | Outcome::NotFinite => self.skipped += 1,
        }
        self.step += 1;
        Ok(Step {
            index,
            elbo: elbo.map(|(value, _)| value),
            elbo_se: elbo.map(|(_, error)| error).filter(|error| error.is_finite()),
            beta,
            taken,
            kl,
            remaining: None,
            dropped: self.evaluator.counts().since(before).dropped,
            n_draws: self.n_draws,
            components: self.q.n_blocks(),
            counts: self.evaluator.counts(),
            seconds: self.seconds(),
        })
    }

    /// Steps until a limit or an observer ends the run; each step is recorded and shown to `observe`.
    ///
    /// # Errors
    /// As [`Run::step`].
    pub fn fit(&mut self, observe: &mut dyn FnMut(&Step) -> ControlFlow<()>) -> Result<StopReason, Error> {
        self.fit_watched(&mut Watch::unkept(observe))
    }

    /// Why the run should not take another step, if it should not.
    pub fn reason_to_stop(&self) -> Option<StopReason> {
        let stop = &self.plan.stop;
        if let Some(reason) = self.reason_of_reviews() {
            Some(reason)
        } else if self.wild {
            Some(StopReason::Diverged)
        } else if self.skipped >= PATIENCE {
            Some(StopReason::BadEvaluations)
        } else if self.stuck >= PATIENCE {
            Some(StopReason::Stuck)
        } else if self.step >= stop.max_steps {
            Some(StopReason::MaxSteps)
        } else if self.evaluations_of_limit() >= stop.max_evaluations {
            Some(StopReason::MaxEvaluations)
        } else if stop.max_seconds.is_some_and(|limit| self.seconds() >= limit) {
            Some(StopReason::MaxSeconds)
        } else {
            None
        }
    }

    fn bad_start(&self, bad: usize) -> Error {
        let s = self.batch.kept.iter().position(|kept| !kept).unwrap_or(0);
        let z = self.batch.draws.get(s);
        let shown: Vec<String> = z.iter().take(6).map(|v| format!("{v:.4}")).collect();
        let more = if z.len() > 6 { ", …" } else { "" };
        Error::BadStart { bad, total: self.batch.n, example: format!("({}{more})", shown.join(", ")) }
    }
}
