//! What a run by residual scores decides from the numbers of a batch: how many draws, how long a step, when to stop.

use serde::{Deserialize, Serialize};

use super::batch::n_parts;
use super::diagonal::Entries;
use super::findings::{Findings, Held};
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

/// What is done with a state that was looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It is the answer.
    Answer,
    /// It may be the answer.
    LookAgain,
    /// It is left.
    Move,
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
    /// Damping of all steps, and its largest value since gradients turned round.
    beta: f64,
    longest: f64,
    /// How much the bound curved along the last step that showed it, at most 1.
    curved: f64,
    /// What was seen of the present state.
    held: Held,
    /// Draws of the last looks, one after the other and whatever the state, that had no noise.
    sharp_draws: usize,
    /// Whether there was little left to gain at the state before.
    was_small: bool,
    /// Whether less than half of what was left went, in no direction.
    is_lost_in_noise: bool,
    /// Steps in a row that were skipped, and that brought nothing with as many draws as there may be.
    skipped: u32,
    idle: u32,
    least: Option<f64>,
    /// The last bound and what the step to it gained, where bounds are exact.
    gains: Option<(f64, Option<f64>)>,
    converged: bool,
    wild: bool,
    before: Option<Before>,
    /// Draws so far, and how many of them another way to go on waits for.
    #[serde(default)]
    drawn: usize,
    #[serde(default)]
    most_drawn: Option<usize>,
}

impl Pace {
    pub(super) fn new(dim: usize, source: Source, entries: Entries, plan: &Plan) -> Self {
        let mut pace = Self {
            dim,
            source,
            step: 0,
            n_pairs: 0,
            beta: 1.0,
            longest: 1.0,
            curved: 1.0,
            held: Held::new(dim),
            sharp_draws: 0,
            was_small: false,
            is_lost_in_noise: false,
            skipped: 0,
            idle: 0,
            least: None,
            gains: None,
            converged: false,
            wild: false,
            before: None,
            drawn: 0,
            most_drawn: None,
        };
        pace.n_pairs = match source {
            // All of B is needed from the first step on where the mean steps by it.
            Source::LeastChange if dim > tuned::FEW_COORDINATES && entries == Entries::All => {
                let enough = dim.div_ceil(tuned::FIRST_SHARE).max(2 * tuned::FEWEST_PAIRS);
                in_parts(source, dim, enough.max(plan.n_draws.div_ceil(2)))
            }
            _ => pace.fewest_pairs(plan),
        };
        pace
    }

    /// The same, until it has taken so many draws: what so few at a time do not settle is for another to go on with.
    pub(super) fn at_most(self, draws: usize) -> Self {
        Self { most_drawn: Some(draws), ..self }
    }

    /// Pairs of a step that is about more than the mean, at least.
    fn fewest_pairs(&self, plan: &Plan) -> usize {
        let enough = self.determining().max(tuned::FEWEST_PAIRS).max(plan.n_draws.div_ceil(2));
        in_parts(self.source, self.dim, enough)
    }

    pub(super) fn source(&self) -> Source {
        self.source
    }

