//! Opening files and reading text, with errors that help to find the right file.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::str::Utf8Error;

use crate::Error;
use crate::nearest::nearest;

/// The text of a file, without a byte-order mark.
pub(crate) fn read_text(path: &Path) -> Result<String, Error> {
    let bytes = fs::read(path).map_err(|source| cannot_open(path, source))?;
    own_text(path, bytes)
}

/// The bytes as text, without a byte-order mark and without a copy.
pub(crate) fn own_text(path: &Path, bytes: Vec<u8>) -> Result<String, Error> {
    let mut text = String::from_utf8(bytes).map_err(|error| not_utf8(path, error.as_bytes(), error.utf8_error()))?;
    if text.starts_with(BYTE_ORDER_MARK) {
        text.remove(0);
    }
    Ok(text)
}

/// The bytes as text, without a byte-order mark.
pub(crate) fn check_text<'a>(path: &Path, bytes: &'a [u8]) -> Result<&'a str, Error> {
    let text = std::str::from_utf8(bytes).map_err(|error| not_utf8(path, bytes, error))?;
    Ok(text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text))
}

const BYTE_ORDER_MARK: char = '\u{feff}';

fn not_utf8(path: &Path, bytes: &[u8], error: Utf8Error) -> Error {
    Error::NotUtf8 { file: path.into(), line: 1 + count_newlines(&bytes[..error.valid_up_to()], b'\n') }
}

pub(crate) fn count_newlines(bytes: &[u8], newline: u8) -> u64 {
    bytes.iter().filter(|&&byte| byte == newline).count() as u64
}

/// A file and its first bytes, up to eight; the file stands behind them.
pub(crate) fn open(path: &Path) -> Result<(File, Vec<u8>), Error> {
    let failed = |source| cannot_open(path, source);
    let mut file = File::open(path).map_err(failed)?;
    let mut first = Vec::new();
    (&mut file).take(8).read_to_end(&mut first).map_err(failed)?;
    Ok((file, first))
}

/// Why a file cannot be read.
pub(crate) fn cannot_open(path: &Path, source: io::Error) -> Error {
    if path.is_dir() {
        return Error::Folder { file: path.into(), example: first_table(path) };
    }
    if source.kind() == io::ErrorKind::NotFound {
        return Error::NotFound { file: path.into(), similar: similar_file(path) };
    }
    Error::Unreadable { file: path.into(), source }
}

/// The ending of a file's name in lower case.
pub(crate) fn ending(path: &Path) -> String {
    path.extension().and_then(OsStr::to_str).unwrap_or_default().to_ascii_lowercase()
}

fn files_in(folder: &Path) -> Vec<PathBuf> {
    let listed = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let entries = fs::read_dir(listed).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> =
        entries.filter(|entry| entry.path().is_file()).map(|entry| folder.join(entry.file_name())).collect();
    files.sort();
    files
}

fn first_table(folder: &Path) -> Option<PathBuf> {
    let is_table = |path: &PathBuf| {
        matches!(ending(path).as_str(), "csv" | "tsv" | "parquet" | "npy" | "npz" | "libsvm" | "svmlight" | "svm")
    };
    files_in(folder).into_iter().find(is_table)
}

fn similar_file(path: &Path) -> Option<PathBuf> {
    let folder = path.parent()?;
    let wanted = path.file_name()?.to_str()?;
    let files = files_in(folder);
    let names = files.iter().filter_map(|file| file.file_name()?.to_str());
    nearest(wanted, names).map(|name| folder.join(name))
}
