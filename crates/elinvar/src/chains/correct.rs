//! From a Gaussian to an answer with errors: few chains that find the coordinates, many that answer.

use std::time::Instant;

use super::climbing::modes_above;
use super::matching::adapted;
use super::pinching::pinched;
use super::scale::{falls_off, stretched};
use super::seen::{Seen, faults, left_behind};
use super::shaping::{comes_true, is_curved, unbent};
use super::tails::Tails;
use super::{Coordinates, Corrected, Correction, Doubt, Ensemble, Frame, History, Part, Round};
use crate::Error;
use crate::evaluate::Evaluator;
use crate::record::ModeRecord;
use crate::search::Mode;
use crate::target::Transforms;
use crate::tuning::search::DIFFERENCED_COORDINATES;
use crate::tuning::{chains as tuning, pinches};

/// Numbers that the states of an answer have at most, so that a file of them stays small.
const MOST_NUMBERS: usize = 1 << 18;
/// States that are kept at most.
const MOST_STATES: usize = 4096;

/// What is asked: a Gaussian to begin with, the places that searches found, and names.
pub(crate) struct Question<'a> {
    pub(crate) mean: Vec<f64>,
    pub(crate) covariance: &'a [f64],
    pub(crate) modes: &'a [ModeRecord],
    /// Whether a search went up without end, so that it is to be seen whether the density falls off.
    pub(crate) unbounded: bool,
    pub(crate) names: &'a [String],
    pub(crate) parameter_names: &'a [String],
    pub(crate) transforms: &'a Transforms,
    /// What to do about chains that move slowly.
    pub(crate) slow: SlowChains,
    /// Is told of every round.
    pub(crate) watch: &'a dyn Fn(&Round),
}

/// What is done about chains that move slowly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SlowChains {
    /// They go on.
    GoOn,
    /// They end if they are on several modes, which are then told.
    EndOnSeveralModes,
}

/// What an answer that is to be trusted claims.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Every mean is within so many standard deviations.
    pub(crate) mean: f64,
    /// The logarithm of every standard deviation is within this.
    pub(crate) log_sd: f64,
    /// Standard error of the worst quantile of a parameter, in standard deviations.
    pub(crate) quantile: f64,
    /// Share of the second moment of a parameter that one state may have.
    pub(crate) largest: f64,
}

/// What chains have found, log p at the states that are kept, and their Gaussian.
pub(crate) struct Answered {
    pub(crate) corrected: Corrected,
    pub(crate) log_p: Vec<f64>,
    /// The Gaussian that is matched to the states.
    pub(crate) frame: Frame,
    /// Whether a density without a maximum was seen to fall off along the scale that its spike is at the end of.
    pub(crate) falls_off: bool,
    /// The modes that slow chains were on, if that was asked for and there are several.
    pub(crate) modes: Vec<Mode>,
}

