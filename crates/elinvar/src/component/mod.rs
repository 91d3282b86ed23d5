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
mod exponential_family;
mod gamma;
mod held;
pub(crate) mod implicit;
mod inverse_gamma;
mod inverse_gaussian;
mod kind;
mod log_normal;
mod natural_gradient;
mod normal;
mod own;
mod von_mises;
mod weibull;

pub use kind::{Component, ComponentKind};
pub use own::{Derivatives, Own, OwnComponent, Range};

pub(crate) use beta::path_of_first_shape;
pub(crate) use exponential_family::{ExponentialFamily, ParameterMatrix, Parameters};
pub(crate) use own::OwnMember;

use beta::Beta;
use birnbaum_saunders::BirnbaumSaunders;
use birnbaum_saunders_learned::BirnbaumSaundersLearned;
use exponential::Exponential;
use gamma::Gamma;
use held::{GammaRate, InverseGammaScale};
use inverse_gamma::InverseGamma;
use inverse_gaussian::InverseGaussian;
use log_normal::LogNormal;
use normal::Normal;
use von_mises::VonMises;
use weibull::Weibull;
