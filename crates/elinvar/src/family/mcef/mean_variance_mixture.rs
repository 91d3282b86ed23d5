//! The exact view of the mean–variance mixtures.

use super::{Mcef, check_length, coordinates};
use crate::Error;
use crate::block::{LocationGradient, ScaleMatrix};
use crate::family::mean_variance_mixture::LawOfKind;
use crate::family::{MeanVarianceMixture, StudentT};
use crate::law::{InverseGamma, MixingLaw};
use crate::random::Stream;
use crate::special::gamma::{digamma_minus_log, inverse_digamma_minus_log, trigamma_minus_inv};

impl<L: MixingLaw, S: ScaleMatrix> MeanVarianceMixture<L, S> {
    /// ũ(w) and s(w).
    fn loading(&self, w: &[f64]) -> (Vec<f64>, f64) {
        assert_eq!(w.len(), 1, "w of a mean–variance mixture is one number");
        let mut u = vec![1.0];
        if L::SHIFTED {
            u.push(self.law().shift(w[0]));
        }
        (u, self.law().scale(w[0]))
    }
}

impl<L: LawOfKind, S: ScaleMatrix> Mcef for MeanVarianceMixture<L, S> {
    fn n_mixing(&self) -> usize {
        0
    }

    fn natural(&self) -> Vec<f64> {
        coordinates::natural(self.block())
    }

    fn with_natural(&self, natural: &[f64]) -> Result<Self, Error> {
        let (d, r) = (self.block().dim(), self.block().n_columns());
        check_length(coordinates::count::<S>(d, r), natural)?;
        Self::new(*self.law(), coordinates::from_natural(d, r, natural)?)
    }

    fn expectation(&self) -> Vec<f64> {
        coordinates::expectation(self.block(), &self.omega().0)
    }

    fn with_expectation(&self, expectation: &[f64]) -> Result<Self, Error> {
        let (d, r) = (self.block().dim(), self.block().n_columns());
        check_length(coordinates::count::<S>(d, r), expectation)?;
        Self::new(*self.law(), coordinates::from_expectation(d, r, &self.omega().1, expectation)?)
    }

    fn statistics(&self, z: &[f64], w: &[f64]) -> Vec<f64> {
        let (u, s) = self.loading(w);
        coordinates::statistics::<S>(z, &u, s)
    }

    fn log_joint_density(&self, z: &[f64], w: &[f64]) -> f64 {
        let (u, s) = self.loading(w);
        coordinates::log_conditional(self.block(), z, &u, s) + self.law().log_mixing_density(w[0])
    }

    fn draw_joint(&self, stream: &mut Stream) -> (Vec<f64>, Vec<f64>) {
        let w = vec![self.law().sample(stream)];
        let mut eps = vec![0.0; self.block().dim()];
        stream.fill_normal(&mut eps);
        let (u, s) = self.loading(&w);
        (coordinates::place(self.block(), eps, &u, s), w)
    }

    fn log_partition(&self) -> f64 {
        coordinates::log_partition(self.block(), &self.omega().0)
    }

    fn fisher(&self) -> Vec<f64> {
        coordinates::fisher(self.block(), &self.omega().0)
    }

    fn natural_gradient(&self, gradient: &LocationGradient) -> Vec<f64> {
        coordinates::natural_gradient(self.block(), gradient, &self.omega().1)
    }
}

/// The block of the shape a, which the z block does not involve (mathematics §2.1).
impl<S: ScaleMatrix> StudentT<S> {
    /// m_a = E[−1/w − log w] = ψ(a) − log a − 1, below −1.
    ///
    /// Paper: §4.2, App. D.
    pub fn expectation_a(&self) -> f64 {
        digamma_minus_log(self.law().shape()) - 1.0
    }

    /// F_a = ∂m_a/∂a = ψ′(a) − 1/a.
    ///
    /// Paper: §4.2, App. D.
    pub fn fisher_a(&self) -> f64 {
        trigamma_minus_inv(self.law().shape())
    }

    /// The member with the same (μ, P) and the shape whose expectation is m_a.
    ///
    /// # Errors
    /// [`Error::Domain`] unless m_a < −1 and its shape is above 1.
    pub fn with_expectation_a(&self, m_a: f64) -> Result<Self, Error> {
        if !(m_a < -1.0 && m_a.is_finite()) {
            return Err(Error::Domain {
                parameter: "m_a",
                value: m_a,
                reason: "the expectation of −1/w − log w is below −1",
            });
        }
        Self::new(InverseGamma::new(inverse_digamma_minus_log(m_a + 1.0))?, self.block().clone())
    }
}
