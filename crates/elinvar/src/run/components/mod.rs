//! A mixture whose number of components is found: rounds of fitting, removing what is not needed and adding where the
//! target is missed.

mod birth;
mod fit;
mod judge;
mod prune;
mod split;
mod state;

use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};

use super::checkpoint::RunState;
use super::fitting::Fitting;
use super::journal::{self, Content};
use super::pooled::{Pool, PooledState};
use super::{Counts, Plan, Step, StopReason};
use crate::Error;
use crate::estimate::Curvature;
use crate::evaluate::{Evaluator, Store};
use crate::family::{Approximation, Kind};
use crate::posterior::{Estimate, Posterior, pareto_k_threshold};
use crate::target::Target;
use crate::tuning;

use judge::Judged;
pub(super) use state::GrowthState;
use state::Stage;

/// A mixture has at most this many components.
pub const MOST_COMPONENTS: usize = 40;
/// What one round of a growing mixture came to.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
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
#[non_exhaustive]
pub struct Grown {
    /// The mixture.
    pub q: Approximation,
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
/// A round fits the mixture, removes components that the bound does not miss, and adds new ones: where a stored or a
/// far draw climbs to a mode that the mixture does not cover, and by splitting the components that are most unlike the
/// target. It ends when the importance estimate of log Z is within the tolerance of the bound, when rounds no longer
/// gain enough, or at [`MOST_COMPONENTS`]. The best mixture is then polished; if its bound is not within the tolerance
/// of log Z by then, with two standard errors to spare and a tail of ratios that can be trusted, it is fitted with the
/// plan's own limits.
///
/// # Errors
/// As [`Run::new`](super::Run::new) and [`Run::step`](super::Run::step).
pub fn grow(
    target: &dyn Target,
    start: Approximation,
    plan: &Plan,
    observe: &mut dyn FnMut(&Step) -> ControlFlow<()>,
) -> Result<Grown, Error> {
    let mut fit = Fitting::unkept(observe);
    let by_pool = plan.goes_by_pool(target, start.family())?;
    let grown = grow_in(target, start, &plan.without_pool().resolve(target)?, by_pool, &mut fit)?;
    Ok(Grown { seconds: fit.clock.seconds(), trace: fit.into_trace(), ..grown })
}

/// [`grow`] as a part of a fit, which has the record; every automatic choice of the plan is made, and whether rounds
/// are fitted to a pool of past evaluations.
///
/// # Errors
/// As [`grow`], and those of the journal.
pub(super) fn grow_in(
    target: &dyn Target,
    start: Approximation,
    plan: &Plan,
    by_pool: bool,
    fit: &mut Fitting<'_>,
) -> Result<Grown, Error> {
    if !matches!(start.family().kind, Kind::Mog { .. }) {
        return Err(Error::Unsupported {
            wanted: format!("growing `{}`", start.family()),
            instead: "a mixture grows from a `mog`".into(),
        });
    }
    let origin = |counts| match by_pool {
        true => journal::origin(&start, &Plan { curvature: Curvature::Auto, ..plan.clone() }, counts),
        false => journal::origin(&start, plan, counts),
    };
    let content = fit.open_part(plan.stop, origin, |entry| GrowthState::is_passed(entry, plan))?;
    let mut evaluator = Evaluator::new(target, fit.interrupt());
    evaluator.store = Some(Store::new(target.dim()));
    let mut growth = Growth {
        evaluator,
        fit,
        rounds: Vec::new(),
        n_fits: 0,
        longest: 1.0,
        boost: 1,
        n_draws: plan.n_draws,
        under_way: None,
        pooled_under_way: None,
        pool: by_pool.then(|| Pool::new(target.dim())),
        promised: f64::MIN,
        plan: plan.clone(),
    };
    let mut at = At {
        stage: Stage::Round(0),
        q: start,
        best: None,
        look_around: true,
        failures: 0,
        refits: 0,
        gap_before: f64::INFINITY,
    };
    if let Some(Content::Growth(state)) = content {
        at = growth.restore(*state, target.dim())?;
    }
    let grown = growth.run(&mut at);
    let Growth { rounds, mut evaluator, fit, .. } = growth;
    if matches!(grown, Err(Error::Interrupted)) {
        fit.counts += evaluator.take_counts();
    }
    let best = at.best.as_ref().map(|judged| &judged.q);
    let of_best = || best.map(|q| Posterior::of_run(&target.about(), q.clone(), plan, StopReason::Interrupted, None));
    let grown = fit.or_reached(grown, of_best);
    let (q, reason) = fit.or_member(grown, target, plan, &at.q)?;
    Ok(Grown { q, rounds, reason, counts: fit.counts, seconds: fit.clock.seconds(), trace: Vec::new() })
}

struct Growth<'t, 'w, 'o> {
    evaluator: Evaluator<'t>,
    plan: Plan,
    fit: &'w mut Fitting<'o>,
    rounds: Vec<Round>,
    n_fits: u64,
    /// Longest step of a round.
    longest: f64,
    /// How many times the usual draws a round's steps have.
    boost: usize,
    /// Draws of a round's steps, per component.
    n_draws: usize,
    /// Where the next fit was when it was interrupted.
    under_way: Option<Box<RunState>>,
    pooled_under_way: Option<Box<PooledState>>,
    /// Past evaluations, where rounds are fitted to them, and the bound by them after the last.
    pool: Option<Pool>,
    promised: f64,
}

