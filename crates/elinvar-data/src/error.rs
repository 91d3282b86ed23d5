//! Everything that can be wrong with a file, as data with one sentence that says where and what to do.

use std::fmt;
use std::io;
use std::path::PathBuf;

use crate::sentence::{
    did_you_mean_column, did_you_mean_file, fields, for_example, name_it, quoted, recode, recode_texts, rows, short,
    shortened, some_of, values_and_places,
};

/// What the rows of a file are counted in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unit {
    /// Lines of a text, from 1, as an editor counts them.
    #[default]
    Line,
    /// Rows of a file that is no text, from 0, as numpy and files of row numbers count them.
    Row,
}

impl Unit {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Unit::Line => "line",
            Unit::Row => "row",
        }
    }

    /// The place of a row in words.
    pub(crate) fn at(self, number: u64) -> String {
        match self {
            Unit::Line => format!("line {number}"),
            Unit::Row => format!("row {number} (counted from 0)"),
        }
    }
}

/// A cell of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file, as it was named.
    pub file: PathBuf,
    /// The line on which the row begins, or the row.
    pub line: u64,
    /// What `line` counts.
    pub unit: Unit,
    /// Number of the column, counted from 1.
    pub number: usize,
    /// Name of the column.
    pub column: String,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (file, at, column) = (self.file.display(), self.unit.at(self.line), shortened(&self.column));
        write!(f, "{file}, {at}, column {} ({column})", self.number)
    }
}

