//! Targets around other targets.

mod constrained;
mod differences;
mod free_scale;
mod free_simplex;
mod on_support;
mod with_prior;

pub use constrained::Constrained;
pub(crate) use differences::ByDifferences;
pub(crate) use free_scale::FreeScale;
pub(crate) use free_simplex::FreeSimplex;
pub use on_support::OnSupport;
pub use with_prior::{Borrowed, WithPrior};
