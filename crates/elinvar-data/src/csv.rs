//! Reading CSV text: one pass over the bytes, no allocation per cell.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::str::Utf8Error;

use ::csv::{ByteRecord, ReaderBuilder};

use crate::error::{Place, excerpt};
use crate::nearest::nearest;
use crate::{Columns, Error, Table};

/// The text of a file, without a byte-order mark.
pub(crate) fn read_text(path: &Path) -> Result<String, Error> {
    let bytes = fs::read(path).map_err(|source| cannot_open(path, source))?;
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

fn cannot_open(path: &Path, source: io::Error) -> Error {
    if path.is_dir() {
        return Error::Folder { file: path.into(), example: first_csv(path) };
    }
    if source.kind() == io::ErrorKind::NotFound {
        return Error::NotFound { file: path.into(), similar: similar_file(path) };
    }
    Error::Unreadable { file: path.into(), source }
}

fn files_in(folder: &Path) -> Vec<PathBuf> {
    let listed = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let entries = fs::read_dir(listed).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> =
        entries.filter(|entry| entry.path().is_file()).map(|entry| folder.join(entry.file_name())).collect();
    files.sort();
    files
}

fn first_csv(folder: &Path) -> Option<PathBuf> {
    let is_table =
        |path: &PathBuf| path.extension().and_then(OsStr::to_str).is_some_and(|e| matches!(e, "csv" | "tsv"));
    files_in(folder).into_iter().find(is_table)
}

fn similar_file(path: &Path) -> Option<PathBuf> {
    let folder = path.parent()?;
    let wanted = path.file_name()?.to_str()?;
    let files = files_in(folder);
    let names = files.iter().filter_map(|file| file.file_name()?.to_str());
    nearest(wanted, names).map(|name| folder.join(name))
}

fn count_newlines(bytes: &[u8], newline: u8) -> u64 {
    bytes.iter().filter(|&&byte| byte == newline).count() as u64
}

/// Turns byte offsets, asked for in increasing order, into line numbers.
///
/// The reader's own line is that of the previous record's end: off by one after CRLF and by more after blank lines.
struct Lines<'a> {
    text: &'a [u8],
    newline: u8,
    offset: usize,
    line: u64,
}

impl<'a> Lines<'a> {
    fn new(text: &'a [u8]) -> Self {
        let newline = if text.contains(&b'\n') { b'\n' } else { b'\r' };
        Lines { text, newline, offset: 0, line: 1 }
    }

    /// Offset and line of the first byte at or after `offset` that does not end a line.
    fn start(&mut self, offset: usize) -> (usize, u64) {
        let ends = self.text[offset..].iter().take_while(|&&byte| byte == b'\n' || byte == b'\r').count();
        self.line += count_newlines(&self.text[self.offset..offset + ends], self.newline);
        self.offset = offset + ends;
        (self.offset, self.line)
    }
}

/// The delimiter that the first two lines agree on; failing that, the most frequent one of the first line.
fn delimiter(text: &[u8]) -> u8 {
    let mut lines = text.split(|&byte| byte == b'\n' || byte == b'\r').filter(|line| !line.trim_ascii().is_empty());
    let header = lines.next().unwrap_or_default();
    let first = lines.next().unwrap_or_default();
    let rank = |candidate: u8| {
        let count = count_unquoted(header, candidate);
        (count > 0 && count == count_unquoted(first, candidate), count)
    };
    let mut best = b',';
    for candidate in *b";\t" {
        if rank(candidate) > rank(best) {
            best = candidate;
        }
    }
    best
}

fn count_unquoted(line: &[u8], wanted: u8) -> usize {
    let mut inside = false;
    line.iter()
        .filter(|&&byte| {
            inside ^= byte == b'"';
            byte == wanted && !inside
        })
        .count()
}

fn without_quotes(cell: &[u8]) -> &[u8] {
    let cell = cell.trim_ascii();
    let cell = cell.strip_prefix(b"\"").unwrap_or(cell);
    cell.strip_suffix(b"\"").unwrap_or(cell)
}

/// A cell, or why it is none.
enum Fault {
    Missing,
    NotFinite,
    NotANumber,
}

#[inline]
fn number(cell: &[u8]) -> Result<f64, Fault> {
    match fast_float2::parse::<f64, _>(cell) {
        Ok(value) if value.is_finite() => Ok(value),
        _ => unusual_number(cell),
    }
}

