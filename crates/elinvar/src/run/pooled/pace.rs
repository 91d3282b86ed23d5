//! What a run from a pool decides: how long its steps are, when the pool is fitted, when the run ends.

use serde::{Deserialize, Serialize};

use crate::plan::Plan;
use crate::record::StopReason;
use crate::tuning::pace::LOST_STEPS;
use crate::tuning::pooled as tuned;

/// How far a run goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Until {
    /// Until the mixture fits the pool: a round of a growing mixture, whose judge it has elsewhere.
    Fitted,
    /// Until fresh draws confirm it.
    Judged,
}

/// What the run has learned about its steps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Pace {
    pub(super) until: Until,
    pub(super) step: u64,
    pub(super) beta: f64,
    /// Steps in a row that found little left to gain, and steps since the last look with fresh draws.
    quiet: u32,
    since: u32,
    /// The bound at the first step of the present window, and its steps so far.
    #[serde(default)]
    bound: f64,
    #[serde(default)]
    window: u32,
    /// Looks with fresh draws.
    pub(super) looks: u32,
    /// Those in a row that found the mixture good.
    #[serde(default)]
    good: u32,
    /// Steps in a row in which draws did not cover every component.
    pub(super) short: u32,
    pub(super) wild: bool,
    converged: bool,
    lost: bool,
}

impl Pace {
    pub(super) fn new(until: Until) -> Self {
        Self {
            until,
            step: 0,
            beta: 1.0,
            quiet: 0,
            since: 0,
            bound: f64::MIN,
            window: 0,
            looks: 0,
            good: 0,
            short: 0,
            wild: false,
            converged: false,
            lost: false,
        }
    }

    /// Whether the mixture fits the pool, now that so much is left to gain there and its bound is `bound`: where there
    /// is nothing, or where many steps have not raised the bound. With new points bounds cannot be compared.
    pub(super) fn has_fitted(&mut self, left: f64, bound: f64, has_new_points: bool, tolerance: f64) -> bool {
        self.since += 1;
        self.window += 1;
        self.quiet = if left < tuned::FITTED_SHARE * tolerance { self.quiet + 1 } else { 0 };
        let is_over = self.window > tuned::WINDOW;
        let stands = is_over && !has_new_points && bound - self.bound < tuned::RISE * tolerance;
        if has_new_points || is_over || self.window == 1 {
            (self.bound, self.window) = (bound, 1);
        }
        let most = if self.until == Until::Fitted { tuned::MOST_STEPS_OF_A_ROUND } else { tuned::MOST_STEPS };
        let fitted = self.quiet >= tuned::FITTED_STEPS || stands || self.since > most;
        self.converged = fitted && self.until == Until::Fitted;
        fitted
    }

    /// A look with fresh draws has come to an end.
    pub(super) fn after_look(&mut self, is_good: bool, lost: f64) {
        self.looks += 1;
        (self.quiet, self.since, self.window) = (0, 0, 0);
        self.lost = lost > tuned::LOST_SHARE;
        self.good = if is_good { self.good + 1 } else { 0 };
        self.converged = self.good >= tuned::GOOD_LOOKS && !self.lost;
    }

    pub(super) fn reason_to_stop(&self, plan: &Plan) -> Option<StopReason> {
        if self.converged {
            Some(StopReason::Converged)
        } else if self.lost || self.wild || self.short >= LOST_STEPS || self.looks >= tuned::MOST_LOOKS {
            Some(StopReason::Stagnated)
        } else if self.step >= plan.stop.max_steps {
            Some(StopReason::MaxSteps)
        } else {
            None
        }
    }

    /// What cannot be in a pace that a run has kept.
    pub(super) fn problem(&self) -> Option<&'static str> {
        match () {
            () if self.step > u64::MAX / 4 => Some("its steps cannot be"),
            () if [self.quiet, self.since, self.window, self.looks, self.good, self.short]
                .iter()
                .any(|n| *n > u32::MAX / 4) =>
            {
                Some("its steps cannot be")
            }
            () if !(self.beta > 0.0 && self.beta <= 1.0) => Some("the length of its steps cannot be"),
            () => None,
        }
    }
}
