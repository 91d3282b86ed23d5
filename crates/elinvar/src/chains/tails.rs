//! Tails that no chain has entered: looked for along coordinates and along what far points point at, and visited
//! (mathematics §11.5).
//!
//! A chain that has not been in a tail says nothing of it, and its errors are small for that very reason. So log p is
//! asked far out, along the path of conditional means of each coordinate and along the directions in which the
//! gradients at a few far points differ most from the Gaussian's. There the Gaussian falls by t²/2. Where log p falls
//! slower, the profile is followed farther; as a law on the line it says what standard deviation to expect. Some chains
//! then start where its second moment is. Until the chains' own standard deviation comes near to that of the profile,
//! the answer is not settled.

use super::ensemble::Faults;
use super::ridges::{Probes, ridges};
use super::{Coordinates, Ensemble, Part, Trail};
use crate::Error;
use crate::evaluate::Evaluator;
use crate::linalg::products::rows_times;
use crate::linalg::{axpy, dot, eigen};
use crate::random::{Purpose, Stream};
use crate::target::{DrawBuffer, Draws};
use crate::tuning::tails as tuning;

/// Where a profile is followed, in standard deviations to either side.
const FAR: [f64; 8] = [1.5, 3.0, 4.0, 6.5, 10.0, 14.0, 20.0, 30.0];
/// And where it is asked for before that: a long tail goes on gaining on the Gaussian up to there.
const FARTHER: f64 = 8.0;
/// Spacing of the sums over a profile.
const SPACING: f64 = 0.1;

/// A line through the centre, in the coordinates of the frame, of unit length.
#[derive(Clone, Debug)]
struct Line {
    direction: Vec<f64>,
    /// The coordinate of z that it belongs to, or that it moves most.
    coordinate: usize,
}

