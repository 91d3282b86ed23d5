//! How expectations over the approximation are estimated from draws.

mod curvature;
mod gradient_free;
mod mixing_weights;
mod sampling;
pub(crate) mod shape;

pub use curvature::Curvature;
pub(crate) use curvature::{FirstOrder, add_curvature};
pub(crate) use gradient_free::{Baseline, FEWEST_DRAWS, ValuesOnly};
pub use mixing_weights::MixingWeights;
pub use sampling::Sampling;
pub use shape::ShapeEstimator;