/// Runs chains until their errors suffice or the budget ends, or somebody interrupts them who may want what they have.
///
/// # Errors
/// [`Error::Domain`] for settings that make no sense, [`Error::NotPositiveDefinite`] if the covariance is none, a fatal
/// error of the target, [`Error::Interrupted`].
pub(crate) fn correct(
    evaluator: &mut Evaluator<'_>,
    question: &Question<'_>,
    settings: &Correction,
    limits: Limits,
) -> Result<Answered, Error> {
    settings.check()?;
    let frame = Frame::new(question.mean.clone(), question.covariance)
        .ok_or(Error::NotPositiveDefinite { what: "the covariance of the approximation", pivot: 0 })?;
    let mut work = Work { before: evaluator.counts().gradient, evaluator, settings, started: Instant::now() };
    let counts = work.evaluator.counts();
    let (few, frame, history) = work.adapt(Coordinates::straight(frame))?;
    let pool = history.last(history.steps().div_ceil(2).max(2));
    let adapting_gradients = work.spent();
    let all = history.part(0..history.steps());
    let bent = if settings.bends && is_curved(&frame, all) { work.unbent(&few, &frame, all)? } else { None };
    let is_straight = bent.is_none();
    let (mut frame, mut chains) = bent.unwrap_or_else(|| {
        let chains = few.spread(&frame, settings.chains, pool.z, pool.by_z, pool.log_p);
        (frame, chains)
    });
    drop(history);
    let mut tails = Tails::look(work.evaluator, &frame, settings.seed)?;
    if is_straight && tails.visit(work.evaluator, &frame, &mut chains)? {
        // Chains leave a tail that has no mass; the way back is no part of the answer.
        work.run(&mut chains, &frame, &mut History::new(frame.dim(), settings.chains), tuning::WAY_BACK)?;
    }
    let mut history = History::new(frame.dim(), settings.chains);
    let mut steps = tuning::FIRST_ROUND;
    // Whether anything but the size of errors was in doubt, so that an answer without doubts needs to be confirmed.
    let (mut doubtful, mut clean) = (false, 0);
    let (mut shapes, most_shapes) = (0, if settings.bends { tuning::SHAPES } else { 0 });
    // What is asked of the answer where that is more than what is asked of one that is trusted.
    let aim = Limits { mean: limits.mean.min(settings.mean_within), ..limits };
    let mut modes = Vec::new();
    let mut asks_for_modes = question.slow == SlowChains::EndOnSeveralModes && frame.dim() <= DIFFERENCED_COORDINATES;
    loop {
        let in_time = work.run(&mut chains, &frame, &mut history, steps)?;
        chains.tune();
        chains.rescue(&history.last(steps).acceptances());
        let held = history.steps();
        let late = tuning::LATE[usize::from(frame.dim() > tuning::FEW_COORDINATES)];
        let keep = ((late * held as f64) as usize).max(tuning::FIRST_ROUND);
        let part = history.last(keep);
        let seen = Seen::of(part, &frame, question.transforms);
        let next = adapted(&frame, part);
        let settled = next.as_ref().is_some_and(|next| next.settled);
        // A bend that is not exact where chains are may be wrong where they are not.
        let most = if frame.are_pinched() { pinches::ROUGH } else { tuning::ROUGH };
        let rough = frame.are_bent() && seen.roughness() > most;
        let mut doubts = seen.doubts(part, question, limits, settled && !rough, &tails);
        doubts.extend(seen.other_mode(part, question.modes));
        if held > 2 * tuning::YOUNG {
            let all = history.part(tuning::YOUNG..held);
            let left = left_behind(all, part, frame.dim(), limits.log_sd);
            doubts.extend(left.map(|i| Doubt::Drift { name: question.names[i].clone() }));
        }
        let steps_of_a_state = part.len() as f64 / seen.effective_states(part);
        if held > tuning::YOUNG && steps_of_a_state > tuning::SLOW {
            doubts.push(Doubt::Slow { steps: steps_of_a_state });
            if !work.evaluator.is_interrupted() && std::mem::take(&mut asks_for_modes) {
                modes = modes_above(work.evaluator, seen.straight().frame(), &chains.states().z)?;
            }
        }
        doubts.extend(faults(&chains, &tails, work.evaluator.counts().log_density));
        if !work.evaluator.is_interrupted() {
            (question.watch)(&seen.round(work.spent(), settings.max_gradients));
        }
        doubtful |= held > tuning::YOUNG && doubts.iter().any(|doubt| !doubt.is_of_size());
        clean = if doubts.iter().any(Doubt::may_pass) { 0 } else { clean + 1 };
        let mut enough = clean >= if doubtful { 2 } else { 1 };
        enough &= aim.mean >= limits.mean || seen.is_sharp(question, aim, part.n);
        // Coordinates are known at once where the law is; what somebody computes from states has nothing but these.
        let asked = pinches::STATES_OF_AN_ANSWER.max((pinches::ERRORS_WITHIN / aim.mean).powi(2));
        let fewest = if frame.are_pinched() { (asked / late) as usize } else { 0 };
        let missing = fewest.saturating_sub(held * chains.len()).div_ceil(chains.len());
        enough &= missing == 0;
        let mut numbers = None;
        if enough {
            // Moments may be known exactly where quantiles are not.
            let found = seen.numbers(part, question, limits.largest);
            enough = found.1.iter().all(|number| !number.judged || number.quantile_error() <= limits.quantile);
            numbers = Some(found);
        }
        steps = seen.steps_to_go(&doubts, held, question, aim, part.n).max(missing);
        let cost = (steps * chains.len()) as u64 * chains.leaps();
        if enough || modes.len() > 1 || !in_time || work.spent() + cost > settings.max_gradients {
            let (coordinates, parameters) = numbers.unwrap_or_else(|| seen.numbers(part, question, limits.largest));
            let (states, log_p) = chosen(part, frame.dim(), (limits.mean / aim.mean).powi(2));
            let falls_off = question.unbounded
                && match falls_off(work.evaluator, &frame, part) {
                    Err(Error::Interrupted) => false,
                    found => found?,
                };
            let corrected = Corrected {
                coordinates,
                parameters,
                doubts,
                chains: chains.len(),
                steps: part.len() / chains.len(),
                effective_states: seen.effective_states(part),
                acceptance: part.acceptance().0,
                adapting_gradients,
                counts: work.evaluator.counts().since(counts),
                seconds: work.started.elapsed().as_secs_f64(),
                centre: frame.frame().centre().to_vec(),
                modes: Vec::new(),
                states,
            };
            modes.truncate(if modes.len() > 1 { modes.len() } else { 0 });
            return Ok(Answered { corrected, log_p, frame: seen.straight().frame().clone(), falls_off, modes });
        }
        let Some(next) = next else { continue };
        let reshaped =
            if shapes < most_shapes && clean == 0 && (rough || !frame.are_pinched() && is_curved(&frame, part)) {
                shapes += 1;
                work.unbent(&chains, &seen.straight(), history.part(0..held))?
            } else {
                None
            };
        // Bends that do not come true are given up.
        let given_up = rough && reshaped.is_none();
        if given_up {
            shapes = most_shapes;
            frame = seen.straight();
            chains.enter(&frame);
        }
        let is_new = given_up || reshaped.is_some();
        if let Some(reshaped) = reshaped {
            (frame, chains) = reshaped;
        }
        if is_new {
            tails.look_again(work.evaluator, &frame, settings.seed)?;
            history = History::new(frame.dim(), settings.chains);
            (doubtful, clean) = (true, 0);
            steps = tuning::FIRST_ROUND;
        } else {
            frame = next.coordinates;
            chains.enter(&frame);
        }
    }
}

