//! What speaks for and against an answer of chains.

use super::matching::matched;
use super::printed::{Inside, Reading};
use super::stein::Moments;
use super::tails::Tails;
use super::{Coordinates, CorrectedNumber, Doubt, Ensemble, Frame, Layer, Limits, Part, Question, Round};
use crate::record::ModeRecord;
use crate::special::normal::normal_cdf;
use crate::target::Transforms;
use crate::target::fault::shown;
use crate::tuning::chains as tuning;

/// Components that drive bends and give control variates, at most.
const MOST_DRIVERS: usize = 2;

/// What some steps say, as a whole and by halves.
pub(super) struct Seen {
    frame: Frame,
    scores: Vec<f64>,
    inside: Option<Inside>,
    roughness: f64,
    coordinates: Vec<Moments>,
    parameters: Vec<(usize, Moments)>,
    early: Vec<Moments>,
    late: Vec<Moments>,
}

impl Seen {
    pub(super) fn of(part: Part<'_>, coordinates: &Coordinates, transforms: &Transforms) -> Self {
        let mut frame = coordinates.frame().clone();
        let (mut inside, mut roughness) = (None, 0.0);
        if coordinates.are_bent() {
            // Of the Gaussian outside no more is asked than to be about right, so it may be old; this one is new.
            if let Some(next) = matched(&Coordinates::straight(frame.clone()), part) {
                frame = next.coordinates.frame().clone();
            }
            let (u, by_u, _) = coordinates.seen_from(part.z, part.by_z);
            let drivers = coordinates.layers().iter().flat_map(|layer| match layer {
                Layer::Bend(bend) => vec![bend.axis()],
                Layer::Pinch(pinch) => pinch.drivers().to_vec(),
                Layer::Straight(_) | Layer::Stretch(_) => Vec::new(),
            });
            let mut drivers: Vec<usize> = drivers.collect();
            drivers.sort_unstable();
            drivers.dedup();
            drivers.truncate(MOST_DRIVERS);
            inside = Some(Inside { u, by_u, drivers });
            roughness = coordinates.roughness(part.z, part.by_z);
        }
        let scores = frame.covariance_times(part.by_z);
        let whole = Reading::new(part, &frame, &scores).with(inside.as_ref());
        let middle = part.len() / part.n / 2 * part.n;
        let (before, after) = part.split(middle, frame.dim());
        let (early, late) = scores.split_at(middle * frame.dim());
        let early = Reading::new(before, &frame, early).coordinates();
        let late = Reading::new(after, &frame, late).coordinates();
        Self {
            coordinates: whole.coordinates(),
            parameters: whole.parameters(transforms),
            early,
            late,
            frame,
            scores,
            inside,
            roughness,
        }
    }

    /// The coordinates of the Gaussian that is matched to the states.
    pub(super) fn straight(&self) -> Coordinates {
        Coordinates::straight(self.frame.clone())
    }

    /// How far the gradients of the worst component are from those of N(0, I) in bent coordinates.
    pub(super) fn roughness(&self) -> f64 {
        self.roughness
    }

    /// What is told of a round.
    pub(super) fn round(&self, gradients: u64, max_gradients: u64) -> Round {
        let all = || self.coordinates.iter().chain(self.parameters.iter().map(|(_, moments)| moments));
        let (mean_error, sd_error) = (all().map(|m| m.mean_error), all().map(|m| m.log_sd_error));
        let worst = |errors: &mut dyn Iterator<Item = f64>| errors.fold(0.0, f64::max);
        Round { gradients, max_gradients, mean_error: worst(&mut { mean_error }), sd_error: worst(&mut { sd_error }) }
    }

    /// The numbers that are printed.
    pub(super) fn numbers(
        &self,
        part: Part<'_>,
        question: &Question<'_>,
        largest: f64,
    ) -> (Vec<CorrectedNumber>, Vec<CorrectedNumber>) {
        let reading = Reading::new(part, &self.frame, &self.scores).with(self.inside.as_ref());
        reading.numbers(question.transforms, question.names, question.parameter_names, largest)
    }

