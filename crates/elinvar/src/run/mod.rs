//! The loop: draw, evaluate, differentiate, move — and what stops it.

mod checkpoint;
mod fit;
mod mode;
mod plan;
mod remaining;
mod start;
mod stop;
mod trace;

pub use checkpoint::Checkpoint;
pub use fit::{fit, fit_from, fit_observed};
pub use plan::Plan;
pub use start::start;
pub use stop::{Stop, StopReason};
pub use trace::{Counts, Step};

use std::ops::ControlFlow;
use std::time::Instant;

use remaining::Remaining;

use crate::Error;
use crate::estimate::Curvature;
use crate::family::{Approximation, Batch, StepRequest};
use crate::random::Purpose;
use crate::target::{Contraction, CurvatureMut, Draws, Evaluations, Minibatch, Prior, Rows, Target};

/// Steps without progress after which a run gives up.
const PATIENCE: u32 = 25;

/// A fit in progress: owns the state, borrows the target.
pub struct Run<'t, A: Approximation> {
    target: &'t dyn Target,
    prior: Prior,
    plan: Plan,
    q: A,
    work: A::Work,
    batch: Batch,
    evaluations: Evaluations,
    curvature: Vec<f64>,
    gradient: A::Gradient,
    second_gradient: A::Gradient,
    rows: Vec<u32>,
    minibatch: Option<Minibatch>,
    /// Draws per component of the next step.
    n_draws: usize,
    step: u64,
    counts: Counts,
    remaining: Remaining,
    trace: Vec<Step>,
    /// Steps in a row that were skipped for bad evaluations, or in which a block could not move.
    skipped: u32,
    stuck: u32,
    started: Instant,
    seconds_before: f64,
}

/// What came of evaluating one batch.
enum Outcome {
    Ready,
    TooManyBad(usize),
    NotFinite,
}

/// Memory for the evaluations of a batch.
fn room_for<A: Approximation>(batch: &Batch, target: &dyn Target, q: &A) -> Evaluations {
    let n_points = batch.draws.len();
    let mut evaluations = Evaluations::new(q.dim(), n_points);
    evaluations.scratch_mut().take(target.scratch_len(n_points, q.n_blocks()));
    evaluations
}

impl<'t, A: Approximation> Run<'t, A> {
    /// A run from `start`; every check happens here.
    ///
    /// # Errors
    /// A sentence about the first thing that does not fit together.
    pub fn new(target: &'t dyn Target, start: A, plan: &Plan) -> Result<Self, Error> {
        let plan = plan.resolve(target)?;
        if start.dim() != target.dim() {
            return Err(Error::Shape { what: "dimension of the start", expected: target.dim(), found: start.dim() });
        }
        let prior = target.prior();
        start.check_prior(prior)?;
        let n_draws = plan.n_draws;
        let draw_plan = plan.draw_plan(n_draws);
        let batch = start.batch(&draw_plan);
        let evaluations = room_for(&batch, target, &start);
        let n_entries = start.covariance_kind().n_entries(start.dim());
        let minibatch = plan.minibatch.zip(target.n_rows()).map(|(size, n_rows)| Minibatch::new(n_rows, size));
        let mut run = Self {
            target,
            prior,
            work: start.work(&draw_plan),
            batch,
            evaluations,
            curvature: vec![0.0; if plan.curvature == Curvature::Hessian { n_entries * start.n_blocks() } else { 0 }],
            gradient: start.gradient_buffer(),
            second_gradient: start.gradient_buffer(),
            rows: vec![0; plan.minibatch.unwrap_or(0)],
            minibatch,
            q: start,
            plan,
            n_draws,
            step: 0,
            counts: Counts::default(),
            remaining: Remaining::new(),
            trace: Vec::new(),
            skipped: 0,
            stuck: 0,
            started: Instant::now(),
            seconds_before: 0.0,
        };
        run.remaining.reserve();
        Ok(run)
    }

    /// The present state.
    pub fn q(&self) -> &A {
        &self.q
    }

