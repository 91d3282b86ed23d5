//! A finite mixture of Gaussians as a target.

use super::gaussian::factor;
use crate::Error;
use crate::linalg::{axpy, cholesky, dot, products};
use crate::target::{About, Answer, Ask, Derivatives, Offers, Parts, Room, Target, TargetError, Want};

/// p(z) = Σ_c π_c N(z | m_c, Σ_c), normalised (log Z = 0).
///
/// With responsibilities r_c and component scores s_c = −Σ_c⁻¹(z − m_c): gradient g = Σ r_c s_c, Hessian
/// Σ r_c {(s_c − g)(s_c − g)ᵀ − Σ_c⁻¹} (mathematics §1).
#[derive(Clone, Debug, PartialEq)]
pub struct GaussianMixture {
    dim: usize,
    /// log π_c + ½ log|P_c| − (d/2) log 2π.
    log_peaks: Vec<f64>,
    means: Vec<f64>,
    /// P_c, or empty when all are the identity.
    precisions: Vec<f64>,
}

impl GaussianMixture {
    /// The mixture with these weights (normalised here), means (one after the other) and d × d covariances.
    ///
    /// # Errors
    /// If a size is wrong, a weight is not positive or a covariance not positive definite.
    pub fn new(weights: &[f64], means: Vec<f64>, covariances: &[f64]) -> Result<Self, Error> {
        let mut mixture = Self::isotropic_weighted(weights, means)?;
        let (d, n) = (mixture.dim, weights.len());
        if covariances.len() != n * d * d {
            return Err(Error::Shape { what: "covariances", expected: n * d * d, found: covariances.len() });
        }
        mixture.precisions = vec![0.0; n * d * d];
        let mut workspace = cholesky::Workspace::new(d);
        for (c, (cov, prec)) in
            covariances.chunks_exact(d * d).zip(mixture.precisions.chunks_exact_mut(d * d)).enumerate()
        {
            let l = factor(d, cov, "the covariance of a component")?;
            cholesky::inverse(d, &l, prec, &mut workspace);
            products::mirror_lower(d, prec);
            mixture.log_peaks[c] -= 0.5 * cholesky::log_det(d, &l);
        }
        Ok(mixture)
    }

    /// The equally weighted mixture of N(u_c, I) of mathematics §9.1, its centres one after the other.
    ///
    /// # Errors
    /// If `centres` is not a whole number of points of dimension `dim`.
    pub fn isotropic(dim: usize, centres: Vec<f64>) -> Result<Self, Error> {
        if dim == 0 || centres.is_empty() || !centres.len().is_multiple_of(dim) {
            return Err(Error::Shape {
                what: "coordinates of the centres",
                expected: dim.max(1),
                found: centres.len(),
            });
        }
        Self::isotropic_weighted(&vec![1.0; centres.len() / dim], centres)
    }

    fn isotropic_weighted(weights: &[f64], means: Vec<f64>) -> Result<Self, Error> {
        if weights.is_empty() || means.is_empty() || !means.len().is_multiple_of(weights.len()) {
            return Err(Error::Shape { what: "means", expected: weights.len().max(1), found: means.len() });
        }
        if let Some(bad) = weights.iter().find(|w| !(**w > 0.0 && w.is_finite())) {
            return Err(Error::Domain { parameter: "weight", value: *bad, reason: "it must be positive and finite" });
        }
        if let Some(bad) = means.iter().find(|v| !v.is_finite()) {
            return Err(Error::Domain { parameter: "mean", value: *bad, reason: "it must be finite" });
        }
        let dim = means.len() / weights.len();
        let total: f64 = weights.iter().sum();
        let half_log_tau = 0.5 * dim as f64 * std::f64::consts::TAU.ln();
        let log_peaks = weights.iter().map(|w| (w / total).ln() - half_log_tau).collect();
        Ok(Self { dim, log_peaks, means, precisions: Vec::new() })
    }

    /// Number of components.
    pub fn n_components(&self) -> usize {
        self.log_peaks.len()
    }

