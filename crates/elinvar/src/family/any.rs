//! A family chosen at run time.

use super::{Approximation, FactorGaussian, Kind, MixtureOfGaussians, State};
use super::{ExponentiallyModifiedGaussian, Gaussian, Nig, SkewGaussian, StudentT, SymmetricNig};
use crate::Error;
use crate::block::{Diagonal, Full};
use crate::target::Covariance;

/// Any member of any family, with a full or a diagonal scale matrix.
#[derive(Clone, Debug, PartialEq)]
pub enum AnyApproximation {
    /// `gaussian`, full.
    Gaussian(Gaussian<Full>),
    /// `gaussian`, diagonal.
    GaussianDiagonal(Gaussian<Diagonal>),
    /// `student_t`, full.
    StudentT(StudentT<Full>),
    /// `student_t`, diagonal.
    StudentTDiagonal(StudentT<Diagonal>),
    /// `skew`, full.
    Skew(SkewGaussian<Full>),
    /// `skew`, diagonal.
    SkewDiagonal(SkewGaussian<Diagonal>),
    /// `emg`, full.
    Emg(ExponentiallyModifiedGaussian<Full>),
    /// `emg`, diagonal.
    EmgDiagonal(ExponentiallyModifiedGaussian<Diagonal>),
    /// `nig`, full.
    Nig(Nig<Full>),
    /// `nig`, diagonal.
    NigDiagonal(Nig<Diagonal>),
    /// `snig`, full.
    Snig(SymmetricNig<Full>),
    /// `snig`, diagonal.
    SnigDiagonal(SymmetricNig<Diagonal>),
    /// `rank_k`, full.
    RankK(FactorGaussian<Full>),
    /// `rank_k`, diagonal.
    RankKDiagonal(FactorGaussian<Diagonal>),
    /// `mog`, full.
    Mog(MixtureOfGaussians<Full>),
    /// `mog`, diagonal.
    MogDiagonal(MixtureOfGaussians<Diagonal>),
}

/// Evaluates an expression with the concrete family of an [`AnyApproximation`] bound to a name.
///
/// ```
/// use elinvar::family::{Approximation, BlockState, State, with_approximation};
/// use elinvar::Family;
///
/// let block = BlockState { b: vec![0.0], precision: vec![1.0] };
/// let state = State { family: Family::gaussian(), dim: 1, blocks: vec![block], log_weights: vec![0.0] };
/// let any = elinvar::family::AnyApproximation::from_state(&state)?;
/// assert_eq!(with_approximation!(&any, q => q.mean()), [0.0]);
/// # Ok::<(), elinvar::Error>(())
/// ```
#[macro_export]
#[doc(hidden)]
macro_rules! __with_approximation {
    ($any:expr, $q:ident => $body:expr) => {
        match $any {
            $crate::family::AnyApproximation::Gaussian($q) => $body,
            $crate::family::AnyApproximation::GaussianDiagonal($q) => $body,
            $crate::family::AnyApproximation::StudentT($q) => $body,
            $crate::family::AnyApproximation::StudentTDiagonal($q) => $body,
            $crate::family::AnyApproximation::Skew($q) => $body,
            $crate::family::AnyApproximation::SkewDiagonal($q) => $body,
            $crate::family::AnyApproximation::Emg($q) => $body,
            $crate::family::AnyApproximation::EmgDiagonal($q) => $body,
            $crate::family::AnyApproximation::Nig($q) => $body,
            $crate::family::AnyApproximation::NigDiagonal($q) => $body,
            $crate::family::AnyApproximation::Snig($q) => $body,
            $crate::family::AnyApproximation::SnigDiagonal($q) => $body,
            $crate::family::AnyApproximation::RankK($q) => $body,
            $crate::family::AnyApproximation::RankKDiagonal($q) => $body,
            $crate::family::AnyApproximation::Mog($q) => $body,
            $crate::family::AnyApproximation::MogDiagonal($q) => $body,
        }
    };
}
pub use crate::__with_approximation as with_approximation;

macro_rules! convert {
    ($($variant:ident($kind:ty)),*) => {
        $(impl From<$kind> for AnyApproximation {
            fn from(q: $kind) -> Self {
                Self::$variant(q)
            }
        })*
    };
}

