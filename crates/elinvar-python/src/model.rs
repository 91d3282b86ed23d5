//! A model as Python hands it over, and the same as a target of the library.

use std::borrow::Cow;
use std::path::PathBuf;

use elinvar::model::{DesignMatrix, LinearRegression, LogisticRegression, PoissonRegression};
use elinvar::research::target::shards::{Book, SumOfShards};
use elinvar::target::{About, Answer, Ask, Contraction, Draws, Offers, Parts, Target, TargetError, Want};
use numpy::{
    PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyReadonlyArray3, PyUntypedArrayMethods,
};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::address::Function;
use crate::fit::raised;
use crate::shards::{self, Elsewhere};
use crate::stan::Stan;
use crate::stop::Stop;

/// Where the log density comes from.
enum Source {
    /// `gradient(z)` gives ((n,), (n, d)) for z of shape (n, d), `value(z)` (n,), `hessian(z)` (n, d, d).
    Batch { gradient: Py<PyAny>, value: Option<Py<PyAny>>, hessian: Option<Py<PyAny>> },
    /// A C function, and what must live as long as it is called.
    Address { function: Function, _owner: Option<Py<PyAny>> },
    /// A compiled Stan program, and what must live as long as it is called.
    Stan { stan: Stan, _owner: Py<PyAny> },
    /// A model of the library.
    Ready(Box<dyn Target + Send>),
    /// Parts of one, which Python asks.
    Shards(SumOfShards<Elsewhere>),
}

/// An unnormalised log density on ℝᵈ with its gradient.
#[pyclass(frozen, module = "elinvar._elinvar")]
pub(crate) struct Model {
    names: Vec<String>,
    source: Source,
}

#[pymethods]
impl Model {
    /// A model of a callable on batches.
    #[staticmethod]
    #[pyo3(signature = (names, gradient, value=None, hessian=None))]
    fn batch(
        names: Vec<String>,
        gradient: Py<PyAny>,
        value: Option<Py<PyAny>>,
        hessian: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        Self::checked(names, Source::Batch { gradient, value, hessian })
    }

    /// A model of a C function.
    #[staticmethod]
    #[pyo3(signature = (names, address, user=0, owner=None))]
    fn address(names: Vec<String>, address: usize, user: usize, owner: Option<Py<PyAny>>) -> PyResult<Self> {
        Self::checked(names, Source::Address { function: Function::new(address, user)?, _owner: owner })
    }

    /// A model of BridgeStan: the addresses of its gradient, of the function that frees messages, of the model, and of
    /// its Hessian or 0.
    #[staticmethod]
    #[pyo3(signature = (names, gradient, free, model, owner, hessian=0))]
    fn stan(
        names: Vec<String>,
        gradient: usize,
        free: usize,
        model: usize,
        owner: Py<PyAny>,
        hessian: usize,
    ) -> PyResult<Self> {
        Self::checked(names, Source::Stan { stan: Stan::new(gradient, free, model, hessian)?, _owner: owner })
    }

    /// A regression on the columns of `x`, an intercept included if there is one: `logistic` with outcomes −1 and +1,
    /// `poisson` with counts, `linear` with numbers. Coefficients have the prior N(0, 1/precision), the sd of the noise
    /// of `linear` has a half-Cauchy one of scale 1.
    #[staticmethod]
    fn regression(
        likelihood: &str,
        names: Vec<String>,
        x: PyReadonlyArray2<'_, f64>,
        y: PyReadonlyArray1<'_, f64>,
        precision: f64,
    ) -> PyResult<Self> {
        let rows = x.as_array().iter().copied().collect();
        let y: Vec<f64> = y.as_array().iter().copied().collect();
        let design = DesignMatrix::new(rows, x.shape()[1], names).map_err(raised)?;
        let target: Box<dyn Target + Send> = match likelihood {
            "logistic" => Box::new(LogisticRegression::new(design, y, precision).map_err(raised)?),
            "poisson" => Box::new(PoissonRegression::new(design, y, precision).map_err(raised)?),
            "linear" => {
                let regression = LinearRegression::new(design, y, precision);
                Box::new(regression.and_then(|regression| regression.with_noise_scale(1.0)).map_err(raised)?)
            }
            other => return Err(PyValueError::new_err(format!("there is no regression {other:?}"))),
        };
        Self::checked(target.about().names, Source::Ready(target))
    }

