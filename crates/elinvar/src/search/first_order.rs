//! A climb for targets that have gradients only, or too many coordinates for a dense Hessian.

use super::climb::{Climb, End, Known, RUNAWAY, Waypoint, is_spike, keep_better, predicted};
use super::lbfgs::{Ascent, Reached, ascend};
use super::metric::Metric;
use super::newton;
use super::probe::Probe;
use crate::Error;
use crate::evaluate::Point;
use crate::target::Covariance;
use crate::tuning;

/// Climbs from `start` by L-BFGS, then measures the curvature and takes the last steps by Newton's method.
pub(super) fn climb(
    probe: &mut Probe<'_>,
    start: Point,
    known: Known<'_>,
    covariance: Covariance,
) -> Result<Climb, Error> {
    let d = probe.dim();
    let measured = !probe.has_hessian() && (d <= tuning::search::DIFFERENCED_COORDINATES || probe.is_scouting);
    // Where gradients have shown the scales but not found the top after 2d steps, measured curvature is cheaper.
    let iterations = match measured {
        true if probe.is_scouting => tuning::scout::LBFGS_STEPS + d / 2,
        true => 20 + 2 * d,
        false => tuning::search::LBFGS_STEPS,
    };
    let ascent = ascend(probe, start, known, iterations)?;
    if ascent.reached == Reached::Known {
        return Ok(Climb { end: End::Known, point: ascent.point, metric: None, waypoint: None, path: Vec::new() });
    }
    if !measured {
        return approximately(probe, ascent, covariance);
    }
    probe.widths = ascent.pairs.diagonal().iter().map(|curvature| curvature.sqrt().recip()).collect();
    let Ascent { reached, point, pairs, path } = ascent;
    let ran_away =
        point.log_p > RUNAWAY || reached == Reached::Spike || reached == Reached::Stalled && is_rising(&path);
    let mut climb = if ran_away {
        let end = if reached == Reached::Spike { End::Spike } else { End::Rising };
        Climb { end, point, metric: None, waypoint: None, path: Vec::new() }
    } else {
        newton::climb(probe, point, known, tuning::search::POLISHING_STEPS)?
    };
    if climb.end == End::Stalled && reached == Reached::Stalled {
        // Differences across an edge mean nothing; what the way has shown does.
        keep_better(&mut climb.waypoint, pairs_region(&climb.point, pairs.matrix()));
    } else if matches!(climb.end, End::Stalled | End::Unfinished | End::Rising | End::Spike) {
        look_back(probe, &path, &mut climb)?;
    }
    climb.path = path;
    Ok(climb)
}

/// Gives a climb that has led to no mode the best region of its way; the first one, if the way led to ever better ones.
fn look_back(probe: &mut Probe<'_>, path: &[Point], climb: &mut Climb) -> Result<(), Error> {
    let regions = regions_of(probe, path)?;
    let Some(mut best) = regions.iter().max_by(|a, b| a.score.total_cmp(&b.score)) else { return Ok(()) };
    let last = climb.waypoint.iter().chain(regions.last()).max_by(|a, b| a.log_p.total_cmp(&b.log_p));
    if last.is_some_and(|last| is_spike(best, last)) {
        climb.end = End::Spike;
    } else if climb.goes_on_up() {
        best = &regions[0];
    }
    if climb.goes_on_up() {
        climb.waypoint = None;
    }
    keep_better(&mut climb.waypoint, Some(best.clone()));
    Ok(())
}

/// The regions around some points of a way, the first among them.
fn regions_of(probe: &mut Probe<'_>, path: &[Point]) -> Result<Vec<Waypoint>, Error> {
    let stride = path.len().div_ceil(tuning::search::LOOKS_BACK).max(1);
    let mut regions = Vec::new();
    for point in path.iter().step_by(stride) {
        regions.extend(region_at(probe, point)?);
    }
    Ok(regions)
}

/// Whether a way that has ended was rising to the last, and not only at first.
fn is_rising(path: &[Point]) -> bool {
    path.len() > 2 * tuning::search::RISING_STEPS
        && path.windows(2).rev().take(tuning::search::RISING_STEPS).all(|pair| pair[1].log_p > pair[0].log_p + 0.2)
}

/// The region around a point, its curvature measured.
pub(super) fn region_at(probe: &mut Probe<'_>, point: &Point) -> Result<Option<Waypoint>, Error> {
    let Some(curvature) = probe.curvature(point)? else { return Ok(None) };
    Ok(match Metric::new(point.z.len(), curvature.clone()) {
        Some(metric) => Waypoint::new(point, &metric),
        None => newton::regularised(point, &curvature),
    })
}

fn pairs_region(point: &Point, matrix: Vec<f64>) -> Option<Waypoint> {
    Waypoint::new(point, &Metric::new(point.z.len(), matrix)?)
}

/// The end of an ascent in many dimensions: the diagonal of the Hessian where there is one, else the curvature of the
/// pairs.
fn approximately(probe: &mut Probe<'_>, ascent: Ascent, covariance: Covariance) -> Result<Climb, Error> {
    let Ascent { reached, point, pairs, path } = ascent;
    let second = probe.second_derivatives(Covariance::Diagonal, &point)?.filter(|p| p.iter().all(|v| *v > 0.0));
    let entries = match (second, covariance) {
        (Some(diagonal), _) => diagonal,
        (None, Covariance::Full) => pairs.matrix(),
        (None, _) => pairs.diagonal(),
    };
    let d = point.z.len();
    let metric = Metric::new(d, entries).or_else(|| Metric::new(d, pairs.diagonal()));
    let waypoint = metric.as_ref().and_then(|metric| Waypoint::new(&point, metric));
    let gain = metric.as_ref().map_or(f64::INFINITY, |metric| {
        let mut step = point.gradient.clone();
        metric.solve(&mut step);
        predicted(&point.gradient, &step)
    });
    let end = match reached {
        Reached::Top => End::Mode,
        Reached::Limit if is_rising(&path) => End::Rising,
        _ if gain < 10.0 * tuning::search::MODE_NATS => End::Mode,
        _ => End::Stalled,
    };
    Ok(Climb { end, point, metric, waypoint, path: Vec::new() })
}
