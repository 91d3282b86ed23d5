//! From a point uphill to the mode it belongs to, and what that hands back.

use super::metric::Metric;
use super::probe::Probe;
use super::{Mode, Region, first_order, newton};
use crate::Error;
use crate::evaluate::Point;
use crate::family::Approximation;
use crate::linalg::dot;
use crate::target::Covariance;
use crate::tuning;

/// What a climb need not find again.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Known<'k> {
    /// The modes of climbs before.
    Modes(&'k [Mode]),
    /// The same, for a climb whose first step is that of this curvature.
    Beside { modes: &'k [Mode], metric: &'k Metric },
    /// A mixture of Gaussians, which covers the points at which log p − log q is below `nats`.
    Mixture { q: &'k Approximation, nats: f64 },
}

impl Known<'_> {
    pub(super) fn is_empty(self) -> bool {
        matches!(self, Self::Modes([]) | Self::Beside { modes: [], .. })
    }

    /// Whether climbing on from `at` would lead to what is known.
    pub(super) fn covers(self, at: &Point) -> bool {
        match self {
            Self::Modes(modes) | Self::Beside { modes, .. } => modes.iter().any(|mode| {
                (mode.log_p - at.log_p).abs() < 1.0 && mode.metric.square_distance(&at.z, &mode.centre) < 1.0
            }),
            Self::Mixture { q, nats } => at.log_p - q.log_density(&at.z) < nats,
        }
    }

    /// The first guess of the curvature for a climb from `at`: that of the first mode, or of the component to which
    /// the point belongs most.
    pub(super) fn metric(self, at: &Point) -> Option<Metric> {
        match self {
            Self::Modes(modes) => modes.first().map(|mode| mode.metric.clone()),
            Self::Beside { metric, .. } => Some(metric.clone()),
            Self::Mixture { q, .. } => {
                let logs = q.log_joint(&at.z);
                let nearest = (0..logs.len()).max_by(|a, b| logs[*a].total_cmp(&logs[*b]))?;
                Some(q.locations()[nearest].scale().clone().into())
            }
        }
    }
}

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
    /// On a density that rises without bound.
    Rising,
    /// Up a spike: the density rises because it narrows, and what it holds falls.
    Spike,
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

impl Climb {
    /// Whether it would go on up without end, or up a spike.
    pub(super) fn goes_on_up(&self) -> bool {
        matches!(self.end, End::Rising | End::Spike)
    }
}

/// Climbs from `start`: by Newton's method where there are Hessians of a bearable size, else by L-BFGS.
pub(super) fn climb(
    probe: &mut Probe<'_>,
    start: Point,
    known: Known<'_>,
    covariance: Covariance,
) -> Result<Climb, Error> {
    probe.evaluator.overflow = false;
    let dense =
        probe.has_hessian() && (covariance == Covariance::Full || probe.dim() <= tuning::search::DENSE_COORDINATES);
    if dense {
        newton::climb(probe, start, known, tuning::search::NEWTON_STEPS[usize::from(!known.is_empty())])
    } else {
        first_order::climb(probe, start, known, covariance)
    }
}

/// The mode to which a climb from `from` leads; nothing where there is no density, where it leads to no mode, or to
/// one that is known.
///
/// # Errors
/// A fatal error of the target; [`Error::Interrupted`].
pub(crate) fn climb_to_mode(
    probe: &mut Probe<'_>,
    from: Vec<f64>,
    known: Known<'_>,
    covariance: Covariance,
) -> Result<Option<Mode>, Error> {
    let Some(start) = probe.point(from)? else { return Ok(None) };
    match climb(probe, start, known, covariance)? {
        Climb { end: End::Mode, point, metric: Some(metric), .. } if !known.covers(&point) => {
            Ok(Some(Mode::new(point, metric)))
        }
        _ => Ok(None),
    }
}

/// A region met on the way, with the log of the mass that it seems to hold.
#[derive(Clone, Debug)]
pub(super) struct Waypoint {
    pub(super) region: Region,
    pub(super) log_p: f64,
    /// log p − ½ log |P + ggᵀ|: the width along the gradient is that of an exponential density, not that of the
    /// curvature.
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

/// Whether a climb from one region to another went up a spike: the density rose, what the region holds fell, both by
/// far more than the walls around a point in the tail of an ordinary density can explain.
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

/// ½gᵀs.
pub(super) fn predicted(gradient: &[f64], step: &[f64]) -> f64 {
    0.5 * dot(gradient, step)
}
