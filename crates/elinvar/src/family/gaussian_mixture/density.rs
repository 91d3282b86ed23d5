//! Density, derivatives and moments of a mixture at a point.

use super::GaussianMixture;
use crate::family::Density;
use crate::linalg::{axpy, dot};
use crate::special::logistic::log_sum_exp;
use crate::target::Shape;

impl GaussianMixture<'_> {
    /// log π_c + log N(z | μ_c, Σ_c) for every component.
    pub(crate) fn log_joint(&self, z: &[f64]) -> Vec<f64> {
        let mut logs = vec![0.0; self.components.len()];
        self.log_joint_into(z, &mut vec![0.0; 2 * z.len()], &mut logs);
        logs
    }

    /// [`GaussianMixture::log_joint`] with memory for two points.
    pub(crate) fn log_joint_into(&self, z: &[f64], memory: &mut [f64], logs: &mut [f64]) {
        let d = self.components[0].dim();
        assert_eq!(z.len(), d, "a point has {d} coordinates");
        let (difference, white) = memory.split_at_mut(d);
        for ((block, log_pi), log) in self.components.iter().zip(self.weights.log()).zip(logs) {
            difference.iter_mut().zip(z.iter().zip(block.column(0))).for_each(|(to, (z, mu))| *to = z - mu);
            block.scale().whiten(difference, white);
            let constant = block.scale().log_det_precision() - d as f64 * std::f64::consts::TAU.ln();
            *log = log_pi + 0.5 * (constant - dot(white, white));
        }
    }

    /// q(c | z) for every component.
    pub(crate) fn responsibilities(&self, z: &[f64]) -> Vec<f64> {
        let logs = self.log_joint(z);
        let total = log_sum_exp(&logs);
        logs.iter().map(|log| (log - total).exp()).collect()
    }

    /// a_c = P_c(μ_c − z).
    fn component_score(&self, c: usize, z: &[f64]) -> Vec<f64> {
        let block = &self.components[c];
        let difference: Vec<f64> = z.iter().zip(block.column(0)).map(|(z, mu)| mu - z).collect();
        let (mut white, mut score) = (vec![0.0; z.len()], vec![0.0; z.len()]);
        block.scale().whiten(&difference, &mut white);
        block.scale().factor_times(&white, &mut score);
        score
    }
}

impl Density for GaussianMixture<'_> {
    fn log_density(&self, z: &[f64]) -> f64 {
        log_sum_exp(&self.log_joint(z))
    }

    /// ∇log q = Σ_c r_c a_c.
    fn score(&self, z: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        for (c, r) in self.responsibilities(z).iter().enumerate() {
            axpy(*r, &self.component_score(c, z), out);
        }
    }

    /// ∇²log q = Σ_c r_c(a_c a_cᵀ − P_c) − g gᵀ with g = ∇log q.
    fn hessian(&self, z: &[f64], out: &mut [f64]) {
        let d = z.len();
        out.fill(0.0);
        let mut g = vec![0.0; d];
        for (c, r) in self.responsibilities(z).iter().enumerate() {
            let a = self.component_score(c, z);
            axpy(*r, &a, &mut g);
            Shape::Full(d).add_outer(*r, &a, out);
            let scale = self.components[c].scale();
            scale.shape().add_to_full(-r, scale.precision(), out);
        }
        Shape::Full(d).add_outer(-1.0, &g, out);
    }

    fn mean(&self) -> Vec<f64> {
        let mut mean = vec![0.0; self.components[0].dim()];
        for (c, block) in self.components.iter().enumerate() {
            axpy(self.weights.weight(c), block.column(0), &mut mean);
        }
        mean
    }

    /// Σ_c π_c(Σ_c + (μ_c − m)(μ_c − m)ᵀ).
    fn covariance(&self) -> Vec<f64> {
        let d = self.components[0].dim();
        let mean = self.mean();
        let (mut cov, mut part) = (vec![0.0; d * d], vec![0.0; d * d]);
        for (c, block) in self.components.iter().enumerate() {
            let weight = self.weights.weight(c);
            block.scale().covariance_into(&mut part);
            axpy(weight, &part, &mut cov);
            let difference: Vec<f64> = block.column(0).iter().zip(&mean).map(|(mu, m)| mu - m).collect();
            Shape::Full(d).add_outer(weight, &difference, &mut cov);
        }
        cov
    }
}
