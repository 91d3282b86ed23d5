//! A run: one family, moved step by step over one target. The loop over its steps is in `run/drive.rs`.

mod advance;
mod average;
pub(crate) mod builder;
mod by_hand;
mod checkpoint;
pub mod components;
mod contained;
mod drive;
mod evaluate;
mod faults;
mod fit;
mod fitting;
pub mod journal;
mod ladder;
mod pace;
mod pooled;
mod printed;
mod prior;
mod reached;
mod residual;
mod restarts;
mod review;
mod start;
mod support;
mod values;

pub use crate::evaluate::Interrupt;
pub use crate::plan::{Correct, Plan, Stop};
pub use crate::record::{Bound, Counts, Step, StopReason};
pub use checkpoint::Checkpoint;
pub use fit::{fit, fit_from, fit_from_journaled, fit_journaled, fit_observed};
pub use fitting::Kept;
pub use journal::Journal;
pub use start::{Placement, Start, start, start_around, start_at_guess};
pub(crate) use support::check_support;

use std::ops::ControlFlow;

use advance::Memory;
use average::Average;
use contained::Contained;
use drive::drive;
use evaluate::Outcome;
use fitting::Fitting;
use pace::Pace;
use printed::{check_implicit, check_shape, takes_prior_at_draws};
use prior::check_prior;
use review::{Best, Closing};
use values::check_values;

use crate::Error;
use crate::estimate::Curvature;
use crate::evaluate::Evaluator;
use crate::family::{Approximation, Batch, Estimator, Gradient, Scratch, StepRequest};
use crate::posterior::Posterior;
use crate::random::Purpose;
use crate::rule::MatrixUpdate;
use crate::target::Target;
use crate::tuning::pace::REVIEW_BATCHES;

/// A fit in progress: owns the state, borrows the target.
pub struct Run<'t> {
    evaluator: Evaluator<'t>,
    plan: Plan,
    q: Approximation,
    estimator: Box<dyn Estimator>,
    /// Memory for steps.
    scratch: Scratch,
    batch: Batch,
    gradient: Gradient,
    /// The bound that the gradient belongs to, in a loop by hand.
    bound: Option<f64>,
    /// What the rule remembers of earlier steps.
    memory: Memory,
    /// The gradients of a review.
    checks: Vec<Gradient>,
    /// What decides about steps, reviews and the end.
    pace: Pace,
    average: Average,
    best: Option<Best>,
    /// What was found when the run ended within a window.
    closing: Option<Closing>,
    /// The Gaussian that the family contains, where its fit is known.
    contained: Option<Contained>,
    trace: Vec<Step>,
}

impl<'t> Run<'t> {
    /// A run from `start`; every check happens here.
    ///
    /// # Errors
    /// A sentence about the first thing that does not fit together.
    pub fn new(target: &'t dyn Target, start: Approximation, plan: &Plan) -> Result<Self, Error> {
        let about = target.about();
        let mut plan = plan.resolve(target)?;
        if matches!(plan.curvature, Curvature::LeastChange | Curvature::Pooled) {
            return Err(Error::Unsupported {
                wanted: format!("a `Run` with curvature `{}`", plan.curvature),
                instead: "call `fit` or `fit_from`, which take its steps".into(),
            });
        }
        let mut start = start;
        if plan.rule.printed().is_some() {
            start.take_printed_update();
        }
        if !start.takes_curvature() {
            plan.curvature = Curvature::Stein { control_variate: false };
        }
        if start.update() == MatrixUpdate::PaperLiteral {
            plan.resolve_literal();
        }
        check_support(start.family(), start.support(), about.support)?;
        check_values(&about, &start, plan.curvature)?;
        if start.dim() != about.dim {
            return Err(Error::Shape { what: "dimension of the start", expected: about.dim, found: start.dim() });
        }
        check_prior(&start, &about.prior)?;
        check_shape(&start, &plan)?;
        check_implicit(&start, &plan)?;
        let memory = Memory::new(&plan, &about.prior, &mut start)?;
        about.check()?;
        let draw_plan = plan.draw_plan(plan.n_draws);
        let estimator = start.estimator(&draw_plan);
        let batch = estimator.batch(&start);
        let mut evaluator = Evaluator::of_run(target, &plan);
        if takes_prior_at_draws(&start, &about.prior, &plan) {
            evaluator.take_prior_at_draws();
        }
        evaluator.make_room(&start, &*estimator, &batch);
        Ok(Self {
            evaluator,
            estimator,
            scratch: Scratch::new(&start),
            batch,
            gradient: start.zero_gradient(),
            bound: None,
            memory,
            checks: (0..REVIEW_BATCHES).map(|_| start.zero_gradient()).collect(),
            pace: Pace::new(&plan, start.n_components(), start.dim(), start.variances()),
            average: Average::new(start.clone()),
            best: None,
            closing: None,
            contained: None,
            q: start,
            plan,
            trace: Vec::new(),
        })
    }

    /// The present state.
    pub fn q(&self) -> &Approximation {
        &self.q
    }

