//! A mixture whose number of components is found: rounds of fitting, removing what is not needed and adding where the target
//! is missed.

mod ascent;
mod birth;
mod fit;
mod judge;
mod prune;
mod split;
mod state;
mod store;

use std::ops::ControlFlow;
use std::time::Instant;

use serde::{Deserialize, Serialize};

use super::journal::{self, Content};
use super::watch::{Place, Watch};
use super::{Checkpoint, Counts, Plan, Spent, Step, StopReason};
use crate::Error;
use crate::block::ScaleMatrix;
use crate::evaluate::Evaluator;
use crate::family::{Approximation, MixtureOfGaussians};
use crate::posterior::{Estimate, pareto_k_threshold};
use crate::target::Target;

use judge::Judged;
pub(super) use state::GrowthState;
use state::Stage;
use store::Store;

/// A mixture has at most this many components.
pub const MOST_COMPONENTS: usize = 40;
/// Rounds before the last, at most.
const MOST_ROUNDS: usize = 24;
/// The gap between the bound and log Z that is aimed at, as a share of the tolerance; the last round gains some more.
const GOAL: f64 = 0.85;
/// Below it, a round that took off more than this share of the gap is followed by another, down to this share of the tolerance.
const BARGAIN: f64 = 0.5;
const LOW: f64 = 0.3;
/// Steps of the rounds before the last.
const SHORT_STEPS: u64 = 20;
/// A round is worth while if it takes off at least this share of the gap.
const WORTH_WHILE: f64 = 0.1;
/// A round that was not counts 2, one that made the mixture worse counts 1, because another may not; so many in a row end it.
const PATIENCE: u32 = 5;
/// After such a round steps become this much shorter and have twice as many draws, until rounds are worth while again.
const CAUTION: f64 = 0.4;
/// Noise of a step, in nats per coordinate, above which it has more draws.
const NOISE_PER_COORDINATE: f64 = 0.02;
/// What one round of a growing mixture came to.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Round {
    /// Number of components that were fitted.
    pub components: usize,
    /// The bound after the fit, from fresh draws.
    pub elbo: Estimate,
    /// The importance estimate of the log normaliser minus the bound, on the same draws: about what is left to gain.
    pub gap: Estimate,
    /// Pareto k̂ of those draws.
    pub pareto_k: Option<f64>,
    /// Evaluations from the very beginning to the end of the round.
    pub counts: Counts,
}

/// A mixture that has stopped growing.
#[derive(Clone, Debug)]
pub struct Grown<S> {
    /// The mixture.
    pub q: MixtureOfGaussians<S>,
    /// The rounds, the last of them with the plan's own limits.
    pub rounds: Vec<Round>,
    /// Why the last round ended.
    pub reason: StopReason,
    /// Evaluations, those spent before included.
    pub counts: Counts,
    /// Seconds, those spent before included.
    pub seconds: f64,
    /// Every step of every round, with indices that go on from round to round.
    pub trace: Vec<Step>,
}

/// Fits a mixture to `target` from `start`, which may have any number of components, and finds how many it needs.
///
/// A round fits the mixture, removes components that the bound does not miss, and adds new ones: where a stored or a far draw
/// climbs to a mode that the mixture does not cover, and by splitting the components that are most unlike the target. It ends
/// when the importance estimate of log Z is within the tolerance of the bound, when rounds no longer gain enough, or at
/// [`MOST_COMPONENTS`]. The best mixture is then polished; if its bound is not within the tolerance of log Z by then, with two
/// standard errors to spare and a tail of ratios that can be trusted, it is fitted with the plan's own limits.
///
/// # Errors
/// As [`Run::new`](super::Run::new) and [`Run::step`](super::Run::step).
pub fn grow<S: ScaleMatrix>(
    target: &dyn Target,
    start: MixtureOfGaussians<S>,
    plan: &Plan,
    spent: Spent,
    observe: &mut dyn FnMut(&Step) -> ControlFlow<()>,
) -> Result<Grown<S>, Error> {
    grow_watched(target, start, plan, spent, &mut Watch::unkept(observe))
}

