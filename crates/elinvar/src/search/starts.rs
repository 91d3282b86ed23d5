//! Where climbs begin.

#[cfg(test)]
mod tests;

use super::metric::Metric;
use super::{Mode, Search};
use crate::Error;
use crate::evaluate::Point;
use crate::linalg::axpy;
use crate::random::{Purpose, Stream};
use crate::tuning;

/// First of the streams of [`Purpose::Start`] that belong to the search.
const STREAM: u64 = 1 << 32;

impl Search<'_> {
    /// Standard normals that belong to a number.
    fn normals(&self, index: u64) -> Vec<f64> {
        let mut x = vec![0.0; self.probe.dim()];
        Stream::open(self.seed, Purpose::Start, STREAM + index, 0).fill_normal(&mut x);
        x
    }

    /// The first climb: from the origin, or if there is no density, from the best of some points of many sizes.
    pub(super) fn begin_at_the_origin(&mut self) -> Result<(), Error> {
        let origin = self.probe.point(vec![0.0; self.probe.dim()])?;
        let start = match origin {
            Some(origin) => Some(origin),
            None => {
                let mut best: Option<Point> = None;
                for index in 0..tuning::search::START_SIZES.len() as u64 * tuning::search::STARTS_PER_SIZE {
                    let size = tuning::search::START_SIZES[(index / tuning::search::STARTS_PER_SIZE) as usize];
                    let z = self.normals((1 << 20) + index).iter().map(|x| size * x).collect();
                    if let Some(point) = self.probe.point(z)?
                        && best.as_ref().is_none_or(|best| point.log_p > best.log_p)
                    {
                        best = Some(point);
                    }
                }
                best
            }
        };
        if let Some(start) = start {
            self.climb_from(start)?;
        }
        Ok(())
    }

    /// log p at a point less that of the Gaussians which touch the density at the known modes.
    fn unexplained(&self, point: &Point) -> f64 {
        let explained = |mode: &Mode| mode.log_p - 0.5 * mode.metric.square_distance(&point.z, &mode.centre);
        let terms: Vec<f64> = self.modes.iter().map(explained).collect();
        let largest = terms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if largest == f64::NEG_INFINITY {
            return f64::INFINITY;
        }
        point.log_p - largest - terms.iter().map(|term| (term - largest).exp()).sum::<f64>().ln()
    }

    /// A few climbs from further off, then more if they cost little, until there are two modes. None where rows are
    /// many and the density is said to be concave, so that there is no mode but the one that was found; where they are
    /// few, the climbs cost nothing and would show that this is not so.
    pub(super) fn around(&mut self) -> Result<(), Error> {
        let about = self.probe.evaluator.about();
        let products = about.n_rows.unwrap_or(0).saturating_mul(about.dim);
        if !self.modes.is_empty() && about.is_log_concave() && products >= tuning::search::DEAR_PRODUCTS {
            return Ok(());
        }
        for (index, distance) in tuning::search::START_DISTANCES.into_iter().enumerate() {
            let gradients = self.probe.evaluator.counts().gradient;
            let afford = !self.modes.is_empty() && gradients < tuning::search::CHEAP_GRADIENTS;
            let too_much = self.rising > 1 || index > 0 && gradients > tuning::search::MOST_GRADIENTS;
            if self.modes.len() > 1 || index >= tuning::search::FEWEST_CLIMBS && !afford || too_much {
                break;
            }
            let (centre, metric, size) = match self.modes.first() {
                Some(mode) => (mode.centre.clone(), mode.metric.clone(), distance),
                None => {
                    (vec![0.0; self.probe.dim()], Metric::unit(self.probe.dim()), tuning::search::START_SIZES[index])
                }
            };
            let Some(start) = self.start_near(&centre, &metric, size, index as u64)? else { continue };
            if index < tuning::search::FEWEST_CLIMBS || self.unexplained(&start) > tuning::search::UNEXPLAINED_NATS {
                self.climb_from(start)?;
            }
        }
        Ok(())
    }

    /// Once there are several modes, climbs from points spread as they are, until new ones stop appearing.
    pub(super) fn among_the_modes(&mut self) -> Result<(), Error> {
        let (mut round, mut misses) = (0, 0);
        while self.modes.len() > 1
            && misses < (4 * self.modes.len()).max(tuning::search::IDLE_CLIMBS)
            && self.searches < tuning::search::MOST_CLIMBS
        {
            let (n, d) = (self.modes.len() as f64, self.probe.dim() as f64);
            let mut centre = vec![0.0; self.probe.dim()];
            self.modes.iter().for_each(|mode| axpy(1.0 / n, &mode.centre, &mut centre));
            let metric = self.modes[round % self.modes.len()].metric.clone();
            // The spread of the modes, seen in one of them, with the variance of a sample of n; and twice as far in
            // turn.
            let square: f64 = self.modes.iter().map(|mode| metric.square_distance(&mode.centre, &centre)).sum();
            let spread = (square / ((n - 1.0) * d)).sqrt();
            let size = spread * if round % 2 == 0 { 1.0 } else { 2.0 };
            let start = self.start_near(&centre, &metric, size, 100 + round as u64)?;
            (round, misses) = (round + 1, misses + 1);
            if let Some(start) = start.filter(|start| self.unexplained(start) > tuning::search::UNEXPLAINED_NATS)
                && self.climb_from(start)?
            {
                misses = 0;
            }
        }
        Ok(())
    }

    /// Of some points `size` standard deviations of `metric` from `centre` the least explained one; nearer points if
    /// there is no density there.
    fn start_near(
        &mut self,
        centre: &[f64],
        metric: &Metric,
        mut size: f64,
        index: u64,
    ) -> Result<Option<Point>, Error> {
        for _ in 0..tuning::search::START_HALVINGS {
            let mut best: Option<(f64, Point)> = None;
            for candidate in 0..tuning::search::START_CANDIDATES {
                // In pairs of opposite points.
                let mut offset = self.normals(tuning::search::START_CANDIDATES * index + candidate / 2);
                metric.unwhiten(&mut offset);
                let mut z = centre.to_vec();
                axpy(if candidate % 2 == 0 { size } else { -size }, &offset, &mut z);
                let Some(point) = self.probe.point(z)? else { continue };
                let unexplained = self.unexplained(&point);
                if best.as_ref().is_none_or(|(other, _)| unexplained > *other) {
                    best = Some((unexplained, point));
                }
            }
            if let Some((_, point)) = best {
                return Ok(Some(point));
            }
            size *= 0.5;
        }
        Ok(None)
    }
}
