//! A run as a file: everything from which it continues to the same bits.

use std::path::Path;
use std::time::Instant;

use serde::{Deserialize, Serialize};

use super::plan::MOST_DRAWS;
use super::remaining::Remaining;
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
    remaining: Remaining,
    baseline: Option<f64>,
    skipped: u32,
    stuck: u32,
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
            counts: self.counts,
            trace: self.trace.clone(),
            seconds: self.seconds(),
            remaining: self.remaining.clone(),
            baseline: self.baseline,
            skipped: self.skipped,
            stuck: self.stuck,
        }
    }

    /// Continues a run to the same bits as if it had never been interrupted.
    ///
    /// # Errors
    /// As [`Run::new`], or if the checkpoint belongs to another family.
    pub fn resume(target: &'t dyn Target, checkpoint: &Checkpoint) -> Result<Self, Error> {
        let mut run = Self::new(target, A::from_state(&checkpoint.state)?, &checkpoint.plan)?;
        run.set_n_draws(checkpoint.n_draws);
        run.step = checkpoint.step;
        run.counts = checkpoint.counts;
        run.trace = checkpoint.trace.clone();
        run.remaining = checkpoint.remaining.clone();
        run.remaining.reserve();
        run.baseline = checkpoint.baseline;
        run.skipped = checkpoint.skipped;
        run.stuck = checkpoint.stuck;
        run.seconds_before = checkpoint.seconds;
        run.started = Instant::now();
        Ok(run)
    }
}
