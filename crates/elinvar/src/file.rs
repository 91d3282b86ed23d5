//! Files of the library: JSON with a header that says what they are and a checksum at their end, written whole or not
//! at all.

mod checksum;
mod whole;

pub use checksum::fingerprint;
pub use whole::{is_left_over, replace};

use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::Error;

/// A kind of file, with the oldest layout that this version reads and the newest, which it writes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Format {
    pub(crate) name: &'static str,
    pub(crate) oldest: u32,
    pub(crate) newest: u32,
    /// The oldest layout whose files end with a checksum.
    pub(crate) sealed: u32,
}

/// The first fields of every file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Header {
    format: String,
    schema: u32,
    elinvar: String,
}

impl Header {
    pub(crate) fn new(format: Format) -> Self {
        Self { format: format.name.into(), schema: format.newest, elinvar: env!("CARGO_PKG_VERSION").into() }
    }
}

/// Writes `value`, with a checksum, in the place of what `path` holds.
pub(crate) fn write<T: Serialize>(path: &Path, value: &T) -> Result<(), Error> {
    put(path, serde_json::to_vec_pretty(value))
}

/// [`write()`] for a file that nobody reads.
pub(crate) fn write_compact<T: Serialize>(path: &Path, value: &T) -> Result<(), Error> {
    put(path, serde_json::to_vec(value))
}

fn put(path: &Path, text: serde_json::Result<Vec<u8>>) -> Result<(), Error> {
    let io = |source| Error::Io { path: path.into(), source };
    let mut text = text.map_err(|e| io(e.into()))?;
    checksum::seal(&mut text);
    replace(path, &text).map_err(io)
}

/// The error for a file whose content cannot be used.
pub(crate) fn damaged(path: &Path, problem: &dyn std::fmt::Display) -> Error {
    Error::File { path: path.into(), problem: format!("the file is damaged: {problem}") }
}

/// Reads a file of the given format.
pub(crate) fn read<T: DeserializeOwned>(path: &Path, format: Format) -> Result<T, Error> {
    serde_json::from_value(read_value(path, format)?).map_err(|e| damaged(path, &e))
}

/// [`read`] for a file that has a meaning only for the version that wrote it.
pub(crate) fn read_own<T: DeserializeOwned>(path: &Path, format: Format) -> Result<T, Error> {
    let value = read_value(path, format)?;
    let by = value.get("elinvar").and_then(|v| v.as_str()).unwrap_or("another version");
    let this = env!("CARGO_PKG_VERSION");
    if by != this {
        let problem = format!("it was written by elinvar {by} and means nothing to elinvar {this}");
        return Err(Error::File { path: path.into(), problem });
    }
    serde_json::from_value(value).map_err(|e| damaged(path, &e))
}

fn read_value(path: &Path, format: Format) -> Result<serde_json::Value, Error> {
    let bytes = std::fs::read(path).map_err(|source| Error::Io { path: path.into(), source })?;
    let problem = |problem: String| Error::File { path: path.into(), problem };
    let Format { name: format, oldest, newest, sealed } = format;
    if bytes.is_empty() {
        return Err(problem(format!("the file is empty, not an {format} file; write it again")));
    }
    let value: serde_json::Value = serde_json::from_slice(&bytes).map_err(|e| {
        problem(if e.is_eof() {
            format!("the file ends too early (line {}); it was cut off while being copied or written", e.line())
        } else {
            format!("this is not an {format} file (line {}, column {}: not JSON)", e.line(), e.column())
        })
    })?;
    let found = value.get("format").and_then(|v| v.as_str()).unwrap_or("none");
    if found != format {
        return Err(problem(format!("this is not an {format} file (its `format` is {found:?})")));
    }
    let schema = value.get("schema").and_then(serde_json::Value::as_u64).unwrap_or(0);
    let by = || value.get("elinvar").and_then(|v| v.as_str()).unwrap_or("another version");
    if schema > u64::from(newest) {
        return Err(problem(format!(
            "the file has schema {schema}, written by elinvar {}; this version reads up to {newest}: update elinvar",
            by()
        )));
    }
    if schema < u64::from(oldest) {
        return Err(problem(format!(
            "the file has schema {schema}, written by elinvar {}; this version reads from {oldest} on: an unfinished fit \
             is continued by the version that began it, or begun again",
            by()
        )));
    }
    if schema >= u64::from(sealed) && !checksum::holds(&bytes) {
        return Err(problem("the file is damaged: its checksum does not fit; something has changed it since".into()));
    }
    Ok(value)
}