/// [`grow`] as a part of a fit.
///
/// # Errors
/// As [`grow`], and those of the watch.
pub(super) fn grow_watched<S: ScaleMatrix>(
    target: &dyn Target,
    start: MixtureOfGaussians<S>,
    plan: &Plan,
    spent: Spent,
    watch: &mut Watch<'_>,
) -> Result<Grown<S>, Error> {
    let plan = plan.resolve(target)?;
    let (place, content) = watch.open(|| journal::origin(&start.state(), &plan, spent.counts))?.unzip();
    let mut evaluator = Evaluator::new(target, watch.interrupt());
    evaluator.set_counts(spent.counts);
    let mut growth = Growth {
        evaluator,
        watch,
        place,
        seconds_before: spent.seconds,
        clock: Instant::now(),
        trace: Vec::new(),
        rounds: Vec::new(),
        store: Store::new(target.dim()),
        n_fits: 0,
        longest: 1.0,
        boost: 1,
        n_draws: plan.n_draws,
        under_way: None,
        plan,
    };
    let mut at =
        At { stage: Stage::Round(0), q: start, best: None, look_around: true, failures: 0, gap_before: f64::INFINITY };
    if let Some(Some(Content::Growth(state))) = content
        && growth.passes(&state)
    {
        at = growth.restore(*state)?;
    }
    let (q, reason) = growth.run(at)?;
    let seconds = growth.seconds();
    Ok(Grown { q, rounds: growth.rounds, reason, counts: growth.evaluator.counts(), seconds, trace: growth.trace })
}

struct Growth<'t, 'w, 'o> {
    evaluator: Evaluator<'t>,
    plan: Plan,
    watch: &'w mut Watch<'o>,
    place: Option<Place>,
    seconds_before: f64,
    clock: Instant,
    trace: Vec<Step>,
    rounds: Vec<Round>,
    store: Store,
    n_fits: u64,
    /// Longest step of a round.
    longest: f64,
    /// How many times the usual draws a round's steps have.
    boost: usize,
    /// Draws of a round's steps, per component.
    n_draws: usize,
    /// Where the next fit was when it was interrupted.
    under_way: Option<Box<Checkpoint>>,
}

/// Where a growing mixture stands before a fit.
struct At<S> {
    stage: Stage,
    /// What is to be fitted.
    q: MixtureOfGaussians<S>,
    /// The best mixture of the rounds before.
    best: Option<Judged<S>>,
    look_around: bool,
    failures: u32,
    gap_before: f64,
}

