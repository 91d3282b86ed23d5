//! The gradient of the bound of a mixture: E_c[∇h], E_c[∇²h] and E_c\[h\] for every component.

use super::GaussianMixture;
use super::draw::GaussianMixtureEstimator;
use crate::block::BlockGradient;
use crate::estimate::{Baseline, Curvature, FirstOrder, Sampling, ValuesOnly, add_curvature};
use crate::family::{Gradient, Seen};
use crate::linalg::axpy;

impl GaussianMixture<'_> {
    /// −E_c[∇h], E_c[∇²h] and E_c\[h\] with h = log q − log p (mathematics §1.3).
    pub(super) fn accumulate(
        &self,
        seen: &Seen<'_>,
        baseline: f64,
        work: &mut GaussianMixtureEstimator,
        out: &mut Gradient,
    ) {
        let Seen { evaluations, curvature, prior, batch } = *seen;
        let d = self.components[0].dim();
        let shape = self.components[0].scale().shape();
        let n_entries = shape.n_entries();
        for (s, h) in work.h.iter_mut().enumerate() {
            *h = batch.log_q[s] - evaluations.log_p()[s] - prior.log_density(batch.draws.get(s));
        }
        // Along z = μ_c + L_c⁻ᵀε both log p and log q have derivatives, and E_c[P_c(z − μ_c) ∇hᵀ] is E_c[∇²h].
        for ((slope, grad), score) in work.slopes.iter_mut().zip(evaluations.grads()).zip(&work.score) {
            *slope = grad - score;
        }
        for c in 0..self.components.len() {
            let gradient = &mut out.blocks[c];
            gradient.reset();
            let draws = work.draws_of(c);
            let mut expected_h = 0.0;
            for (s, weight) in draws.clone().zip(work.weights_of(c)) {
                if *weight == 0.0 {
                    continue;
                }
                expected_h += weight * (work.h[s] - baseline);
                if work.plan.curvature != Curvature::GradientFree {
                    axpy(*weight, evaluations.grad(s), &mut gradient.b);
                    axpy(-weight, &work.score[s * d..(s + 1) * d], &mut gradient.b);
                }
            }
            out.expected_h[c] = expected_h;
            if work.plan.curvature == Curvature::GradientFree {
                self.add_from_values(c, work, baseline, gradient);
                continue;
            }

            if !work.plan.pathwise {
                self.add_hessian_log_q(c, work, &mut gradient.g);
            }
            let hessian = if curvature.is_empty() { &[][..] } else { &curvature[c * n_entries..(c + 1) * n_entries] };
            // add_curvature multiplies by P(z − μ_c) = −a_c; the sign goes into a copy.
            let count = draws.len();
            let own = (c * work.n + draws.start) * d..(c * work.n + draws.end) * d;
            if work.plan.curvature.reads_residuals() {
                work.residual.iter_mut().zip(&work.scores[own]).for_each(|(to, from)| *to = -from);
            }
            let row = c * count..(c + 1) * count;
            let slopes = if work.plan.pathwise { &work.slopes[..] } else { evaluations.grads() };
            let input = FirstOrder {
                residual: &work.residual[..count * d],
                grad: &slopes[draws.start * d..draws.end * d],
                // Near the optimum ∇h is small everywhere, and at the centre no smaller than elsewhere.
                centre: if work.plan.pathwise { None } else { seen.centre(work.plan.curvature, c) },
                weight: &work.weight[row.clone()],
                price: &work.weight[row],
            };
            add_curvature(
                work.plan.curvature,
                shape,
                hessian,
                &input,
                &mut work.spare,
                &mut work.gram,
                &mut gradient.g,
            );
            let out = (&mut gradient.b[..], &mut gradient.g[..]);
            prior.add_to_block(self.components[c].b(), |_, _| 1.0, 1.0, shape, out);
            shape.complete(&mut gradient.g);
        }
    }

    /// −E_c[∇h] and E_c[∇²h] from the values of h.
    fn add_from_values(&self, c: usize, work: &mut GaussianMixtureEstimator, baseline: f64, out: &mut BlockGradient) {
        let d = self.components[0].dim();
        let draws = work.draws_of(c);
        let count = draws.len();
        let own = (c * work.n + draws.start) * d..(c * work.n + draws.end) * d;
        work.residual.iter_mut().zip(&work.scores[own]).for_each(|(to, from)| *to = -from);
        work.gram_weight[..count].copy_from_slice(&work.h[draws]);
        let values = ValuesOnly {
            residual: &work.residual[..count * d],
            loadings: &[],
            loadings_flip: false,
            weight: &work.weight[c * count..(c + 1) * count],
            baseline: match work.plan.sampling {
                Sampling::OwnDraws => Baseline::LeaveOneOut(work.plan.noise),
                // The weights of shared draws are no average of equals, for which the others' mean would be right.
                Sampling::Mixture | Sampling::Whole | Sampling::Implicit | Sampling::Stratified => {
                    Baseline::Given(baseline)
                }
            },
        };
        let scale = self.components[c].scale();
        values.add_gradient(scale, |_| 1.0, &mut work.gram_weight[..count], &mut work.gram, out);
        scale.shape().complete(&mut out.g);
    }

    /// G += E_c[Σ_j r_j(a_j a_jᵀ − P_j) − g_q g_qᵀ].
    fn add_hessian_log_q(&self, c: usize, work: &mut GaussianMixtureEstimator, g: &mut [f64]) {
        let (d, shape) = (self.components[0].dim(), self.components[0].scale().shape());
        let (n, draws) = (work.n, work.draws_of(c));
        let count = draws.len();
        let row = c * count..(c + 1) * count;
        for (j, block) in self.components.iter().enumerate() {
            let responsibility = &work.responsibility[j * n + draws.start..j * n + draws.end];
            let mut total = 0.0;
            for ((to, r), weight) in work.gram_weight.iter_mut().zip(responsibility).zip(&work.weight[row.clone()]) {
                *to = r * weight;
                total += *to;
            }
            axpy(-total, block.scale().precision(), g);
            // A component that no draw of c belongs to adds nothing but the cost of a product.
            if total > 1e-300 {
                let a = &work.scores[(j * n + draws.start) * d..(j * n + draws.end) * d];
                shape.add_weighted_gram(a, &work.gram_weight[..count], &mut work.gram, g);
            }
        }
        for (to, weight) in work.gram_weight.iter_mut().zip(&work.weight[row]) {
            *to = -weight;
        }
        let score = &work.score[draws.start * d..draws.end * d];
        shape.add_weighted_gram(score, &work.gram_weight[..count], &mut work.gram, g);
    }
}
