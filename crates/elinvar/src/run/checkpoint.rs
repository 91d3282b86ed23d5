//! A run as a file: everything from which it continues to the same bits.

use std::path::Path;
use std::time::Instant;

use serde::{Deserialize, Serialize};

use super::advance::MemoryState;
use super::average::Average;
use super::journal::passes;
use super::plan::MOST_DRAWS;
use super::radius::Radius;
use super::remaining::Remaining;
use super::review::Best;
use super::{Counts, Plan, Run, Step};
use crate::Error;
use crate::family::{AnyApproximation, Approximation, State};
use crate::file::{self, Header};
use crate::target::Target;

/// The state of a run between two steps. No generator is stored: random numbers are functions of the seed and the step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Checkpoint {
    #[serde(flatten)]
    header: Header,
    /// The plan, every automatic choice made.
    pub plan: Plan,
    /// The parameters.
    pub state: State,
    /// Index of the next step.
    pub step: u64,
    /// Draws per component of the next step.
    pub n_draws: usize,
    /// Evaluations so far.
    pub counts: Counts,
    /// The recorded steps.
    pub trace: Vec<Step>,
    /// Seconds so far.
    pub seconds: f64,
    remaining: Option<Remaining>,
    previous: Option<Remaining>,
    reach: f64,
    longest: f64,
    review_draws: usize,
    idle: u32,
    wild: bool,
    radius: Radius,
    average: Window,
    best: Option<BestState>,
    review_at: u64,
    #[serde(deserialize_with = "null_is_infinite")]
    first_variances: Vec<f64>,
    baseline: Option<f64>,
    skipped: u32,
    stuck: u32,
    #[serde(default)]
    memory: MemoryState,
}

/// The states of the present window, summed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Window {
    reference: State,
    sum: Vec<f64>,
    count: u64,
}

/// The best state so far.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct BestState {
    state: State,
    elbo: f64,
    elbo_se: f64,
}

/// Some laws have no variance, and JSON has no infinity.
fn null_is_infinite<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<f64>, D::Error> {
    let values = Vec::<Option<f64>>::deserialize(deserializer)?;
    Ok(values.into_iter().map(|value| value.unwrap_or(f64::INFINITY)).collect())
}

impl Checkpoint {
    const FORMAT: &'static str = "elinvar-checkpoint";

    /// Writes the checkpoint; a crash at any moment leaves the old file or the new one.
    ///
    /// # Errors
    /// [`Error::Io`] if the file cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        file::write(path.as_ref(), self)
    }

    /// Reads a checkpoint.
    ///
    /// # Errors
    /// [`Error::Io`] or [`Error::File`] with what is wrong with the file.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        let checkpoint: Self = file::read(path, Self::FORMAT)?;
        AnyApproximation::from_state(&checkpoint.state).map_err(|e| file::damaged(path, &e))?;
        let most = checkpoint.plan.n_draws.max(checkpoint.plan.max_draws).min(MOST_DRAWS);
        if checkpoint.n_draws == 0 || checkpoint.n_draws > most {
            return Err(file::damaged(path, &format!("it has {} draws per step", checkpoint.n_draws)));
        }
        if checkpoint.step > u64::MAX / 4 {
            return Err(file::damaged(path, &format!("it is at step {}", checkpoint.step)));
        }
        Ok(checkpoint)
    }
}

impl<'t, A: Approximation> Run<'t, A> {
    /// The run as it stands.
    pub fn checkpoint(&self) -> Checkpoint {
        Checkpoint {
            header: Header::new(Checkpoint::FORMAT),
            plan: self.plan.clone(),
            state: self.q.state(),
            step: self.step,
            n_draws: self.n_draws,
            counts: self.evaluator.counts(),
            trace: self.trace.clone(),
            seconds: self.seconds(),
            remaining: self.remaining,
            previous: self.previous,
            reach: self.reach,
            longest: self.longest,
            review_draws: self.review_draws,
            idle: self.idle,
            wild: self.wild,
            radius: self.radius,
            average: Window {
                reference: self.average.reference().state(),
                sum: self.average.sum().to_vec(),
                count: self.average.count(),
            },
            best: self.best.as_ref().map(|best| BestState {
                state: best.q.state(),
                elbo: best.elbo,
                elbo_se: best.elbo_se,
            }),
            review_at: self.review_at,
            first_variances: self.first_variances.clone(),
            baseline: self.baseline,
            skipped: self.skipped,
            stuck: self.stuck,
            memory: self.memory.state(),
        }
    }

    /// Continues a run to the same bits as if it had never been interrupted.
    ///
    /// # Errors
    /// As [`Run::new`], or if the checkpoint belongs to another family.
    pub fn resume(target: &'t dyn Target, checkpoint: &Checkpoint) -> Result<Self, Error> {
        let mut run = Self::new(target, A::from_state(&checkpoint.state)?, &checkpoint.plan)?;
        run.restore(checkpoint)?;
        Ok(run)
    }

    /// Whether the run, which has not begun, will come through the checkpoint of another with the same start and the same plan
    /// but for its limits.
    pub(super) fn passes(&self, checkpoint: &Checkpoint) -> bool {
        let evaluations = Self::limited(&self.plan, checkpoint.counts);
        passes(&self.plan.stop, &checkpoint.plan.stop, checkpoint.step, evaluations)
    }

    /// Goes to where the checkpoint was taken; limits stay those of this run.
    ///
    /// # Errors
    /// If the checkpoint belongs to another family.
    pub(super) fn restore(&mut self, checkpoint: &Checkpoint) -> Result<(), Error> {
        self.set_n_draws(checkpoint.n_draws);
        self.step = checkpoint.step;
        self.evaluator.set_counts(checkpoint.counts);
        self.trace = checkpoint.trace.clone();
        self.remaining = checkpoint.remaining;
        self.previous = checkpoint.previous;
        (self.reach, self.longest) = (checkpoint.reach, checkpoint.longest);
        self.review_draws = checkpoint.review_draws;
        self.idle = checkpoint.idle;
        self.wild = checkpoint.wild;
        self.radius = checkpoint.radius;
        let Window { reference, sum, count } = &checkpoint.average;
        self.average = Average::restore(A::from_state(reference)?, sum.clone(), *count).ok_or(Error::Shape {
            what: "sums of the window",
            expected: self.average.sum().len(),
            found: sum.len(),
        })?;
        self.best = match &checkpoint.best {
            Some(best) => Some(Best { q: A::from_state(&best.state)?, elbo: best.elbo, elbo_se: best.elbo_se }),
            None => None,
        };
        self.review_at = checkpoint.review_at;
        self.first_variances = checkpoint.first_variances.clone();
        self.baseline = checkpoint.baseline;
        self.skipped = checkpoint.skipped;
        self.stuck = checkpoint.stuck;
        // The start of a run may be changed by its rule; its later states are not.
        self.q = A::from_state(&checkpoint.state)?;
        self.memory = self.memory.restore(&checkpoint.memory, &self.q)?;
        self.seconds_before = checkpoint.seconds;
        self.started = Instant::now();
        Ok(())
    }
}
