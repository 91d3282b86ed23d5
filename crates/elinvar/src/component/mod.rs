//! Univariate minimal exponential families: everything a finite mixture needs of its components, as scalar functions
//! (mathematics §5).
//!
//! q(z) = b(z) exp{⟨t(z), η⟩ − A(η)} with at most three natural parameters η. A component knows its own natural
//! gradient: with the implicit derivative ∂z/∂η of a draw and the Fisher matrix F, a mixture moves it by F⁻¹E[−h′(z)
//! ∂z/∂η].

mod beta;
mod birnbaum_saunders;
mod birnbaum_saunders_learned;
mod exponential;
mod gamma;
mod gamma_rate;
pub mod implicit;
mod inverse_gamma;
mod inverse_gamma_scale;
mod inverse_gaussian;
mod kind;
mod log_normal;
mod natural_gradient;
mod normal;
mod von_mises;
mod weibull;

pub use beta::Beta;
pub use birnbaum_saunders::BirnbaumSaunders;
pub use birnbaum_saunders_learned::BirnbaumSaundersLearned;
pub use exponential::Exponential;
pub use gamma::Gamma;
pub use gamma_rate::GammaRate;
pub use inverse_gamma::InverseGamma;
pub use inverse_gamma_scale::InverseGammaScale;
pub use inverse_gaussian::InverseGaussian;
pub use kind::{Component, ComponentKind};
pub use log_normal::LogNormal;
pub use normal::Normal;
pub use von_mises::VonMises;
pub use weibull::Weibull;

use crate::random::MixingNoise;
use crate::target::Support;

/// Natural, expectation or usual parameters, or statistics; entries from [`ExponentialFamily::N_FREE`] on are zero.
pub type Parameters = [f64; 3];
/// A matrix over [`Parameters`]; rows and columns from [`ExponentialFamily::N_FREE`] on are zero.
pub type ParameterMatrix = [[f64; 3]; 3];

/// A univariate minimal exponential family with its parameters.
///
/// Constants that are not learned (a fixed shape, say) belong to the value; every `with_…` keeps them.
///
/// Paper: §2, Definition 1, Theorem 1, eq. (1), eq. (5).
pub trait ExponentialFamily: Copy + PartialEq + Send + Sync + std::fmt::Debug {
    /// The word for it in files, commands and plots.
    const NAME: &'static str;
    /// Where z lives.
    const SUPPORT: Support;
    /// Names of the usual parameters that are learned, in the order of [`ExponentialFamily::parameters`].
    const PARAMETERS: &'static [&'static str];
    /// The constant that is not learned, if there is one: its name and usual value.
    const CONSTANT: Option<(&'static str, f64)>;
    /// Number of natural parameters.
    const N_FREE: usize = Self::PARAMETERS.len();

    /// A member with this constant (ignored where there is none) and standard parameters; `None` if it is not in its
    /// domain.
    fn standard(constant: f64) -> Option<Self>;
    /// The constant; zero where there is none.
    fn constant(&self) -> f64;
    /// The usual parameters.
    fn parameters(&self) -> Parameters;
    /// The member with these usual parameters, if they are in their domain.
    fn with_parameters(&self, parameters: Parameters) -> Option<Self>;

    /// η.
    fn natural(&self) -> Parameters;
    /// The member with natural parameters η, if they are in their domain.
    fn with_natural(&self, natural: Parameters) -> Option<Self>;
    /// m = E[t(z)].
    fn expectation(&self) -> Parameters;
    /// The member with expectation parameters m, if there is one.
    fn with_expectation(&self, expectation: Parameters) -> Option<Self>;
    /// F = ∂m/∂η.
    fn fisher(&self) -> ParameterMatrix;
    /// F⁻¹g: the natural gradient of a function whose gradient in η is g.
    ///
    /// Families whose F is close to singular for extreme parameters use its closed inverse.
    fn natural_gradient(&self, gradient: Parameters) -> Parameters {
        natural_gradient::by_cholesky(Self::N_FREE, &self.fisher(), gradient)
    }
    /// A(η).
    fn log_partition(&self) -> f64;
    /// t(z).
    fn statistics(&self, z: f64) -> Parameters;

    /// log q(z).
    fn log_density(&self, z: f64) -> f64;
    /// d log q/dz.
    fn score(&self, z: f64) -> f64;
    /// d² log q/dz².
    fn second_derivative(&self, z: f64) -> f64;
    /// E\[z\] and Var\[z\]; on the circle the mean direction and −2 log of the mean resultant length.
    fn mean_and_variance(&self) -> (f64, f64);
    /// The entropy, where it has a closed form.
    fn entropy(&self) -> Option<f64>;
    /// A draw.
    fn sample<N: MixingNoise + ?Sized>(&self, noise: &mut N) -> f64;
    /// ∂z/∂η of a draw z at fixed probability (mathematics §5 (5.1)).
    fn path_derivative(&self, z: f64) -> Parameters {
        implicit::path_derivative(self, z)
    }

    /// The member whose mean and variance (as [`ExponentialFamily::mean_and_variance`] has them) come closest to these.
    fn with_moments(&self, mean: f64, variance: f64) -> Option<Self>;

    /// Coordinates in which the parameters are free real numbers (logarithms of positive ones).
    fn chart(&self) -> Parameters;
    /// The member with these free coordinates, if they can be represented.
    fn with_chart(&self, coordinates: Parameters) -> Option<Self>;
    /// ∂η_i/∂chart_j.
    fn chart_jacobian(&self) -> ParameterMatrix;
}