/// Whether a density seems to have a long tail that a Gaussian does not have, so that draws of the Gaussian say little
/// of it.
///
/// # Errors
/// As [`correct`], but for those of settings.
pub(crate) fn promises_tail(
    evaluator: &mut Evaluator<'_>,
    mean: Vec<f64>,
    covariance: &[f64],
    seed: u64,
) -> Result<bool, Error> {
    let frame = Frame::new(mean, covariance)
        .ok_or(Error::NotPositiveDefinite { what: "the covariance of the approximation", pivot: 0 })?;
    Ok(Tails::look(evaluator, &Coordinates::straight(frame), seed)?.promise_any())
}

/// Evenly chosen states, and log p there; so many times as many as usual where means are to be sharper, for what is
/// computed from states is no sharper than they are many.
fn chosen(part: Part<'_>, dim: usize, times: f64) -> (Vec<f64>, Vec<f64>) {
    let most = ((MOST_STATES as f64 * times) as usize).min((MOST_NUMBERS / dim).max(part.n));
    let kept = part.len().min(most);
    let places = || (0..kept).map(|k| k * part.len() / kept);
    let states = places().flat_map(|s| part.z[s * dim..][..dim].iter().copied());
    (states.collect(), places().map(|s| part.log_p[s]).collect())
}

