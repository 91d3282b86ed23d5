//! Panics of readers that others have written, which are answered by an error.

use std::cell::Cell;
#[cfg(feature = "parquet")]
use std::panic::{AssertUnwindSafe, catch_unwind};

thread_local! {
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread reads a file with a reader whose panics become errors: a program that reports panics by a hook
/// of its own has nothing to report then.
pub fn is_guarded() -> bool {
    GUARDED.get()
}

/// What `read` returns, or nothing if it panics.
#[cfg(feature = "parquet")]
pub(crate) fn guarded<T>(read: impl FnOnce() -> T) -> Option<T> {
    let before = GUARDED.replace(true);
    let outcome = catch_unwind(AssertUnwindSafe(read));
    GUARDED.set(before);
    outcome.ok()
}