#[cold]
fn unusual_number(cell: &[u8]) -> Result<f64, Fault> {
    let cell = cell.trim_ascii();
    let missing: [&[u8]; 10] = [b"", b"na", b"n/a", b"#n/a", b"nan", b"none", b"null", b"?", b".", b"-"];
    if missing.iter().any(|sign| cell.eq_ignore_ascii_case(sign)) {
        return Err(Fault::Missing);
    }
    match fast_float2::parse::<f64, _>(cell) {
        Ok(value) if value.is_finite() => Ok(value),
        Ok(value) if value.is_nan() => Err(Fault::Missing),
        Ok(_) => Err(Fault::NotFinite),
        Err(_) => Err(Fault::NotANumber),
    }
}

fn as_text(cell: &[u8]) -> &str {
    // The whole file is valid UTF-8, and every delimiter and quote is one byte.
    std::str::from_utf8(cell).unwrap_or("?").trim()
}

/// Reads CSV text that is valid UTF-8 and has no byte-order mark.
pub(crate) fn parse(path: &Path, text: &[u8], columns: &Columns) -> Result<Table, Error> {
    let delimiter = delimiter(text);
    let mut reader = ReaderBuilder::new().delimiter(delimiter).has_headers(false).flexible(true).from_reader(text);
    let mut lines = Lines::new(text);
    let mut record = ByteRecord::new();
    let mut header: Option<Vec<String>> = None;
    let mut table =
        Table { file: path.into(), names: Vec::new(), numbers: Vec::new(), values: Vec::new(), lines: Vec::new() };
    let mut header_line = 1;
    let mut kept: Vec<usize> = Vec::new();
    loop {
        let offset = reader.position().byte() as usize;
        let more = reader
            .read_byte_record(&mut record)
            .map_err(|error| Error::Unreadable { file: path.into(), source: error.into() })?;
        if !more {
            break;
        }
        let (start, line) = lines.start(offset);
        // A quoted empty cell is a missing value, not a blank line.
        if record.len() == 1 && record[0].trim_ascii().is_empty() && text[start] != b'"' {
            continue;
        }
        let Some(header) = &header else {
            check_header_line(path, line, &text[start..], delimiter)?;
            let names = header_names(path, line, &record)?;
            kept = columns.positions(path, &names)?;
            table.names = kept.iter().map(|&k| names[k].clone()).collect();
            table.numbers = kept.iter().map(|&k| k + 1).collect();
            header_line = line;
            header = Some(names);
            continue;
        };
        if record.len() != header.len() {
            return Err(field_count(path, line, header.len(), &record, text, start));
        }
        for &k in &kept {
            let value = number(&record[k]).map_err(|fault| {
                let place = Place { file: path.into(), line, number: k + 1, column: header[k].clone() };
                bad_cell(place, fault, as_text(&record[k]), delimiter, header.len())
            })?;
            table.values.push(value);
        }
        table.lines.push(line);
    }
    match (header, table.lines.is_empty()) {
        (None, _) => Err(Error::Empty { file: path.into() }),
        (Some(_), true) => Err(Error::HeaderOnly { file: path.into(), line: header_line }),
        (Some(_), false) => Ok(table),
    }
}

/// Refuses a comment or Excel's `sep=;` where the header should be.
///
/// A header may begin with `#`, too: then as many fields follow on the next line, and numbers are among them.
fn check_header_line(path: &Path, line: u64, text: &[u8], delimiter: u8) -> Result<(), Error> {
    let mut lines = text.split(|&byte| byte == b'\n' || byte == b'\r').filter(|line| !line.trim_ascii().is_empty());
    let first = lines.next().unwrap_or_default();
    let unquoted = without_quotes(first);
    let is_note = unquoted.len() <= 5 && unquoted.len() >= 4 && unquoted[..4].eq_ignore_ascii_case(b"sep=");
    let is_comment = unquoted.starts_with(b"#")
        && lines.next().is_some_and(|next| {
            let is_number = |cell: &[u8]| number(without_quotes(cell)).is_ok();
            count_unquoted(first, delimiter) != count_unquoted(next, delimiter)
                || !next.split(|&byte| byte == delimiter).any(is_number)
        });
    if is_note || is_comment {
        return Err(Error::NotAHeader { file: path.into(), line, text: excerpt(as_text(first)) });
    }
    Ok(())
}

fn header_names(path: &Path, line: u64, record: &ByteRecord) -> Result<Vec<String>, Error> {
    if record.iter().all(|cell| matches!(number(cell), Ok(_) | Err(Fault::NotFinite))) {
        let cells: Vec<&str> = record.iter().map(as_text).collect();
        return Err(Error::NoHeader { file: path.into(), line, text: excerpt(&cells.join(",")) });
    }
    let names: Vec<String> = record.iter().map(|cell| as_text(cell).to_string()).collect();
    let mut sorted: Vec<usize> = (0..names.len()).collect();
    sorted.sort_by_key(|&k| (&names[k], k));
    if let Some(k) = names.iter().position(String::is_empty) {
        return Err(Error::EmptyName { file: path.into(), line, number: k + 1 });
    }
    if let Some(k) = names.iter().position(|name| name.contains(char::is_control)) {
        return Err(Error::ControlCharacter { file: path.into(), line, number: k + 1, name: names[k].clone() });
    }
    if let Some(pair) = sorted.windows(2).find(|pair| names[pair[0]] == names[pair[1]]) {
        let (first, second) = (pair[0] + 1, pair[1] + 1);
        return Err(Error::DuplicateName { file: path.into(), line, name: names[pair[0]].clone(), first, second });
    }
    Ok(names)
}

