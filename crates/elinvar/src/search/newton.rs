//! Newton's method with second derivatives, safe where the log density is not concave.
//!
//! Where −∇²log p is positive definite the step is Newton's and its length the only thing that is chosen, so that the
//! path does not depend on the coordinates. Elsewhere two steps compete: Newton's, in the sense in which it climbs,
//! which keeps that property, and the one that turns every upward curvature round, which cannot be led to a saddle.

use super::bent::Bent;
use super::climb::{Climb, End, Known, RUNAWAY, Waypoint, is_spike, keep_better, predicted};
use super::lbfgs::Height;
use super::metric::Metric;
use super::probe::Probe;
use crate::Error;
use crate::evaluate::Point;
use crate::linalg::axpy;
use crate::tuning;

/// A point with −∇²log p there.
struct Stand {
    point: Point,
    curvature: Vec<f64>,
}

/// What became of one search along a step.
struct Advance {
    stand: Stand,
    /// The part of the step that was taken.
    length: f64,
}

/// Climbs from `start` in at most `iterations` steps.
pub(super) fn climb(probe: &mut Probe<'_>, start: Point, known: Known<'_>, iterations: usize) -> Result<Climb, Error> {
    let Some(curvature) = probe.curvature(&start)? else { return without_curvature(probe, start) };
    let mut stand = Stand { point: start, curvature };
    let (mut first, mut waypoint): (Option<Waypoint>, Option<Waypoint>) = (None, None);
    let (mut floor, mut last_gain) = (0.0f64, 0.0);
    let mut end = None;
    let mut steps_left = iterations;
    while steps_left > 0 {
        steps_left -= 1;
        let point = &stand.point;
        if known.covers(point) {
            end = Some(End::Known);
            break;
        }
        let d = point.z.len();
        let metric = Metric::new(d, stand.curvature.clone());
        let bent = if metric.is_none() || floor > 0.0 { Bent::new(&stand.curvature, &point.gradient) } else { None };
        let here = match (&metric, &bent) {
            (Some(metric), _) => Waypoint::new(point, metric),
            (None, Some(bent)) => Metric::new(d, bent.regularised()).and_then(|metric| Waypoint::new(point, &metric)),
            (None, None) => None,
        };
        if first.is_none() {
            first = here.clone();
        }
        let mut steps = Vec::new();
        if let Some(metric) = &metric {
            let mut step = point.gradient.clone();
            metric.solve(&mut step);
            // Below the rounding of log p nothing can be climbed.
            if predicted(&point.gradient, &step) < probe.top_nats().max(1e-14 * point.log_p.abs()) {
                keep_better(&mut waypoint, here);
                end = Some(End::Mode);
                break;
            }
            steps.push(step);
        }
        if let (Some(best), Some(here)) = (&waypoint, &here)
            && is_spike(best, here)
        {
            end = Some(End::Spike);
            break;
        }
        keep_better(&mut waypoint, here);
        if let Some(bent) = &bent {
            if metric.is_none() {
                if bent.is_flat(tuning::search::MODE_NATS) {
                    end = Some(End::Flat);
                    break;
                }
                steps.push(bent.newton(floor));
                if bent.gain() < tuning::search::MODE_NATS {
                    steps.push(bent.escape());
                }
            }
            steps.push(bent.flipped(floor));
        }
        let before = point.log_p;
        let Some(advance) = advance(probe, &stand, &steps)? else { break };
        stand = advance.stand;
        last_gain = stand.point.log_p - before;
        floor = if advance.length < 0.02 {
            (100.0 * floor).clamp(tuning::search::FIRST_EIGENVALUE_FLOOR, 1.0)
        } else if advance.length >= 1.0 {
            if floor > tuning::search::FIRST_EIGENVALUE_FLOOR { 0.01 * floor } else { 0.0 }
        } else {
            floor
        };
        if stand.point.log_p > RUNAWAY {
            break;
        }
    }
    let Stand { point, curvature } = stand;
    // A later climb has fewer steps, and may be far below when they are used up.
    let ran_away = last_gain > 1.0 && (probe.evaluator.overflow || point.log_p > RUNAWAY);
    let rising = ran_away || last_gain > 10.0 && known.is_empty();
    if end.is_none() && rising {
        // What the region holds rises, too: no point of the way is better than where it began.
        waypoint = first.or(waypoint);
    }
    let end = end.unwrap_or(match rising {
        true => End::Rising,
        false if steps_left == 0 && last_gain > 0.1 => End::Unfinished,
        false => End::Stalled,
    });
    if waypoint.is_none() {
        waypoint = regularised(&point, &curvature);
    }
    let metric = Metric::new(point.z.len(), curvature);
    Ok(Climb { end, point, metric, waypoint, path: Vec::new() })
}

