//! Named points in the life of a run folder, at which tests end the program, fail or panic.
//!
//! `ELINVAR_FAIL_AT="settings kept:abort"` has a build with debug assertions do so; other builds know nothing of it.

use std::io;

/// Passes a named point.
///
/// # Errors
/// That the disk is full, where a test says so.
#[cfg(debug_assertions)]
pub(crate) fn pass(point: &str) -> io::Result<()> {
    let Ok(asked) = std::env::var("ELINVAR_FAIL_AT") else { return Ok(()) };
    match asked.rsplit_once(':') {
        Some((at, "abort")) if at == point => std::process::abort(),
        Some((at, "panic")) if at == point => panic!("a test asks for it at the point \"{point}\""),
        Some((at, "full")) if at == point => Err(io::ErrorKind::StorageFull.into()),
        _ => Ok(()),
    }
}

/// Passes a named point.
///
/// # Errors
/// None.
#[cfg(not(debug_assertions))]
pub(crate) fn pass(_: &str) -> io::Result<()> {
    Ok(())
}
