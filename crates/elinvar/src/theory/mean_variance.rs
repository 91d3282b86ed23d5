//! The exact view of the mean–variance mixtures.

use super::{Exact, coordinates};
use crate::Error;
use crate::family::{Approximation, Family, Gradient, Kind, MeanVariance, Omega};
use crate::law::Law;
use crate::random::Stream;
use crate::special::gamma::{digamma_minus_log, inverse_digamma_minus_log, trigamma_minus_inv};

impl MeanVariance<'_> {
    /// Ω = E[ũũᵀ/s] and its inverse.
    fn omega(&self) -> (Vec<f64>, Vec<f64>) {
        Omega::of_law(&self.law)
    }

    /// ũ(w) and s(w).
    fn loading(&self, w: &[f64]) -> (Vec<f64>, f64) {
        assert_eq!(w.len(), 1, "w of a mean–variance mixture is one number");
        let mut u = vec![1.0];
        if self.law.is_shifted() {
            u.push(self.law.shift(w[0]));
        }
        (u, self.law.scale(w[0]))
    }
}

impl Exact for MeanVariance<'_> {
    coordinates::of_one_block!();

    fn statistics(&self, z: &[f64], w: &[f64]) -> Vec<f64> {
        let (u, s) = self.loading(w);
        coordinates::statistics(self.block.scale().shape(), z, &u, s)
    }

    fn log_joint_density(&self, z: &[f64], w: &[f64]) -> f64 {
        let (u, s) = self.loading(w);
        coordinates::log_conditional(self.block, z, &u, s) + self.law.log_mixing_density(w[0])
    }

    fn draw_joint(&self, stream: &mut Stream) -> (Vec<f64>, Vec<f64>) {
        let w = vec![self.law.sample(stream)];
        let mut eps = vec![0.0; self.block.dim()];
        stream.fill_normal(&mut eps);
        let (u, s) = self.loading(&w);
        (coordinates::place(self.block, eps, &u, s), w)
    }
}

/// The block of the shape a of a `student_t`, which the z block does not involve (mathematics §2.1).
impl Approximation {
    /// m_a = E[−1/w − log w] = ψ(a) − log a − 1, below −1; `None` for another family.
    ///
    /// Paper: §4.2, App. D.
    pub fn expectation_a(&self) -> Option<f64> {
        Some(digamma_minus_log(self.shape_a()?) - 1.0)
    }

    /// F_a = ∂m_a/∂a = ψ′(a) − 1/a; `None` for another family.
    ///
    /// Paper: §4.2, App. D.
    pub fn fisher_a(&self) -> Option<f64> {
        self.shape_a().map(trigamma_minus_inv)
    }

    /// The `student_t` with the same (μ, P) and the shape whose expectation is m_a.
    ///
    /// # Errors
    /// [`Error::Domain`] unless m_a < −1 and its shape is above 1; [`Error::Shape`] if (B, P) is not that of a
    /// `student_t`.
    pub fn with_expectation_a(&self, m_a: f64) -> Result<Self, Error> {
        if !(m_a < -1.0 && m_a.is_finite()) {
            return Err(Error::Domain {
                parameter: "m_a",
                value: m_a,
                reason: "the expectation of −1/w − log w is below −1",
            });
        }
        let family = Family::student_t(inverse_digamma_minus_log(m_a + 1.0));
        Self::single(family, self.locations()[0].clone())
    }

    fn shape_a(&self) -> Option<f64> {
        match self.family().kind {
            Kind::Mixed { law: Law::InverseGamma(law) } => Some(law.shape()),
            _ => None,
        }
    }
}
