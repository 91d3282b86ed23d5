//! How a file is read: which columns, what becomes of missing cells and of texts.

use serde::{Deserialize, Serialize};

use crate::Columns;

/// What becomes of rows with missing cells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Missing {
    /// A missing cell is an error that says where the first one is and how many there are.
    #[default]
    Refuse,
    /// Rows with a missing cell in a column that is read are dropped; [`Table::n_dropped`](crate::Table::n_dropped)
    /// says how many.
    Drop,
}

/// What becomes of columns that hold texts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Categorical {
    /// A text is an error.
    #[default]
    Refuse,
    /// A column that holds a text anywhere is a category: one indicator for each of its levels but the first.
    Indicators,
}

/// How a file is read.
///
/// ```
/// use elinvar_data::{Categorical, Missing, Reading, Table};
///
/// let how = Reading { missing: Missing::Drop, categorical: Categorical::Indicators, ..Reading::default() };
/// let text = b"age,city\n31,Oslo\nNA,Bergen\n47,Bergen\n";
/// let table = Table::from_csv_with("small.csv", text, &how)?;
/// assert_eq!((table.n_rows(), table.n_dropped()), (2, 1));
/// assert_eq!(table.levels(1).unwrap(), ["Bergen", "Oslo"]);
/// assert_eq!(table.row(0), [31.0, 1.0]);
/// # Ok::<(), elinvar_data::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// The columns; those that are left out may hold anything.
    pub columns: Columns,
    /// What becomes of rows with missing cells.
    pub missing: Missing,
    /// What becomes of columns that hold texts.
    pub categorical: Categorical,
    /// Columns that are categories whatever they hold.
    pub as_category: Vec<String>,
    /// Columns that are categories where they hold a text, whatever becomes of others.
    pub texts: Vec<String>,
    /// The array with the features in an npz file; needed where the file has several with two dimensions.
    pub array: Option<String>,
}

impl Reading {
    /// Whether texts make this column a category.
    pub(crate) fn may_be_text(&self, name: &str) -> bool {
        let is_listed = |list: &[String]| list.iter().any(|listed| listed == name);
        self.categorical == Categorical::Indicators || is_listed(&self.as_category) || is_listed(&self.texts)
    }
}

impl From<&Columns> for Reading {
    fn from(columns: &Columns) -> Self {
        Reading { columns: columns.clone(), ..Reading::default() }
    }
}
