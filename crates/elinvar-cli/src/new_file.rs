//! Files that are there as a whole or not at all.

use std::io::{self, Write as _};
use std::path::Path;

use elinvar_analysis::error::Failure;
use elinvar_analysis::place::temporary_file;
use tempfile::NamedTempFile;

/// Refuses a place where something stands already or nothing can be written.
pub(crate) fn check_new(path: &Path, flag: &str) -> Result<(), Failure> {
    if path.symlink_metadata().is_ok() {
        return Err(exists(path, flag));
    }
    temporary_file(path).map(|_| ()).map_err(|e| unwritable(path, flag, &e))
}

/// Writes a file that was not there.
pub(crate) fn write_new(path: &Path, bytes: &[u8], flag: &str) -> Result<(), Failure> {
    let file = filled(path, bytes).map_err(|e| unwritable(path, flag, &e))?;
    match file.persist_noclobber(path) {
        Err(failed) if failed.error.kind() == io::ErrorKind::AlreadyExists => Err(exists(path, flag)),
        outcome => outcome.map(|_| ()).map_err(|failed| unwritable(path, flag, &failed.error)),
    }
}

/// Writes a file in place of what stands there.
pub(crate) fn replace(path: &Path, bytes: &[u8], flag: &str) -> Result<(), Failure> {
    let file = filled(path, bytes).map_err(|e| unwritable(path, flag, &e))?;
    file.persist(path).map(|_| ()).map_err(|failed| unwritable(path, flag, &failed.error))
}

fn filled(path: &Path, bytes: &[u8]) -> io::Result<NamedTempFile> {
    let mut file = temporary_file(path)?;
    file.as_file_mut().write_all(bytes)?;
    Ok(file)
}

fn exists(path: &Path, flag: &str) -> Failure {
    Failure::input(format!("{} exists already; name another file with {flag} or remove it", path.display()))
}

fn unwritable(path: &Path, flag: &str, source: &io::Error) -> Failure {
    Failure::input(format!(
        "{}: it cannot be written ({}); name another place with {flag}",
        path.display(),
        source.kind()
    ))
}
