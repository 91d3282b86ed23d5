//! Earlier draws with their log p, so that no evaluation is made twice.

use serde::{Deserialize, Serialize};

use crate::family::Batch;
use crate::target::{DrawBuffer, Prior};
use crate::tuning;

/// Points spread evenly over the history of a fit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Store {
    dim: usize,
    z: Vec<f64>,
    log_p: Vec<f64>,
    /// One point in so many is kept.
    stride: usize,
    seen: usize,
}

impl Store {
    pub(crate) fn new(dim: usize) -> Self {
        Self { dim, z: Vec::new(), log_p: Vec::new(), stride: 1, seen: 0 }
    }

    /// Whether it can have been kept by a fit in `dim` coordinates.
    pub(crate) fn is_sound(&self, dim: usize) -> bool {
        let n = self.log_p.len();
        self.dim == dim
            && n < tuning::growth::STORED_POINTS
            && n.checked_mul(dim) == Some(self.z.len())
            && (1..usize::MAX / 4).contains(&self.stride)
            && self.seen < usize::MAX / 4
    }

    /// log p, the declared prior included, and the point.
    pub(super) fn points(&self) -> impl Iterator<Item = (f64, &[f64])> {
        self.log_p.iter().copied().zip(self.z.chunks_exact(self.dim))
    }

    /// Keeps the good draws of a batch; `log_p` is without the declared prior.
    pub(super) fn keep(&mut self, batch: &Batch, log_p: &[f64], prior: &Prior) {
        for s in (0..batch.n).filter(|s| batch.kept[*s]) {
            let z = batch.draws.get(s);
            self.push(z, log_p[s] + prior.log_density(z));
        }
    }

    /// Keeps points whose log p is complete.
    pub(super) fn keep_all(&mut self, draws: &DrawBuffer, log_p: &[f64]) {
        (0..log_p.len()).for_each(|s| self.push(draws.get(s), log_p[s]));
    }

    fn push(&mut self, z: &[f64], log_p: f64) {
        self.seen += 1;
        if !log_p.is_finite() || !self.seen.is_multiple_of(self.stride) {
            return;
        }
        self.z.extend_from_slice(z);
        self.log_p.push(log_p);
        if self.log_p.len() == tuning::growth::STORED_POINTS {
            let d = self.dim;
            for i in 0..tuning::growth::STORED_POINTS / 2 {
                self.z.copy_within(2 * i * d..(2 * i + 1) * d, i * d);
                self.log_p[i] = self.log_p[2 * i];
            }
            self.z.truncate(tuning::growth::STORED_POINTS / 2 * d);
            self.log_p.truncate(tuning::growth::STORED_POINTS / 2);
            self.stride *= 2;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_store_keeps_every_other_point_of_its_whole_history() {
        let mut store = Store::new(1);
        let n = 5 * tuning::growth::STORED_POINTS;
        (0..n).for_each(|i| store.push(&[i as f64], -(i as f64)));
        let points: Vec<(f64, f64)> = store.points().map(|(log_p, z)| (log_p, z[0])).collect();
        let half = tuning::growth::STORED_POINTS / 2;
        assert!((half..2 * half).contains(&points.len()), "{}", points.len());
        let gaps: Vec<f64> = points.windows(2).map(|pair| pair[1].1 - pair[0].1).collect();
        assert!(gaps.iter().all(|gap| *gap <= 16.0), "{gaps:?}");
        assert!(points[0].1 < 16.0 && points[points.len() - 1].1 > n as f64 - 17.0);
        assert!(points.iter().all(|(log_p, z)| *log_p == -z));
    }
}
