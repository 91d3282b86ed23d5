//! The k × k algebra of a factor covariance: W = (I + AᵀPA)⁻¹ and (Σ + AAᵀ)⁻¹ = P − XXᵀ.

use super::Factor;
use crate::block::Location;
use crate::estimate::MixingWeights;
use crate::family::{Approximation, Batch, DrawPlan, NoiseKey};
use crate::linalg::products::GRAM_BLOCK;
use crate::linalg::{axpy, cholesky, dot};
use crate::random::NoiseSource;

/// Factors of I + AᵀPA = M Mᵀ, so that W = M⁻ᵀM⁻¹, with white = LᵀA and X = PA M⁻ᵀ.
#[derive(Debug)]
pub(super) struct Factors {
    rank: usize,
    /// LᵀA, d × k.
    pub(super) white: Vec<f64>,
    /// M, k × k.
    pub(super) m: Vec<f64>,
    /// X = PA M⁻ᵀ, d × k: PAWAᵀP = XXᵀ.
    pub(super) x: Vec<f64>,
    inner: Vec<f64>,
    workspace: cholesky::Workspace,
}

impl Factors {
    fn new(dim: usize, rank: usize) -> Self {
        Self {
            rank,
            white: vec![0.0; dim * rank],
            m: vec![0.0; rank * rank],
            x: vec![0.0; dim * rank],
            inner: vec![0.0; rank * rank],
            workspace: cholesky::Workspace::new(rank),
        }
    }

    /// The factors of a block.
    pub(super) fn of(block: &Location) -> Self {
        let mut factors = Self::new(block.dim(), block.n_columns() - 1);
        factors.update(block);
        factors
    }

    pub(super) fn update(&mut self, block: &Location) {
        let (d, k) = (block.dim(), self.rank);
        block.scale().whiten(&block.b()[d..], &mut self.white);
        for j in 0..k {
            for i in 0..k {
                let product = dot(&self.white[i * d..(i + 1) * d], &self.white[j * d..(j + 1) * d]);
                self.inner[j * k + i] = product + if i == j { 1.0 } else { 0.0 };
            }
        }
        // I + AᵀPA has eigenvalues of at least one: it factors whenever its entries are finite.
        if cholesky::factor(k, &self.inner, &mut self.m, &mut self.workspace).is_err() {
            self.m.fill(f64::NAN);
        }
        block.scale().factor_times(&self.white, &mut self.x);
        for j in 0..k {
            let (done, rest) = self.x.split_at_mut(j * d);
            let column = &mut rest[..d];
            for (i, earlier) in done.chunks_exact(d).enumerate() {
                axpy(-self.m[i * k + j], earlier, column);
            }
            let pivot = self.m[j * k + j];
            column.iter_mut().for_each(|v| *v /= pivot);
        }
    }

    /// log |(Σ + AAᵀ)⁻¹| = log|P| + log|W|.
    pub(super) fn log_det(&self, block: &Location) -> f64 {
        block.scale().log_det_precision() - cholesky::log_det(self.rank, &self.m)
    }

    /// (z−μ)ᵀ(Σ+AAᵀ)⁻¹(z−μ) and −(Σ+AAᵀ)⁻¹(z−μ).
    pub(super) fn quadratic(&self, block: &Location, z: &[f64]) -> (f64, Vec<f64>) {
        let d = block.dim();
        assert_eq!(z.len(), d, "a point has {d} coordinates");
        let difference: Vec<f64> = z.iter().zip(block.column(0)).map(|(z, mu)| z - mu).collect();
        let (mut y, mut score) = (vec![0.0; d], vec![0.0; d]);
        block.scale().whiten(&difference, &mut y);
        block.scale().factor_times(&y, &mut score);
        score.iter_mut().for_each(|v| *v = -*v);
        let mut q = dot(&y, &y);
        for x in self.x.chunks_exact(d) {
            let along = dot(x, &difference);
            q -= along * along;
            axpy(along, x, &mut score);
        }
        (q, score)
    }
}

/// Memory for a batch of a factor Gaussian.
#[derive(Debug)]
pub struct FactorEstimator {
    pub(super) plan: DrawPlan,
    noise: NoiseSource,
    /// For each draw w (k numbers), then ε (d numbers).
    normals: Vec<f64>,
    /// For each draw the k weights of ∇log p in ∇_A: w or E[w|z].
    pub(super) loadings: Vec<f64>,
    /// P(z − Bũ) = L ε.
    pub(super) residual: Vec<f64>,
    pub(super) weight: Vec<f64>,
    pub(super) spare: Vec<f64>,
    pub(super) gram: Vec<f64>,
    pub(super) factors: Factors,
}

