//! A mixture with fresh draws: its bound, how far it is from the target, and what an edited mixture would come to.

use crate::Error;
use crate::estimate::Sampling;
use crate::evaluate::Evaluator;
use crate::family::{Approximation, DrawPlan, NoiseKey};
use crate::linalg::{axpy, dot};
use crate::posterior::{Estimate, Importance};
use crate::random::{Noise, Purpose};
use crate::run::pooled::Pool;
use crate::target::DrawBuffer;
use crate::tuning;

/// A mixture and what draws from each of its components say about it.
pub(super) struct Judged {
    pub(super) q: Approximation,
    /// The seed of the draws, and the error by which their number was chosen.
    pub(super) seed: u64,
    pub(super) error: Option<f64>,
    /// As many draws of each component, one component after the other.
    pub(super) draws: DrawBuffer,
    pub(super) per_component: usize,
    /// log p and ∇log p, the declared prior included; log p is NaN where either is not finite.
    pub(super) log_p: Vec<f64>,
    pub(super) pull: Vec<f64>,
    /// log p − log q.
    pub(super) ratio: Vec<f64>,
    log_q: Vec<f64>,
    /// What a draw counts in an average over q; 0 where log p is not finite.
    pub(super) weight: Vec<f64>,
    pub(super) elbo: Estimate,
    /// Importance estimate of log Z minus the bound.
    pub(super) gap: Estimate,
    pub(super) pareto_k: Option<f64>,
}

/// As many draws of each component of a mixture, with log p, its gradient and log q.
struct Seen {
    m: usize,
    draws: DrawBuffer,
    log_p: Vec<f64>,
    pull: Vec<f64>,
    log_q: Vec<f64>,
}

impl Seen {
    fn of(evaluator: &mut Evaluator<'_>, q: &Approximation, (seed, step): (u64, u64), m: usize) -> Result<Self, Error> {
        let plan = DrawPlan { noise: Noise::QuasiMonteCarlo, sampling: Sampling::OwnDraws, ..DrawPlan::independent(m) };
        let mut estimator = q.estimator(&plan);
        let mut batch = estimator.batch(q);
        estimator.draw(q, NoiseKey { seed, purpose: Purpose::Diagnostics, step }, &mut batch);
        let (mut log_p, pull) = evaluator.gradients(batch.draws.view())?;
        for (log_p, pull) in log_p.iter_mut().zip(pull.chunks_exact(q.dim())) {
            if !pull.iter().all(|g| g.is_finite()) {
                *log_p = f64::NAN;
            }
        }
        Ok(Self { m, draws: batch.draws, log_p, pull, log_q: batch.log_q })
    }

    /// With others, component by component.
    fn and(&self, more: &Self) -> Self {
        let (d, k) = (self.draws.view().dim(), self.log_p.len() / self.m);
        let joined = |a: &[f64], b: &[f64], width: usize| -> Vec<f64> {
            let parts = a.chunks_exact(self.m * width).zip(b.chunks_exact(more.m * width));
            parts.flat_map(|(a, b)| a.iter().chain(b)).copied().collect()
        };
        let mut draws = DrawBuffer::zeros(d, k * (self.m + more.m));
        draws.as_mut_slice().copy_from_slice(&joined(self.draws.view().as_slice(), more.draws.view().as_slice(), d));
        Self {
            m: self.m + more.m,
            draws,
            log_p: joined(&self.log_p, &more.log_p, 1),
            pull: joined(&self.pull, &more.pull, d),
            log_q: joined(&self.log_q, &more.log_q, 1),
        }
    }
}

impl Judged {
    /// Draws so many of each component; where an error is given, from a few on twice as many until that of the bound is
    /// below it or a part of the gap.
    pub(super) fn new(
        evaluator: &mut Evaluator<'_>,
        q: Approximation,
        seed: u64,
        error: Option<f64>,
    ) -> Result<Self, Error> {
        let k = q.n_components();
        let most = tuning::growth::JUDGED_DRAWS_OF_A_COMPONENT
            .max(tuning::growth::JUDGED_DRAWS.div_ceil(k))
            .next_power_of_two();
        let few = tuning::growth::FIRST_JUDGED_DRAWS.div_ceil(k).max(4).next_power_of_two();
        let mut seen = Seen::of(evaluator, &q, (seed, 0), if error.is_some() { few.min(most) } else { most })?;
        loop {
            let judged = Self { error, ..Self::by(q.clone(), seed, seen) };
            let enough = error.unwrap_or(f64::MAX).max(tuning::growth::ERROR_OF_A_GAP * judged.gap.value.abs());
            if judged.elbo.mcse <= enough || judged.per_component >= most {
                return Ok(judged);
            }
            let step = u64::from(judged.per_component.ilog2());
            let more = Seen::of(evaluator, &q, (seed, step), judged.per_component)?;
            seen = judged.seen().and(&more);
        }
    }

