//! Reading LIBSVM (svmlight) text into a dense table: features `x1`, `x2`, … and the label `y` as the last column.

use std::path::Path;

use crate::cell::{Fault, number_or_infinity};
use crate::draft::Draft;
use crate::error::Unit;
use crate::format::Format;
use crate::room::{self, check_proportion, is_in_proportion, reserve, zeros};
use crate::sentence::excerpt;
use crate::{Columns, Error, Reading, Table};

/// Lines that are looked at to tell LIBSVM from other text.
const LINES_LOOKED_AT: usize = 10;

/// Largest index: 2²². A table with more columns would not fit into memory anyway.
const MOST_FEATURES: usize = 4_194_304;

/// Numbers that take as much memory as the name of a column and what is noted about it.
const NAME: usize = 16;

/// A line without its comment, or nothing if the line is blank.
fn content(line: &str) -> Option<&str> {
    let content = line.split('#').next().unwrap_or_default().trim();
    (!content.is_empty()).then_some(content)
}

/// Whether the first lines are a number and pairs of an index and a number each.
pub(crate) fn looks_like(text: &str) -> bool {
    let is_number = |token: &str| number_or_infinity(token.as_bytes()).is_ok();
    let is_pair = |token: &str| {
        token.split_once(':').is_some_and(|(index, value)| {
            (index == "qid" || index.bytes().all(|byte| byte.is_ascii_digit()) && !index.is_empty()) && is_number(value)
        })
    };
    let mut n_pairs = 0;
    for line in text.lines().filter_map(content).take(LINES_LOOKED_AT) {
        let mut tokens = line.split_ascii_whitespace();
        if !tokens.next().is_some_and(is_number) {
            return false;
        }
        for token in tokens {
            if !is_pair(token) {
                return false;
            }
            n_pairs += 1;
        }
    }
    n_pairs > 0
}

struct Place<'a> {
    path: &'a Path,
    line: u64,
}

impl Place<'_> {
    fn error(&self, token: &str, problem: &'static str, remedy: &'static str) -> Error {
        Error::Token { file: self.path.into(), line: self.line, token: excerpt(token), problem, remedy }
    }

    /// Index and value of a pair; nothing for a query number.
    fn pair<'t>(&self, token: &'t str) -> Result<Option<(usize, &'t str)>, Error> {
        let (index, value) = token.split_once(':').ok_or_else(|| {
            self.error(token, "is not an index:value pair", "write an index, a colon and a number without spaces")
        })?;
        if index == "qid" {
            return Ok(None);
        }
        match index.parse::<usize>() {
            Ok(0) => {
                let remedy = "count indices from 1 (in scikit-learn: zero_based=False)";
                Err(self.error(token, "has the index 0", remedy))
            }
            Ok(index) if index > MOST_FEATURES => {
                Err(self.error(token, "has an index above 4194304", "number the features from 1 without gaps"))
            }
            Ok(index) => Ok(Some((index, value))),
            Err(_) => Err(self.error(token, "has an index that is not a whole number", "count the features from 1")),
        }
    }

    fn number(&self, token: &str, value: &str, problem: &'static str, remedy: &'static str) -> Result<f64, Error> {
        match number_or_infinity(value.as_bytes()) {
            Ok(value) => Ok(value),
            Err(Fault::Missing) => Ok(f64::NAN),
            Err(_) => Err(self.error(token, problem, remedy)),
        }
    }
}

/// Lines with content and their numbers.
fn lines(text: &str) -> impl Iterator<Item = (u64, &str)> {
    text.lines().enumerate().filter_map(|(i, line)| Some((i as u64 + 1, content(line)?)))
}

/// Number of rows and largest index.
fn size(path: &Path, text: &str) -> Result<(usize, usize), Error> {
    let (mut n_rows, mut largest) = (0, 0);
    for (line, content) in lines(text) {
        n_rows += 1;
        let place = Place { path, line };
        let mut last = 0;
        for token in content.split_ascii_whitespace().skip(1) {
            let Some((index, _)) = place.pair(token)? else { continue };
            if index <= last {
                let remedy = "write the indices of a line in increasing order, each once";
                return Err(place.error(token, "does not have a larger index than the pair before it", remedy));
            }
            last = index;
        }
        largest = largest.max(last);
    }
    Ok((n_rows, largest))
}

