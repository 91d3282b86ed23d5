//! Finding the bulk before fitting: climbs to modes from several scaled starts.

mod bent;
mod climb;
mod design;
mod first_order;
mod lbfgs;
mod metric;
mod newton;
mod probe;
mod region;
mod scan;
mod scout;
mod spread;
mod starts;
#[cfg(test)]
mod tests;
mod way;

pub(crate) use climb::{Known, climb_to_mode};
pub(crate) use metric::Metric;
pub(crate) use probe::Probe;
pub(crate) use region::Region;
pub(crate) use scan::{Scanned, Surroundings, scan};
pub(crate) use scout::{Scouted, scout};
pub(crate) use way::metric_of_covariance;

use climb::{Climb, End, Waypoint};

use crate::Error;
use crate::evaluate::{Evaluator, Point};
use crate::record::{Counts, ModeRecord};
use crate::target::Covariance;
#[cfg(test)]
use crate::target::Target;

/// A maximum of log p with the curvature there.
#[derive(Clone, Debug)]
pub(crate) struct Mode {
    pub(crate) centre: Vec<f64>,
    /// −∇²log p.
    pub(crate) metric: Metric,
    /// The declared prior included.
    pub(crate) log_p: f64,
    /// log p + ½d log 2π − ½ log |P|, the mass of the Gaussian that touches the density at the mode.
    pub(crate) log_mass: f64,
    /// How many climbs ended here.
    pub(crate) found_by: usize,
}

/// What the search has found.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    /// The modes, the one with the largest mass first.
    pub(crate) modes: Vec<Mode>,
    /// Where to begin: the first mode, or where there is none, or a spike without mass, the best region on the way.
    pub(crate) region: Region,
    /// Climbs.
    pub(crate) searches: usize,
    /// Whether the density rises without bound, or to a spike that holds none of the mass.
    pub(crate) unbounded: bool,
    /// Whether it does so nowhere but in spikes that hold ever less.
    pub(crate) emptying: bool,
    /// What it cost.
    pub(crate) counts: Counts,
}

/// Searches in progress.
struct Search<'t> {
    probe: Probe<'t>,
    covariance: Covariance,
    seed: u64,
    modes: Vec<Mode>,
    waypoints: Vec<Waypoint>,
    /// The way of the first climb, if it had gradients only.
    path: Vec<Point>,
    searches: usize,
    unfinished: usize,
    rising: usize,
    /// How many of these went up spikes.
    spikes: usize,
    /// The ways of all climbs, where somebody wants them.
    ways: Option<Vec<Vec<Point>>>,
}

/// [`search_by`] that nobody limits or interrupts.
#[cfg(test)]
pub(crate) fn search(target: &dyn Target, covariance: Covariance, seed: u64) -> Result<Found, Error> {
    search_by(Evaluator::new(target, None), covariance, seed)
}

/// Looks for the modes of a target.
///
/// The first climb begins at the origin, three or more (as many as cost little) some Laplace standard deviations from
/// where it led; where it led nowhere, at points of several absolute sizes. Only if these found several modes the
/// search goes on, from points spread as the modes are, until new ones stop appearing. Once a limit of the evaluator is
/// reached, no other climb begins.
///
/// # Errors
/// A fatal error of the target; [`Error::Interrupted`].
pub(crate) fn search_by(evaluator: Evaluator<'_>, covariance: Covariance, seed: u64) -> Result<Found, Error> {
    let mut search = Search::new(evaluator, covariance, seed);
    search.begin_at_the_origin()?;
    search.around()?;
    search.among_the_modes()?;
    search.finish()
}

impl Mode {
    /// The mode at a point with this curvature, found once.
    fn new(at: Point, metric: Metric) -> Self {
        let half_d = 0.5 * at.z.len() as f64;
        let log_mass = at.log_p + half_d * std::f64::consts::TAU.ln() - 0.5 * metric.log_det();
        Self { centre: at.z, metric, log_p: at.log_p, log_mass, found_by: 1 }
    }

    /// Whether it is at a place, but for a small part of its width: ends of climbs to one mode differ by that.
    pub(crate) fn is_at(&self, place: &[f64]) -> bool {
        self.metric.square_distance(place, &self.centre) < 0.25
    }

    /// What is told of it.
    pub(crate) fn record(&self) -> ModeRecord {
        ModeRecord {
            centre: self.centre.clone(),
            log_p: self.log_p,
            log_mass: Some(self.log_mass).filter(|mass| mass.is_finite()),
            found_by: self.found_by,
        }
    }
}

impl<'t> Search<'t> {
    fn new(evaluator: Evaluator<'t>, covariance: Covariance, seed: u64) -> Self {
        Self {
            probe: Probe::new(evaluator),
            covariance,
            seed,
            modes: Vec::new(),
            waypoints: Vec::new(),
            path: Vec::new(),
            searches: 0,
            unfinished: 0,
            rising: 0,
            spikes: 0,
            ways: None,
        }
    }

    /// One climb; whether it found a mode that was not known.
    fn climb_from(&mut self, start: Point) -> Result<bool, Error> {
        if self.searches > 0 && self.probe.evaluator.limit_reached().is_some() {
            return Ok(false);
        }
        self.searches += 1;
        let climb = climb::climb(&mut self.probe, start, Known::Modes(&self.modes), self.covariance)?;
        Ok(self.record(climb))
    }

    fn record(&mut self, climb: Climb) -> bool {
        let Climb { end, point, metric, waypoint, path } = climb;
        if let Some(ways) = self.ways.as_mut().filter(|_| path.len() > 1) {
            ways.push(path.clone());
        }
        if self.searches == 1 {
            self.path = path;
        }
        self.waypoints.extend(waypoint);
        match (end, metric) {
            (End::Known, _) => {
                let distance = |mode: &Mode| mode.metric.square_distance(&point.z, &mode.centre);
                let nearest = self.modes.iter_mut().min_by(|a, b| distance(a).total_cmp(&distance(b)));
                nearest.into_iter().for_each(|mode| mode.found_by += 1);
                false
            }
            (End::Mode, Some(metric)) => {
                if let Some(mode) = self.modes.iter_mut().find(|mode| mode.is_at(&point.z)) {
                    mode.found_by += 1;
                    return false;
                }
                self.modes.push(Mode::new(point, metric));
                true
            }
            _ => {
                self.unfinished += usize::from(end == End::Unfinished);
                self.rising += usize::from(matches!(end, End::Rising | End::Spike));
                self.spikes += usize::from(end == End::Spike);
                false
            }
        }
    }
}