/// log p + t²/2, less its value at the centre, along a line; linear between the places where it was asked for. Far out,
/// where they are up to ten apart, that is as much as twelve nats too high for a heavy tail, and errs on the safe side.
#[derive(Clone, Debug)]
struct Profile {
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
struct Suspect {
    line: Line,
    /// Standard deviation of t that the profile gives.
    sd: f64,
    /// Where the second moment beyond the edge is, and how much of it there is.
    middle: Vec<f64>,
    moment: f64,
}

/// A place far out beside a line.
#[derive(Clone, Debug)]
struct End {
    u: Vec<f64>,
    log_p: f64,
}

/// Profiles that fall slower than the Gaussian's.
#[derive(Debug)]
pub(crate) struct Tails {
    frame: Coordinates,
    suspects: Vec<Suspect>,
    /// What was found in a Gaussian's coordinates, and these.
    before: Vec<Suspect>,
    straight: Option<Coordinates>,
    probes: Probes,
    /// What no density can be, far out.
    pub(crate) faults: Faults,
    /// Whether lines are followed uphill, across them.
    uphill: bool,
}

impl Tails {
    /// Asks for log p far out, and farther where it falls slowly.
    ///
    /// # Errors
    /// A fatal error of the target; [`Error::Interrupted`].
    pub(crate) fn look(
        evaluator: &mut Evaluator<'_>,
        frame: &Coordinates,
        uphill: bool,
        seed: u64,
    ) -> Result<Self, Error> {
        let mut tails = Self {
            frame: frame.clone(),
            suspects: Vec::new(),
            before: Vec::new(),
            straight: None,
            probes: Probes::default(),
            faults: Faults::default(),
            uphill,
        };
        let mut lines = tails.coordinates();
        lines.extend(tails.pointed_at(evaluator, seed)?);
        let (ends, centre) = tails.ends(evaluator, &lines)?;
        let excess = |log_p: f64, t: f64| {
            let excess = log_p - centre + 0.5 * t * t;
            if excess.is_nan() || excess == f64::INFINITY { f64::NEG_INFINITY } else { excess }
        };
        let mut slow = Vec::new();
        for k in 0..lines.len() {
            let found = [&ends[2 * k], &ends[2 * k + 1]].map(|end| excess(end.log_p, tuning::FIRST));
            let most = found[0].max(found[1]);
            if most > tuning::EXCESS {
                slow.push((most, k));
            }
        }
        slow.sort_by(|a, b| b.0.total_cmp(&a.0));
        slow.truncate(tuning::MOST_SLOW);
        if slow.is_empty() {
            return Ok(tails);
        }
        // Most fall faster farther out; few are worth a whole profile.
        let ends_of = |lines: &mut dyn Iterator<Item = usize>| -> Vec<&[f64]> {
            lines.flat_map(|k| [&ends[2 * k].u[..], &ends[2 * k + 1].u[..]]).collect()
        };
        let followed = ends_of(&mut slow.iter().map(|(_, k)| *k));
        let farther = tails.values(evaluator, &followed, &[FARTHER / tuning::FIRST])?;
        let farther: Vec<[f64; 2]> =
            farther.chunks_exact(2).map(|sides| [excess(sides[0], FARTHER), excess(sides[1], FARTHER)]).collect();
        let near = |k: usize| [0, 1].map(|side| excess(ends[2 * k + side].log_p, tuning::FIRST));
        let hint = |k: usize, farther: &[f64; 2]| {
            (0..2).map(|side| tails.hint(near(k)[side], farther[side])).fold(0.0, f64::max)
        };
        let mut promising: Vec<(f64, usize, [f64; 2])> =
            slow.iter().zip(farther).map(|((_, k), farther)| (hint(*k, &farther), *k, farther)).collect();
        promising.retain(|(hint, ..)| *hint > tuning::HINT);
        promising.sort_by(|a, b| b.0.total_cmp(&a.0));
        promising.truncate(tuning::MOST_PROFILES);
        if promising.is_empty() {
            return Ok(tails);
        }
        let followed = ends_of(&mut promising.iter().map(|(_, k, _)| *k));
        let whole = tails.values(evaluator, &followed, &FAR.map(|t| t / tuning::FIRST))?;
        for (k, (_, first, farther)) in promising.iter().enumerate() {
            let mut points = vec![(0.0, 0.0)];
            for (side, sign) in [1.0, -1.0].into_iter().enumerate() {
                points.push((sign * tuning::FIRST, near(*first)[side]));
                points.push((sign * FARTHER, farther[side]));
                let log_p = &whole[(2 * k + side) * FAR.len()..];
                points.extend(FAR.iter().zip(log_p).map(|(t, log_p)| (sign * t, excess(*log_p, *t))));
            }
            points.sort_by(|a, b| a.0.total_cmp(&b.0));
            tails.suspect(&lines[*first], [&ends[2 * first].u, &ends[2 * first + 1].u], &Profile { points });
        }
        tails.suspects.sort_by(|a, b| b.moment.total_cmp(&a.moment));
        Ok(tails)
    }

    /// Looks in other coordinates. What was found in those before is kept: it is asked for until chains have seen it.
    ///
    /// # Errors
    /// As [`Tails::look`].
    pub(crate) fn look_again(
        &mut self,
        evaluator: &mut Evaluator<'_>,
        frame: &Coordinates,
        seed: u64,
    ) -> Result<(), Error> {
        let mut next = Self::look(evaluator, frame, self.uphill, seed)?;
        next.faults += self.faults;
        next.before = std::mem::take(&mut self.before);
        if !self.frame.are_bent() {
            // Bent coordinates may have been wrong ones; a Gaussian's are never far off.
            next.before = std::mem::take(&mut self.suspects);
            next.straight = Some(self.frame.clone());
        } else {
            next.straight = self.straight.take();
        }
        *self = next;
        Ok(())
    }

