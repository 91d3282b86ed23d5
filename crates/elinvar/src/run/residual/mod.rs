//! A run of a full Gaussian by residual scores (mathematics §12): few gradients, and each step judges the state that it
//! leaves.

mod batch;
mod by_hessians;
mod by_least_change;
mod diagonal;
mod exact;
mod findings;
mod gaussian;
mod pace;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use super::drive::Driven;
use super::journal::{self, Content, Entry};
use super::prior::check_prior;
use super::{Bound, Counts, Plan, Step, StopReason, check_support};
use crate::Error;
use crate::estimate::Curvature;
use crate::evaluate::{Clock, Evaluator, Limits};
use crate::family::Approximation;
use crate::posterior::Posterior;
use crate::target::Target;
use crate::tuning::pace::WILD_SCALE;
use crate::tuning::residual::COORDINATES_OF_EXPECTATIONS;
use batch::{Batch, Look};
use diagonal::{Curvature as AllOfB, Diagonal, Entries};
use exact::Exact;
pub(super) use gaussian::{Room, Whitened};
use pace::{Pace, Source, Verdict};

/// A run in progress.
pub(super) struct ResidualRun<'t> {
    evaluator: Evaluator<'t>,
    plan: Plan,
    start: Approximation,
    q: Whitened,
    pace: Pace,
    best: Option<Best>,
    looking: Looking,
    room: Room,
    /// The whitened gradient: a, then B.
    gradient: Vec<f64>,
    /// Where coordinates are independent.
    diagonal: Option<Box<Diagonal>>,
    first_diagonal: Vec<f64>,
}

/// How a state is looked at.
enum Looking {
    ByDraws(Box<Batch>),
    Exactly(Exact),
}

impl Looking {
    fn new(d: usize, pace: &Pace, entries: Entries) -> Self {
        match pace.source() {
            Source::Expectations => Self::Exactly(Exact::new(d, entries)),
            source => Self::ByDraws(Box::new(Batch::new(d, pace.n_pairs(), source, entries))),
        }
    }

    fn n_draws(&self) -> usize {
        match self {
            Self::ByDraws(batch) => 2 * batch.n_pairs(),
            Self::Exactly(_) => 0,
        }
    }
}

/// The state with the highest bound of those that were judged, less its error; the answer, once there is one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Best {
    q: Whitened,
    bound: f64,
    remaining: (f64, f64),
}

/// The parts of a run that change from step to step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct ResidualState {
    q: Whitened,
    pace: Pace,
    best: Option<Best>,
    /// All of B, where coordinates are independent.
    #[serde(default)]
    curvature: Option<AllOfB>,
}

impl<'t> ResidualRun<'t> {
    /// A run from the Gaussian `start`, full or diagonal.
    ///
    /// # Errors
    /// A sentence about the first thing that does not fit together.
    pub(super) fn new(target: &'t dyn Target, start: Approximation, plan: &Plan) -> Result<Self, Error> {
        let about = target.about();
        let plan = plan.resolve_by_residuals(target)?;
        check_support(start.family(), start.support(), about.support)?;
        if start.dim() != about.dim {
            return Err(Error::Shape { what: "dimension of the start", expected: about.dim, found: start.dim() });
        }
        check_prior(&start, &about.prior)?;
        about.check()?;
        let d = about.dim;
        let is_exact = about.offers.gaussian_expectation && d <= COORDINATES_OF_EXPECTATIONS;
        let source = match plan.curvature {
            Curvature::Hessian if is_exact => Source::Expectations,
            Curvature::Hessian => Source::Hessians,
            _ => Source::LeastChange,
        };
        let entries = Entries::of(start.family().covariance);
        let (q, pace) = (Whitened::of(&start), Pace::new(d, source, entries, &plan));
        Ok(Self {
            evaluator: Evaluator::new(target, None).within(Limits::of(&plan), Clock::at(0.0)),
            looking: Looking::new(d, &pace, entries),
            diagonal: (entries == Entries::Diagonal).then(|| Box::new(Diagonal::new(d))),
            room: Room::new(d),
            gradient: vec![0.0; d + d * d],
            first_diagonal: (0..d).map(|i| q.factor[i * d + i]).collect(),
            best: None,
            start,
            plan,
            q,
            pace,
        })
    }