    /// log p(z); writes the responsibilities and the component scores.
    fn components(&self, z: &[f64], responsibilities: &mut [f64], scores: &mut [f64], deviation: &mut [f64]) -> f64 {
        let d = self.dim;
        let mut largest = f64::NEG_INFINITY;
        for (c, score) in scores.chunks_exact_mut(d).enumerate() {
            let mean = &self.means[c * d..(c + 1) * d];
            deviation.iter_mut().zip(mean.iter().zip(z)).for_each(|(r, (m, z))| *r = m - z);
            if self.precisions.is_empty() {
                score.copy_from_slice(deviation);
            } else {
                score.fill(0.0);
                products::add_product(&self.precisions[c * d * d..(c + 1) * d * d], deviation, d, d, 1, score);
            }
            responsibilities[c] = self.log_peaks[c] - 0.5 * dot(score, deviation);
            largest = largest.max(responsibilities[c]);
        }
        let mut total = 0.0;
        for r in responsibilities.iter_mut() {
            *r = (*r - largest).exp();
            total += *r;
        }
        responsibilities.iter_mut().for_each(|r| *r /= total);
        largest + total.ln()
    }

    fn memory_len(&self) -> usize {
        self.n_components() * (self.dim + 1) + self.dim
    }

    /// (responsibilities, scores, deviation).
    fn split<'a>(&self, memory: &'a mut [f64]) -> [&'a mut [f64]; 3] {
        let (responsibilities, memory) = memory.split_at_mut(self.n_components());
        let (scores, deviation) = memory.split_at_mut(self.n_components() * self.dim);
        [responsibilities, scores, deviation]
    }
}

impl Target for GaussianMixture {
    fn about(&self) -> About {
        let offers = Offers { values: true, hessian: true, ..Offers::GRADIENT };
        let room = Room { once: self.memory_len(), ..Room::default() };
        About { offers, derivatives: Derivatives::Known, room, ..About::new(self.dim) }
    }

    fn evaluate(&self, ask: &Ask<'_>, answer: &mut Answer) -> Result<(), TargetError> {
        let d = self.dim;
        let Parts { log_p, grad, curvature: mut out, scratch, .. } = answer.parts_mut();
        let [responsibilities, scores, deviation] = self.split(scratch.take(self.memory_len()));
        for (s, (z, log_p)) in ask.draws.iter().zip(log_p).enumerate() {
            *log_p = self.components(z, responsibilities, scores, deviation);
            if matches!(ask.want, Want::Values) {
                continue;
            }
            let grad = &mut grad[s * d..(s + 1) * d];
            grad.fill(0.0);
            for (r, score) in responsibilities.iter().zip(scores.chunks_exact(d)) {
                axpy(*r, score, grad);
            }
            let Some(contraction) = ask.contraction() else { continue };
            scores.chunks_exact_mut(d).for_each(|score| axpy(-1.0, grad, score));
            for (k, weight) in contraction.of_draw(s).filter(|(_, weight)| *weight != 0.0) {
                for (c, (r, score)) in responsibilities.iter().zip(scores.chunks_exact(d)).enumerate() {
                    // Far components have r = 0 exactly and would cost as much as the near ones.
                    if *r == 0.0 {
                        continue;
                    }
                    out.add_outer(k, weight * r, score);
                    if !self.precisions.is_empty() {
                        out.add_matrix(k, -weight * r, &self.precisions[c * d * d..(c + 1) * d * d]);
                    }
                }
                if self.precisions.is_empty() {
                    out.add_identity(k, -weight);
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::Draws;

    #[test]
    fn unit_covariances_written_out_agree_with_the_isotropic_mixture() {
        let centres = vec![0.0, 1.0, -2.0, 3.0, 5.0, 5.0];
        let unit = [1.0, 0.0, 0.0, 1.0].repeat(3);
        let a = GaussianMixture::isotropic(2, centres.clone()).unwrap();
        let b = GaussianMixture::new(&[2.0, 2.0, 2.0], centres, &unit).unwrap();
        let z = [0.3, 0.2, 40.0, -3.0];
        let (mut out_a, mut out_b) = (Answer::new(2, 2), Answer::new(2, 2));
        let ask = Ask::all(Draws::new(2, &z), Want::Gradients);
        a.evaluate(&ask, &mut out_a).unwrap();
        b.evaluate(&ask, &mut out_b).unwrap();
        assert!(out_a.log_p().iter().zip(out_b.log_p()).all(|(a, b)| (a - b).abs() < 1e-13 * a.abs()));
        assert!(out_a.grads().iter().zip(out_b.grads()).all(|(a, b)| (a - b).abs() < 1e-12));
        assert!(GaussianMixture::new(&[1.0, -1.0], vec![0.0; 4], &unit[..8]).is_err());
        assert!(GaussianMixture::isotropic(2, vec![0.0; 3]).is_err());
    }
}
