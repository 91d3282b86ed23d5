//! How expectations over the approximation are estimated from draws.

mod curvature;
mod mixing_weights;
mod sampling;

pub use curvature::Curvature;
pub(crate) use curvature::{FirstOrder, add_curvature};
pub use mixing_weights::MixingWeights;
pub use sampling::Sampling;
