//! Draws of a mean–variance mixture, with the scalars that every later stage reads.

use super::MeanVariance;
use crate::estimate::{Curvature, MixingWeights, ShapeEstimator};
use crate::family::{Approximation, Batch, DrawPlan, NoiseKey};
use crate::law::{Conditional, Forms, Law, MixingLaw as _};
use crate::linalg::products::GRAM_BLOCK;
use crate::linalg::{axpy, dot};
use crate::random::NoiseSource;
use crate::rule::{BesselRatio, EntropyGradient};

/// Memory for a batch of a mean–variance mixture.
#[derive(Debug)]
pub struct MeanVarianceEstimator {
    pub(super) plan: DrawPlan,
    noise: NoiseSource,
    /// Standard normals ε, d × n.
    pub(super) eps: Vec<f64>,
    pub(super) w: Vec<f64>,
    /// u(w) and s(w).
    pub(super) u: Vec<f64>,
    pub(super) s: Vec<f64>,
    /// P(z − Bũ) = √s L ε, d × n, where something reads it.
    pub(super) residual: Vec<f64>,
    pub(super) forms: Vec<Forms>,
    pub(super) conditional: Vec<Conditional>,
    /// Pα.
    pub(super) v: Vec<f64>,
    pub(super) kappa: f64,
    /// Weights of the average over draws.
    pub(super) weight: Vec<f64>,
    /// The same times the Price weight s; then, where a shape is learned by traces, times w²/{2(1 − w)}.
    pub(super) price: Vec<f64>,
    /// The sum of Hessians with the latter weights, and Σ times it.
    pub(super) traced: [Vec<f64>; 2],
    /// Weights of ∇log p in ∇_α.
    pub(super) shift: Vec<f64>,
    pub(super) spare: Vec<f64>,
    pub(super) gram: Vec<f64>,
}

impl MeanVarianceEstimator {
    /// Memory for batches drawn as the plan says.
    pub fn new(q: &Approximation, plan: &DrawPlan) -> Self {
        let (d, n) = (q.dim(), plan.n_draws);
        let by_traces = matches!(q.law(), Law::InverseGamma(law) if law.is_learned())
            && plan.shape == ShapeEstimator::PaperLiteral
            && plan.curvature == Curvature::Hessian;
        let n_entries = if by_traces { q.locations()[0].scale().precision().len() } else { 0 };
        Self {
            plan: *plan,
            noise: NoiseSource::new(plan.noise, d, n),
            eps: vec![0.0; d * n],
            w: vec![0.0; n],
            u: vec![0.0; n],
            s: vec![0.0; n],
            residual: vec![0.0; d * n],
            forms: vec![Forms::default(); n],
            conditional: vec![Conditional::default(); n],
            v: vec![0.0; d],
            kappa: 0.0,
            weight: vec![0.0; n],
            price: vec![0.0; if by_traces { 2 * n } else { n }],
            traced: [vec![0.0; n_entries], vec![0.0; n_entries]],
            shift: vec![0.0; n],
            spare: vec![0.0; d * n.max(2)],
            gram: vec![0.0; d * n.min(GRAM_BLOCK)],
        }
    }

    /// Sets the noise from which [`MeanVarianceEstimator::place`] makes the draws: w of each draw and ε, d × n.
    ///
    /// # Panics
    /// If the lengths do not fit the plan.
    pub fn set_noise(&mut self, w: &[f64], eps: &[f64]) {
        self.w.copy_from_slice(w);
        self.eps.copy_from_slice(eps);
    }

    /// Whether a learned shape moves by traces of Hessians, as printed.
    pub(super) fn is_by_traces(&self) -> bool {
        self.price.len() > self.w.len()
    }

    /// Whether the gradient of the entropy of a shifted law comes from the draws, although it is known.
    pub(super) fn is_entropy_sampled(&self) -> bool {
        self.plan.printed.is_some_and(|options| options.entropy == EntropyGradient::Reparameterised)
    }

    /// Makes the draws from the noise: z = μ + u(w) α + √s(w) L⁻ᵀ ε, with log q and the forms of each.
    pub fn place(&mut self, q: &Approximation, batch: &mut Batch) {
        MeanVariance::of(q).place(self, batch);
    }
}

