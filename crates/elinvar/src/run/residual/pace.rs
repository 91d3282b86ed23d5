//! What a run by residual scores decides from the numbers of a batch: how many draws, how long a step, when to stop.

use serde::{Deserialize, Serialize};

use crate::linalg::dot;
use crate::plan::{MOST_DRAWS, Plan};
use crate::record::StopReason;
use crate::tuning::pace::{IDLE_REVIEWS, LOST_STEPS};
use crate::tuning::residual as tuned;

/// Where the correction of the precision comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Source {
    /// Gradients alone.
    LeastChange,
    /// Sums of Hessians over draws.
    Hessians,
    /// Exact expectations, without draws.
    Expectations,
}

/// The squared norm of an estimate, as it is and rid of its noise.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Norm {
    pub(super) raw: f64,
    pub(super) signal: f64,
}

impl Norm {
    /// The part of the estimate that is worth a step.
    fn share(self) -> f64 {
        if self.raw > 0.0 { (self.signal / self.raw).clamp(tuned::SMALLEST_SHARE, 1.0) } else { 1.0 }
    }

    pub(super) fn noise(self) -> f64 {
        self.raw - self.signal
    }
}

/// What one batch says about the state that it was drawn from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Findings {
    /// Of the gradient in the mean.
    pub(super) mean: Norm,
    /// Of what the precision has wrong.
    pub(super) scale: Norm,
    /// Pairs of mirrored draws that were kept.
    pub(super) n_pairs: usize,
    /// Pairs that were lost because the density was not finite at one of them.
    pub(super) n_lost: usize,
    /// Whether there were enough draws for a regression on every coordinate.
    pub(super) is_determined: bool,
}

impl Findings {
    /// ½|a|² + ¼‖B‖², the nats left to gain to second order, without noise.
    pub(super) fn remaining(&self) -> f64 {
        0.5 * self.mean.signal.max(0.0) + 0.25 * self.scale.signal.max(0.0)
    }

    /// The noise of the same sum.
    pub(super) fn noise(&self) -> f64 {
        0.5 * self.mean.noise() + 0.25 * self.scale.noise()
    }

    /// The standard error of the nats left: the noise of the squares of so many numbers.
    pub(super) fn error(&self, dim: usize) -> f64 {
        let d = dim as f64;
        let independent = if self.is_determined { 0.5 * d * (d + 1.0) } else { (self.n_pairs * self.n_pairs) as f64 };
        self.noise().max(0.0) * (2.0 / independent).sqrt()
    }

    /// |a|² + ½‖B‖² without noise, by which successive gradients are compared.
    fn signal(&self) -> f64 {
        let raw = self.mean.raw + 0.5 * self.scale.raw;
        let signal = self.mean.signal.max(0.0) + 0.5 * self.scale.signal.max(0.0);
        signal.max(0.1 * raw).max(f64::MIN_POSITIVE)
    }
}

/// The whitened gradient of the step before, a and then B, and the step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Before {
    gradient: Vec<f64>,
    signal: f64,
    mean_signal: f64,
    noise: f64,
    length: f64,
}

impl Before {
    /// a·a′ and a·a′ + ½ B·B′.
    fn products(&self, dim: usize, now: &[f64]) -> (f64, f64) {
        let mean = dot(&now[..dim], &self.gradient[..dim]);
        (mean, mean + 0.5 * dot(&now[dim..], &self.gradient[dim..]))
    }
}

/// How much of what was found the next step takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Lengths {
    pub(super) mean: f64,
    pub(super) scale: f64,
}

/// What the run has learned about its steps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Pace {
    dim: usize,
    source: Source,
    step: u64,
    n_pairs: usize,
    /// Damping of all steps.
    beta: f64,
    /// Draws of the last steps, one after the other, that found too little left to go on.
    passed: usize,
    /// Steps in a row that were skipped, and that brought nothing with as many draws as there may be.
    skipped: u32,
    idle: u32,
    least: Option<f64>,
    converged: bool,
    wild: bool,
    before: Option<Before>,
}