    /// The highest places that were found at the first distance on both sides of each line, and log p at the centre.
    fn ends(&mut self, evaluator: &mut Evaluator<'_>, lines: &[Line]) -> Result<(Vec<End>, f64), Error> {
        let directions: Vec<&[f64]> = lines.iter().map(|line| &line.direction[..]).collect();
        if self.uphill && self.frame.dim() <= tuning::MOST_DIMENSIONS {
            let (ridges, centre, probes, faults) = ridges(evaluator, &self.frame, &directions, tuning::FIRST)?;
            self.probes = probes;
            self.faults += faults;
            let ends = ridges.into_iter().map(|ridge| End { u: ridge.u, log_p: ridge.log_p });
            return Ok((ends.collect(), centre));
        }
        let values = self.values(evaluator, &directions, &[tuning::FIRST, -tuning::FIRST])?;
        let ends = values.iter().zip(lines.iter().flat_map(|line| [(line, 1.0), (line, -1.0)]));
        let ends = ends.map(|(log_p, (line, side))| End {
            u: line.direction.iter().map(|w| side * tuning::FIRST * w).collect(),
            log_p: *log_p,
        });
        Ok((ends.collect(), values.last().copied().unwrap_or(f64::NEG_INFINITY)))
    }

    /// Directions of z, not scaled, along which tails were found.
    pub(crate) fn directions(&self) -> Vec<Vec<f64>> {
        let d = self.frame.dim();
        let lines = self.suspects.iter().map(|suspect| &suspect.line);
        let directions = lines.take(tuning::DIRECTIONS).map(|line| {
            let mut points = vec![0.0; 2 * d];
            points[..d].copy_from_slice(&line.direction);
            let mut z = vec![0.0; 2 * d];
            self.frame.to_z(&points, &mut z, &mut Trail::default());
            (0..d).map(|i| z[i] - z[d + i]).collect()
        });
        directions.collect()
    }

    /// Points far out with their gradients.
    pub(super) fn probes(&self) -> &Probes {
        &self.probes
    }

    /// log p at some multiples of each direction, and last at the centre.
    fn values(&mut self, evaluator: &mut Evaluator<'_>, lines: &[&[f64]], times: &[f64]) -> Result<Vec<f64>, Error> {
        let d = self.frame.dim();
        let mut x = vec![0.0; d * (lines.len() * times.len() + 1)];
        let mut places = x.chunks_exact_mut(d);
        for line in lines {
            for (t, place) in times.iter().zip(&mut places) {
                axpy(*t, line, place);
            }
        }
        let (mut draws, mut trail) = (DrawBuffer::zeros(d, x.len() / d), Trail::default());
        self.frame.to_z(&x, draws.as_mut_slice(), &mut trail);
        let mut log_p = evaluator.values(&draws)?;
        log_p.iter().filter(|l| !l.is_finite()).for_each(|l| self.faults.note(*l));
        let mut log_jacobian = vec![0.0; log_p.len()];
        let (nothing, mut by_x) = (vec![0.0; x.len()], vec![0.0; x.len()]);
        self.frame.pull(&nothing, &mut by_x, &mut log_jacobian, &mut trail);
        log_p.iter_mut().zip(&log_jacobian).for_each(|(log_p, log)| *log_p += log);
        Ok(log_p)
    }