impl MeanVariance<'_> {
    pub(super) fn empty_batch(&self, plan: &DrawPlan) -> Batch {
        // Laws with a two-point form have one at every point.
        let probe = Forms { dim: 1, q: 1.0, l: 1.0, kappa: 1.0 };
        let two_point = plan.weights == MixingWeights::Marginal && self.law.two_point(probe).is_some();
        let n_paired = if two_point { plan.n_draws } else { 0 };
        Batch::new(self.block.dim(), plan.n_draws, n_paired, usize::from(plan.curvature.wants_centre()))
    }

    pub(super) fn fill_noise(&self, key: NoiseKey, work: &mut MeanVarianceEstimator) {
        work.noise.begin(key.seed, key.purpose, key.step, 0);
        work.noise.fill_eps(&mut work.eps);
        if self.law.mixes() {
            for (s, w) in work.w.iter_mut().enumerate() {
                *w = self.law.sample(&mut work.noise.mixing(s));
            }
        }
    }

    /// Makes the draws from the noise: z = μ + u(w) α + √s(w) L⁻ᵀ ε, with log q and the forms of each.
    pub(super) fn place(&self, work: &mut MeanVarianceEstimator, batch: &mut Batch) {
        let d = self.block.dim();
        let n = work.w.len();
        let scale = self.block.scale();
        let mu = self.block.column(0);
        let shifted = self.law.is_shifted();

        self.law.write_shifts_and_scales(&work.w, &mut work.u, &mut work.s);
        // The draws' memory first holds √s ε, which whitening leaves as Lᵀ(z − Bũ).
        let z = &mut batch.draws.as_mut_slice()[..d * n];
        for ((out, eps), scale) in z.chunks_exact_mut(d).zip(work.eps.chunks_exact(d)).zip(&work.s) {
            let root = scale.sqrt();
            out.iter_mut().zip(eps).for_each(|(o, e)| *o = root * e);
        }
        let entropy_sampled = !self.law.has_exact_entropy() || work.is_entropy_sampled();
        if entropy_sampled || work.plan.curvature.reads_residuals() {
            scale.factor_times(z, &mut work.residual);
        }
        work.kappa = 0.0;
        if shifted {
            let (white_alpha, _) = work.spare.split_at_mut(d);
            scale.whiten(self.block.column(1), white_alpha);
            work.kappa = dot(white_alpha, white_alpha);
            scale.factor_times(white_alpha, &mut work.v);
        }
        for (forms, y) in work.forms.iter_mut().zip(z.chunks_exact(d)) {
            *forms = Forms { dim: d, q: dot(y, y), l: 0.0, kappa: work.kappa };
        }
        if shifted {
            let white_alpha = &work.spare[..d];
            for ((forms, y), u) in work.forms.iter_mut().zip(z.chunks_exact(d)).zip(&work.u) {
                let cross = dot(y, white_alpha);
                forms.q = forms.q + 2.0 * u * cross + u * u * work.kappa;
                forms.l = cross + u * work.kappa;
            }
        }
        scale.unwhiten(z);
        z.chunks_exact_mut(d).for_each(|out| axpy(1.0, mu, out));
        if shifted {
            z.chunks_exact_mut(d).zip(&work.u).for_each(|(out, u)| axpy(*u, self.block.column(1), out));
        }
        let half_log_det = 0.5 * scale.log_det_precision();
        self.law.write_log_marginals(&work.forms, &mut batch.log_q);
        batch.log_q.iter_mut().for_each(|log_q| *log_q += half_log_det);
        batch.kept.fill(true);
        self.place_extra(work, batch);
    }

    /// The points ẑ = z − u(w) α of option II and the centre μ + E\[u\] α of the control variate.
    fn place_extra(&self, work: &MeanVarianceEstimator, batch: &mut Batch) {
        let d = self.block.dim();
        if batch.n_paired > 0 {
            let (z, paired) = batch.draws.as_mut_slice().split_at_mut(d * batch.n);
            for ((hat, z), u) in paired.chunks_exact_mut(d).zip(z.chunks_exact(d)).zip(&work.u) {
                hat.copy_from_slice(z);
                axpy(-u, self.block.column(1), hat);
            }
        }
        if work.plan.curvature.wants_centre() {
            let centre = batch.draws.get_mut(batch.n + batch.n_paired);
            centre.copy_from_slice(self.block.column(0));
            if self.law.is_shifted() {
                axpy(self.law.moments().u, self.block.column(1), centre);
            }
        }
    }

    /// Weights of the kept draws: 1/n, times s(w) or E[s|z] for the Hessian, times u(w), E[u|z] or u(z) for ∇_α.
    pub(super) fn weigh_draws(&self, work: &mut MeanVarianceEstimator, batch: &Batch) -> bool {
        let n_kept = batch.n_kept();
        if n_kept == 0 {
            return false;
        }
        if work.plan.weights != MixingWeights::Sampled || !self.law.has_exact_entropy() || work.is_entropy_sampled() {
            let by_bounds = work.plan.printed.is_some_and(|options| options.bessel == BesselRatio::MeanOfBounds);
            self.law.write_conditionals(&work.forms, by_bounds, &mut work.conditional);
        }
        let weight = 1.0 / n_kept as f64;
        for s in 0..batch.n {
            if !batch.kept[s] {
                (work.weight[s], work.price[s], work.shift[s]) = (0.0, 0.0, 0.0);
                work.price.get_mut(batch.n + s).into_iter().for_each(|traced| *traced = 0.0);
                continue;
            }
            let (u, scale) = match work.plan.weights {
                MixingWeights::Sampled => (work.u[s], work.s[s]),
                MixingWeights::Marginal => {
                    // A law with a two-point form has paired points; the others are not asked for one.
                    let two_point = if batch.n_paired > 0 { self.law.two_point(work.forms[s]) } else { None };
                    (two_point.map_or(work.conditional[s].u, |two| two.u), work.conditional[s].s)
                }
                MixingWeights::Conditional => (work.conditional[s].u, work.conditional[s].s),
            };
            work.weight[s] = weight;
            work.price[s] = weight * scale;
            if let Some(traced) = work.price.get_mut(batch.n + s) {
                let w = work.w[s];
                *traced = weight * (w * w / (2.0 * (1.0 - w)));
            }
            work.shift[s] = weight * u;
        }
        true
    }
}
