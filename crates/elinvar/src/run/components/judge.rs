//! A mixture with fresh draws: its bound, how far it is from the target, and what an edited mixture would come to.

use crate::Error;
use crate::estimate::Sampling;
use crate::evaluate::Evaluator;
use crate::family::{Approximation, DrawPlan, NoiseKey};
use crate::linalg::{axpy, dot};
use crate::posterior::{Estimate, Importance};
use crate::random::{Noise, Purpose};
use crate::target::DrawBuffer;
use crate::tuning;

/// A mixture and what draws from each of its components say about it.
pub(super) struct Judged {
    pub(super) q: Approximation,
    /// The seed of the draws.
    pub(super) seed: u64,
    /// As many draws of each component, one component after the other.
    pub(super) draws: DrawBuffer,
    pub(super) per_component: usize,
    /// log p and ∇log p, the declared prior included; log p is NaN where either is not finite.
    pub(super) log_p: Vec<f64>,
    pub(super) pull: Vec<f64>,
    /// log p − log q.
    pub(super) ratio: Vec<f64>,
    /// What a draw counts in an average over q; 0 where log p is not finite.
    pub(super) weight: Vec<f64>,
    pub(super) elbo: Estimate,
    /// Importance estimate of log Z minus the bound.
    pub(super) gap: Estimate,
    pub(super) pareto_k: Option<f64>,
}

impl Judged {
    pub(super) fn new(evaluator: &mut Evaluator<'_>, q: Approximation, seed: u64) -> Result<Self, Error> {
        let (d, k) = (q.dim(), q.n_components());
        let m = tuning::growth::JUDGED_DRAWS_OF_A_COMPONENT
            .max(tuning::growth::JUDGED_DRAWS.div_ceil(k))
            .next_power_of_two();
        let n = k * m;
        let plan = DrawPlan { noise: Noise::QuasiMonteCarlo, sampling: Sampling::OwnDraws, ..DrawPlan::independent(m) };
        let mut estimator = q.estimator(&plan);
        let mut batch = estimator.batch(&q);
        estimator.draw(&q, NoiseKey { seed, purpose: Purpose::Diagnostics, step: 0 }, &mut batch);
        let (mut log_p, pull) = evaluator.gradients(batch.draws.view())?;
        for (log_p, pull) in log_p.iter_mut().zip(pull.chunks_exact(d)) {
            if !pull.iter().all(|g| g.is_finite()) {
                *log_p = f64::NAN;
            }
        }
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
            draws: batch.draws,
            q,
            seed,
            log_p,
        };
        if let Ok(seen) = Importance::of(&judged.log_p, &batch.log_q, &shares) {
            (judged.elbo, judged.gap, judged.pareto_k) = (seen.elbo, seen.gap(), seen.pareto_k());
            (judged.ratio, judged.weight) = (seen.ratios, seen.weights);
        }
        Ok(judged)
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