    /// The same, given up after so many draws.
    pub(super) fn at_most(self, draws: usize) -> Self {
        Self { pace: self.pace.at_most(draws), ..self }
    }

    /// What the run has reached, and what that has left to gain.
    pub(super) fn reached(&self) -> Result<(Approximation, Option<(f64, f64)>), Error> {
        let judged = self.best.as_ref();
        let q = judged.map_or(&self.q, |best| &best.q).approximation(self.start.family().covariance)?;
        Ok((q, judged.map(|best| best.remaining)))
    }

    /// The posterior that the run has reached, without a record.
    pub(super) fn posterior(&self, reason: StopReason) -> Result<Posterior, Error> {
        let (q, remaining) = self.reached()?;
        Ok(Posterior::of_run(self.evaluator.about(), q, &self.plan, reason, remaining))
    }

    /// Keeps the present state if its bound is higher than that of any before, or if it is the answer.
    fn keep_best(&mut self, (elbo, error): (f64, f64), remaining: (f64, f64), is_answer: bool) {
        let bound = Some(elbo - error).filter(|bound| bound.is_finite()).unwrap_or(f64::MIN);
        match &mut self.best {
            Some(best) if !is_answer && bound <= best.bound => {}
            Some(best) => {
                best.q.mean.copy_from_slice(&self.q.mean);
                best.q.factor.copy_from_slice(&self.q.factor);
                (best.bound, best.remaining) = (bound, remaining);
            }
            None => self.best = Some(Best { q: self.q.clone(), bound, remaining }),
        }
    }

    fn bad_start(&self) -> Error {
        let Looking::ByDraws(batch) = &self.looking else {
            return Error::bad_start(1, 1, &self.q.mean, f64::NAN);
        };
        let answer = self.evaluator.answer();
        let is_bad = |s: &usize| !(answer.log_p()[*s].is_finite() && answer.grad(*s).iter().all(|v| v.is_finite()));
        let bad = (0..answer.len()).filter(is_bad).count();
        let example = (0..answer.len()).find(is_bad).unwrap_or(0);
        Error::bad_start(bad, answer.len(), batch.draws.get(example), answer.log_p()[example])
    }

    /// Whether a width has changed beyond reason.
    fn is_wild(&self) -> bool {
        let d = self.first_diagonal.len();
        let ratio = |i: usize| (self.q.factor[i * d + i] / self.first_diagonal[i]).ln().abs();
        (0..d).any(|i| ratio(i) > WILD_SCALE.ln())
    }
}

