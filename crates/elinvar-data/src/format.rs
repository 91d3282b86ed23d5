//! Kinds of files, told by their first bytes and, for text, by its form.

use std::fmt;
use std::io::{Cursor, Read};
use std::path::Path;

use serde::{Serialize, Serializer};

use crate::draft::Draft;
use crate::open::{cannot_open, ending, open, own_text};
use crate::packed::{Packing, is_standard_input, standard_input, unpacked_name};
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
    if is_standard_input(path) {
        return read_bytes(path, standard_input(path)?, reading, lenient);
    }
    let (mut file, first) = open(path)?;
    if let Some(packing) = Packing::of(&first) {
        // A pipe has no size of its own.
        let n_bytes = file.metadata().ok().filter(|about| about.is_file()).map_or(u64::MAX, |about| about.len());
        let bytes = packing.unpack(path, Cursor::new(first).chain(file), n_bytes)?;
        return read_bytes(path, bytes, reading, lenient);
    }
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
    if matches!(ending.as_str(), "npy" | "npz" | "parquet") {
        let problem = format!("the name ends in .{ending}, but the content is something else");
        return Err(content(path, &problem, "check how the file was written"));
    }
    let mut bytes = first;
    file.read_to_end(&mut bytes).map_err(|source| cannot_open(path, source))?;
    read_text(path, bytes, reading, lenient)
}

/// Reads a table of text.
fn read_text(path: &Path, bytes: Vec<u8>, reading: &Reading, lenient: bool) -> Result<Draft, Error> {
    let text = own_text(path, bytes)?;
    let ending = ending(unpacked_name(path));
    if matches!(ending.as_str(), "libsvm" | "svmlight" | "svm") || libsvm::looks_like(&text) {
        return libsvm::parse(path, &text, reading);
    }
    csv::parse(path, text.as_bytes(), reading, lenient)
}

/// Reads a table that is no file of its own: unpacked, or from the standard input.
fn read_bytes(path: &Path, bytes: Vec<u8>, reading: &Reading, lenient: bool) -> Result<Draft, Error> {
    if bytes.starts_with(b"\x93NUMPY") {
        return npy::read(path, bytes.as_slice(), bytes.len() as u64, reading);
    }
    let archive = [&b"PK\x03\x04"[..], b"PK\x05\x06", b"PAR1"];
    if archive.iter().any(|first| bytes.starts_with(first)) {
        let problem = "npz and parquet are read from files of their own, which are packed already";
        return Err(content(path, problem, "name the file itself"));
    }
    if Packing::of(&bytes).is_some() {
        return Err(content(path, "the file is packed twice", "unpack it first"));
    }
    read_text(path, bytes, reading, lenient)
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
