//! Everything that can go wrong, as data with a sentence.

use std::path::PathBuf;

use crate::target::fault::shown;
use crate::target::{Fault, TargetError};

/// The library's error; each variant carries the facts, its `Display` is a sentence that says what to do.
///
/// ```
/// use elinvar::prelude::*;
///
/// // The sign of the slope is wrong.
/// let model = log_density(1, |x, gradient| {
///     gradient[0] = x[0];
///     -0.5 * x[0] * x[0]
/// });
/// match elinvar::fit(&model) {
///     Err(Error::Interrupted) => println!("stopped"),
///     Err(error) => println!("{error}"),
///     Ok(posterior) => println!("{posterior}"),
/// }
/// ```
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Two sizes that must agree do not.
    #[error("{what}: expected {expected}, found {found}")]
    Shape {
        /// What has the size.
        what: &'static str,
        /// The size it must have.
        expected: usize,
        /// The size it has.
        found: usize,
    },
    /// A parameter lies outside its domain.
    #[error("{parameter} = {value} is outside its domain: {reason}")]
    Domain {
        /// Name of the parameter.
        parameter: &'static str,
        /// Its value.
        value: f64,
        /// The condition it violates.
        reason: &'static str,
    },
    /// A matrix that must be positive definite is not.
    #[error("{what} is not positive definite (pivot {pivot})")]
    NotPositiveDefinite {
        /// Which matrix.
        what: &'static str,
        /// The first pivot that is not positive.
        pivot: usize,
    },
    /// A data item cannot be used.
    #[error("{place}: {problem}")]
    Data {
        /// Where it is, for example a row and a column.
        place: String,
        /// What is wrong and what to do.
        problem: String,
    },
    /// A combination of choices that does not exist.
    #[error("{wanted} is not available here; {instead}")]
    Unsupported {
        /// What was asked for.
        wanted: String,
        /// What to use instead.
        instead: String,
    },
    /// The target failed in a way that dropping the draw cannot mend.
    #[error("{source}{}", point.as_ref().map_or_else(String::new, |point| format!(", at z = {point}")))]
    Target {
        /// What the target said.
        source: TargetError,
        /// What it was asked for, or the first of several points, where that is known.
        point: Option<String>,
    },
    /// The code of the target panicked.
    #[error("the model panicked at z = {point}: {message}; this is a mistake in the code of the model")]
    Panicked {
        /// The text of the panic.
        message: String,
        /// What it was asked for, or the first of several points.
        point: String,
    },
    /// Answers of the target contradict each other.
    #[error("{0}")]
    Fault(Fault),
    /// The target is not finite on most draws from the starting point.
    #[error(
        "{what} is not finite at {bad} of the {total} first draws, for example at z = {example}; start elsewhere or narrower, or check the model"
    )]
    BadStart {
        /// What is not finite at the example: the log density or its gradient.
        what: &'static str,
        /// Number of draws where the density or its gradient is not finite.
        bad: usize,
        /// Number of draws.
        total: usize,
        /// One such draw.
        example: String,
    },
    /// A step of the rule `printed` leads out of the domain of the parameters.
    #[error(
        "step {step} leaves the domain: {what} would be {value:.5e}; take shorter steps or more draws, or have such steps halved (on_leaving = halve)"
    )]
    LeftDomain {
        /// Index of the step, as in the trace.
        step: u64,
        /// The quantity that has no such value.
        what: String,
        /// Its value: for a precision the smallest eigenvalue.
        value: f64,
    },
    /// A fit that is kept in a journal was asked to end before its time; the journal has what it had reached.
    #[error("the fit was interrupted; its journal has what it had reached")]
    Interrupted,
    /// A law, component or family of your own does not keep a rule that [`conformance`](crate::conformance) tries.
    #[error("{rule}: {found}")]
    Broken {
        /// The rule.
        rule: &'static str,
        /// What was found instead.
        found: String,
    },
    /// A file could not be read or written.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A file is not what it should be.
    #[error("{path}: {problem}")]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong and what to do.
        problem: String,
    },
}

/// What most functions of the library return; of `main`, too: a program that ends with an [`Error`] prints its
/// sentence.
pub type Result<T = (), E = Error> = std::result::Result<T, E>;

impl std::fmt::Debug for Error {
    /// The sentence: it is what a `main` that returns the error prints.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

impl From<TargetError> for Error {
    fn from(source: TargetError) -> Self {
        Self::Target { source, point: None }
    }
}

impl Error {
    /// The error of a first batch of which `bad` of `total` draws could not be evaluated, for example at z, where the
    /// log density is `log_p`.
    pub(crate) fn bad_start(bad: usize, total: usize, z: &[f64], log_p: f64) -> Self {
        let what = if log_p.is_finite() { "the gradient of the log density" } else { "the log density" };
        Self::BadStart { what, bad, total, example: shown(z) }
    }
}
