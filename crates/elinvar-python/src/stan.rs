//! A Stan program that was compiled to a library with BridgeStan's C interface.

use std::ffi::{c_char, c_void};
use std::sync::{Mutex, PoisonError};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// `bs_log_density_gradient(model, propto, jacobian, z, value, gradient, message)`, 0 where all went well.
type Gradient = unsafe extern "C" fn(*mut c_void, bool, bool, *const f64, *mut f64, *mut f64, *mut *mut c_char) -> i32;
/// `bs_free_error_msg(message)`.
type Free = unsafe extern "C" fn(*mut c_char);

/// The functions of such a library, and a model of it.
pub(crate) struct Stan {
    gradient: Gradient,
    free: Free,
    model: *mut c_void,
    /// A library without threads has one tape for all.
    tape: Mutex<()>,
}

// The model does not change after it was made, and the tape is locked while it is used.
unsafe impl Send for Stan {}
unsafe impl Sync for Stan {}

impl Stan {
    /// The model at the address `model`, and the functions at two others; the caller promises that they are these.
    pub(crate) fn new(gradient: usize, free: usize, model: usize) -> PyResult<Self> {
        if [gradient, free, model].contains(&0) {
            return Err(PyValueError::new_err("the addresses of a Stan model cannot be 0"));
        }
        let gradient = unsafe { std::mem::transmute::<usize, Gradient>(gradient) };
        let free = unsafe { std::mem::transmute::<usize, Free>(free) };
        Ok(Self { gradient, free, model: model as *mut c_void, tape: Mutex::new(()) })
    }

    /// log p with its constants and Jacobian, and ∇log p; NaN where Stan rejects the point.
    pub(crate) fn call(&self, z: &[f64], gradient: &mut [f64]) -> f64 {
        let _tape = self.tape.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut value, mut message) = (f64::NAN, std::ptr::null_mut());
        // `z` and `gradient` have as many numbers as the model has unconstrained parameters.
        let code = unsafe {
            (self.gradient)(
                self.model,
                false,
                true,
                z.as_ptr(),
                &raw mut value,
                gradient.as_mut_ptr(),
                &raw mut message,
            )
        };
        if code == 0 {
            return value;
        }
        if !message.is_null() {
            // The library has made it and wants it back.
            unsafe { (self.free)(message) };
        }
        f64::NAN
    }
}
