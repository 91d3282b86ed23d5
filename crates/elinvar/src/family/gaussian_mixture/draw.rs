//! Draws of a mixture by schemes M, C and D, with responsibilities and the scores of all components.

use super::GaussianMixture;
use super::implicit::ImplicitRoom;
use crate::estimate::Sampling;
use crate::family::finite_mixture::{self, LABEL_BLOCK, Labelled};
use crate::family::{Approximation, Batch, DrawPlan, NoiseKey};
use crate::linalg::products::GRAM_BLOCK;
use crate::linalg::{axpy, dot};
use crate::random::{NoiseSource, Stream};
use crate::special::logistic::log_sum_exp;

/// Memory for a batch of a mixture.
#[derive(Debug)]
pub struct GaussianMixtureEstimator {
    pub(super) plan: DrawPlan,
    /// Number of draws in all.
    pub(super) n: usize,
    noise: NoiseSource,
    eps: Vec<f64>,
    /// The component each draw comes from.
    label: Vec<u32>,
    /// For each component a_c = P_c(μ_c − z) of all draws, d × n.
    pub(super) scores: Vec<f64>,
    /// For each component log N(z | μ_c, Σ_c) of all draws.
    pub(super) log_components: Vec<f64>,
    /// For each component the responsibilities r_c of all draws.
    pub(super) responsibility: Vec<f64>,
    /// Weights of E_c[·]: K rows over all draws, or over the component's own.
    pub(super) weight: Vec<f64>,
    /// ∇log q at each draw.
    pub(super) score: Vec<f64>,
    pub(super) gram_weight: Vec<f64>,
    pub(super) residual: Vec<f64>,
    /// ∇log p − ∇log q at each draw, where log q is differentiated along the draws.
    pub(super) slopes: Vec<f64>,
    pub(super) implicit: ImplicitRoom,
    pub(super) spare: Vec<f64>,
    pub(super) gram: Vec<f64>,
    logs: Vec<f64>,
    /// log n_c, n_c the number of draws from component c.
    log_counts: Vec<f64>,
    /// h = log q − log p of all draws.
    pub(super) h: Vec<f64>,
}

impl GaussianMixtureEstimator {
    /// Memory for batches drawn as the plan says.
    pub fn new(q: &Approximation, plan: &DrawPlan) -> Self {
        let (d, k) = (q.dim(), q.n_components());
        let n = plan.sampling.n_in_all(plan.n_draws, k);
        let per_source = if plan.sampling.is_of_mixture() { n } else { plan.n_draws };
        let mut work = Self {
            plan: *plan,
            n,
            noise: NoiseSource::new(plan.noise, d, per_source),
            eps: Vec::new(),
            label: Vec::new(),
            scores: Vec::new(),
            log_components: Vec::new(),
            responsibility: Vec::new(),
            weight: Vec::new(),
            score: Vec::new(),
            gram_weight: Vec::new(),
            residual: Vec::new(),
            slopes: Vec::new(),
            implicit: ImplicitRoom::default(),
            spare: Vec::new(),
            gram: Vec::new(),
            logs: vec![0.0; k],
            h: vec![0.0; n],
            log_counts: vec![0.0; k],
        };
        work.resize(d, n);
        work
    }

    /// Makes room for `n` draws in all.
    fn resize(&mut self, d: usize, n: usize) {
        let k = self.logs.len();
        let rows = if self.plan.sampling == Sampling::OwnDraws { self.plan.n_draws } else { n };
        self.n = n;
        self.label.resize(n, 0);
        for (buffer, len) in [
            (&mut self.eps, d * n),
            (&mut self.scores, k * d * n),
            (&mut self.log_components, k * n),
            (&mut self.responsibility, k * n),
            (&mut self.weight, k * rows),
            (&mut self.score, d * n),
            (&mut self.gram_weight, n),
            (&mut self.h, n),
            (&mut self.residual, d * n),
            (&mut self.slopes, if self.plan.pathwise { d * n } else { 0 }),
            (&mut self.spare, d * n),
            (&mut self.gram, d * n.min(GRAM_BLOCK)),
        ] {
            buffer.resize(len, 0.0);
        }
    }

    /// Sets the noise from which [`GaussianMixtureEstimator::place`] makes the draws: each draw's component and ε.
    ///
    /// Schemes M and D take any number of draws, and scheme D any number of each component; the batch must have the
    /// same number, and this memory then no longer fits draws of the plan.
    ///
    /// # Panics
    /// If there is not one ε for each label, or for scheme C if the number of draws is not that of the plan.
    pub fn set_noise(&mut self, label: &[u32], eps: &[f64]) {
        let d = self.eps.len() / self.n;
        assert_eq!(eps.len(), d * label.len(), "one ε of dimension {d} belongs to each label");
        if label.len() != self.n {
            assert!(self.plan.sampling != Sampling::OwnDraws, "scheme C needs {} draws", self.n);
            self.resize(d, label.len());
        }
        self.label.copy_from_slice(label);
        self.eps.copy_from_slice(eps);
    }

    /// Makes the draws z = μ_c + L_c⁻ᵀ ε from the noise, with log q, responsibilities and scores.
    pub fn place(&mut self, q: &Approximation, batch: &mut Batch) {
        GaussianMixture::of(q).place(self, batch);
    }

    /// The draws that component `c` is moved by.
    pub(super) fn draws_of(&self, c: usize) -> std::ops::Range<usize> {
        finite_mixture::draws_of(&self.plan, self.n, c)
    }

    /// The weights of those draws in E_c[·].
    pub(super) fn weights_of(&self, c: usize) -> &[f64] {
        let rows = self.draws_of(c).len();
        &self.weight[c * rows..(c + 1) * rows]
    }
}