    /// What cannot be in a pace that a run in `dim` coordinates has kept.
    pub(super) fn problem(&self, dim: usize) -> Option<&'static str> {
        let most_in_a_row = u32::MAX / 4;
        match () {
            () if self.dim != dim => Some("it has another number of coordinates"),
            () if self.n_pairs == 0 || self.n_pairs > MOST_DRAWS.max(2 * (dim + 1)) => Some("its draws cannot be"),
            () if !self.n_pairs.is_multiple_of(n_parts(self.source, dim, self.n_pairs)) => Some("its draws cannot be"),
            () if self.step > u64::MAX / 4 || self.sharp_draws > usize::MAX / 4 => Some("its steps cannot be"),
            () if !(self.curved >= tuned::LEAST_CURVING && self.curved <= 1.0) => Some("its bound cannot curve so"),
            () if !self.held.is_sound(dim) => Some("what it has seen of its state cannot be"),
            () if self.drawn > usize::MAX / 4 => Some("its draws cannot be"),
            () if self.skipped.max(self.idle) > most_in_a_row => Some("its steps cannot be"),
            () if !(self.beta.min(self.longest) > 0.0 && self.beta.max(self.longest) <= 1.0) => {
                Some("the length of its steps cannot be")
            }
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

    /// Whether something was seen of the present state.
    pub(super) fn is_held(&self) -> bool {
        self.held.n_looks > 0
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

    /// Adds a look to those at the same state; what all of them say. The gradient `now` becomes their mean.
    pub(super) fn pool(&mut self, plan: &Plan, found: &Findings, now: &mut [f64]) -> Findings {
        if self.source == Source::Expectations {
            return *found;
        }
        if self.is_sharp(plan, found) {
            self.sharp_draws += 2 * found.n_pairs;
        } else {
            self.sharp_draws = 0;
        }
        self.held.add(self.dim, found, now)
    }

    /// What to do with the state that was judged.
    pub(super) fn judge(&mut self, plan: &Plan, found: &Findings, now: &[f64], elbo: f64) -> Verdict {
        // Once noise hides how the bound curves, it curves as it did when that was last seen.
        self.curved = self.curving(now).map_or(self.curved, |curving| curving.min(1.0));
        let by_curve = found.remaining() / self.curved + found.error(self.dim);
        let left = if self.source == Source::Expectations { by_curve.max(self.left_by_gains(elbo)) } else { by_curve };
        // What is lost at an edge is not part of what is left: such a state may be as good as any, and is not believed.
        let is_whole = found.n_lost as f64 <= tuned::LOST_SHARE * found.n_pairs as f64;
        let has_tails = self.dim <= tuned::FEW_COORDINATES && !self.is_sharp(plan, found);
        let is_small = (if has_tails { tuned::CAUTION.1 } else { tuned::CAUTION.0 }) * left < self.tolerance(plan);
        let has_more_draws = self.source != Source::Expectations && self.n_pairs < self.most_pairs(plan);
        let may_look = self.held.n_looks < tuned::MOST_LOOKS;
        let verdict = match self.source {
            Source::Expectations if is_small => Verdict::Answer,
            Source::Expectations => Verdict::Move,
            // With as many draws as a step may have, what does not show is worth another look.
            _ if !is_small && may_look && !has_more_draws && found.noise() > found.remaining() => Verdict::LookAgain,
            _ if !(is_small && is_whole) => Verdict::Move,
            // Without noise the next step is worth its price: at a Gaussian target it ends at the target.
            _ if self.is_sharp(plan, found) && !self.was_small && left > tuned::NO_NOISE * self.tolerance(plan) => {
                Verdict::Move
            }
            _ if self.is_believed(plan, found) => Verdict::Answer,
            _ if !may_look => Verdict::Move,
            _ => Verdict::LookAgain,
        };
        self.was_small = if verdict == Verdict::LookAgain { self.was_small } else { is_small };
        self.converged = verdict == Verdict::Answer;
        let pays = self.least.is_none_or(|least| left < tuned::PAYING_SHARE * least);
        let may_gain = pays || has_more_draws || verdict == Verdict::LookAgain;
        self.idle = if may_gain && (is_whole || !is_small) { 0 } else { self.idle + 1 };
        self.least = Some(self.least.map_or(left, |least| least.min(left)));
        verdict
    }

    /// What is left by the gains of the last two steps, as if they went on to fall by the same factor; exact bounds
    /// only.
    fn left_by_gains(&mut self, elbo: f64) -> f64 {
        let before = self.gains;
        let gain = before.map(|(last, _)| elbo - last);
        self.gains = Some((elbo, gain));
        let (Some(gain), Some((_, Some(gain_before)))) = (gain, before) else { return 0.0 };
        // A bound that has fallen has something left to gain, of this size at least.
        if gain <= 0.0 || gain_before <= 0.0 {
            return gain.abs().max(gain_before.abs());
        }
        let factor = (gain / gain_before).min(tuned::SLOWEST_GAIN);
        gain * factor / (1.0 - factor)
    }

    /// Whether a state was seen with enough draws and little enough noise.
    fn is_believed(&self, plan: &Plan, found: &Findings) -> bool {
        let is_sharp = self.is_sharp(plan, found);
        let has_few = self.dim <= tuned::FEW_COORDINATES;
        // A few numbers may be small by chance, and noise that is as large as they are says little about itself.
        let is_seen_twice = self.held.n_looks > 1 || is_sharp || !has_few;
        let is_quiet = !has_few || found.noise() < tuned::BELIEVED_NOISE * self.tolerance(plan);
        let n_draws = if is_sharp { self.sharp_draws.max(2 * found.n_pairs) } else { 2 * found.n_pairs };
        n_draws >= self.draws_to_believe(plan, found) && is_seen_twice && is_quiet
    }

    /// Whether there is no noise worth the name.
    fn is_sharp(&self, plan: &Plan, found: &Findings) -> bool {
        found.knows_noise && found.noise() < tuned::NO_NOISE * self.tolerance(plan)
    }

    /// Draws that a state must have been seen with: the more noise, the less has been seen of its tails.
    fn draws_to_believe(&self, plan: &Plan, found: &Findings) -> usize {
        if self.is_sharp(plan, found) {
            return tuned::DRAWS_TO_BELIEVE / 2;
        }
        let has_few = self.dim <= tuned::FEW_COORDINATES;
        let noise = if has_few { found.noise() / (tuned::USUAL_NOISE * self.tolerance(plan)) } else { 0.0 };
        (noise.clamp(1.0, tuned::MOST_TO_BELIEVE) * tuned::DRAWS_TO_BELIEVE as f64) as usize
    }

    /// How much the bound curves along the last step, in terms of the Fisher metric: a step of length β should leave
    /// the share 1 − β of the gradient; where it leaves more, more is left to gain. Nothing where noise hides it.
    fn curving(&self, now: &[f64]) -> Option<f64> {
        let before = self.before.as_ref().filter(|before| before.signal > tuned::CLEAR_SIGNAL * before.noise)?;
        let kept = before.products(self.dim, now).1 / before.signal;
        Some(if kept > 0.0 { ((1.0 - kept) / before.length).max(tuned::LEAST_CURVING) } else { 1.0 })
    }

    /// The lengths of the step along the whitened gradient `now` (a, then B). Damps where gradients turn round.
    pub(super) fn lengths(&mut self, found: &Findings, now: &[f64]) -> Lengths {
        let signal = found.signal();
        let curving = self.curving(now).unwrap_or(1.0);
        self.is_lost_in_noise = false;
        let mut is_steady = false;
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
                self.longest = self.beta;
            } else if cosine > tuned::TURNED {
                // Near the top, where the bound is a parabola, its curve says how far it is.
                let is_near = found.remaining() < tuned::NEAR_THE_TOP;
                let told = if is_near { 1.0 / curving } else { 0.0 };
                self.beta = (1.5 * self.beta).min(self.longest).max(told).min(1.0);
                self.longest = (tuned::FORGETTING * self.longest).min(1.0);
            }
            // Exact gradients in one direction, step after step: the slowest part of the way is left.
            is_steady = self.source == Source::Expectations && cosine > tuned::STEADY;
            let is_no_better = signal > 0.25 * before.signal;
            self.is_lost_in_noise = is_no_better && cosine.abs() < tuned::UNRELATED;
        }
        let scale = if found.is_determined { found.scale.share() } else { 1.0 };
        let beta = if is_steady { (1.0 / curving).clamp(self.beta, tuned::LONGEST_EXACT_STEP) } else { self.beta };
        let lengths = Lengths { mean: beta * found.mean.share(), scale: beta * scale };
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
        in_parts(self.source, self.dim, (plan.max_draws / 2).max(2 * self.determining()))
    }