/// The target, the limits, and what has been spent.
struct Work<'e, 't, 's> {
    evaluator: &'e mut Evaluator<'t>,
    settings: &'s Correction,
    before: u64,
    started: Instant,
}

impl Work<'_, '_, '_> {
    /// Gradients so far.
    fn spent(&self) -> u64 {
        self.evaluator.counts().gradient - self.before
    }

    /// Some steps, all recorded; whether there is time left.
    fn run(
        &mut self,
        chains: &mut Ensemble,
        frame: &Coordinates,
        history: &mut History,
        steps: usize,
    ) -> Result<bool, Error> {
        history.reserve(steps);
        for _ in 0..steps {
            match chains.step(self.evaluator, frame) {
                // Whoever asks for more is told; what there is by now may be all that is wanted.
                Err(Error::Interrupted) if history.steps() >= 2 => return Ok(false),
                outcome => outcome?,
            }
            history.push(chains);
            if self.settings.max_seconds.is_some_and(|most| self.started.elapsed().as_secs_f64() > most)
                && history.steps() >= 2
            {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Bent coordinates in which the law is about N(0, I), also at places that they were not fitted to, with chains
    /// that start there.
    fn unbent(
        &mut self,
        chains: &Ensemble,
        now: &Coordinates,
        part: Part<'_>,
    ) -> Result<Option<(Coordinates, Ensemble)>, Error> {
        let mut found = None;
        // A scale comes first: coordinates given which all else is Gaussian say more than any bend.
        for frame in [pinched, unbent].into_iter().filter_map(|of| of(now, part)) {
            let frame = match frame.are_pinched() {
                true => stretched(self.evaluator, &frame)?,
                false => Some(frame),
            };
            let Some(frame) = frame else { continue };
            let anew = chains.renewed(self.evaluator, &frame, self.settings.chains)?;
            if comes_true(&frame, &anew) {
                found = Some((frame, anew));
                break;
            }
        }
        let Some((frame, mut anew)) = found else { return Ok(None) };
        let mut unseen = History::new(frame.dim(), anew.len());
        self.run(&mut anew, &frame, &mut unseen, tuning::WAY_IN)?;
        Ok(Some((frame, anew)))
    }

    /// A new centre and covariance from the later half of all states so far, until a round changes neither.
    fn adapt(&mut self, mut frame: Coordinates) -> Result<(Ensemble, Coordinates, History), Error> {
        let n = self.settings.adapting_chains;
        let mut chains = Ensemble::around(self.evaluator, &frame, n, self.settings.seed)?;
        let mut history = History::new(frame.dim(), n);
        if frame.dim() > tuning::FEW_COORDINATES {
            self.run(&mut chains, &frame, &mut History::new(frame.dim(), n), tuning::WAY_IN)?;
        }
        let most = (tuning::ADAPTING_SHARE * self.settings.max_gradients as f64) as u64;
        for round in 0.. {
            let steps = tuning::ROUNDS[round.min(tuning::ROUNDS.len() - 1)];
            let in_time = self.run(&mut chains, &frame, &mut history, steps)?;
            chains.tune();
            let acceptance = history.last(steps).acceptance().0;
            let part = history.last((history.steps() / 2).max(2));
            let mut settled = false;
            if let Some(next) = adapted(&frame, part) {
                (frame, settled) = (next.coordinates, next.settled);
                chains.enter(&frame);
            }
            // A law that may be straight in bent coordinates is asked for some states more.
            let all = history.part(0..history.steps());
            let waits = self.settings.bends && history.steps() < tuning::STEPS_TO_BEND && is_curved(&frame, all);
            if (settled && acceptance > tuning::ADAPTED && !waits) || !in_time || self.spent() > most {
                break;
            }
        }
        Ok((chains, frame, history))
    }
}
