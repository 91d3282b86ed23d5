//! A log density that is a C function: a numba `cfunc`, what PyTensor compiles, or a library of one's own.

use std::ffi::c_void;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// `int f(size_t dim, const double *x, double *gradient, double *log_density, void *user)`, 0 where all went well.
type Signature = unsafe extern "C" fn(usize, *const f64, *mut f64, *mut f64, *mut c_void) -> i32;

/// The function at an address, and what it is given besides the point.
#[derive(Clone, Copy)]
pub(crate) struct Function {
    function: Signature,
    user: *mut c_void,
}

// Whoever hands an address over promises that the function may be called from any thread; the documentation of
// `from_address` says so.
unsafe impl Send for Function {}
unsafe impl Sync for Function {}

impl Function {
    /// The function at `address`, with the pointer `user`.
    pub(crate) fn new(address: usize, user: usize) -> PyResult<Self> {
        if address == 0 {
            return Err(PyValueError::new_err("the address of a log density cannot be 0"));
        }
        // The caller promises that there is such a function.
        let function = unsafe { std::mem::transmute::<usize, Signature>(address) };
        Ok(Self { function, user: user as *mut c_void })
    }

    /// log p and ∇log p at a point; NaN where the function says that it failed.
    pub(crate) fn call(&self, z: &[f64], gradient: &mut [f64]) -> f64 {
        let mut log_density = f64::NAN;
        // `z` and `gradient` have `z.len()` numbers each, and the function does not keep them.
        let code =
            unsafe { (self.function)(z.len(), z.as_ptr(), gradient.as_mut_ptr(), &raw mut log_density, self.user) };
        if code == 0 { log_density } else { f64::NAN }
    }
}