    /// The directions in which gradients at a few far points differ most from the Gaussian's, −x.
    fn pointed_at(&mut self, evaluator: &mut Evaluator<'_>, seed: u64) -> Result<Vec<Line>, Error> {
        let (d, n) = (self.frame.dim(), tuning::FAR_POINTS);
        let mut x = vec![0.0; d * n];
        Stream::open(seed, Purpose::Chains, 0, 2).fill_normal(&mut x);
        x.iter_mut().for_each(|x| *x *= tuning::FIRST);
        let (mut z, mut trail) = (vec![0.0; d * n], Trail::default());
        self.frame.to_z(&x, &mut z, &mut trail);
        let (log_p, by_z) = evaluator.gradients(Draws::new(d, &z))?;
        let mut residuals = vec![0.0; d * n];
        self.frame.pull(&by_z, &mut residuals, &mut vec![0.0; n], &mut trail);
        axpy(1.0, &x, &mut residuals);
        for (log_p, residual) in log_p.iter().zip(residuals.chunks_exact_mut(d)) {
            let size = dot(residual, residual).sqrt();
            if !log_p.is_finite() || !size.is_finite() {
                self.faults.note(if log_p.is_finite() { f64::NAN } else { *log_p });
                residual.fill(0.0);
            } else if size > f64::MIN_POSITIVE {
                // Points count alike, however steep the density is at some of them.
                residual.iter_mut().for_each(|r| *r /= size);
            }
        }
        // The leading left singular vectors, by way of the n × n Gram matrix.
        let mut gram = vec![0.0; n * n];
        rows_times(&residuals, d, &residuals, &mut gram);
        let Some((values, vectors)) = eigen::symmetric(n, &gram) else { return Ok(Vec::new()) };
        let mut lines = Vec::new();
        for (value, weights) in values.iter().zip(vectors.chunks_exact(n)).rev().take(tuning::DIRECTIONS) {
            if *value > tuning::LEAST_DIRECTION {
                let mut direction = vec![0.0; d];
                for (weight, residual) in weights.iter().zip(residuals.chunks_exact(d)) {
                    axpy(weight / value.sqrt(), residual, &mut direction);
                }
                let coordinate = self.most_moved(&direction);
                lines.push(Line { direction, coordinate });
            }
        }
        Ok(lines)
    }

    /// The coordinate of z that a direction moves most, in its own standard deviations.
    fn most_moved(&self, direction: &[f64]) -> usize {
        let d = self.frame.dim();
        let mut points = vec![0.0; 2 * d];
        points[..d].copy_from_slice(direction);
        let mut z = vec![0.0; 2 * d];
        self.frame.to_z(&points, &mut z, &mut Trail::default());
        let (z, centre) = z.split_at(d);
        let moved = z.iter().zip(centre).zip(self.frame.frame().variances());
        let shares = moved.map(|((z, m), variance)| (z - m).powi(2) / variance).enumerate();
        shares.max_by(|a, b| a.1.total_cmp(&b.1)).map_or(0, |(i, _)| i)
    }

    /// Whether a side with these excesses at the first distance and farther out may be a long tail: broad and then
    /// steep is none, but a ridge that was climbed to may bend on.
    fn goes_on(&self, near: f64, farther: f64) -> bool {
        farther >= near || (self.uphill && near >= tuning::RIDGE_EXCESS)
    }

    /// The share of the second moment that such a side has beyond the edge, by the parabola through both excesses.
    fn hint(&self, near: f64, farther: f64) -> f64 {
        if !near.is_finite() || !self.goes_on(near, farther) {
            return 0.0;
        }
        if self.uphill {
            return 1.0;
        }
        let curvature = (farther / FARTHER - near / tuning::FIRST) / (FARTHER - tuning::FIRST);
        let slope = near / tuning::FIRST - curvature * tuning::FIRST;
        let last = FAR[FAR.len() - 1];
        let moment = |t: f64| t * t * ((curvature - 0.5) * t * t + slope * t).min(tuning::HIGH).exp() * SPACING;
        let steps = |from: f64| (0..=((last - from) / SPACING) as usize).map(move |k| from + k as f64 * SPACING);
        let beyond: f64 = steps(tuning::EDGE).map(moment).sum();
        let all: f64 = steps(0.0).map(moment).sum::<f64>() + (0.5 * std::f64::consts::PI).sqrt();
        beyond / all
    }