    /// The state is looked at again: with as many draws as are missing.
    pub(super) fn stay(&mut self, plan: &Plan, found: &Findings) {
        self.step += 1;
        self.skipped = 0;
        self.drawn += 2 * self.n_pairs;
        let missing = (self.draws_to_believe(plan, found) / 2).saturating_sub(found.n_pairs);
        let quiet = tuned::BELIEVED_NOISE * self.tolerance(plan);
        let factor = (found.noise() / quiet - 1.0).clamp(0.0, tuned::GROWTH.1);
        let wanted = missing.max((factor * found.n_pairs as f64) as usize).max(self.n_pairs);
        self.n_pairs = in_parts(self.source, self.dim, wanted).min(self.most_pairs(plan));
    }

    /// A step was taken: chooses the draws of the next.
    pub(super) fn after_step(&mut self, plan: &Plan, found: &Findings) {
        self.step += 1;
        self.skipped = 0;
        self.drawn += 2 * self.n_pairs;
        self.held.clear();
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
        let factor = match noise > goal {
            true => (noise / goal).clamp(tuned::GROWTH.0, tuned::GROWTH.1),
            // Noise that does not show in one batch shows from one to the next.
            false if self.is_lost_in_noise && !self.is_sharp(plan, found) && self.dim <= tuned::FEW_COORDINATES => 2.0,
            // A state that was far out, with noise of its own, is left behind.
            false if found.knows_noise && noise < tuned::LITTLE_NOISE * goal && goal > tuned::FAR_OFF => 0.5,
            false => return,
        };
        let wanted = ((factor * self.n_pairs as f64) as usize).max(self.fewest_pairs(plan));
        self.n_pairs = in_parts(self.source, self.dim, wanted).min(self.most_pairs(plan).max(self.n_pairs));
    }

    /// A step was left out, because its draws could not be evaluated.
    pub(super) fn skip(&mut self) {
        self.step += 1;
        self.skipped += 1;
        self.held.clear();
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
        } else if self.idle >= self.patience() || self.most_drawn.is_some_and(|most| self.drawn > most) {
            Some(StopReason::Stagnated)
        } else if self.step >= plan.stop.max_steps {
            Some(StopReason::MaxSteps)
        } else {
            None
        }
    }
}

/// The number of pairs that parts of equal size have, if there are to be any.
fn in_parts(source: Source, dim: usize, n: usize) -> usize {
    match source {
        Source::Hessians => n.next_multiple_of(2),
        _ if n >= 2 * tuned::PAIRS_TO_MATCH * dim => n.next_multiple_of(4),
        _ => n,
    }
}
