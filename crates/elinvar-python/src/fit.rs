//! A fit of a model, and what it knows, as plain numbers for `python/elinvar`.

use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use elinvar::chains::{Corrected, CorrectedMode, CorrectedNumber, Round};
use elinvar::posterior::{self, GivenBy, resample};
use elinvar::random::{Purpose, Stream};
use elinvar::run::{Kept, Step, StopReason, fit_journaled};
use elinvar::{Error, Family, Plan, Posterior};
use elinvar_analysis::Analysis;
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::{PyKeyboardInterrupt, PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::model::{Asked, Model};
use crate::stop::Stop;

/// How often an observer is called at most; it takes the lock of the interpreter.
const BETWEEN_CALLS: Duration = Duration::from_millis(100);

/// So many times more draws are weighted than are resampled from them.
const OVER: usize = 4;

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
    match error {
        Error::Interrupted if !stop.failed() => {
            PyKeyboardInterrupt::new_err("the fit was interrupted before it had found a start")
        }
        error => stop.cause().unwrap_or_else(|| raised(error)),
    }
}

fn read<T: serde::de::DeserializeOwned>(what: &str, text: &str) -> PyResult<T> {
    serde_json::from_str(text).map_err(|problem| PyValueError::new_err(format!("{what}: {problem}")))
}

/// A fitted approximation with what chains and verdict say about it.
#[pyclass(module = "elinvar._elinvar")]
pub(crate) struct Fit {
    posterior: Posterior,
}

/// Fits a family to a model, corrects it as the plan says, and judges on `judged` draws what is not judged by then.
///
/// `observe` is called now and then with a dictionary about the last step, or about the last round of chains.
#[pyfunction]
pub(crate) fn fit(
    py: Python<'_>,
    model: &Model,
    family: &str,
    plan: &str,
    judged: usize,
    stop: &Stop,
    observe: Option<Py<PyAny>>,
) -> PyResult<Fit> {
    let (family, plan): (Family, Plan) = (read("family", family)?, read("plan", plan)?);
    let observe = Observer { call: observe.as_ref(), stop, shown: Mutex::new(None) };
    let mut watch = |step: &Step| {
        stop.look();
        observe.show(|py| described(py, step));
        if stop.pulled() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let rounds = |round: &Round| observe.show(|py| told(py, round));
    let target = Asked { model, stop };
    let kept = Kept { journal: None, interrupt: Some(stop), watch: Some(&rounds), gives_best: true };
    let fitted = py.detach(|| fit_journaled(&target, family, &plan, &mut watch, kept));
    let posterior = fitted.map_err(|error| ended(stop, error))?;
    if let Some(exception) = stop.exception() {
        return Err(exception);
    }
    let mut fit = Fit { posterior };
    if fit.posterior.judgement().is_none() && !fit.interrupted() {
        fit.judge(py, model, judged, plan.seed, stop)?;
    }
    Ok(fit)
}

/// Whoever watches a fit, not more often than is good for it.
struct Observer<'a> {
    call: Option<&'a Py<PyAny>>,
    stop: &'a Stop,
    shown: Mutex<Option<Instant>>,
}

impl Observer<'_> {
    fn show(&self, about: impl for<'py> Fn(Python<'py>) -> PyResult<Bound<'py, PyDict>>) {
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(call) = self.call.filter(|_| shown.is_none_or(|at| at.elapsed() >= BETWEEN_CALLS)) {
            *shown = Some(Instant::now());
            if let Err(exception) = Python::attach(|py| call.call1(py, (about(py)?,)).map(drop)) {
                if !self.stop.is_pulled_by(&exception) {
                    self.stop.fail(exception);
                }
            }
        }
    }
}

/// Fits of one model beside each other, on `n` draws of each: the best, and of every fit its ELBO with error, its
/// difference from the best with the error of the pair, and its k̂.
#[pyfunction]
pub(crate) fn compare<'py>(
    py: Python<'py>,
    model: &Model,
    fits: Vec<PyRef<'py, Fit>>,
    n: usize,
    seed: u64,
) -> PyResult<(usize, Vec<Bound<'py, PyDict>>)> {
    let posteriors: Vec<Posterior> = fits.iter().map(|fit| fit.posterior.clone()).collect();
    let stop = Stop::new();
    let target = Asked { model, stop: &stop };
    let found = py.detach(|| posterior::compare(&target, &posteriors.iter().collect::<Vec<_>>(), n, seed));
    let found = found.map_err(|error| ended(&stop, error))?;
    let row = |k: usize| {
        let (dict, diagnostics) = (PyDict::new(py), &found.diagnostics[k]);
        dict.set_item("elbo", diagnostics.elbo.value)?;
        dict.set_item("elbo_se", diagnostics.elbo.mcse)?;
        dict.set_item("difference", found.difference[k].value)?;
        dict.set_item("difference_se", found.difference[k].mcse)?;
        dict.set_item("pareto_k", diagnostics.pareto_k)?;
        Ok(dict)
    };
    Ok((found.best, (0..posteriors.len()).map(row).collect::<PyResult<_>>()?))
}