impl GaussianMixture<'_> {
    pub(super) fn fill_noise(&self, key: NoiseKey, work: &mut GaussianMixtureEstimator) {
        let (d, m) = (self.components[0].dim(), work.plan.n_draws);
        let NoiseKey { seed, purpose, step } = key;
        if work.plan.sampling.is_of_mixture() {
            work.noise.begin(seed, purpose, step, 0);
            work.noise.fill_eps(&mut work.eps);
            let mut stream = Stream::open(seed, purpose, step, LABEL_BLOCK);
            finite_mixture::draw_labels(self.weights, work.plan.noise, &mut stream, &mut work.label);
            return;
        }
        for c in 0..self.components.len() {
            work.noise.begin(seed, purpose, step, c as u32);
            work.noise.fill_eps(&mut work.eps[c * d * m..(c + 1) * d * m]);
            work.label[c * m..(c + 1) * m].fill(c as u32);
        }
    }

    /// Makes the draws z = μ_c + L_c⁻ᵀ ε with log q, responsibilities and scores.
    pub(super) fn place(&self, work: &mut GaussianMixtureEstimator, batch: &mut Batch) {
        let d = self.components[0].dim();
        let (n, k) = (work.n, self.components.len());
        let z = &mut batch.draws.as_mut_slice()[..d * n];
        z.copy_from_slice(&work.eps);
        // Runs of one label share a triangular solve.
        let mut start = 0;
        while start < n {
            let c = work.label[start] as usize;
            let end = (start..n).find(|s| work.label[*s] as usize != c).unwrap_or(n);
            let block = &self.components[c];
            block.scale().unwhiten(&mut z[start * d..end * d]);
            z[start * d..end * d].chunks_exact_mut(d).for_each(|draw| axpy(1.0, block.column(0), draw));
            start = end;
        }
        for (c, block) in self.components.iter().enumerate() {
            for (out, draw) in work.spare.chunks_exact_mut(d).zip(z.chunks_exact(d)) {
                out.iter_mut().zip(draw).zip(block.column(0)).for_each(|((o, z), mu)| *o = mu - z);
            }
            let white = &mut work.score;
            block.scale().whiten(&work.spare, white);
            let constant = 0.5 * (block.scale().log_det_precision() - d as f64 * std::f64::consts::TAU.ln());
            for (log, y) in work.log_components[c * n..(c + 1) * n].iter_mut().zip(white.chunks_exact(d)) {
                *log = constant - 0.5 * dot(y, y);
            }
            block.scale().factor_times(white, &mut work.scores[c * d * n..(c + 1) * d * n]);
        }
        work.score.fill(0.0);
        for s in 0..n {
            for c in 0..k {
                work.logs[c] = self.weights.log()[c] + work.log_components[c * n + s];
            }
            let log_q = log_sum_exp(&work.logs);
            batch.log_q[s] = log_q;
            for c in 0..k {
                let r = (work.logs[c] - log_q).exp();
                work.responsibility[c * n + s] = r;
                axpy(r, &work.scores[(c * n + s) * d..(c * n + s + 1) * d], &mut work.score[s * d..(s + 1) * d]);
            }
        }
        batch.kept.fill(true);
        if work.plan.curvature.wants_centre() {
            for (c, block) in self.components.iter().enumerate() {
                let centre = batch.centre(c);
                batch.draws.get_mut(centre).copy_from_slice(block.column(0));
            }
        }
    }

    /// Weights of E_c[·] by the scheme.
    pub(super) fn weigh_draws(&self, work: &mut GaussianMixtureEstimator, batch: &Batch) -> bool {
        let draws = Labelled {
            label: &work.label,
            log_components: &work.log_components,
            scratch: [&mut work.logs, &mut work.log_counts],
        };
        finite_mixture::weigh(&work.plan, draws, batch, &mut work.weight)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::{Location, LogWeights, Scale};
    use crate::estimate::Curvature;
    use crate::family::Estimator;
    use crate::random::{Noise, Purpose};
    use crate::target::Shape;

    /// Two components so far apart that each draw belongs to one of them.
    fn apart() -> Approximation {
        let scale = || Scale::from_precision(Shape::Full(1), vec![1.0]).unwrap();
        let block = |mu| Location::new(vec![mu], scale()).unwrap();
        Approximation::mixture(LogWeights::uniform(2), vec![block(-50.0), block(50.0)]).unwrap()
    }

    #[test]
    fn the_draws_that_are_kept_share_the_weight_of_the_dropped() {
        let q = apart();
        for sampling in [Sampling::Stratified, Sampling::OwnDraws] {
            let plan = DrawPlan { sampling, curvature: Curvature::Hessian, ..DrawPlan::independent(8) };
            let mut work = GaussianMixtureEstimator::new(&q, &plan);
            let mut batch = work.batch(&q);
            work.draw(&q, NoiseKey { seed: 1, purpose: Purpose::Draws, step: 0 }, &mut batch);
            batch.kept[..6].fill(false);
            assert!(work.weigh(&q, &batch));
            for c in 0..2 {
                let sum: f64 = work.weights_of(c).iter().sum();
                assert!((sum - 1.0).abs() < 1e-12, "{sampling}, component {c}: {sum}");
            }
        }
    }

    #[test]
    fn antithetic_partners_share_their_component() {
        let q = apart();
        let plan = DrawPlan { noise: Noise::Antithetic, ..DrawPlan::independent(16) };
        let mut work = GaussianMixtureEstimator::new(&q, &plan);
        let mut batch = work.batch(&q);
        work.draw(&q, NoiseKey { seed: 3, purpose: Purpose::Draws, step: 0 }, &mut batch);
        assert!(work.label.chunks(2).all(|pair| pair[0] == pair[1]));
        assert!(work.label.contains(&0) && work.label.contains(&1));
    }
}
