//! What elinvar sees in a file: columns, their kinds and ranges, and what stands in the way of a model.

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::draft::{Draft, MANY_LEVELS, forget_unused_levels};
use crate::problems::problems;
use crate::{Error, Format, Reading, Table, format};

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ColumnKind {
    /// Numbers.
    Number,
    /// Texts, or numbers that were named as a category.
    Category,
    /// The same value in every row.
    Constant,
    /// No value at all.
    Missing,
}

impl ColumnKind {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            ColumnKind::Number => "number",
            ColumnKind::Category => "category",
            ColumnKind::Constant => "constant",
            ColumnKind::Missing => "missing",
        }
    }
}

/// The range of a column of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Range {
    /// Smallest value.
    pub min: f64,
    /// Mean.
    pub mean: f64,
    /// Standard deviation, with n − 1; 0 for a single value.
    pub sd: f64,
    /// Largest value.
    pub max: f64,
}

/// A level of a category and how many rows have it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Level {
    /// The text.
    pub level: String,
    /// Number of rows.
    pub n_rows: usize,
}

/// One column of a file.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ColumnDescription {
    /// Number of the column in the file, counted from 1.
    pub number: usize,
    /// Its name.
    pub name: String,
    /// What it holds.
    pub kind: ColumnKind,
    /// Cells without a value.
    pub n_missing: usize,
    /// The range of its finite numbers.
    pub range: Option<Range>,
    /// Number of different levels of a category.
    pub n_levels: usize,
    /// The levels in their order, the first being the reference; of many the first few.
    pub levels: Vec<Level>,
}

/// Something to know before a model is fitted, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// The column, if it is about one.
    pub column: Option<String>,
    /// What was found and where.
    pub found: String,
    /// What to do.
    pub remedy: String,
}

/// What elinvar sees in a file.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Description {
    /// The file, as it was named.
    pub file: PathBuf,
    /// Its kind.
    pub format: Format,
    /// Rows of data.
    pub n_rows: usize,
    /// Rows in which a cell is missing.
    pub n_rows_missing: usize,
    /// The columns.
    pub columns: Vec<ColumnDescription>,
    /// What stands in the way of a model.
    pub problems: Vec<Problem>,
}

/// Describes the columns of a file that `reading` names; missing cells, texts and infinite numbers are described, not
/// refused.
///
/// # Errors
///
/// The file cannot be read as a table at all; see [`Table::read`].
pub fn describe(path: impl AsRef<Path>, reading: &Reading) -> Result<Description, Error> {
    let how = Reading { categorical: crate::Categorical::Indicators, ..reading.clone() };
    let mut draft = format::read(path.as_ref(), &how, true)?;
    draft.make_categories(&how.as_category)?;
    forget_unused_levels(&mut draft.table);
    Ok(describe_draft(&draft))
}

fn describe_draft(draft: &Draft) -> Description {
    let table = &draft.table;
    let mut sums = vec![Sums::default(); table.n_cols()];
    for row in table.values.chunks_exact(table.n_cols()) {
        sums.iter_mut().zip(row).for_each(|(sums, &value)| sums.add(value));
    }
    let columns: Vec<ColumnDescription> = sums.iter().enumerate().map(|(j, sums)| column(table, j, sums)).collect();
    let has_missing = |row: &&[f64]| row.iter().any(|value| value.is_nan());
    Description {
        file: table.file.clone(),
        format: draft.format,
        n_rows: table.n_rows(),
        n_rows_missing: table.values.chunks_exact(table.n_cols()).filter(has_missing).count(),
        problems: problems(table, &columns),
        columns,
    }
}

/// Running sums of one column.
#[derive(Clone, Debug)]
struct Sums {
    n_missing: usize,
    n: f64,
    min: f64,
    mean: f64,
    squares: f64,
    max: f64,
}

impl Default for Sums {
    fn default() -> Self {
        Sums { n_missing: 0, n: 0.0, min: f64::INFINITY, mean: 0.0, squares: 0.0, max: f64::NEG_INFINITY }
    }
}

impl Sums {
    fn add(&mut self, value: f64) {
        self.n_missing += usize::from(value.is_nan());
        if value.is_finite() {
            self.n += 1.0;
            let before = value - self.mean;
            self.mean += before / self.n;
            self.squares += before * (value - self.mean);
            self.min = self.min.min(value);
            self.max = self.max.max(value);
        }
    }

    fn range(&self) -> Option<Range> {
        let sd = (self.squares / (self.n - 1.0).max(1.0)).sqrt();
        (self.n > 0.0).then_some(Range { min: self.min, mean: self.mean, sd, max: self.max })
    }
}

fn column(table: &Table, j: usize, sums: &Sums) -> ColumnDescription {
    let n_rows = table.n_rows();
    let mut levels: Vec<Level> =
        table.levels[j].iter().map(|level| Level { level: level.clone(), n_rows: 0 }).collect();
    if !levels.is_empty() {
        table.column(j).filter(|value| !value.is_nan()).for_each(|value| levels[value as usize].n_rows += 1);
    }
    let n_levels = levels.len();
    levels.truncate(MANY_LEVELS);
    let range = if n_levels == 0 { sums.range() } else { None };
    let is_constant = n_levels == 1
        || range.is_some_and(|range| range.min == range.max && sums.n as usize == n_rows - sums.n_missing);
    let kind = match () {
        () if sums.n_missing == n_rows => ColumnKind::Missing,
        () if is_constant => ColumnKind::Constant,
        () if n_levels > 0 => ColumnKind::Category,
        () => ColumnKind::Number,
    };
    let (number, name) = (table.numbers[j], table.names[j].clone());
    ColumnDescription { number, name, kind, n_missing: sums.n_missing, range, n_levels, levels }
}
