//! Draws of a mixture of exponential families by schemes M, C and D, with log q and its score.

use super::EfMixture;
use crate::estimate::Sampling;
use crate::family::finite_mixture::{self as mixture, LABEL_BLOCK, Labelled};
use crate::family::{Approximation, Batch, DrawPlan, NoiseKey};
use crate::random::{NoiseSource, Stream};
use crate::special::logistic::log_sum_exp;

/// Memory for a batch of a mixture of exponential families.
#[derive(Debug)]
pub struct EfMixtureEstimator {
    pub(super) plan: DrawPlan,
    noise: NoiseSource,
    /// The component each draw comes from.
    label: Vec<u32>,
    /// For each component the log density of all draws.
    log_components: Vec<f64>,
    /// Weights of E_c[·]: K rows over all draws, or over the component's own.
    pub(super) weight: Vec<f64>,
    /// ∇log q at each draw.
    pub(super) score: Vec<f64>,
    /// h = log q − log p of all draws.
    pub(super) h: Vec<f64>,
    /// −∇h at one draw.
    pub(super) slope: Vec<f64>,
    logs: Vec<f64>,
    log_counts: Vec<f64>,
}

impl EfMixtureEstimator {
    /// Memory for batches drawn as the plan says.
    pub fn new(q: &Approximation, plan: &DrawPlan) -> Self {
        let (d, k) = (q.dim(), q.n_components());
        let n = plan.sampling.n_in_all(plan.n_draws, k);
        let (per_source, rows) = match plan.sampling {
            Sampling::Mixture | Sampling::Whole | Sampling::Implicit => (n, n),
            Sampling::Stratified => (plan.n_draws, n),
            Sampling::OwnDraws => (plan.n_draws, plan.n_draws),
        };
        Self {
            plan: *plan,
            noise: NoiseSource::of_mixing(plan.noise, d, per_source),
            label: vec![0; n],
            log_components: vec![0.0; k * n],
            weight: vec![0.0; k * rows],
            score: vec![0.0; d * n],
            h: vec![0.0; n],
            slope: vec![0.0; d],
            logs: vec![0.0; k],
            log_counts: vec![0.0; k],
        }
    }

    /// Number of draws in all.
    pub(super) fn n(&self) -> usize {
        self.label.len()
    }

    /// Sets the number of draws and the component each of them comes from, for draws that are given; the plan's own no
    /// longer fit this memory then.
    ///
    /// # Panics
    /// For scheme C, if the number of draws is not that of the plan.
    pub fn set_labels(&mut self, label: &[u32]) {
        let (n, k) = (label.len(), self.logs.len());
        assert!(self.plan.sampling != Sampling::OwnDraws || n == self.n(), "scheme C needs {} draws", self.n());
        let d = self.score.len() / self.n();
        self.label.resize(n, 0);
        self.label.copy_from_slice(label);
        self.h.resize(n, 0.0);
        self.score.resize(d * n, 0.0);
        self.log_components.resize(k * n, 0.0);
        if self.plan.sampling != Sampling::OwnDraws {
            self.weight.resize(k * n, 0.0);
        }
    }

    /// Computes log q and its score at the draws of the batch.
    ///
    /// # Panics
    /// If the batch does not have as many draws as there are labels.
    pub fn place(&mut self, q: &Approximation, batch: &mut Batch) {
        EfMixture::of(q).place(self, batch);
    }

    pub(super) fn weigh_draws(&mut self, batch: &Batch) -> bool {
        let draws = Labelled {
            label: &self.label,
            log_components: &self.log_components,
            scratch: [&mut self.logs, &mut self.log_counts],
        };
        mixture::weigh(&self.plan, draws, batch, &mut self.weight)
    }

    /// The draws that component `c` is moved by, with their weights in E_c[·].
    pub(super) fn weighted_draws(&self, c: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let draws = mixture::draws_of(&self.plan, self.n(), c);
        let rows = draws.len();
        draws.zip(self.weight[c * rows..(c + 1) * rows].iter().copied())
    }
}

impl EfMixture<'_> {
    /// Fills the batch with draws.
    ///
    /// Coordinate after coordinate, so that a quantile function that depends on the parameters is prepared once for a
    /// component.
    pub(super) fn fill(&self, key: NoiseKey, work: &mut EfMixtureEstimator, batch: &mut Batch) {
        let NoiseKey { seed, purpose, step } = key;
        let (d, m) = (self.dim(), work.plan.n_draws);
        let z = batch.draws.as_mut_slice();
        if work.plan.sampling.is_of_mixture() {
            let mut stream = Stream::open(seed, purpose, step, LABEL_BLOCK);
            mixture::draw_labels(self.weights, work.plan.noise, &mut stream, &mut work.label);
            work.noise.begin(seed, purpose, step, 0);
            for i in 0..d {
                work.noise.turn_to(i);
                for (s, label) in work.label.iter().enumerate() {
                    z[s * d + i] = self.components[*label as usize].sample(i, &mut work.noise.mixing(s));
                }
            }
            let draws = z.chunks_exact_mut(d).zip(&work.label);
            draws.for_each(|(draw, label)| self.components[*label as usize].close(draw));
            return;
        }
        for c in 0..self.n_components() {
            work.label[c * m..(c + 1) * m].fill(c as u32);
            work.noise.begin(seed, purpose, step, c as u32);
            let own = &mut z[c * m * d..(c + 1) * m * d];
            for i in 0..d {
                work.noise.turn_to(i);
                for s in 0..m {
                    own[s * d + i] = self.components[c].sample(i, &mut work.noise.mixing(s));
                }
            }
            own.chunks_exact_mut(d).for_each(|draw| self.components[c].close(draw));
        }
    }

    /// Computes log q and its score at the draws of the batch.
    ///
    /// # Panics
    /// If the batch does not have as many draws as the memory has labels.
    pub(super) fn place(&self, work: &mut EfMixtureEstimator, batch: &mut Batch) {
        let (d, n, k) = (self.dim(), work.n(), self.n_components());
        assert_eq!(batch.n, n, "as many draws as labels");
        let z = &batch.draws.view().as_slice()[..d * n];
        for c in 0..k {
            for (log, z) in work.log_components[c * n..(c + 1) * n].iter_mut().zip(z.chunks_exact(d)) {
                *log = self.log_component(c, z);
            }
        }
        work.score.fill(0.0);
        for (s, z) in z.chunks_exact(d).enumerate() {
            for c in 0..k {
                work.logs[c] = self.weights.log()[c] + work.log_components[c * n + s];
            }
            let log_q = log_sum_exp(&work.logs);
            batch.log_q[s] = log_q;
            let score = &mut work.score[s * d..(s + 1) * d];
            for c in 0..k {
                let r = (work.logs[c] - log_q).exp();
                // Zero times the infinite score of a component that is not there would be no number.
                if r > 0.0 {
                    self.components[c].add_score(r, z, score);
                }
            }
        }
        batch.kept.fill(true);
    }
}
