//! A fit of a model, and what it knows, as plain numbers for `python/elinvar`.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use elinvar::chains::{Corrected, CorrectedNumber, Correction};
use elinvar::run::{Kept, Step, StopReason, fit_journaled};
use elinvar::{Error, Family, Plan, Posterior};
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::{PyKeyboardInterrupt, PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::model::{Asked, Model};
use crate::stop::Stop;

/// How often an observer is called at most; it takes the lock of the interpreter.
const BETWEEN_CALLS: Duration = Duration::from_millis(100);

/// The library's error as the exception of Python that is meant for it.
pub(crate) fn raised(error: Error) -> PyErr {
    let sentence = error.to_string();
    match error {
        Error::Io { .. } => PyOSError::new_err(sentence),
        Error::Shape { .. }
        | Error::Domain { .. }
        | Error::Unsupported { .. }
        | Error::Data { .. }
        | Error::File { .. } => PyValueError::new_err(sentence),
        _ => PyRuntimeError::new_err(sentence),
    }
}

/// What ended a fit: the user's own exception, Ctrl-C before there was anything to end with, or a sentence.
fn ended(stop: &Stop, error: Error) -> PyErr {
    stop.exception().unwrap_or_else(|| match error {
        Error::Interrupted => PyKeyboardInterrupt::new_err("the fit was interrupted before it had a first result"),
        error => raised(error),
    })
}

fn read<T: serde::de::DeserializeOwned>(what: &str, text: &str) -> PyResult<T> {
    serde_json::from_str(text).map_err(|problem| PyValueError::new_err(format!("{what}: {problem}")))
}

/// A fitted approximation with what chains and verdict say about it.
#[pyclass(module = "elinvar._elinvar")]
pub(crate) struct Fit {
    posterior: Posterior,
    interrupted: bool,
}

/// Fits a family to a model, and corrects and judges the result unless `correction` is `None`.
///
/// `observe` is called now and then with a dictionary about the last step.
#[pyfunction]
pub(crate) fn fit(
    py: Python<'_>,
    model: &Model,
    family: &str,
    plan: &str,
    correction: Option<&str>,
    stop: &Stop,
    observe: Option<Py<PyAny>>,
) -> PyResult<Fit> {
    let (family, plan): (Family, Plan) = (read("family", family)?, read("plan", plan)?);
    let correction: Option<Correction> = correction.map(|text| read("correction", text)).transpose()?;
    let mut shown: Option<Instant> = None;
    let mut watch = |step: &Step| {
        stop.step();
        stop.look();
        if let Some(observe) = observe.as_ref().filter(|_| shown.is_none_or(|at| at.elapsed() >= BETWEEN_CALLS)) {
            shown = Some(Instant::now());
            if let Err(exception) = Python::attach(|py| observe.call1(py, (described(py, step)?,)).map(drop)) {
                stop.fail(exception);
            }
        }
        if stop.pulled() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let target = Asked { model, stop };
    let kept = Kept { journal: None, interrupt: Some(stop) };
    let fitted = py.detach(|| fit_journaled(&target, family, &plan, &mut watch, kept));
    let posterior = fitted.map_err(|error| ended(stop, error))?;
    if let Some(exception) = stop.exception() {
        return Err(exception);
    }
    let interrupted = posterior.stop_reason() == StopReason::Interrupted;
    let mut fit = Fit { posterior, interrupted };
    if let (Some(correction), false) = (correction, interrupted) {
        fit.correct_with(py, model, &correction, stop)?;
    }
    Ok(fit)
}

fn described<'py>(py: Python<'py>, step: &Step) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("step", step.index)?;
    dict.set_item("elbo", step.elbo)?;
    dict.set_item("elbo_se", step.elbo_se)?;
    dict.set_item("remaining", step.remaining.map(|(gain, _)| gain))?;
    dict.set_item("gradients", step.counts.gradient)?;
    dict.set_item("seconds", step.seconds)?;
    Ok(dict)
}

impl Fit {
    fn correct_with(&mut self, py: Python<'_>, model: &Model, settings: &Correction, stop: &Stop) -> PyResult<()> {
        let target = Asked { model, stop };
        let posterior = &mut self.posterior;
        match py.detach(|| posterior.correct_interruptibly(&target, settings, stop).map(drop)) {
            Ok(()) => Ok(()),
            Err(Error::Interrupted) if !stop.failed() => {
                self.interrupted = true;
                Ok(())
            }
            Err(error) => Err(ended(stop, error)),
        }
    }

    fn array<'py>(&self, py: Python<'py>, numbers: Vec<f64>, width: usize) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let rows = numbers.len() / width.max(1);
        PyArray1::from_vec(py, numbers).reshape([rows, width])
    }
}

fn rows<'py>(py: Python<'py>, numbers: &[CorrectedNumber]) -> PyResult<Vec<Bound<'py, PyDict>>> {
    let row = |number: &CorrectedNumber| {
        let dict = PyDict::new(py);
        dict.set_item("name", &number.name)?;
        for (name, estimate) in
            [("mean", number.mean), ("sd", number.sd), ("q5", number.q5), ("q50", number.q50), ("q95", number.q95)]
        {
            dict.set_item(name, estimate.value)?;
            dict.set_item(format!("{name}_se"), estimate.mcse)?;
        }
        Ok(dict)
    };
    numbers.iter().map(row).collect()
}