impl Pace {
    pub(super) fn new(dim: usize, source: Source, plan: &Plan) -> Self {
        let enough = if source != Source::LeastChange {
            tuned::FEWEST_PAIRS
        } else if dim <= tuned::FEW_COORDINATES {
            (dim + 1).max(tuned::FEWEST_PAIRS)
        } else {
            dim.div_ceil(tuned::FIRST_SHARE).max(2 * tuned::FEWEST_PAIRS)
        };
        Self {
            dim,
            source,
            step: 0,
            n_pairs: in_halves(source, enough.max(plan.n_draws.div_ceil(2))),
            beta: 1.0,
            passed: 0,
            skipped: 0,
            idle: 0,
            least: None,
            converged: false,
            wild: false,
            before: None,
        }
    }

    pub(super) fn source(&self) -> Source {
        self.source
    }

    /// What cannot be in a pace that a run in `dim` coordinates has kept.
    pub(super) fn problem(&self, dim: usize) -> Option<&'static str> {
        let most_passed = usize::MAX / 4;
        let most_in_a_row = u32::MAX / 4;
        match () {
            () if self.dim != dim => Some("it has another number of coordinates"),
            () if self.n_pairs == 0 || self.n_pairs > MOST_DRAWS.max(2 * (dim + 1)) => Some("its draws cannot be"),
            () if self.step > u64::MAX / 4 || self.passed > most_passed => Some("its steps cannot be"),
            () if self.skipped.max(self.idle) > most_in_a_row => Some("its steps cannot be"),
            () if !(self.beta > 0.0 && self.beta <= 1.0) => Some("the length of its steps cannot be"),
            () if self.before.as_ref().is_some_and(|before| before.gradient.len() != dim + dim * dim) => {
                Some("its gradient has another number of coordinates")
            }
            () => None,
        }
    }

    pub(super) fn step(&self) -> u64 {
        self.step
    }

    pub(super) fn n_pairs(&self) -> usize {
        self.n_pairs
    }

    pub(super) fn beta(&self) -> f64 {
        self.beta
    }

    /// Nats that may be left: those of the plan for every ten coordinates, where there is noise.
    fn tolerance(&self, plan: &Plan) -> f64 {
        if self.source == Source::Expectations {
            return plan.stop.remaining_nats;
        }
        plan.stop.remaining_nats * (self.dim as f64 / 10.0).max(1.0)
    }

    /// Whether the state that was judged is the answer.
    pub(super) fn judge(&mut self, plan: &Plan, found: &Findings, now: &[f64]) -> bool {
        let left = found.remaining() / self.curving(now) + found.error(self.dim);
        // What is lost at an edge is not part of what is left: such a state may be as good as any, and is not believed.
        let is_whole = found.n_lost as f64 <= tuned::LOST_SHARE * found.n_pairs as f64;
        let is_small = 2.0 * left < self.tolerance(plan);
        if is_small && is_whole {
            let was_passed = self.passed > 0;
            self.passed += 2 * found.n_pairs;
            let is_sharp = found.noise() < tuned::NO_NOISE * self.tolerance(plan);
            let enough = match self.source {
                Source::Hessians if is_sharp => tuned::DRAWS_TO_BELIEVE / 2,
                Source::LeastChange | Source::Hessians => tuned::DRAWS_TO_BELIEVE,
                Source::Expectations => 0,
            };
            // A few numbers may be small by chance; a second look at the next state is another chance.
            let is_seen_twice = was_passed || is_sharp || self.dim > tuned::FEW_COORDINATES;
            self.converged = self.passed >= enough && is_seen_twice;
        } else {
            self.passed = 0;
        }
        let pays = self.least.is_none_or(|least| left < tuned::PAYING_SHARE * least);
        let has_more_draws = self.source != Source::Expectations && self.n_pairs < self.most_pairs(plan);
        let may_gain = pays || has_more_draws;
        self.idle = if may_gain && (is_whole || !is_small) { 0 } else { self.idle + 1 };
        self.least = Some(self.least.map_or(left, |least| least.min(left)));
        self.converged
    }

    /// How much the bound curves along the last step, in terms of the Fisher metric, at most 1: a step of length β
    /// should leave the share 1 − β of the gradient; where it leaves more, more is left to gain.
    fn curving(&self, now: &[f64]) -> f64 {
        let Some(before) = self.before.as_ref().filter(|before| before.signal > tuned::CLEAR_SIGNAL * before.noise)
        else {
            return 1.0;
        };
        let kept = before.products(self.dim, now).1 / before.signal;
        if kept > 0.0 { ((1.0 - kept) / before.length).clamp(tuned::LEAST_CURVING, 1.0) } else { 1.0 }
    }

    /// The lengths of the step along the whitened gradient `now` (a, then B). Damps where gradients turn round.
    pub(super) fn lengths(&mut self, found: &Findings, now: &[f64]) -> Lengths {
        let signal = found.signal();
        let mean_signal = found.mean.signal.max(0.1 * found.mean.raw).max(f64::MIN_POSITIVE);
        if let Some(before) = &self.before {
            let (mean, product) = before.products(self.dim, now);
            let mut cosine = product / (signal * before.signal).sqrt();
            let of_mean = mean / (mean_signal * before.mean_signal).sqrt();
            if of_mean < -tuned::TURNED {
                cosine = cosine.min(of_mean);
            }
            if cosine < -tuned::TURNED {
                let growth = (signal / before.signal).sqrt().min(1.0);
                self.beta = (self.beta / (1.0 + growth)).max(tuned::SMALLEST_BETA);
            } else if cosine > tuned::TURNED {
                self.beta = (1.5 * self.beta).min(1.0);
            }
        }
        let scale = if found.is_determined { found.scale.share() } else { 1.0 };
        let lengths = Lengths { mean: self.beta * found.mean.share(), scale: self.beta * scale };
        let before = self.before.get_or_insert_with(|| Before {
            gradient: vec![0.0; now.len()],
            signal,
            mean_signal,
            noise: 0.0,
            length: 1.0,
        });
        before.gradient.copy_from_slice(now);
        (before.signal, before.mean_signal) = (signal, mean_signal);
        (before.noise, before.length) = (2.0 * found.noise(), lengths.mean.max(lengths.scale));
        lengths
    }

    /// Steps in a row that may bring nothing. Without noise a slow approach is no standstill.
    fn patience(&self) -> u32 {
        if self.source == Source::Expectations { 20 * IDLE_REVIEWS } else { IDLE_REVIEWS }
    }

    /// Pairs that determine the precision.
    fn determining(&self) -> usize {
        if self.source == Source::LeastChange { self.dim + 1 } else { 1 }
    }

    /// As many pairs as a step may have.
    fn most_pairs(&self, plan: &Plan) -> usize {
        in_halves(self.source, (plan.max_draws / 2).max(2 * self.determining()))
    }

    /// A step was taken: chooses the draws of the next.
    pub(super) fn after_step(&mut self, plan: &Plan, found: &Findings) {
        self.step += 1;
        self.skipped = 0;
        if self.passed > 0 {
            return;
        }
        let determined = self.determining();
        if self.n_pairs < determined {
            // A few draws place the mean; the precision is worth a draw for every coordinate.
            let placed = 0.5 * found.mean.signal < 3.0 * 0.25 * found.scale.signal;
            if self.step > 1 || placed {
                self.n_pairs = determined;
            }
            return;
        }
        let goal = found.remaining().max(0.25 * self.tolerance(plan));
        let noise = found.noise();
        if noise > goal {
            let factor = (noise / goal).clamp(tuned::GROWTH.0, tuned::GROWTH.1);
            let grown = in_halves(self.source, (factor * self.n_pairs as f64) as usize);
            self.n_pairs = grown.min(self.most_pairs(plan));
        }
    }

    /// A step was left out, because its draws could not be evaluated.
    pub(super) fn skip(&mut self) {
        self.step += 1;
        self.skipped += 1;
    }

    /// The approximation has become absurdly wide or narrow.
    pub(super) fn give_up(&mut self) {
        self.wild = true;
    }

    pub(super) fn reason_to_stop(&self, plan: &Plan) -> Option<StopReason> {
        if self.converged {
            Some(StopReason::Converged)
        } else if self.wild {
            Some(StopReason::Diverged)
        } else if self.skipped >= LOST_STEPS {
            Some(StopReason::BadEvaluations)
        } else if self.idle >= self.patience() {
            Some(StopReason::Stagnated)
        } else if self.step >= plan.stop.max_steps {
            Some(StopReason::MaxSteps)
        } else {
            None
        }
    }
}

/// The number of pairs for which there are two halves, if there are to be any.
fn in_halves(source: Source, n: usize) -> usize {
    if source == Source::Hessians { n.next_multiple_of(2) } else { n }
}
