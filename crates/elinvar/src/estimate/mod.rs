//! How expectations over the approximation are estimated from draws.

mod curvature;
mod mixing_weights;
mod sampling;
mod shape;

pub use curvature::Curvature;
pub(crate) use curvature::{FirstOrder, add_curvature};
pub use mixing_weights::MixingWeights;
pub use sampling::Sampling;
pub use shape::{ShapeEstimator, sampled_shape_information, shape_slope_by_traces};
