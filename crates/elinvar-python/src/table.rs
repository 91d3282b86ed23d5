//! Fits of a table by the models of the command line: the same settings, the same bits, the same page.

use std::ops::ControlFlow;

use elinvar::run::{Kept, Step};
use elinvar_analysis::{Job, Settings};
use pyo3::exceptions::{PyKeyboardInterrupt, PyRuntimeError, PyValueError};
use pyo3::prelude::*;

use crate::fit::Fit;
use crate::stop::Stop;

/// What the command line would show of a fit.
#[pyclass(frozen, get_all, module = "elinvar._elinvar")]
pub(crate) struct Shown {
    /// The page of the terminal.
    page: String,
    /// One JSON object.
    json: String,
    /// The report, a page of its own.
    html: String,
}

fn raised(error: elinvar_analysis::Error) -> PyErr {
    match error {
        elinvar_analysis::Error::Interrupted => PyKeyboardInterrupt::new_err("the fit was interrupted"),
        elinvar_analysis::Error::Model(_) => PyRuntimeError::new_err(error.to_string()),
        _ => PyValueError::new_err(error.to_string()),
    }
}

/// Fits what `settings`, the JSON form of a config.toml, ask for; without a table, the embedded example.
#[pyfunction]
pub(crate) fn fit_table(py: Python<'_>, settings: &str, command: String, stop: &Stop) -> PyResult<(Fit, Shown)> {
    let mut settings: Settings =
        serde_json::from_str(settings).map_err(|problem| PyValueError::new_err(format!("settings: {problem}")))?;
    if settings.data.file.is_none() {
        settings.set_example();
    }
    let mut watch = |_: &Step| {
        stop.look();
        if stop.pulled() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let kept = Kept { interrupt: Some(stop), ..Kept::default() };
    let fitted = py.detach(|| {
        let job = Job::new(&settings)?;
        let analysis = job.fit(&mut watch, kept)?;
        let html = elinvar_report::html(&analysis.content(&job, command)?);
        let shown = Shown { page: analysis.page(&job), json: analysis.json(), html };
        Ok((Fit::of(analysis.posterior), shown))
    });
    fitted.map_err(raised)
}
