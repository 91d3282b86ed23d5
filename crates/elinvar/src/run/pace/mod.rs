//! What decides: the length of the next step, when to look back, when to stop. Numbers in, numbers out.

mod radius;
mod remaining;
#[cfg(test)]
mod tests;
mod window;

pub(super) use remaining::Remaining;
pub(super) use window::{Findings, LookBack};

use serde::{Deserialize, Serialize};

use crate::family::StepRequest;
use crate::plan::{MOST_DRAWS, Plan, Stop};
use crate::record::{Estimate, StopReason};
use crate::rule::StepSize;
use crate::tuning::pace::LOST_STEPS;
use radius::Radius;
use window::Doubt;

/// What a run is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    /// Windows of steps with a review after each, until nothing is left to gain.
    Windows,
    /// So many steps, the later half of them averaged.
    Round { steps: u64 },
    /// As many steps as the plan allows and nothing else: no review, no average, no baseline.
    Plain,
}

/// The pace of a run: what it has learned about its steps, as plain data that knows no matrix.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Pace {
    kind: Kind,
    n_blocks: usize,
    dim: usize,
    /// Index of the next step.
    step: u64,
    /// Draws per component of the next step, and of the next review.
    n_draws: usize,
    review_draws: usize,
    /// The step at which the present window ends.
    review_at: u64,
    radius: Radius,
    /// Longest step that noise allows, and that retreats have left.
    reach: f64,
    longest: f64,
    /// What the last review and the one before it found.
    remaining: Option<Remaining>,
    previous: Option<Remaining>,
    /// Reviews in a row without a gain.
    idle: u32,
    /// Reviews in a row after which there was nothing to be had above the Gaussian that the family contains.
    #[serde(default)]
    beaten: u32,
    /// By how much the best state was above that Gaussian at the last review.
    #[serde(default)]
    lead: Option<Estimate>,
    /// What a review must show, given that.
    #[serde(default)]
    doubt: Doubt,
    /// Whether the run is not above that Gaussian and may still stand where its shift has no slope.
    #[serde(default)]
    lingers: bool,
    /// Steps in a row that were skipped for bad evaluations, or in which no block could move.
    skipped: u32,
    stuck: u32,
    wild: bool,
    /// −ELBO of the last step.
    baseline: Option<f64>,
    /// Variances of the start, by which divergence is judged.
    #[serde(deserialize_with = "null_is_infinite")]
    first_variances: Vec<f64>,
}

/// Some laws have no variance, and JSON has no infinity.
fn null_is_infinite<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<f64>, D::Error> {
    let values = Vec::<Option<f64>>::deserialize(deserializer)?;
    Ok(values.into_iter().map(|value| value.unwrap_or(f64::INFINITY)).collect())
}

impl Pace {
    /// The pace of a run of windows, from a start with `n_blocks` components, `dim` coordinates and these variances.
    pub(super) fn new(plan: &Plan, n_blocks: usize, dim: usize, first_variances: Vec<f64>) -> Self {
        let plain = plan.rule.printed().is_some();
        Self {
            kind: if plain { Kind::Plain } else { Kind::Windows },
            n_blocks,
            dim,
            step: 0,
            n_draws: plan.n_draws,
            review_draws: plan.n_draws,
            review_at: if plain { u64::MAX } else { window::first_review(n_blocks, plan.rule) },
            radius: Radius::new(plan.max_kl.unwrap_or(f64::MAX)),
            reach: 1.0,
            longest: 1.0,
            remaining: None,
            previous: None,
            idle: 0,
            beaten: 0,
            lead: None,
            doubt: Doubt::Usual,
            lingers: false,
            skipped: 0,
            stuck: 0,
            wild: false,
            baseline: None,
            first_variances,
        }
    }

    /// The same for so many steps, or as many of them as `stop` allows, and no review.
    pub(super) fn round(self, steps: u64, stop: &Stop) -> Self {
        let half = steps.min(stop.max_steps) / 2;
        Self { kind: Kind::Round { steps }, review_at: if half == 0 { u64::MAX } else { half }, ..self }
    }

    /// The same with steps that are no longer than `longest`.
    pub(super) fn at_most(self, longest: f64) -> Self {
        Self { longest, ..self }
    }

    /// Whether no limit cuts the run short: a round that one does is another round without it.
    pub(super) fn is_whole(&self, stop: &Stop) -> bool {
        match self.kind {
            Kind::Windows | Kind::Plain => true,
            Kind::Round { steps } => steps <= stop.max_steps,
        }
    }

