//! Mixing laws q(w): everything a mean–variance mixture needs of them, as scalar functions.
//!
//! The family is z | w ~ N(μ + u(w) α, s(w) Σ), w ~ q(w) (mathematics §0.5). With P = Σ⁻¹, Q = (z−μ)ᵀP(z−μ), L =
//! (z−μ)ᵀPα and κ = αᵀPα, all that the algorithms ask of q(w) is a function of (Q, L, κ, d). There is no linear algebra
//! here.

pub(crate) mod exponential;
pub(crate) mod generalised_hyperbolic;
pub(crate) mod half_normal;
pub(crate) mod independent;
mod integral;
pub(crate) mod inverse_gamma;
pub(crate) mod inverse_gaussian;
pub(crate) mod lambda;
pub(crate) mod logistic;
pub(crate) mod mixing_law;
mod own;
pub(crate) mod point_mass;
pub(crate) mod reciprocal_inverse_gaussian;
mod registered;
pub(crate) mod variance_gamma;

pub(crate) use own::problem_of;
pub use own::{Own, OwnLaw, Role};
pub use registered::Law;

pub(crate) use exponential::Exponential;
pub(crate) use generalised_hyperbolic::GeneralisedHyperbolic;
pub(crate) use half_normal::HalfNormal;
pub(crate) use independent::{Independent, MOST_DIRECTIONS};
pub(crate) use inverse_gamma::InverseGamma;
pub(crate) use inverse_gaussian::InverseGaussian;
pub(crate) use inverse_gaussian::sample_inverse_gaussian;
pub(crate) use logistic::Logistic;
pub(crate) use mixing_law::{
    Conditional, Entropy, Forms, MixingLaw, Moments, PathOfDraw, ShapeSlopes, SkewnessOfShift, TwoPoint,
};
pub(crate) use point_mass::PointMass;
pub(crate) use reciprocal_inverse_gaussian::ReciprocalInverseGaussian;
pub(crate) use variance_gamma::VarianceGamma;

pub(crate) use crate::random::MixingNoise;
use mixing_law::entropy_of_radius;
