//! From a Gaussian to an answer with errors: few chains that find the coordinates, many that answer.

use std::time::Instant;

use super::matching::matched;
use super::printed::Reading;
use super::stein::Moments;
use super::tails::Tails;
use super::{Corrected, Correction, Doubt, Ensemble, Frame, History, Part, Round};
use crate::Error;
use crate::evaluate::Evaluator;
use crate::record::ModeRecord;
use crate::special::normal::normal_cdf;
use crate::target::Transforms;
use crate::tuning::chains as tuning;

/// Numbers that the states of an answer have at most, so that a file of them stays small.
const MOST_NUMBERS: usize = 1 << 18;
/// States that are kept at most.
const MOST_STATES: usize = 4096;

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
) -> Result<Corrected, Error> {
    settings.check()?;
    let frame = Frame::new(question.mean.clone(), question.covariance)
        .ok_or(Error::NotPositiveDefinite { what: "the covariance of the approximation", pivot: 0 })?;
    let mut work = Work { before: evaluator.counts().gradient, evaluator, settings, started: Instant::now() };
    let counts = work.evaluator.counts();
    let (few, frame, history) = work.adapt(frame)?;
    let pool = history.last(history.steps().div_ceil(2).max(2));
    let mut chains = few.spread(&frame, settings.chains, pool.z, pool.by_z, pool.log_p);
    let adapting_gradients = work.spent();
    let tails = Tails::look(work.evaluator, &frame, settings.seed)?;
    tails.visit(work.evaluator, &frame, &mut chains)?;
    drop(history);

    let mut frame = frame;
    let mut history = History::new(frame.dim(), settings.chains);
    let mut steps = tuning::FIRST_ROUND;
    // Whether anything but the size of errors was in doubt, so that an answer without doubts needs to be confirmed.
    let (mut doubtful, mut clean) = (false, 0);
    loop {
        let in_time = work.run(&mut chains, &frame, &mut history, steps)?;
        chains.tune();
        let held = history.steps();
        let keep = ((tuning::LATE * held as f64) as usize).max(tuning::FIRST_ROUND);
        let part = history.last(keep);
        let seen = Seen::of(part, &frame, question.transforms);
        let next = matched(&frame, part);
        let settled = next.as_ref().is_some_and(|next| next.settled);
        let mut doubts = seen.doubts(part, question, limits, settled, &tails);
        doubts.extend(seen.other_mode(part, &frame, question.modes));
        if held > 2 * tuning::YOUNG {
            let all = history.part(tuning::YOUNG..held);
            let left = left_behind(all, part, frame.dim(), limits.log_sd);
            doubts.extend(left.map(|i| Doubt::Drift { name: question.names[i].clone() }));
        }
        doubts.extend(faults(&chains, &tails, work.evaluator.counts().log_density));
        (question.watch)(&seen.round(work.spent(), settings.max_gradients));
        doubtful |= held > tuning::YOUNG && doubts.iter().any(|doubt| !doubt.is_of_size());
        clean = if doubts.is_empty() { clean + 1 } else { 0 };
        let enough = clean >= if doubtful { 2 } else { 1 };
        steps = held.div_ceil(2);
        let cost = (steps * chains.len()) as u64 * chains.leaps();
        if enough || !in_time || work.spent() + cost > settings.max_gradients {
            let reading = Reading::new(part, &frame, &seen.scores);
            let (names, parameter_names) = (question.names, question.parameter_names);
            let (coordinates, parameters) =
                reading.numbers(question.transforms, names, parameter_names, limits.largest);
            return Ok(Corrected {
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
                centre: frame.centre().to_vec(),
                states: chosen(part, frame.dim()),
            });
        }
        if let Some(next) = next {
            frame = next.frame;
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
    Ok(Tails::look(evaluator, &frame, seed)?.promise_any())
}

/// Evenly chosen states.
fn chosen(part: Part<'_>, dim: usize) -> Vec<f64> {
    let most = MOST_STATES.min((MOST_NUMBERS / dim).max(part.n));
    let kept = part.len().min(most);
    (0..kept).flat_map(|k| part.z[k * part.len() / kept * dim..][..dim].iter().copied()).collect()
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
        frame: &Frame,
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
    fn adapt(&mut self, mut frame: Frame) -> Result<(Ensemble, Frame, History), Error> {
        let n = self.settings.adapting_chains;
        let mut chains = Ensemble::around(self.evaluator, &frame, n, self.settings.seed)?;
        let mut history = History::new(frame.dim(), n);
        let most = (tuning::ADAPTING_SHARE * self.settings.max_gradients as f64) as u64;
        for round in 0.. {
            let steps = tuning::ROUNDS[round.min(tuning::ROUNDS.len() - 1)];
            let in_time = self.run(&mut chains, &frame, &mut history, steps)?;
            chains.tune();
            let acceptance = history.last(steps).acceptance().0;
            let part = history.last((history.steps() / 2).max(2));
            let mut settled = false;
            if let Some(next) = matched(&frame, part) {
                (frame, settled) = (next.frame, next.settled);
                chains.enter(&frame);
            }
            if (settled && acceptance > tuning::ADAPTED) || !in_time || self.spent() > most {
                break;
            }
        }
        Ok((chains, frame, history))
    }
}

/// What some steps say, as a whole and by halves.
struct Seen {
    scores: Vec<f64>,
    coordinates: Vec<Moments>,
    parameters: Vec<(usize, Moments)>,
    early: Vec<Moments>,
    late: Vec<Moments>,
}

impl Seen {
    fn of(part: Part<'_>, frame: &Frame, transforms: &Transforms) -> Self {
        let scores = frame.covariance_times(part.by_z);
        let whole = Reading::new(part, frame, &scores);
        let middle = part.len() / part.n / 2 * part.n;
        let (before, after) = part.split(middle, frame.dim());
        let (early, late) = scores.split_at(middle * frame.dim());
        Self {
            coordinates: whole.coordinates(),
            parameters: whole.parameters(transforms),
            early: Reading::new(before, frame, early).coordinates(),
            late: Reading::new(after, frame, late).coordinates(),
            scores,
        }
    }

    /// What is told of a round.
    fn round(&self, gradients: u64, max_gradients: u64) -> Round {
        let all = || self.coordinates.iter().chain(self.parameters.iter().map(|(_, moments)| moments));
        let (mean_error, sd_error) = (all().map(|m| m.mean_error), all().map(|m| m.log_sd_error));
        let worst = |errors: &mut dyn Iterator<Item = f64>| errors.fold(0.0, f64::max);
        Round { gradients, max_gradients, mean_error: worst(&mut { mean_error }), sd_error: worst(&mut { sd_error }) }
    }

    /// Everything in the states that speaks against the answer.
    fn doubts(
        &self,
        part: Part<'_>,
        question: &Question<'_>,
        limits: Limits,
        settled: bool,
        tails: &Tails,
    ) -> Vec<Doubt> {
        let mut doubts = self.unsharp(question, limits, part.n / 2);
        if let Some(i) = self.drift(limits) {
            doubts.push(Doubt::Drift { name: question.names[i].clone() });
        }
        let differs = |m: &Moments| {
            let allowed = limits.log_sd.max(tuning::DRIFT * m.apart.1);
            m.apart.0.is_nan() || m.apart.0.abs() > allowed
        };
        if let Some(i) = self.coordinates.iter().position(differs) {
            doubts.push(Doubt::Disagreement { name: question.names[i].clone() });
        }
        let (acceptance, least) = part.acceptance();
        if acceptance < tuning::STANDING_STILL[0] || least < tuning::STANDING_STILL[1] {
            doubts.push(Doubt::StandingStill { acceptance, least });
        }
        if !settled {
            doubts.push(Doubt::NotSettled);
        }
        if let Some((i, times)) = tails.unseen(part) {
            doubts.push(Doubt::Tail { name: question.names[i].clone(), times });
        }
        if !part.log_p.iter().any(|l| l.is_finite()) {
            doubts.push(Doubt::NoDensity);
        }
        doubts
    }

    /// Means and standard deviations whose errors are too large, the worst of each.
    ///
    /// An answer is sharp if, by Student's law of the errors over mirrored pairs, less than a fortieth of a mean and of
    /// a standard deviation are expected to be wrong, summed over all that are judged.
    fn unsharp(&self, question: &Question<'_>, limits: Limits, pairs: usize) -> Vec<Doubt> {
        let own = self.parameters.iter().filter(|(_, moments)| moments.largest <= limits.largest);
        let own = own.map(|(k, moments)| (&question.parameter_names[*k], moments));
        let judged: Vec<(&String, &Moments)> = question.names.iter().zip(&self.coordinates).chain(own).collect();
        let worst = |error: fn(&Moments) -> f64, limit: f64| {
            let wrong: f64 = judged.iter().map(|(_, m)| two_sided(limit / error(m), pairs - 1)).sum();
            // NaN is no error that one can rely on.
            if wrong <= tuning::WRONG {
                return None;
            }
            let of = judged.iter().max_by(|a, b| error(a.1).total_cmp(&error(b.1)))?;
            Some((of.0.clone(), (tuning::SURE * error(of.1)).max(limit)))
        };
        let mean = worst(|m| m.mean_error, limits.mean).map(|(name, within)| Doubt::Mean { name, within });
        let sd =
            worst(|m| m.log_sd_error, limits.log_sd).map(|(name, within)| Doubt::StandardDeviation { name, within });
        mean.into_iter().chain(sd).collect()
    }

    /// The coordinate in which the halves differ most, if by more than their errors and the limits.
    fn drift(&self, limits: Limits) -> Option<usize> {
        let halves = self.early.iter().zip(&self.late).zip(&self.coordinates).enumerate();
        let sizes = halves.map(|(i, ((early, late), all))| {
            let mean = (early.mean - late.mean).abs() / all.sd;
            let mean = mean / limits.mean.max(tuning::DRIFT * early.mean_error.hypot(late.mean_error));
            let log_sd = (early.sd / late.sd).ln().abs();
            let log_sd = log_sd / limits.log_sd.max(tuning::DRIFT * early.log_sd_error.hypot(late.log_sd_error));
            (i, mean.max(log_sd))
        });
        sizes.filter(|(_, size)| size.is_nan() || *size >= 1.0).max_by(|a, b| a.1.total_cmp(&b.1)).map(|(i, _)| i)
    }

    /// The mode of largest mass that no chain was near to.
    fn other_mode(&self, part: Part<'_>, frame: &Frame, modes: &[ModeRecord]) -> Option<Doubt> {
        let d = self.coordinates.len() as f64;
        // log Z of the place where the chains are, as if it were Gaussian: E log p plus the entropy.
        let finite = part.log_p.iter().filter(|l| l.is_finite());
        let mean = finite.clone().sum::<f64>() / finite.count().max(1) as f64;
        let entropy = 0.5 * (frame.log_determinant() + d * (1.0 + std::f64::consts::TAU.ln()));
        let found = modes.iter().filter_map(|mode| {
            let away = mode.centre.iter().zip(&self.coordinates).map(|(z, m)| (z - m.mean).abs() / m.sd);
            let distance = away.fold(0.0, f64::max);
            let share = mode.log_mass.map_or(1.0, |mass| 1.0 / (1.0 + (mean + entropy - mass).exp()));
            (distance > tuning::APART && share > tuning::OTHER_MASS).then_some((distance, share))
        });
        let (distance, share) = found.max_by(|a, b| a.1.total_cmp(&b.1))?;
        Some(Doubt::OtherMode { distance, share })
    }

    /// The smallest effective number of states over the coordinates, by how much the means of the chains differ.
    fn effective_states(&self, part: Part<'_>) -> f64 {
        let d = self.coordinates.len();
        let (mut sums, steps) = (vec![0.0; part.n * d], (part.len() / part.n) as f64);
        for states in part.z.chunks_exact(part.n * d) {
            sums.iter_mut().zip(states).for_each(|(sum, z)| *sum += z / steps);
        }
        let n = part.n as f64;
        let effective = self.coordinates.iter().enumerate().map(|(i, moments)| {
            let of_chains = || sums.iter().skip(i).step_by(d);
            let mean = of_chains().sum::<f64>() / n;
            let spread = of_chains().map(|m| (m - mean).powi(2)).sum::<f64>() / (n - 1.0);
            n * moments.sd * moments.sd / spread
        });
        effective.fold(part.len() as f64, f64::min)
    }
}

/// The coordinate in which all states since the run was young are wider than the late ones by more than `limit`, in
/// logarithms: a tail that was entered once and left is part of the answer, too.
fn left_behind(all: Part<'_>, late: Part<'_>, dim: usize, limit: f64) -> Option<usize> {
    let (all, late) = (variances(all, dim), variances(late, dim));
    (0..dim).find(|i| 0.5 * (all[*i] / late[*i]).ln() > limit)
}

/// The plain variance of every coordinate.
fn variances(part: Part<'_>, dim: usize) -> Vec<f64> {
    let n = part.len() as f64;
    let (mut first, mut second) = (vec![0.0; dim], vec![0.0; dim]);
    for z in part.z.chunks_exact(dim) {
        first.iter_mut().zip(z).for_each(|(sum, z)| *sum += z / n);
    }
    for z in part.z.chunks_exact(dim) {
        second.iter_mut().zip(z.iter().zip(&first)).for_each(|(sum, (z, mean))| *sum += (z - mean).powi(2) / n);
    }
    second
}

/// What no density can be, if it was met too often.
fn faults(chains: &Ensemble, tails: &Tails, of: u64) -> Option<Doubt> {
    let mut faults = chains.faults();
    faults += tails.faults;
    let count = faults.infinite + faults.undefined;
    (faults.infinite > 0 || faults.undefined as f64 > tuning::UNDEFINED * of as f64)
        .then_some(Doubt::Faults { count, of })
}

/// P(|t| > size) for Student's t with ν degrees of freedom, by Wallace's approximation, which is within 2 % in relative
/// size for ν ≥ 3 where it matters here.
fn two_sided(size: f64, nu: usize) -> f64 {
    let nu = nu as f64;
    let z = (8.0 * nu + 1.0) / (8.0 * nu + 3.0) * (nu * (size * size / nu).ln_1p()).sqrt();
    2.0 * normal_cdf(-z)
}
