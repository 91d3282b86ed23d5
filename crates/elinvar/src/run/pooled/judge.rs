//! Fresh draws of a mixture: what a pool is filled with, and what judges a mixture that was fitted to it.

use serde::{Deserialize, Serialize};

use super::mixture::{Mixture, Whitening};
use super::pool::Pool;
use crate::Error;
use crate::evaluate::Evaluator;
use crate::linalg::{axpy, cholesky};
use crate::random::{Noise, NoiseSource, Purpose};
use crate::run::residual::Whitened;
use crate::target::Draws;
use crate::tuning::pooled as tuned;

/// `n` mirrored draws of a component, an even number.
pub(super) fn mirrored(block: &Whitened, n: usize, (seed, purpose, step): (u64, Purpose, u64), part: u32) -> Vec<f64> {
    let d = block.mean.len();
    let (mut e, mut z) = (vec![0.0; d * (n / 2)], Vec::with_capacity(d * n));
    let mut noise = NoiseSource::new(Noise::QuasiMonteCarlo, d, n / 2);
    noise.begin(seed, purpose, step, part);
    noise.fill_eps(&mut e);
    cholesky::solve_factor_transposed(d, &block.factor, &mut e);
    for sign in [1.0, -1.0] {
        for offset in e.chunks_exact(d) {
            z.extend_from_slice(&block.mean);
            let from = z.len() - d;
            axpy(sign, offset, &mut z[from..]);
        }
    }
    z
}

/// Fresh draws of a mixture so far, component by component.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Judging {
    /// The bound by the pool that the mixture was fitted to.
    pub(super) promised: f64,
    pub(super) drawn: usize,
    seen: Vec<Heights>,
}

/// log p − log q at draws of a component, relative to the first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Heights {
    drawn: usize,
    kept: usize,
    first: f64,
    sum: f64,
    squares: f64,
}

/// The bound by fresh draws.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fresh {
    pub(super) bound: f64,
    pub(super) error: f64,
    /// Share of the mixture whose draws were lost.
    pub(super) lost: f64,
}

impl Judging {
    pub(super) fn new(promised: f64, components: usize) -> Self {
        Self { promised, drawn: 0, seen: vec![Heights::default(); components] }
    }

    /// As many draws as there are, or a few at first, of every component by its weight; all of them join the pool.
    ///
    /// # Errors
    /// A fatal error of the target; [`Error::Interrupted`].
    pub(super) fn draw(
        &mut self,
        q: &Mixture,
        (seed, step): (u64, u64),
        evaluator: &mut Evaluator<'_>,
        pool: &mut Pool,
        whitening: &mut Whitening,
    ) -> Result<(), Error> {
        let d = q.dim();
        let wanted = self.drawn.max(tuned::FIRST_JUDGED);
        for (c, (block, heights)) in q.blocks.iter().zip(&mut self.seen).enumerate() {
            let pairs = (0.5 * wanted as f64 * q.weight(c)).ceil().max(1.0) as usize;
            let z = mirrored(block, 2 * pairs, (seed, Purpose::Check, step), c as u32);
            let draws = Draws::new(d, &z);
            evaluator.evaluate_gradients(draws)?;
            let log_q = q.log_densities(&z, whitening);
            let answer = evaluator.answer();
            for ((q, p), grad) in log_q.iter().zip(answer.log_p()).zip(answer.grads().chunks_exact(d)) {
                heights.add(p - q, grad.iter().all(|g| g.is_finite()));
            }
            pool.add(block, draws, answer, whitening);
            self.drawn += 2 * pairs;
        }
        Ok(())
    }

    /// What the draws say.
    pub(super) fn fresh(&self, q: &Mixture) -> Fresh {
        let (mut bound, mut variance, mut kept) = (0.0, 0.0, 0.0);
        for (c, heights) in self.seen.iter().enumerate() {
            let (weight, n) = (q.weight(c), heights.kept as f64);
            let mean = heights.sum / n;
            let spread = (heights.squares - heights.sum * mean).max(0.0) / (n - 1.0).max(1.0);
            kept += weight * n / heights.drawn.max(1) as f64;
            bound += weight * (heights.first + mean);
            variance += weight * weight * spread / n;
        }
        if !(bound.is_finite() && variance.is_finite()) {
            return Fresh { bound: f64::MIN, error: f64::MAX, lost: 1.0 };
        }
        Fresh { bound, error: variance.sqrt(), lost: 1.0 - kept }
    }

    /// Whether there is no need of more draws: the error is below `error`, or a quarter of what the pool promised too
    /// much.
    pub(super) fn is_clear(&self, fresh: Fresh, error: f64) -> bool {
        self.drawn >= tuned::MOST_JUDGED || fresh.error < error.max(0.25 * (self.promised - fresh.bound).min(f64::MAX))
    }

    /// Whether a run with `n` components can have kept it.
    pub(super) fn is_sound(&self, n: usize) -> bool {
        let most = usize::MAX >> 20;
        let possible = |heights: &Heights| {
            heights.kept <= heights.drawn
                && heights.drawn < most
                && [heights.first, heights.sum, heights.squares].iter().all(|v| v.is_finite())
        };
        self.seen.len() == n && self.drawn < most && self.promised.is_finite() && self.seen.iter().all(possible)
    }
}

impl Heights {
    fn add(&mut self, height: f64, is_whole: bool) {
        self.drawn += 1;
        if height.is_finite() && is_whole {
            self.first = if self.kept == 0 { height } else { self.first };
            self.kept += 1;
            self.sum += height - self.first;
            self.squares += (height - self.first).powi(2);
        }
    }
}
