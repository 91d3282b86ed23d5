//! A centre and a width to begin with.

use super::climb::Waypoint;
use super::metric::Metric;
use super::{Found, Mode, Search, first_order};
use crate::Error;
use crate::linalg::{axpy, dot};
use crate::random::{Purpose, Stream};
use crate::special::order;
use crate::tuning;

/// A point and a precision around it.
#[derive(Clone, Debug)]
pub(crate) struct Region {
    pub(crate) centre: Vec<f64>,
    pub(crate) metric: Metric,
}

/// What a few draws from a region say about it.
struct Look {
    /// The ELBO of the Gaussian, −∞ if log p is not finite somewhere.
    elbo: f64,
    /// Mean of the draws at which log p is finite.
    mean: Vec<f64>,
    n_finite: usize,
}

impl Search<'_> {
    /// Draws from a region.
    fn look(&mut self, region: &Region) -> Result<Look, Error> {
        let d = self.probe.dim();
        let mut stream = Stream::open(self.seed, Purpose::Start, 1 << 33, 0);
        let mut look = Look { elbo: 0.0, mean: vec![0.0; d], n_finite: 0 };
        let constant = 0.5 * region.metric.log_det() - 0.5 * d as f64 * std::f64::consts::TAU.ln();
        for _ in 0..tuning::search::REGION_DRAWS {
            let mut x = vec![0.0; d];
            stream.fill_normal(&mut x);
            let log_q = constant - 0.5 * dot(&x, &x);
            region.metric.unwhiten(&mut x);
            axpy(1.0, &region.centre, &mut x);
            match self.probe.point(x)? {
                Some(point) => {
                    look.elbo += (point.log_p - log_q) / tuning::search::REGION_DRAWS as f64;
                    axpy(1.0, &point.z, &mut look.mean);
                    look.n_finite += 1;
                }
                None => look.elbo = f64::NEG_INFINITY,
            }
        }
        look.mean.iter_mut().for_each(|v| *v /= look.n_finite.max(1) as f64);
        Ok(look)
    }

    /// The region moved inwards and narrowed until the density exists at most of its draws, and its ELBO.
    fn inside(&mut self, mut region: Region) -> Result<(f64, Region), Error> {
        let mut look = self.look(&region)?;
        for _ in 0..tuning::search::NARROWINGS {
            if 4 * look.n_finite >= 3 * tuning::search::REGION_DRAWS {
                break;
            }
            if look.n_finite > 0 {
                region.centre = look.mean;
            }
            match region.metric.scaled(2.0) {
                Some(narrower) => region.metric = narrower,
                None => break,
            }
            look = self.look(&region)?;
        }
        Ok((look.elbo, region))
    }

    /// Chooses where to begin.
    pub(super) fn finish(mut self) -> Result<Found, Error> {
        order::descending(&mut self.modes, |item| item.log_mass);
        let (region, spike) = match self.modes.first().cloned() {
            Some(mode) => self.at_or_before(mode)?,
            None => (self.without_mode()?, false),
        };
        // Climbs that neither ended nor found a mode are no sign that there is one.
        let nothing = self.modes.is_empty();
        let endless = self.rising > 0 || nothing && self.unfinished > 0;
        Ok(Found {
            modes: self.modes,
            region,
            searches: self.searches,
            unbounded: spike || endless,
            emptying: self.rising == self.spikes && !(nothing && self.unfinished > 0),
            counts: self.probe.evaluator.counts(),
        })
    }

    /// The regions on the way that seem to hold most.
    fn candidates(&mut self) -> Vec<Waypoint> {
        let mut waypoints = std::mem::take(&mut self.waypoints);
        order::descending(&mut waypoints, |item| item.score);
        waypoints.truncate(tuning::search::REGIONS_ON_THE_WAY);
        waypoints
    }

    /// The region of the mode, or one on the way in which a Gaussian fits better; and whether the mode is a spike.
    fn at_or_before(&mut self, mode: Mode) -> Result<(Region, bool), Error> {
        let d = self.probe.dim() as f64;
        let score = mode.log_mass - 0.5 * d * std::f64::consts::TAU.ln();
        let region = mode.region();
        let mut elbo = None;
        if let Some(first) = self.path.first().cloned() {
            // The way was not looked at. Where that is not cheap, only a Gaussian that fits badly is a reason to.
            if self.path.len() > 1 && self.probe.dim() > tuning::search::CHEAP_COORDINATES {
                elbo = Some(self.look(&region)?.elbo);
            }
            if elbo.is_none_or(|here| here < mode.log_mass - tuning::search::SPIKE_NATS - 1.5 * d) {
                let there = first_order::region_at(&mut self.probe, &first)?;
                self.waypoints.extend(there);
            }
        }
        self.waypoints.retain(|waypoint| waypoint.score > score + tuning::search::SUSPICIOUS_NATS);
        let mut best = (f64::NEG_INFINITY, None);
        for waypoint in self.candidates() {
            let there = self.look(&waypoint.region)?.elbo;
            if there > best.0 {
                best = (there, Some(waypoint));
            }
        }
        let (there, Some(waypoint)) = best else { return Ok((region, false)) };
        let here = match elbo {
            Some(here) => here,
            None => self.look(&region)?.elbo,
        };
        let spike =
            there > here + tuning::search::SPIKE_NATS && mode.log_p > waypoint.log_p + tuning::search::SPIKE_NATS;
        Ok((if there > here + 1.0 { waypoint.region } else { region }, spike))
    }

    /// The best region on the ways that led to no mode, N(0, I) where there is none.
    fn without_mode(&mut self) -> Result<Region, Error> {
        let d = self.probe.dim();
        let mut best = None;
        for waypoint in self.candidates() {
            let (elbo, region) = self.inside(waypoint.region)?;
            if best.as_ref().is_none_or(|(other, _)| elbo > *other) {
                best = Some((elbo, region));
            }
        }
        Ok(best.map_or_else(|| Region { centre: vec![0.0; d], metric: Metric::unit(d) }, |(_, region)| region))
    }
}

impl Mode {
    /// The Gaussian that touches the density at the mode.
    pub(crate) fn region(&self) -> Region {
        Region { centre: self.centre.clone(), metric: self.metric.clone() }
    }
}
