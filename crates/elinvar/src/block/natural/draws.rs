//! A component at points: density, moments and draws, and the derivatives of draws.

use super::{Joint, Natural};
use crate::component::Component;
use crate::random::MixingNoise;
use crate::special::logistic::log_sum_exp;
use crate::target::Support;

impl Natural {
    /// Where z lives.
    pub(crate) fn support(&self) -> Support {
        match &self.law {
            Joint::Product(law) => law.coordinates[0].support(),
            Joint::Dirichlet(_) => Support::Simplex,
        }
    }

    /// log q_c(z).
    pub(crate) fn log_density(&self, z: &[f64]) -> f64 {
        match &self.law {
            Joint::Product(law) => law.coordinates.iter().zip(z).map(|(member, z)| member.log_density(*z)).sum(),
            Joint::Dirichlet(law) => law.log_density(z),
        }
    }

    /// Adds `weight` times ∇log q_c(z); on the simplex as a function of all coordinates.
    pub(crate) fn add_score(&self, weight: f64, z: &[f64], out: &mut [f64]) {
        match &self.law {
            Joint::Product(law) => {
                out.iter_mut().zip(z).zip(&law.coordinates).for_each(|((g, z), q)| *g += weight * q.score(*z));
            }
            Joint::Dirichlet(law) => {
                let parts = out.iter_mut().zip(z).zip(law.concentrations());
                parts.for_each(|((g, z), a)| *g += weight * ((a - 1.0) / z));
            }
        }
    }

    /// Adds `weight` times the diagonal of ∇²log q_c(z), which has no other entries.
    pub(crate) fn add_hessian(&self, weight: f64, z: &[f64], out: &mut [f64]) {
        let second = |i: usize| match &self.law {
            Joint::Product(law) => law.coordinates[i].second_derivative(z[i]),
            Joint::Dirichlet(law) => (1.0 - law.concentrations()[i]) / (z[i] * z[i]),
        };
        for (i, entry) in out.iter_mut().step_by(z.len() + 1).enumerate() {
            *entry += weight * second(i);
        }
    }

    /// E\[z_i\] and Var\[z_i\] of every coordinate.
    pub(crate) fn moments(&self) -> Vec<(f64, f64)> {
        match &self.law {
            Joint::Product(law) => law.coordinates.iter().map(Component::mean_and_variance).collect(),
            Joint::Dirichlet(law) => law.moments().collect(),
        }
    }

    /// Adds `weight` times the covariances of different coordinates.
    pub(crate) fn add_correlation(&self, weight: f64, covariance: &mut [f64]) {
        if let Joint::Dirichlet(law) = &self.law {
            law.add_correlation(weight, covariance);
        }
    }

    /// The entropy, where it has a closed form.
    pub(crate) fn entropy(&self) -> Option<f64> {
        match &self.law {
            Joint::Product(law) => law.coordinates.iter().map(Component::entropy).sum(),
            Joint::Dirichlet(law) => Some(law.entropy()),
        }
    }

    /// Coordinate `i` of a draw, which [`Natural::close`] makes one of the component.
    pub(crate) fn sample<N: MixingNoise + ?Sized>(&self, i: usize, noise: &mut N) -> f64 {
        match &self.law {
            Joint::Product(law) => {
                let member = &law.coordinates[i];
                member.support().inside(member.sample(noise))
            }
            Joint::Dirichlet(law) => law.sample_logarithm(i, noise),
        }
    }

    /// Joins the coordinates of a draw: gamma draws on the simplex are divided by their sum.
    pub(crate) fn close(&self, draw: &mut [f64]) {
        if let Joint::Dirichlet(_) = &self.law {
            let total = log_sum_exp(draw);
            draw.iter_mut().for_each(|z| *z = Support::Simplex.inside((*z - total).exp()));
        }
    }

    /// Adds `weight` times gᵀ∂z/∂η of a draw z, if the coordinates are joined; false for a product, whose members know
    /// their own derivatives.
    pub(crate) fn add_joint_path(&self, z: &[f64], g: &[f64], weight: f64, sums: &mut [f64]) -> bool {
        let Joint::Dirichlet(law) = &self.law else { return false };
        law.add_path(z, g, weight, sums);
        true
    }
}
