//! The start of a full Gaussian: places found by climbs and on their ways, judged by their bound (mathematics §12.4).

use super::lbfgs::ascend;
use super::metric::Metric;
use super::spread::{Spread, widths};
use super::way::{inverse_curvature, metric_of_covariance};
use super::{Found, Known, Region, Search, first_order};
use crate::Error;
use crate::evaluate::{Evaluator, Interrupt, Point};
use crate::family::Approximation;
use crate::linalg::{axpy, dot};
use crate::random::{Purpose, Stream};
use crate::record::Counts;
use crate::special::order;
use crate::target::{Covariance, Target};
use crate::tuning::scout as tuned;

/// A Gaussian that was judged.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    /// Centre and precision.
    pub(crate) region: Region,
    /// Its ELBO over a few fixed draws, −∞ where one of them has no density.
    pub(crate) elbo: f64,
    /// Whether it is at a mode whose draws lie as far below it as those of a Gaussian do.
    pub(crate) fits: bool,
    /// Whether it is at a mode whose draws do not lie much farther off.
    pub(crate) is_near: bool,
}

/// What scouting has found.
#[derive(Clone, Debug)]
#[cfg_attr(not(test), allow(dead_code, reason = "for chains, which begin at places and correct what does not fit"))]
pub(crate) struct Scouted {
    /// The best place.
    pub(crate) approximation: Approximation,
    /// All places that were judged, best first.
    pub(crate) places: Vec<Place>,
    /// Whether there is a mode that fits and is about as good as the best place.
    pub(crate) fits: bool,
    /// What the climbs have found.
    pub(crate) found: Found,
    /// What all of it cost.
    pub(crate) counts: Counts,
}

/// Looks for the start of a full Gaussian.
///
/// The climbs are those of every search, with differences of gradients to one side and an end in spikes. The Gaussians
/// at the heaviest modes, at the best region of the ways and at the target's own guess are judged by their bound over a
/// few fixed draws. Only where no mode fits, Gaussians along the ways and the ends of climbs of the bound itself, with
/// independent coordinates, are judged as well.
///
/// # Errors
/// A fatal error of the target; [`Error::Interrupted`].
pub(crate) fn scout(evaluator: Evaluator<'_>, seed: u64) -> Result<Scouted, Error> {
    let (target, interrupt) = (evaluator.target(), evaluator.interrupt());
    let mut search = Search::new(evaluator, Covariance::Full, seed);
    search.probe.is_scouting = true;
    search.ways = Some(Vec::new());
    search.begin_at_the_origin()?;
    let guess = search.probe.evaluator.about().guess.clone();
    if let Some(guess) = &guess
        && let Some(point) = search.probe.point(guess.start(seed))?
    {
        search.climb_from(point)?;
    }
    search.around()?;
    search.among_the_modes()?;
    let ways = search.ways.take().unwrap_or_default();
    let mut scouting = Scouting::new(target, interrupt, seed);
    let found = search.finish()?;
    for mode in found.modes.iter().take(tuned::JUDGED_MODES) {
        scouting.judge(mode.region(), true)?;
    }
    let is_mode = found.modes.iter().any(|mode| mode.centre == found.region.centre);
    if !is_mode {
        scouting.judge(found.region.clone(), false)?;
    }
    if let Some(guess) = guess {
        let precision = guess.widths.iter().map(|width| 1.0 / (width * width)).collect();
        if let Some(metric) = Metric::new(guess.means.len(), precision) {
            scouting.judge(Region { centre: guess.start(seed), metric }, false)?;
        }
    }
    if !scouting.is_near() {
        ways.iter().try_for_each(|way| scouting.look_along(way))?;
        let begun_at = |way: &Vec<Point>| way[way.len() / 3].z.clone();
        let mut starts: Vec<Vec<f64>> = ways.iter().take(tuned::SPREAD_CLIMBS).map(begun_at).collect();
        if starts.is_empty() {
            starts.push(found.region.centre.clone());
        }
        starts.into_iter().try_for_each(|z| scouting.spread_from(z))?;
    }
    scouting.finish(found)
}

/// Gaussians under judgement.
struct Scouting<'t> {
    probe: super::Probe<'t>,
    /// Two batches of mirrored draws of N(0, I), the same for all.
    draws: Vec<f64>,
    places: Vec<Place>,
}

impl<'t> Scouting<'t> {
    /// Stream of [`Purpose::Start`] that belongs to the draws.
    const STREAM: u64 = 1 << 34;

    fn new(target: &'t dyn Target, interrupt: Option<&'t dyn Interrupt>, seed: u64) -> Self {
        let mut probe = super::Probe::new(Evaluator::new(target, interrupt));
        probe.is_scouting = true;
        let mut draws = Vec::new();
        for batch in 0..2 {
            let mut half = vec![0.0; tuned::JUDGING_PAIRS * probe.dim()];
            Stream::open(seed, Purpose::Start, Self::STREAM, batch).fill_normal(&mut half);
            draws.extend_from_slice(&half);
            draws.extend(half.iter().map(|v| -v));
        }
        Self { probe, draws, places: Vec::new() }
    }

