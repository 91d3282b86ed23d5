//! The look back after a window of steps, and the plan of the next.

use serde::{Deserialize, Serialize};

use super::{Pace, Remaining};
use crate::plan::Plan;
use crate::record::{Estimate, StopReason};
use crate::rule::Rule;
use crate::tuning::contained::{
    CLEAR_ERRORS, DEAR, FEWEST_GRADIENTS, LAST_PATIENCE, LITTLE, PATIENCE, REVIEWS, VERY_DEAR,
};
use crate::tuning::pace::{
    CYCLING_GAIN, FEWEST_STEPS_OF_A_MIXTURE, FEWEST_STEPS_OF_COMPONENTS, FEWEST_UNHURRIED_STEPS,
    FIRST_UNHURRIED_WINDOW, FIRST_WINDOW, IDLE_REVIEWS, MOST_REVIEW_DRAWS, NOISE_PER_COORDINATE, NOISE_SHARE, RETREAT,
    REVIEW_BATCHES, WILD_SCALE,
};

/// What fresh batches say about a state.
#[derive(Clone, Copy, Debug)]
pub(in crate::run) struct Findings {
    pub(in crate::run) elbo: f64,
    pub(in crate::run) elbo_se: f64,
    pub(in crate::run) remaining: Remaining,
    /// ½ E|g − E g|² in the Fisher metric for a single draw: the noise of steps.
    pub(in crate::run) energy: f64,
}

impl Findings {
    /// By how much the bound is higher than `elbo` with its error, and the error of that.
    fn gain_over(&self, (elbo, error): (f64, f64)) -> (f64, f64) {
        (self.elbo - elbo, self.elbo_se.hypot(error))
    }

    /// Whether the bound is clearly lower than `elbo` with its error.
    pub(in crate::run) fn is_worse_than(&self, best: (f64, f64)) -> bool {
        let (elbo, error) = best;
        self.elbo < elbo - 2.0 * self.elbo_se.hypot(error)
    }
}

/// By how much what is left to gain must be below the tolerance before it is believed: less where a run is above the
/// Gaussian that its family contains, and another review costs more than it can win.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Doubt {
    /// Two standard errors, in two reviews.
    #[default]
    Usual,
    /// One standard error, in one review.
    OneError,
    /// By the estimate alone, if its error is of the size of the tolerance.
    Mean,
}

impl Doubt {
    fn is_past(self, remaining: Remaining, tolerance: f64) -> bool {
        match self {
            Self::Usual => remaining.is_below(tolerance),
            Self::OneError => remaining.mean.abs() + remaining.error < tolerance,
            Self::Mean => remaining.mean.abs() < tolerance && remaining.error < 2.0 * tolerance,
        }
    }
}

/// What is to become of the state that was reviewed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::run) enum LookBack {
    /// It is the best so far.
    Best,
    /// The best before it is better, but not by much.
    NotBest,
    /// The bound has fallen, and the run, whose step sizes are given, goes on.
    Fallen,
    /// The bound has fallen: the run goes back to the best state, with shorter steps from now on.
    Retreat,
}

/// Steps before which a family of `n_blocks` components is not believed to have converged.
pub(super) fn fewest_steps(n_blocks: usize) -> u64 {
    if n_blocks == 1 { 0 } else { FEWEST_STEPS_OF_A_MIXTURE.max(FEWEST_STEPS_OF_COMPONENTS / n_blocks as u64) }
}

/// The step at which the first window ends.
pub(super) fn first_review(n_blocks: usize, rule: Rule) -> u64 {
    let first = if n_blocks > 1 { fewest_steps(n_blocks) / 4 } else { FIRST_WINDOW };
    if rule.is_unhurried() { first.max(FIRST_UNHURRIED_WINDOW) } else { first }
}

impl Pace {
    /// Whether the present window is full.
    pub(in crate::run) fn review_is_due(&self) -> bool {
        self.step >= self.review_at
    }

    /// The way to the new place, which is not part of a round's average, is over.
    pub(in crate::run) fn arrive(&mut self) {
        self.review_at = u64::MAX;
    }

    /// A review begins; two bounds are not compared across one with draws of another number.
    pub(in crate::run) fn begin_review(&mut self) {
        if self.review_draws != self.n_draws {
            self.radius.forget();
        }
    }

