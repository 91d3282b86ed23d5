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
use super::{Ensemble, Frame, Part};
use crate::Error;
use crate::evaluate::Evaluator;
use crate::linalg::cholesky::solve_factor_transposed;
use crate::linalg::products::rows_times;
use crate::linalg::{axpy, dot, eigen};
use crate::random::{Purpose, Stream};
use crate::target::{DrawBuffer, Draws};
use crate::tuning::tails as tuning;

/// Where a profile is followed, in standard deviations to either side.
const FAR: [f64; 9] = [1.5, 3.0, 4.0, 6.5, 8.0, 10.0, 14.0, 20.0, 30.0];
/// The one of these up to which a long tail must go on gaining on the Gaussian.
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

/// log p + t²/2, less its value at the centre, along a line; linear between the places where it was asked for.
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
    /// t = covector · (z − m) of a point z.
    covector: Vec<f64>,
    /// Standard deviation of t that the profile gives.
    sd: f64,
    /// Where the second moment beyond the edge is, with a sign, and how much of it there is.
    middle: f64,
    moment: f64,
}

/// Profiles that fall slower than the Gaussian's.
#[derive(Debug)]
pub(crate) struct Tails {
    frame: Frame,
    suspects: Vec<Suspect>,
    /// What no density can be, far out.
    pub(crate) faults: Faults,
}

impl Tails {
    /// Asks for log p far out, and farther where it falls slowly.
    ///
    /// # Errors
    /// A fatal error of the target; [`Error::Interrupted`].
    pub(crate) fn look(evaluator: &mut Evaluator<'_>, frame: &Frame, seed: u64) -> Result<Self, Error> {
        let mut tails = Self { frame: frame.clone(), suspects: Vec::new(), faults: Faults::default() };
        let mut lines = coordinates(frame);
        lines.extend(tails.pointed_at(evaluator, seed)?);
        let values = tails.values(evaluator, &lines, &[tuning::FIRST])?;
        let centre = *values.last().unwrap_or(&f64::NEG_INFINITY);
        let excess = |log_p: f64, t: f64| {
            let excess = log_p - centre + 0.5 * t * t;
            if excess.is_nan() || excess == f64::INFINITY { f64::NEG_INFINITY } else { excess }
        };
        let mut slow: Vec<(f64, usize)> = (0..lines.len())
            .map(|k| (excess(values[2 * k].max(values[2 * k + 1]), tuning::FIRST), k))
            .filter(|(excess, _)| *excess > tuning::EXCESS)
            .collect();
        slow.sort_by(|a, b| b.0.total_cmp(&a.0));
        slow.truncate(tuning::MOST_PROFILES);
        if slow.is_empty() {
            return Ok(tails);
        }
        let followed: Vec<Line> = slow.iter().map(|(_, k)| lines[*k].clone()).collect();
        let farther = tails.values(evaluator, &followed, &FAR)?;
        for (k, (_, first)) in slow.iter().enumerate() {
            let mut points = vec![
                (0.0, 0.0),
                (tuning::FIRST, excess(values[2 * first], tuning::FIRST)),
                (-tuning::FIRST, excess(values[2 * first + 1], tuning::FIRST)),
            ];
            for (j, t) in FAR.iter().enumerate() {
                let at = 2 * (k * FAR.len() + j);
                points.push((*t, excess(farther[at], *t)));
                points.push((-*t, excess(farther[at + 1], *t)));
            }
            points.sort_by(|a, b| a.0.total_cmp(&b.0));
            tails.suspect(&followed[k], &Profile { points });
        }
        tails.suspects.sort_by(|a, b| b.moment.total_cmp(&a.moment));
        Ok(tails)
    }

    /// log p at t and −t along each line, for each distance, and last at the centre.
    fn values(&mut self, evaluator: &mut Evaluator<'_>, lines: &[Line], distances: &[f64]) -> Result<Vec<f64>, Error> {
        let d = self.frame.dim();
        let mut x = vec![0.0; d * (2 * lines.len() * distances.len() + 1)];
        let mut places = x.chunks_exact_mut(d);
        for line in lines {
            for t in distances.iter().flat_map(|t| [*t, -*t]) {
                if let Some(place) = places.next() {
                    axpy(t, &line.direction, place);
                }
            }
        }
        let mut draws = DrawBuffer::zeros(d, x.len() / d);
        self.frame.to_z(&x, draws.as_mut_slice());
        let log_p = evaluator.values(&draws)?;
        log_p.iter().filter(|l| !l.is_finite()).for_each(|l| self.faults.note(*l));
        Ok(log_p)
    }

