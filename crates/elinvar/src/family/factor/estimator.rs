//! Draws of a family with k columns, with log q and what each says about w.

use super::Factor;
use super::factors::Factors;
use crate::estimate::{Curvature, MixingWeights};
use crate::family::{Approximation, Batch, DrawPlan, NoiseKey};
use crate::law::Independent;
use crate::linalg::products::GRAM_BLOCK;
use crate::linalg::{axpy, cholesky, dot};
use crate::random::NoiseSource;

/// Memory for a batch of a family with k columns.
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
    /// Of laws on w > 0: AᵀPA, then Cov[w|z] of each draw, k × k each.
    pub(super) products: Vec<f64>,
    /// Likewise PA and PA times the mean of these covariances.
    pub(super) directions: [Vec<f64>; 2],
}

impl FactorEstimator {
    /// Memory for batches drawn as the plan says.
    pub fn new(q: &Approximation, plan: &DrawPlan) -> Self {
        let (d, k, n) = (q.dim(), Factor::of(q).rank(), plan.n_draws);
        let positive = usize::from(Factor::of(q).law != Independent::Normal);
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
            products: vec![0.0; positive * k * k * (n + 1)],
            directions: [vec![0.0; positive * d * k], vec![0.0; positive * d * k]],
        }
    }

    pub(super) fn fill_noise(&mut self, law: Independent, key: NoiseKey) {
        self.noise.begin(key.seed, key.purpose, key.step, 0);
        self.noise.fill_eps(&mut self.normals);
        if law != Independent::Normal {
            let n = self.weight.len();
            let (k, size) = (self.loadings.len() / n, self.normals.len() / n);
            for draw in self.normals.chunks_exact_mut(size) {
                draw[..k].iter_mut().for_each(|w| *w = law.of_normal(*w));
            }
        }
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
        let constant = if self.law == Independent::Normal {
            work.factors.update(self.block);
            work.factors.log_det(self.block)
        } else {
            self.write_directions(work);
            scale.log_det_precision()
        };
        let constant = 0.5 * (constant - d as f64 * std::f64::consts::TAU.ln());
        let z = &mut batch.draws.as_mut_slice()[..d * n];
        for (out, normals) in z.chunks_exact_mut(d).zip(work.normals.chunks_exact(d + k)) {
            out.copy_from_slice(&normals[k..]);
        }
        if work.plan.curvature.reads_residuals() {
            scale.factor_times(z, &mut work.residual);
        }
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
            if self.law != Independent::Normal {
                let (gram, covariances) = work.products.split_at_mut(k * k);
                let given = self.law.given(gram, loadings);
                batch.log_q[s] = constant - 0.5 * square + given.log_mass;
                loadings.copy_from_slice(&given.mean[..k]);
                for (row, column) in covariances[s * k * k..(s + 1) * k * k].chunks_exact_mut(k).zip(given.covariance) {
                    row.copy_from_slice(&column[..k]);
                }
                // From values alone the slope in A goes by the w of each draw (mathematics §10.2).
                if work.plan.weights == MixingWeights::Sampled || work.plan.curvature == Curvature::GradientFree {
                    loadings.copy_from_slice(&normals[..k]);
                }
                continue;
            }
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
            self.add_mean_of_columns(batch.draws.get_mut(centre));
        }
    }
}
