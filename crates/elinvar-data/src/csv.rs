//! Reading CSV text: one pass over the bytes, no allocation per cell.

use std::path::Path;

use ::csv::{ByteRecord, Reader, ReaderBuilder};

use crate::category::Levels;
use crate::cell::{Fault, is_missing_sign, number, number_or_infinity};
use crate::draft::Draft;
use crate::error::{Place, Unit};
use crate::format::Format;
use crate::open::count_newlines;
use crate::room::reserve;
use crate::sentence::excerpt;
use crate::{Error, Reading, Table};

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
pub(crate) fn delimiter(text: &[u8]) -> u8 {
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

fn as_text(cell: &[u8]) -> &str {
    // The whole file is valid UTF-8, and every delimiter and quote is one byte.
    std::str::from_utf8(cell).unwrap_or("?").trim()
}

/// Reads CSV text that is valid UTF-8 and has no byte-order mark; `lenient` keeps infinite numbers.
pub(crate) fn parse(path: &Path, text: &[u8], reading: &Reading, lenient: bool) -> Result<Draft, Error> {
    let mut texts = Vec::new();
    loop {
        let attempt = Attempt { path, text, reading, lenient, delimiter: delimiter(text) };
        match attempt.parse(&texts)? {
            Parsed::Table(draft) => return Ok(draft),
            Parsed::TextsIn(columns) => texts.extend(columns),
        }
    }
}

/// A table, or columns (positions in the file) that turned out to hold texts, so that reading begins again.
enum Parsed {
    Table(Draft),
    TextsIn(Vec<usize>),
}

struct Attempt<'a> {
    path: &'a Path,
    text: &'a [u8],
    reading: &'a Reading,
    lenient: bool,
    delimiter: u8,
}

impl Attempt<'_> {
    /// One pass over the text, in which the columns `texts` are categories.
    fn parse(&self, texts: &[usize]) -> Result<Parsed, Error> {
        let Attempt { path, text, delimiter, .. } = *self;
        let mut reader = ReaderBuilder::new().delimiter(delimiter).has_headers(false).flexible(true).from_reader(text);
        let mut lines = Lines::new(text);
        let mut record = ByteRecord::new();
        let mut header: Option<Vec<String>> = None;
        let mut table = Table::without_columns(path, Unit::Line);
        let mut header_line = 1;
        let mut kept: Vec<usize> = Vec::new();
        let mut levels: Vec<Option<Levels>> = Vec::new();
        let mut first_missing = None;
        loop {
            let offset = reader.position().byte() as usize;
            if !read_record(path, &mut reader, &mut record)? {
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
                kept = self.reading.columns.positions(path, &names)?;
                let mut is_text = vec![false; names.len()];
                texts.iter().for_each(|&k| is_text[k] = true);
                levels = kept.iter().map(|&k| is_text[k].then(Levels::default)).collect();
                table.set_columns(kept.iter().map(|&k| (names[k].clone(), k + 1)));
                // A cell takes a byte at least, if only its delimiter.
                let n_lines = count_newlines(&text[start..], lines.newline) as usize;
                let n_cells = kept.len().saturating_mul(n_lines).min(text.len() - start);
                reserve(path, &mut table.values, n_cells)?;
                header_line = line;
                header = Some(names);
                continue;
            };
            if record.len() != header.len() {
                return Err(field_count(path, line, header.len(), &record, text, start));
            }
            for (&k, levels) in kept.iter().zip(&mut levels) {
                let cell = match levels {
                    Some(levels) => code(&record[k], levels),
                    None => number(&record[k]),
                };
                let value = match cell {
                    Ok(value) => value,
                    Err(Fault::Missing) => {
                        first_missing.get_or_insert_with(|| missing_sign(as_text(&record[k])));
                        f64::NAN
                    }
                    Err(Fault::NotFinite) if self.lenient => number_or_infinity(&record[k]).unwrap_or(f64::NAN),
                    Err(Fault::NotANumber) if self.reading.may_be_text(&header[k]) => {
                        return self.texts_from(&mut reader, record, header, &kept).map(Parsed::TextsIn);
                    }
                    Err(fault) => {
                        let column = header[k].clone();
                        let place = Place { file: path.into(), line, unit: Unit::Line, number: k + 1, column };
                        return Err(bad_cell(place, fault, as_text(&record[k]), delimiter, header.len()));
                    }
                };
                table.values.push(value);
            }
            table.lines.push(line);
        }
        for (j, levels) in levels.into_iter().enumerate() {
            if let Some(levels) = levels {
                table.set_levels(j, levels);
            }
        }
        let format = Format::Csv { delimiter: char::from(delimiter) };
        match (header, table.lines.is_empty()) {
            (None, _) => Err(Error::Empty { file: path.into() }),
            (Some(_), true) => Err(Error::HeaderOnly { file: path.into(), line: header_line }),
            (Some(_), false) => Ok(Parsed::Table(Draft { table, format, first_missing })),
        }
    }

    /// The columns that hold a text in this row or a later one, so that reading begins again once and not for each of
    /// them.
    fn texts_from(
        &self,
        reader: &mut Reader<&[u8]>,
        mut record: ByteRecord,
        header: &[String],
        kept: &[usize],
    ) -> Result<Vec<usize>, Error> {
        let mut is_text = vec![false; header.len()];
        let candidates: Vec<usize> = kept.iter().copied().filter(|&k| self.reading.may_be_text(&header[k])).collect();
        loop {
            // A row of another length is an error, which the next pass comes upon in its turn.
            if record.len() == header.len() {
                for &k in &candidates {
                    is_text[k] |= number(&record[k]) == Err(Fault::NotANumber);
                }
            }
            if !read_record(self.path, reader, &mut record)? {
                return Ok((0..header.len()).filter(|&k| is_text[k]).collect());
            }
        }
    }
}