/// Where a growing mixture stands before a fit.
struct At {
    stage: Stage,
    /// What is to be fitted.
    q: Approximation,
    /// The best mixture of the rounds before.
    best: Option<Judged>,
    look_around: bool,
    failures: u32,
    /// Rounds in a row with the same components, because fresh draws did not confirm what the pool promised.
    refits: u32,
    gap_before: f64,
}

impl Growth<'_, '_, '_> {
    /// Whether the mixture is good enough: the gap between bound and log Z is below the tolerance, and the last round
    /// did not take off so much of it that the next is a bargain.
    fn is_enough(&self, gap: f64, before: f64) -> bool {
        let tolerance = self.plan.stop.remaining_nats;
        gap < tuning::growth::GAP_GOAL * tolerance
            && (gap > (1.0 - tuning::growth::BARGAIN_SHARE) * before || gap < tuning::growth::LOWEST_GAP * tolerance)
    }

    /// Whether less than the tolerance is left to gain, by the importance estimate of log Z: no member of any family
    /// has a higher bound than that.
    fn is_converged(&self, judged: &Judged) -> bool {
        let has_tail = judged.largest_weight() > 2.0
            && judged.pareto_k.is_none_or(|k| k > pareto_k_threshold(judged.weight.len()));
        judged.gap.value.abs() + 2.0 * judged.gap.mcse < self.plan.stop.remaining_nats && !has_tail
    }

    /// Whether there is nothing to polish: the target is as good as a member of the family.
    fn is_exact(&self, judged: &Judged) -> bool {
        judged.gap.value.abs() + 2.0 * judged.gap.mcse < tuning::growth::NOTHING_LEFT * self.plan.stop.remaining_nats
    }

    /// The smallest change of the bound that counts.
    fn resolution(&self) -> f64 {
        0.2 * self.plan.stop.remaining_nats.max(1e-4)
    }

    /// Fits and judges until the mixture is good enough. Where that is interrupted, `at` has the best so far.
    fn run(&mut self, at: &mut At) -> Result<(Approximation, StopReason), Error> {
        while let Stage::Round(round) = at.stage {
            let reason = match self.fit(at, Some(tuning::growth::ROUND_STEPS)) {
                // New components may stand where there is no density; the first mixture may not.
                Err(Error::BadStart { .. }) if at.best.is_some() => StopReason::BadEvaluations,
                outcome => outcome?,
            };
            if reason != StopReason::Converged {
                return Ok((at.best.take().map_or_else(|| at.q.clone(), |judged| judged.q), reason));
            }
            let is_last = self.end_round(at)? || round + 1 == tuning::growth::MOST_ROUNDS;
            let n_left = at.q.n_components();
            let is_whole = |best: &Judged| best.q.n_components() == n_left && self.is_exact(best);
            if is_last && let Some(best) = at.best.take_if(|best| is_whole(best)) {
                return Ok((best.q, reason));
            }
            at.stage = if is_last { Stage::Polish } else { Stage::Round(round + 1) };
        }
        // A difference that does not count is no reason to keep what was pruned.
        let resolution = self.resolution();
        let chosen = |last: Judged, before: Option<Judged>| match before {
            Some(before) if before.gained_over(&last) > resolution => before,
            _ => last,
        };
        if at.stage == Stage::Polish {
            let reason = self.fit(at, Some(2 * tuning::growth::ROUND_STEPS))?;
            let polished = self.judge(at.q.clone())?;
            let is_confirmed = self.pool.is_some() && !self.is_promised_too_much(&polished);
            let polished = chosen(polished, at.best.take());
            if reason != StopReason::Converged || is_confirmed || self.is_converged(&polished) {
                return Ok((polished.q, reason));
            }
            at.q = polished.q.clone();
            at.best = Some(polished);
            at.stage = Stage::Last;
        }
        let reason = self.fit(at, None)?;
        let last = self.judge(at.q.clone())?;
        Ok((chosen(last, at.best.take()).q, reason))
    }

    /// Judges what a round has fitted and makes the mixture of the next; whether there is no need of more rounds.
    fn end_round(&mut self, at: &mut At) -> Result<bool, Error> {
        let judged = self.judge(at.q.clone())?;
        if self.pool.is_some() && at.refits < tuning::growth::REFITS && self.is_promised_too_much(&judged) {
            at.refits += 1;
            at.q = judged.q;
            return Ok(false);
        }
        at.refits = 0;
        let (gain, wanted) = match &at.best {
            None => (f64::INFINITY, 0.0),
            Some(before) => (
                judged.gained_over(before),
                self.resolution().max(tuning::growth::GAP_WORTH_A_ROUND * before.gap.value),
            ),
        };
        if gain > wanted {
            at.failures = 0;
            self.longest = (self.longest / tuning::growth::STEP_SHARE_AFTER_FAILURE.sqrt()).min(1.0);
            self.boost = (self.boost / 2).max(1);
        } else {
            at.failures += if gain > 0.0 { 2 } else { 1 };
            self.longest *= tuning::growth::STEP_SHARE_AFTER_FAILURE;
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
        let room = MOST_COMPONENTS.saturating_sub(survivors.q.n_components());
        if n_modes > 0 {
            at.q = survivors.q;
            return Ok(false);
        }
        let gap = self.gap(judged);
        if self.is_enough(gap, at.gap_before) || room == 0 || at.failures >= tuning::growth::FAILED_ROUNDS {
            at.q = survivors.q;
            return Ok(true);
        }
        // The nearer the goal, the fewer components are missing.
        let excess = gap / (0.5 * self.plan.stop.remaining_nats) - 1.0;
        let births = (excess * survivors.q.n_components() as f64).clamp(1.0, room as f64);
        at.q = judged.split(&survivors, births as usize, self.pool.as_ref());
        at.gap_before = gap;
        Ok(false)
    }

    /// The error of a bound that is good enough, where draws that judge it are a part of what it costs.
    fn judged_error(&self) -> Option<f64> {
        self.pool.is_some().then_some(tuning::growth::JUDGED_ERROR * self.plan.stop.remaining_nats)
    }

    /// The gap between the bound and log Z, by fresh draws or by all of the pool, whichever sees more.
    fn gap(&self, judged: &Judged) -> f64 {
        let by_pool = self.pool.as_ref().map(|pool| pool.log_normaliser() - judged.elbo.value);
        by_pool.filter(|gap| gap.is_finite()).map_or(judged.gap.value, |gap| gap.max(judged.gap.value))
    }

    /// Whether fresh draws find less than the pool that the mixture was fitted to.
    fn is_promised_too_much(&self, judged: &Judged) -> bool {
        let too_much = self.promised - judged.elbo.value;
        let some = tuning::growth::PROMISED_SHARE * judged.gap.value;
        too_much > (2.0 * judged.elbo.mcse).max(some).max(self.resolution())
    }

    /// Draws of a step with which its noise is bearable.
    fn draws_for(&self, judged: &Judged) -> usize {
        let wanted =
            self.boost as f64 * judged.noise() / (tuning::growth::NOISE_PER_COORDINATE * judged.q.dim() as f64);
        let most = self.plan.max_draws.max(self.plan.n_draws);
        (wanted as usize).next_power_of_two().max(self.boost * self.plan.n_draws).min(most)
    }

    /// What fresh draws say about `q`; ends a round.
    fn judge(&mut self, q: Approximation) -> Result<Judged, Error> {
        let seed = self.round_seed();
        let error = self.judged_error();
        let judged = Judged::new(&mut self.evaluator, q, seed, error)?;
        self.fit.counts += self.evaluator.take_counts();
        match &mut self.pool {
            Some(pool) => judged.join(pool),
            None => self.evaluator.remember_values(&judged.draws, &judged.log_p),
        }
        if let Some(step) = self.fit.last_step_mut().filter(|step| step.remaining.is_none()) {
            step.remaining = Some((judged.gap.value, judged.gap.mcse));
        }
        self.rounds.push(Round {
            components: judged.q.n_components(),
            elbo: judged.elbo,
            gap: judged.gap,
            pareto_k: judged.pareto_k,
            counts: self.fit.counts,
        });
        Ok(judged)
    }
}
