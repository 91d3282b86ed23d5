//! A run as a file: everything from which it continues to the same bits.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::advance::MemoryState;
use super::average::{Average, AverageState};
use super::journal::{Content, Entry, never_kept, passes};
use super::pace::Pace;
use super::review::Best;
use super::{Counts, Plan, Run, Step};
use crate::Error;
use crate::evaluate::{Clock, Limits};
use crate::family::Approximation;
use crate::file::{self, Format, Header};
use crate::plan::MOST_DRAWS;
use crate::target::Target;

/// The state of a run between two steps. No generator is stored: random numbers are functions of the seed and the step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Checkpoint {
    #[serde(flatten)]
    header: Header,
    /// The plan, every automatic choice made.
    pub plan: Plan,
    /// Evaluations so far.
    pub counts: Counts,
    /// The recorded steps.
    pub trace: Vec<Step>,
    /// Seconds so far.
    pub seconds: f64,
    #[serde(flatten)]
    run: RunState,
}

/// The parts of a run that change from step to step, but for its record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct RunState {
    state: Approximation,
    pace: Pace,
    average: AverageState,
    best: Option<BestState>,
    memory: MemoryState,
}

/// The best state so far.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct BestState {
    state: Approximation,
    elbo: f64,
    elbo_se: f64,
}

impl RunState {
    /// Index of the next step.
    pub(super) fn step(&self) -> u64 {
        self.pace.step()
    }

    /// What cannot be in a state that a run with this plan has kept.
    fn problem(&self, plan: &Plan) -> Option<String> {
        let most = plan.n_draws.max(plan.max_draws).min(MOST_DRAWS);
        let (n_draws, step) = (self.pace.n_draws(), self.step());
        if n_draws == 0 || n_draws > most {
            return Some(format!("it has {n_draws} draws per step"));
        }
        if step > u64::MAX / 4 {
            return Some(format!("it is at step {step}"));
        }
        self.pace.problem(self.state.dim()).map(str::to_string)
    }
}

impl Checkpoint {
    /// Layout 3: the parts of a run as they are, with a checksum; a run that an earlier version began has to be begun
    /// again.
    const FORMAT: Format = Format { name: "elinvar-checkpoint", oldest: 3, newest: 3, sealed: 3 };

    /// The parameters.
    pub fn state(&self) -> &Approximation {
        &self.run.state
    }

    /// Index of the next step.
    pub fn step(&self) -> u64 {
        self.run.step()
    }

    /// Draws per component of the next step.
    pub fn n_draws(&self) -> usize {
        self.run.pace.n_draws()
    }

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
        let counted = checkpoint.counts.are_plausible() && checkpoint.seconds.is_finite();
        let problem = if counted { None } else { Some("its counts cannot be".to_string()) };
        match problem.or_else(|| checkpoint.run.problem(&checkpoint.plan)) {
            Some(problem) => Err(file::damaged(path, &problem)),
            None => Ok(checkpoint),
        }
    }
}

impl<'t> Run<'t> {
    /// The run as it stands.
    pub fn checkpoint(&self) -> Checkpoint {
        Checkpoint {
            header: Header::new(Checkpoint::FORMAT),
            plan: self.plan.clone(),
            counts: self.evaluator.counts(),
            trace: self.trace.clone(),
            seconds: self.seconds(),
            run: self.state(),
        }
    }

    /// Continues a run to the same bits as if it had never been interrupted.
    ///
    /// # Errors
    /// As [`Run::new`].
    pub fn resume(target: &'t dyn Target, checkpoint: &Checkpoint) -> Result<Self, Error> {
        let mut run = Self::new(target, checkpoint.state().clone(), &checkpoint.plan)?;
        run.restore(&checkpoint.run)?;
        run.evaluator.go_on_from(checkpoint.counts, Clock::at(checkpoint.seconds));
        run.trace = checkpoint.trace.clone();
        Ok(run)
    }

    /// The parts that change from step to step.
    pub(super) fn state(&self) -> RunState {
        let best = |best: &Best| BestState { state: best.q.clone(), elbo: best.elbo, elbo_se: best.elbo_se };
        RunState {
            state: self.q.clone(),
            pace: self.pace.clone(),
            average: self.average.state(),
            best: self.best.as_ref().map(best),
            memory: self.memory.state(),
        }
    }

    /// Whether the run, which has not begun, will come through an entry of another with the same start and the same
    /// plan but for its limits.
    pub(super) fn passes(&self, entry: &Entry) -> bool {
        let evaluations = Limits::of(&self.plan).limited(entry.counts);
        matches!(&entry.content, Content::Run(run) if passes(&self.plan.stop, &entry.limits, run.step(), evaluations))
    }

    /// Goes to where the state was taken; limits stay those of this run.
    ///
    /// # Errors
    /// If the state belongs to another family, or to no run of this plan.
    pub(super) fn restore(&mut self, state: &RunState) -> Result<(), Error> {
        if let Some(problem) = state.problem(&self.plan) {
            return Err(never_kept(&problem));
        }
        let mut states =
            [&state.state, state.average.reference()].into_iter().chain(state.best.as_ref().map(|best| &best.state));
        if let Some(other) = states.find(|other| !other.is_shaped_as(&self.q)) {
            let (expected, found) = (self.q.natural_len(), other.natural_len());
            return Err(Error::Shape { what: "numbers in a state of the checkpoint", expected, found });
        }
        self.pace = state.pace.clone();
        self.make_room(self.pace.n_draws());
        self.average = Average::restore(&state.average)?;
        self.best =
            state.best.as_ref().map(|best| Best { q: best.state.clone(), elbo: best.elbo, elbo_se: best.elbo_se });
        // The start of a run may be changed by its rule; its later states are not.
        self.q.clone_from(&state.state);
        self.memory = self.memory.restore(&state.memory, &self.q)?;
        Ok(())
    }
}
