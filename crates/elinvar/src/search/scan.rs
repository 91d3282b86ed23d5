//! A look at log p all around an answer, for modes that no search has met (mathematics §13.1).
//!
//! The climbs of a search begin near what is known, and chains stay where they are: neither meets a mode that is narrow
//! and far away. But within a ball that grows with its distance any mode is higher than the tail of the others. So log
//! p is asked at places as far apart as they are far away, and climbed from where it stands out.

use super::design::{Design, far_out};
use super::metric::Metric;
use super::way::metric_of_covariance;
use super::{Known, Mode, Probe, climb_to_mode};
use crate::Error;
use crate::evaluate::Evaluator;
use crate::linalg::cholesky::{self, Workspace};
use crate::linalg::{axpy, dot};
use crate::special::order;
use crate::target::{Covariance, DrawBuffer};
use crate::tuning::scan as tuning;

/// Where to look: around the centre, in units of a covariance.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Surroundings<'s> {
    pub(crate) centre: &'s [f64],
    pub(crate) covariance: &'s [f64],
    /// How many places to look at.
    pub(crate) places: usize,
    pub(crate) seed: u64,
}

/// What was found.
#[derive(Debug)]
pub(crate) struct Scanned {
    /// Every mode that a climb ended at, also if it is that of the answer.
    pub(crate) modes: Vec<Mode>,
    /// Climbs.
    pub(crate) climbs: usize,
    /// Places at which the density was +∞.
    pub(crate) infinite: u64,
}

/// Looks at log p around a centre; nothing where the covariance is none.
///
/// # Errors
/// A fatal error of the target; [`Error::Interrupted`].
pub(crate) fn scan(evaluator: &mut Evaluator<'_>, surroundings: Surroundings<'_>) -> Result<Option<Scanned>, Error> {
    let Surroundings { centre, covariance, places, seed } = surroundings;
    let d = centre.len();
    let mut factor = vec![0.0; d * d];
    if cholesky::factor(d, covariance, &mut factor, &mut Workspace::new(d)).is_err() {
        return Ok(None);
    }
    let design = Design::new(d, places, seed);
    let mut draws = DrawBuffer::zeros(d, places);
    for (s, x) in design.x.chunks_exact(d).enumerate() {
        let z = draws.get_mut(s);
        cholesky::factor_times(d, &factor, x, z);
        axpy(1.0, centre, z);
    }
    let log_p = evaluator.values(&draws)?;
    let infinite = log_p.iter().filter(|l| **l == f64::INFINITY).count() as u64;
    let mut probe = Probe::new(Evaluator::new(evaluator.target(), evaluator.interrupt()));
    let mut modes = Vec::new();
    // Climbs to the answer itself end where it is about as high as its centre.
    let Some(precision) = metric_of_covariance(d, covariance) else { return Ok(None) };
    if let Some(point) = probe.point(centre.to_vec())? {
        modes.push(Mode::new(point, precision.clone()));
    }
    let n_known = modes.len();
    let most = tuning::GRADIENTS[0] + tuning::GRADIENTS[1] * d as u64;
    let mut climbs = 0;
    let high = standing_out(&design, &log_p).into_iter().map(|s| design.x[s * d..(s + 1) * d].to_vec());
    for x in far_out(d, seed).into_iter().chain(high) {
        if probe.evaluator.counts().gradient > most {
            break;
        }
        let mut place = vec![0.0; d];
        cholesky::factor_times(d, &factor, &x, &mut place);
        axpy(1.0, centre, &mut place);
        let Some(point) = probe.point(place)? else { continue };
        climbs += 1;
        let Some(metric) = cautious(&precision, &point.gradient, dot(&x, &x).sqrt()) else { continue };
        let known = Known::Beside { modes: &modes, metric: &metric };
        if let Some(mode) = climb_to_mode(&mut probe, point.z, known, Covariance::Full)?
            && !modes.iter().any(|other: &Mode| other.is_at(&mode.centre))
        {
            modes.push(mode);
        }
    }
    let mut counts = evaluator.counts();
    counts += probe.evaluator.counts();
    evaluator.set_counts(counts);
    modes.drain(..n_known);
    Ok(Some(Scanned { modes, climbs, infinite }))
}