    pub(super) fn is_round(&self) -> bool {
        matches!(self.kind, Kind::Round { .. })
    }

    /// Whether its steps are neither averaged nor judged.
    pub(super) fn is_plain(&self) -> bool {
        self.kind == Kind::Plain
    }

    /// Index of the next step.
    pub(super) fn step(&self) -> u64 {
        self.step
    }

    /// What cannot be in a pace that a run in `dim` coordinates has kept; draws and step are for the run to judge.
    pub(super) fn problem(&self, dim: usize) -> Option<&'static str> {
        let in_a_row = [self.idle, self.beaten, self.skipped, self.stuck];
        match () {
            () if self.dim != dim => Some("its pace has another number of coordinates"),
            () if self.review_draws == 0 || self.review_draws > MOST_DRAWS => {
                Some("the draws of its reviews cannot be")
            }
            () if self.n_blocks == 0 || in_a_row.iter().any(|n| *n > u32::MAX / 4) => Some("its pace cannot be"),
            () => None,
        }
    }

    /// Draws per component of the next step.
    pub(super) fn n_draws(&self) -> usize {
        self.n_draws
    }

    /// Draws per component of the next review.
    pub(super) fn review_draws(&self) -> usize {
        self.review_draws
    }

    /// Whether the run finds the length of its steps by itself.
    fn learns(plan: &Plan) -> bool {
        plan.step_size == StepSize::Auto && plan.max_kl.is_some()
    }

    fn longest(&self, plan: &Plan) -> f64 {
        if Self::learns(plan) { self.reach.min(self.longest) } else { f64::INFINITY }
    }

    /// The step whose noise the next one takes.
    pub(super) fn noise(&self, plan: &Plan) -> u64 {
        if Self::learns(plan) { Radius::noise_of(self.step) } else { self.step }
    }

    /// β of the next step.
    pub(super) fn beta(&self, plan: &Plan) -> f64 {
        plan.step_size.at(self.step).min(self.longest(plan))
    }

    /// What the next step is asked to do, after its draws have given the bound `elbo`.
    pub(super) fn wanted(&mut self, plan: &Plan, elbo: Option<f64>) -> StepRequest {
        let learns = Self::learns(plan);
        if let Some(value) = elbo.filter(|_| learns) {
            self.radius.observe(self.step, value);
        }
        StepRequest {
            rule: plan.rule,
            beta: self.beta(plan),
            mixing_beta: plan.mixing_step_size.at(self.step).min(self.longest(plan)),
            max_kl: if learns { Some(self.radius.value()) } else { plan.max_kl },
        }
    }

    /// The mean of h = log q − log p that a batch with the bound `elbo` is measured from: that of the step before. The
    /// first batch has to lend its own. None in a plain run.
    pub(super) fn baseline(&mut self, elbo: f64) -> f64 {
        if self.is_plain() {
            return 0.0;
        }
        *self.baseline.get_or_insert(if elbo.is_finite() { -elbo } else { 0.0 })
    }

    /// A step was taken, of which the block that moved farthest took `largest`.
    pub(super) fn after_step(&mut self, elbo: Option<f64>, largest: f64) {
        self.step += 1;
        self.baseline = elbo.map(|value| -value);
        self.skipped = 0;
        self.stuck = if largest > 0.0 { 0 } else { self.stuck + 1 };
    }

    /// A step was left out, because its draws could not be evaluated.
    pub(super) fn skip(&mut self) {
        self.step += 1;
        self.skipped += 1;
    }

    /// Why there should be no other step, limits of evaluations and time aside.
    pub(super) fn reason_to_stop(&self, plan: &Plan) -> Option<StopReason> {
        if let Some(reason) = self.reason_of_reviews(plan) {
            Some(reason)
        } else if self.wild {
            Some(StopReason::Diverged)
        } else if self.skipped >= LOST_STEPS {
            Some(StopReason::BadEvaluations)
        } else if self.stuck >= LOST_STEPS {
            Some(StopReason::Stuck)
        } else if self.step >= plan.stop.max_steps {
            Some(StopReason::MaxSteps)
        } else if matches!(self.kind, Kind::Round { steps } if self.step >= steps) {
            Some(StopReason::Converged)
        } else {
            None
        }
    }
}