    /// The plan with every automatic choice made.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Evaluations so far.
    pub fn counts(&self) -> Counts {
        self.counts
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

    /// Doubles the draws of the coming steps if the noise of the estimated gain, not the gain, is what keeps the run from
    /// stopping, up to `plan.max_draws`; with mini-batches the noise is that of the items and more draws would not help.
    ///
    /// [`Run::fit`] calls this after every step; a loop of one's own may, too.
    pub fn grow(&mut self) {
        let limited = self.remaining.is_noise(self.plan.stop.remaining_nats);
        if limited && self.minibatch.is_none() && 2 * self.n_draws <= self.plan.max_draws {
            self.set_n_draws(2 * self.n_draws);
            self.remaining.clear();
        }
    }

    fn set_n_draws(&mut self, n_draws: usize) {
        self.n_draws = n_draws;
        let draw_plan = self.plan.draw_plan(n_draws);
        self.work = self.q.work(&draw_plan);
        self.batch = self.q.batch(&draw_plan);
        self.evaluations = room_for(&self.batch, self.target, &self.q);
    }

    /// One iteration; allocates nothing.
    ///
    /// # Errors
    /// [`Error::BadStart`] if most of the very first draws cannot be evaluated; a fatal error of the target.
    pub fn step(&mut self) -> Result<Step, Error> {
        let index = self.step;
        let dropped_before = self.counts.dropped;
        let beta = self.plan.step_size.at(index);
        let (mut taken, mut elbo) = (0.0, None);
        match self.estimate(Purpose::Draws)? {
            Outcome::Ready => {
                let (value, error) = self.q.elbo(self.evaluations.log_p(), self.prior, &self.work, &self.batch);
                elbo = Some((value, error)).filter(|(value, _)| value.is_finite());
                if (index + 1).is_multiple_of(self.plan.stop.check_every) {
                    self.estimate_remaining()?;
                }
                let request = StepRequest {
                    rule: self.plan.rule,
                    beta,
                    mixing_beta: self.plan.mixing_step_size.at(index),
                    max_kl: self.plan.max_kl,
                };
                taken = self.q.step(&self.gradient, request, &mut self.work);
                self.skipped = 0;
                self.stuck = if taken > 0.0 { 0 } else { self.stuck + 1 };
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
            remaining: self.remaining.estimate(),
            dropped: self.counts.dropped - dropped_before,
            n_draws: self.n_draws,
            counts: self.counts,
            seconds: self.seconds(),
        })
    }

    /// Steps until a limit or an observer ends the run; each step is recorded and shown to `observe`.
    ///
    /// # Errors
    /// As [`Run::step`].
    pub fn fit(&mut self, observe: &mut dyn FnMut(&Step) -> ControlFlow<()>) -> Result<StopReason, Error> {
        loop {
            if let Some(reason) = self.reason_to_stop() {
                return Ok(reason);
            }
            let step = self.step()?;
            self.trace.push(step);
            self.grow();
            if observe(&step).is_break() {
                return Ok(StopReason::Interrupted);
            }
        }
    }

    /// Why the run should not take another step, if it should not.
    pub fn reason_to_stop(&self) -> Option<StopReason> {
        let stop = &self.plan.stop;
        if self.remaining.is_below(stop.remaining_nats) {
            Some(StopReason::Converged)
        } else if self.skipped >= PATIENCE {
            Some(StopReason::BadEvaluations)
        } else if self.stuck >= PATIENCE {
            Some(StopReason::Stuck)
        } else if self.step >= stop.max_steps {
            Some(StopReason::MaxSteps)
        } else if self.counts.gradient >= stop.max_evaluations {
            Some(StopReason::MaxEvaluations)
        } else if stop.max_seconds.is_some_and(|limit| self.seconds() >= limit) {
            Some(StopReason::MaxSeconds)
        } else {
            None
        }
    }

    /// Draws a batch, evaluates the target on it and writes the gradient of the bound.
    fn estimate(&mut self, purpose: Purpose) -> Result<Outcome, Error> {
        self.q.draw(self.plan.seed, purpose, self.step, &mut self.work, &mut self.batch);
        if let Some(minibatch) = &mut self.minibatch {
            // The two batches of a convergence check see different items too.
            let stream_step = if purpose == Purpose::Draws { 2 * self.step } else { 2 * self.step + 1 };
            minibatch.fill(self.plan.seed, stream_step, &mut self.rows);
        }
        self.q.weigh(&mut self.work, &self.batch);
        let mut bad = 0;
        // One pass finds the draws without a density or gradient, one those without a Hessian; then all is well.
        for _ in 0..4 {
            self.evaluate()?;
            let mut found = self.mark_bad();
            if found == bad && !self.curvature.iter().all(|v| v.is_finite()) {
                found = self.mark_without_hessian()?;
            }
            if found == bad {
                break;
            }
            self.counts.dropped += (found - bad) as u64;
            bad = found;
            if 2 * bad > self.batch.n || !self.q.weigh(&mut self.work, &self.batch) {
                return Ok(Outcome::TooManyBad(bad));
            }
            self.replace_bad();
        }
        self.scale_minibatch();
        let (evaluations, curvature) = (&self.evaluations, &self.curvature);
        let finite =
            self.q.gradient(evaluations, curvature, self.prior, &mut self.work, &self.batch, &mut self.gradient);
        Ok(if finite { Outcome::Ready } else { Outcome::NotFinite })
    }

    /// The product of this step's gradient with one from fresh draws at the same state.
    fn estimate_remaining(&mut self) -> Result<(), Error> {
        std::mem::swap(&mut self.gradient, &mut self.second_gradient);
        let outcome = self.estimate(Purpose::Diagnostics)?;
        std::mem::swap(&mut self.gradient, &mut self.second_gradient);
        if matches!(outcome, Outcome::Ready) {
            self.remaining.push(0.5 * self.q.inner(&self.gradient, &self.second_gradient, &mut self.work));
        }
        Ok(())
    }

    fn evaluate(&mut self) -> Result<(), Error> {
        let draws = self.batch.draws.view();
        let rows = if self.minibatch.is_some() { Rows::Subset(&self.rows) } else { Rows::All };
        let n_points = draws.len() as u64;
        self.counts.log_density += n_points;
        self.counts.gradient += n_points;
        match self.target.second_order().filter(|_| self.plan.curvature == Curvature::Hessian) {
            Some(second) => {
                self.counts.hessian += self.batch.n as u64;
                self.curvature.fill(0.0);
                let out = CurvatureMut::new(self.q.covariance_kind(), self.q.dim(), &mut self.curvature);
                let contraction = self.q.contraction(&self.work);
                second.evaluate_and_contract(draws, rows, contraction, &mut self.evaluations, out)?;
            }
            None => self.target.evaluate(draws, rows, &mut self.evaluations)?,
        }
        Ok(())
    }

    /// Marks the draws at which log p or its gradient is not finite; returns how many there are.
    fn mark_bad(&mut self) -> usize {
        let batch = &mut self.batch;
        let evaluations = &self.evaluations;
        let good = |s: usize| evaluations.log_p()[s].is_finite() && evaluations.grad(s).iter().all(|v| v.is_finite());
        for s in 0..batch.n {
            batch.kept[s] = batch.kept[s] && good(s) && (batch.n_paired == 0 || good(batch.n + s));
        }
        batch.n - batch.n_kept()
    }

    /// Marks the draws at which the Hessian is not finite, one by one; returns how many draws are bad by now.
    fn mark_without_hessian(&mut self) -> Result<usize, Error> {
        let (d, kind) = (self.q.dim(), self.q.covariance_kind());
        let rows = if self.minibatch.is_some() { Rows::Subset(&self.rows) } else { Rows::All };
        let entries = &mut self.curvature[..kind.n_entries(d)];
        for s in 0..self.batch.n {
            let Some(second) = self.target.second_order().filter(|_| self.batch.kept[s]) else { continue };
            entries.fill(0.0);
            let (draw, scratch) = (Draws::new(d, self.batch.draws.get(s)), self.evaluations.scratch_mut());
            let out = CurvatureMut::new(kind, d, entries);
            second.contract(draw, rows, Contraction::shared(&[1.0], 1), scratch, out)?;
            self.counts.hessian += 1;
            self.batch.kept[s] = entries.iter().all(|v| v.is_finite());
        }
        Ok(self.batch.n - self.batch.n_kept())
    }

    /// Overwrites the dropped draws by kept ones, so that every product stays finite; their weight is zero.
    fn replace_bad(&mut self) {
        let batch = &mut self.batch;
        let Some(donor) = batch.kept.iter().position(|kept| *kept) else { return };
        let d = self.q.dim();
        for s in 0..batch.n {
            if !batch.kept[s] {
                let paired = if batch.n_paired > 0 { Some(batch.n) } else { None };
                let z = batch.draws.as_mut_slice();
                z.copy_within(donor * d..(donor + 1) * d, s * d);
                if let Some(offset) = paired {
                    z.copy_within((offset + donor) * d..(offset + donor + 1) * d, (offset + s) * d);
                }
            }
        }
    }

    /// Multiplies the sums over a mini-batch by N/M: the one place that does.
    fn scale_minibatch(&mut self) {
        let Some((size, n_rows)) = self.plan.minibatch.zip(self.target.n_rows()) else { return };
        let factor = n_rows as f64 / size as f64;
        let (log_p, grad, _) = self.evaluations.parts_mut();
        for value in log_p.iter_mut().chain(grad).chain(&mut self.curvature) {
            *value *= factor;
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