/// What is wrong with a file or with what was asked of it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the sentence of each variant says what its fields are")]
pub enum Error {
    /// The file does not exist.
    #[error("{file}: there is no such file; {}", did_you_mean_file(.similar.as_ref()))]
    NotFound { file: PathBuf, similar: Option<PathBuf> },
    /// A folder was named where a file is needed.
    #[error("{file}: this is a folder; name a file in it{}", for_example(.example.as_ref()))]
    Folder { file: PathBuf, example: Option<PathBuf> },
    /// The system does not let the file be read.
    #[error("{file}: the file cannot be read ({source}); check the path and its permissions")]
    Unreadable { file: PathBuf, source: io::Error },
    /// A file of a table in several has other columns than the first.
    #[error("{file}: its columns are not those of {first} ({difference}); all files must have the same columns")]
    OtherColumns { file: PathBuf, first: PathBuf, difference: String },
    /// A file was written while it was read again and again.
    #[error("{file}: the file has changed since it was first read; fit again")]
    Changed { file: PathBuf },
    /// A file that cannot be read in shards.
    #[error("{file}: only parquet and plain CSV are read piece by piece; leave --stream out, or write one of these")]
    NotInShards { file: PathBuf },
    /// The file is not UTF-8 text.
    #[error("{file}, line {line}: the file is not UTF-8 text; save it as CSV in UTF-8")]
    NotUtf8 { file: PathBuf, line: u64 },
    /// The file has no content.
    #[error("{file}: the file is empty; it needs a header line with the column names and one line for each row")]
    Empty { file: PathBuf },
    /// Nothing follows the header.
    #[error("{file}, line {line}: no rows follow the header; add one line for each row")]
    HeaderOnly { file: PathBuf, line: u64 },
    /// The first line holds numbers, so the names are missing.
    #[error(
        "{file}, line {line}: the first line holds only numbers ({text}) where column names should be; add a header line"
    )]
    NoHeader { file: PathBuf, line: u64, text: String },
    /// A column has no name.
    #[error("{file}, line {line}, column {number}: the column has no name; {}", name_it(*.number))]
    EmptyName { file: PathBuf, line: u64, number: usize },
    /// A comment, or Excel's note of the delimiter, stands before the header.
    #[error("{file}, line {line}: {text} is not a line of column names; remove line {line}")]
    NotAHeader { file: PathBuf, line: u64, text: String },
    /// The name of a column has a line break, an escape or the like.
    #[error("{file}, line {line}, column {number}: the name {} holds a control character; rename the column", quoted(.name))]
    ControlCharacter { file: PathBuf, line: u64, number: usize, name: String },
    /// Two columns have the same name.
    #[error("{file}, line {line}, columns {first} and {second}: both are named {}; rename one of them", quoted(.name))]
    DuplicateName { file: PathBuf, line: u64, name: String, first: usize, second: usize },
    /// A row has more or fewer fields than the header.
    #[error("{file}, line {line}: the row has {} and the header has {expected} ({text}); {remedy}", fields(*.found))]
    FieldCount { file: PathBuf, line: u64, expected: usize, found: usize, text: String, remedy: &'static str },
    /// A cell is empty or holds a sign for a missing value.
    #[error("{place}: the value is missing ({text}); fill it in, remove the row or leave the column out")]
    Missing { place: Place, text: String },
    /// Several cells are empty or hold a sign for a missing value.
    #[error(
        "{place}: the value is missing ({text}), the first of {n_cells} missing cells in {}; \
         fill them in, drop the rows by --missing drop or leave the column out",
        rows(*.n_rows)
    )]
    MissingCells { place: Place, text: String, n_cells: usize, n_rows: usize },
    /// Every row has a missing cell.
    #[error(
        "{file}: each of the {n_rows} rows has a missing cell, so that --missing drop leaves none; \
         leave out the columns with missing cells"
    )]
    AllRowsMissing { file: PathBuf, n_rows: usize },
    /// A cell is not a number.
    #[error("{place}: {text} is not a number; {remedy}")]
    NotANumber { place: Place, text: String, remedy: &'static str },
    /// A cell is infinite, or too large for a 64-bit number.
    #[error("{place}: {text} is not a finite number; correct it, remove the row or leave the column out")]
    NotFinite { place: Place, text: String },
    /// A column was asked for that the file does not have.
    #[error("{file}: there is no column {}; {}", quoted(.wanted), did_you_mean_column(.similar.as_ref(), .available))]
    NoSuchColumn { file: PathBuf, wanted: String, similar: Option<String>, available: Vec<String> },
    /// A column was listed twice.
    #[error("{file}: the column {} is listed twice; list it once", quoted(.name))]
    ListedTwice { file: PathBuf, name: String },
    /// The target was left out.
    #[error("{file}: the target column {} is also left out; keep it or name another target", quoted(.name))]
    TargetLeftOut { file: PathBuf, name: String },
    /// The target was listed as a feature.
    #[error("{file}: the target column {} is also listed as a feature; take it off the list or name another target", quoted(.name))]
    TargetAmongFeatures { file: PathBuf, name: String },
    /// Nothing but the target is left.
    #[error("{file}: no feature column is left beside the target {}; keep at least one", quoted(.target))]
    NoFeatures { file: PathBuf, target: String },
    /// There are too few rows to fit a model.
    #[error("{file}: {found} row of data is too few; at least 2 rows are needed")]
    TooFewRows { file: PathBuf, found: usize },
    /// A binary target holds something else than 0 and 1, or −1 and 1.
    #[error(
        "{file}, column {number} ({}): a binary target holds 0 and 1, or -1 and 1, but this one holds {}; {}",
        shortened(.column), values_and_places(.found, *.n_distinct, *.unit), recode(.found, *.n_distinct)
    )]
    NotBinary { file: PathBuf, number: usize, column: String, found: Vec<(f64, u64)>, n_distinct: usize, unit: Unit },
    /// A binary target holds one class only.
    #[error(
        "{file}, column {number} ({}): every row has the class {value}, and a binary target needs two; \
         add rows of the other class or name another target",
        shortened(.column)
    )]
    OneClass { file: PathBuf, number: usize, column: String, value: f64 },
    /// A count is negative or not whole.
    #[error("{place}: {} is not a count; the target must hold whole numbers from 0 to 2^53", short(*.value))]
    NotACount { place: Place, value: f64 },
    /// A number outside the range of the model.
    #[error("{place}: {} is not {needed}, as the model needs; correct it, or choose another model", short(*.value))]
    OutOfRange { place: Place, value: f64, needed: &'static str },
    /// The target is the same in every row.
    #[error(
        "{file}, column {number} ({}): every row has the value {}, so there is nothing to explain; name another target",
        shortened(.column), short(*.value)
    )]
    ConstantTarget { file: PathBuf, number: usize, column: String, value: f64 },
    /// A value whose square or product with others would overflow.
    #[error("{place}: {} is too large to compute with; divide the column by a constant", short(*.value))]
    TooLarge { place: Place, value: f64 },
    /// A feature is the same in every row, as the intercept is.
    #[error(
        "{file}, column {number} ({}): every row has the value {}, which duplicates the intercept; \
         drop it or use --no-intercept",
        shortened(.column), short(*.value)
    )]
    ConstantColumn { file: PathBuf, number: usize, column: String, value: f64 },
    /// A category has one level only.
    #[error(
        "{file}, column {number} ({}): every row has the level {}, so that there is nothing to compare; leave the column out",
        shortened(.column), quoted(.level)
    )]
    OneLevel { file: PathBuf, number: usize, column: String, level: String },
    /// A category has nearly as many levels as there are rows.
    #[error(
        "{file}, column {number} ({}): {n_levels} different values in {} are too many for a category; leave the column out",
        shortened(.column), rows(*.n_rows)
    )]
    TooManyLevels { file: PathBuf, number: usize, column: String, n_levels: usize, n_rows: usize },
    /// The target is a category.
    #[error(
        "{file}, column {number} ({}): the target holds texts ({}); {}",
        shortened(.column), some_of(.levels, *.n_levels), recode_texts(.levels, *.n_levels)
    )]
    TextTarget { file: PathBuf, number: usize, column: String, levels: Vec<String>, n_levels: usize },
    /// The indicator of a level has the name of another column.
    #[error(
        "{file}, column {number} ({}): its indicator {} has the name of another column; rename one of them",
        shortened(.column), quoted(.name)
    )]
    IndicatorTaken { file: PathBuf, number: usize, column: String, name: String },
    /// A column holds something that is neither numbers nor texts.
    #[error("{file}, column {number} ({}): the column holds {found}; {remedy}", shortened(.column))]
    ColumnType { file: PathBuf, number: usize, column: String, found: String, remedy: &'static str },
    /// A piece of a LIBSVM line is not what it should be.
    #[error("{file}, line {line}: {token} {problem}; {remedy}")]
    Token { file: PathBuf, line: u64, token: String, problem: &'static str, remedy: &'static str },
    /// The content is not what its kind of file holds.
    #[error("{file}: {problem}; {remedy}")]
    Content { file: PathBuf, problem: String, remedy: String },
    /// This build does not read the kind of file.
    #[error(
        "{file}: this is a parquet file, which this build does not read; \
         build with --features parquet, or save the table as CSV or npy"
    )]
    ParquetLeftOut { file: PathBuf },
    /// A feature has the name of the intercept.
    #[error(
        "{file}, column {number} (intercept): the name is taken by the model's own intercept; rename the column or use --no-intercept"
    )]
    InterceptTaken { file: PathBuf, number: usize },
    /// A feature has the name of a column that comes with every draw.
    #[error(
        "{file}, column {number} ({column}): the name is taken by a column of the draws; rename the column or leave it out"
    )]
    NameTaken { file: PathBuf, number: usize, column: String },
    /// More training rows than rows, or none.
    #[error("{n_train} of {n_rows} rows cannot be taken for training; take between 1 and {n_rows}")]
    TrainTooLarge { n_train: usize, n_rows: usize },
    /// A share of the rows that leaves no row to train or none to test.
    #[error(
        "{fraction} of {n_rows} rows cannot be taken for training; take a part between 0 and 1 that leaves rows on both sides"
    )]
    BadFraction { fraction: f64, n_rows: usize },
    /// The training rows have one value of the target only.
    #[error(
        "the target {} has the value {} in each of the {n_train} training rows; take more training rows or another seed",
        quoted(.target), short(*.value)
    )]
    ConstantTraining { target: String, value: f64, n_train: usize },
    /// A mean cannot be subtracted without an intercept that takes it up.
    #[error(
        "--standardize subtracts the mean of each column, and without an intercept that changes the model; \
         keep the intercept or use --scale"
    )]
    ShiftWithoutIntercept,
    /// A line of a file of row numbers holds something else.
    #[error("{file}, line {line}: {text} is not a row number; write one number per line, the first row being 0")]
    NotARowNumber { file: PathBuf, line: u64, text: String },
    /// A row number is not in the table.
    #[error("{file}, line {line}: there is no row {row} among {n_rows} rows; rows are counted from 0 to {}", n_rows.saturating_sub(1))]
    NoSuchRow { file: PathBuf, line: u64, row: usize, n_rows: usize },
    /// A row number occurs twice.
    #[error("{file}, line {line}: row {row} is already on line {first_line}; remove one of them")]
    RepeatedRow { file: PathBuf, line: u64, row: usize, first_line: u64 },
    /// A file of row numbers holds none.
    #[error("{file}: the file holds no row numbers; write one number per line, the first row being 0")]
    NoRowNumbers { file: PathBuf },
}
