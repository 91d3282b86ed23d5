//! The experiments of Lin, Khan & Schmidt 2019, each with its figures, its numbers, and expectations that can fail.
//!
//! [`EXPERIMENTS`] lists them. [`Experiment::run`] makes [`Findings`], [`Experiment::compare`] holds them against the
//! expectations, and [`write()`] keeps both in a folder:
//!
//! ```no_run
//! use elinvar_paper::{Existing, Settings, experiment, write};
//!
//! let experiment = experiment("figure-skew-2d").expect("a name of the list");
//! let settings = Settings { quick: true, ..Settings::default() };
//! let findings = (experiment.run)(&settings, &mut |line| eprintln!("{line}"))?;
//! let comparison = experiment.compare(&settings, &findings)?;
//! write("results/figure-skew-2d".as_ref(), experiment, &settings, &findings, &comparison, Existing::Refuse)?;
//! assert!(comparison.is_met());
//! # Ok::<(), elinvar_paper::Error>(())
//! ```

#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod authors;
mod beta_binomial;
mod bnn;
mod bnn_data;
mod bound;
mod covtype;
mod data;
mod draws;
mod error;
mod expected;
mod experiment;
mod findings;
mod heavy_tails;
mod matrix;
mod mog_logistic;
#[cfg(test)]
mod page_numbers;
mod plane;
mod skew_2d;
mod threads;
mod toy_mixture;
mod watch;
mod write;

pub use error::Error;
pub use expected::{Comparison, Line};
pub use experiment::{Experiment, Mode, RunExperiment, Settings};
pub use findings::{Figure, Findings, Quantity, Table};
pub use write::{Existing, write};

/// All experiments, in the order of the paper.
pub const EXPERIMENTS: &[Experiment] = &[
    toy_mixture::EXPERIMENT,
    beta_binomial::EXPERIMENT,
    skew_2d::EXPERIMENT,
    mog_logistic::EXPERIMENT,
    covtype::EXPERIMENT,
    bnn::EXPERIMENT,
    bnn::printed::EXPERIMENT,
    matrix::EXPERIMENT,
    heavy_tails::EXPERIMENT,
];

/// The experiment with this name.
pub fn experiment(name: &str) -> Option<&'static Experiment> {
    EXPERIMENTS.iter().find(|experiment| experiment.name == name)
}
