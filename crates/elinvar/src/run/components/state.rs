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
use crate::run::pooled::{Pool, PooledState};
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
    #[serde(default)]
    refits: u32,
    gap_before: Option<f64>,
    rounds: Vec<Round>,
    store: Option<Store>,
    n_fits: u64,
    longest: f64,
    boost: usize,
    n_draws: usize,
    /// The fit, if it has begun.
    run: Option<Box<RunState>>,
    /// The pool that rounds are fitted to, or the fit to it that has begun, which has the pool.
    #[serde(default)]
    pool: Option<Pool>,
    #[serde(default)]
    pooled: Option<Box<PooledState>>,
}

/// The best mixture, and the seed of the draws that it was judged with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct BestState {
    state: Approximation,
    seed: u64,
    /// The error that was enough, where draws were chosen by it.
    #[serde(default)]
    error: Option<f64>,
}

impl GrowthState {
    /// Where the fit was when it was interrupted, once.
    pub(in crate::run) fn take_content(&mut self) -> Option<Content> {
        self.run.take().map(Content::Run).or_else(|| self.pooled.take().map(Content::Pooled))
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
            () if self.pool.as_ref().is_some_and(|pool| !pool.is_sound(dim)) => {
                Some("the points that it has kept do not fit together")
            }
            () if most(self.n_draws, MOST_DRAWS) || self.boost > MOST_DRAWS => Some("its draws cannot be"),
            () if self.n_fits > u64::MAX / 4 || self.failures.max(self.refits) > u32::MAX / 4 => {
                Some("its rounds cannot be")
            }
            () if matches!(self.stage, Stage::Round(round) if round > usize::MAX / 4) => Some("its rounds cannot be"),
            () => None,
        }
    }

    /// The same before a fit to a pool, or within one that is under way.
    pub(super) fn with_pool(self, pool: &Pool, pooled: Option<Box<PooledState>>) -> Self {
        Self { pool: pooled.is_none().then(|| pool.clone()), pooled, ..self }
    }

    /// The same within the fit `run`.
    pub(in crate::run) fn within(&self, run: &Run<'_>) -> Self {
        Self { store: run.evaluator.store.clone(), run: Some(Box::new(run.state())), ..self.clone() }
    }

    /// The same within a fit to the pool.
    pub(in crate::run) fn within_pooled(&self, pooled: PooledState) -> Self {
        Self { pooled: Some(Box::new(pooled)), pool: None, ..self.clone() }
    }

    /// Whether a growth by `plan`, which has not begun, comes through an entry of another with other limits.
    pub(super) fn is_passed(entry: &Entry, plan: &Plan) -> bool {
        let Content::Growth(state) = &entry.content else { return false };
        let evaluations = Limits::of(plan).limited(entry.counts);
        let is_pooled = state.pool.is_some() || state.pooled.is_some();
        let round = if is_pooled { u64::from(tuning::pooled::MOST_STEPS) } else { 2 * tuning::growth::ROUND_STEPS };
        // A limit within the present round would change it.
        passes(&plan.stop, &entry.limits, entry.trace.len() as u64 + round, evaluations)
    }
}

impl Growth<'_, '_, '_> {
    /// Where the growth stands before a fit, or within one that is under way.
    pub(super) fn state(&self, at: &At, run: Option<Box<RunState>>) -> GrowthState {
        GrowthState {
            stage: at.stage,
            state: at.q.clone(),
            best: at.best.as_ref().map(|best| BestState { state: best.q.clone(), seed: best.seed, error: best.error }),
            look_around: at.look_around,
            failures: at.failures,
            refits: at.refits,
            gap_before: Some(at.gap_before).filter(|gap| gap.is_finite()),
            rounds: self.rounds.clone(),
            store: self.evaluator.store.clone(),
            n_fits: self.n_fits,
            longest: self.longest,
            boost: self.boost,
            n_draws: self.n_draws,
            pool: None,
            pooled: None,
            run,
        }
    }

    /// Goes to where the state was taken.
    pub(super) fn restore(&mut self, state: GrowthState, dim: usize) -> Result<At, Error> {
        if let Some(problem) = state.problem(dim) {
            return Err(never_kept(problem));
        }
        let is_pooled = state.pool.is_some() || state.pooled.is_some();
        self.pool = self.pool.take().filter(|_| is_pooled);
        let best = match &state.best {
            // What the same draws say was counted when they were made.
            Some(BestState { state, seed, error }) => {
                let judged = Judged::new(&mut self.evaluator, state.clone(), *seed, *error)?;
                self.evaluator.take_counts();
                Some(judged)
            }
            None => None,
        };
        (self.rounds, self.evaluator.store, self.under_way) = (state.rounds, state.store, state.run);
        // A fit that is under way has the pool.
        self.pool = state.pool.or(self.pool.take());
        self.pooled_under_way = state.pooled;
        (self.n_fits, self.longest, self.boost, self.n_draws) =
            (state.n_fits, state.longest, state.boost, state.n_draws);
        Ok(At {
            stage: state.stage,
            q: state.state,
            best,
            look_around: state.look_around,
            failures: state.failures,
            refits: state.refits,
            gap_before: state.gap_before.unwrap_or(f64::INFINITY),
        })
    }
}
