//! A family chosen at run time.

use super::{Approximation, EfMixture, FactorGaussian, Kind, MixtureOfGaussians, State, TensorGaussian};
use super::{
    ExponentiallyModifiedGaussian, Gaussian, Nig, ProductMixture, ScaleMixture, SkewGaussian, StudentT, SymmetricNig,
};
use crate::Error;
use crate::block::{Diagonal, Full};
use crate::target::{Covariance, Support};

/// One line per approximation, in the order of the documentation: variant, type, and the kinds and scale matrices that are read as
/// it. [`with_approximation`] repeats the variants: an exported macro cannot be made by another one.
macro_rules! approximations {
    ($($(#[$doc:meta])* $variant:ident($type:ty) = ($kind:pat, $covariance:pat),)*) => {
        /// Any member of any family, with a full or a diagonal scale matrix.
        #[derive(Clone, Debug, PartialEq)]
        pub enum AnyApproximation {
            $($(#[$doc])* $variant($type),)*
        }

        $(impl From<$type> for AnyApproximation {
            fn from(q: $type) -> Self {
                Self::$variant(q)
            }
        })*

        fn read(state: &State) -> Result<AnyApproximation, Error> {
            Ok(match (state.family.kind, state.family.covariance) {
                $(($kind, $covariance) => <$type>::from_state(state)?.into(),)*
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
    };
}

approximations! {
    /// `gaussian`, full.
    Gaussian(Gaussian<Full>) = (Kind::Gaussian, Covariance::Full),
    /// `gaussian`, diagonal.
    GaussianDiagonal(Gaussian<Diagonal>) = (Kind::Gaussian, Covariance::Diagonal),
    /// `mog`, full.
    Mog(MixtureOfGaussians<Full>) = (Kind::Mog { .. }, Covariance::Full),
    /// `mog`, diagonal.
    MogDiagonal(MixtureOfGaussians<Diagonal>) = (Kind::Mog { .. }, Covariance::Diagonal),
    /// `student_t`, full.
    StudentT(StudentT<Full>) = (Kind::StudentT { .. }, Covariance::Full),
    /// `student_t`, diagonal.
    StudentTDiagonal(StudentT<Diagonal>) = (Kind::StudentT { .. }, Covariance::Diagonal),
    /// `skew`, full.
    Skew(SkewGaussian<Full>) = (Kind::Skew, Covariance::Full),
    /// `skew`, diagonal.
    SkewDiagonal(SkewGaussian<Diagonal>) = (Kind::Skew, Covariance::Diagonal),
    /// `emg`, full.
    Emg(ExponentiallyModifiedGaussian<Full>) = (Kind::Emg, Covariance::Full),
    /// `emg`, diagonal.
    EmgDiagonal(ExponentiallyModifiedGaussian<Diagonal>) = (Kind::Emg, Covariance::Diagonal),
    /// `nig`, full.
    Nig(Nig<Full>) = (Kind::Nig { .. }, Covariance::Full),
    /// `nig`, diagonal.
    NigDiagonal(Nig<Diagonal>) = (Kind::Nig { .. }, Covariance::Diagonal),
    /// `snig`, full.
    Snig(SymmetricNig<Full>) = (Kind::Snig { .. }, Covariance::Full),
    /// `snig`, diagonal.
    SnigDiagonal(SymmetricNig<Diagonal>) = (Kind::Snig { .. }, Covariance::Diagonal),
    /// `scale_mixture`, full.
    ScaleMixture(ScaleMixture<Full>) = (Kind::ScaleMixture { product: false, .. }, Covariance::Full),
    /// `scale_mixture`, diagonal.
    ScaleMixtureDiagonal(ScaleMixture<Diagonal>) = (Kind::ScaleMixture { product: false, .. }, Covariance::Diagonal),
    /// `scale_mixture` with a scale per coordinate.
    ProductMixture(ProductMixture) = (Kind::ScaleMixture { product: true, .. }, _),
    /// `rank_k`, full.
    RankK(FactorGaussian<Full>) = (Kind::RankK { .. }, Covariance::Full),
    /// `rank_k`, diagonal.
    RankKDiagonal(FactorGaussian<Diagonal>) = (Kind::RankK { .. }, Covariance::Diagonal),
    /// `ef_mixture` and `birnbaum_saunders`, whose components are products over the coordinates.
    EfMixture(EfMixture) = (Kind::EfMixture { .. }, _),
    /// `matrix`, full factors.
    Matrix(TensorGaussian<Full>) = (Kind::Matrix { .. }, Covariance::Full),
    /// `matrix`, diagonal factors.
    MatrixDiagonal(TensorGaussian<Diagonal>) = (Kind::Matrix { .. }, Covariance::Diagonal),
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
            $crate::family::AnyApproximation::ScaleMixture($q) => $body,
            $crate::family::AnyApproximation::ScaleMixtureDiagonal($q) => $body,
            $crate::family::AnyApproximation::ProductMixture($q) => $body,
            $crate::family::AnyApproximation::RankK($q) => $body,
            $crate::family::AnyApproximation::RankKDiagonal($q) => $body,
            $crate::family::AnyApproximation::EfMixture($q) => $body,
            $crate::family::AnyApproximation::Matrix($q) => $body,
            $crate::family::AnyApproximation::MatrixDiagonal($q) => $body,
            $crate::family::AnyApproximation::Mog($q) => $body,
            $crate::family::AnyApproximation::MogDiagonal($q) => $body,
        }
    };
}
pub use crate::__with_approximation as with_approximation;

impl AnyApproximation {
    /// The approximation with these parameters.
    ///
    /// # Errors
    /// If a constant, a size or a matrix is not in its domain.
    pub fn from_state(state: &State) -> Result<Self, Error> {
        state.family.check()?;
        read(state)
    }

    /// The parameters as plain data.
    pub fn state(&self) -> State {
        with_approximation!(self, q => q.state())
    }

    /// d.
    pub fn dim(&self) -> usize {
        with_approximation!(self, q => q.dim())
    }

    /// Where its draws live.
    pub fn support(&self) -> Support {
        with_approximation!(self, q => q.support())
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

    /// The entropy where there is a rule for it.
    pub fn entropy(&self) -> Option<f64> {
        with_approximation!(self, q => q.entropy())
    }
}
