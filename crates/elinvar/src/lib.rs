//! elinvar turns a log density into a posterior that can be sampled, evaluated and judged.
//!
//! It fits by natural gradient with approximations that bend: mixtures, skew, heavy tails.
//!
//! ```
//! use elinvar::prelude::*;
//!
//! /// log p(x, y) of a banana: x ~ N(0, 4), y | x ~ N(x²/4 − 1, 1), up to a constant.
//! struct Banana;
//!
//! impl PointwiseTarget for Banana {
//!     fn dim(&self) -> usize {
//!         2
//!     }
//!     fn gradient(&self, z: &[f64], grad: &mut [f64]) -> Result<f64, TargetError> {
//!         let residual = z[1] - 0.25 * z[0] * z[0] + 1.0;
//!         grad[0] = -0.25 * z[0] + 0.5 * residual * z[0];
//!         grad[1] = -residual;
//!         Ok(-0.125 * z[0] * z[0] - 0.5 * residual * residual)
//!     }
//! }
//!
//! let target = Pointwise(Banana);
//! let mut posterior = elinvar::fit(&target, Family::mog(4), &Plan::default())?;
//! let report = posterior.diagnose(&target, 10_000, 1)?;
//! let log_normaliser = (4.0 * std::f64::consts::PI).ln();
//! assert!(log_normaliser - report.elbo.value < 0.1);
//! let draws = posterior.sample(1_000, 1);
//! # assert_eq!(draws.len(), 1_000);
//! # Ok::<(), Error>(())
//! ```
//!
//! Where things are: [`fit`] and [`run`] drive a fit; [`Family`] and [`family`] are the approximations, made of
//! [`law`]s, [`component`]s and [`block`]s; [`target`] is what users implement and [`model`] what is ready;
//! [`posterior`] is the result. [`estimate`] and [`rule`] hold the closed choices of a [`Plan`], [`random`] its noise.
//! The parts of a step, for loops of one's own, are in `theory`, behind the feature of that name.

#![cfg_attr(not(test), warn(clippy::unwrap_used))]
// What only `internals` shows; with it, as in the lints of `cargo xtask`, every public item must be reachable and used.
#![cfg_attr(not(feature = "internals"), allow(dead_code, unreachable_pub))]

pub mod block;
pub mod chains;
pub mod component;
mod error;
pub mod estimate;
mod evaluate;
pub mod family;
pub mod file;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod internals;
pub mod law;
mod linalg;
pub mod model;
mod plan;
pub mod posterior;
pub mod prelude;
pub mod random;
mod record;
pub mod rule;
pub mod run;
mod search;
mod special;
pub mod target;
#[cfg(feature = "theory")]
pub mod theory;
mod tuning;

pub use error::Error;
pub use family::Family;
pub use posterior::Posterior;
pub use run::{Plan, fit, fit_from, fit_journaled, fit_observed};

#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct ReadMe;

#[cfg(doctest)]
#[doc = include_str!("../../../docs/printed.md")]
struct AsPrinted;
