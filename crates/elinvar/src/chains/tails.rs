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
use super::profile::{Place, Profile, SPACING};
use super::{Coordinates, Ensemble, Part, Trail};
use crate::Error;
use crate::evaluate::Evaluator;
use crate::linalg::products::rows_times;
use crate::linalg::{axpy, dot, eigen};
use crate::random::{Purpose, Stream};
use crate::special::order;
use crate::target::{DrawBuffer, Draws};
use crate::tuning::tails as tuning;

/// Where a profile is followed, in standard deviations to either side.
const FAR: [f64; 10] = [1.5, 3.0, 4.0, 5.0, 6.5, 8.0, 10.0, 14.0, 20.0, 30.0];
/// And on, where there is anything left.
const VERY_FAR: [f64; 6] = [45.0, 70.0, 100.0, 200.0, 500.0, 1_000.0];
/// And where it is asked for before that: a long tail goes on gaining on the Gaussian up to there.
const FARTHER: f64 = 8.0;
/// A line through the centre, in the coordinates of the frame, of unit length.
#[derive(Clone, Debug)]
struct Line {
    direction: Vec<f64>,
    /// The coordinate of z that it belongs to, or that it moves most.
    coordinate: usize,
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

/// Profiles that fall slower than the Gaussian's.
#[derive(Debug)]
pub(crate) struct Tails {
    frame: Coordinates,
    suspects: Vec<Suspect>,
    /// What was found in a Gaussian's coordinates, and these.
    before: Vec<Suspect>,
    straight: Option<Coordinates>,
    /// What no density can be, far out.
    pub(crate) faults: Faults,
}

impl Tails {
    /// Asks for log p far out, and farther where it falls slowly.
    ///
    /// # Errors
    /// A fatal error of the target; [`Error::Interrupted`].
    pub(crate) fn look(evaluator: &mut Evaluator<'_>, frame: &Coordinates, seed: u64) -> Result<Self, Error> {
        let mut tails = Self {
            frame: frame.clone(),
            suspects: Vec::new(),
            before: Vec::new(),
            straight: None,
            faults: Faults::default(),
        };
        let mut lines = tails.coordinates();
        lines.extend(tails.pointed_at(evaluator, seed)?);
        let sides = [1.0, -1.0];
        let every: Vec<&Line> = lines.iter().collect();
        let (near, centre) = tails.values(evaluator, &every, &sides.map(|side| side * tuning::FIRST))?;
        let excess = |log_p: f64, t: f64| {
            let excess = log_p - centre + 0.5 * t * t;
            if excess.is_nan() || excess == f64::INFINITY { f64::NEG_INFINITY } else { excess }
        };
        let near: Vec<[f64; 2]> =
            near.chunks_exact(2).map(|at| [0, 1].map(|side| excess(at[side], tuning::FIRST))).collect();
        let most = near.iter().map(|[above, below]| above.max(*below)).zip(0..);
        let mut slow: Vec<(f64, usize)> = most.filter(|(most, _)| *most > tuning::EXCESS).collect();
        order::descending(&mut slow, |item| item.0);
        slow.truncate(tuning::MOST_SLOW);
        if slow.is_empty() {
            return Ok(tails);
        }
        // Most fall faster farther out; few are worth a whole profile.
        let followed: Vec<&Line> = slow.iter().map(|(_, k)| &lines[*k]).collect();
        let (farther, _) = tails.values(evaluator, &followed, &sides.map(|side| side * FARTHER))?;
        let hint = |k: usize, farther: &[f64]| {
            (0..2).map(|side| hint(near[k][side], excess(farther[side], FARTHER))).fold(0.0, f64::max)
        };
        let mut promising: Vec<(f64, usize)> =
            slow.iter().zip(farther.chunks_exact(2)).map(|((_, k), farther)| (hint(*k, farther), *k)).collect();
        promising.retain(|(hint, _)| *hint > tuning::HINT);
        order::descending(&mut promising, |item| item.0);
        promising.truncate(tuning::MOST_PROFILES);
        if promising.is_empty() {
            return Ok(tails);
        }
        let followed: Vec<&Line> = promising.iter().map(|(_, k)| &lines[*k]).collect();
        let (profiles, turned) = tails.profiles(evaluator, &followed)?;
        followed.iter().zip(&profiles).for_each(|(line, profile)| tails.suspect(line, profile));
        // Along a line that misses a tail by a little, it seems to end.
        let turned = tails.without(turned, &followed);
        let followed: Vec<&Line> = turned.iter().collect();
        let (profiles, _) = tails.profiles(evaluator, &followed)?;
        followed.iter().zip(&profiles).for_each(|(line, profile)| tails.suspect(line, profile));
        order::descending(&mut tails.suspects, |item| item.moment);
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
        let mut next = Self::look(evaluator, frame, seed)?;
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

    /// log p and its slope along some lines, and for each the direction that the gradients far out on it differ in from
    /// the Gaussian's: that of the tail, if there is one.
    fn profiles(
        &mut self,
        evaluator: &mut Evaluator<'_>,
        lines: &[&Line],
    ) -> Result<(Vec<Profile>, Vec<Vec<f64>>), Error> {
        let (mut places, residuals) = self.places(evaluator, lines, &FAR)?;
        let goes_on = |places: &[Place]| {
            let top = places.iter().map(|place| place.log_p).fold(f64::NEG_INFINITY, f64::max);
            let last = places.iter().filter(|place| place.t.abs() == FAR[FAR.len() - 1]);
            last.map(|place| place.log_p).fold(f64::NEG_INFINITY, f64::max) > top - tuning::NOTHING
        };
        let on: Vec<usize> = (0..lines.len()).filter(|k| goes_on(&places[*k])).collect();
        let farther: Vec<&Line> = on.iter().map(|k| lines[*k]).collect();
        for (k, more) in on.iter().zip(self.places(evaluator, &farther, &VERY_FAR)?.0) {
            places[*k].extend(more);
        }
        let d = self.frame.dim();
        let turned = places.iter().zip(residuals.chunks(d * (2 * FAR.len() + 1)));
        let turned = turned.map(|(places, residuals)| {
            let far = places.iter().zip(residuals.chunks_exact(d)).filter(|(place, _)| place.t.abs() == FARTHER);
            let most = far.map(|(_, residual)| residual).max_by(|a, b| dot(a, a).total_cmp(&dot(b, b)));
            most.map_or_else(|| vec![0.0; d], <[f64]>::to_vec)
        });
        let turned = turned.collect();
        Ok((places.into_iter().map(Profile::new).collect(), turned))
    }

    /// Directions that are not those of any of the lines, as lines, each once.
    fn without(&self, directions: Vec<Vec<f64>>, lines: &[&Line]) -> Vec<Line> {
        let mut others: Vec<Line> = Vec::new();
        for mut direction in directions {
            let size = dot(&direction, &direction).sqrt();
            direction.iter_mut().for_each(|w| *w /= size);
            let is_along = |line: &Line| dot(&line.direction, &direction).abs() > tuning::ALONG;
            let is_known = lines.iter().any(|line| is_along(line)) || others.iter().any(is_along);
            if size.is_finite() && size > tuning::LEAST_RESIDUAL && !is_known && others.len() < tuning::DIRECTIONS {
                others.push(Line { coordinate: self.most_moved(&direction), direction });
            }
        }
        others
    }

    /// log p and its slope at the centre and at some distances on both sides of some lines, and x + ∇log p there.
    fn places(
        &mut self,
        evaluator: &mut Evaluator<'_>,
        lines: &[&Line],
        distances: &[f64],
    ) -> Result<(Vec<Vec<Place>>, Vec<f64>), Error> {
        if lines.is_empty() {
            return Ok((Vec::new(), Vec::new()));
        }
        let (d, each) = (self.frame.dim(), 2 * distances.len() + 1);
        let along = || distances.iter().flat_map(|t| [*t, -*t]).chain([0.0]);
        let mut u = Vec::with_capacity(lines.len() * each * d);
        for line in lines {
            along().for_each(|t| u.extend(line.direction.iter().map(|w| t * w)));
        }
        let (mut z, mut trail) = (vec![0.0; u.len()], Trail::default());
        self.frame.to_z(&u, &mut z, &mut trail);
        let (log_p, by_z) = evaluator.gradients(Draws::new(d, &z))?;
        log_p.iter().filter(|l| !l.is_finite()).for_each(|l| self.faults.note(*l));
        let (mut by_u, mut log_jacobian) = (vec![0.0; u.len()], vec![0.0; log_p.len()]);
        self.frame.pull(&by_z, &mut by_u, &mut log_jacobian, &mut trail);
        let of = |(k, line): (usize, &&Line)| {
            let place = |(t, s): (f64, usize)| {
                let slope = dot(&by_u[s * d..(s + 1) * d], &line.direction);
                Place { t, log_p: log_p[s] + log_jacobian[s], slope }
            };
            along().zip(k * each..).map(place).collect()
        };
        let places = lines.iter().enumerate().map(of).collect();
        axpy(1.0, &u, &mut by_u);
        Ok((places, by_u))
    }

    /// log p at some distances along each line, and at the centre.
    fn values(
        &mut self,
        evaluator: &mut Evaluator<'_>,
        lines: &[&Line],
        distances: &[f64],
    ) -> Result<(Vec<f64>, f64), Error> {
        let d = self.frame.dim();
        let mut x = vec![0.0; d * (lines.len() * distances.len() + 1)];
        let mut places = x.chunks_exact_mut(d);
        for line in lines {
            for (t, place) in distances.iter().zip(&mut places) {
                axpy(*t, &line.direction, place);
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
        let centre = log_p.pop().unwrap_or(f64::NEG_INFINITY);
        Ok((log_p, centre))
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
            } else {
                // Points count alike, however steep the density is at some of them; but not those at which there is
                // nothing but what the frame has wrong.
                residual.iter_mut().for_each(|r| *r /= size.max(tuning::LEAST_RESIDUAL));
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

    /// Adds the sides of a profile that have much of its second moment beyond what chains surely see.
    fn suspect(&mut self, line: &Line, profile: &Profile) {
        let law = profile.law();
        let mean: f64 = law.iter().map(|(t, p)| t * p).sum();
        let variance: f64 = law.iter().map(|(t, p)| (t - mean).powi(2) * p).sum();
        for side in [1.0, -1.0] {
            // Broad and then steep is no long tail.
            if profile.excess(side * FARTHER) < profile.excess(side * tuning::FIRST) {
                continue;
            }
            let beyond = || law.iter().filter(move |(t, _)| side * t > tuning::EDGE);
            let moment: f64 = beyond().map(|(t, p)| (t - mean).powi(2) * p).sum();
            if moment > tuning::SHARE * variance {
                let mass: f64 = beyond().map(|(_, p)| p).sum();
                let times = beyond().map(|(t, p)| t * p).sum::<f64>() / mass;
                let middle = line.direction.iter().map(|w| times * w).collect();
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

/// The share of the second moment that a side with these excesses at the first distance and farther out has beyond the
/// edge, by the parabola through both.
fn hint(near: f64, farther: f64) -> f64 {
    // Broad and then steep is no long tail.
    if !near.is_finite() || farther < near {
        return 0.0;
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