impl Growth<'_, '_, '_> {
    fn seconds(&self) -> f64 {
        self.seconds_before + self.clock.elapsed().as_secs_f64()
    }

    /// Whether the mixture is good enough: the gap between bound and log Z is below the tolerance, and the last round did not
    /// take off so much of it that the next is a bargain.
    fn is_enough(&self, gap: f64, before: f64) -> bool {
        let tolerance = self.plan.stop.remaining_nats;
        gap < GOAL * tolerance && (gap > (1.0 - BARGAIN) * before || gap < LOW * tolerance)
    }

    /// Whether less than the tolerance is left to gain, by the importance estimate of log Z: no member of any family has a higher
    /// bound than that.
    fn is_converged<S: ScaleMatrix>(&self, judged: &Judged<S>) -> bool {
        let has_tail = judged.largest_weight() > 2.0
            && judged.pareto_k.is_none_or(|k| k > pareto_k_threshold(judged.weight.len()));
        judged.gap.value.abs() + 2.0 * judged.gap.mcse < self.plan.stop.remaining_nats && !has_tail
    }

    /// The smallest change of the bound that counts.
    fn resolution(&self) -> f64 {
        0.2 * self.plan.stop.remaining_nats.max(1e-4)
    }

    fn run<S: ScaleMatrix>(&mut self, mut at: At<S>) -> Result<(MixtureOfGaussians<S>, StopReason), Error> {
        while let Stage::Round(round) = at.stage {
            let reason = match self.fit(&mut at, Some(SHORT_STEPS)) {
                // New components may stand where there is no density; the first mixture may not.
                Err(Error::BadStart { .. }) if at.best.is_some() => StopReason::BadEvaluations,
                outcome => outcome?,
            };
            if reason != StopReason::Converged {
                return Ok((at.best.map_or(at.q, |judged| judged.q), reason));
            }
            let is_last = self.end_round(&mut at)? || round + 1 == MOST_ROUNDS;
            at.stage = if is_last { Stage::Polish } else { Stage::Round(round + 1) };
        }
        // A difference that does not count is no reason to keep what was pruned.
        let resolution = self.resolution();
        let chosen = |last: Judged<S>, before: Option<Judged<S>>| match before {
            Some(before) if before.gained_over(&last) > resolution => before,
            _ => last,
        };
        if at.stage == Stage::Polish {
            let reason = self.fit(&mut at, Some(2 * SHORT_STEPS))?;
            let polished = self.judge(at.q)?;
            let polished = chosen(polished, at.best.take());
            if reason != StopReason::Converged || self.is_converged(&polished) {
                return Ok((polished.q, reason));
            }
            at.q = polished.q.clone();
            at.best = Some(polished);
            at.stage = Stage::Last;
        }
        let reason = self.fit(&mut at, None)?;
        let last = self.judge(at.q)?;
        Ok((chosen(last, at.best).q, reason))
    }

    /// Judges what a round has fitted and makes the mixture of the next; whether there is no need of more rounds.
    fn end_round<S: ScaleMatrix>(&mut self, at: &mut At<S>) -> Result<bool, Error> {
        let judged = self.judge(at.q.clone())?;
        let (gain, wanted) = match &at.best {
            None => (f64::INFINITY, 0.0),
            Some(before) => (judged.gained_over(before), self.resolution().max(WORTH_WHILE * before.gap.value)),
        };
        if gain > wanted {
            at.failures = 0;
            self.longest = (self.longest / CAUTION.sqrt()).min(1.0);
            self.boost = (self.boost / 2).max(1);
        } else {
            at.failures += if gain > 0.0 { 2 } else { 1 };
            self.longest *= CAUTION;
            self.boost *= 2;
        }
        let judged = match at.best.take().filter(|_| gain.is_nan() || gain <= 0.0) {
            Some(before) => at.best.insert(before),
            None => at.best.insert(judged),
        };
        self.n_draws = self.draws_for(judged);
        let mut survivors = judged.prune(self.resolution());
        let n_modes = if at.look_around { self.add_modes(judged, &mut survivors)? } else { 0 };
        at.look_around = n_modes > 0;
        let room = MOST_COMPONENTS.saturating_sub(survivors.q.n_blocks());
        if n_modes > 0 {
            at.q = survivors.q;
            return Ok(false);
        }
        if self.is_enough(judged.gap.value, at.gap_before) || room == 0 || at.failures >= PATIENCE {
            at.q = survivors.q;
            return Ok(true);
        }
        // The nearer the goal, the fewer components are missing.
        let excess = judged.gap.value / (0.5 * self.plan.stop.remaining_nats) - 1.0;
        let births = (excess * survivors.q.n_blocks() as f64).clamp(1.0, room as f64);
        at.q = judged.split(&survivors, births as usize);
        at.gap_before = judged.gap.value;
        Ok(false)
    }

    /// Draws of a step with which its noise is bearable.
    fn draws_for<S: ScaleMatrix>(&self, judged: &Judged<S>) -> usize {
        let wanted = self.boost as f64 * judged.noise() / (NOISE_PER_COORDINATE * judged.q.dim() as f64);
        let most = self.plan.max_draws.max(self.plan.n_draws);
        (wanted as usize).next_power_of_two().max(self.boost * self.plan.n_draws).min(most)
    }

    /// What fresh draws say about `q`; ends a round.
    fn judge<S: ScaleMatrix>(&mut self, q: MixtureOfGaussians<S>) -> Result<Judged<S>, Error> {
        let seed = self.round_seed();
        let judged = Judged::new(&mut self.evaluator, q, seed)?;
        self.store.keep_all(&judged.draws, &judged.log_p);
        if let Some(step) = self.trace.last_mut().filter(|step| step.remaining.is_none()) {
            step.remaining = Some((judged.gap.value, judged.gap.mcse));
        }
        self.rounds.push(Round {
            components: judged.q.n_blocks(),
            elbo: judged.elbo,
            gap: judged.gap,
            pareto_k: judged.pareto_k,
            counts: self.evaluator.counts(),
        });
        Ok(judged)
    }
}