fn told<'py>(py: Python<'py>, round: &Round) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("gradients", round.gradients)?;
    dict.set_item("mean_error", round.mean_error)?;
    dict.set_item("sd_error", round.sd_error)?;
    Ok(dict)
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
    /// A fit that ended by itself.
    pub(crate) fn of(posterior: Posterior) -> Self {
        Self { posterior }
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
                self.posterior.end_interrupted();
                Ok(())
            }
            Err(error) => Err(ended(stop, error)),
        }
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

    /// Draws of what the fit gives: states of the chains, or draws of the approximation that are resampled by their
    /// weights where these give the answer and the model is at hand, or else draws of the approximation.
    #[pyo3(signature = (n, seed, model=None))]
    fn draws<'py>(
        &self,
        py: Python<'py>,
        n: usize,
        seed: u64,
        model: Option<&Model>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let (posterior, d) = (&self.posterior, self.posterior.dim());
        let draws = match (posterior.corrected(), model) {
            (Some(corrected), _) => corrected.draws(n).view().as_slice().to_vec(),
            (None, Some(model)) if posterior.given_by() == GivenBy::Weights => {
                let stop = Stop::new();
                let target = Asked { model, stop: &stop };
                let weighted = py.detach(|| posterior.importance(&target, OVER * n, seed));
                let weighted = weighted.map_err(|error| ended(&stop, error))?;
                let mut stream = Stream::open(seed, Purpose::Sample, 1, 0);
                let chosen = resample(&weighted.log_weights, n, &mut stream);
                chosen.iter().flat_map(|s| weighted.draws.view().get(*s).to_vec()).collect()
            }
            _ => py.detach(|| posterior.sample_z(n, seed)).view().as_slice().to_vec(),
        };
        self.array(py, draws, d)
    }

    /// log q at the rows of `z`.
    fn log_density<'py>(&self, py: Python<'py>, z: PyReadonlyArray2<'py, f64>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let (n, d) = (z.shape()[0], z.shape()[1]);
        if d != self.posterior.dim() {
            let of = self.posterior.dim();
            return Err(PyValueError::new_err(format!("points of this fit have {of} coordinates, these have {d}")));
        }
        let z: Vec<f64> = z.as_array().iter().copied().collect();
        let log_q = (0..n).map(|s| self.posterior.log_density_z(&z[s * d..(s + 1) * d])).collect();
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
        self.posterior.names_z().to_vec()
    }

    /// Whether the fit was ended before its time.
    #[getter]
    fn interrupted(&self) -> bool {
        self.posterior.stop_reason() == StopReason::Interrupted
    }

    /// The modes that chains were run on one by one: share of the mass with its error, and mean in coordinates z.
    #[getter]
    fn modes<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let modes = self.posterior.corrected().map_or(&[][..], |corrected| &corrected.modes);
        let row = |mode: &CorrectedMode| {
            let dict = PyDict::new(py);
            dict.set_item("share", mode.share.value)?;
            dict.set_item("share_se", mode.share.mcse)?;
            dict.set_item("mean", PyArray1::from_slice(py, &mode.mean))?;
            Ok(dict)
        };
        modes.iter().map(row).collect()
    }

    /// The seed of the fit.
    #[getter]
    fn seed(&self) -> u64 {
        self.posterior.plan().seed
    }

    /// What the fit gives of each coordinate, with standard errors.
    fn answer<'py>(&self, py: Python<'py>, n: usize, seed: u64) -> PyResult<Vec<Bound<'py, PyDict>>> {
        rows(py, &self.posterior.summary(n, seed).coordinates)
    }

    /// The record of the fit.
    #[getter]
    fn record<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (posterior, dict) = (&self.posterior, PyDict::new(py));
        dict.set_item("family", posterior.family().name())?;
        dict.set_item("given_by", posterior.given_by().name())?;
        dict.set_item("stop_reason", posterior.stop_reason().name())?;
        dict.set_item("converged", posterior.converged())?;
        dict.set_item("seconds", posterior.seconds())?;
        dict.set_item("gradients", posterior.counts().gradient)?;
        dict.set_item("hessians", posterior.counts().hessian)?;
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

    /// The report as one HTML page; `title` says what was fitted, `command` what makes the fit again.
    fn report(&self, py: Python<'_>, model: &Model, title: &str, command: &str) -> PyResult<String> {
        let Some(analysis) = Analysis::of_model(self.posterior.clone()) else {
            return Err(PyValueError::new_err("the fit was not judged, because it was interrupted: fit again"));
        };
        let stop = Stop::new();
        let target = Asked { model, stop: &stop };
        let content = py.detach(|| analysis.content_of_model(&target, title, command));
        match content {
            Ok(content) => Ok(elinvar_report::html(&content)),
            Err(error) => Err(stop.cause().unwrap_or_else(|| PyRuntimeError::new_err(error.to_string()))),
        }
    }

    /// Writes one self-contained file.
    fn save(&self, py: Python<'_>, path: std::path::PathBuf) -> PyResult<()> {
        py.detach(|| self.posterior.save(path)).map_err(raised)
    }

    /// Reads a fit file.
    #[staticmethod]
    fn load(py: Python<'_>, path: std::path::PathBuf) -> PyResult<Self> {
        py.detach(|| Posterior::load(path)).map(Self::of).map_err(raised)
    }
}
