//! Coordinates that move together: locations with their scale matrix, and mixture weights.

mod adam_like;
mod chart;
mod diagonal;
mod full;
mod location;
mod log_weights;
mod momentum;
mod scale_matrix;

pub use diagonal::Diagonal;
pub use full::Full;
pub use location::{LocationBlock, LocationGradient};
pub(crate) use location::{LocationScratch, Move};
pub use log_weights::LogWeights;
pub use scale_matrix::ScaleMatrix;
pub(crate) use scale_matrix::{Candidate, LARGEST, in_range};