/// Reads the next record; `false` at the end.
fn read_record(path: &Path, reader: &mut Reader<&[u8]>, record: &mut ByteRecord) -> Result<bool, Error> {
    reader.read_byte_record(record).map_err(|error| Error::Unreadable { file: path.into(), source: error.into() })
}

/// The number of a level; a cell that is no number is a text.
fn code(cell: &[u8], levels: &mut Levels) -> Result<f64, Fault> {
    let text = as_text(cell);
    if is_missing_sign(text.as_bytes()) { Err(Fault::Missing) } else { Ok(levels.code(text)) }
}

fn missing_sign(cell: &str) -> String {
    if cell.is_empty() { "empty cell".into() } else { excerpt(cell) }
}

/// Refuses a comment or Excel's `sep=;` where the header should be.
///
/// A header may begin with `#`, too: then as many fields follow on the next line, and numbers are among them.
pub(crate) fn check_header_line(path: &Path, line: u64, text: &[u8], delimiter: u8) -> Result<(), Error> {
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

pub(crate) fn header_names(path: &Path, line: u64, record: &ByteRecord) -> Result<Vec<String>, Error> {
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

pub(crate) fn bad_cell(place: Place, fault: Fault, cell: &str, delimiter: u8, n_columns: usize) -> Error {
    let text = excerpt(cell);
    match fault {
        Fault::Missing => Error::Missing { place, text: missing_sign(cell) },
        Fault::NotFinite => Error::NotFinite { place, text },
        Fault::NotANumber => {
            let with_point = cell.replacen(',', ".", 1);
            let remedy = if delimiter != b',' && number(with_point.as_bytes()).is_ok() {
                "write a decimal point instead of the comma"
            } else if n_columns == 1 && cell.contains([' ', '|']) {
                "separate the columns by commas, semicolons or tabs"
            } else {
                "write numbers (a class as 0 or 1), take texts as categories by --categorical indicators, or leave the column out"
            };
            Error::NotANumber { place, text, remedy }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Columns;

    fn read(text: &str) -> Table {
        Table::from_csv("t.csv", text.as_bytes(), &Columns::All).unwrap()
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
    fn a_late_text_makes_the_whole_column_a_category() {
        let how = Reading { categorical: crate::Categorical::Indicators, ..Reading::default() };
        let table = Table::from_csv_with("t.csv", b"a,b,c\n1,2,3\n10,x,4\n9,2,u\nNine,2,3\n", &how).unwrap();
        assert_eq!(table.levels(0).unwrap(), ["1", "10", "9", "Nine"]);
        assert_eq!(table.levels(1).unwrap(), ["2", "x"]);
        assert_eq!(table.levels(2).unwrap(), ["3", "4", "u"]);
        assert_eq!(table.column(0).collect::<Vec<_>>(), [0.0, 1.0, 2.0, 3.0]);
    }
}