/// The end of a climb that cannot begin.
fn without_curvature(probe: &Probe<'_>, start: Point) -> Result<Climb, Error> {
    let region = super::Region { centre: start.z.clone(), metric: Metric::unit(probe.dim()) };
    let waypoint = Some(Waypoint { region, log_p: start.log_p, score: start.log_p });
    Ok(Climb { end: End::Stalled, point: start, metric: None, waypoint, path: Vec::new() })
}

/// The region around a point at which the curvature is not positive definite.
pub(super) fn regularised(point: &Point, curvature: &[f64]) -> Option<Waypoint> {
    let bent = Bent::new(curvature, &point.gradient)?;
    Waypoint::new(point, &Metric::new(point.z.len(), bent.regularised())?)
}

/// The best full step, lengthened while that pays, or the last of the steps shortened until it climbs.
fn advance(probe: &mut Probe<'_>, from: &Stand, steps: &[Vec<f64>]) -> Result<Option<Advance>, Error> {
    let origin = &from.point;
    let mut best: Option<(Point, usize)> = None;
    let mut last = None;
    for (which, step) in steps.iter().enumerate() {
        let reached = probe.point(moved(&origin.z, 1.0, step))?;
        if let Some(reached) = &reached
            && reached.log_p > origin.log_p + tuning::search::SUFFICIENT_GAIN * predicted(&origin.gradient, step)
            && best.as_ref().is_none_or(|(best, _)| reached.log_p > best.log_p)
        {
            best = Some((reached.clone(), which));
        }
        last = reached;
    }
    let Some((mut point, which)) = best else {
        let Some(step) = steps.last() else { return Ok(None) };
        let slope = 2.0 * predicted(&origin.gradient, step);
        let mut length = 1.0;
        for _ in 0..tuning::search::NEWTON_SHORTENINGS {
            length *= shortening(slope * length, last.as_ref().map(|p| p.log_p - origin.log_p));
            last = probe.point(moved(&origin.z, length, step))?;
            if let Some(reached) =
                last.as_ref().filter(|p| p.log_p > origin.log_p + tuning::search::SUFFICIENT_GAIN * length * slope)
            {
                return stand_at(probe, from, reached.clone(), step, length);
            }
        }
        return Ok(None);
    };
    let step = &steps[which];
    let mut length = 1.0;
    let quadratic = predicted(&origin.gradient, step);
    // More than a parabola promises: the way goes on.
    if point.log_p - origin.log_p > (1.1 * quadratic).max(1.0) {
        for _ in 0..tuning::search::NEWTON_LENGTHENINGS {
            match probe.point(moved(&origin.z, 2.0 * length, step))? {
                Some(further) if further.log_p > point.log_p => point = further,
                _ => break,
            }
            length *= 2.0;
        }
    }
    stand_at(probe, from, point, step, length)
}

/// By how much to shorten a step along which `slope` was promised and `change` happened.
fn shortening(slope: f64, change: Option<f64>) -> f64 {
    match change {
        // The maximum of the parabola through what is known.
        Some(change) if slope > change => (0.5 * slope / (slope - change)).clamp(0.02, 0.5),
        _ => 0.1,
    }
}

/// The curvature at the point reached; where there is none, at a point a little before it.
fn stand_at(
    probe: &mut Probe<'_>,
    from: &Stand,
    mut point: Point,
    step: &[f64],
    mut length: f64,
) -> Result<Option<Advance>, Error> {
    for _ in 0..6 {
        if let Some(curvature) = probe.curvature(&point)? {
            return Ok(Some(Advance { stand: Stand { point, curvature }, length }));
        }
        length *= 0.8;
        match probe.point(moved(&from.point.z, length, step))? {
            Some(shorter) if shorter.log_p > from.point.log_p => point = shorter,
            _ => {}
        }
    }
    Ok(None)
}

fn moved(z: &[f64], length: f64, step: &[f64]) -> Vec<f64> {
    let mut moved = z.to_vec();
    axpy(length, step, &mut moved);
    moved
}
