//! Everything that can be wrong with a file, as data with one sentence that says where and what to do.

use std::fmt;
use std::io;
use std::path::PathBuf;

/// A cell of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file, as it was named.
    pub file: PathBuf,
    /// The line on which the row begins, as an editor counts it.
    pub line: u64,
    /// Number of the column, counted from 1.
    pub number: usize,
    /// Name of the column.
    pub column: String,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, line {}, column {} ({})", self.file.display(), self.line, self.number, shortened(&self.column))
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
        shortened(.column), values_and_lines(.found, *.n_distinct), recode(.found, *.n_distinct)
    )]
    NotBinary { file: PathBuf, number: usize, column: String, found: Vec<(f64, u64)>, n_distinct: usize },
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

/// Longest piece of a file that a message repeats, in characters.
const EXCERPT_CHARS: usize = 40;

/// `text` with control characters escaped, cut after 40 characters.
fn shortened(text: &str) -> String {
    let mut short: String = text.chars().take(EXCERPT_CHARS).flat_map(char::escape_debug).collect();
    if text.chars().nth(EXCERPT_CHARS).is_some() {
        short.push('…');
    }
    short
}

/// [`shortened`] without escaped quotes, in double quotes.
fn quoted(text: &str) -> String {
    format!("\"{}\"", shortened(text).replace("\\\"", "\"").replace("\\'", "'"))
}

/// A piece of a file as messages show it.
pub(crate) fn excerpt(text: &str) -> String {
    quoted(text)
}

/// A number as it is, or with four digits in scientific notation where that would be long.
fn short(value: f64) -> String {
    const LONGEST: usize = 12;
    let plain = value.to_string();
    if plain.len() <= LONGEST {
        return plain;
    }
    let rounded: f64 = format!("{value:.3e}").parse().unwrap_or(value);
    format!("{rounded:e}")
}

fn name_it(number: usize) -> &'static str {
    if number == 1 { "name it, or save the table without its index" } else { "name it in the header or remove it" }
}

fn fields(n: usize) -> String {
    if n == 1 { "1 field".into() } else { format!("{n} fields") }
}

fn did_you_mean_file(similar: Option<&PathBuf>) -> String {
    similar.map_or("check the path".into(), |path| format!("did you mean {}?", path.display()))
}

fn for_example(example: Option<&PathBuf>) -> String {
    example.map_or(String::new(), |path| format!(", for example {}", path.display()))
}

fn did_you_mean_column(similar: Option<&String>, available: &[String]) -> String {
    const SHOWN: usize = 8;
    if let Some(name) = similar {
        return format!("did you mean {}?", quoted(name));
    }
    let shown: Vec<String> = available.iter().take(SHOWN).map(|name| quoted(name)).collect();
    let more = available.len().saturating_sub(SHOWN);
    let and_more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("the columns are {}{and_more}", shown.join(", "))
}

fn values_and_lines(found: &[(f64, u64)], n_distinct: usize) -> String {
    let shown: Vec<String> = found.iter().map(|(value, line)| format!("{} (line {line})", short(*value))).collect();
    let more = n_distinct - found.len();
    if more > 0 {
        return format!("{} and {more} more values", shown.join(", "));
    }
    match shown.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => shown.concat(),
    }
}

fn recode(found: &[(f64, u64)], n_distinct: usize) -> String {
    match found {
        [(a, _), (b, _)] if n_distinct == 2 => {
            format!("write 0 for {} and 1 for {}", short(a.min(*b)), short(a.max(*b)))
        }
        _ => "recode it to two classes or choose a model for such a target".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn excerpts_are_short_and_on_one_line() {
        assert_eq!(excerpt("a\nb\t\"c\" d'e"), "\"a\\nb\\t\"c\" d'e\"");
        let long = excerpt(&"é".repeat(1000));
        assert_eq!(long.chars().count(), EXCERPT_CHARS + 3);
        assert!(long.ends_with("…\""));
    }

    #[test]
    fn numbers_are_short() {
        let shown = [3.0, -0.5, 123456789.0, 1e300, -1.23456789e-20].map(short);
        assert_eq!(shown, ["3", "-0.5", "123456789", "1e300", "-1.235e-20"]);
    }
}
