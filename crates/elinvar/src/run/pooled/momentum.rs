//! What successive steps from a pool have in common: their directions add up as long as they agree (mathematics §12.7).

use serde::{Deserialize, Serialize};

use super::mixture::Mixture;
use super::step::Slope;
use crate::linalg::dot;
use crate::tuning::pooled as tuned;

/// The last direction, and for how many steps it has been followed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Momentum {
    direction: Vec<Slope>,
    steps: u32,
}

impl Momentum {
    /// Forgets what was before.
    pub(super) fn forget(&mut self) {
        self.steps = 0;
    }

    /// Makes directions of the slopes at `q`: these and a share of the last direction, unless they turn back.
    pub(super) fn add_to(&mut self, q: &Mixture, slopes: &mut [Slope]) {
        let mean: f64 = slopes.iter().enumerate().map(|(c, slope)| q.weight(c) * slope.height).sum();
        slopes.iter_mut().for_each(|slope| slope.height -= mean);
        if self.direction.len() != slopes.len() {
            (self.direction, self.steps) = (slopes.to_vec(), 0);
        }
        let part = |(c, (now, before)): (usize, (&Slope, &Slope))| {
            let square = 0.5 * dot(&now.curvature, &before.curvature) + now.height * before.height;
            q.weight(c) * (dot(&now.gradient, &before.gradient) + square)
        };
        let product: f64 = slopes.iter().zip(&self.direction).enumerate().map(part).sum();
        // A product that is no number forgets, too.
        self.steps = if product > 0.0 { self.steps } else { 0 };
        let t = f64::from(self.steps);
        let share = (t / (t + 3.0)).min(tuned::MOST_MOMENTUM);
        self.steps += 1;
        for (now, before) in slopes.iter_mut().zip(&mut self.direction) {
            let numbers = now.gradient.iter_mut().chain(&mut now.curvature).chain([&mut now.height]);
            let last = before.gradient.iter_mut().chain(&mut before.curvature).chain([&mut before.height]);
            for (now, before) in numbers.zip(last) {
                *now += share * *before;
                *before = *now;
            }
        }
    }

    /// Whether a run with `k` components in `d` coordinates can have kept it.
    pub(super) fn is_sound(&self, d: usize, k: usize) -> bool {
        let is_shaped = |slope: &Slope| {
            let numbers = slope.gradient.iter().chain(&slope.curvature).chain([&slope.height]);
            slope.gradient.len() == d && slope.curvature.len() == d * d && numbers.into_iter().all(|v| v.is_finite())
        };
        (self.direction.is_empty() || self.direction.len() == k)
            && self.steps < u32::MAX / 4
            && self.direction.iter().all(is_shaped)
    }
}