    /// What these draws say about `q`.
    fn by(q: Approximation, seed: u64, seen: Seen) -> Self {
        let Seen { m, draws, log_p, pull, log_q } = seen;
        let (k, n) = (q.n_components(), log_p.len());
        let shares: Vec<f64> = (0..k).map(|c| q.weights().weight(c)).collect();
        let mut judged = Self {
            per_component: m,
            pull,
            ratio: vec![f64::NEG_INFINITY; n],
            weight: vec![0.0; n],
            // Where there is no density nothing is known.
            elbo: Estimate::new(-f64::MAX, f64::MAX),
            gap: Estimate::new(f64::MAX, f64::MAX),
            pareto_k: None,
            draws,
            q,
            seed,
            error: None,
            log_p,
            log_q,
        };
        if let Ok(seen) = Importance::of(&judged.log_p, &judged.log_q, &shares) {
            (judged.elbo, judged.gap, judged.pareto_k) = (seen.elbo, seen.gap(), seen.pareto_k());
            (judged.ratio, judged.weight) = (seen.ratios, seen.weights);
        }
        judged
    }

    /// The draws with what was found there.
    fn seen(self) -> Seen {
        let Self { per_component: m, draws, log_p, pull, log_q, .. } = self;
        Seen { m, draws, log_p, pull, log_q }
    }

    /// Adds the draws to a pool.
    pub(super) fn join(&self, pool: &mut Pool) {
        let (d, m) = (self.q.dim(), self.per_component);
        for (c, block) in self.q.locations().iter().enumerate() {
            let own = c * m..(c + 1) * m;
            let draws = self.draws.view().range(own.clone());
            pool.take_in(block, draws, &self.log_p[own.clone()], &self.pull[own.start * d..own.end * d]);
        }
    }

    /// ½ E|g − E g|² of the gradient g of a component's location from one draw, whitened, averaged over components.
    pub(super) fn noise(&self) -> f64 {
        let (d, m) = (self.q.dim(), self.per_component);
        let mut total = 0.0;
        let (mut score, mut mean) = (vec![0.0; d], vec![0.0; d]);
        for (c, block) in self.q.locations().iter().enumerate() {
            mean.fill(0.0);
            let (mut squares, mut count) = (0.0, 0.0);
            for s in (c * m..(c + 1) * m).filter(|s| self.weight[*s] > 0.0) {
                self.q.score(self.draws.get(s), &mut score);
                let mut g: Vec<f64> = self.pull[s * d..(s + 1) * d].iter().zip(&score).map(|(p, q)| p - q).collect();
                block.scale().whiten_gradient(&mut g);
                axpy(1.0, &g, &mut mean);
                squares += dot(&g, &g);
                count += 1.0;
            }
            if count > 0.0 {
                total += 0.5 * self.q.weights().weight(c) * (squares / count - dot(&mean, &mean) / (count * count));
            }
        }
        total
    }

    /// The largest ratio p/(q Z).
    pub(super) fn largest_weight(&self) -> f64 {
        let draws = self.ratio.iter().zip(&self.weight).filter(|(_, w)| **w > 0.0);
        let largest = draws.map(|(r, _)| *r).fold(f64::NEG_INFINITY, f64::max);
        (largest - self.elbo.value - self.gap.value).exp()
    }

    /// By how much this mixture is better, in nats: a higher bound if it is clearly higher, otherwise a smaller gap.
    pub(super) fn gained_over(&self, before: &Self) -> f64 {
        let rise = self.elbo.value - before.elbo.value;
        let error = self.elbo.mcse.hypot(before.elbo.mcse);
        if rise.abs() > 2.0 * error { rise } else { before.gap.value - self.gap.value }
    }

    /// The bound of another mixture on the same draws, reweighted, minus that of this one.
    pub(super) fn change_of_bound(&self, other: &Approximation) -> f64 {
        let (mut here, mut there, mut total, mut total_there) = (0.0, 0.0, 0.0, 0.0);
        for s in (0..self.weight.len()).filter(|s| self.weight[*s] > 0.0) {
            let log_q = other.log_density(self.draws.get(s));
            let shifted = self.weight[s] * (log_q - (self.log_p[s] - self.ratio[s])).exp();
            total += self.weight[s];
            total_there += shifted;
            here += self.weight[s] * self.ratio[s];
            there += shifted * (self.log_p[s] - log_q);
        }
        there / total_there - here / total
    }

    /// What each component adds to ½ E[(r − E r)²], about KL(q ‖ p).
    pub(super) fn shares(&self) -> Vec<f64> {
        let total: f64 = self.weight.iter().sum();
        let mean =
            self.ratio.iter().zip(&self.weight).filter(|(_, w)| **w > 0.0).map(|(r, w)| r * w).sum::<f64>() / total;
        let rows = self.ratio.chunks_exact(self.per_component).zip(self.weight.chunks_exact(self.per_component));
        rows.map(|(r, w)| {
            0.5 * r.iter().zip(w).filter(|(_, w)| **w > 0.0).map(|(r, w)| w * (r - mean) * (r - mean)).sum::<f64>()
        })
        .collect()
    }
}
