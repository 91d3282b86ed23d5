//! What a pool says about a mixture: its bound, and of each component how well it is covered.

use super::mixture::{Mixture, Whitening};
use super::pool::Pool;
use crate::linalg::{axpy, cholesky};
use crate::special::logistic::log_sum_exp;
use crate::tuning::pooled as tuned;

/// The points that count for one component.
#[derive(Default)]
pub(super) struct Own {
    pub(super) index: Vec<usize>,
    /// N_c/m, normalised.
    pub(super) weight: Vec<f64>,
    /// The points in the coordinates of the component, and ∇(log p − log q) there.
    pub(super) x: Vec<f64>,
    pub(super) v: Vec<f64>,
    /// Σ N_c/m, and the effective number of points.
    pub(super) total: f64,
    pub(super) effective: f64,
}

/// Memory for looking at a mixture from a pool, and the last look.
#[derive(Default)]
pub(super) struct Sight {
    pub(super) own: Vec<Own>,
    /// log p − log q.
    pub(super) heights: Vec<f64>,
    /// The bound with its standard error, and the effective number of points of the whole mixture.
    pub(super) bound: f64,
    pub(super) error: f64,
    pub(super) effective: f64,
    log_q: Vec<f64>,
    /// log N_c of every component.
    logs: Vec<Vec<f64>>,
    /// q/m.
    weight: Vec<f64>,
    parts: Vec<f64>,
    /// ∇(log p − log q).
    slope: Vec<f64>,
    pull: Vec<f64>,
}

impl Sight {
    /// Looks at `q`.
    pub(super) fn look(&mut self, pool: &Pool, q: &Mixture, whitening: &mut Whitening) {
        let (d, n, k) = (q.dim(), pool.len(), q.n_components());
        self.own.resize_with(k, Own::default);
        self.logs.resize_with(k, Vec::new);
        self.parts.resize(k, 0.0);
        for ((block, own), log) in q.blocks.iter().zip(&mut self.own).zip(&mut self.logs) {
            whitening.look(block, &pool.z, log);
            own.gather(log, &pool.log_m, &whitening.x, d);
        }
        self.log_q.clear();
        self.heights.clear();
        for s in 0..n {
            let joint = self.parts.iter_mut().zip(&self.logs).zip(&q.log_weights);
            joint.for_each(|((part, log), log_weight)| *part = log_weight + log[s]);
            let log_q = log_sum_exp(&self.parts);
            self.log_q.push(log_q);
            self.heights.push(pool.log_p[s] - log_q);
        }
        self.judge(pool);
    }

    /// The bound by self-normalised weights q/m.
    fn judge(&mut self, pool: &Pool) {
        self.weight.clear();
        self.weight.extend(self.log_q.iter().zip(&pool.log_m).map(|(q, m)| (q - m).exp()));
        let total: f64 = self.weight.iter().sum();
        let squares: f64 = self.weight.iter().map(|w| w * w).sum();
        self.effective = if squares > 0.0 { total * total / squares } else { 0.0 };
        let counted = || self.weight.iter().zip(&self.heights).filter(|(w, _)| **w > 0.0);
        self.bound = counted().map(|(w, h)| w * h).sum::<f64>() / total;
        self.error = counted().map(|(w, h)| (w * (h - self.bound)).powi(2)).sum::<f64>().sqrt() / total;
        if !self.bound.is_finite() {
            (self.bound, self.error) = (f64::MIN, f64::MAX);
        }
    }

    /// Writes ∇(log p − log q), whitened by each component, at the points that count for it.
    pub(super) fn slopes(&mut self, pool: &Pool, q: &Mixture) {
        let d = q.dim();
        self.slope.clear();
        self.slope.extend_from_slice(&pool.grad);
        for (c, (block, own)) in q.blocks.iter().zip(&self.own).enumerate() {
            self.pull.resize(own.x.len(), 0.0);
            cholesky::factor_times(d, &block.factor, &own.x, &mut self.pull);
            for (s, pull) in own.index.iter().zip(self.pull.chunks_exact(d)) {
                let share = (q.log_weights[c] + self.logs[c][*s] - self.log_q[*s]).exp();
                axpy(share, pull, &mut self.slope[s * d..(s + 1) * d]);
            }
        }
        for (block, own) in q.blocks.iter().zip(&mut self.own) {
            own.v.clear();
            for s in &own.index {
                own.v.extend_from_slice(&self.slope[s * d..(s + 1) * d]);
            }
            cholesky::solve_factor(d, &block.factor, &mut own.v);
        }
    }

    /// Whether a component has points enough to be moved by, and where they are.
    pub(super) fn is_covered(&self, c: usize, dim: usize) -> bool {
        let own = &self.own[c];
        let (lowest, highest) = tuned::TOTALS;
        own.effective >= tuned::fewest_effective(dim) && own.total > lowest && own.total < highest
    }

    /// A part of the divergence that each component has: ½ E_q[r_c (h − E h)²].
    pub(super) fn shares(&self, q: &Mixture) -> Vec<f64> {
        let total: f64 = self.weight.iter().sum();
        let share = |c: usize| {
            let responsibility = |s: usize| (q.log_weights[c] + self.logs[c][s] - self.log_q[s]).exp();
            let square = |s: usize| self.weight[s] * responsibility(s) * (self.heights[s] - self.bound).powi(2);
            0.5 * (0..self.weight.len()).filter(|s| self.weight[*s] > 0.0).map(square).sum::<f64>() / total
        };
        (0..q.n_components()).map(share).collect()
    }
}

impl Own {
    /// Takes the points whose weights N_c/m count, with their places `x`.
    fn gather(&mut self, log: &[f64], log_m: &[f64], x: &[f64], d: usize) {
        self.index.clear();
        self.weight.clear();
        self.x.clear();
        let ratio = |s: usize| log[s] - log_m[s];
        let largest = (0..log.len()).map(ratio).fold(f64::NEG_INFINITY, f64::max);
        let (mut total, mut squares) = (0.0, 0.0);
        for s in (0..log.len()).filter(|s| ratio(*s) > largest - tuned::NEGLIGIBLE) {
            let weight = ratio(s).exp();
            (total, squares) = (total + weight, squares + weight * weight);
            self.index.push(s);
            self.weight.push(weight);
            self.x.extend_from_slice(&x[s * d..(s + 1) * d]);
        }
        self.total = total;
        self.effective = if squares > 0.0 { total * total / squares } else { 0.0 };
        if total > 0.0 {
            self.weight.iter_mut().for_each(|weight| *weight /= total);
        }
    }
}
