//! The constant of the mixing law where the fit moves it: the shape a of the Student-t, λ of the inverse Gaussians.

use super::MeanVariance;
use super::draw::MeanVarianceEstimator;
use crate::estimate::Curvature;
use crate::family::{Batch, Gradient, Seen};
use crate::law::{InverseGamma, MixingLaw, ShapeSlopes};
use crate::linalg::dot;
use crate::target::SharedT;

impl MeanVariance<'_> {
    /// What the law says about its constant, if the fit moves it.
    pub(crate) fn learned(&self) -> Option<ShapeSlopes> {
        if self.law.is_learned() { self.law.shape_slopes(self.block.dim()) } else { None }
    }

    /// Adds ∂L/∂a.
    ///
    /// Pathwise, ∇_aE\[g\] = E[(∂_az)ᵀ∇g(z)], where the law says how z moves with a: by ½(∂_aw/w)(z − μ) for the
    /// Student-t. For a prior on z alone this is taken with g = log p + log prior − log q, for which E[∂_a log q] = 0
    /// leaves nothing out: no term is left to chance where q is the target (mathematics §2.4, §4.4). A t prior that
    /// shares w has −(a − a₀)F_a in place of the last two, less ½F_a for every flat coordinate (mathematics §2.2), and
    /// −log q is a control variate with the mean ∂_aH.
    ///
    /// By traces, as printed, the part of the target is F_a times the mean of w²/{2(1 − w)} tr(Σ∇²log p): a step in a
    /// itself then moves by eq. (21).
    ///
    /// Paper: §4.2, eq. (21), App. D.
    pub(super) fn add_shape(&self, seen: &Seen<'_>, work: &mut MeanVarianceEstimator, out: &mut Gradient) {
        let Some(slopes) = self.learned() else { return };
        let Seen { evaluations, curvature: traced, prior, batch } = *seen;
        if work.plan.curvature == Curvature::GradientFree {
            out.shape += self.shape_by_values(seen, work, slopes);
            return;
        }
        let mu = self.block.column(0);
        let literal = work.is_by_traces();
        let (mut target, mut known, mut information) = (0.0, 0.0, 0.0);
        for s in (0..batch.n).filter(|s| work.weight[*s] > 0.0) {
            let (w, z, grad) = (work.w[s], batch.draws.get(s), evaluations.grad(s));
            let along: f64 = z.iter().zip(mu).zip(grad).map(|((z, mu), g)| (z - mu) * g).sum();
            let path_derivative = self.law.path_derivative(w);
            let path = self.law.path_of_draw(w, work.weight[s] * path_derivative);
            information += work.weight[s] * self.law.sampled_fisher(w, path_derivative);
            let forms = work.forms[s];
            let given = self.law.conditional(forms);
            let mut others = given.inv_s * forms.q;
            others += prior.slope_along(z, mu);
            target += path.offset * along;
            known += path.offset * others;
            if self.law.is_shifted() {
                let alpha = self.block.column(1);
                let pull: f64 = alpha.iter().zip(z).enumerate().map(|(i, (a, z))| a * prior.slope(i, *z)).sum();
                target += path.shift * dot(alpha, grad);
                known += path.shift * (given.inv_s * forms.l - given.u_inv_s * forms.kappa + pull)
                    - path.offset * given.u_inv_s * forms.l;
            }
        }
        if literal {
            let [sum, solved] = &mut work.traced;
            sum.copy_from_slice(traced);
            self.block.scale().shape().complete(sum);
            target = slopes.fisher * self.block.scale().trace_of_solved(sum, solved);
        }
        let ratio = slopes.fisher / work.plan.shape.denominator(slopes.fisher, information, batch.n_kept());
        out.shape += match prior.shared() {
            Some(shared) => {
                let pull = self.pull(shared, slopes.fisher);
                let variate = if literal { 0.0 } else { known - slopes.entropy.unwrap_or(known) };
                ratio * (target + variate) + pull
            }
            None => ratio * target + known,
        };
    }

    /// The same from values of log p alone: E[(g − b) ∂_a log q(w)], b the mean of g over the other draws.
    fn shape_by_values(&self, seen: &Seen<'_>, work: &MeanVarianceEstimator, slopes: ShapeSlopes) -> f64 {
        let Seen { evaluations, prior, batch, .. } = *seen;
        let shared = prior.shared();
        let value = |s: usize| match shared {
            Some(_) => evaluations.log_p()[s],
            None => evaluations.log_p()[s] + prior.log_density(batch.draws.get(s)) - batch.log_q[s],
        };
        let kept = || (0..batch.n).filter(|s| work.weight[*s] > 0.0);
        let n = batch.n_kept() as f64;
        let mean: f64 = kept().map(|s| work.weight[s] * value(s)).sum();
        let sum: f64 = kept().map(|s| work.weight[s] * (value(s) - mean) * self.law.shape_score(work.w[s])).sum();
        let pull = shared.map_or(0.0, |shared| self.pull(shared, slopes.fisher));
        if n > 1.0 { sum * n / (n - 1.0) + pull } else { pull }
    }

    /// The slope in a of what a t prior that shares w adds to the bound besides its quadratic form.
    fn pull(&self, shared: SharedT<'_>, fisher: f64) -> f64 {
        (shared.centre(self.block.dim()) - self.law.parameter().unwrap_or(shared.a)) * fisher
    }

    /// Mean and standard error over the draws of log p + log p(z, w) − log q(z, w): the bound for a t prior that shares
    /// w, which lives on (z, w) (mathematics §2.2).
    ///
    /// Paper: eq. (18).
    pub(super) fn joint_elbo(
        &self,
        log_p: &[f64],
        prior: SharedT<'_>,
        work: &MeanVarianceEstimator,
        batch: &Batch,
    ) -> (f64, f64) {
        // Coordinates on which the prior is flat leave log q(z | w) its factor of each.
        let flat = self.block.dim() as f64 - prior.covered();
        let constant =
            0.5 * (prior.log_det() - self.block.scale().log_det_precision() + flat * std::f64::consts::TAU.ln());
        let mixing = InverseGamma::unchecked(prior.a);
        let value = |s: usize| {
            let (w, z) = (work.w[s], batch.draws.get(s));
            let exponent = 0.5 * ((work.forms[s].q - prior.square(z)) / w + flat * w.ln());
            let laws = mixing.log_mixing_density(w) - self.law.log_mixing_density(w);
            log_p[s] + constant + exponent + laws
        };
        batch.mean_and_error(0..batch.n, value)
    }
}
