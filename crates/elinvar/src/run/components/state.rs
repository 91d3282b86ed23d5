//! A growing mixture as plain data, from which it grows on to the same bits.

use std::time::Instant;

use serde::{Deserialize, Serialize};

use super::judge::Judged;
use super::store::Store;
use super::{At, Growth, Round, SHORT_STEPS};
use crate::Error;
use crate::block::ScaleMatrix;
use crate::family::{Approximation, MixtureOfGaussians, State};
use crate::run::journal::{Content, passes};
use crate::run::{Checkpoint, Counts, Run, Step, Stop};

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
    limits: Stop,
    stage: Stage,
    state: State,
    best: Option<BestState>,
    look_around: bool,
    failures: u32,
    gap_before: Option<f64>,
    counts: Counts,
    seconds: f64,
    trace: Vec<Step>,
    rounds: Vec<Round>,
    store: Store,
    n_fits: u64,
    longest: f64,
    boost: usize,
    n_draws: usize,
    /// The fit, if it has begun.
    run: Option<Box<Checkpoint>>,
}

/// The best mixture, and the seed of the draws that it was judged with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct BestState {
    state: State,
    seed: u64,
}

impl Growth<'_, '_, '_> {
    /// Keeps where the growth stands, if it is to be kept.
    pub(super) fn keep<S: ScaleMatrix>(&mut self, at: &At<S>, run: Option<Checkpoint>) -> Result<(), Error> {
        let Some(place) = &self.place else { return Ok(()) };
        let best = at.best.as_ref().map(|best| BestState { state: best.q.state(), seed: best.seed });
        let seconds = self.seconds_before + self.clock.elapsed().as_secs_f64();
        let (counts, trace, rounds, store) = (self.evaluator.counts(), &self.trace, &self.rounds, &self.store);
        let content = || {
            Content::Growth(Box::new(GrowthState {
                limits: self.plan.stop,
                stage: at.stage,
                state: at.q.state(),
                best,
                look_around: at.look_around,
                failures: at.failures,
                gap_before: Some(at.gap_before).filter(|gap| gap.is_finite()),
                counts,
                seconds,
                trace: trace.clone(),
                rounds: rounds.clone(),
                store: store.clone(),
                n_fits: self.n_fits,
                longest: self.longest,
                boost: self.boost,
                n_draws: self.n_draws,
                run: run.map(Box::new),
            }))
        };
        self.watch.store(place, content)
    }

    /// Whether this growth, which has not begun, comes through a state of another with other limits.
    pub(super) fn passes(&self, state: &GrowthState) -> bool {
        let counts = state.run.as_ref().map_or(state.counts, |run| run.counts);
        let evaluations = Run::<MixtureOfGaussians>::limited(&self.plan, counts);
        // A limit within the present round would change it.
        passes(&self.plan.stop, &state.limits, state.trace.len() as u64 + 2 * SHORT_STEPS, evaluations)
    }

    /// Goes to where the state was taken.
    pub(super) fn restore<S: ScaleMatrix>(&mut self, state: GrowthState) -> Result<At<S>, Error> {
        let best = match &state.best {
            // What the same draws say was counted when they were made.
            Some(BestState { state, seed }) => {
                let q = MixtureOfGaussians::from_state(state)?;
                Some(Judged::new(&mut self.evaluator, q, *seed)?)
            }
            None => None,
        };
        self.evaluator.set_counts(state.counts);
        (self.trace, self.rounds) = (state.trace, state.rounds);
        (self.store, self.n_fits, self.under_way) = (state.store, state.n_fits, state.run);
        (self.longest, self.boost, self.n_draws) = (state.longest, state.boost, state.n_draws);
        (self.seconds_before, self.clock) = (state.seconds, Instant::now());
        Ok(At {
            stage: state.stage,
            q: MixtureOfGaussians::from_state(&state.state)?,
            best,
            look_around: state.look_around,
            failures: state.failures,
            gap_before: state.gap_before.unwrap_or(f64::INFINITY),
        })
    }
}