/// The curvature with which the first step from a place is a small part of its distance from the centre: with that of
/// the answer it would lead out of what belongs to a narrow mode, and over to the answer.
fn cautious(precision: &Metric, gradient: &[f64], distance: f64) -> Option<Metric> {
    let mut step = gradient.to_vec();
    precision.solve(&mut step);
    let length = dot(&step, gradient).max(0.0).sqrt();
    precision.scaled((length / (tuning::FIRST_STEP * distance.max(tuning::LEAST_DISTANCE))).max(1.0))
}

/// The places to climb from: those above all of their neighbours, those that are high for their distance, and those
/// that are high for the room around them; each once.
fn standing_out(design: &Design, log_p: &[f64]) -> Vec<usize> {
    let above = above_their_shell(design, log_p);
    let mut chosen: Vec<usize> = Vec::new();
    let mut choose = |mut scored: Vec<(f64, usize)>, most: usize| {
        scored.retain(|(score, _)| *score > tuning::STANDS_OUT);
        order::descending(&mut scored, |item| item.0);
        scored.truncate(most);
        scored.iter().for_each(|(_, s)| {
            if !chosen.contains(s) {
                chosen.push(*s);
            }
        });
    };
    match design.spacing() {
        Some(spacing) => {
            let neighbours = Neighbours::new(design, tuning::NEIGHBOUR * spacing);
            choose(neighbours.peaks(log_p), tuning::PEAKS);
            choose(neighbours.peaks(&above), tuning::HIGH);
        }
        None => choose(above.iter().copied().zip(0..).collect(), tuning::HIGH),
    }
    let finite = (0..log_p.len()).filter(|s| log_p[*s].is_finite());
    let room = |s: usize| {
        let x = &design.x[s * design.dim..(s + 1) * design.dim];
        0.5 * design.dim as f64 * dot(x, x).max(tuning::BULK * tuning::BULK).ln()
    };
    let lowest = finite.clone().map(|s| log_p[s]).fold(f64::INFINITY, f64::min);
    choose(finite.map(|s| (log_p[s] + room(s) - lowest, s)).collect(), tuning::ROOMY);
    chosen
}

/// log p less the median of places at about the same distance; −∞ where there is no density.
fn above_their_shell(design: &Design, log_p: &[f64]) -> Vec<f64> {
    let square = |s: usize| {
        let x = &design.x[s * design.dim..(s + 1) * design.dim];
        dot(x, x)
    };
    let mut order: Vec<(f64, usize)> =
        (0..log_p.len()).filter(|s| log_p[*s].is_finite()).map(|s| (square(s), s)).collect();
    order::ascending(&mut order, |item| item.0);
    let mut above = vec![f64::NEG_INFINITY; log_p.len()];
    for shell in order.chunks(tuning::SHELL) {
        let mut heights: Vec<f64> = shell.iter().map(|(_, s)| log_p[*s]).collect();
        heights.sort_by(f64::total_cmp);
        let median = heights[heights.len() / 2];
        shell.iter().for_each(|(_, s)| above[*s] = log_p[*s] - median);
    }
    above
}

/// Pairs of places that are near to each other on the map.
struct Neighbours<'d> {
    design: &'d Design,
    /// Places in the order of their first coordinate.
    order: Vec<usize>,
    radius: f64,
}

impl<'d> Neighbours<'d> {
    fn new(design: &'d Design, radius: f64) -> Self {
        let mut order: Vec<usize> = (0..design.len()).collect();
        order::ascending(&mut order, |s| design.y[s * design.dim]);
        Self { design, order, radius }
    }