fn field_count(path: &Path, line: u64, expected: usize, record: &ByteRecord, text: &[u8], start: usize) -> Error {
    let remedy = if record.iter().any(|cell| cell.contains(&b'\n')) {
        "close the quote that is open on this line"
    } else if record.len() < expected {
        "add what is missing, or check for a missing delimiter"
    } else {
        "remove what is too much, or put quotes around a text that contains the delimiter"
    };
    let end = text[start..].iter().position(|&byte| byte == b'\n' || byte == b'\r').map_or(text.len(), |n| start + n);
    let text = excerpt(as_text(&text[start..end]));
    Error::FieldCount { file: path.into(), line, expected, found: record.len(), text, remedy }
}

fn bad_cell(place: Place, fault: Fault, cell: &str, delimiter: u8, n_columns: usize) -> Error {
    let text = excerpt(cell);
    match fault {
        Fault::Missing if cell.is_empty() => Error::Missing { place, text: "empty cell".into() },
        Fault::Missing => Error::Missing { place, text },
        Fault::NotFinite => Error::NotFinite { place, text },
        Fault::NotANumber => {
            let with_point = cell.replacen(',', ".", 1);
            let remedy = if delimiter != b',' && number(with_point.as_bytes()).is_ok() {
                "write a decimal point instead of the comma"
            } else if n_columns == 1 && cell.contains([' ', '|']) {
                "separate the columns by commas, semicolons or tabs"
            } else {
                "write numbers (a class as 0 or 1) or leave the column out"
            };
            Error::NotANumber { place, text, remedy }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Table {
        parse(Path::new("t.csv"), check_text(Path::new("t.csv"), text.as_bytes()).unwrap().as_bytes(), &Columns::All)
            .unwrap()
    }

    #[test]
    fn delimiter_is_found() {
        for (text, expected) in [
            ("a,b\n1,2\n", b','),
            ("a;b\n1,5;2,5\n", b';'),
            ("a\tb\n1\t2\n", b'\t'),
            ("a (x,y);b\n1;2\n", b';'),
            ("\"a;b;c\",d\n1,2\n", b','),
            ("only\n1\n", b','),
            ("", b','),
        ] {
            assert_eq!(delimiter(text.as_bytes()), expected, "{text:?}");
        }
    }

    #[test]
    fn forms_of_the_same_table() {
        let plain = read("a,b\n1,2.5\n-3,4e2\n");
        assert_eq!(plain.values(), [1.0, 2.5, -3.0, 400.0]);
        for text in [
            "\u{feff}a,b\r\n1,2.5\r\n-3,4e2\r\n",
            "a;b\n1;2.5\n-3;4e2",
            "a\tb\n1\t2.5\n-3\t4e2\n\n\n",
            " a , b \n 1 , +2.5\n-3.0, 400 \n  \n",
            "\"a\",\"b\"\n\"1\",\"2.5\"\n\"-3\",400.\n",
            "a,b\r1,2.5\r-3,4e2\r",
        ] {
            let table = read(text);
            assert_eq!((table.names(), table.values()), (plain.names(), plain.values()), "{text:?}");
        }
    }

    #[test]
    fn lines_are_those_of_an_editor() {
        assert_eq!(read("a,b\n1,2\n3,4\n").lines, [2, 3]);
        assert_eq!(read("a,b\r\n1,2\r\n3,4\r\n").lines, [2, 3]);
        assert_eq!(read("\n\na,b\r\n\r\n1,2\n\n\n3,4").lines, [5, 8]);
        assert_eq!(read("a,b\n\"1\n\",2\n3,4\n").lines, [2, 4]);
        assert_eq!(read("a,b\r1,2\r\r3,4\r").lines, [2, 4]);
    }

    #[test]
    fn numbers_are_correctly_rounded() {
        for cell in ["0.1", "1e-320", "-0", "9007199254740993", "2.2250738585072011e-308", "179769313486231570e291"] {
            assert_eq!(number(cell.as_bytes()).ok(), cell.parse::<f64>().ok(), "{cell}");
        }
    }
}
