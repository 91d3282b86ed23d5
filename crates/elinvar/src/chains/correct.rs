//! From a Gaussian to an answer with errors: few chains that find the coordinates, many that answer.

use std::time::Instant;

use super::bend::Mirror;
use super::bending::{Cloud, bends};
use super::matching::{adapted, matched_at};
use super::seen::{Seen, edge, faults, left_behind};
use super::stretching::stretched;
use super::tails::Tails;
use super::{Coordinates, Corrected, Correction, Doubt, Ensemble, Frame, History, Layer, Part, Round};
use crate::Error;
use crate::evaluate::Evaluator;
use crate::record::ModeRecord;
use crate::target::Transforms;
use crate::tuning::{bends as bending, chains as tuning};

/// Numbers that the states of an answer have at most, so that a file of them stays small.
const MOST_NUMBERS: usize = 1 << 18;
/// States that are kept at most.
const MOST_STATES: usize = 4096;
/// States from which bends are fitted.
const LEAST_STATES: usize = 48;

/// What is asked: a Gaussian to begin with, the places that searches found, and names.
pub(crate) struct Question<'a> {
    pub(crate) mean: Vec<f64>,
    pub(crate) covariance: &'a [f64],
    pub(crate) modes: &'a [ModeRecord],
    pub(crate) names: &'a [String],
    pub(crate) parameter_names: &'a [String],
    pub(crate) transforms: &'a Transforms,
    /// Is told of every round.
    pub(crate) watch: &'a dyn Fn(&Round),
}

/// What an answer that is to be trusted claims.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Every mean is within so many standard deviations.
    pub(crate) mean: f64,
    /// The logarithm of every standard deviation is within this.
    pub(crate) log_sd: f64,
    /// Share of the second moment of a parameter that one state may have.
    pub(crate) largest: f64,
}

/// What chains have found, and log p at the states that are kept.
pub(crate) struct Answered {
    pub(crate) corrected: Corrected,
    pub(crate) log_p: Vec<f64>,
}

/// Runs chains until their errors suffice or the budget ends.
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
    let mut chains = few.spread(&frame, settings.chains, pool.z, pool.by_z, pool.log_p);
    let adapting_gradients = work.spent();
    let mut tails = Tails::look(work.evaluator, &frame, settings.bends, settings.seed)?;
    let mut frame = frame;
    drop(history);
    if tails.visit(work.evaluator, &frame, &mut chains)? {
        // Chains leave a tail that has no mass; the way back is no part of the answer.
        work.run(&mut chains, &frame, &mut History::new(frame.dim(), settings.chains), tuning::WAY_BACK)?;
    }
    let mut history = History::new(frame.dim(), settings.chains);
    let mut steps = tuning::FIRST_ROUND;
    // Whether anything but the size of errors was in doubt, so that an answer without doubts needs to be confirmed.
    let (mut doubtful, mut clean) = (false, 0);
    let (mut shapes, most_shapes) = (0, if settings.bends { tuning::SHAPES } else { 0 });
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
        let rough = frame.have_bends() && seen.roughness() > tuning::ROUGH;
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
        }
        let blocked = if settings.bends { edge(part, &frame) } else { None };
        doubts.extend(blocked.as_ref().map(|(i, _)| Doubt::Edge { name: question.names[*i].clone() }));
        doubts.extend(faults(&chains, &tails, work.evaluator.counts().log_density));
        (question.watch)(&seen.round(work.spent(), settings.max_gradients));
        doubtful |= held > tuning::YOUNG && doubts.iter().any(|doubt| !doubt.is_of_size());
        clean = if doubts.iter().any(Doubt::may_pass) { 0 } else { clean + 1 };
        let enough = clean >= if doubtful { 2 } else { 1 };
        steps = seen.steps_to_go(&doubts, held, question, limits, part.n);
        let cost = (steps * chains.len()) as u64 * chains.leaps();
        if enough || !in_time || work.spent() + cost > settings.max_gradients {
            let (coordinates, parameters) = seen.numbers(part, question, limits.largest);
            let (states, log_p) = chosen(part, frame.dim());
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
                states,
            };
            return Ok(Answered { corrected, log_p });
        }
        let Some(next) = next else { continue };
        let reshaped = if shapes < most_shapes && clean == 0 {
            shapes += 1;
            work.reshaped(&next.coordinates, part, &tails, blocked.as_ref().map_or(&[], |(_, states)| states))?
        } else {
            None
        };
        // Bends that do not come true are given up.
        let given_up = (rough && shapes == most_shapes && reshaped.is_none()).then(|| seen.straight());
        if let Some(other) = reshaped.or(given_up) {
            frame = other;
            chains.enter(&frame);
            chains.restart(work.evaluator, &frame, settings.chains / 8)?;
            tails.look_again(work.evaluator, &frame, settings.seed)?;
            history = History::new(frame.dim(), settings.chains);
            (doubtful, clean) = (true, 0);
            steps = (held / 2).max(2 * tuning::FIRST_ROUND);
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
    Ok(Tails::look(evaluator, &Coordinates::straight(frame), false, seed)?.promise_any())
}

