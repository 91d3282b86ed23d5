//! CSV text, read row by row from a file of any length.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use ::csv::{ByteRecord, ReaderBuilder};

use crate::Error;
use crate::cell::{Fault, number};
use crate::csv::{bad_cell, check_header_line, delimiter, header_names};
use crate::error::{Place, Unit};
use crate::open::cannot_open;
use crate::sentence::excerpt;

/// Bytes by which the delimiter is found: a header and a row or more.
const BEGINNING: u64 = 1 << 20;

/// Names of the columns.
pub(super) fn column_names(path: &Path) -> Result<Vec<String>, Error> {
    Ok(Open::new(path)?.names)
}

/// Hands over rows of these columns, at most so many at once, with a function that says where a cell stands; until it
/// is told that nobody takes them.
pub(super) fn each_shard(
    path: &Path,
    wanted: &[String],
    shard_rows: usize,
    take: &mut dyn FnMut(Vec<f64>, &dyn Fn(usize) -> Place) -> Result<bool, Error>,
) -> Result<bool, Error> {
    let mut open = Open::new(path)?;
    let columns =
        wanted.iter().map(|name| crate::table::find(path, &open.names, name)).collect::<Result<Vec<usize>, _>>()?;
    let (mut values, mut lines) = (Vec::with_capacity(shard_rows * columns.len()), Vec::new());
    let place = |line: u64, j: usize| Place {
        file: path.into(),
        line,
        unit: Unit::Line,
        number: columns[j] + 1,
        column: wanted[j].clone(),
    };
    let mut n_rows = 0_u64;
    loop {
        let line = open.next()?;
        if let Some(line) = line {
            let (record, n_columns) = (&open.record, open.names.len());
            if record.len() != n_columns {
                let text = excerpt(&record.iter().map(String::from_utf8_lossy).collect::<Vec<_>>().join(","));
                let (file, found) = (path.into(), record.len());
                let remedy = "give every row as many cells as the header has";
                return Err(Error::FieldCount { file, line, expected: n_columns, found, text, remedy });
            }
            for (j, &k) in columns.iter().enumerate() {
                values.push(match number(&record[k]) {
                    Ok(value) => value,
                    Err(Fault::Missing) => f64::NAN,
                    Err(fault) => {
                        let text = String::from_utf8_lossy(&record[k]).trim().to_string();
                        return Err(bad_cell(place(line, j), fault, &text, open.delimiter, n_columns));
                    }
                });
            }
            lines.push(line);
            n_rows += 1;
        }
        let is_full = lines.len() == shard_rows || line.is_none();
        if is_full && !lines.is_empty() {
            let full = std::mem::replace(&mut values, Vec::with_capacity(shard_rows * columns.len()));
            let of_cell = |k: usize| place(lines[k / columns.len()], k % columns.len());
            if !take(full, &of_cell)? {
                return Ok(false);
            }
            lines.clear();
        }
        if line.is_none() {
            return if n_rows > 0 { Ok(true) } else { Err(Error::HeaderOnly { file: path.into(), line: 1 }) };
        }
    }
}

/// A file whose header has been read.
struct Open<'p> {
    path: &'p Path,
    reader: ::csv::Reader<Counted>,
    ends: Ends,
    record: ByteRecord,
    names: Vec<String>,
    delimiter: u8,
    /// Lines that have ended before the next row.
    n_ended: u64,
}

impl<'p> Open<'p> {
    fn new(path: &'p Path) -> Result<Self, Error> {
        let failed = |source| cannot_open(path, source);
        let mut beginning = Vec::new();
        File::open(path).map_err(failed)?.take(BEGINNING).read_to_end(&mut beginning).map_err(failed)?;
        let mark = if beginning.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
        let text = &beginning[mark..];
        let delimiter = delimiter(text);
        let mut file = File::open(path).map_err(failed)?;
        let mut byte_order_mark = [0; 3];
        file.read_exact(&mut byte_order_mark[..mark]).map_err(failed)?;
        let ends = Ends::default();
        let counted = Counted { inner: BufReader::with_capacity(1 << 20, file), at: 0, ends: ends.clone() };
        let reader = ReaderBuilder::new().delimiter(delimiter).has_headers(false).flexible(true).from_reader(counted);
        let (record, names) = (ByteRecord::new(), Vec::new());
        let mut open = Self { path, reader, ends, record, names, delimiter, n_ended: 0 };
        let Some(line) = open.next()? else { return Err(Error::Empty { file: path.into() }) };
        check_header_line(path, line, text.trim_ascii_start(), delimiter)?;
        open.names = header_names(path, line, &open.record)?;
        Ok(open)
    }

    /// The next row that is not blank, in `record`, and the line on which it begins.
    fn next(&mut self) -> Result<Option<u64>, Error> {
        loop {
            let mut start = self.reader.position().byte();
            let read = self.reader.read_byte_record(&mut self.record);
            let failed = |error: ::csv::Error| Error::Unreadable { file: self.path.into(), source: error.into() };
            if !read.map_err(failed)? {
                return Ok(None);
            }
            self.n_ended += self.ends.before(&mut start);
            // A row of one empty cell is a blank line.
            if !(self.record.len() == 1 && self.record[0].trim_ascii().is_empty()) {
                return Ok(Some(1 + self.n_ended));
            }
        }
    }
}

/// Where lines end in what was read ahead.
#[derive(Clone, Default)]
struct Ends(Arc<Mutex<VecDeque<u64>>>);

impl Ends {
    /// Takes off those before a row, which begins at `start` or behind line ends there; returns how many.
    fn before(&self, start: &mut u64) -> u64 {
        let mut ends = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut n = 0;
        while let Some(end) = ends.front().filter(|end| **end <= *start) {
            *start = (*start).max(end + 1);
            ends.pop_front();
            n += 1;
        }
        n
    }
}

/// A file that notes where its lines end.
struct Counted {
    inner: BufReader<File>,
    at: u64,
    ends: Ends,
}

impl Read for Counted {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        let n = self.inner.read(out)?;
        let found = out[..n].iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(i, _)| self.at + i as u64);
        self.ends.0.lock().unwrap_or_else(PoisonError::into_inner).extend(found);
        self.at += n as u64;
        Ok(n)
    }
}
