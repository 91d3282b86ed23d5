//! What a fit has found, as the page, the JSON object and the run directory show it.

use std::path::PathBuf;

use elinvar::Posterior;
use elinvar::posterior::{Diagnostics, ParameterSummary};

/// A finished fit.
pub(crate) struct Report {
    pub(crate) posterior: Posterior,
    pub(crate) diagnostics: Diagnostics,
    pub(crate) parameters: Vec<ParameterSummary>,
    /// Seconds from the search for a start to the last step.
    pub(crate) seconds: f64,
    /// Where the fit was kept.
    pub(crate) run_dir: Option<PathBuf>,
}
