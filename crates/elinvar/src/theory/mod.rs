//! The slow exact view of the theory: coordinates, statistics and the Fisher matrix of the joint q(z, w); never called
//! while fitting. And the parts of a step ([`Stepping`], [`Estimator`]), for loops of one's own.

mod coordinates;
mod ef_mixture;
mod factor;
mod gaussian_mixture;
mod gradients;
mod mean_variance;
mod multilinear;
mod product;
mod tensor;

pub use multilinear::Multilinear;

pub use crate::block::gradient::BlockGradient;
pub use crate::family::batch::{Batch, DrawPlan};
pub use crate::family::estimator::{Estimator, NoiseKey, Seen};
pub use crate::family::gradient::Gradient;
pub use crate::family::step::{Scratch, StepRequest};
pub use crate::family::stepping::Stepping;
pub use crate::rule::adam_like::{AdamLikeMemory, AdamLikeRequest};
pub use crate::rule::taken::Taken;

use crate::Error;
use crate::family::{Approximation, Member};
use crate::random::Stream;

/// What is written for [`Approximation`] and cannot be for another type.
mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Approximation {}
}

/// A minimal conditional exponential family: q(z | w) and q(w) are exponential families and the maps η → m are
/// one-to-one (mathematics §0.4).
///
/// Every vector has the same order: for each component the columns of the B part, then the lower triangle of the Σ part
/// column by column (its diagonal, when the scale matrix is diagonal); after all components the coordinates of q(w), if
/// q(w) has any that are learned here. Natural coordinates are the entries of η_B = PB and η_S = −½P. Statistics and
/// expectations are in the dual coordinates, in which ⟨t, η⟩ is a plain sum of products: an off-diagonal entry of the Σ
/// part is twice the entry of the matrix, because a symmetric matrix has it twice.
///
/// w is one number for a mean–variance mixture (of no effect for the Gaussian), one for each coordinate of a product of
/// scale mixtures, k numbers for a factor Gaussian, and the label 0, 1, …, K−1 for a mixture.
///
/// A `matrix` is none: it is [`Multilinear`], and every method but that panics for it.
///
/// Paper: §3, Definition 2, Definition 3, Theorem 2.
/// Paper: eq. (7), eq. (8), eq. (9), eq. (10), eq. (11), eq. (12), eq. (13), eq. (14).
pub trait Mcef: Sized + sealed::Sealed {
    /// Number of coordinates of q(w) at the end of every vector.
    fn n_mixing(&self) -> usize;

    /// η.
    fn natural(&self) -> Vec<f64>;
    /// The member with natural coordinates η; constants of the family stay as they are.
    ///
    /// # Errors
    /// [`Error::Shape`] for another number of coordinates, [`Error::NotPositiveDefinite`] if −η_S is not.
    fn with_natural(&self, natural: &[f64]) -> Result<Self, Error>;

    /// m = E[t(z, w)].
    fn expectation(&self) -> Vec<f64>;
    /// The member with expectation coordinates m: the inverse of [`Mcef::expectation`].
    ///
    /// # Errors
    /// [`Error::Shape`] for another number of coordinates, [`Error::NotPositiveDefinite`] or [`Error::Domain`] outside
    /// the valid set.
    fn with_expectation(&self, expectation: &[f64]) -> Result<Self, Error>;

    /// t(z, w).
    ///
    /// # Panics
    /// If w does not have as many numbers as the family says.
    fn statistics(&self, z: &[f64], w: &[f64]) -> Vec<f64>;
    /// log q(z, w).
    ///
    /// # Panics
    /// As [`Mcef::statistics`].
    fn log_joint_density(&self, z: &[f64], w: &[f64]) -> f64;
    /// One draw of (z, w).
    fn draw_joint(&self, stream: &mut Stream) -> (Vec<f64>, Vec<f64>);

    /// The averaged log-partition Ā = E[A_z(η_z, w)]: with η_w fixed its gradient in η_z is m_z and its Hessian F_z.
    fn log_partition(&self) -> f64;
    /// The Fisher matrix of q(z, w) in natural coordinates, n × n; the blocks of η_z and η_w do not mix.
    fn fisher(&self) -> Vec<f64>;
    /// F⁻¹∇_η L = ∇_m L (each block with the other fixed) of a bound with this gradient: the direction of the plain
    /// step in η.
    ///
    /// Paper: §3, Theorem 3.
    fn natural_gradient(&self, gradient: &Gradient) -> Vec<f64>;
}

/// The same for a member as its family reads it; `q` is that member.
trait Exact {
    fn n_mixing(&self) -> usize {
        0
    }
    fn natural(&self) -> Vec<f64>;
    fn with_natural(&self, q: &Approximation, natural: &[f64]) -> Result<Approximation, Error>;
    fn expectation(&self) -> Vec<f64>;
    fn with_expectation(&self, q: &Approximation, expectation: &[f64]) -> Result<Approximation, Error>;
    fn statistics(&self, z: &[f64], w: &[f64]) -> Vec<f64>;
    fn log_joint_density(&self, z: &[f64], w: &[f64]) -> f64;
    fn draw_joint(&self, stream: &mut Stream) -> (Vec<f64>, Vec<f64>);
    fn log_partition(&self) -> f64;
    fn fisher(&self) -> Vec<f64>;
    fn natural_gradient(&self, gradient: &Gradient) -> Vec<f64>;
}

/// Calls a method of the exact view of a member.
fn exact<R>(q: &Approximation, f: impl FnOnce(&dyn Exact) -> R) -> R {
    match Member::of(q) {
        Member::MeanVariance(member) => f(&member),
        Member::GaussianMixture(member) => f(&member),
        Member::Factor(member) => f(&member),
        Member::Product(member) => f(&member),
        Member::EfMixture(member) => f(&member),
        Member::Own(_) => panic!("a family of your own has the coordinates that it was given"),
        Member::Tensor(_) => panic!("a `matrix` is multilinear: it has blocks of natural coordinates"),
    }
}

impl Mcef for Approximation {
    fn n_mixing(&self) -> usize {
        exact(self, |q| q.n_mixing())
    }

    fn natural(&self) -> Vec<f64> {
        exact(self, |q| q.natural())
    }

    fn with_natural(&self, natural: &[f64]) -> Result<Self, Error> {
        exact(self, |q| q.with_natural(self, natural))
    }

    fn expectation(&self) -> Vec<f64> {
        exact(self, |q| q.expectation())
    }

    fn with_expectation(&self, expectation: &[f64]) -> Result<Self, Error> {
        exact(self, |q| q.with_expectation(self, expectation))
    }

    fn statistics(&self, z: &[f64], w: &[f64]) -> Vec<f64> {
        exact(self, |q| q.statistics(z, w))
    }

    fn log_joint_density(&self, z: &[f64], w: &[f64]) -> f64 {
        exact(self, |q| q.log_joint_density(z, w))
    }

    fn draw_joint(&self, stream: &mut Stream) -> (Vec<f64>, Vec<f64>) {
        exact(self, |q| q.draw_joint(stream))
    }

    fn log_partition(&self) -> f64 {
        exact(self, |q| q.log_partition())
    }

    fn fisher(&self) -> Vec<f64> {
        exact(self, |q| q.fisher())
    }

    fn natural_gradient(&self, gradient: &Gradient) -> Vec<f64> {
        exact(self, |q| q.natural_gradient(gradient))
    }
}

fn check_length(expected: usize, coordinates: &[f64]) -> Result<(), Error> {
    if coordinates.len() == expected {
        Ok(())
    } else {
        Err(Error::Shape { what: "coordinates", expected, found: coordinates.len() })
    }
}
