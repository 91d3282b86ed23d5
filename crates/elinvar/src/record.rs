//! The record of a fit: its steps, what they cost, why it ended, what several starts and families said.

use serde::{Deserialize, Serialize};

use crate::family::Family;

/// A Monte Carlo estimate with its standard error, as in [`Diagnostics`](crate::Diagnostics) and
/// [`Answer`](crate::Answer).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The estimate.
    pub value: f64,
    /// Its Monte Carlo standard error.
    pub mcse: f64,
}

impl Estimate {
    /// An estimate whose error, where it overflows or does not exist, is the largest number: files know no infinity.
    pub(crate) fn new(value: f64, mcse: f64) -> Self {
        if value.is_nan() {
            return Self { value: 0.0, mcse: f64::MAX };
        }
        Self { value: value.clamp(-f64::MAX, f64::MAX), mcse: if mcse.is_finite() { mcse } else { f64::MAX } }
    }

    /// Whether there is an error, which the largest number stands for the lack of.
    pub(crate) fn is_known(&self) -> bool {
        self.value.abs() < f64::MAX && self.mcse < f64::MAX
    }
}

impl std::fmt::Display for Estimate {
    /// `1.523 ± 0.012`: two digits of the error and at most six decimals, or as many as are asked for (`{:.1}`); the
    /// value alone where there is no error.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let own = if self.mcse > 0.0 { (1.0 - self.mcse.log10().floor()).clamp(0.0, 6.0) as usize } else { 6 };
        let decimals = f.precision().unwrap_or(own);
        if self.is_known() {
            write!(f, "{:.decimals$} ± {:.decimals$}", self.value, self.mcse)
        } else {
            write!(f, "{}", self.value)
        }
    }
}

/// How often the target was asked, by what it was asked for: [`Posterior::counts`](crate::Posterior::counts).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Points at which log p was evaluated.
    pub log_density: u64,
    /// Points at which ∇log p was evaluated. The gradients of all items at a point are one evaluation more: they cost a
    /// pass over the data, as the gradient of their sum does.
    pub gradient: u64,
    /// Points at which ∇²log p, or a Gauss–Newton matrix in its place, was evaluated.
    pub hessian: u64,
    /// Points that were dropped because something was not finite there.
    pub dropped: u64,
}

impl Counts {
    /// Whether a fit can have counted so far, and can go on counting.
    pub(crate) fn are_plausible(&self) -> bool {
        [self.log_density, self.gradient, self.hessian, self.dropped].iter().all(|count| *count <= u64::MAX / 4)
    }
}

impl std::ops::AddAssign for Counts {
    fn add_assign(&mut self, other: Counts) {
        self.log_density += other.log_density;
        self.gradient += other.gradient;
        self.hessian += other.hessian;
        self.dropped += other.dropped;
    }
}

impl Counts {
    /// What was added since `before`.
    pub(crate) fn since(self, before: Counts) -> Self {
        Self {
            log_density: self.log_density - before.log_density,
            gradient: self.gradient - before.gradient,
            hessian: self.hessian - before.hessian,
            dropped: self.dropped - before.dropped,
        }
    }
}

/// Which bound a fit climbs and its trace holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Bound {
    /// E[log p(z) − log q(z)].
    #[default]
    Elbo,
    /// E[log p(z, w) − log q(z, w)], with a t prior that shares w with the approximation (mathematics §2.2). It is
    /// never above the other.
    JointElbo,
}

impl std::fmt::Display for Bound {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Bound::Elbo => "elbo",
            Bound::JointElbo => "joint_elbo",
        })
    }
}

/// One step of a run, as [`Fit::observe`](crate::Fit::observe) shows it and
/// [`Posterior::trace`](crate::Posterior::trace) keeps it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// Index of the step, from 0.
    pub index: u64,
    /// The bound before the step, estimated from its draws.
    pub elbo: Option<f64>,
    /// Its Monte Carlo standard error, as if the draws were independent.
    pub elbo_se: Option<f64>,
    /// β of the schedule.
    pub beta: f64,
    /// The smallest β that a block took; smaller than `beta` after halving or by the KL bound, 0 if a block stayed.
    pub taken: f64,
    /// KL(q_new ‖ q) of the step in nats, for a mixture that of the joint with what is mixed over; `None` where the
    /// rule has no bound on it.
    #[serde(default)]
    pub kl: Option<f64>,
    /// Estimated remaining gain in nats with its standard error, where it is known.
    pub remaining: Option<(f64, f64)>,
    /// Draws dropped in this step.
    pub dropped: u64,
    /// Draws per component in this step.
    pub n_draws: usize,
    /// Number of components of the approximation.
    #[serde(default = "one")]
    pub components: usize,
    /// Which bound `elbo` and `remaining` are about.
    #[serde(default)]
    pub bound: Bound,
    /// Evaluations so far.
    pub counts: Counts,
    /// Seconds so far.
    pub seconds: f64,
}

impl Step {
    /// The bound before the step with its Monte Carlo standard error, where its draws could be evaluated.
    pub fn estimate(&self) -> Option<Estimate> {
        self.elbo.map(|value| Estimate::new(value, self.elbo_se.unwrap_or(f64::MAX)))
    }
}

