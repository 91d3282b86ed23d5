//! Shards that Python asks: a request as bytes goes out, sums as bytes come back.

use std::sync::{Mutex, PoisonError};

use elinvar::model::{DesignMatrix, LinearRegression, LogisticRegression, NoisePrior, PoissonRegression};
use elinvar::research::target::shards::{AddUp, Request, ShardError, Shards, Sums, evaluate};
use elinvar::target::{Prior, Target};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::fit::raised;

/// Shards behind a callable: `ask(request)` gives pairs of a number and the bytes of its sums, in any order.
pub(crate) struct Elsewhere {
    pub(crate) n_shards: usize,
    pub(crate) ask: Py<PyAny>,
    exception: Mutex<Option<PyErr>>,
}

impl Elsewhere {
    pub(crate) fn new(n_shards: usize, ask: Py<PyAny>) -> Self {
        Self { n_shards, ask, exception: Mutex::new(None) }
    }

    /// The exception that the callable has raised, if it has.
    pub(crate) fn exception(&self) -> Option<PyErr> {
        self.exception.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn called(&self, py: Python<'_>, request: &Request, sums: &mut AddUp) -> PyResult<Result<(), ShardError>> {
        let answers = self.ask.bind(py).call1((PyBytes::new(py, &request.to_bytes()),))?;
        for answer in answers.try_iter()? {
            let (shard, bytes): (usize, Bound<'_, PyBytes>) = answer?.extract()?;
            let of = Sums::from_bytes(bytes.as_bytes()).map_err(raised)?;
            if let Err(error) = sums.add(shard, of) {
                return Ok(Err(error));
            }
        }
        Ok(Ok(()))
    }
}

impl Shards for Elsewhere {
    fn len(&self) -> usize {
        self.n_shards
    }

    fn ask(&self, request: &Request, sums: &mut AddUp) -> Result<(), ShardError> {
        Python::attach(|py| match self.called(py, request, sums) {
            Ok(answered) => answered,
            Err(exception) => {
                let problem = exception.to_string();
                *self.exception.lock().unwrap_or_else(PoisonError::into_inner) = Some(exception);
                Err(ShardError::Gone { problem })
            }
        })
    }
}

/// A regression over some of `n_rows` rows: `prior` are means and standard deviations of the coefficients, `noise` is
/// the law of sigma for `linear`.
pub(crate) fn part(
    likelihood: &str,
    x: DesignMatrix,
    y: Vec<f64>,
    (mean, sd): (Vec<f64>, &[f64]),
    noise: Option<(String, f64)>,
    n_rows: usize,
) -> PyResult<Box<dyn Target + Send>> {
    let is_plain = mean.iter().all(|mean| *mean == 0.0) && sd.iter().all(|of| *of == sd[0]);
    let leading = x.n_cols();
    let prior =
        if is_plain { Prior::Gaussian { precision: 1.0 / (sd[0] * sd[0]), leading } } else { Prior::normal(mean, sd) };
    let made: Result<Box<dyn Target + Send>, elinvar::Error> = match likelihood {
        "logistic" => LogisticRegression::new(x, y, 1.0)
            .and_then(|model| model.with_coefficient_prior(prior))
            .map(|model| Box::new(model) as Box<dyn Target + Send>),
        "poisson" => PoissonRegression::new(x, y, 1.0)
            .and_then(|model| model.with_coefficient_prior(prior))
            .map(|model| Box::new(model) as Box<dyn Target + Send>),
        "linear" => {
            let noise = match noise {
                Some((law, rate)) if law == "exponential" => NoisePrior::Exponential { rate },
                Some((_, scale)) => NoisePrior::HalfCauchy { scale },
                None => NoisePrior::HalfCauchy { scale: 2.5 },
            };
            LinearRegression::new(x, y, 1.0)
                .and_then(|model| model.with_coefficient_prior(prior))
                .and_then(|model| model.with_noise_prior(noise))
                .map(|model| Box::new(model.as_part_of(n_rows).without_rows()) as Box<dyn Target + Send>)
        }
        other => return Err(PyValueError::new_err(format!("there is no regression {other:?}"))),
    };
    made.map_err(raised)
}

/// What a part answers to the bytes of a request.
pub(crate) fn answer(part: &dyn Target, request: &[u8]) -> PyResult<Vec<u8>> {
    let request = Request::from_bytes(request).map_err(raised)?;
    let sums = evaluate(part, &request).map_err(|error| PyValueError::new_err(error.to_string()))?;
    Ok(sums.to_bytes())
}