/// Reads LIBSVM text: features that a line leaves out are 0, query numbers and comments are skipped.
pub(crate) fn parse(path: &Path, text: &str, reading: &Reading) -> Result<Draft, Error> {
    let (n_rows, n_features) = size(path, text)?;
    if n_rows == 0 {
        return Err(crate::format::content(
            path,
            "the file has no rows",
            "write one line for each row: label index:value …",
        ));
    }
    // A column costs a name, too.
    if !is_in_proportion(n_features * NAME, text.len() as u64, room::SPARSE) {
        let problem =
            format!("the index {n_features} is out of all proportion to the {} bytes of the file", text.len());
        return Err(crate::format::content(path, &problem, "number the features from 1 without gaps"));
    }
    if !matches!(reading.columns, Columns::Only(_)) {
        check_proportion(path, (n_rows, n_features + 1), text.len() as u64, room::SPARSE)?;
    }
    let names: Vec<String> = (1..=n_features).map(|j| format!("x{j}")).chain(["y".to_string()]).collect();
    let kept = reading.columns.positions(path, &names)?;
    let mut table = Table::without_columns(path, Unit::Line);
    table.set_columns(kept.iter().map(|&k| (names[k].clone(), k + 1)));
    table.values = zeros(path, n_rows, kept.len())?;
    reserve(path, &mut table.lines, n_rows)?;
    let mut slots: Vec<Option<usize>> = vec![None; names.len()];
    kept.iter().enumerate().for_each(|(slot, &k)| slots[k] = Some(slot));
    let mut first_missing = None;
    for ((line, content), row) in lines(text).zip(table.values.chunks_exact_mut(kept.len())) {
        let place = Place { path, line };
        let mut tokens = content.split_ascii_whitespace();
        let label = tokens.next().unwrap_or_default();
        if let Some(slot) = slots[n_features] {
            let remedy = "begin each line with the target as a number";
            row[slot] = place.number(label, label, "is not a number", remedy)?;
            if row[slot].is_nan() {
                first_missing.get_or_insert_with(|| excerpt(label));
            }
        }
        for token in tokens {
            let Some((index, value)) = place.pair(token)? else { continue };
            if let Some(slot) = slots[index - 1] {
                row[slot] = place.number(
                    token,
                    value,
                    "has a value that is not a number",
                    "write a number behind the colon",
                )?;
                if row[slot].is_nan() {
                    first_missing.get_or_insert_with(|| excerpt(token));
                }
            }
        }
        table.lines.push(line);
    }
    Ok(Draft { table, format: Format::Libsvm, first_missing })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, columns: Columns) -> Table {
        parse(Path::new("t.libsvm"), text, &Reading { columns, ..Reading::default() }).unwrap().table
    }

    #[test]
    fn lines_become_rows_of_a_dense_table() {
        let table = read("# made\n+1 1:0.5 3:-2e1 # note 9:9\n\n-1 qid:7 2:4\r\n0\n", Columns::All);
        assert_eq!(table.names(), ["x1", "x2", "x3", "y"]);
        assert_eq!(table.values(), [0.5, 0.0, -20.0, 1.0, 0.0, 4.0, 0.0, -1.0, 0.0, 0.0, 0.0, 0.0]);
        assert_eq!(table.lines, [2, 4, 5]);
    }

    #[test]
    fn only_the_columns_that_are_wanted_are_read() {
        let table = read("1 1:5 2:oops 3:7\n", Columns::Only(vec!["y".into(), "x3".into()]));
        assert_eq!((table.values(), table.numbers.as_slice()), ([1.0, 7.0].as_slice(), [4, 3].as_slice()));
    }

    #[test]
    fn it_is_told_from_other_text() {
        for yes in ["1 1:2\n", "# c\n-1\n+1 1:2 5:1e3 # c\n", "3.5 qid:1 1:0.2\n"] {
            assert!(looks_like(yes), "{yes}");
        }
        for no in ["", "a,b\n1,2\n", "1 2 3\n", "1 1:2\nx 1:2\n", "5\n6\n", "time\n10:30\n", "1 a:2\n", "1 :2\n"] {
            assert!(!looks_like(no), "{no}");
        }
    }
}
