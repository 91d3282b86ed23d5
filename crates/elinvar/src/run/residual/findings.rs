//! What one batch, or several at one state, say about the state that they were drawn from.

use serde::{Deserialize, Serialize};

use super::diagonal::Entries;
use crate::linalg::{axpy, dot};
use crate::tuning::residual as tuned;

/// The squared norm of an estimate, as it is and rid of its noise.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Norm {
    pub(super) raw: f64,
    pub(super) signal: f64,
}

impl Norm {
    /// The part of the estimate that is worth a step.
    pub(super) fn share(self) -> f64 {
        if self.raw > 0.0 { (self.signal / self.raw).clamp(tuned::SMALLEST_SHARE, 1.0) } else { 1.0 }
    }

    pub(super) fn noise(self) -> f64 {
        self.raw - self.signal
    }
}

/// What one batch says about the state that it was drawn from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Findings {
    /// Of the gradient in the mean.
    pub(super) mean: Norm,
    /// Of what the precision has wrong.
    pub(super) scale: Norm,
    /// Pairs of mirrored draws that were kept.
    pub(super) n_pairs: usize,
    /// Pairs that were lost because the density was not finite at one of them.
    pub(super) n_lost: usize,
    /// Whether there were enough draws for a regression on every coordinate.
    pub(super) is_determined: bool,
    /// Whether the noise of the mean could be told.
    pub(super) knows_noise: bool,
    /// Which entries of B were added up in `scale`.
    pub(super) entries: Entries,
}

impl Findings {
    /// ½|a|² + ¼‖B‖², the nats left to gain to second order, without noise.
    pub(super) fn remaining(&self) -> f64 {
        0.5 * self.mean.signal.max(0.0) + 0.25 * self.scale.signal.max(0.0)
    }

    /// The noise of the same sum.
    pub(super) fn noise(&self) -> f64 {
        0.5 * self.mean.noise() + 0.25 * self.scale.noise()
    }

    /// The standard error of the nats left: the noise of the squares of so many numbers.
    pub(super) fn error(&self, dim: usize) -> f64 {
        let few = (self.n_pairs * self.n_pairs) as f64;
        let independent = if self.is_determined { self.entries.count(dim) } else { few };
        self.noise().max(0.0) * (2.0 / independent).sqrt()
    }

    /// |a|² + ½‖B‖² without noise, by which successive gradients are compared.
    pub(super) fn signal(&self) -> f64 {
        let raw = self.mean.raw + 0.5 * self.scale.raw;
        let signal = self.mean.signal.max(0.0) + 0.5 * self.scale.signal.max(0.0);
        signal.max(0.1 * raw).max(f64::MIN_POSITIVE)
    }
}

/// What several looks at one state come to: the mean of their gradients, and how far they are apart.
///
/// The looks are independent, so that their differences have the expectation of their noise, whatever each of them
/// could tell of it (mathematics §12.3).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Held {
    /// The mean of the whitened gradients, a and then B, weighted by pairs.
    pub(super) gradient: Vec<f64>,
    /// Σ n|a|², Σ n‖B‖²; then Σ n² × the noise of either.
    squares: [f64; 2],
    noise: [f64; 2],
    pub(super) n_looks: u32,
    pub(super) n_pairs: usize,
    n_lost: usize,
}

impl Held {
    pub(super) fn new(dim: usize) -> Self {
        Self {
            gradient: vec![0.0; dim + dim * dim],
            squares: [0.0; 2],
            noise: [0.0; 2],
            n_looks: 0,
            n_pairs: 0,
            n_lost: 0,
        }
    }

    /// Whether a run in `dim` coordinates can have kept it.
    pub(super) fn is_sound(&self, dim: usize) -> bool {
        let (most, sums) = (usize::MAX / 4, self.squares.iter().chain(&self.noise));
        self.gradient.len() == dim + dim * dim
            && self.n_looks <= tuned::MOST_LOOKS
            && self.n_pairs.max(self.n_lost) < most
            && sums.chain(&self.gradient).all(|v| v.is_finite())
    }

    /// Nothing was seen of the present state.
    pub(super) fn clear(&mut self) {
        self.gradient.fill(0.0);
        (self.squares, self.noise) = ([0.0; 2], [0.0; 2]);
        (self.n_looks, self.n_pairs, self.n_lost) = (0, 0, 0);
    }

    /// Takes in another look with the gradient `now`, which becomes the mean; what all of them say.
    pub(super) fn add(&mut self, dim: usize, found: &Findings, now: &mut [f64]) -> Findings {
        let n = found.n_pairs as f64;
        for (k, norm) in [found.mean, found.scale].into_iter().enumerate() {
            self.squares[k] += n * norm.raw;
            self.noise[k] += n * n * norm.noise().max(0.0);
        }
        self.n_looks += 1;
        self.n_pairs += found.n_pairs;
        self.n_lost += found.n_lost;
        let total = self.n_pairs as f64;
        let share = n / total;
        self.gradient.iter_mut().for_each(|v| *v *= 1.0 - share);
        axpy(share, now, &mut self.gradient);
        if self.n_looks == 1 {
            return *found;
        }
        now.copy_from_slice(&self.gradient);
        let (a, b) = now.split_at(dim);
        let norm = |k: usize, v: &[f64]| {
            let raw = dot(v, v);
            let apart = (self.squares[k] / total - raw).max(0.0) / f64::from(self.n_looks - 1);
            Norm { raw, signal: raw - apart.max(self.noise[k] / (total * total)) }
        };
        let (mean, scale) = (norm(0, a), norm(1, b));
        Findings { mean, scale, n_pairs: self.n_pairs, n_lost: self.n_lost, knows_noise: true, ..*found }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, Stream};

    #[test]
    fn looks_that_know_nothing_of_their_noise_tell_it_together() {
        // a = 0.3 and B = −0.2 in one dimension, with noise of standard deviation 1 and 2 that no look knows of.
        let (mut stream, mut held) = (Stream::open(3, Purpose::Sample, 9, 0), Held::new(1));
        let (repetitions, mut mean, mut scale) = (4_000, 0.0, 0.0);
        for _ in 0..repetitions {
            held.clear();
            let mut last = None;
            for n_pairs in [8, 8, 24] {
                let sd = (1.0 / n_pairs as f64).sqrt();
                let mut now = [0.3 + sd * stream.normal(), -0.2 + 2.0 * sd * stream.normal()];
                let norm = |v: f64| Norm { raw: v * v, signal: v * v };
                let (mean, scale) = (norm(now[0]), norm(now[1]));
                let (is_determined, knows_noise, entries) = (true, false, Entries::All);
                let found = Findings { mean, scale, n_pairs, n_lost: 0, is_determined, knows_noise, entries };
                last = Some(held.add(1, &found, &mut now));
            }
            let all = last.unwrap();
            assert!(all.n_pairs == 40 && all.knows_noise);
            (mean, scale) = (mean + all.mean.signal, scale + all.scale.signal);
        }
        // The standard errors are 0.0016 and 0.004; the bound is 4.5 of them.
        let (mean, scale) = (mean / f64::from(repetitions), scale / f64::from(repetitions));
        assert!((mean - 0.09).abs() < 0.007 && (scale - 0.04).abs() < 0.018, "{mean} {scale}");
    }
}