    /// The directions in which gradients at a few far points differ most from the Gaussian's, −x.
    fn pointed_at(&mut self, evaluator: &mut Evaluator<'_>, seed: u64) -> Result<Vec<Line>, Error> {
        let (d, n) = (self.frame.dim(), tuning::FAR_POINTS);
        let mut x = vec![0.0; d * n];
        Stream::open(seed, Purpose::Chains, 0, 2).fill_normal(&mut x);
        x.iter_mut().for_each(|x| *x *= tuning::FIRST);
        let mut z = vec![0.0; d * n];
        self.frame.to_z(&x, &mut z);
        let (log_p, by_z) = evaluator.gradients(Draws::new(d, &z))?;
        let mut residuals = vec![0.0; d * n];
        self.frame.pull(&by_z, &mut residuals);
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
        let mut z = vec![0.0; d];
        self.frame.to_z(direction, &mut z);
        let moved = z.iter().zip(self.frame.centre()).zip(self.frame.variances());
        let shares = moved.map(|((z, m), variance)| (z - m).powi(2) / variance).enumerate();
        shares.max_by(|a, b| a.1.total_cmp(&b.1)).map_or(0, |(i, _)| i)
    }

    /// Adds the sides of a profile that have much of its second moment beyond what chains surely see.
    fn suspect(&mut self, line: &Line, profile: &Profile) {
        let law = profile.law();
        let mean: f64 = law.iter().map(|(t, p)| t * p).sum();
        let variance: f64 = law.iter().map(|(t, p)| (t - mean).powi(2) * p).sum();
        let mut covector = line.direction.clone();
        solve_factor_transposed(self.frame.dim(), self.frame.factor(), &mut covector);
        for side in [1.0, -1.0] {
            let excess = |distance: f64| {
                let found = profile.points.iter().find(|(t, _)| *t == side * distance);
                found.map_or(f64::NEG_INFINITY, |(_, excess)| *excess)
            };
            // Broad and then steep is no long tail.
            if excess(FARTHER) < excess(tuning::FIRST) {
                continue;
            }
            let beyond = || law.iter().filter(move |(t, _)| side * t > tuning::EDGE);
            let moment: f64 = beyond().map(|(t, p)| (t - mean).powi(2) * p).sum();
            if moment > tuning::SHARE * variance {
                let mass: f64 = beyond().map(|(_, p)| p).sum();
                let middle = beyond().map(|(t, p)| t * p).sum::<f64>() / mass;
                let (line, covector) = (line.clone(), covector.clone());
                self.suspects.push(Suspect { line, covector, sd: variance.sqrt(), middle, moment });
            }
        }
    }

    /// Whether any profile falls so slowly that much of its second moment is far out.
    pub(crate) fn promise_any(&self) -> bool {
        !self.suspects.is_empty()
    }

    /// Sends chains into the tails: a quarter of them, one of a pair, in turn into one tail after the other.
    ///
    /// # Errors
    /// As [`Tails::look`].
    pub(crate) fn visit(
        &self,
        evaluator: &mut Evaluator<'_>,
        frame: &Frame,
        chains: &mut Ensemble,
    ) -> Result<(), Error> {
        let d = frame.dim();
        let mut places = Vec::new();
        for (chain, suspect) in (0..chains.len() / 4).zip(self.suspects.iter().cycle()) {
            let x: Vec<f64> = suspect.line.direction.iter().map(|w| suspect.middle * w).collect();
            let mut z = vec![0.0; d];
            self.frame.to_z(&x, &mut z);
            places.push((chain, z));
        }
        if places.is_empty() { Ok(()) } else { chains.place(evaluator, frame, &places) }
    }

    /// The first tail that the chains should have seen more of: the coordinate that it belongs to, and how many times
    /// its standard deviation is that of the chains.
    pub(crate) fn unseen(&self, part: Part<'_>) -> Option<(usize, f64)> {
        let (d, n) = (self.frame.dim(), part.len() as f64);
        self.suspects.iter().find_map(|suspect| {
            let at = |z: &[f64]| {
                z.iter().zip(self.frame.centre()).zip(&suspect.covector).map(|((z, m), a)| (z - m) * a).sum::<f64>()
            };
            let (mut first, mut second) = (0.0, 0.0);
            for t in part.z.chunks_exact(d).map(at) {
                first += t / n;
                second += t * t / n;
            }
            let ratio = suspect.sd / (second - first * first).max(f64::MIN_POSITIVE).sqrt();
            (ratio.ln() > tuning::LOG_SD).then_some((suspect.line.coordinate, ratio))
        })
    }
}

/// The lines of conditional means of each coordinate: C eᵢ/σᵢ in z, Lᵀ eᵢ/σᵢ in x.
fn coordinates(frame: &Frame) -> Vec<Line> {
    let d = frame.dim();
    let sds: Vec<f64> = frame.variances().iter().map(|v| v.sqrt()).collect();
    let row = |i: usize| (0..d).map(|j| frame.factor()[j * d + i] / sds[i]).collect();
    (0..d).map(|i| Line { direction: row(i), coordinate: i }).collect()
}
