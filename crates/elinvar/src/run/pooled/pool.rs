//! Past evaluations with the mixture of everything that they were drawn from (mathematics §12.7).

use serde::{Deserialize, Serialize};

use super::mixture::Whitening;
use crate::block::Location;
use crate::run::residual::Whitened;
use crate::special::logistic::log_sum_exp;
use crate::target::{Answer, Draws};
use crate::tuning::pooled as tuned;

/// Points with log p, its gradient and log m, where m(z) = Σ_b n_b N_b(z) over the proposals b that are remembered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(in crate::run) struct Pool {
    dim: usize,
    pub(super) z: Vec<f64>,
    pub(super) log_p: Vec<f64>,
    pub(super) grad: Vec<f64>,
    pub(super) log_m: Vec<f64>,
    proposals: Vec<Proposal>,
}

/// What a part of the points was drawn from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Proposal {
    q: Whitened,
    /// Draws, and those of them at which everything was finite.
    drawn: usize,
    kept: usize,
}

impl Pool {
    pub(in crate::run) fn new(dim: usize) -> Self {
        Self { dim, z: Vec::new(), log_p: Vec::new(), grad: Vec::new(), log_m: Vec::new(), proposals: Vec::new() }
    }

    /// Number of points.
    pub(super) fn len(&self) -> usize {
        self.log_p.len()
    }

    /// log p and the points.
    pub(in crate::run) fn points(&self) -> impl Iterator<Item = (f64, &[f64])> {
        self.log_p.iter().copied().zip(self.z.chunks_exact(self.dim))
    }

    /// log Z by all points: Σ p/m.
    pub(in crate::run) fn log_normaliser(&self) -> f64 {
        let ratios: Vec<f64> = self.log_p.iter().zip(&self.log_m).map(|(p, m)| p - m).collect();
        log_sum_exp(&ratios)
    }

    /// The points that count for a component: weights that sum to one, coordinates and gradients.
    pub(in crate::run) fn around(&self, block: &Location) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
        let (block, d, mut log) = (Whitened::of_block(block), self.dim, Vec::new());
        Whitening::default().look(&block, &self.z, &mut log);
        log.iter_mut().zip(&self.log_m).for_each(|(log, m)| *log -= m);
        let total = log_sum_exp(&log);
        let (mut weight, mut z, mut grad) = (Vec::new(), Vec::new(), Vec::new());
        for s in (0..self.len()).filter(|s| log[*s] > total - tuned::NEGLIGIBLE) {
            weight.push((log[s] - total).exp());
            z.extend_from_slice(&self.z[s * d..(s + 1) * d]);
            grad.extend_from_slice(&self.grad[s * d..(s + 1) * d]);
        }
        (weight, z, grad)
    }

    /// Adds draws of one component of a mixture that was judged.
    pub(in crate::run) fn take_in(&mut self, block: &Location, draws: Draws<'_>, log_p: &[f64], grads: &[f64]) {
        self.add_draws(&Whitened::of_block(block), draws, log_p, grads, &mut Whitening::default());
    }

    /// Adds draws of one Gaussian with what the target says about them; those at which it says nothing finite are drawn
    /// but not kept. How many were kept.
    pub(super) fn add(&mut self, q: &Whitened, draws: Draws<'_>, answer: &Answer, whitening: &mut Whitening) -> usize {
        self.add_draws(q, draws, answer.log_p(), answer.grads(), whitening)
    }

    /// [`Pool::add`] with values and gradients.
    pub(super) fn add_draws(
        &mut self,
        q: &Whitened,
        draws: Draws<'_>,
        log_p: &[f64],
        grads: &[f64],
        whitening: &mut Whitening,
    ) -> usize {
        let before = self.len();
        for ((z, log_p), grad) in draws.iter().zip(log_p).zip(grads.chunks_exact(self.dim)) {
            if log_p.is_finite() && grad.iter().all(|g| g.is_finite()) {
                self.z.extend_from_slice(z);
                self.log_p.push(*log_p);
                self.grad.extend_from_slice(grad);
            }
        }
        let kept = self.len() - before;
        self.log_m.resize(self.len(), f64::NEG_INFINITY);
        let mut log = Vec::new();
        for proposal in &self.proposals {
            proposal.add_to(&self.z[before * self.dim..], &mut self.log_m[before..], whitening, &mut log);
        }
        let new = Proposal { q: q.clone(), drawn: draws.len(), kept };
        new.add_to(&self.z, &mut self.log_m, whitening, &mut log);
        match self.proposals.last_mut().filter(|last| last.q == new.q) {
            Some(last) => (last.drawn, last.kept) = (last.drawn + new.drawn, last.kept + kept),
            None => self.proposals.push(new),
        }
        if self.len() > tuned::most_points(self.dim) || self.proposals.len() > tuned::most_proposals(self.dim) {
            self.forget(whitening);
        }
        kept
    }

    /// Forgets the oldest proposals with their points.
    fn forget(&mut self, whitening: &mut Whitening) {
        let share = |most: usize| (tuned::KEPT_SHARE * most as f64) as usize;
        let (points, proposals) = (share(tuned::most_points(self.dim)), share(tuned::most_proposals(self.dim)));
        let (mut left, mut gone, mut lost) = (self.len(), 0, 0);
        while gone + 1 < self.proposals.len() && (left > points || self.proposals.len() - gone > proposals) {
            (left, lost) = (left - self.proposals[gone].kept, lost + self.proposals[gone].kept);
            gone += 1;
        }
        self.proposals.drain(..gone);
        self.z.drain(..lost * self.dim);
        self.grad.drain(..lost * self.dim);
        self.log_p.drain(..lost);
        self.log_m.truncate(self.log_p.len());
        self.log_m.fill(f64::NEG_INFINITY);
        let mut log = Vec::new();
        for proposal in &self.proposals {
            proposal.add_to(&self.z, &mut self.log_m, whitening, &mut log);
        }
    }

    /// Whether a run in `dim` coordinates can have kept it.
    pub(in crate::run) fn is_sound(&self, dim: usize) -> bool {
        let n = self.log_p.len();
        let numbers = self.z.iter().chain(&self.log_p).chain(&self.grad).chain(&self.log_m);
        let drawn = |proposal: &Proposal| {
            proposal.q.is_sound(dim) && proposal.kept <= proposal.drawn && proposal.drawn < usize::MAX >> 20
        };
        self.dim == dim
            && n <= tuned::most_points(dim)
            && self.proposals.len() <= tuned::most_proposals(dim)
            && n.checked_mul(dim).is_some_and(|all| all == self.z.len() && all == self.grad.len())
            && self.log_m.len() == n
            && self.proposals.iter().all(drawn)
            && self.proposals.iter().map(|proposal| proposal.kept).sum::<usize>() == n
            && numbers.into_iter().all(|v| v.is_finite())
    }
}

impl Proposal {
    /// log m ← log(m + n N) at points.
    fn add_to(&self, z: &[f64], log_m: &mut [f64], whitening: &mut Whitening, log: &mut Vec<f64>) {
        whitening.look(&self.q, z, log);
        let log_n = (self.drawn as f64).ln();
        for (m, log) in log_m.iter_mut().zip(&*log) {
            *m = log_add(*m, log_n + log);
        }
    }
}

/// log(eᵃ + eᵇ) for a finite b.
fn log_add(a: f64, b: f64) -> f64 {
    let (high, low) = if a > b { (a, b) } else { (b, a) };
    if low == f64::NEG_INFINITY { high } else { high + (low - high).exp().ln_1p() }
}
