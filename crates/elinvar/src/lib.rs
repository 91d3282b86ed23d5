//! elinvar turns a log density into a posterior that can be sampled, evaluated and judged.
//!
//! It fits by natural gradient with approximations that bend (mixtures, skew, heavy tails), corrects what they leave by
//! importance weights or short chains, and says how far the result can be trusted, and why.
//!
//! ```
//! use elinvar::prelude::*;
//!
//! // log p up to a constant, and its gradient: a ridge that curves away from a straight line.
//! let model = log_density(2, |x, gradient| {
//!     let bend = x[1] - 0.3 * x[0] * x[0];
//!     gradient[0] = -x[0] / 4.0 + 0.6 * x[0] * bend;
//!     gradient[1] = -bend;
//!     -x[0] * x[0] / 8.0 - bend * bend / 2.0
//! })
//! .named(["x", "y"]);
//!
//! let posterior = elinvar::fit(&model)?;
//! println!("{posterior}"); // the verdict with its reason, and a table
//! assert_eq!(posterior.verdict(), Some(Verdict::Trust));
//! let y: Vec<f64> = posterior.sample(4_000, 1).column("y").collect();
//! # assert_eq!(y.len(), 4_000);
//! # Ok::<(), Error>(())
//! ```
//!
//! # From a model to a posterior
//!
//! ```text
//!  your model                      the fit                                   what you get
//!  log_density(n, closure)                                                   Posterior
//!  impl Model for MyModel   ──▶   Fit::new(&model)…run()   ──▶   .verdict()  .reason()
//!  impl Target (batches)           search → steps → answer       .summary(n, seed)  .sample(n, seed)
//!  elinvar::model::*               → verdict                      .save(file)  Posterior::load(file)
//! ```
//!
//! | to | take |
//! |---|---|
//! | write a model with named parameters and constraints | [`Model`], [`Parameters`] |
//! | make one from a closure | [`log_density`], [`log_density_only`] |
//! | use a ready one | [`model`] |
//! | choose family, plan, seed, start; watch, stop, resume | [`Fit`], [`Family`], [`Plan`], [`StopHandle`] |
//! | read the result | [`Posterior`], [`Sample`], [`Answer`], [`Judgement`], [`Diagnostics`] |
//! | compare fits | [`compare`] |
//! | take the steps yourself, by a rule and schedule of your own | [`Fit::begin`], [`research::run::Run`] |
//! | evaluate whole batches or mini-batches, bring a family of your own | [`research`] |
//! | try what you bring | [`conformance`] |
//!
//! Everything above is here at the root, and in the [`prelude`]; [`research`] holds the parts that a fit is made of,
//! which are plain data too.
//!
//! # Features
//!
//! | feature | gives | further crates |
//! |---|---|---|
//! | `parallel` (default) | work spread over threads; the bits do not depend on their number | 6 |
//! | `ndarray` | [`Sample`] as an array of ndarray | 3 |
//! | `faer` | [`Sample`] as a matrix of faer | none |
//! | `dual` | gradients and Hessians of generic code by dual numbers | 1 |
//! | `theory` | natural and expectation parameters, statistics, Fisher matrices | none |
//!
//! Without any of them the library needs 70 crates, most of which belong to its linear algebra; `docs/compile-time.md`
//! of the repository says what they take to compile, and what was tried to make it less.

#![cfg_attr(not(test), warn(clippy::unwrap_used))]
// Hidden modules are what the crates of this repository share, and promise nothing; what is promised of them is named
// at the root and in `research`.
// What only `internals` shows; with it, as in the lints of `cargo xtask`, every public item must be reachable and used.
#![cfg_attr(not(feature = "internals"), allow(dead_code, unreachable_pub))]

#[doc(hidden)]
pub mod block;
#[doc(hidden)]
pub mod chains;
#[doc(hidden)]
pub mod component;
pub mod conformance;
mod error;
#[doc(hidden)]
pub mod estimate;
mod evaluate;
#[doc(hidden)]
pub mod family;
#[doc(hidden)]
pub mod file;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod internals;
#[doc(hidden)]
pub mod law;
mod linalg;
pub mod model;
mod plan;
#[doc(hidden)]
pub mod posterior;
pub mod prelude;
#[doc(hidden)]
pub mod random;
mod record;
mod registry;
pub mod research;
#[doc(hidden)]
pub mod rule;
#[doc(hidden)]
pub mod run;
mod search;
mod special;
#[doc(hidden)]
pub mod target;
#[cfg(feature = "theory")]
pub mod theory;
mod tuning;

pub use error::{Error, Result};
pub use family::Family;
pub use plan::{Correct, Plan, Stop};
pub use posterior::{Answer, Comparison, Diagnostics, GivenBy, Judgement, Posterior, Sample, Verdict, compare};
pub use record::{Counts, Estimate, Step, StopReason};
pub use run::builder::{Fit, StopHandle, fit};
pub use target::{Covariance, Model, Parameters, log_density, log_density_only};

#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct ReadMe;

#[cfg(doctest)]
#[doc = include_str!("../../../docs/printed.md")]
struct AsPrinted;