impl<'t> Driven<'t> for ResidualRun<'t> {
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
        self.pace.step()
    }

    fn reason_to_stop(&self) -> Option<StopReason> {
        self.pace.reason_to_stop(&self.plan).or_else(|| self.evaluator.limit_reached())
    }

    fn advance_once(&mut self) -> Result<Step, Error> {
        let (index, before) = (self.pace.step(), self.evaluator.counts());
        if matches!(&self.looking, Looking::ByDraws(batch) if batch.n_pairs() != self.pace.n_pairs()) {
            let entries = Entries::of(self.start.family().covariance);
            self.looking = Looking::new(self.q.mean.len(), &self.pace, entries);
        }
        let beta = self.pace.beta();
        let (mut bound, mut remaining, mut taken) = (None, None, 0.0);
        let key = (self.plan.seed, index);
        let look = match &mut self.looking {
            Looking::ByDraws(batch) => batch.look(&self.q, &mut self.evaluator, key, &mut self.gradient)?,
            Looking::Exactly(exact) => exact.look(&self.q, &mut self.evaluator, &mut self.gradient)?,
        };
        match look {
            Look::Good { elbo, found } => {
                bound = Some(elbo);
                if let Some(diagonal) = &mut self.diagonal {
                    diagonal.keep(&found, &mut self.gradient);
                }
                let mut found = self.pace.pool(&self.plan, &found, &mut self.gradient);
                if let Some(diagonal) = &mut self.diagonal {
                    found = diagonal.turn(&found, &mut self.gradient);
                }
                let judged = (found.remaining(), found.error(self.q.mean.len()));
                remaining = Some(judged);
                let verdict = self.pace.judge(&self.plan, &found, &self.gradient, elbo.0);
                self.keep_best(elbo, judged, verdict == Verdict::Answer);
                if verdict == Verdict::Move {
                    let lengths = self.pace.lengths(&found, &self.gradient);
                    let (a, b) = self.gradient.split_at(self.q.mean.len());
                    let moved = match &mut self.diagonal {
                        Some(diagonal) => diagonal.advance(&mut self.q, &self.gradient, lengths.mean, lengths.scale),
                        None => self.q.advance(a, lengths.mean, b, lengths.scale, &mut self.room),
                    };
                    taken = if moved { lengths.mean.min(lengths.scale) } else { 0.0 };
                    if !moved || self.is_wild() {
                        self.pace.give_up();
                    }
                }
                match verdict {
                    Verdict::LookAgain => self.pace.stay(&self.plan, &found),
                    Verdict::Move | Verdict::Answer => self.pace.after_step(&self.plan, &found),
                }
            }
            Look::TooManyBad if index == 0 => return Err(self.bad_start()),
            Look::TooManyBad => {
                self.q.narrow();
                self.pace.skip();
            }
        }
        let is_held = self.pace.is_held();
        if let Some(diagonal) = self.diagonal.as_mut().filter(|_| !is_held) {
            diagonal.clear();
        }
        let counts = self.evaluator.counts();
        Ok(Step {
            index,
            elbo: bound.map(|(value, _)| value).filter(|value| value.is_finite()),
            elbo_se: bound.map(|(_, error)| error).filter(|error| error.is_finite()),
            beta,
            taken,
            kl: None,
            remaining,
            dropped: counts.since(before).dropped,
            n_draws: self.looking.n_draws(),
            components: 1,
            counts,
            seconds: self.evaluator.clock.seconds(),
            bound: Bound::default(),
        })
    }

    fn reached_by_now(&self, _remaining: Option<(f64, f64)>) -> Option<Posterior> {
        self.posterior(StopReason::Interrupted).ok()
    }

    fn origin(&self, counts: Counts) -> String {
        journal::origin(&self.start, &self.plan, counts)
    }

    fn passes(&self, entry: &Entry) -> bool {
        let Content::Residual(state) = &entry.content else { return false };
        journal::passes(&self.plan.stop, &entry.limits, state.pace.step(), entry.counts.gradient)
    }

    fn content(&self) -> Content {
        let curvature = self.diagonal.as_ref().map(|diagonal| diagonal.curvature.clone());
        let state = ResidualState { q: self.q.clone(), pace: self.pace.clone(), best: self.best.clone(), curvature };
        Content::Residual(Box::new(state))
    }

    fn restore_from(&mut self, content: Content) -> Result<(), Error> {
        let Content::Residual(state) = content else { return Ok(()) };
        for q in std::iter::once(&state.q).chain(state.best.as_ref().map(|best| &best.q)) {
            for (expected, found) in [(self.q.factor.len(), q.factor.len()), (self.q.mean.len(), q.mean.len())] {
                if expected != found {
                    return Err(Error::Shape { what: "numbers in a state of the journal", expected, found });
                }
            }
        }
        if let Some(problem) = state.pace.problem(self.q.mean.len()) {
            return Err(journal::never_kept(problem));
        }
        if let Some(diagonal) = &mut self.diagonal {
            let curvature = state.curvature.filter(|curvature| curvature.is_sound(self.q.mean.len()));
            let Some(curvature) = curvature else {
                return Err(journal::never_kept("what it has seen of its state cannot be"));
            };
            diagonal.curvature = curvature;
        }
        (self.q, self.pace, self.best) = (state.q, state.pace, state.best);
        Ok(())
    }
}
