//! The approximations: what a member is, how it draws, how it turns evaluations into a gradient, how it moves.

mod approximation;
mod batch;
mod chart;
mod choice;
mod density;
mod ef_mixture;
mod estimator;
mod factor;
mod finite_mixture;
mod gaussian_mixture;
mod gradient;
mod layout;
mod mean_variance;
mod metric;
mod natural;
mod printed;
mod product;
mod registry;
mod step;
mod tensor;
mod written;

pub use approximation::{Approximation, Blocks};
pub use batch::{Batch, DrawPlan};
pub use choice::{Family, Kind};
pub(crate) use density::Density;
#[cfg(feature = "theory")]
pub(crate) use ef_mixture::EfMixture;
pub use ef_mixture::EfMixtureEstimator;
pub use estimator::{Estimator, NoiseKey, Seen};
#[cfg(feature = "theory")]
pub(crate) use factor::Factor;
pub use factor::FactorEstimator;
#[cfg(feature = "theory")]
pub(crate) use finite_mixture::draw_label;
#[cfg(feature = "theory")]
pub(crate) use gaussian_mixture::GaussianMixture;
pub use gaussian_mixture::GaussianMixtureEstimator;
pub use gradient::Gradient;
pub use layout::Layout;
#[cfg(feature = "theory")]
pub(crate) use mean_variance::MeanVariance;
pub use mean_variance::MeanVarianceEstimator;
#[cfg(feature = "theory")]
pub(crate) use metric::Omega;
pub use printed::Left;
#[cfg(feature = "theory")]
pub(crate) use product::Product;
pub use product::ProductEstimator;
#[cfg(feature = "theory")]
pub(crate) use registry::Member;
pub use step::{Scratch, StepRequest};
pub use tensor::TensorEstimator;
pub(crate) use tensor::by_factors;

pub use crate::rule::{MatrixUpdate, Taken};
