//! Expectations under a Gaussian, in closed form but for the prior of ℓ.

use super::curvature::Curving;
use super::{LinearRegression, Rows};
use crate::linalg::dot;
use crate::special::normal::HALF_LOG_TWO_PI;
use crate::special::trapezoid::Trapezoid;
use crate::target::{Covariance, Parts};

impl LinearRegression {
    /// Writes E log p, E∇log p and E∇²log p for (β, ℓ) ~ N(m, V).
    ///
    /// The factor e^{−2ℓ} moves the mean of β to m̃ = m_β − 2V_βℓ and leaves κ = e^{−2m_ℓ + 2V_ℓℓ}; under N(m̃, V_ββ)
    /// the sum of squares is R(m̃) + tr(V_ββ XᵀX), and its derivatives are those at m̃ (mathematics §12.6).
    pub(super) fn expect(
        &self,
        rows: Rows<'_>,
        mean: &[f64],
        (shape, covariance): (Covariance, &[f64]),
        parts: Parts<'_>,
    ) {
        let (p, d) = (mean.len() - 1, mean.len());
        let (n, share) = self.share(rows);
        let Parts { log_p, grad, mut curvature, scratch, work, .. } = parts;
        let (moved, memory) = scratch.take(d + self.memory_len()).split_at_mut(d);
        let (statistics, deviation) = self.statistics(rows, memory);
        let gram = &statistics[..p * p];
        moved.copy_from_slice(mean);
        let (variance, spread) = match shape {
            Covariance::Full => {
                moved[..p].iter_mut().zip(&covariance[p * d..]).for_each(|(m, c)| *m -= 2.0 * c);
                let columns = gram.chunks_exact(p).zip(covariance.chunks_exact(d));
                (covariance[d * d - 1], columns.map(|(gram, v)| dot(gram, &v[..p])).sum::<f64>())
            }
            Covariance::Diagonal => {
                let entries = gram.iter().step_by(p + 1).zip(covariance);
                (covariance[p], entries.map(|(gram, v)| gram * v).sum())
            }
        };
        let squares = self.scores(moved, statistics, deviation) + spread;
        let prec = (-2.0 * mean[p] + 2.0 * variance).exp();
        let sd = variance.sqrt();
        // e^{2ℓ} moves the mass by two standard deviations; a half-Cauchy law has poles at ℓ = log s ± iπ/2.
        let rule = Trapezoid::new(0.5 * std::f64::consts::PI / sd, 2.0 * sd);
        let mut noise = [0.0; 3];
        for (u, weight) in rule.nodes() {
            let at = self.noise_prior.log_density(mean[p] + sd * u);
            noise.iter_mut().zip(at).for_each(|(sum, value)| *sum += weight * value);
        }
        log_p[0] = -n * (mean[p] + HALF_LOG_TWO_PI) - 0.5 * prec * squares + share * noise[0];
        grad[..p].iter_mut().zip(&deviation[p..]).for_each(|(g, a)| *g = prec * a);
        grad[p] = prec * squares - n + share * noise[1];
        let at = Curving { prec, squares, cross: 2.0, noise: noise[2], share };
        at.add(1.0, gram, &deviation[p..], shape, curvature.entries_mut(0));
        // A gradient is a product with XᵀX as well.
        *work = 1;
    }
}
