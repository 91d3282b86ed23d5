//! What chains have seen: states and gradients, step by step.

use std::ops::Range;

use super::ensemble::least_height;
use super::{Coordinates, Ensemble};

/// Numbers of one kind that are held at most, 256 MiB; then every second step is forgotten, and so on.
const MOST_NUMBERS: usize = 1 << 25;

/// The states of n chains over many steps, with gradients by z, log p and probabilities of acceptance.
#[derive(Clone, Debug)]
pub(crate) struct History {
    dim: usize,
    n: usize,
    z: Vec<f64>,
    by_z: Vec<f64>,
    log_p: Vec<f64>,
    accepted: Vec<f64>,
    /// Every so many steps are held, counted by `seen`.
    stride: usize,
    seen: usize,
    most_numbers: usize,
}

impl History {
    /// Nothing yet, of `n` chains.
    pub(crate) fn new(dim: usize, n: usize) -> Self {
        Self {
            dim,
            n,
            z: Vec::new(),
            by_z: Vec::new(),
            log_p: Vec::new(),
            accepted: Vec::new(),
            stride: 1,
            seen: 0,
            most_numbers: MOST_NUMBERS,
        }
    }

    /// Number of steps that are held.
    pub(crate) fn steps(&self) -> usize {
        self.log_p.len() / self.n
    }

    /// Makes room for so many steps more.
    pub(crate) fn reserve(&mut self, steps: usize) {
        let steps = steps.div_ceil(self.stride).min(self.most_numbers / (self.n * self.dim) + 1);
        self.z.reserve(steps * self.n * self.dim);
        self.by_z.reserve(steps * self.n * self.dim);
        self.log_p.reserve(steps * self.n);
        self.accepted.reserve(steps * self.n);
    }

    /// Adds the states after a step.
    pub(crate) fn push(&mut self, chains: &Ensemble) {
        self.seen += 1;
        if !self.seen.is_multiple_of(self.stride) {
            return;
        }
        let states = chains.states();
        self.z.extend_from_slice(&states.z);
        self.by_z.extend_from_slice(&states.by_z);
        self.log_p.extend_from_slice(&states.log_p);
        self.accepted.extend_from_slice(chains.accepted());
        if self.z.len() > self.most_numbers {
            self.thin();
        }
    }

    /// Forgets every second step.
    fn thin(&mut self) {
        for (numbers, width) in [
            (&mut self.z, self.n * self.dim),
            (&mut self.by_z, self.n * self.dim),
            (&mut self.log_p, self.n),
            (&mut self.accepted, self.n),
        ] {
            let kept = numbers.len() / width / 2;
            for step in 0..kept {
                numbers.copy_within((2 * step + 1) * width..(2 * step + 2) * width, step * width);
            }
            numbers.truncate(kept * width);
        }
        self.stride *= 2;
    }

    /// The last `steps` steps, or all.
    pub(crate) fn last(&self, steps: usize) -> Part<'_> {
        let held = self.steps();
        self.part(held - steps.min(held)..held)
    }

    /// The steps of a range.
    pub(crate) fn part(&self, steps: Range<usize>) -> Part<'_> {
        let (states, numbers) =
            (steps.start * self.n..steps.end * self.n, steps.start * self.n * self.dim..steps.end * self.n * self.dim);
        Part {
            n: self.n,
            z: &self.z[numbers.clone()],
            by_z: &self.by_z[numbers],
            log_p: &self.log_p[states.clone()],
            accepted: &self.accepted[states],
        }
    }
}

/// Some steps of a [`History`]: the states of all chains at one step, then those at the next.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part<'a> {
    /// Number of chains.
    pub(crate) n: usize,
    pub(crate) z: &'a [f64],
    pub(crate) by_z: &'a [f64],
    pub(crate) log_p: &'a [f64],
    pub(super) accepted: &'a [f64],
}

#[cfg(test)]
impl<'a> Part<'a> {
    /// States from anywhere.
    pub(crate) fn of(n: usize, z: &'a [f64], by_z: &'a [f64], log_p: &'a [f64]) -> Self {
        Self { n, z, by_z, log_p, accepted: &[] }
    }
}

impl Part<'_> {
    /// Number of states.
    pub(crate) fn len(&self) -> usize {
        self.log_p.len()
    }

    /// States and gradients without those where there is no density, or as good as none.
    pub(crate) fn worth_matching(&self, coordinates: &Coordinates) -> (Vec<f64>, Vec<f64>) {
        let dim = coordinates.dim();
        let (_, _, log_jacobian) = coordinates.seen_from(self.z, self.by_z);
        let heights: Vec<f64> = self.log_p.iter().zip(&log_jacobian).map(|(log_p, log)| log_p + log).collect();
        let least = least_height(&heights, dim);
        let (mut z, mut by_z) = (Vec::with_capacity(self.z.len()), Vec::with_capacity(self.z.len()));
        for (s, height) in heights.iter().enumerate() {
            if height.is_finite() && *height > least {
                z.extend_from_slice(&self.z[s * dim..(s + 1) * dim]);
                by_z.extend_from_slice(&self.by_z[s * dim..(s + 1) * dim]);
            }
        }
        (z, by_z)
    }

    /// The first `states` states, and the rest.
    pub(crate) fn split(&self, states: usize, dim: usize) -> (Self, Self) {
        let ((z, later_z), (by_z, later_by_z)) = (self.z.split_at(states * dim), self.by_z.split_at(states * dim));
        let (log_p, later_log_p) = self.log_p.split_at(states);
        let (accepted, later_accepted) = self.accepted.split_at(states);
        let later = Self { n: self.n, z: later_z, by_z: later_by_z, log_p: later_log_p, accepted: later_accepted };
        (Self { n: self.n, z, by_z, log_p, accepted }, later)
    }

    /// Mean acceptance of each chain.
    pub(crate) fn acceptances(&self) -> Vec<f64> {
        let mut sums = vec![0.0; self.n];
        for step in self.accepted.chunks_exact(self.n) {
            sums.iter_mut().zip(step).for_each(|(sum, a)| *sum += a);
        }
        let steps = (self.accepted.len() / self.n).max(1) as f64;
        sums.iter_mut().for_each(|sum| *sum /= steps);
        sums
    }

    /// Mean acceptance of all chains, and of the chain with the least.
    pub(crate) fn acceptance(&self) -> (f64, f64) {
        let each = self.acceptances();
        let least = each.iter().copied().fold(f64::INFINITY, f64::min);
        (each.iter().sum::<f64>() / self.n as f64, least)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_history_keeps_every_second_step() {
        let mut history = History { most_numbers: 8, ..History::new(1, 2) };
        for step in 0..12 {
            history.seen += 1;
            if history.seen.is_multiple_of(history.stride) {
                history.z.extend([step as f64; 2]);
                history.by_z.extend([0.0; 2]);
                history.log_p.extend([0.0; 2]);
                history.accepted.extend([0.5; 2]);
                if history.z.len() > 8 {
                    history.thin();
                }
            }
        }
        // Steps 1, 3 of the first five, then every second one; thinned once more at the fifth that was held.
        assert_eq!(history.stride, 4);
        assert_eq!(history.part(0..history.steps()).z, [3.0, 3.0, 7.0, 7.0, 11.0, 11.0]);
        assert_eq!(history.last(1).z, [11.0, 11.0]);
        assert_eq!(history.last(1).acceptance(), (0.5, 0.5));
    }
}
