//! Kinds of files, told by their first bytes and, for text, by its form.

use std::fmt;
use std::io::{Cursor, Read};
use std::path::Path;

use serde::{Serialize, Serializer};

use crate::draft::Draft;
use crate::open::{cannot_open, ending, open, own_text};
use crate::{Error, Reading, csv, libsvm, npy, npz};

/// The kind of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Text with a header line and cells between delimiters.
    Csv {
        /// What stands between cells.
        delimiter: char,
    },
    /// Text with a label and `index:value` pairs on each line, also named svmlight.
    Libsvm,
    /// One array as numpy saves it.
    Npy,
    /// Several named arrays as numpy saves them.
    Npz,
    /// Apache Parquet.
    Parquet,
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Format::Csv { delimiter: ';' } => "CSV, separated by semicolons",
            Format::Csv { delimiter: '\t' } => "CSV, separated by tabs",
            Format::Csv { .. } => "CSV, separated by commas",
            Format::Libsvm => "LIBSVM",
            Format::Npy => "npy",
            Format::Npz => "npz",
            Format::Parquet => "parquet",
        })
    }
}

impl Serialize for Format {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Reads a file of any kind; `lenient` keeps infinite numbers.
pub(crate) fn read(path: &Path, reading: &Reading, lenient: bool) -> Result<Draft, Error> {
    let (mut file, first) = open(path)?;
    let ending = ending(path);
    if first.starts_with(b"\x93NUMPY") {
        return match file.metadata().ok().filter(|about| about.is_file()) {
            Some(about) => npy::read(path, Cursor::new(first).chain(file), about.len(), reading),
            // A pipe has no size of its own.
            None => {
                let mut bytes = first;
                file.read_to_end(&mut bytes).map_err(|source| cannot_open(path, source))?;
                npy::read(path, bytes.as_slice(), bytes.len() as u64, reading)
            }
        };
    }
    if first.starts_with(b"PK\x03\x04") || first.starts_with(b"PK\x05\x06") {
        if matches!(ending.as_str(), "xlsx" | "ods") {
            return Err(content(path, "this is a spreadsheet", "save the sheet as CSV in UTF-8"));
        }
        return npz::read(path, file, reading);
    }
    if first.starts_with(b"PAR1") {
        return read_parquet(path, file, reading);
    }
    if first.starts_with(b"\x1f\x8b") {
        return Err(content(path, "the file is compressed by gzip", "unpack it first (gunzip)"));
    }
    if matches!(ending.as_str(), "npy" | "npz" | "parquet") {
        let problem = format!("the name ends in .{ending}, but the content is something else");
        return Err(content(path, &problem, "check how the file was written"));
    }
    let mut bytes = first;
    file.read_to_end(&mut bytes).map_err(|source| cannot_open(path, source))?;
    let text = own_text(path, bytes)?;
    if matches!(ending.as_str(), "libsvm" | "svmlight" | "svm") || libsvm::looks_like(&text) {
        return libsvm::parse(path, &text, reading);
    }
    csv::parse(path, text.as_bytes(), reading, lenient)
}

#[cfg(feature = "parquet")]
fn read_parquet(path: &Path, file: std::fs::File, reading: &Reading) -> Result<Draft, Error> {
    crate::parquet::read(path, file, reading)
}

#[cfg(not(feature = "parquet"))]
fn read_parquet(path: &Path, _: std::fs::File, _: &Reading) -> Result<Draft, Error> {
    Err(Error::ParquetLeftOut { file: path.into() })
}

/// The error for content that cannot be used.
pub(crate) fn content(path: &Path, problem: &str, remedy: &str) -> Error {
    Error::Content { file: path.into(), problem: problem.into(), remedy: remedy.into() }
}
