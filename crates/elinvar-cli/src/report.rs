//! What a fit has found, as the page, the JSON object and the run directory show it.

use std::path::PathBuf;

use elinvar::Posterior;
use elinvar::posterior::{Diagnostics, ParameterSummary};

/// A finished fit.
pub(crate) struct Report {
    pub(crate) posterior: Posterior,
    /// Its k̂ is `None` where it is not known or not finite.
    pub(crate) diagnostics: Diagnostics,
    /// Whether k̂ is not finite: the weights of very few draws exceed all others by far.
    pub(crate) few_draws_dominate: bool,
    pub(crate) parameters: Vec<ParameterSummary>,
    /// Seconds from the search for a start to the last step.
    pub(crate) seconds: f64,
    /// Where the fit was kept.
    pub(crate) run_dir: Option<PathBuf>,
}
