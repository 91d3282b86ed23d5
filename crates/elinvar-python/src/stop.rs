//! How a fit ends before its time: Ctrl-C, a handle that another thread pulls, or an exception of the user's function.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use elinvar::run::Interrupt;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;

/// How often Python is asked whether a signal has arrived. Asking takes the lock of the interpreter.
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);

/// A handle by which any thread ends a fit.
#[pyclass(frozen, module = "elinvar._elinvar")]
pub(crate) struct Stop {
    made: Instant,
    /// Milliseconds since `made` at the last look.
    looked: AtomicU64,
    wanted: AtomicBool,
    /// Whether the model has been called since.
    granted: AtomicBool,
    exception: Mutex<Option<PyErr>>,
}

#[pymethods]
impl Stop {
    #[new]
    pub(crate) fn new() -> Self {
        Self {
            made: Instant::now(),
            looked: AtomicU64::new(0),
            wanted: AtomicBool::new(false),
            granted: AtomicBool::new(false),
            exception: Mutex::new(None),
        }
    }

    /// Asks the fit to end with what it has.
    pub(crate) fn pull(&self) {
        self.wanted.store(true, Ordering::Release);
    }

    /// Whether it was asked to.
    #[getter]
    pub(crate) fn pulled(&self) -> bool {
        self.wanted.load(Ordering::Acquire)
    }
}

impl Stop {
    /// Keeps the exception that ends the fit; the first one wins.
    pub(crate) fn fail(&self, exception: PyErr) {
        self.exception.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(exception);
        self.pull();
    }

    /// Whether an exception is Ctrl-C, which pulls the handle.
    pub(crate) fn is_pulled_by(&self, exception: &PyErr) -> bool {
        let pulled = Python::attach(|py| exception.is_instance_of::<PyKeyboardInterrupt>(py));
        if pulled {
            self.pull();
        }
        pulled
    }

    /// The exception that has ended the fit, if one has.
    pub(crate) fn exception(&self) -> Option<PyErr> {
        self.exception.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Whether a model may still be called after the handle was pulled: once.
    pub(crate) fn grants_a_call(&self) -> bool {
        !self.granted.swap(true, Ordering::AcqRel)
    }

    /// What ends a call that gives nothing: the exception, or Ctrl-C.
    pub(crate) fn cause(&self) -> Option<PyErr> {
        let pulled = || self.pulled().then(|| PyKeyboardInterrupt::new_err("interrupted"));
        self.exception().or_else(pulled)
    }

    /// Whether an exception has ended the fit.
    pub(crate) fn failed(&self) -> bool {
        self.exception.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// Asks Python for signals, if the last look was long enough ago. Ctrl-C pulls the handle.
    pub(crate) fn look(&self) {
        let now = self.made.elapsed().as_millis() as u64;
        let last = self.looked.load(Ordering::Relaxed);
        let due = now >= last + BETWEEN_LOOKS.as_millis() as u64;
        if due && self.looked.compare_exchange(last, now, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
            Python::attach(|py| {
                if let Err(signal) = py.check_signals() {
                    if !self.is_pulled_by(&signal) {
                        self.fail(signal);
                    }
                }
            });
        }
    }
}

impl Interrupt for Stop {
    fn is_raised(&self) -> bool {
        self.look();
        self.pulled()
    }
}
