//! What a climb towards a mode hands back.

use super::metric::Metric;
use super::probe::Point;
use super::{Mode, Region};
use crate::linalg::dot;

/// How a climb ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// At a mode, with its curvature.
    Mode,
    /// Near a mode that was known before.
    Known,
    /// Where nothing varies in some direction.
    Flat,
    /// Where no step leads higher though the gradient says so: an edge, or a density that is not smooth.
    Stalled,
    /// Still rising where the steps were used up.
    Unfinished,
    /// On a density that rises without bound, or up a spike.
    Rising,
}

/// One climb.
#[derive(Debug)]
pub(super) struct Climb {
    pub(super) end: End,
    pub(super) point: Point,
    /// The curvature at the end, where it is positive definite.
    pub(super) metric: Option<Metric>,
    /// The region on the way that seems to hold most.
    pub(super) waypoint: Option<Waypoint>,
    /// Points on the way at which the curvature was not asked for.
    pub(super) path: Vec<Point>,
}

/// A region met on the way, with the log of the mass that it seems to hold.
#[derive(Clone, Debug)]
pub(super) struct Waypoint {
    pub(super) region: Region,
    pub(super) log_p: f64,
    /// log p − ½ log |P + ggᵀ|: the width along the gradient is that of an exponential density, not that of the curvature.
    ///
    /// Climbing a spike raises log p and lowers this.
    pub(super) score: f64,
}

impl Waypoint {
    /// The region around `at` with curvature `metric`.
    pub(super) fn new(at: &Point, metric: &Metric) -> Option<Self> {
        let metric = metric.plus_outer(1.0, &at.gradient)?;
        let score = at.log_p - 0.5 * metric.log_det();
        score.is_finite().then(|| Self { region: Region { centre: at.z.clone(), metric }, log_p: at.log_p, score })
    }
}

/// log p beyond which a density has run away.
pub(super) const RUNAWAY: f64 = 1e12;

/// Whether a climb from one region to another went up a spike: the density rose, what the region holds fell, both by far more
/// than the walls around a point in the tail of an ordinary density can explain.
pub(super) fn is_spike(from: &Waypoint, to: &Waypoint) -> bool {
    let d = to.region.centre.len() as f64;
    from.score > to.score + 30.0 + 0.5 * d && to.log_p > from.log_p + 30.0 + d
}

/// Keeps the better of two regions.
pub(super) fn keep_better(best: &mut Option<Waypoint>, new: Option<Waypoint>) {
    if let Some(new) = new
        && best.as_ref().is_none_or(|best| new.score > best.score)
    {
        *best = Some(new);
    }
}

/// Whether `at` is so near a known mode that climbing on would find it again.
pub(super) fn is_known(at: &Point, known: &[Mode]) -> bool {
    known
        .iter()
        .any(|mode| (mode.log_p - at.log_p).abs() < 1.0 && mode.metric.square_distance(&at.z, &mode.centre) < 1.0)
}

/// ½gᵀs.
pub(super) fn predicted(gradient: &[f64], step: &[f64]) -> f64 {
    0.5 * dot(gradient, step)
}