    /// The best average of a window so far; the present state before the first.
    pub fn best(&self) -> &Approximation {
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
        self.evaluator.clock.seconds()
    }

    /// Draws per component of the next step.
    pub fn n_draws(&self) -> usize {
        self.pace.n_draws()
    }

    /// Makes room for batches of so many draws per component.
    fn make_room(&mut self, n_draws: usize) {
        let draw_plan = self.plan.draw_plan(n_draws);
        self.estimator = self.q.estimator(&draw_plan);
        self.batch = self.estimator.batch(&self.q);
        self.evaluator.make_room(&self.q, &*self.estimator, &self.batch);
    }

    /// One iteration: draw, ask, differentiate, move; allocates nothing where the target says which
    /// [room](crate::target::About::room) it needs.
    ///
    /// # Errors
    /// [`Error::BadStart`] if most of the very first draws cannot be evaluated; [`Error::LeftDomain`] if a step of the
    /// rule `printed` leaves the domain and is not to be halved; a fatal error of the target.
    pub fn step(&mut self) -> Result<Step, Error> {
        self.closing = None;
        let (index, beta) = (self.pace.step(), self.pace.beta(&self.plan));
        let before = self.evaluator.counts();
        let (mut taken, mut kl, mut bound) = (0.0, None, None);
        let noise = self.pace.noise(&self.plan);
        match self.estimate(Purpose::Draws, noise)? {
            Outcome::Ready { elbo } => {
                bound = Some(elbo).filter(|(value, _)| value.is_finite());
                let elbo = bound.map(|(value, _)| value);
                let wanted = self.pace.wanted(&self.plan, elbo);
                let steps = self.advance(wanted)?;
                (taken, kl) = (steps.smallest, steps.kl);
                self.arrive(elbo, steps.largest);
            }
            Outcome::TooManyBad(bad) if index == 0 => return Err(self.bad_start(bad)),
            Outcome::TooManyBad(_) | Outcome::NotFinite => self.pace.skip(),
        }
        self.evaluator.remember(&self.batch);
        Ok(Step {
            index,
            elbo: bound.map(|(value, _)| value),
            elbo_se: bound.map(|(_, error)| error).filter(|error| error.is_finite()),
            beta,
            taken,
            kl,
            remaining: None,
            dropped: self.evaluator.counts().since(before).dropped,
            n_draws: self.pace.n_draws(),
            components: self.q.n_components(),
            bound: match self.evaluator.about().prior.shared() {
                Some(_) => Bound::JointElbo,
                None => Bound::Elbo,
            },
            counts: self.evaluator.counts(),
            seconds: self.seconds(),
        })
    }

    /// Steps until a limit or an observer ends the run; each step is recorded and shown to `observe`.
    ///
    /// # Errors
    /// As [`Run::step`].
    pub fn fit(&mut self, observe: &mut dyn FnMut(&Step) -> ControlFlow<()>) -> Result<StopReason, Error> {
        let trace = std::mem::take(&mut self.trace);
        let mut fit = Fitting::unkept(observe).with_record(self.evaluator.counts(), self.evaluator.clock, trace);
        let reason = drive(self, &mut fit);
        self.trace = fit.into_trace();
        reason
    }

    /// Why the run should not take another step, if it should not.
    pub fn reason_to_stop(&self) -> Option<StopReason> {
        self.pace.reason_to_stop(&self.plan).or_else(|| self.evaluator.limit_reached())
    }

    fn bad_start(&self, bad: usize) -> Error {
        let s = self.batch.kept.iter().position(|kept| !kept).unwrap_or(0);
        Error::bad_start(bad, self.batch.n, self.batch.draws.get(s), self.evaluator.answer().log_p()[s])
    }
}

impl Run<'_> {
    /// The posterior that a loop of one's own has reached, where it has taken as many steps as it wanted: it ends as
    /// [`Run::reason_to_stop`] says, or else by [`StopReason::MaxSteps`]. Nobody has judged it yet:
    /// [`Posterior::judge`] does.
    pub fn finish(self) -> Posterior {
        let reason = self.reason_to_stop().unwrap_or(StopReason::MaxSteps);
        self.finish_as(reason)
    }

    /// The posterior that the run has reached, with why it ended.
    pub fn finish_as(mut self, reason: StopReason) -> Posterior {
        let (counts, seconds) = (self.counts(), self.seconds());
        if let (Some(closing), Some(last)) = (&self.closing, self.trace.last_mut()) {
            (last.remaining, last.counts) = (closing.remaining.or(last.remaining), counts);
        }
        let mut posterior = self.posterior(reason, self.trace.last().and_then(|step| step.remaining));
        posterior.set_record(counts, seconds, self.trace);
        posterior
    }

    /// The posterior that the run has reached, without a record.
    fn posterior(&self, reason: StopReason, remaining: Option<(f64, f64)>) -> Posterior {
        Posterior::of_run(self.evaluator.about(), self.best().clone(), &self.plan, reason, remaining)
    }
}