/// Evenly chosen states, and log p there.
fn chosen(part: Part<'_>, dim: usize) -> (Vec<f64>, Vec<f64>) {
    let most = MOST_STATES.min((MOST_NUMBERS / dim).max(part.n));
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
            chains.step(self.evaluator, frame)?;
            history.push(chains);
            if self.settings.max_seconds.is_some_and(|most| self.started.elapsed().as_secs_f64() > most)
                && history.steps() >= 2
            {
                return Ok(false);
            }
        }
        Ok(true)
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
            if (settled && acceptance > tuning::ADAPTED) || !in_time || self.spent() > most {
                break;
            }
        }
        Ok((chains, frame, history))
    }

    /// Coordinates with bends and stretches in which the gradients at some states are nearer to those of N(0, I), or in
    /// which a tail that no state was in is shorter.
    fn reshaped(
        &mut self,
        now: &Coordinates,
        part: Part<'_>,
        tails: &Tails,
        outermost: &[usize],
    ) -> Result<Option<Coordinates>, Error> {
        let d = now.dim();
        let (z, by_z) = part.worth_matching(now);
        let n = z.len() / d;
        if n < LEAST_STATES {
            return Ok(None);
        }
        let straight = Coordinates::straight(now.frame().clone());
        let (x, g, _) = straight.seen_from(&z, &by_z);
        let Some((frame, _)) = matched_at(now.frame(), x, g) else { return Ok(None) };
        let outside = Coordinates::straight(frame.clone());
        let kept = n.min(bending::STATES);
        let pick = |from: &[f64]| -> Vec<f64> {
            (0..kept).flat_map(|k| from[k * n / kept * d..][..d].iter().copied()).collect()
        };
        let (mut z, mut by_z) = (pick(&z), pick(&by_z));
        z.extend_from_slice(&tails.probes().z);
        by_z.extend_from_slice(&tails.probes().by_z);
        for s in outermost {
            z.extend_from_slice(&part.z[s * d..(s + 1) * d]);
            by_z.extend_from_slice(&part.by_z[s * d..(s + 1) * d]);
        }
        let seen = |coordinates: &Coordinates| {
            let (x, g, _) = coordinates.seen_from(&z, &by_z);
            Cloud { d, x, g, states: kept }
        };
        let here = seen(now);
        let given: Vec<Vec<f64>> = tails.directions().iter().map(|direction| frame.unit_along(direction)).collect();
        let (mut layers, mut cloud) = bends(seen(&outside), &frame, &given);
        let was_stretched = now.layers().iter().any(|layer| matches!(layer, Layer::Stretch(_)));
        let most = ((self.settings.max_gradients - self.spent().min(self.settings.max_gradients)) / 8) as usize;
        // What was found along a slanting direction is stretched along it.
        let mirror = given.first().filter(|_| layers.is_empty()).map(|direction| Layer::Mirror(Mirror::of(direction)));
        let mut outer = layers.clone();
        let mut turned = cloud.clone();
        if let Some(mirror) = &mirror {
            outer.push(mirror.clone());
            turned = turned.within(mirror);
        }
        let inside = Coordinates::bent(frame.clone(), outer.clone());
        let mut longer = false;
        if let Some((layer, within)) = stretched(self.evaluator, &inside, &turned, most)? {
            let back = mirror.as_ref().map_or_else(|| within.clone(), |mirror| within.within(mirror));
            if let Some((within, straight)) = back.straightened() {
                longer = !was_stretched;
                outer.push(layer);
                outer.extend(mirror);
                outer.push(straight);
                layers = outer;
                cloud = within;
            }
        }
        let (before, far_before) = (here.residual(), here.residual_far_out());
        let (after, far_after) = (cloud.residual(), cloud.residual_far_out());
        let nearer = after < (1.0 - bending::GAIN) * before;
        let farther = longer || far_after < 0.5 * far_before;
        let better = nearer || (farther && after < 1.05 * before + 2.0 * bending::LEAST);
        Ok((better && !layers.is_empty()).then(|| Coordinates::bent(frame, layers)))
    }
}
