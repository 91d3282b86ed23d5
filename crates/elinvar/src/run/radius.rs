//! The radius of the trust region, learned from whether steps improve the bound.

use serde::{Deserialize, Serialize};

/// Every so many steps the noise of one is used again in the next, and the two bounds are compared.
const PERIOD: u64 = 4;
/// The factors after a step that improved the bound on its own noise, and after one that did not.
const GROW: f64 = 1.5;
const SHRINK: f64 = 0.5;
const SMALLEST: f64 = 1e-3;
const LARGEST: f64 = 1.0;

/// Bound on the KL divergence of each block's step, in nats (spec 10 §10.3).
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
        if index % PERIOD == 1 { index - 1 } else { index }
    }

    /// Learns from the bound at the beginning of step `index`.
    pub(super) fn observe(&mut self, index: u64, elbo: f64) {
        match self.before.take().filter(|_| index % PERIOD == 1) {
            Some(before) if elbo >= before => self.value = (GROW * self.value).min(LARGEST),
            Some(_) => self.value = (SHRINK * self.value).max(SMALLEST),
            None => {}
        }
        self.before = index.is_multiple_of(PERIOD).then_some(elbo);
    }

    /// Two bounds on different numbers of draws cannot be compared.
    pub(super) fn forget(&mut self) {
        self.before = None;
    }
}