#[pymethods]
impl Fit {
    /// Importance weights on fresh draws: ELBO, log normaliser, k̂; and a verdict where chains have not given one.
    fn judge(&mut self, py: Python<'_>, model: &Model, draws: usize, seed: u64, stop: &Stop) -> PyResult<()> {
        let target = Asked { model, stop };
        let posterior = &mut self.posterior;
        let judged = py.detach(|| posterior.judge_further_interruptibly(&target, draws, seed, stop).map(drop));
        match judged {
            Ok(()) => Ok(()),
            Err(Error::Interrupted) if !stop.failed() => {
                self.interrupted = true;
                Ok(())
            }
            Err(error) => Err(ended(stop, error)),
        }
    }

    /// Runs chains, or more of them.
    fn correct(&mut self, py: Python<'_>, model: &Model, settings: &str, stop: &Stop) -> PyResult<()> {
        let settings = read("correction", settings)?;
        self.correct_with(py, model, &settings, stop)
    }

    /// Independent draws of the approximation, and log q at each.
    fn sample<'py>(
        &self,
        py: Python<'py>,
        n: usize,
        seed: u64,
    ) -> PyResult<(Bound<'py, PyArray2<f64>>, Bound<'py, PyArray1<f64>>)> {
        let (draws, log_q) = py.detach(|| self.posterior.sample_with_log_density(n, seed));
        let z = self.array(py, draws.view().as_slice().to_vec(), self.posterior.dim())?;
        Ok((z, PyArray1::from_vec(py, log_q)))
    }

    /// States of the chains, evenly chosen; `None` without chains.
    fn states<'py>(&self, py: Python<'py>, n: usize) -> PyResult<Option<Bound<'py, PyArray2<f64>>>> {
        let corrected = self.posterior.corrected();
        let states = corrected.map(|corrected| corrected.draws(n).view().as_slice().to_vec());
        states.map(|states| self.array(py, states, self.posterior.dim())).transpose()
    }

    /// log q at the rows of `z`.
    fn log_density<'py>(&self, py: Python<'py>, z: PyReadonlyArray2<'py, f64>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let (n, d) = (z.shape()[0], z.shape()[1]);
        if d != self.posterior.dim() {
            let of = self.posterior.dim();
            return Err(PyValueError::new_err(format!("points of this fit have {of} coordinates, these have {d}")));
        }
        let z: Vec<f64> = z.as_array().iter().copied().collect();
        let log_q = (0..n).map(|s| self.posterior.log_density(&z[s * d..(s + 1) * d])).collect();
        Ok(PyArray1::from_vec(py, log_q))
    }

    /// Mean of the approximation.
    #[getter]
    fn mean<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_vec(py, self.posterior.approximation().mean().to_vec())
    }

    /// Covariance of the approximation.
    #[getter]
    fn covariance<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        self.array(py, self.posterior.approximation().covariance(), self.posterior.dim())
    }

    /// Names of the coordinates.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.posterior.names().to_vec()
    }

    /// Whether the fit was ended before its time.
    #[getter]
    fn interrupted(&self) -> bool {
        self.interrupted
    }

    /// What chains found of each coordinate, with standard errors; `None` without chains.
    #[getter]
    fn corrected<'py>(&self, py: Python<'py>) -> PyResult<Option<Vec<Bound<'py, PyDict>>>> {
        self.posterior.corrected().map(|corrected| rows(py, &corrected.coordinates)).transpose()
    }

    /// The record of the fit.
    #[getter]
    fn record<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (posterior, dict) = (&self.posterior, PyDict::new(py));
        dict.set_item("family", posterior.family().name())?;
        dict.set_item("stop_reason", posterior.stop_reason().name())?;
        dict.set_item("converged", posterior.converged())?;
        dict.set_item("seconds", posterior.seconds())?;
        dict.set_item("gradients", posterior.counts().gradient)?;
        dict.set_item("log_densities", posterior.counts().log_density)?;
        dict.set_item("dropped", posterior.counts().dropped)?;
        dict.set_item("steps", posterior.trace().len())?;
        if let Some(judgement) = posterior.judgement() {
            dict.set_item("verdict", judgement.verdict.name())?;
            dict.set_item("reason", &judgement.reason)?;
        }
        if let Some(diagnostics) = posterior.diagnostics() {
            dict.set_item("elbo", diagnostics.elbo.value)?;
            dict.set_item("elbo_se", diagnostics.elbo.mcse)?;
            dict.set_item("log_evidence", diagnostics.log_normaliser.value)?;
            dict.set_item("log_evidence_se", diagnostics.log_normaliser.mcse)?;
            dict.set_item("pareto_k", diagnostics.pareto_k)?;
        }
        if let Some(Corrected { chains, steps, effective_states, acceptance, counts, seconds, doubts, .. }) =
            posterior.corrected()
        {
            dict.set_item("chains", *chains)?;
            dict.set_item("chain_steps", *steps)?;
            dict.set_item("effective_states", *effective_states)?;
            dict.set_item("acceptance", *acceptance)?;
            dict.set_item("chain_gradients", counts.gradient)?;
            dict.set_item("chain_seconds", *seconds)?;
            dict.set_item("doubts", doubts.iter().map(ToString::to_string).collect::<Vec<_>>())?;
        }
        Ok(dict)
    }

    /// Writes one self-contained file.
    fn save(&self, py: Python<'_>, path: std::path::PathBuf) -> PyResult<()> {
        py.detach(|| self.posterior.save(path)).map_err(raised)
    }

    /// Reads a fit file.
    #[staticmethod]
    fn load(py: Python<'_>, path: std::path::PathBuf) -> PyResult<Self> {
        let posterior = py.detach(|| Posterior::load(path)).map_err(raised)?;
        Ok(Self { interrupted: posterior.stop_reason() == StopReason::Interrupted, posterior })
    }
}