convert!(
    Gaussian(Gaussian<Full>),
    GaussianDiagonal(Gaussian<Diagonal>),
    StudentT(StudentT<Full>),
    StudentTDiagonal(StudentT<Diagonal>),
    Skew(SkewGaussian<Full>),
    SkewDiagonal(SkewGaussian<Diagonal>),
    Emg(ExponentiallyModifiedGaussian<Full>),
    EmgDiagonal(ExponentiallyModifiedGaussian<Diagonal>),
    Nig(Nig<Full>),
    NigDiagonal(Nig<Diagonal>),
    Snig(SymmetricNig<Full>),
    SnigDiagonal(SymmetricNig<Diagonal>),
    RankK(FactorGaussian<Full>),
    RankKDiagonal(FactorGaussian<Diagonal>),
    Mog(MixtureOfGaussians<Full>),
    MogDiagonal(MixtureOfGaussians<Diagonal>)
);

impl AnyApproximation {
    /// The approximation with these parameters.
    ///
    /// # Errors
    /// If a constant, a size or a matrix is not in its domain.
    pub fn from_state(state: &State) -> Result<Self, Error> {
        use Covariance::{Diagonal as D, Full as F};
        state.family.check()?;
        Ok(match (state.family.kind, state.family.covariance) {
            (Kind::Gaussian, F) => Gaussian::<Full>::from_state(state)?.into(),
            (Kind::Gaussian, D) => Gaussian::<Diagonal>::from_state(state)?.into(),
            (Kind::StudentT { .. }, F) => StudentT::<Full>::from_state(state)?.into(),
            (Kind::StudentT { .. }, D) => StudentT::<Diagonal>::from_state(state)?.into(),
            (Kind::Skew, F) => SkewGaussian::<Full>::from_state(state)?.into(),
            (Kind::Skew, D) => SkewGaussian::<Diagonal>::from_state(state)?.into(),
            (Kind::Emg, F) => ExponentiallyModifiedGaussian::<Full>::from_state(state)?.into(),
            (Kind::Emg, D) => ExponentiallyModifiedGaussian::<Diagonal>::from_state(state)?.into(),
            (Kind::Nig { .. }, F) => Nig::<Full>::from_state(state)?.into(),
            (Kind::Nig { .. }, D) => Nig::<Diagonal>::from_state(state)?.into(),
            (Kind::Snig { .. }, F) => SymmetricNig::<Full>::from_state(state)?.into(),
            (Kind::Snig { .. }, D) => SymmetricNig::<Diagonal>::from_state(state)?.into(),
            (Kind::RankK { .. }, F) => FactorGaussian::<Full>::from_state(state)?.into(),
            (Kind::RankK { .. }, D) => FactorGaussian::<Diagonal>::from_state(state)?.into(),
            (Kind::Mog { .. }, F) => MixtureOfGaussians::<Full>::from_state(state)?.into(),
            (Kind::Mog { .. }, D) => MixtureOfGaussians::<Diagonal>::from_state(state)?.into(),
            (Kind::Auto, _) => {
                return Err(Error::Unsupported {
                    wanted: "the family `auto`, as a state".into(),
                    instead: "`auto` is a request to a fit; a state belongs to a family".into(),
                });
            }
            (Kind::MogAuto, _) => {
                return Err(Error::Unsupported {
                    wanted: "a mixture whose number of components is `auto`, as a state".into(),
                    instead: "`auto` is a request to a fit; a state has so many components".into(),
                });
            }
        })
    }

    /// The parameters as plain data.
    pub fn state(&self) -> State {
        with_approximation!(self, q => q.state())
    }

    /// d.
    pub fn dim(&self) -> usize {
        with_approximation!(self, q => q.dim())
    }

    /// log q(z).
    ///
    /// # Panics
    /// If z has another number of coordinates.
    pub fn log_density(&self, z: &[f64]) -> f64 {
        with_approximation!(self, q => q.log_density(z))
    }

    /// ∇log q(z).
    pub fn score(&self, z: &[f64], out: &mut [f64]) {
        with_approximation!(self, q => q.score(z, out))
    }

    /// ∇²log q(z), a full d × d matrix.
    pub fn hessian(&self, z: &[f64], out: &mut [f64]) {
        with_approximation!(self, q => q.hessian(z, out))
    }

    /// E\[z\].
    pub fn mean(&self) -> Vec<f64> {
        with_approximation!(self, q => q.mean())
    }

    /// Cov\[z\], a full d × d matrix.
    pub fn covariance(&self) -> Vec<f64> {
        with_approximation!(self, q => q.covariance())
    }

    /// The entropy where the spec has a rule for it.
    pub fn entropy(&self) -> Option<f64> {
        with_approximation!(self, q => q.entropy())
    }
}
