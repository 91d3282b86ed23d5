//! Tails that no chain has entered: looked for along single coordinates, and visited (mathematics §11.5).
//!
//! A chain that has not been in a tail says nothing of it, and its errors are small for that very reason. So log p is
//! asked far out along the path of conditional means of each coordinate, where the Gaussian falls by t²/2. Where it
//! falls slower, the profile is followed farther; as a law of one coordinate it says what standard deviation to expect
//! and how often chains must be out there. Some chains then start there. If they come back soon and the others do not
//! go, the profile was wrong (the conditional law is narrower there); otherwise the answer is not settled.

use super::ensemble::Faults;
use super::{Ensemble, Frame, Part};
use crate::Error;
use crate::evaluate::Evaluator;
use crate::target::DrawBuffer;
use crate::tuning::tails as tuning;

/// Where a profile is followed, in standard deviations to either side.
const FAR: [f64; 9] = [1.5, 3.0, 4.0, 6.5, 8.0, 10.0, 14.0, 20.0, 30.0];
/// Spacing of the sums over a profile.
const SPACING: f64 = 0.1;

/// log p + t²/2, less its value at the centre, along the conditional means of one coordinate; linear between the places
/// where it was asked for.
#[derive(Clone, Debug)]
struct Profile {
    coordinate: usize,
    /// (t, excess), ascending in t.
    points: Vec<(f64, f64)>,
}

impl Profile {
    /// The law of t that the profile is, as (t, probability).
    fn law(&self) -> Vec<(f64, f64)> {
        let (first, last) = (self.points[0].0, self.points[self.points.len() - 1].0);
        let n = ((last - first) / SPACING).round() as usize;
        let mut place = 0;
        let mut logs: Vec<(f64, f64)> = (0..=n)
            .map(|k| {
                let t = first + k as f64 * SPACING;
                while place + 2 < self.points.len() && self.points[place + 1].0 < t {
                    place += 1;
                }
                let ((t0, e0), (t1, e1)) = (self.points[place], self.points[place + 1]);
                let share = ((t - t0) / (t1 - t0)).clamp(0.0, 1.0);
                // Beyond the edge of the density there is none.
                let excess = if e0.is_finite() && e1.is_finite() { e0 + share * (e1 - e0) } else { f64::NEG_INFINITY };
                (t, excess - 0.5 * t * t)
            })
            .collect();
        let top = logs.iter().map(|(_, l)| *l).fold(f64::NEG_INFINITY, f64::max);
        logs.iter_mut().for_each(|(_, l)| *l = (*l - top).exp());
        let total: f64 = logs.iter().map(|(_, p)| p).sum();
        logs.iter_mut().for_each(|(_, p)| *p /= total);
        logs
    }
}

/// A tail that a profile promises.
#[derive(Clone, Debug)]
pub(crate) struct Suspect {
    pub(crate) coordinate: usize,
    /// Standard deviation that the profile gives the coordinate.
    pub(crate) sd: f64,
    /// +1 above the centre, −1 below.
    side: f64,
    /// Standard deviations from the centre beyond which the tail is, and where its weight is.
    edge: f64,
    middle: f64,
    /// Probability that the profile gives the tail.
    mass: f64,
    /// The chains that started there, and the step at which each came back.
    visitors: Vec<(usize, Option<usize>)>,
}

/// Profiles that fall slower than the Gaussian's, and who has been sent there.
#[derive(Debug)]
pub(crate) struct Tails {
    frame: Frame,
    sds: Vec<f64>,
    suspects: Vec<Suspect>,
    /// Steps since the visitors left.
    steps: usize,
    /// What no density can be, far out.
    pub(crate) faults: Faults,
}

impl Tails {
    /// Asks for log p far out along every coordinate, and farther where it falls slowly.
    ///
    /// # Errors
    /// A fatal error of the target; [`Error::Interrupted`].
    pub(crate) fn look(evaluator: &mut Evaluator<'_>, frame: &Frame) -> Result<Self, Error> {
        let d = frame.dim();
        let covariance = frame.covariance();
        let sds: Vec<f64> = (0..d).map(|i| covariance[i * d + i].sqrt()).collect();
        let along = |i: usize, t: f64, z: &mut [f64]| {
            for ((z, m), c) in z.iter_mut().zip(frame.centre()).zip(&covariance[i * d..(i + 1) * d]) {
                *z = m + t * c / sds[i];
            }
        };
        let mut draws = DrawBuffer::zeros(d, 2 * d + 1);
        for i in 0..d {
            along(i, tuning::FIRST, draws.get_mut(2 * i));
            along(i, -tuning::FIRST, draws.get_mut(2 * i + 1));
        }
        draws.get_mut(2 * d).copy_from_slice(frame.centre());
        let log_p = evaluator.values(&draws)?;
        let centre = log_p[2 * d];
        let excess = |log_p: f64, t: f64| {
            let excess = log_p - centre + 0.5 * t * t;
            if excess.is_nan() || excess == f64::INFINITY { f64::NEG_INFINITY } else { excess }
        };
        let mut slow: Vec<(f64, usize)> = (0..d)
            .map(|i| (log_p[2 * i].max(log_p[2 * i + 1]), i))
            .map(|(l, i)| (excess(l, tuning::FIRST), i))
            .filter(|(excess, _)| *excess > tuning::EXCESS)
            .collect();
        slow.sort_by(|a, b| b.0.total_cmp(&a.0));
        slow.truncate(tuning::MOST_PROFILES);
        let mut faults = Faults::default();
        log_p.iter().filter(|l| !l.is_finite()).for_each(|l| faults.note(*l));
        let mut tails = Self { frame: frame.clone(), sds: sds.clone(), suspects: Vec::new(), steps: 0, faults };
        if slow.is_empty() {
            return Ok(tails);
        }
        let mut draws = DrawBuffer::zeros(d, slow.len() * 2 * FAR.len());
        for (k, (_, i)) in slow.iter().enumerate() {
            for (j, t) in FAR.iter().enumerate() {
                along(*i, *t, draws.get_mut(2 * (k * FAR.len() + j)));
                along(*i, -*t, draws.get_mut(2 * (k * FAR.len() + j) + 1));
            }
        }
        let farther = evaluator.values(&draws)?;
        farther.iter().filter(|l| !l.is_finite()).for_each(|l| tails.faults.note(*l));
        for (k, (_, i)) in slow.iter().enumerate() {
            let mut points = vec![
                (0.0, 0.0),
                (tuning::FIRST, excess(log_p[2 * i], tuning::FIRST)),
                (-tuning::FIRST, excess(log_p[2 * i + 1], tuning::FIRST)),
            ];
            for (j, t) in FAR.iter().enumerate() {
                let at = 2 * (k * FAR.len() + j);
                points.push((*t, excess(farther[at], *t)));
                points.push((-*t, excess(farther[at + 1], *t)));
            }
            points.sort_by(|a, b| a.0.total_cmp(&b.0));
            tails.suspect(&Profile { coordinate: *i, points });
        }
        Ok(tails)
    }