impl FactorEstimator {
    /// Memory for batches drawn as the plan says.
    pub fn new(q: &Approximation, plan: &DrawPlan) -> Self {
        let (d, k, n) = (q.dim(), Factor::of(q).rank(), plan.n_draws);
        Self {
            plan: *plan,
            noise: NoiseSource::new(plan.noise, d + k, n),
            normals: vec![0.0; (d + k) * n],
            loadings: vec![0.0; k * n],
            residual: vec![0.0; d * n],
            weight: vec![0.0; n],
            spare: vec![0.0; d * n.max(k)],
            gram: vec![0.0; d * n.max(k).min(GRAM_BLOCK)],
            factors: Factors::new(d, k),
        }
    }

    pub(super) fn fill_noise(&mut self, key: NoiseKey) {
        self.noise.begin(key.seed, key.purpose, key.step, 0);
        self.noise.fill_eps(&mut self.normals);
    }

    /// Sets the noise from which [`FactorEstimator::place`] makes the draws: for each draw w, then ε.
    ///
    /// # Panics
    /// If the length does not fit the plan.
    pub fn set_noise(&mut self, normals: &[f64]) {
        self.normals.copy_from_slice(normals);
    }

    /// Makes the draws z = μ + A w + L⁻ᵀ ε from the noise, with log q, and the loadings of each.
    pub fn place(&mut self, q: &Approximation, batch: &mut Batch) {
        Factor::of(q).place(self, batch);
    }
}

impl Factor<'_> {
    /// Makes the draws z = μ + A w + L⁻ᵀ ε with log q, and the loadings of each.
    pub(super) fn place(&self, work: &mut FactorEstimator, batch: &mut Batch) {
        let (d, k) = (self.block.dim(), self.rank());
        let n = batch.n;
        let scale = self.block.scale();
        work.factors.update(self.block);
        let z = &mut batch.draws.as_mut_slice()[..d * n];
        for (out, normals) in z.chunks_exact_mut(d).zip(work.normals.chunks_exact(d + k)) {
            out.copy_from_slice(&normals[k..]);
        }
        if work.plan.curvature.reads_residuals() {
            scale.factor_times(z, &mut work.residual);
        }
        let constant = 0.5 * (work.factors.log_det(self.block) - d as f64 * std::f64::consts::TAU.ln());
        let draws = z.chunks_exact(d).zip(work.normals.chunks_exact(d + k));
        for (s, (eps, normals)) in draws.enumerate() {
            // y = Lᵀ(z − μ) = ε + LᵀA w; t = AᵀP(z − μ) = (LᵀA)ᵀ y; Q = |y|² − tᵀWt.
            let y = &mut work.spare[..d];
            y.copy_from_slice(eps);
            for (white, w) in work.factors.white.chunks_exact(d).zip(&normals[..k]) {
                axpy(*w, white, y);
            }
            let loadings = &mut work.loadings[s * k..(s + 1) * k];
            for (t, white) in loadings.iter_mut().zip(work.factors.white.chunks_exact(d)) {
                *t = dot(white, y);
            }
            let square = dot(y, y);
            cholesky::solve_factor(k, &work.factors.m, loadings);
            batch.log_q[s] = constant - 0.5 * (square - dot(loadings, loadings));
            if work.plan.weights == MixingWeights::Sampled {
                loadings.copy_from_slice(&normals[..k]);
            } else {
                cholesky::solve_factor_transposed(k, &work.factors.m, loadings);
            }
        }
        scale.unwhiten(z);
        for (out, normals) in z.chunks_exact_mut(d).zip(work.normals.chunks_exact(d + k)) {
            axpy(1.0, self.block.column(0), out);
            for (j, w) in normals[..k].iter().enumerate() {
                axpy(*w, self.block.column(j + 1), out);
            }
        }
        batch.kept.fill(true);
        if work.plan.curvature.wants_centre() {
            let centre = batch.centre(0);
            batch.draws.get_mut(centre).copy_from_slice(self.block.column(0));
        }
    }
}
