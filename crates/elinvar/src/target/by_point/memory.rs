//! Working memory that a thread keeps between calls, for interfaces that carry no scratch.

use std::cell::RefCell;

thread_local! {
    static FREE: RefCell<Vec<Vec<f64>>> = const { RefCell::new(Vec::new()) };
}

/// Calls `f` with `len` numbers of unspecified value; nested calls get memory of their own.
pub(crate) fn with_memory<R>(len: usize, f: impl FnOnce(&mut [f64]) -> R) -> R {
    let mut buffer = FREE.with_borrow_mut(|free| free.pop()).unwrap_or_default();
    if buffer.len() < len {
        buffer.resize(len, 0.0);
    }
    let result = f(&mut buffer[..len]);
    FREE.with_borrow_mut(|free| free.push(buffer));
    result
}
