//! A growing mixture as plain data, from which it grows on to the same bits.

use serde::{Deserialize, Serialize};

use super::judge::Judged;
use super::{At, Growth, MOST_COMPONENTS, Round};
use crate::Error;
use crate::evaluate::{Limits, Store};
use crate::family::Approximation;
use crate::plan::{MOST_DRAWS, Plan};
use crate::run::Run;
use crate::run::checkpoint::RunState;
use crate::run::journal::{Content, Entry, never_kept, passes};
use crate::tuning;

/// Which fit is next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Stage {
    Round(usize),
    Polish,
    Last,
}

/// A growing mixture before or within a fit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(in crate::run) struct GrowthState {
    stage: Stage,
    state: Approximation,
    best: Option<BestState>,
    look_around: bool,
    failures: u32,
    gap_before: Option<f64>,
    rounds: Vec<Round>,
    store: Option<Store>,
    n_fits: u64,
    longest: f64,
    boost: usize,
    n_draws: usize,
    /// The fit, if it has begun.
    run: Option<Box<RunState>>,
}

/// The best mixture, and the seed of the draws that it was judged with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct BestState {
    state: Approximation,
    seed: u64,
}

impl GrowthState {
    /// Where the fit was when it was interrupted, once.
    pub(in crate::run) fn take_run(&mut self) -> Option<Box<RunState>> {
        self.run.take()
    }

    /// What cannot be in a state that a growth in `dim` coordinates has kept.
    fn problem(&self, dim: usize) -> Option<&'static str> {
        let mut states = std::iter::once(&self.state).chain(self.best.as_ref().map(|best| &best.state));
        let most = |n: usize, most: usize| n == 0 || n > most;
        let is_other =
            |q: &Approximation| q.dim() != dim || q.locations().is_empty() || most(q.n_components(), MOST_COMPONENTS);
        match () {
            () if states.any(is_other) => Some("it is a state of another family or of another number of coordinates"),
            () if !self.store.as_ref().is_some_and(|store| store.is_sound(dim)) => {
                Some("the points that it has kept do not fit together")
            }
            () if most(self.n_draws, MOST_DRAWS) || self.boost > MOST_DRAWS => Some("its draws cannot be"),
            () if self.n_fits > u64::MAX / 4 || self.failures > u32::MAX / 4 => Some("its rounds cannot be"),
            () if matches!(self.stage, Stage::Round(round) if round > usize::MAX / 4) => Some("its rounds cannot be"),
            () => None,
        }
    }

    /// The same within the fit `run`.
    pub(in crate::run) fn within(&self, run: &Run<'_>) -> Self {
        Self { store: run.evaluator.store.clone(), run: Some(Box::new(run.state())), ..self.clone() }
    }

    /// Whether a growth by `plan`, which has not begun, comes through an entry of another with other limits.
    pub(super) fn is_passed(entry: &Entry, plan: &Plan) -> bool {
        let evaluations = Limits::of(plan).limited(entry.counts);
        // A limit within the present round would change it.
        let steps = entry.trace.len() as u64 + 2 * tuning::growth::ROUND_STEPS;
        matches!(entry.content, Content::Growth(_)) && passes(&plan.stop, &entry.limits, steps, evaluations)
    }
}

impl Growth<'_, '_, '_> {
    /// Where the growth stands before a fit, or within one that is under way.
    pub(super) fn state(&self, at: &At, run: Option<Box<RunState>>) -> GrowthState {
        GrowthState {
            stage: at.stage,
            state: at.q.clone(),
            best: at.best.as_ref().map(|best| BestState { state: best.q.clone(), seed: best.seed }),
            look_around: at.look_around,
            failures: at.failures,
            gap_before: Some(at.gap_before).filter(|gap| gap.is_finite()),
            rounds: self.rounds.clone(),
            store: self.evaluator.store.clone(),
            n_fits: self.n_fits,
            longest: self.longest,
            boost: self.boost,
            n_draws: self.n_draws,
            run,
        }
    }

    /// Goes to where the state was taken.
    pub(super) fn restore(&mut self, state: GrowthState, dim: usize) -> Result<At, Error> {
        if let Some(problem) = state.problem(dim) {
            return Err(never_kept(problem));
        }
        let best = match &state.best {
            // What the same draws say was counted when they were made.
            Some(BestState { state, seed }) => {
                let judged = Judged::new(&mut self.evaluator, state.clone(), *seed)?;
                self.evaluator.take_counts();
                Some(judged)
            }
            None => None,
        };
        (self.rounds, self.evaluator.store, self.under_way) = (state.rounds, state.store, state.run);
        (self.n_fits, self.longest, self.boost, self.n_draws) =
            (state.n_fits, state.longest, state.boost, state.n_draws);
        Ok(At {
            stage: state.stage,
            q: state.state,
            best,
            look_around: state.look_around,
            failures: state.failures,
            gap_before: state.gap_before.unwrap_or(f64::INFINITY),
        })
    }
}
