//! One batch of mirrored draws: residual scores, and what they say about the mean and the precision.

use super::by_hessians::ByHessians;
use super::by_least_change::ByLeastChange;
use super::diagonal::Entries;
use super::findings::Findings;
use super::gaussian::Whitened;
use super::pace::Source;
use crate::Error;
use crate::estimate::match_covariance;
use crate::evaluate::Evaluator;
use crate::linalg::{axpy, cholesky, dot, products};
use crate::random::{Noise, NoiseSource, Purpose};
use crate::target::DrawBuffer;
use crate::tuning::residual as tuned;

/// Memory for batches of one number of pairs.
pub(super) struct Batch {
    d: usize,
    n: usize,
    entries: Entries,
    /// Parts of a batch with noise of their own.
    n_parts: usize,
    noise: NoiseSource,
    /// Whitened draws e, one of each pair; then the same unwhitened.
    e: Vec<f64>,
    spread: Vec<f64>,
    pub(super) draws: DrawBuffer,
    /// Pairs of which one could not be evaluated.
    is_lost: Vec<bool>,
    /// Odd and even parts of the residual scores of a pair.
    odd: Vec<f64>,
    even: Vec<f64>,
    heights: Vec<f64>,
    precision: Precision,
    matching: Matching,
}

/// Where the correction of the precision comes from.
enum Precision {
    LeastChange(Box<ByLeastChange>),
    Hessians(Box<ByHessians>),
}

/// Parts of `n` pairs with noise of their own, from whose differences it is known.
pub(super) fn n_parts(source: Source, d: usize, n: usize) -> usize {
    match source {
        Source::Hessians => 2,
        _ if n.is_multiple_of(4) && n >= 4 * tuned::PAIRS_TO_MATCH * d => 4,
        _ if n.is_multiple_of(2) && n >= 2 * tuned::PAIRS_TO_MATCH * d => 2,
        _ => 1,
    }
}

/// Memory for matching covariances.
struct Matching {
    weights: Vec<f64>,
    scratch: Vec<f64>,
    matrices: [Vec<f64>; 2],
    workspace: cholesky::Workspace,
}

/// What came of a batch.
pub(super) enum Look {
    /// The ELBO with its standard error, and the findings; the whitened gradient was written.
    Good { elbo: (f64, f64), found: Findings },
    /// More than half of the pairs could not be evaluated.
    TooManyBad,
}

/// The pairs of a batch that are left.
#[derive(Clone, Copy)]
pub(super) struct Kept {
    pub(super) n: usize,
    /// Those of the first half among them.
    pub(super) first: usize,
}

impl Batch {
    /// Memory for `n` pairs in `d` dimensions, a multiple of their parts.
    pub(super) fn new(d: usize, n: usize, source: Source, entries: Entries) -> Self {
        let is_by_hessians = source == Source::Hessians;
        let n_parts = n_parts(source, d, n);
        // The size of what few draws say is estimated from their independence.
        let scheme = if is_by_hessians || n > d { Noise::QuasiMonteCarlo } else { Noise::Independent };
        Self {
            d,
            n,
            entries,
            n_parts,
            noise: NoiseSource::new(scheme, d, n / n_parts),
            e: vec![0.0; d * n],
            spread: vec![0.0; d * n],
            draws: DrawBuffer::zeros(d, 2 * n),
            is_lost: vec![false; n],
            odd: vec![0.0; d * n],
            even: vec![0.0; d * n],
            heights: vec![0.0; n],
            precision: match source {
                Source::Hessians => Precision::Hessians(Box::new(ByHessians::new(d, n, entries))),
                _ => Precision::LeastChange(Box::new(ByLeastChange::new(d, n, entries))),
            },
            matching: Matching {
                weights: vec![0.0; n],
                scratch: vec![0.0; d * products::GRAM_BLOCK.min(n)],
                matrices: std::array::from_fn(|_| vec![0.0; d * d]),
                workspace: cholesky::Workspace::new(d),
            },
        }
    }

    pub(super) fn n_pairs(&self) -> usize {
        self.n
    }

    /// Draws, asks and estimates at `q`; writes the whitened gradient, a and then B, to `gradient`.
    ///
    /// # Errors
    /// A fatal error of the target; [`Error::Interrupted`].
    pub(super) fn look(
        &mut self,
        q: &Whitened,
        evaluator: &mut Evaluator<'_>,
        key: (u64, u64),
        gradient: &mut [f64],
    ) -> Result<Look, Error> {
        let (d, n) = (self.d, self.n);
        let mut is_matched = self.draw(q, key);
        self.ask(evaluator)?;
        let kept = self.keep_good(evaluator);
        if 2 * kept.n < n || kept.n < 2 {
            return Ok(Look::TooManyBad);
        }
        is_matched &= kept.n == n;
        let (e, odd, even) = (&self.e[..d * kept.n], &mut self.odd[..d * kept.n], &mut self.even[..d * kept.n]);
        cholesky::solve_factor(d, &q.factor, even);
        let (a, b) = gradient.split_at_mut(d);
        let (mean, scale) = match &mut self.precision {
            Precision::LeastChange(by) => {
                cholesky::solve_factor(d, &q.factor, odd);
                axpy(1.0, e, odd);
                by.estimate((e, odd, even), is_matched.then_some(self.n_parts), (a, b))
            }
            Precision::Hessians(by) => match by.estimate(q, even, kept, evaluator.answer().curvature(), (a, b)) {
                Some(norms) => norms,
                None => return Ok(Look::TooManyBad),
            },
        };
        if !gradient.iter().all(|v| v.is_finite()) {
            return Ok(Look::TooManyBad);
        }
        let is_determined = kept.n > d || matches!(self.precision, Precision::Hessians(_));
        let knows_noise = match &self.precision {
            Precision::LeastChange(by) => by.knows_noise(is_matched.then_some(self.n_parts)),
            Precision::Hessians(_) => true,
        };
        let (n_pairs, n_lost, entries) = (kept.n, n - kept.n, self.entries);
        let found = Findings { mean, scale, n_pairs, n_lost, is_determined, knows_noise, entries };
        Ok(Look::Good { elbo: self.elbo(kept.n, q), found })
    }

