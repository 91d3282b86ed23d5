//! elinvar turns a log density into a posterior that can be sampled, evaluated and judged.

mod error;
pub mod law;
mod linalg;
pub mod posterior;
pub mod random;
pub mod target;

pub use error::Error;
