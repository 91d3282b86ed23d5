//! The approximations: what a member is, how it draws, how it turns evaluations into a gradient, how it moves.

mod approximation;
pub(crate) mod batch;
mod chart;
mod choice;
mod density;
mod domain;
pub(crate) mod ef_mixture;
pub(crate) mod estimator;
pub(crate) mod factor;
mod finite_mixture;
pub(crate) mod gaussian_mixture;
pub(crate) mod gradient;
mod layout;
pub(crate) mod mean_variance;
mod metric;
mod natural;
mod own;
mod parts;
mod printed;
pub(crate) mod product;
mod properties;
mod registry;
pub(crate) mod step;
#[cfg(feature = "internals")]
pub(crate) mod stepping;
pub(crate) mod tensor;
mod written;

pub use crate::block::own::{Own, OwnFamily};
pub use approximation::{Approximation, Blocks};
pub(crate) use batch::{Batch, DrawPlan};
pub use choice::{Family, Kind};
pub(crate) use density::Density;
#[cfg(feature = "theory")]
pub(crate) use ef_mixture::EfMixture;
pub(crate) use estimator::{Estimator, NoiseKey, Seen};
#[cfg(feature = "theory")]
pub(crate) use factor::Factor;
#[cfg(feature = "theory")]
pub(crate) use finite_mixture::draw_label;
#[cfg(feature = "theory")]
pub(crate) use gaussian_mixture::GaussianMixture;
pub use gradient::Gradient;
pub use layout::Layout;
#[cfg(feature = "theory")]
pub(crate) use mean_variance::MeanVariance;
#[cfg(feature = "theory")]
pub(crate) use metric::Omega;
pub(crate) use printed::Left;
#[cfg(feature = "theory")]
pub(crate) use product::Product;
#[cfg(feature = "theory")]
pub(crate) use registry::Member;
pub(crate) use step::{Scratch, StepRequest};
pub(crate) use tensor::by_factors;

pub use crate::rule::MatrixUpdate;