    /// A regression over some of `rows` rows: `prior` are means and standard deviations of the coefficients, `noise` is
    /// the law of sigma with its constant.
    #[staticmethod]
    fn part(
        likelihood: &str,
        names: Vec<String>,
        x: PyReadonlyArray2<'_, f64>,
        y: PyReadonlyArray1<'_, f64>,
        prior: (Vec<f64>, Vec<f64>),
        noise: Option<(String, f64)>,
        rows: usize,
    ) -> PyResult<Self> {
        let design = DesignMatrix::new(x.as_array().iter().copied().collect(), x.shape()[1], names).map_err(raised)?;
        let y = y.as_array().iter().copied().collect();
        let target = shards::part(likelihood, design, y, (prior.0, &prior.1), noise, rows)?;
        Self::checked(target.about().names, Source::Ready(target))
    }

    /// The sum over so many parts with so many rows: `like` is one of them, and `ask(request)` has all of them answer.
    /// Sums are kept in `journal`, the path of a file and what it is about, and are not asked for again.
    #[staticmethod]
    #[pyo3(signature = (like, shards, rows, ask, journal=None))]
    fn shards(
        like: &Model,
        shards: usize,
        rows: usize,
        ask: Py<PyAny>,
        journal: Option<(PathBuf, String)>,
    ) -> PyResult<Self> {
        let Source::Ready(part) = &like.source else {
            return Err(PyTypeError::new_err("shards are parts of a regression"));
        };
        let sum = SumOfShards::new(Elsewhere::new(shards, ask), part.about(), rows);
        let sum = match journal {
            Some((path, subject)) => sum.with_book(Book::open(path, &subject).map_err(raised)?),
            None => sum,
        };
        Self::checked(like.names.clone(), Source::Shards(sum))
    }

    /// The bytes that this part answers to the bytes of a request.
    fn answer<'py>(&self, py: Python<'py>, request: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
        let Source::Ready(part) = &self.source else {
            return Err(PyTypeError::new_err("parts of a regression answer requests, and no other model"));
        };
        let answered = py.detach(|| shards::answer(&**part, request))?;
        Ok(PyBytes::new(py, &answered))
    }

    /// Number of coordinates.
    #[getter]
    pub(crate) fn dim(&self) -> usize {
        self.names.len()
    }

    /// Names of the coordinates.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.names.clone()
    }
}

impl Model {
    fn checked(names: Vec<String>, source: Source) -> PyResult<Self> {
        if names.is_empty() {
            return Err(PyValueError::new_err("a model needs at least one parameter"));
        }
        Ok(Self { names, source })
    }
}

/// A model while it is asked: it looks for signals and keeps an exception of the user's function.
pub(crate) struct Asked<'a> {
    pub(crate) model: &'a Model,
    pub(crate) stop: &'a Stop,
}