    /// Draws pairs from `q`; whether the covariance of each part is I.
    fn draw(&mut self, q: &Whitened, (seed, step): (u64, u64)) -> bool {
        let (d, n) = (self.d, self.n);
        let mut is_matched = match self.precision {
            Precision::LeastChange(_) => n > d,
            Precision::Hessians(_) => n / self.n_parts >= tuned::PAIRS_TO_MATCH * d,
        };
        for (part, e) in self.e.chunks_exact_mut(d * (n / self.n_parts)).enumerate() {
            self.noise.begin(seed, Purpose::Draws, step, part as u32);
            self.noise.fill_eps(e);
            if is_matched {
                let Matching { weights, scratch, matrices: [gram, factor], workspace } = &mut self.matching;
                is_matched = match_covariance(d, e, weights, scratch, [gram, factor], workspace);
            }
        }
        self.spread.copy_from_slice(&self.e);
        cholesky::solve_factor_transposed(d, &q.factor, &mut self.spread);
        for (s, offset) in self.spread.chunks_exact(d).enumerate() {
            for (half, sign) in [(0, 1.0), (n, -1.0)] {
                let z = self.draws.get_mut(half + s);
                z.copy_from_slice(&q.mean);
                axpy(sign, offset, z);
            }
        }
        is_matched
    }

    /// Asks for what is needed, and marks the pairs that are lost. Of a sum of Hessians these are no part.
    fn ask(&mut self, evaluator: &mut Evaluator<'_>) -> Result<(), Error> {
        self.is_lost.fill(false);
        loop {
            match &mut self.precision {
                Precision::LeastChange(_) => evaluator.evaluate_gradients(self.draws.view())?,
                Precision::Hessians(by) => {
                    evaluator.evaluate_hessians(self.draws.view(), by.weigh(&self.is_lost))?;
                }
            }
            let n_lost = self.mark_lost(evaluator);
            let is_summed = matches!(self.precision, Precision::Hessians(_));
            let donor = self.is_lost.iter().position(|lost| !lost);
            let (true, true, Some(donor)) = (is_summed, n_lost > 0, donor) else { return Ok(()) };
            // Every product stays finite; the weight of these is zero.
            let (d, n) = (self.d, self.n);
            for s in (0..n).filter(|s| self.is_lost[*s]) {
                let z = self.draws.as_mut_slice();
                z.copy_within(donor * d..(donor + 1) * d, s * d);
                z.copy_within((n + donor) * d..(n + donor + 1) * d, (n + s) * d);
            }
        }
    }

    /// Marks the pairs of which one is not finite; how many were not known.
    fn mark_lost(&mut self, evaluator: &Evaluator<'_>) -> usize {
        let (n, answer) = (self.n, evaluator.answer());
        let good = |s: usize| answer.log_p()[s].is_finite() && answer.grad(s).iter().all(|v| v.is_finite());
        let mut found = 0;
        for (s, lost) in self.is_lost.iter_mut().enumerate() {
            let both = good(s) && good(n + s);
            if !*lost && !both {
                (*lost, found) = (true, found + 1);
            }
        }
        found
    }

    /// Puts the pairs that are not lost to the front, with odd and even parts of their gradients.
    fn keep_good(&mut self, evaluator: &Evaluator<'_>) -> Kept {
        let (d, n, answer) = (self.d, self.n, evaluator.answer());
        let mut kept = Kept { n: 0, first: 0 };
        for s in (0..n).filter(|s| !self.is_lost[*s]) {
            let place = kept.n * d..(kept.n + 1) * d;
            let parts = self.odd[place.clone()].iter_mut().zip(&mut self.even[place]);
            for ((odd, even), (plus, minus)) in parts.zip(answer.grad(s).iter().zip(answer.grad(n + s))) {
                (*odd, *even) = (0.5 * (plus - minus), 0.5 * (plus + minus));
            }
            self.heights[kept.n] = 0.5 * (answer.log_p()[s] + answer.log_p()[n + s]);
            self.e.copy_within(s * d..(s + 1) * d, kept.n * d);
            kept.n += 1;
            kept.first += usize::from(s < n / 2);
        }
        kept
    }

    /// The mean of log p − log q over the draws, the entropy being known.
    fn elbo(&self, kept: usize, q: &Whitened) -> (f64, f64) {
        let (d, n) = (self.d, kept as f64);
        let height = |s: usize| self.heights[s] + 0.5 * dot(&self.e[s * d..(s + 1) * d], &self.e[s * d..(s + 1) * d]);
        let mean = (0..kept).map(height).sum::<f64>() / n;
        let variance = (0..kept).map(|s| (height(s) - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0);
        let constant = 0.5 * d as f64 * std::f64::consts::TAU.ln() - q.half_log_det();
        (mean + constant, (variance / n).sqrt())
    }
}
