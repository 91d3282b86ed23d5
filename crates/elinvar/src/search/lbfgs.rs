//! L-BFGS: climbing with gradients only, and the curvature that the way has shown.

use std::collections::VecDeque;

use super::climb::{Known, RUNAWAY};
use super::metric::Metric;
use super::probe::Probe;
use crate::Error;
use crate::evaluate::Point;
use crate::linalg::{axpy, dot};
use crate::target::Covariance;
use crate::tuning;

/// A step with the change of −∇log p along it.
struct Pair {
    step: Vec<f64>,
    change: Vec<f64>,
    /// 1/(stepᵀchange).
    rho: f64,
}

/// The last steps.
pub(super) struct Pairs {
    dim: usize,
    pairs: VecDeque<Pair>,
    memory: usize,
    /// The curvature before any pair: that of a known mode.
    base: Option<Metric>,
}

/// The curvature matrix of pairs: σI + Σ (ŷŷᵀ − b̂b̂ᵀ), the vectors ŷ, b̂ one after the other. Each term multiplies the
/// determinant by (stepᵀchange)/(stepᵀB step).
struct Expanded {
    sigma: f64,
    terms: Vec<[Vec<f64>; 2]>,
    log_det: f64,
}

/// What an ascent climbs.
pub(super) trait Height {
    /// Number of coordinates.
    fn dim(&self) -> usize;

    /// Height and slope at a point; nothing where they are not finite.
    ///
    /// # Errors
    /// A fatal error of the target; [`Error::Interrupted`].
    fn point(&mut self, z: Vec<f64>) -> Result<Option<Point>, Error>;

    /// Whether an ascent should end in a spike.
    fn has_spikes(&self) -> bool {
        false
    }

    /// Predicted gain, in nats, below which a point is the top.
    fn top_nats(&self) -> f64 {
        tuning::search::MODE_NATS
    }
}

impl Height for Probe<'_> {
    fn dim(&self) -> usize {
        Probe::dim(self)
    }

    fn point(&mut self, z: Vec<f64>) -> Result<Option<Point>, Error> {
        Probe::point(self, z)
    }

    fn has_spikes(&self) -> bool {
        self.is_scouting
    }

    fn top_nats(&self) -> f64 {
        if self.is_scouting { tuning::scout::MODE_NATS } else { tuning::search::MODE_NATS }
    }
}

/// How an ascent ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reached {
    /// In a spike: the density rises because its peak narrows, and what it holds falls.
    Spike,
    /// The gain that the curvature promises is small.
    Top,
    /// Near a mode that is known.
    Known,
    /// No step leads higher.
    Stalled,
    /// The steps were used up, or the density went out of range.
    Limit,
}

/// Where an ascent led, with the points on the way.
pub(super) struct Ascent {
    pub(super) reached: Reached,
    pub(super) point: Point,
    pub(super) pairs: Pairs,
    pub(super) path: Vec<Point>,
}

impl Pairs {
    fn new(dim: usize, base: Option<Metric>) -> Self {
        Self { dim, pairs: VecDeque::new(), memory: dim.clamp(10, 40), base }
    }

    fn push(&mut self, step: Vec<f64>, change: Vec<f64>) {
        let product = dot(&step, &change);
        let size = (dot(&step, &step) * dot(&change, &change)).sqrt();
        if !(product > 1e-12 * size && product.is_finite()) {
            return;
        }
        if self.pairs.len() == self.memory {
            self.pairs.pop_front();
        }
        self.pairs.push_back(Pair { step, change, rho: 1.0 / product });
    }

