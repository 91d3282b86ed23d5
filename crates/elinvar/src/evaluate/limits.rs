//! How much may be asked, and for how long: the limits of a plan, but for that of steps.

use std::time::Instant;

use crate::estimate::Curvature;
use crate::plan::Plan;
use crate::record::{Counts, StopReason};

/// Seconds that have passed, those before a fit was continued included.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    before: f64,
    /// When it was started; `None` once it stands.
    started: Option<Instant>,
}

impl Clock {
    /// A clock that shows so many seconds.
    pub(crate) fn at(seconds: f64) -> Self {
        Self { before: seconds, started: Some(Instant::now()) }
    }

    /// A clock that shows so many seconds for ever.
    pub(crate) fn stopped_at(seconds: f64) -> Self {
        Self { before: seconds, started: None }
    }

    pub(crate) fn seconds(&self) -> f64 {
        self.before + self.started.map_or(0.0, |started| started.elapsed().as_secs_f64())
    }
}

/// Limits of evaluations and of time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    evaluations: u64,
    seconds: Option<f64>,
    /// Whether values are limited, because no gradients are asked for.
    of_values: bool,
}

impl Limits {
    /// No limit.
    pub(crate) const NONE: Self = Self { evaluations: u64::MAX, seconds: None, of_values: false };

    /// Those of a plan whose automatic choices are made.
    pub(crate) fn of(plan: &Plan) -> Self {
        Self {
            evaluations: plan.stop.max_evaluations,
            seconds: plan.stop.max_seconds,
            of_values: plan.curvature == Curvature::GradientFree,
        }
    }

    /// What is left of them once so much was asked.
    pub(crate) fn after(self, counts: Counts) -> Self {
        Self { evaluations: self.evaluations.saturating_sub(self.limited(counts)), ..self }
    }

    /// The evaluations that `max_evaluations` limits: gradients, or values where there are no gradients.
    pub(crate) fn limited(&self, counts: Counts) -> u64 {
        if self.of_values { counts.log_density } else { counts.gradient }
    }

    /// The limit that was reached, if one was.
    pub(crate) fn reached(&self, counts: Counts, clock: Clock) -> Option<StopReason> {
        if self.limited(counts) >= self.evaluations {
            Some(StopReason::MaxEvaluations)
        } else if self.seconds.is_some_and(|limit| clock.seconds() >= limit) {
            Some(StopReason::MaxSeconds)
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Stop;

    #[test]
    fn what_is_limited_is_what_is_asked_for() {
        let stop = Stop { max_evaluations: 10, max_seconds: Some(3.0), ..Stop::default() };
        let limits = Limits::of(&Plan { stop, ..Plan::default() });
        let (early, late) = (Clock::stopped_at(1.0), Clock::stopped_at(3.0));
        let asked = |log_density, gradient| Counts { log_density, gradient, ..Counts::default() };
        assert_eq!(limits.reached(asked(50, 9), early), None);
        assert_eq!(limits.reached(asked(50, 10), late), Some(StopReason::MaxEvaluations));
        assert_eq!(limits.reached(asked(50, 9), late), Some(StopReason::MaxSeconds));
        assert_eq!(limits.after(asked(0, 4)).reached(asked(0, 6), early), Some(StopReason::MaxEvaluations));
        let values = Limits::of(&Plan { stop, curvature: Curvature::GradientFree, ..Plan::default() });
        assert_eq!(values.reached(asked(10, 0), early), Some(StopReason::MaxEvaluations));
        assert_eq!(Limits::NONE.reached(asked(u64::MAX - 1, u64::MAX - 1), late), None);
    }
}