impl Asked<'_> {
    fn batch(
        &self,
        draws: Draws<'_>,
        gradient: &Py<PyAny>,
        value: Option<&Py<PyAny>>,
        want: &Want<'_>,
        answer: &mut Answer,
    ) -> PyResult<()> {
        Python::attach(|py| {
            let (n, d) = (draws.len(), draws.dim());
            let z = PyArray1::from_slice(py, draws.as_slice()).reshape([n, d])?;
            if let (Want::Values, Some(value)) = (want, value) {
                let log_p = value.call1(py, (z,))?;
                return copy(&vector(log_p.bind(py), n)?, answer.log_p_mut());
            }
            let both = gradient.call1(py, (z,))?;
            let (log_p, grad): (Bound<'_, PyAny>, Bound<'_, PyAny>) = both.bind(py).extract().map_err(|_| {
                PyTypeError::new_err("the function must return a pair: log densities (n,) and gradients (n, d)")
            })?;
            let wrong = || shape_error("gradients", &format!("({n}, {d})"), &grad);
            let grad: PyReadonlyArray2<'_, f64> = grad.extract().map_err(|_| wrong())?;
            if grad.shape() != [n, d] {
                return Err(wrong());
            }
            copy(&vector(&log_p, n)?, answer.log_p_mut())?;
            let parts = answer.parts_mut();
            match grad.as_slice() {
                Ok(grad) => parts.grad.copy_from_slice(grad),
                Err(_) => parts.grad.iter_mut().zip(grad.as_array()).for_each(|(to, from)| *to = *from),
            }
            Ok(())
        })
    }

    /// Contracted Hessians by a callable on batches.
    fn curvature(
        &self,
        draws: Draws<'_>,
        hessian: &Py<PyAny>,
        sums: Contraction<'_>,
        answer: &mut Answer,
    ) -> PyResult<()> {
        let (places, d) = (weighed(sums, draws.len()), draws.dim());
        if places.is_empty() {
            return Ok(());
        }
        let points: Vec<f64> = places.iter().flat_map(|s| draws.get(*s).iter().copied()).collect();
        Python::attach(|py| {
            let z = PyArray1::from_vec(py, points).reshape([places.len(), d])?;
            let found = hessian.call1(py, (z,))?;
            let wrong = || shape_error("Hessians", &format!("({}, {d}, {d})", places.len()), found.bind(py));
            let hessians: PyReadonlyArray3<'_, f64> = found.extract(py).map_err(|_| wrong())?;
            if hessians.shape() != [places.len(), d, d] {
                return Err(wrong());
            }
            let entries: Cow<'_, [f64]> = match hessians.as_slice() {
                Ok(entries) => Cow::Borrowed(entries),
                Err(_) => Cow::Owned(hessians.as_array().iter().copied().collect()),
            };
            contract(sums, &places, &entries, answer);
            Ok(())
        })
    }

    /// Calls the user's function, and keeps an exception of it. Ctrl-C inside of it pulls the handle, and the call is
    /// made again, so that the step that is under way has its answer; a second Ctrl-C ends that, too. A function that
    /// has raised is not asked where else it does.
    fn called(&self, mut call: impl FnMut() -> PyResult<()>) -> Result<(), TargetError> {
        let over = |message| TargetError { message, recoverable: false };
        if self.stop.failed() {
            return Err(over(Cow::Borrowed("the model has raised an exception")));
        }
        let answered = match call() {
            Err(exception) if self.stop.is_pulled_by(&exception) && self.stop.grants_a_call() => call(),
            answered => answered,
        };
        answered.map_err(|exception| {
            if self.stop.is_pulled_by(&exception) {
                return over(Cow::Borrowed("the fit was interrupted"));
            }
            let message = Cow::Owned(exception.to_string());
            self.stop.fail(exception);
            over(message)
        })
    }
}

/// Adds Σ_s weight ∇²log p(z_s) to the sums of an answer; the Hessians of the draws at `places` follow one another.
fn contract(sums: Contraction<'_>, places: &[usize], hessians: &[f64], answer: &mut Answer) {
    let Parts { mut curvature, .. } = answer.parts_mut();
    let size = curvature.dim() * curvature.dim();
    for (s, hessian) in places.iter().zip(hessians.chunks_exact(size)) {
        for (k, weight) in sums.of_draw(*s).filter(|(_, weight)| *weight != 0.0) {
            curvature.add_matrix(k, weight, hessian);
        }
    }
}

/// The draws that some sum gives a weight.
fn weighed(sums: Contraction<'_>, n: usize) -> Vec<usize> {
    (0..n).filter(|s| sums.of_draw(*s).any(|(_, weight)| weight != 0.0)).collect()
}

fn vector<'py>(array: &Bound<'py, PyAny>, n: usize) -> PyResult<PyReadonlyArray1<'py, f64>> {
    let vector: PyReadonlyArray1<'py, f64> =
        array.extract().map_err(|_| shape_error("log densities", &format!("({n},), one for each point"), array))?;
    if vector.len() != n {
        return Err(shape_error("log densities", &format!("({n},), one for each point"), array));
    }
    Ok(vector)
}

fn copy(from: &PyReadonlyArray1<'_, f64>, to: &mut [f64]) -> PyResult<()> {
    to.iter_mut().zip(from.as_array()).for_each(|(to, from)| *to = *from);
    Ok(())
}

fn shape_error(what: &str, expected: &str, found: &Bound<'_, PyAny>) -> PyErr {
    let of = |name: &str| found.getattr(name).map(|value| value.to_string());
    let found = match (of("dtype"), of("shape")) {
        (Ok(dtype), Ok(shape)) => format!("{dtype} of shape {shape}"),
        _ => found.get_type().to_string(),
    };
    PyValueError::new_err(format!("{what} must be an array of float64 of shape {expected}; the function gave {found}"))
}

