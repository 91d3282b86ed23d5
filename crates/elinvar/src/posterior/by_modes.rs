//! Chains on each of several modes, and one answer over all, weighed by their evidence (mathematics §11.8).

use super::bridge;
use crate::Error;
use crate::chains::{self, Answered, Correction, Frame, Limits, Place, Question, SlowChains, Territories, Within};
use crate::evaluate::Evaluator;
use crate::family::Approximation;
use crate::random::{Purpose, Stream};
use crate::record::Estimate;
use crate::target::DrawBuffer;
use crate::tuning::chains as tuning;

/// Block of [`Purpose::Chains`] for the seeds of places.
const SEED_BLOCK: u32 = 1 << 18;
/// Block of [`Purpose::Chains`] for the draws of bridges.
const BRIDGE_BLOCK: u32 = 1 << 19;

/// What chains on every mode of a mixture find, with the log evidence; nothing where it has no modes apart from each
/// other.
///
/// # Errors
/// As [`chains::correct`].
pub(super) fn correct(
    evaluator: &mut Evaluator<'_>,
    q: &Approximation,
    question: &Question<'_>,
    settings: &Correction,
    limits: Limits,
) -> Result<Option<(Answered, Estimate)>, Error> {
    let Some(mut territories) = Territories::of(q) else { return Ok(None) };
    let before = evaluator.counts().gradient;
    loop {
        let left = settings.max_gradients.saturating_sub(evaluator.counts().gradient - before);
        let mut places = Vec::new();
        let mut adjoining = None;
        for place in 0..territories.len() {
            let Some((part, share)) = territories.part(place) else { return Ok(None) };
            if share < tuning::LIGHT_PLACE {
                continue;
            }
            let seed = Stream::open(settings.seed, Purpose::Chains, place as u64, SEED_BLOCK).next_u64();
            let max_gradients = (left / territories.len() as u64).max(1);
            let settings = Correction { seed, max_gradients, ..settings.clone() };
            let within = Within { target: evaluator.target(), territories: &territories, place };
            let found = answer(evaluator, &within, &part, question, &settings, limits)?;
            adjoining = territories.adjoining(place, &found.answered.corrected.states);
            places.push(found);
            if adjoining.is_some() {
                break;
            }
        }
        if let Some((a, b)) = adjoining {
            territories.join(a, b);
            if territories.len() < 2 {
                return Ok(None);
            }
            continue;
        }
        return Ok(Some(chains::pool(&places, question.transforms, limits)).filter(|_| !places.is_empty()));
    }
}

/// Chains on one place, and its mass.
fn answer(
    evaluator: &mut Evaluator<'_>,
    within: &Within<'_>,
    part: &Approximation,
    question: &Question<'_>,
    settings: &Correction,
    limits: Limits,
) -> Result<Place, Error> {
    within.ask(evaluator, |inside| {
        let covariance = part.covariance();
        let own =
            Question { mean: part.mean(), covariance: &covariance, modes: &[], slow: SlowChains::GoOn, ..*question };
        let answered = chains::correct(inside, &own, settings, limits)?;
        let log_mass = mass(inside, &answered, settings.seed)?;
        Ok(Place { answered, log_mass })
    })
}

/// The logarithm of the mass of a place, by a bridge between the Gaussian that was matched to the states and these;
/// with more draws until its error is small.
fn mass(evaluator: &mut Evaluator<'_>, answered: &Answered, seed: u64) -> Result<Estimate, Error> {
    let Answered { corrected, log_p, frame, .. } = answered;
    let states = corrected.draws(corrected.n_states());
    let of_p = ratios(frame, &states, log_p);
    let mut stream = Stream::open(seed, Purpose::Chains, 0, BRIDGE_BLOCK);
    let mut x = vec![0.0; frame.dim()];
    let mut of_q: Vec<f64> = Vec::new();
    loop {
        let mut draws = DrawBuffer::zeros(frame.dim(), of_q.len().max(tuning::MASS_DRAWS[0]));
        for s in 0..draws.len() {
            stream.fill_normal(&mut x);
            frame.to_z(&x, draws.get_mut(s));
        }
        let log_p = evaluator.values(&draws)?;
        of_q.extend(ratios(frame, &draws, &log_p));
        let known = bridge::log_evidence(&of_q, &of_p, corrected.effective_states);
        if known.is_some_and(|known| known.mcse < tuning::MASS_ERROR) || of_q.len() >= tuning::MASS_DRAWS[1] {
            return Ok(known.unwrap_or(Estimate { value: f64::NEG_INFINITY, mcse: f64::MAX }));
        }
    }
}

/// log p − log N(z | m, C) at each of several points.
fn ratios(frame: &Frame, points: &DrawBuffer, log_p: &[f64]) -> Vec<f64> {
    let constant = -0.5 * (frame.log_determinant() + frame.dim() as f64 * std::f64::consts::TAU.ln());
    let mut x = vec![0.0; frame.dim()];
    let ratio = |(z, log_p): (&[f64], &f64)| {
        frame.to_x(z, &mut x);
        log_p - constant + 0.5 * x.iter().map(|x| x * x).sum::<f64>()
    };
    points.view().iter().zip(log_p).map(ratio).collect()
}