    /// Everything in the states that speaks against the answer.
    pub(super) fn doubts(
        &self,
        part: Part<'_>,
        question: &Question<'_>,
        limits: Limits,
        settled: bool,
        tails: &Tails,
    ) -> Vec<Doubt> {
        let mut doubts = self.unsharp(question, limits, self.independent(part.n), 1.0);
        let errors = allowed_errors(self.coordinates.len(), self.independent(part.n));
        if let Some(i) = self.drift(limits, errors) {
            doubts.push(Doubt::Drift { name: question.names[i].clone() });
        }
        let differs = |m: &Moments| {
            let is_beyond = |(difference, error): (f64, f64), limit: f64| {
                difference.is_nan() || difference.abs() > limit.max(errors * error)
            };
            is_beyond(m.apart, limits.log_sd) || is_beyond(m.mean_apart, limits.mean)
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
    /// An answer is sharp if, by Student's law of the errors over halves of mirrored pairs, less than a fortieth of a
    /// mean and of a standard deviation are expected to be wrong, summed over all that are judged. Errors are taken
    /// `shrink` times.
    fn unsharp(&self, question: &Question<'_>, limits: Limits, halves: usize, shrink: f64) -> Vec<Doubt> {
        let own = self.parameters.iter().filter(|(_, moments)| moments.largest <= limits.largest);
        let own = own.map(|(k, moments)| (&question.parameter_names[*k], moments));
        let judged: Vec<(&String, &Moments)> = question.names.iter().zip(&self.coordinates).chain(own).collect();
        let worst = |error: fn(&Moments) -> f64, limit: f64| {
            let wrong: f64 = judged.iter().map(|(_, m)| two_sided(limit / (shrink * error(m)), halves - 1)).sum();
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

    /// Whether the errors of `chains` suffice for these limits.
    pub(super) fn is_sharp(&self, question: &Question<'_>, limits: Limits, chains: usize) -> bool {
        self.unsharp(question, limits, self.independent(chains), 1.0).is_empty()
    }

    /// How many numbers errors are judged by: the halves of pairs; in few coordinates, where chains may be slow and a
    /// sharper law saves little, the pairs.
    fn independent(&self, chains: usize) -> usize {
        if self.coordinates.len() > tuning::FEW_COORDINATES { chains } else { chains / 2 }
    }

    /// Steps of the next round after so many: as many as the errors ask for, at most half as many again.
    pub(super) fn steps_to_go(
        &self,
        doubts: &[Doubt],
        held: usize,
        question: &Question<'_>,
        limits: Limits,
        chains: usize,
    ) -> usize {
        let halves = self.independent(chains);
        let is_enough = |share: &f64| self.unsharp(question, limits, halves, (1.0 + share).sqrt().recip()).is_empty();
        let of_size = doubts.iter().all(Doubt::is_of_size);
        let share = tuning::MORE_STEPS.into_iter().find(|share| of_size && is_enough(share)).unwrap_or(0.5);
        (share * held as f64).ceil() as usize
    }

    /// The coordinate in which the halves differ most, if by more than their errors and the limits.
    fn drift(&self, limits: Limits, errors: f64) -> Option<usize> {
        let halves = self.early.iter().zip(&self.late).zip(&self.coordinates).enumerate();
        let sizes = halves.map(|(i, ((early, late), all))| {
            let mean = (early.mean - late.mean).abs() / all.sd;
            let mean = mean / limits.mean.max(errors * early.mean_error.hypot(late.mean_error));
            let log_sd = (early.sd / late.sd).ln().abs();
            let log_sd = log_sd / limits.log_sd.max(errors * early.log_sd_error.hypot(late.log_sd_error));
            (i, mean.max(log_sd))
        });
        sizes.filter(|(_, size)| size.is_nan() || *size >= 1.0).max_by(|a, b| a.1.total_cmp(&b.1)).map(|(i, _)| i)
    }

    /// The mode of largest mass that no chain was near to.
    pub(super) fn other_mode(&self, part: Part<'_>, modes: &[ModeRecord]) -> Option<Doubt> {
        let d = self.coordinates.len() as f64;
        // log Z of the place where the chains are, as if it were Gaussian: E log p plus the entropy.
        let finite = part.log_p.iter().filter(|l| l.is_finite());
        let mean = finite.clone().sum::<f64>() / finite.count().max(1) as f64;
        let entropy = 0.5 * (self.frame.log_determinant() + d * (1.0 + std::f64::consts::TAU.ln()));
        let found = modes.iter().filter_map(|mode| {
            let away = mode.centre.iter().zip(&self.coordinates).map(|(z, m)| (z - m.mean).abs() / m.sd);
            let distance = away.fold(0.0, f64::max);
            let share = mode.log_mass.map_or(1.0, |mass| 1.0 / (1.0 + (mean + entropy - mass).exp()));
            (distance > tuning::APART && share > tuning::OTHER_MASS).then_some((distance, share, mode))
        });
        let (distance, share, mode) = found.max_by(|a, b| a.1.total_cmp(&b.1))?;
        Some(Doubt::OtherMode { distance, share, place: shown(&mode.centre) })
    }

    /// The smallest effective number of states over the coordinates, by how much the means of the chains differ.
    pub(super) fn effective_states(&self, part: Part<'_>) -> f64 {
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
pub(super) fn left_behind(all: Part<'_>, late: Part<'_>, dim: usize, limit: f64) -> Option<usize> {
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
pub(super) fn faults(chains: &Ensemble, tails: &Tails, of: u64) -> Option<Doubt> {
    let mut faults = chains.faults();
    faults += tails.faults;
    let count = faults.infinite + faults.undefined;
    (faults.infinite > 0 || faults.undefined as f64 > tuning::UNDEFINED * of as f64)
        .then_some(Doubt::Faults { count, of })
}

/// Standard errors over halves of so many pairs by which two estimates may differ: [`tuning::DRIFT`], and more where
/// that would be exceeded more often by chance, because there are more coordinates.
fn allowed_errors(coordinates: usize, halves: usize) -> f64 {
    let mut errors = tuning::DRIFT;
    while coordinates as f64 * two_sided(errors, halves - 1) > tuning::DRIFT_BY_CHANCE {
        errors += 0.125;
    }
    errors
}

/// P(|t| > size) for Student's t with ν degrees of freedom, by Wallace's approximation, which is within 2 % in relative
/// size for ν ≥ 3 where it matters here.
fn two_sided(size: f64, nu: usize) -> f64 {
    let nu = nu as f64;
    let z = (8.0 * nu + 1.0) / (8.0 * nu + 3.0) * (nu * (size * size / nu).ln_1p()).sqrt();
    2.0 * normal_cdf(-z)
}