    /// Weighs what a review has found against the best bound so far, with its error.
    pub(in crate::run) fn look_back(&mut self, plan: &Plan, found: &Findings, best: Option<(f64, f64)>) -> LookBack {
        self.previous = self.remaining.replace(found.remaining);
        let Some((gain, error)) = best.map(|best| found.gain_over(best)) else {
            self.idle = 0;
            return LookBack::Best;
        };
        self.idle = if gain < 2.0 * error { self.idle + 1 } else { 0 };
        if gain < -3.0 * error {
            if !Self::learns(plan) {
                return LookBack::Fallen;
            }
            self.longest *= RETREAT;
            self.radius.forget();
            LookBack::Retreat
        } else if gain < -2.0 * error {
            LookBack::NotBest
        } else {
            LookBack::Best
        }
    }

    /// Sets the draws and the length of the coming steps, and the draws of the next review: more draws where noise, not
    /// the distance to the optimum, limits the fit. From the present state the bound may still rise by `gain_factor`
    /// times ½ gᵀF⁻¹g.
    pub(in crate::run) fn plan_steps(&mut self, plan: &Plan, found: &Findings, was: LookBack, gain_factor: f64) {
        // The bound no longer rises, nor does it fall.
        let steady = self.idle > 0 && matches!(was, LookBack::Best | LookBack::NotBest);
        let tolerance = plan.stop.remaining_nats;
        let remaining = found.remaining;
        let most = plan.max_draws.max(plan.n_draws);
        let tolerable = NOISE_PER_COORDINATE * self.dim as f64;
        let noise = found.energy / self.n_draws as f64;
        let resolved = remaining.mean > 3.0 * remaining.error;
        let stagnant = resolved && self.previous.is_some_and(|previous| remaining.mean > 0.7 * previous.mean);
        // A gain that is there, does not shrink, and is smaller than the noise: the bias that noise leaves in averages.
        let hidden =
            stagnant && self.is_old_enough() && !remaining.is_below(tolerance) && noise > remaining.mean / gain_factor;
        // The noise of a whole natural-gradient step is not that of a step of a few thousandths.
        let noisy = noise > tolerable && !plan.rule.is_unhurried();
        if (hidden || noisy) && plan.minibatch.is_none() && 2 * self.n_draws <= most {
            self.n_draws *= 2;
            self.radius.forget();
            self.idle = 0;
        } else if stagnant && steady && remaining.mean > CYCLING_GAIN * tolerance {
            // Steps that jump back and forth across the optimum.
            self.longest *= RETREAT;
        }
        // Steps β with noise ν settle about νβ/(2 − β) below the optimum.
        let ratio = NOISE_SHARE * tolerable * self.n_draws as f64 / found.energy;
        self.reach = if ratio.is_finite() { (2.0 * ratio / (1.0 + ratio)).clamp(0.01, 1.0) } else { 1.0 };
        self.review_draws = self.review_draws.max(self.n_draws);
        let unresolved = !resolved && !remaining.is_below(tolerance);
        if unresolved && 2 * self.review_draws <= MOST_REVIEW_DRAWS * most {
            self.review_draws *= 2;
            self.idle = 0;
        }
    }

    /// Weighs by how much the bound is above that of the Gaussian that the family contains, whose fit took so many
    /// gradients besides those of the run. The run ends where all that is left to gain would not lift it above the
    /// Gaussian by the tolerance, and where it has cost many times as much, is not above it yet and has little left to
    /// gain. A family with a shift is not believed to have nothing left before that: without a shift its bound has no
    /// slope along one (mathematics §3.5).
    pub(in crate::run) fn weigh_contained(
        &mut self,
        plan: &Plan,
        lead: Estimate,
        (gradients, gradients_of_gaussian): (u64, u64),
        is_shifted: bool,
    ) {
        let is_above = lead.value > 2.0 * lead.mcse;
        let after = |times: u64| gradients > times * gradients_of_gaussian.max(FEWEST_GRADIENTS);
        self.lead = Some(lead);
        self.doubt = match () {
            () if !is_above => Doubt::Usual,
            () if after(VERY_DEAR) => Doubt::Mean,
            () if after(DEAR) => Doubt::OneError,
            () => Doubt::Usual,
        };
        self.lingers = is_shifted && !is_above && !after(PATIENCE);
        let (Some(remaining), Some(_)) = (self.remaining, self.previous) else { return };
        let left = remaining.mean.max(0.0) + 2.0 * remaining.error;
        let (tolerance, hope) = (plan.stop.remaining_nats, lead.value + left);
        let nothing = hope < tolerance && !self.lingers;
        // Who tolerates nothing wants all steps.
        let in_any_case = after(LAST_PATIENCE) && tolerance > 0.0;
        let dear = !is_above && (after(PATIENCE) && hope < LITTLE * tolerance || in_any_case);
        self.beaten = if nothing || dear { self.beaten + 1 } else { 0 };
        if dear {
            self.beaten = REVIEWS;
        }
    }