    /// Adds the sides of a profile that have much of its second moment beyond what chains surely see.
    fn suspect(&mut self, line: &Line, ends: [&Vec<f64>; 2], profile: &Profile) {
        let law = profile.law();
        let mean: f64 = law.iter().map(|(t, p)| t * p).sum();
        let variance: f64 = law.iter().map(|(t, p)| (t - mean).powi(2) * p).sum();
        for (side, end) in [(1.0, ends[0]), (-1.0, ends[1])] {
            let excess = |distance: f64| {
                let found = profile.points.iter().find(|(t, _)| *t == side * distance);
                found.map_or(f64::NEG_INFINITY, |(_, excess)| *excess)
            };
            if !self.goes_on(excess(tuning::FIRST), excess(FARTHER)) {
                continue;
            }
            let beyond = || law.iter().filter(move |(t, _)| side * t > tuning::EDGE);
            let moment: f64 = beyond().map(|(t, p)| (t - mean).powi(2) * p).sum();
            if moment > tuning::SHARE * variance {
                let mass: f64 = beyond().map(|(_, p)| p).sum();
                let times = side * beyond().map(|(t, p)| t * p).sum::<f64>() / mass / tuning::FIRST;
                let middle = end.iter().map(|u| times * u).collect();
                self.suspects.push(Suspect { line: line.clone(), sd: variance.sqrt(), middle, moment });
            }
        }
    }

    /// Whether any profile falls so slowly that much of its second moment is far out.
    pub(crate) fn promise_any(&self) -> bool {
        !self.suspects.is_empty()
    }

    /// Sends chains into the tails: a quarter of them, one of a pair, in turn into one tail after the other. Returns
    /// whether there was any.
    ///
    /// # Errors
    /// As [`Tails::look`].
    pub(crate) fn visit(
        &self,
        evaluator: &mut Evaluator<'_>,
        frame: &Coordinates,
        chains: &mut Ensemble,
    ) -> Result<bool, Error> {
        let d = frame.dim();
        let mut places = Vec::new();
        for (chain, suspect) in (0..chains.len() / 4).zip(self.suspects.iter().cycle()) {
            let mut z = vec![0.0; d];
            self.frame.to_z(&suspect.middle, &mut z, &mut Trail::default());
            places.push((chain, z));
        }
        if places.is_empty() {
            return Ok(false);
        }
        chains.place(evaluator, frame, &places)?;
        chains.rescue(&[]);
        Ok(true)
    }

    /// The first tail that the chains should have seen more of: the coordinate that it belongs to, and how many times
    /// its standard deviation is that of the chains.
    pub(crate) fn unseen(&self, part: Part<'_>) -> Option<(usize, f64)> {
        let found = |frame: &Coordinates, suspects: &[Suspect]| {
            if suspects.is_empty() {
                return None;
            }
            let (d, n) = (frame.dim(), part.len() as f64);
            let mut x = vec![0.0; part.z.len()];
            frame.to_u(part.z, &mut x);
            suspects.iter().find_map(|suspect| {
                let (mut first, mut second) = (0.0, 0.0);
                for t in x.chunks_exact(d).map(|x| dot(x, &suspect.line.direction)) {
                    first += t / n;
                    second += t * t / n;
                }
                let ratio = suspect.sd / (second - first * first).max(f64::MIN_POSITIVE).sqrt();
                (ratio.ln() > tuning::LOG_SD).then_some((suspect.line.coordinate, ratio))
            })
        };
        let before = self.straight.as_ref().and_then(|straight| found(straight, &self.before));
        before.or_else(|| found(&self.frame, &self.suspects))
    }

    /// The lines of conditional means of each coordinate, C eᵢ/σᵢ in z and Lᵀ eᵢ/σᵢ in x; in bent coordinates the axes.
    fn coordinates(&self) -> Vec<Line> {
        let d = self.frame.dim();
        if !self.frame.are_bent() {
            let rows = self.frame.frame().rows().into_iter().enumerate();
            return rows.map(|(coordinate, direction)| Line { direction, coordinate }).collect();
        }
        let axis = |i: usize| (0..d).map(|j| f64::from(u8::from(i == j))).collect::<Vec<f64>>();
        let lines = (0..d).map(|i| Line { coordinate: self.most_moved(&axis(i)), direction: axis(i) });
        lines.collect()
    }
}
