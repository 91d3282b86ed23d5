//! The radius of the trust region, learned from whether steps improve the bound.

use serde::{Deserialize, Serialize};

use crate::tuning::pace::{LARGEST_RADIUS, RADIUS_GROWTH, RADIUS_PERIOD, RADIUS_SHRINKAGE, SMALLEST_RADIUS};

/// Bound on the KL divergence of each block's step, in nats (mathematics §10.3).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Radius {
    value: f64,
    /// The bound before the step whose noise is used again.
    before: Option<f64>,
}

impl Radius {
    pub(super) fn new(value: f64) -> Self {
        Self { value, before: None }
    }

    pub(super) fn value(&self) -> f64 {
        self.value
    }

    /// The step whose noise step `index` takes: its own, or that of the step before.
    pub(super) fn noise_of(index: u64) -> u64 {
        if index % RADIUS_PERIOD == 1 { index - 1 } else { index }
    }

    /// Learns from the bound at the beginning of step `index`.
    pub(super) fn observe(&mut self, index: u64, elbo: f64) {
        match self.before.take().filter(|_| index % RADIUS_PERIOD == 1) {
            Some(before) if elbo >= before => self.value = (RADIUS_GROWTH * self.value).min(LARGEST_RADIUS),
            Some(_) => self.value = (RADIUS_SHRINKAGE * self.value).max(SMALLEST_RADIUS),
            None => {}
        }
        self.before = index.is_multiple_of(RADIUS_PERIOD).then_some(elbo);
    }

    /// Two bounds on different numbers of draws cannot be compared.
    pub(super) fn forget(&mut self) {
        self.before = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bounds of steps 4k and 4k + 1, which share their noise, and of two more that must not matter.
    fn period(radius: &mut Radius, k: u64, rise: f64) {
        for (i, elbo) in [0.0, rise, -1e9, 1e9].into_iter().enumerate() {
            radius.observe(RADIUS_PERIOD * k + i as u64, elbo);
        }
    }

    #[test]
    fn the_radius_follows_the_bound() {
        let mut radius = Radius::new(0.1);
        period(&mut radius, 0, 0.3);
        assert_eq!(radius.value(), RADIUS_GROWTH * 0.1);
        period(&mut radius, 1, -0.3);
        assert_eq!(radius.value(), RADIUS_SHRINKAGE * RADIUS_GROWTH * 0.1);
        (2..30).for_each(|k| period(&mut radius, k, 0.0));
        assert_eq!(radius.value(), LARGEST_RADIUS);
        (30..90).for_each(|k| period(&mut radius, k, -1.0));
        assert_eq!(radius.value(), SMALLEST_RADIUS);
    }

    #[test]
    fn every_fourth_step_takes_the_noise_of_the_one_before() {
        let noise: Vec<u64> = (0..10).map(Radius::noise_of).collect();
        assert_eq!(noise, [0, 0, 2, 3, 4, 4, 6, 7, 8, 8]);
    }

    #[test]
    fn a_bound_that_cannot_be_compared_is_forgotten() {
        let mut radius = Radius::new(0.1);
        radius.observe(0, 5.0);
        radius.forget();
        radius.observe(1, -5.0);
        assert_eq!(radius.value(), 0.1);
        // A step that was skipped breaks the pair, too.
        radius.observe(4, 5.0);
        radius.observe(6, 1.0);
        radius.observe(9, -5.0);
        assert_eq!(radius.value(), 0.1);
    }
}