    /// The places that are higher than all of their neighbours, each with how much higher.
    fn peaks(&self, height: &[f64]) -> Vec<(f64, usize)> {
        let d = self.design.dim;
        let y = |s: usize| &self.design.y[s * d..(s + 1) * d];
        let mut highest = vec![f64::NEG_INFINITY; height.len()];
        for (k, s) in self.order.iter().enumerate() {
            for t in &self.order[k + 1..] {
                if y(*t)[0] - y(*s)[0] > self.radius {
                    break;
                }
                let square: f64 = y(*s).iter().zip(y(*t)).map(|(a, b)| (a - b).powi(2)).sum();
                if square < self.radius * self.radius {
                    highest[*s] = highest[*s].max(height[*t]);
                    highest[*t] = highest[*t].max(height[*s]);
                }
            }
        }
        // Beside places without density everything stands out.
        let lowest = height.iter().copied().filter(|h| h.is_finite()).fold(f64::INFINITY, f64::min);
        let score = |s: usize| (height[s] - highest[s].max(lowest), s);
        (0..height.len()).filter(|s| height[*s].is_finite() && height[*s] > highest[*s]).map(score).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::GaussianMixture;
    use crate::target::Target;

    /// 1 − w of N(0, I) and w of N(m, s²I).
    fn two_modes(weight: f64, place: &[f64], sd: f64) -> GaussianMixture {
        let d = place.len();
        let means: Vec<f64> = std::iter::repeat_n(0.0, d).chain(place.iter().copied()).collect();
        let mut covariances = vec![0.0; 2 * d * d];
        for i in 0..d {
            covariances[i * (d + 1)] = 1.0;
            covariances[d * d + i * (d + 1)] = sd * sd;
        }
        GaussianMixture::new(&[1.0 - weight, weight], means, &covariances).unwrap()
    }

    fn looked(target: &dyn Target, places: usize, seed: u64) -> (Scanned, u64) {
        let d = target.dim();
        let mut covariance = vec![0.0; d * d];
        covariance.iter_mut().step_by(d + 1).for_each(|v| *v = 1.0);
        let mut evaluator = Evaluator::new(target, None);
        let centre = vec![0.0; d];
        let surroundings = Surroundings { centre: &centre, covariance: &covariance, places, seed };
        let scanned = scan(&mut evaluator, surroundings).unwrap().unwrap();
        (scanned, evaluator.counts().gradient)
    }

    /// Modes of many widths at many distances are met with their place and mass, for few gradients.
    #[test]
    fn a_narrow_mode_far_away_is_met() {
        let cases: [(&[f64], f64, usize); 7] = [
            (&[1.1], 0.002, 4_096),
            (&[-9.0, 8.0], 0.06, 2_048),
            (&[3.0, 8.0], 0.15, 2_048),
            (&[13.0, -3.0], 0.156, 2_048),
            (&[-4.0, 12.8], 0.156, 2_048),
            (&[5.0, -8.0, 4.0], 0.1, 16_384),
            (&[6.0, 2.0, 3.0, -4.0, 5.0], 0.8, 1_024),
        ];
        for (place, sd, places) in cases {
            let (scanned, gradients) = looked(&two_modes(0.3, place, sd), places, 5);
            let mode = scanned.modes.iter().find(|mode| {
                let apart = mode.centre.iter().zip(place).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
                apart.sqrt() < 1e-2 * sd
            });
            let mode = mode.unwrap_or_else(|| panic!("{place:?} is not among {:?}", scanned.modes));
            // The model is normalised, and so the mass is the weight, with a little of the other mode beneath a spike.
            assert!((mode.log_mass - 0.3f64.ln()).abs() < 1e-2, "{}", mode.log_mass.exp());
            assert!(gradients < 400, "{gradients} gradients");
        }
    }

    #[test]
    fn where_there_is_one_mode_none_is_found() {
        for place in [&[0.3][..], &[0.0, 0.2], &[0.0, 0.1, 0.0], &[0.0; 8]] {
            let (scanned, gradients) = looked(&two_modes(0.5, place, 1.1), 1_024, 2);
            assert!(scanned.modes.len() <= 1, "{:?}", scanned.modes);
            assert!(gradients < 300, "{gradients} gradients");
            assert_eq!(scanned.infinite, 0);
        }
    }
}
