//! The slow exact view of a multilinear exponential family.

use crate::Error;
use crate::family::Gradient;

/// q(z | η) = b(z) exp{f(z, η) − A(η)} with η = (η_1, …, η_K) and f linear in each block given the others (mathematics
/// §0.7).
///
/// Each block given the others is an exponential family: f = ⟨η_k, t_k(z, η_−k)⟩ + rest, with m_k = E\[t_k\] = ∇_{η_k}
/// A and F_k = ∂m_k/∂η_k. The natural gradient of a block is its gradient in m_k, the others fixed; Fisher terms
/// between blocks are left out of it. Vectors of a symmetric block hold its lower triangle column by column (its
/// diagonal, when it is diagonal); statistics and expectations are in the dual coordinates, in which ⟨t, η⟩ is a plain
/// sum of products.
///
/// Paper: §5, Definition 4, Theorem 4, eq. (25), eq. (26), eq. (27), eq. (28), App. I.
pub trait Multilinear: Sized + super::sealed::Sealed {
    /// K.
    fn n_natural_blocks(&self) -> usize;

    /// η_k.
    fn natural_block(&self, k: usize) -> Vec<f64>;
    /// The member with another η_k.
    ///
    /// # Errors
    /// [`Error::Shape`] for another number of coordinates, [`Error::NotPositiveDefinite`] or [`Error::Domain`] outside
    /// the domain.
    fn with_natural_block(&self, k: usize, natural: &[f64]) -> Result<Self, Error>;

    /// m_k = E[t_k(z, η_−k)].
    fn expectation_block(&self, k: usize) -> Vec<f64>;
    /// The member with another m_k and the same η_−k: the inverse of [`Multilinear::expectation_block`].
    ///
    /// # Errors
    /// As [`Multilinear::with_natural_block`].
    fn with_expectation_block(&self, k: usize, expectation: &[f64]) -> Result<Self, Error>;

    /// t_k(z, η_−k).
    fn statistics_block(&self, k: usize, z: &[f64]) -> Vec<f64>;
    /// A(η).
    fn multilinear_log_partition(&self) -> f64;
    /// F_k, n × n.
    fn fisher_block(&self, k: usize) -> Vec<f64>;
    /// F_k⁻¹∇_{η_k} L = ∇_{m_k} L (the others fixed) of a bound with this gradient: the direction of a plain step of
    /// the block.
    fn natural_gradient_block(&self, k: usize, gradient: &Gradient) -> Vec<f64>;
}