    /// Whether a run has taken so many times the gradients of the Gaussian that it should be above it by now.
    pub(in crate::run) fn is_late(gradients: u64, gradients_of_gaussian: u64) -> bool {
        gradients > PATIENCE * gradients_of_gaussian.max(FEWEST_GRADIENTS)
    }

    /// Whether the last review has found so little left that the run would end, were it above the Gaussian.
    pub(in crate::run) fn would_end(&self, plan: &Plan) -> bool {
        let tolerance = plan.stop.remaining_nats;
        self.previous.is_some() && self.remaining.is_some_and(|remaining| Doubt::OneError.is_past(remaining, tolerance))
    }

    /// Whether the last review has found less than the tolerance to be left.
    pub(in crate::run) fn has_little_left(&self, plan: &Plan) -> bool {
        let tolerance = plan.stop.remaining_nats;
        self.remaining.is_some_and(|remaining| self.doubt.is_past(remaining, tolerance))
    }

    /// By how much the best state was above that Gaussian at the last review, if that is clear: few draws of a heavy
    /// tail know neither a small difference nor its error.
    pub(in crate::run) fn clear_lead(&self, plan: &Plan) -> Option<Estimate> {
        let least = LITTLE * plan.stop.remaining_nats;
        self.lead.filter(|lead| lead.value.abs() > (CLEAR_ERRORS * lead.mcse).max(least))
    }

    /// Sets the end of the next window.
    pub(in crate::run) fn open_window(&mut self) {
        // A review costs as much as this many steps; it should not cost more than what it reviews.
        let cost = (REVIEW_BATCHES * self.review_draws).div_ceil(self.n_draws) as u64;
        let young = self.n_blocks > 1 && !self.is_old_enough();
        let length = if young { self.step } else { 2 * self.step / 5 };
        self.review_at = self.step + length.max(FIRST_WINDOW / 2).max(cost);
    }

    /// Looks at the variances of the state; those that must exist and do not are wild, too.
    pub(in crate::run) fn watch_widths(&mut self, variances: &[f64], must_exist: bool) {
        // Some laws of positive numbers have no variance, and are not wild for that.
        let exists = |variance: f64| variance.is_finite() || must_exist;
        self.wild = self.first_variances.iter().zip(variances).any(|(first, now)| {
            let ratio = (now / first).sqrt();
            exists(*first) && exists(*now) && !(ratio < WILD_SCALE && ratio > 1.0 / WILD_SCALE)
        });
    }

    /// The reason to stop that reviews have given.
    pub(super) fn reason_of_reviews(&self, plan: &Plan) -> Option<StopReason> {
        let tolerance = plan.stop.remaining_nats;
        let (remaining, previous) = (self.remaining?, self.previous?);
        let agreed = previous.mean < tolerance + 3.0 * previous.error;
        if remaining.is_below(tolerance) && agreed && self.is_old_enough() && !self.lingers {
            return Some(StopReason::Converged);
        }
        if self.beaten >= REVIEWS || self.doubt != Doubt::Usual && self.doubt.is_past(remaining, tolerance) {
            return Some(StopReason::Converged);
        }
        let young = plan.rule.is_unhurried() && self.step < FEWEST_UNHURRIED_STEPS;
        let exhausted = (2 * self.n_draws > plan.max_draws || plan.minibatch.is_some()) && !young;
        (self.idle >= IDLE_REVIEWS && exhausted).then_some(StopReason::Stagnated)
    }

    /// The remaining gain of the last review with its standard error.
    pub(in crate::run) fn last_remaining(&self) -> Option<(f64, f64)> {
        self.remaining.map(|remaining| (remaining.mean, remaining.error))
    }

    fn is_old_enough(&self) -> bool {
        self.step >= fewest_steps(self.n_blocks)
    }
}
