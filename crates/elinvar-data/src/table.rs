//! A table of numbers with named columns.

use std::path::{Path, PathBuf};

use crate::category::Levels;
use crate::error::{Place, Unit};
use crate::nearest::nearest;
use crate::open::check_text;
use crate::{Columns, Error, Outcome, Reading, csv, format};

/// Numbers with named columns, in row-major order, with the line of the file each row came from.
///
/// Every value is finite: a file with an infinite value is not read, rows with missing cells are refused or dropped. In
/// a column that is a category each value is the position of its level, see [`Table::levels`].
///
/// ```
/// use elinvar_data::{Columns, Table};
///
/// let table = Table::from_csv("small.csv", b"age;income\n31;2.5\n47;3.1\n", &Columns::All)?;
/// assert_eq!(table.names(), ["age", "income"]);
/// assert_eq!(table.row(1), [47.0, 3.1]);
/// assert_eq!(table.line(1), 3);
/// # Ok::<(), elinvar_data::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    pub(crate) file: PathBuf,
    pub(crate) names: Vec<String>,
    /// One-based number in the file of each column kept.
    pub(crate) numbers: Vec<usize>,
    pub(crate) values: Vec<f64>,
    pub(crate) lines: Vec<u64>,
    pub(crate) unit: Unit,
    /// The levels of each column; none for a column of numbers.
    pub(crate) levels: Vec<Vec<String>>,
    pub(crate) n_dropped: usize,
    /// Zero-based number in the file of each row; empty if no row was dropped.
    pub(crate) kept_rows: Vec<usize>,
}

impl Table {
    /// Reads columns of numbers from a file: CSV, LIBSVM, npy, npz or (feature `parquet`) parquet, told by its content.
    /// Columns that are left out may hold anything.
    ///
    /// # Errors
    ///
    /// The file cannot be read, is not a table of these kinds, or has a cell that is not a finite number; see
    /// [`Error`].
    pub fn read(path: impl AsRef<Path>, columns: &Columns) -> Result<Table, Error> {
        Table::read_with(path, &columns.into())
    }

    /// Reads a file as `reading` says.
    ///
    /// # Errors
    ///
    /// As [`Table::read`]; besides, a category may have too many levels, or every row a missing cell.
    pub fn read_with(path: impl AsRef<Path>, reading: &Reading) -> Result<Table, Error> {
        format::read(path.as_ref(), reading, false)?.settle(reading)
    }

    /// Reads the columns of CSV text; `name` stands for the file in errors.
    ///
    /// # Errors
    ///
    /// As [`Table::read`].
    pub fn from_csv(name: impl AsRef<Path>, text: &[u8], columns: &Columns) -> Result<Table, Error> {
        Table::from_csv_with(name, text, &columns.into())
    }

    /// Reads CSV text as `reading` says; `name` stands for the file in errors.
    ///
    /// # Errors
    ///
    /// As [`Table::read_with`].
    pub fn from_csv_with(name: impl AsRef<Path>, text: &[u8], reading: &Reading) -> Result<Table, Error> {
        let path = name.as_ref();
        csv::parse(path, check_text(path, text)?.as_bytes(), reading, false)?.settle(reading)
    }

    /// A table of no rows and no columns.
    pub(crate) fn without_columns(file: &Path, unit: Unit) -> Table {
        Table {
            file: file.into(),
            names: Vec::new(),
            numbers: Vec::new(),
            values: Vec::new(),
            lines: Vec::new(),
            unit,
            levels: Vec::new(),
            n_dropped: 0,
            kept_rows: Vec::new(),
        }
    }

    /// Sets names and one-based numbers of the columns of a table without rows.
    pub(crate) fn set_columns(&mut self, columns: impl Iterator<Item = (String, usize)>) {
        (self.names, self.numbers) = columns.unzip();
        self.levels = vec![Vec::new(); self.names.len()];
    }

    /// Makes column `j`, which holds the codes given out by `levels`, a category with sorted levels.
    pub(crate) fn set_levels(&mut self, j: usize, levels: Levels) {
        let (levels, positions) = levels.sorted();
        let n_cols = self.n_cols();
        for value in self.values.iter_mut().skip(j).step_by(n_cols).filter(|value| !value.is_nan()) {
            *value = positions[*value as usize];
        }
        self.levels[j] = levels;
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.lines.len()
    }

    /// Number of columns.
    pub fn n_cols(&self) -> usize {
        self.names.len()
    }

    /// Names of the columns.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// All values, row after row.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Row `i`, counted from 0.
    pub fn row(&self, i: usize) -> &[f64] {
        &self.values[i * self.n_cols()..(i + 1) * self.n_cols()]
    }

    /// Column `j`, counted from 0, from the first row to the last.
    pub fn column(&self, j: usize) -> impl Iterator<Item = f64> + '_ {
        assert!(j < self.n_cols(), "column {j} of a table with {} columns", self.n_cols());
        self.values.iter().skip(j).step_by(self.n_cols()).copied()
    }

    /// The levels of column `j` in their order if it is a category; its values are positions in this list.
    pub fn levels(&self, j: usize) -> Option<&[String]> {
        Some(self.levels[j].as_slice()).filter(|levels| !levels.is_empty())
    }

    /// Rows of the file that were dropped because a cell was missing.
    pub fn n_dropped(&self) -> usize {
        self.n_dropped
    }

    /// The line of the file on which row `i` begins, as an editor counts it: a header is on line 1. In files that are
    /// no text, the number of the row, counted from 0.
    pub fn line(&self, i: usize) -> u64 {
        self.lines[i]
    }

    /// The file, as it was named.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Position of the column with this name, counted from 0.
    ///
    /// # Errors
    ///
    /// [`Error::NoSuchColumn`], with the nearest name there is.
    pub fn column_index(&self, name: &str) -> Result<usize, Error> {
        find(&self.file, &self.names, name)
    }

    /// The cell of row `row` and column `column`, both counted from 0, for a message.
    pub fn place(&self, row: usize, column: usize) -> Place {
        Place {
            file: self.file.clone(),
            line: self.lines[row],
            unit: self.unit,
            number: self.numbers[column],
            column: self.names[column].clone(),
        }
    }

    /// Column `j` as a model takes it that explains it.
    ///
    /// # Errors
    ///
    /// It does not hold what the outcome asks for, or is the same in every row.
    pub fn outcome(&self, j: usize, outcome: Outcome) -> Result<Vec<f64>, Error> {
        crate::check::outcome(self, j, outcome)
    }

    pub(crate) fn without_rows(&self) -> Table {
        Table {
            names: self.names.clone(),
            numbers: self.numbers.clone(),
            levels: self.levels.clone(),
            n_dropped: self.n_dropped,
            ..Table::without_columns(&self.file, self.unit)
        }
    }
}

/// Position of `wanted` among `names`.
pub(crate) fn find(file: &Path, names: &[String], wanted: &str) -> Result<usize, Error> {
    names.iter().position(|name| name == wanted).ok_or_else(|| Error::NoSuchColumn {
        file: file.into(),
        wanted: wanted.to_string(),
        similar: nearest(wanted, names.iter().map(String::as_str)).map(str::to_string),
        available: names.to_vec(),
    })
}