    /// Adds the sides of a profile that have much of its second moment beyond what chains surely see.
    fn suspect(&mut self, profile: &Profile) {
        let law = profile.law();
        let mean: f64 = law.iter().map(|(t, p)| t * p).sum();
        let variance: f64 = law.iter().map(|(t, p)| (t - mean).powi(2) * p).sum();
        for side in [1.0, -1.0] {
            let beyond = |edge: f64| law.iter().filter(move |(t, _)| side * t > edge);
            let edge = tuning::EDGE;
            let moment: f64 = beyond(edge).map(|(t, p)| (t - mean).powi(2) * p).sum();
            if !(moment > tuning::SHARE * variance) {
                continue;
            }
            let half: f64 = beyond(edge).map(|(t, p)| t.abs() * p).sum::<f64>();
            let mass: f64 = beyond(edge).map(|(_, p)| p).sum();
            self.suspects.push(Suspect {
                coordinate: profile.coordinate,
                sd: variance.sqrt() * self.sds[profile.coordinate],
                side,
                edge,
                middle: half / mass,
                mass,
                visitors: Vec::new(),
            });
        }
        self.suspects.sort_by(|a, b| (b.mass * b.middle).total_cmp(&(a.mass * a.middle)));
    }

    /// Sends chains into the tails: a quarter of them, one of a pair, in turn into one tail after the other.
    ///
    /// # Errors
    /// As [`Tails::look`].
    pub(crate) fn visit(
        &mut self,
        evaluator: &mut Evaluator<'_>,
        frame: &Frame,
        chains: &mut Ensemble,
    ) -> Result<(), Error> {
        let d = frame.dim();
        let visitors = chains.len() / 4;
        self.suspects.truncate(visitors);
        if self.suspects.is_empty() {
            return Ok(());
        }
        let covariance = self.frame.covariance();
        let n = self.suspects.len();
        let mut places = Vec::with_capacity(visitors);
        for chain in 0..visitors {
            let suspect = &mut self.suspects[chain % n];
            suspect.visitors.push((chain, None));
            let i = suspect.coordinate;
            let t = suspect.side * suspect.middle / self.sds[i];
            let path = &covariance[i * d..(i + 1) * d];
            places.push((chain, self.frame.centre().iter().zip(path).map(|(m, c)| m + t * c).collect()));
        }
        chains.place(evaluator, frame, &places)
    }

    /// Notes who has come back.
    pub(crate) fn watch(&mut self, chains: &Ensemble) {
        self.steps += 1;
        let d = self.frame.dim();
        for suspect in &mut self.suspects {
            let i = suspect.coordinate;
            for (chain, returned) in suspect.visitors.iter_mut().filter(|(_, returned)| returned.is_none()) {
                let z = chains.states().z[*chain * d + i];
                if suspect.side * (z - self.frame.centre()[i]) / self.sds[i] < tuning::BACK {
                    *returned = Some(self.steps);
                }
            }
        }
    }

    /// The first tail that the chains should have seen more of: its coordinate, the standard deviation that its profile
    /// promises, and the share of the states that are in it.
    pub(crate) fn unseen(&self, part: Part<'_>, found: impl Fn(usize) -> f64) -> Option<(usize, f64)> {
        let d = self.frame.dim();
        let states = part.len() as f64;
        self.suspects.iter().find_map(|suspect| {
            let i = suspect.coordinate;
            if (suspect.sd / found(i)).ln() < tuning::LOG_SD {
                return None;
            }
            let out = |z: &&[f64]| suspect.side * (z[i] - self.frame.centre()[i]) / self.sds[i] > suspect.edge;
            let share = part.z.chunks_exact(d).filter(out).count() as f64 / states;
            // Mean stay of the visitors: steps out there for every return.
            let back = suspect.visitors.iter().filter(|(_, returned)| returned.is_some()).count() as f64;
            let steps = suspect.visitors.iter().map(|(_, returned)| returned.unwrap_or(self.steps)).sum::<usize>();
            // Had the tail the mass of its profile, chains would have gone there so often.
            let visits = states * suspect.mass * back / steps.max(1) as f64;
            let refuted = visits >= tuning::VISITS && share < suspect.mass / 3.0;
            (!refuted).then_some((i, suspect.sd))
        })
    }
}
