//! elinvar turns a log density into a posterior that can be sampled, evaluated and judged.

pub mod block;
mod dispatch;
mod error;
pub mod estimate;
pub mod family;
mod file;
pub mod law;
mod linalg;
pub mod model;
pub mod posterior;
pub mod random;
pub mod rule;
pub mod run;
pub mod special;
pub mod target;

pub use error::Error;
pub use family::Family;
pub use posterior::Posterior;
pub use run::{Plan, fit, fit_from, fit_observed};