    /// H g with the two loops of Nocedal; without pairs or base a step of unit length.
    fn direction(&self, gradient: &[f64]) -> Vec<f64> {
        let mut q = gradient.to_vec();
        let Some(newest) = self.pairs.back() else {
            if let Some(base) = &self.base {
                base.solve(&mut q);
                return q;
            }
            let norm = dot(&q, &q).sqrt().max(f64::MIN_POSITIVE);
            q.iter_mut().for_each(|v| *v /= norm);
            return q;
        };
        let mut weights = Vec::with_capacity(self.pairs.len());
        for pair in self.pairs.iter().rev() {
            let weight = pair.rho * dot(&pair.step, &q);
            axpy(-weight, &pair.change, &mut q);
            weights.push(weight);
        }
        let mut solved = newest.change.clone();
        if let Some(base) = &self.base {
            base.solve(&mut q);
            base.solve(&mut solved);
        }
        let scale = 1.0 / (newest.rho * dot(&newest.change, &solved));
        q.iter_mut().for_each(|v| *v *= scale);
        for (pair, weight) in self.pairs.iter().zip(weights.iter().rev()) {
            let other = pair.rho * dot(&pair.change, &q);
            axpy(weight - other, &pair.step, &mut q);
        }
        q
    }

    /// The curvature matrix of the pairs.
    fn expanded(&self) -> Expanded {
        let sigma = self.pairs.back().map_or(1.0, |pair| pair.rho * dot(&pair.change, &pair.change));
        let mut terms: Vec<[Vec<f64>; 2]> = Vec::new();
        let mut log_det = self.dim as f64 * sigma.ln();
        for pair in &self.pairs {
            let mut b: Vec<f64> = pair.step.iter().map(|s| sigma * s).collect();
            for [y, other] in &terms {
                axpy(dot(y, &pair.step), y, &mut b);
                axpy(-dot(other, &pair.step), other, &mut b);
            }
            let size = dot(&b, &pair.step);
            if !(size > 0.0 && size.is_finite()) {
                continue;
            }
            b.iter_mut().for_each(|v| *v /= size.sqrt());
            log_det -= (pair.rho * size).ln();
            let y = pair.change.iter().map(|v| v * pair.rho.sqrt()).collect();
            terms.push([y, b]);
        }
        Expanded { sigma, terms, log_det }
    }

    /// ½ log of the determinant of its inverse.
    fn log_volume(&self) -> f64 {
        -0.5 * self.expanded().log_det
    }

    /// The diagonal of that matrix.
    pub(super) fn diagonal(&self) -> Vec<f64> {
        if let Some(base) = &self.base {
            return base.stored_as(Covariance::Diagonal);
        }
        let Expanded { sigma, terms, .. } = self.expanded();
        let mut diagonal = vec![sigma; self.dim];
        for [y, b] in &terms {
            for (entry, (y, b)) in diagonal.iter_mut().zip(y.iter().zip(b)) {
                *entry += y * y - b * b;
            }
        }
        diagonal.iter_mut().for_each(|v| *v = v.max(1e-6 * sigma));
        diagonal
    }

    /// That matrix, d² numbers.
    pub(super) fn matrix(&self) -> Vec<f64> {
        if let Some(base) = &self.base {
            return base.stored_as(Covariance::Full);
        }
        let d = self.dim;
        let Expanded { sigma, terms, .. } = self.expanded();
        let mut matrix = vec![0.0; d * d];
        for (j, column) in matrix.chunks_exact_mut(d).enumerate() {
            column[j] = sigma;
            for [y, b] in &terms {
                axpy(y[j], y, column);
                axpy(-b[j], b, column);
            }
        }
        matrix
    }
}