impl std::fmt::Display for Step {
    /// `step 120: ELBO -1.523 ± 0.012, β 0.1`, with the β that was taken.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.estimate() {
            Some(elbo) => write!(f, "step {}: ELBO {elbo}, β {}", self.index, self.taken),
            None => write!(f, "step {}: left out, too few of its draws could be evaluated", self.index),
        }
    }
}

/// What files from before mixtures could grow leave out.
fn one() -> usize {
    1
}

/// Why a run ended: [`Posterior::stop_reason`](crate::Posterior::stop_reason).
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
    /// It was close enough for chains to start from, and to go on would have cost more than they do.
    LeftToChains,
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
            StopReason::LeftToChains => "left_to_chains",
        }
    }

    /// What happened, as the one sentence for it on pages, in reports and in verdicts; it begins with a small letter
    /// and has no full stop.
    pub fn sentence(self) -> &'static str {
        match self {
            StopReason::Converged => "less than the tolerance was left to gain",
            StopReason::MaxSteps => "the limit of steps was reached",
            StopReason::MaxEvaluations => "the limit of evaluations was reached",
            StopReason::MaxSeconds => "the limit of time was reached",
            StopReason::Interrupted => "the run was interrupted",
            StopReason::BadEvaluations => "the log density was not finite at most draws of many steps in a row",
            StopReason::Stuck => "no step could be taken any more",
            StopReason::Stagnated => "the bound was no longer rising, and more draws did not help",
            StopReason::Diverged => "the approximation became wider or narrower without end",
            StopReason::LeftToChains => "chains cost less than the steps that were left",
        }
    }
}

impl std::fmt::Display for StopReason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// What a family of the ladder reached, bought and cost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rung {
    /// The family.
    pub family: Family,
    /// Its ELBO.
    pub elbo: Estimate,
    /// Its k̂, where it is known.
    pub pareto_k: Option<f64>,
    /// Its ELBO less that of the rung below, in nats; `None` for the first.
    pub gain: Option<Estimate>,
    /// Evaluations it took, those of its start and of its diagnostics included.
    pub counts: Counts,
    /// Seconds it took.
    pub seconds: f64,
    /// Whether it is the one that was kept.
    pub kept: bool,
}

/// A maximum of log p that a search ended at.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModeRecord {
    /// Where it is, a point of z.
    pub centre: Vec<f64>,
    /// log p there, the declared prior included.
    pub log_p: f64,
    /// Logarithm of its mass by Laplace's method, log p + (d/2) log 2π − ½ log|P| with P = −∇²log p; `None` where P is
    /// not positive definite or not known.
    pub log_mass: Option<f64>,
    /// How many searches ended there.
    pub found_by: usize,
}

/// What the starts of a fit found; nothing is known by default.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Agreement {
    /// The ELBO of each restart; empty if there was only one.
    pub restarts: Vec<Estimate>,
    /// Number of searches for modes.
    pub searches: usize,
    /// The different modes that the searches ended at.
    pub modes: Vec<ModeRecord>,
    /// Whether a search went up without end.
    pub unbounded: bool,
    /// Whether all that did so went up spikes, which hold the less the higher they are.
    pub emptying: bool,
}

impl Agreement {
    /// Adds what the searches of another start found; a mode within a thousandth of a nat and of its size is the same
    /// one.
    pub(crate) fn join(&mut self, other: &Agreement) {
        self.searches += other.searches;
        self.emptying = (self.emptying || !self.unbounded) && (other.emptying || !other.unbounded);
        self.unbounded |= other.unbounded;
        self.join_modes(&other.modes);
    }

    /// Adds modes that were found elsewhere.
    pub(crate) fn join_modes(&mut self, modes: &[ModeRecord]) {
        for mode in modes {
            let same = |known: &&mut ModeRecord| {
                (known.log_p - mode.log_p).abs() < 1e-3
                    && known.centre.iter().zip(&mode.centre).all(|(a, b)| (a - b).abs() <= 1e-2 * (1.0 + a.abs()))
            };
            match self.modes.iter_mut().find(same) {
                Some(known) => known.found_by += mode.found_by,
                None => self.modes.push(mode.clone()),
            }
        }
    }
}

/// Where modes were looked for before an answer was trusted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Scan {
    /// Places at which log p was asked; none where it is known to be concave, so that there is no other mode.
    pub places: usize,
    /// How far away the farthest of them is, in standard deviations.
    pub reach: f64,
    /// Climbs from places that stood out.
    pub climbs: usize,
    /// Width of a mode, as a share of its distance, from which it is likely to be seen; unknown in many dimensions,
    /// where only modes are that are about as wide as the answer.
    pub finest: Option<f64>,
}

#[cfg(test)]
mod tests {
    use super::Estimate;

    #[test]
    fn an_estimate_is_printed_to_two_digits_of_its_error() {
        assert_eq!(Estimate::new(1.52345, 0.0123).to_string(), "1.523 ± 0.012");
        assert_eq!(Estimate::new(-1523.45, 12.3).to_string(), "-1523 ± 12");
        assert_eq!(format!("{:.1}", Estimate::new(1.52345, 0.0123)), "1.5 ± 0.0");
        assert_eq!(Estimate::new(2.0, f64::INFINITY).to_string(), "2");
        assert_eq!(Estimate::new(2.0, 0.0).to_string(), "2.000000 ± 0.000000");
    }
}
