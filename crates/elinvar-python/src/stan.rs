//! A Stan program that was compiled to a library with BridgeStan's C interface.

use std::ffi::{c_char, c_void};
use std::sync::{Mutex, PoisonError};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// `bs_log_density_gradient(model, propto, jacobian, z, value, gradient, message)`, 0 where all went well.
type Gradient = unsafe extern "C" fn(*mut c_void, bool, bool, *const f64, *mut f64, *mut f64, *mut *mut c_char) -> i32;
/// `bs_log_density_hessian(model, propto, jacobian, z, value, gradient, hessian, message)`, likewise.
type Hessian =
    unsafe extern "C" fn(*mut c_void, bool, bool, *const f64, *mut f64, *mut f64, *mut f64, *mut *mut c_char) -> i32;
/// `bs_free_error_msg(message)`.
type Free = unsafe extern "C" fn(*mut c_char);

/// The functions of such a library, and a model of it.
pub(crate) struct Stan {
    gradient: Gradient,
    hessian: Option<Hessian>,
    free: Free,
    model: *mut c_void,
    /// A library without threads has one tape for all.
    tape: Mutex<()>,
}

// The model does not change after it was made, and the tape is locked while it is used.
unsafe impl Send for Stan {}
unsafe impl Sync for Stan {}

impl Stan {
    /// The model at the address `model`, and the functions at the others; the caller promises that they are these.
    pub(crate) fn new(gradient: usize, free: usize, model: usize, hessian: usize) -> PyResult<Self> {
        if [gradient, free, model].contains(&0) {
            return Err(PyValueError::new_err("the addresses of a Stan model cannot be 0"));
        }
        let gradient = unsafe { std::mem::transmute::<usize, Gradient>(gradient) };
        let free = unsafe { std::mem::transmute::<usize, Free>(free) };
        let hessian = (hessian != 0).then(|| unsafe { std::mem::transmute::<usize, Hessian>(hessian) });
        Ok(Self { gradient, hessian, free, model: model as *mut c_void, tape: Mutex::new(()) })
    }

    /// Whether Hessians are to be had.
    pub(crate) fn has_hessian(&self) -> bool {
        self.hessian.is_some()
    }

    /// ∇²log p, d² numbers; NaN where Stan rejects the point or has no Hessian.
    pub(crate) fn hessian(&self, z: &[f64], hessian: &mut [f64]) {
        let Some(function) = self.hessian else { return hessian.fill(f64::NAN) };
        let (z, mut gradient, out) = (z.as_ptr(), vec![0.0; z.len()], hessian.as_mut_ptr());
        // The gradient has as many numbers as `z`, the Hessian has their square.
        let found = self.ask(|value, message| unsafe {
            function(self.model, false, true, z, value, gradient.as_mut_ptr(), out, message)
        });
        if found.is_none() {
            hessian.fill(f64::NAN);
        }
    }

    /// Calls a function of the library, which writes log p and, where it does not return 0, a message of its own.
    fn ask(&self, function: impl FnOnce(*mut f64, *mut *mut c_char) -> i32) -> Option<f64> {
        let _tape = self.tape.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut value, mut message) = (f64::NAN, std::ptr::null_mut());
        if function(&raw mut value, &raw mut message) == 0 {
            return Some(value);
        }
        if !message.is_null() {
            unsafe { (self.free)(message) };
        }
        None
    }

    /// log p with its constants and Jacobian, and ∇log p; NaN where Stan rejects the point.
    pub(crate) fn call(&self, z: &[f64], gradient: &mut [f64]) -> f64 {
        let (z, out) = (z.as_ptr(), gradient.as_mut_ptr());
        // `z` and `gradient` have as many numbers as the model has unconstrained parameters.
        let found =
            self.ask(|value, message| unsafe { (self.gradient)(self.model, false, true, z, value, out, message) });
        found.unwrap_or(f64::NAN)
    }
}
