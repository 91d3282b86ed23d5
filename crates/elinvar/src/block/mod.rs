//! Coordinates that move together: locations with their scale matrix, tensors with the factors of theirs, natural
//! parameters of exponential families, and mixture weights.

mod adam_like;
mod chart;
pub(crate) mod gradient;
mod location;
mod log_weights;
mod momentum;
mod natural;
pub(crate) mod own;
mod printed;
mod scale;
mod tensor;

pub(crate) use adam_like::RunningMeans;
pub use gradient::BlockGradient;
pub use location::Location;
pub(crate) use location::{LocationScratch, Move};
pub use log_weights::LogWeights;
pub use natural::Natural;
pub(crate) use natural::NaturalScratch;
pub use own::OwnParameters;
pub(crate) use own::{OwnFamily, OwnScratch};
pub(crate) use printed::Outside;
pub use scale::Scale;
pub(crate) use scale::in_range;
pub use tensor::Tensor;
pub(crate) use tensor::{MOST_MODES, Stack, TensorScratch};
