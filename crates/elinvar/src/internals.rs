//! What the tests, the checks and the experiments of this repository need beyond the surface: formulas by themselves,
//! and the parts of a step. Behind the feature `internals`, hidden, and without any promise: it changes as the sources
//! do. Who writes a loop of their own finds the parts of a step, with their documentation, in `theory`.
//!
//! A method that only this crate may call is opened by a trait with a method of the same name.

use crate::Posterior;
use crate::block::{LogWeights, Scale};
use crate::component::Component;
use crate::law::Law;
use crate::plan::Plan;
use crate::record::{Agreement, Rung};
use crate::target::{About, Answer, Ask, Offers, Target, TargetError};
use family::DrawPlan;
use law::{Conditional, Entropy, Forms, Moments, ShapeSlopes, TwoPoint};

pub mod threads;

/// Another target with its Hessian hidden.
pub struct GradientsOnly<'a>(pub &'a dyn Target);

impl Target for GradientsOnly<'_> {
    fn about(&self) -> About {
        let about = self.0.about();
        About { offers: Offers { hessian: false, gauss_newton: false, ..about.offers }, ..about }
    }

    fn evaluate(&self, ask: &Ask<'_>, answer: &mut Answer) -> Result<(), TargetError> {
        self.0.evaluate(ask, answer)
    }
}

/// Scalar functions.
pub mod special {
    #![allow(missing_docs, reason = "modules that only re-export are named after what they hold")]

    pub mod bessel_k {
        pub use crate::special::bessel_k::{BesselK, bessel_k, paper_ratio, paper_ratio_bounds};
    }
    pub mod gamma {
        pub use crate::special::gamma::{
            digamma, digamma_minus_log, ln_beta, ln_gamma, tetragamma_plus_inv2, trigamma, trigamma_minus_inv,
        };
    }
    pub mod implicit {
        pub use crate::special::implicit::{
            gamma_shape_derivative, inverse_gamma_derivative, inverse_gaussian_cdf, inverse_gaussian_derivatives,
            inverse_gaussian_log_density,
        };
    }
    pub mod legendre {
        pub use crate::special::legendre::integrate;
    }
    pub mod logistic {
        pub use crate::special::logistic::{log_sum_exp, log1p_exp, logistic_variance, sigmoid};
    }
    pub mod mean_mixture_entropy {
        pub use crate::special::mean_mixture_entropy::{MeanMixtureEntropy, emg, skew};
    }
    pub mod normal {
        pub use crate::special::normal::{
            HALF_LOG_TWO_PI, TruncatedNormal, inverse_mills, log_ndtr, t_plus_inverse_mills, truncated_variance,
        };
    }
    pub mod orthant {
        pub use crate::special::orthant::OrthantNormal;
    }
}

/// Mixing laws, one by one.
pub mod law {
    pub use crate::law::exponential::Exponential;
    pub use crate::law::generalised_hyperbolic::GeneralisedHyperbolic;
    pub use crate::law::half_normal::HalfNormal;
    pub use crate::law::inverse_gamma::InverseGamma;
    pub use crate::law::inverse_gaussian::InverseGaussian;
    pub use crate::law::lambda::Lambda;
    pub use crate::law::logistic::Logistic;
    pub use crate::law::mixing_law::{
        Conditional, Entropy, Forms, MixingLaw, Moments, ShapeSlopes, SkewnessOfShift, TwoPoint,
    };
    pub use crate::law::point_mass::PointMass;
    pub use crate::law::reciprocal_inverse_gaussian::ReciprocalInverseGaussian;
    pub use crate::law::variance_gamma::VarianceGamma;
    pub use crate::random::mixing_noise::MixingNoise;

    /// A draw of w.
    pub fn sample<N: MixingNoise + ?Sized>(law: &crate::law::Law, noise: &mut N) -> f64 {
        law.sample(noise)
    }
}

/// Random numbers of a batch.
pub mod random {
    pub use crate::random::noise::{DrawNoise, NoiseSource};
}

/// The limits of the verdict.
pub mod posterior {
    pub use crate::posterior::verdict::limits;
}

/// The rows of a mini-batch.
pub mod target {
    pub use crate::target::minibatch::Minibatch;
}