    /// Judges a Gaussian by its bound; at a mode also by how far below it its draws lie.
    fn judge(&mut self, region: Region, at_mode: bool) -> Result<(), Error> {
        let d = self.probe.dim();
        let top = if at_mode { self.probe.point(region.centre.clone())? } else { None };
        let half_d = 0.5 * d as f64;
        let constant = half_d * (1.0 + std::f64::consts::TAU.ln()) - 0.5 * region.metric.log_det();
        let best = self.best();
        let mut mean = self.mean_height(&region, 0)?;
        // The best of many places by a few draws is mostly a lucky one.
        if mean + constant > best && !self.places.is_empty() {
            mean = 0.5 * (mean + self.mean_height(&region, 1)?);
        }
        let elbo = mean + constant;
        let below = top.as_ref().map_or(f64::INFINITY, |top| (top.log_p - half_d - mean).abs());
        let fits = below < tuned::FIT_NATS + tuned::FIT_PER_COORDINATE * d as f64;
        let is_near = below < tuned::NEAR_NATS + d as f64;
        self.places.push(Place { region, elbo, fits, is_near });
        Ok(())
    }

    /// The mean of log p over the draws of a Gaussian, first or second of two batches.
    fn mean_height(&mut self, region: &Region, batch: usize) -> Result<f64, Error> {
        let d = self.probe.dim();
        let (mut mean, n) = (0.0, tuned::JUDGING_PAIRS * 2);
        for s in batch * n..(batch + 1) * n {
            let mut z = self.draws[s * d..(s + 1) * d].to_vec();
            region.metric.unwhiten(&mut z);
            axpy(1.0, &region.centre, &mut z);
            mean += self.probe.point(z)?.map_or(f64::NEG_INFINITY, |point| point.log_p / n as f64);
        }
        Ok(mean)
    }

    fn best(&self) -> f64 {
        self.places.iter().map(|place| place.elbo).fold(f64::NEG_INFINITY, f64::max)
    }

    /// Whether there is a mode that fits, or from which a few steps lead to what fits.
    fn is_near(&self) -> bool {
        self.fits() || self.places.iter().any(|place| place.is_near)
    }

    fn fits(&self) -> bool {
        let best = self.best();
        self.places.iter().any(|place| place.fits && place.elbo > best - tuned::AS_GOOD_NATS)
    }

    /// Judges Gaussians at some points of a way, moved along their gradient by no more than their width.
    fn look_along(&mut self, way: &[Point]) -> Result<(), Error> {
        let d = self.probe.dim();
        let lowest = way[way.len() - 1].log_p - 10.0 * d as f64 - 100.0;
        let near: Vec<usize> = (1..way.len()).filter(|k| way[*k].log_p > lowest).collect();
        let n = near.len().min(tuned::PLACES_ON_A_WAY);
        for i in 0..n {
            let k = near[if n > 1 { i * (near.len() - 1) / (n - 1) } else { 0 }];
            let Some(metric) = metric_of_covariance(d, &inverse_curvature(way, k)) else { continue };
            let mut step = way[k].gradient.clone();
            metric.solve(&mut step);
            let size = dot(&step, &way[k].gradient).abs().sqrt();
            let mut centre = way[k].z.clone();
            axpy((1.0 / size.max(1e-300)).min(1.0), &step, &mut centre);
            self.judge(Region { centre, metric }, false)?;
        }
        Ok(())
    }

    /// Climbs the bound of a Gaussian with independent coordinates from z, and judges it there, with these widths and
    /// with the curvature at its centre.
    fn spread_from(&mut self, z: Vec<f64>) -> Result<(), Error> {
        let d = self.probe.dim();
        let mut start = z;
        start.resize(2 * d, -1.0);
        let draws = self.draws[..2 * tuned::JUDGING_PAIRS * d].to_vec();
        let mut spread = Spread::new(&mut self.probe, &draws);
        let Some(start) = super::lbfgs::Height::point(&mut spread, start)? else { return Ok(()) };
        let end = ascend(&mut spread, start, Known::Modes(&[]), tuned::SPREAD_STEPS)?.point.z;
        let (centre, sds) = (end[..d].to_vec(), widths(&end[d..]));
        if let Some(metric) = Metric::new(d, sds.iter().map(|sd| 1.0 / (sd * sd)).collect()) {
            self.judge(Region { centre: centre.clone(), metric }, false)?;
        }
        self.probe.widths = sds;
        if let Some(point) = self.probe.point(centre)?
            && let Some(there) = first_order::region_at(&mut self.probe, &point)?
        {
            self.judge(there.region, false)?;
        }
        Ok(())
    }

    /// The best place.
    fn finish(mut self, found: Found) -> Result<Scouted, Error> {
        let fits = self.fits();
        order::descending(&mut self.places, |item| item.elbo);
        // Where nothing could be judged, what the search has is as good as anything.
        let best = self.places.first().filter(|place| place.elbo > f64::NEG_INFINITY);
        let region = best.map_or(&found.region, |place| &place.region);
        let precision = region.metric.stored_as(Covariance::Full);
        let approximation = Approximation::gaussian(region.centre.clone(), Covariance::Full, precision)?;
        let mut counts = found.counts;
        counts += self.probe.evaluator.counts();
        Ok(Scouted { approximation, places: self.places, fits, found, counts })
    }
}
