//! Density, derivatives and moments of a mixture of exponential families at a point.

use super::EfMixture;
use crate::family::Density;
use crate::linalg::axpy;
use crate::special::logistic::log_sum_exp;
use crate::target::{Shape, Support};

impl EfMixture<'_> {
    /// log q_c(z).
    pub(super) fn log_component(&self, c: usize, z: &[f64]) -> f64 {
        self.components[c].log_density(z)
    }

    /// log π_c + log q_c(z) for every component.
    pub(crate) fn log_joint(&self, z: &[f64]) -> Vec<f64> {
        assert_eq!(z.len(), self.dim(), "a point has {} coordinates", self.dim());
        self.weights.log().iter().enumerate().map(|(c, log_pi)| log_pi + self.log_component(c, z)).collect()
    }

    /// q(c | z) for every component.
    pub(crate) fn responsibilities(&self, z: &[f64]) -> Vec<f64> {
        let logs = self.log_joint(z);
        let total = log_sum_exp(&logs);
        logs.iter().map(|log| (log - total).exp()).collect()
    }

    fn component_score(&self, c: usize, z: &[f64]) -> Vec<f64> {
        let mut score = vec![0.0; z.len()];
        self.components[c].add_score(1.0, z, &mut score);
        score
    }

    /// Mean direction and mean resultant length R of coordinate `i`.
    fn resultant(&self, i: usize) -> (f64, f64) {
        let (mut x, mut y) = (0.0, 0.0);
        for c in 0..self.n_components() {
            let (direction, variance) = self.component(c)[i].mean_and_variance();
            let length = self.weights.weight(c) * (-0.5 * variance).exp();
            x += length * direction.cos();
            y += length * direction.sin();
        }
        (y.atan2(x), x.hypot(y))
    }
}

impl Density for EfMixture<'_> {
    fn log_density(&self, z: &[f64]) -> f64 {
        log_sum_exp(&self.log_joint(z))
    }

    /// ∇log q = Σ_c r_c a_c with a_c = ∇log q_c.
    fn score(&self, z: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        for (c, r) in self.responsibilities(z).iter().enumerate().filter(|(_, r)| **r != 0.0) {
            axpy(*r, &self.component_score(c, z), out);
        }
    }

    /// ∇²log q = Σ_c r_c(a_c a_cᵀ + diag(log q_c)″) − g gᵀ with g = ∇log q.
    fn hessian(&self, z: &[f64], out: &mut [f64]) {
        let d = self.dim();
        out.fill(0.0);
        let mut g = vec![0.0; d];
        for (c, r) in self.responsibilities(z).iter().enumerate().filter(|(_, r)| **r != 0.0) {
            let a = self.component_score(c, z);
            axpy(*r, &a, &mut g);
            Shape::Full(d).add_outer(*r, &a, out);
            self.components[c].add_hessian(*r, z, out);
        }
        Shape::Full(d).add_outer(-1.0, &g, out);
    }

    /// E\[z\]; on the circle the mean direction.
    fn mean(&self) -> Vec<f64> {
        if self.support() == Support::Circle {
            return (0..self.dim()).map(|i| self.resultant(i).0).collect();
        }
        let mut mean = vec![0.0; self.dim()];
        for (c, component) in self.components.iter().enumerate() {
            let weight = self.weights.weight(c);
            mean.iter_mut().zip(component.moments()).for_each(|(sum, (own, _))| *sum += weight * own);
        }
        mean
    }

    /// Σ_c π_c(Cov_c + (m_c − m)(m_c − m)ᵀ); on the circle −2 log R on the diagonal and zero elsewhere.
    fn covariance(&self) -> Vec<f64> {
        let d = self.dim();
        let mut cov = vec![0.0; d * d];
        if self.support() == Support::Circle {
            for i in 0..d {
                // The uniform law has R = 0 and is as wide as a law can be.
                cov[i * d + i] = -2.0 * self.resultant(i).1.max(f64::MIN_POSITIVE).ln();
            }
            return cov;
        }
        let mean = self.mean();
        for c in 0..self.n_components() {
            let weight = self.weights.weight(c);
            let moments = self.components[c].moments();
            let difference: Vec<f64> = moments.iter().zip(&mean).map(|((own, _), mean)| own - mean).collect();
            Shape::Full(d).add_outer(weight, &difference, &mut cov);
            moments.iter().enumerate().for_each(|(i, (_, variance))| cov[i * d + i] += weight * variance);
            self.components[c].add_correlation(weight, &mut cov);
        }
        cov
    }

    fn entropy(&self) -> Option<f64> {
        if self.n_components() == 1 { self.components[0].entropy() } else { None }
    }

    fn takes_curvature(&self) -> bool {
        false
    }

    fn takes_values_alone(&self) -> bool {
        false
    }
}
