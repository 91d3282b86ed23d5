//! When a run ends, and why it did.

use serde::{Deserialize, Serialize};

use crate::Error;

/// Limits of a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Stop {
    /// Converged when the estimated remaining gain of the bound, in nats, is below this with two standard errors to spare.
    pub remaining_nats: f64,
    /// At most this many steps.
    pub max_steps: u64,
    /// At most about this many gradients.
    pub max_evaluations: u64,
    /// At most about this many seconds, if anything; the only limit that depends on the machine.
    pub max_seconds: Option<f64>,
}

impl Default for Stop {
    fn default() -> Self {
        Self { remaining_nats: 0.01, max_steps: 3_000, max_evaluations: 100_000_000, max_seconds: None }
    }
}

impl Stop {
    pub(super) fn check(&self) -> Result<(), Error> {
        let refuse = |parameter, value, reason| Err(Error::Domain { parameter, value, reason });
        if !self.remaining_nats.is_finite() || self.remaining_nats < 0.0 {
            return refuse(
                "stop.remaining_nats",
                self.remaining_nats,
                "the tolerance is a number of nats, zero or more",
            );
        }
        if let Some(seconds) = self.max_seconds
            && (!seconds.is_finite() || seconds < 0.0)
        {
            return refuse("stop.max_seconds", seconds, "the limit is a number of seconds, zero or more");
        }
        Ok(())
    }
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum StopReason {
    /// The estimated remaining gain fell below the tolerance.
    Converged,
    /// `max_steps` was reached.
    MaxSteps,
    /// `max_evaluations` was reached.
    MaxEvaluations,
    /// `max_seconds` was reached.
    MaxSeconds,
    /// An observer asked for it.
    Interrupted,
    /// Most evaluations of several steps in a row were not finite.
    BadEvaluations,
    /// No step of several in a row could be taken.
    Stuck,
    /// The bound was no longer rising, and more draws did not help.
    Stagnated,
    /// The widths of the approximation left every plausible range.
    Diverged,
}

impl StopReason {
    /// The word for it in files and output.
    pub fn name(self) -> &'static str {
        match self {
            StopReason::Converged => "converged",
            StopReason::MaxSteps => "max_steps",
            StopReason::MaxEvaluations => "max_evaluations",
            StopReason::MaxSeconds => "max_seconds",
            StopReason::Interrupted => "interrupted",
            StopReason::BadEvaluations => "bad_evaluations",
            StopReason::Stuck => "stuck",
            StopReason::Stagnated => "stagnated",
            StopReason::Diverged => "diverged",
        }
    }
}

impl std::fmt::Display for StopReason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}