/// Climbs from `start` in at most `iterations` steps; the curvature of what is known is the first guess.
pub(super) fn ascend<H: Height>(
    probe: &mut H,
    start: Point,
    known: Known<'_>,
    iterations: usize,
) -> Result<Ascent, Error> {
    let mut pairs = Pairs::new(probe.dim(), known.metric(&start));
    let mut point = start;
    let mut path = vec![point.clone()];
    let mut reached = Reached::Limit;
    let mut small = 0;
    let mut peak: Option<Peak> = None;
    for _ in 0..iterations {
        if known.covers(&point) {
            reached = Reached::Known;
            break;
        }
        let mut direction = pairs.direction(&point.gradient);
        let mut slope = dot(&direction, &point.gradient);
        if !(slope > 0.0 && slope.is_finite()) {
            pairs.pairs.clear();
            direction = pairs.direction(&point.gradient);
            slope = dot(&direction, &point.gradient);
            if slope.is_nan() || slope <= 0.0 {
                reached = Reached::Top;
                break;
            }
        }
        // Twice in a row, for a first pair may mistake a narrow valley for the whole.
        small = if (!pairs.pairs.is_empty() || pairs.base.is_some()) && 0.5 * slope < 0.1 * probe.top_nats() {
            small + 1
        } else {
            0
        };
        if small == 2 {
            reached = Reached::Top;
            break;
        }
        let Some(next) = line_search(probe, &point, &direction, slope)? else {
            if pairs.pairs.is_empty() {
                reached = if slope < 1e-6 { Reached::Top } else { Reached::Stalled };
                break;
            }
            // Once more along the gradient.
            pairs.pairs.clear();
            continue;
        };
        let mut step = next.z.clone();
        axpy(-1.0, &point.z, &mut step);
        let mut change = point.gradient.clone();
        axpy(-1.0, &next.gradient, &mut change);
        pairs.push(step, change);
        point = next;
        path.push(point.clone());
        if point.log_p > RUNAWAY {
            break;
        }
        if probe.has_spikes() && !pairs.pairs.is_empty() && Peak::is_past(&mut peak, &point, pairs.log_volume()) {
            reached = Reached::Spike;
            break;
        }
    }
    Ok(Ascent { reached, point, pairs, path })
}

/// Where the way seemed to hold most: log p + ½ log |C|, C the inverse curvature that the way has shown.
struct Peak {
    mass: f64,
    log_p: f64,
    steps_since: usize,
}

impl Peak {
    /// Notes a point of the way; whether the density has since risen while what it holds has fallen, for long.
    fn is_past(peak: &mut Option<Self>, at: &Point, log_volume: f64) -> bool {
        let (d, mass) = (at.z.len(), at.log_p + log_volume);
        match peak {
            Some(peak) if mass <= peak.mass || mass.is_nan() => {
                peak.steps_since += 1;
                peak.steps_since >= tuning::scout::STEPS_PAST_A_PEAK + d / 4
                    && mass < peak.mass - tuning::scout::MASS_LOST - 0.25 * d as f64
                    && at.log_p > peak.log_p + tuning::scout::HEIGHT_GAINED
            }
            _ => {
                *peak = Some(Self { mass, log_p: at.log_p, steps_since: 0 });
                false
            }
        }
    }
}

/// A point along `direction` with sufficient gain and a slope that has fallen (the weak Wolfe conditions).
fn line_search<H: Height>(probe: &mut H, from: &Point, direction: &[f64], slope: f64) -> Result<Option<Point>, Error> {
    let (mut low, mut high) = (0.0f64, f64::INFINITY);
    let mut length = 1.0;
    let mut best: Option<Point> = None;
    for _ in 0..tuning::search::LINE_TRIALS {
        let mut z = from.z.clone();
        axpy(length, direction, &mut z);
        let reached = probe.point(z)?;
        let change = reached.as_ref().map(|p| p.log_p - from.log_p);
        match reached.filter(|p| p.log_p > from.log_p + tuning::search::SUFFICIENT_GAIN * length * slope) {
            Some(point) if dot(&point.gradient, direction) > tuning::search::SLOPE_SHARE * slope => {
                low = length;
                if point.log_p > RUNAWAY {
                    return Ok(Some(point));
                }
                if best.as_ref().is_none_or(|best| point.log_p > best.log_p) {
                    best = Some(point);
                }
            }
            Some(point) => return Ok(Some(point)),
            None => high = length,
        }
        length = if high.is_infinite() {
            4.0 * length
        } else if low == 0.0 {
            // The maximum of the parabola through what is known; nothing is known where the density is not finite.
            let guess = change.filter(|c| slope * high > *c).map(|c| 0.5 * slope * high / (slope * high - c));
            high * guess.unwrap_or(0.1).clamp(0.02, 0.5)
        } else {
            0.5 * (low + high)
        };
        if high - low < 1e-14 * high {
            break;
        }
    }
    Ok(best)
}