impl Target for Asked<'_> {
    fn about(&self) -> About {
        let offers = match &self.model.source {
            Source::Batch { value, hessian, .. } => {
                Offers { values: value.is_some(), hessian: hessian.is_some(), ..Offers::GRADIENT }
            }
            Source::Stan { stan, .. } => Offers { hessian: stan.has_hessian(), ..Offers::GRADIENT },
            Source::Address { .. } => Offers::GRADIENT,
            Source::Ready(target) => return target.about(),
            Source::Shards(sum) => return sum.about(),
        };
        let names = self.model.names.clone();
        About { parameters: names.clone(), names, offers, ..About::new(self.model.dim()) }
    }

    fn evaluate(&self, ask: &Ask<'_>, answer: &mut Answer) -> Result<(), TargetError> {
        self.stop.look();
        let is_ready = matches!(self.model.source, Source::Ready(_));
        if !is_ready && self.stop.pulled() && !self.stop.failed() && !self.stop.grants_a_call() {
            // A step that has many batches ends without them.
            answer.log_p_mut().fill(f64::NAN);
            return Ok(());
        }
        match &self.model.source {
            Source::Batch { gradient, value, hessian } => {
                if !matches!(ask.want, Want::HessianAlone(_)) {
                    self.called(|| self.batch(ask.draws, gradient, value.as_ref(), &ask.want, answer))?;
                }
                match (ask.contraction(), hessian) {
                    (Some(sums), Some(hessian)) => self.called(|| self.curvature(ask.draws, hessian, sums, answer)),
                    _ => Ok(()),
                }
            }
            Source::Address { function, .. } => {
                point_by_point(ask, answer, |z, gradient| function.call(z, gradient));
                Ok(())
            }
            Source::Stan { stan, .. } => {
                if !matches!(ask.want, Want::HessianAlone(_)) {
                    point_by_point(ask, answer, |z, gradient| stan.call(z, gradient));
                }
                if let Some(sums) = ask.contraction() {
                    let (places, d) = (weighed(sums, ask.draws.len()), ask.draws.dim());
                    let mut hessians = vec![f64::NAN; places.len() * d * d];
                    for (s, hessian) in places.iter().zip(hessians.chunks_exact_mut(d * d)) {
                        stan.hessian(ask.draws.get(*s), hessian);
                    }
                    contract(sums, &places, &hessians, answer);
                }
                Ok(())
            }
            Source::Ready(target) => target.evaluate(ask, answer),
            Source::Shards(sum) => {
                self.stop.look();
                if self.stop.failed() {
                    return Err(TargetError::fatal("a shard has raised an exception"));
                }
                let answered = sum.evaluate(ask, answer);
                if let Some(exception) = sum.shards().exception() {
                    if !self.stop.is_pulled_by(&exception) {
                        self.stop.fail(exception);
                    }
                }
                answered
            }
        }
    }
}

fn point_by_point(ask: &Ask<'_>, answer: &mut Answer, call: impl Fn(&[f64], &mut [f64]) -> f64) {
    for (s, z) in ask.draws.iter().enumerate() {
        let log_p = call(z, answer.grad_mut(s));
        answer.log_p_mut()[s] = log_p;
    }
}

/// log p and ∇log p at the rows of `z`, by the way that a fit takes.
#[pyfunction]
pub(crate) fn evaluate<'py>(
    py: Python<'py>,
    model: &Model,
    z: PyReadonlyArray2<'py, f64>,
) -> PyResult<(Bound<'py, PyArray1<f64>>, Bound<'py, PyArray2<f64>>)> {
    let (n, d) = (z.shape()[0], z.shape()[1]);
    if d != model.dim() {
        return Err(PyValueError::new_err(format!(
            "points of the model have {} coordinates, these have {d}",
            model.dim()
        )));
    }
    let points: Vec<f64> = z.as_array().iter().copied().collect();
    let (stop, mut answer) = (Stop::new(), Answer::new(d, n));
    let asked = Asked { model, stop: &stop };
    py.detach(|| asked.evaluate(&Ask::all(Draws::new(d, &points), Want::Gradients), &mut answer))
        .map_err(|error| stop.cause().unwrap_or_else(|| PyValueError::new_err(error.to_string())))?;
    let gradients = PyArray1::from_slice(py, answer.grads()).reshape([n, d])?;
    Ok((PyArray1::from_slice(py, answer.log_p()), gradients))
}
