//! New components at modes that the mixture does not cover.

use super::judge::Judged;
use super::prune::Survivors;
use super::{Growth, MOST_COMPONENTS};
use crate::Error;
use crate::block::{Location, LogWeights, Scale};
use crate::family::Approximation;
use crate::linalg::axpy;
use crate::random::{Purpose, Stream};
use crate::run::pooled::Pool;
use crate::search::{Known, Probe, climb_to_mode};
use crate::special::order;
use crate::target::DrawBuffer;
use crate::tuning;

impl Growth<'_, '_, '_> {
    /// Climbs from stored and from far points that the mixture misses; every new mode becomes a component with the
    /// weight of its Laplace approximation. Returns how many there were.
    pub(super) fn add_modes(&mut self, judged: &Judged, survivors: &mut Survivors) -> Result<usize, Error> {
        let shape = judged.q.locations()[0].scale().shape();
        let target = self.evaluator.target();
        let mut probe = Probe::new(self.fit.evaluator(target, &self.plan));
        let (far, far_log_p) = self.scout(&judged.q)?;
        self.evaluator.remember_values(&far, &far_log_p);
        let mut elbo = judged.elbo.value;
        let q = &survivors.q;
        let mut candidates: Vec<(f64, f64, Vec<f64>)> = self
            .evaluator
            .past()
            .chain(self.pool.iter().flat_map(Pool::points))
            .chain((0..tuning::growth::SCOUTS).map(|i| (far_log_p[i], far.get(i))))
            .filter(|(log_p, _)| log_p.is_finite())
            .map(|(log_p, z)| (log_p - q.log_density(z), log_p, z.to_vec()))
            .filter(|(ratio, ..)| *ratio > elbo + tuning::growth::MISSED_NATS)
            .collect();
        // The point that is missed most may be one of a tail that holds no mass; so every other one is that of highest
        // density.
        order::descending(&mut candidates, |item| item.0);
        let (mut found, mut idle, mut climbs) = (0, 0, 0);
        while !candidates.is_empty()
            && idle < tuning::growth::IDLE_CLIMBS
            && climbs < tuning::growth::MOST_CLIMBS
            && probe.evaluator.limit_reached().is_none()
        {
            let index = if climbs % 2 == 0 {
                0
            } else {
                (0..candidates.len()).max_by(|a, b| candidates[*a].1.total_cmp(&candidates[*b].1)).unwrap_or(0)
            };
            let (_, log_p, from) = candidates.remove(index);
            let q = &survivors.q;
            if log_p - q.log_density(&from) <= elbo + tuning::growth::MISSED_NATS {
                continue;
            }
            climbs += 1;
            idle += 1;
            let known = Known::Mixture { q, nats: elbo + tuning::growth::NEW_MODE_NATS };
            let mode = climb_to_mode(&mut probe, from, known, shape.covariance())?;
            let Some(mode) = mode else { continue };
            let log_mass = mode.log_mass - elbo;
            if log_mass < tuning::growth::MASS_WORTH_A_COMPONENT.ln()
                || !log_mass.is_finite()
                || q.n_components() >= MOST_COMPONENTS
            {
                continue;
            }
            let scale = Scale::from_precision(shape, mode.metric.stored_as(shape.covariance()));
            let Ok(block) = scale.and_then(|scale| Location::new(mode.centre, scale)) else { continue };
            let (mut blocks, mut log) = (q.locations().to_vec(), q.weights().log().to_vec());
            blocks.push(block);
            log.push(log_mass);
            let Ok(larger) = LogWeights::new(log).and_then(|weights| Approximation::mixture(weights, blocks)) else {
                continue;
            };
            survivors.q = larger;
            survivors.source.push(None);
            elbo += if log_mass > 30.0 { log_mass } else { log_mass.exp().ln_1p() };
            found += 1;
            idle = 0;
        }
        self.fit.counts += probe.evaluator.counts();
        Ok(found)
    }

    /// Points around the mixture at distances from its own size to far outside, with log p.
    fn scout(&mut self, q: &Approximation) -> Result<(DrawBuffer, Vec<f64>), Error> {
        let d = q.dim();
        let mut stream = Stream::open(self.round_seed(), Purpose::Start, 0, 0);
        let mut points = DrawBuffer::zeros(d, tuning::growth::SCOUTS);
        let centre = q.mean();
        let scale = Scale::from_covariance(q.locations()[0].scale().shape(), &q.covariance());
        for i in 0..tuning::growth::SCOUTS {
            let z = points.get_mut(i);
            stream.fill_normal(z);
            let distance = tuning::growth::FARTHEST_SCOUT.powf((i as f64 + 0.5) / tuning::growth::SCOUTS as f64);
            z.iter_mut().for_each(|v| *v *= distance);
            if let Some(scale) = &scale {
                scale.unwhiten(z);
            }
            axpy(1.0, &centre, z);
        }
        let (log_p, _) = self.evaluator.gradients(points.view())?;
        self.fit.counts += self.evaluator.take_counts();
        Ok((points, log_p))
    }
}
