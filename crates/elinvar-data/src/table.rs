//! A table of numbers with named columns.

use std::path::{Path, PathBuf};

use crate::error::Place;
use crate::nearest::nearest;
use crate::{Columns, Error, csv};

/// Numbers with named columns, in row-major order, with the line of the file each row came from.
///
/// Every value is finite: a file with a missing or infinite value is not read.
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
}

impl Table {
    /// Reads the columns of a CSV file. Columns that are left out may hold anything.
    ///
    /// # Errors
    ///
    /// The file cannot be read, is not a CSV file with a header, or has a cell that is not a finite number; see [`Error`].
    pub fn read(path: impl AsRef<Path>, columns: &Columns) -> Result<Table, Error> {
        let path = path.as_ref();
        csv::parse(path, csv::read_text(path)?.as_bytes(), columns)
    }

    /// Reads the columns of CSV text; `name` stands for the file in errors.
    ///
    /// # Errors
    ///
    /// As [`Table::read`].
    pub fn from_csv(name: impl AsRef<Path>, text: &[u8], columns: &Columns) -> Result<Table, Error> {
        let path = name.as_ref();
        csv::parse(path, csv::check_text(path, text)?.as_bytes(), columns)
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

    /// The line of the file on which row `i` begins, as an editor counts it: the header is on line 1.
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

    pub(crate) fn place(&self, row: usize, column: usize) -> Place {
        Place {
            file: self.file.clone(),
            line: self.lines[row],
            number: self.numbers[column],
            column: self.names[column].clone(),
        }
    }

    pub(crate) fn without_rows(&self) -> Table {
        Table {
            file: self.file.clone(),
            names: self.names.clone(),
            numbers: self.numbers.clone(),
            values: Vec::new(),
            lines: Vec::new(),
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