/// Formulas of single rules.
pub mod rule {
    pub use crate::rule::adam_like::{AdamLikeMemory, AdamLikeRequest};
    pub use crate::rule::positive::{geodesic_step, log_step, student_t_christoffel};
    pub use crate::rule::taken::Taken;
    pub use crate::rule::trust_region::largest_step;
}

/// Estimators of slopes in the constant of a law.
pub mod estimate {
    pub use crate::estimate::shape::{sampled_shape_information, shape_slope_by_traces};
}

/// The parts of a step.
pub mod family {
    pub use crate::block::gradient::BlockGradient;
    pub use crate::family::batch::{Batch, DrawPlan};
    pub use crate::family::ef_mixture::EfMixtureEstimator;
    pub use crate::family::estimator::{Estimator, NoiseKey, Seen};
    pub use crate::family::factor::FactorEstimator;
    pub use crate::family::gaussian_mixture::GaussianMixtureEstimator;
    pub use crate::family::gradient::Gradient;
    pub use crate::family::mean_variance::MeanVarianceEstimator;
    pub use crate::family::step::{Scratch, StepRequest};
    pub use crate::family::stepping::Stepping;
}

/// Opens methods: those of the first list take `&self`, those after `mut` take `&mut self`.
macro_rules! open {
    ($(#[$doc:meta])* $trait:ident for $type:ty {
        $(fn $name:ident($($argument:ident: $taken:ty),*) $(-> $given:ty)?;)*
        $(mut $changing:ident($($with:ident: $what:ty),*) $(-> $result:ty)?;)*
    }) => {
        $(#[$doc])*
        #[allow(missing_docs, reason = "a method is documented where it is written")]
        pub trait $trait {
            $(fn $name(&self $(, $argument: $taken)*) $(-> $given)?;)*
            $(fn $changing(&mut self $(, $with: $what)*) $(-> $result)?;)*
        }

        impl $trait for $type {
            $(fn $name(&self $(, $argument: $taken)*) $(-> $given)? {
                <$type>::$name(self $(, $argument)*)
            })*
            $(fn $changing(&mut self $(, $with: $what)*) $(-> $result)? {
                <$type>::$changing(self $(, $with)*)
            })*
        }
    };
}

open! {
    /// The scalar functions of a law.
    Numbers for Law {
        fn is_shifted() -> bool;
        fn mixes() -> bool;
        fn has_exact_entropy() -> bool;
        fn is_learned() -> bool;
        fn shift(w: f64) -> f64;
        fn scale(w: f64) -> f64;
        fn moments() -> Moments;
        fn conditional(forms: Forms) -> Conditional;
        fn two_point(forms: Forms) -> Option<TwoPoint>;
        fn log_marginal(forms: Forms) -> f64;
        fn entropy(kappa: f64, dim: usize) -> Option<Entropy>;
        fn log_mixing_density(w: f64) -> f64;
        fn shape_slopes(dim: usize) -> Option<ShapeSlopes>;
        fn marginal_fisher(dim: usize) -> Option<f64>;
        fn divergence_from(other: &Law) -> f64;
    }
}

open! {
    /// ∂z/∂η by quadrature, whatever formula a component has.
    Implicit for Component {
        fn implicit_derivative(z: f64) -> [f64; 3];
    }
}

open! {
    /// Products with the factor of a precision.
    Whitening for Scale {
        fn unwhiten(x: &mut [f64]);
        fn whiten(x: &[f64], out: &mut [f64]);
    }
}

open! {
    /// Steps of the weights.
    MovingWeights for LogWeights {
        fn divergence(expected_h: &[f64], beta: f64, next: &mut [f64]) -> f64;
        mut advance(expected_h: &[f64], beta: f64, max_kl: Option<f64>, next: &mut [f64]) -> f64;
    }
}

open! {
    /// What a plan says about a batch.
    Batches for Plan {
        fn draw_plan(n_draws: usize) -> DrawPlan;
    }
}

open! {
    /// What a fit writes into its posterior.
    Recording for Posterior {
        mut set_agreement(agreement: Agreement);
        mut set_rungs(rungs: Vec<Rung>);
    }
}
