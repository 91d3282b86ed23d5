//! Target and features of a regression model, taken out of a table and checked.

use std::path::Path;

use crate::check::{check_beside_intercept, check_levels, check_names, check_size, outcome, single_outcome};
use crate::fingerprint::fingerprint;
use crate::room::zeros;
use crate::{Beside, Columns, Error, Intercept, Outcome, Selection, Table};

/// What a column of the design matrix is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DesignColumn {
    /// Ones.
    Intercept,
    /// Numbers as they are in the file.
    Number,
    /// 1 in the rows of one level of a category, 0 in the others.
    Indicator {
        /// Name of the category.
        column: String,
        /// The level.
        level: String,
        /// The level without an indicator, against which the others are compared, if there is one.
        reference: Option<String>,
    },
}

/// Features and target of a regression model.
#[derive(Clone, Debug, PartialEq)]
pub struct RegressionData {
    /// The design matrix, row after row.
    pub features: Vec<f64>,
    /// Names of the columns of the design matrix; `column=level` for an indicator.
    pub names: Vec<String>,
    /// What the columns of the design matrix are.
    pub kinds: Vec<DesignColumn>,
    /// The target; −1 and 1 for [`Outcome::Binary`].
    pub y: Vec<f64>,
    /// Name of the target.
    pub target: String,
    /// The levels of a target that is a text, in their order; of two the second is the event.
    pub classes: Vec<String>,
    /// Offsets, weights and trials.
    pub beside: Beside,
    /// Hash of the names and the bits of all values as they were read, by which a fit recognises its data.
    pub fingerprint: String,
    /// Rows of the file that were dropped because a cell was missing.
    pub n_dropped: usize,
    /// Zero-based number in the file of each row; empty if no row was dropped.
    pub(crate) kept_rows: Vec<usize>,
}

/// Where the values of a column of the design matrix come from.
enum Source {
    One,
    Number(usize),
    Indicator(usize, f64),
}

impl Source {
    #[inline]
    fn value(&self, row: &[f64]) -> f64 {
        match *self {
            Source::One => 1.0,
            Source::Number(k) => row[k],
            Source::Indicator(k, level) => f64::from(u8::from(row[k] == level)),
        }
    }
}

impl RegressionData {
    /// Reads the columns that are needed from a file; columns that are left out may hold anything.
    ///
    /// Without categories the rows become the design matrix where they are: no second copy is made.
    ///
    /// # Errors
    ///
    /// As [`Table::read_with`] and [`RegressionData::from_table`].
    pub fn read(path: impl AsRef<Path>, selection: &Selection) -> Result<Self, Error> {
        let path = path.as_ref();
        let table = Table::read_with(path, &selection.reading(path)?)?;
        match &selection.features {
            Columns::Except(_) => Self::take(table, selection, &Columns::All),
            features => Self::take(table, selection, features),
        }
    }

    /// Takes target and features out of a table; how missing cells and texts are read was decided when it was read.
    ///
    /// A category becomes one indicator for each level but the first, the reference. Without an intercept, the first
    /// category has an indicator for the first level, too.
    ///
    /// # Errors
    ///
    /// A column is not there, no feature or fewer than two rows are left, the target does not hold what the outcome
    /// asks for or is constant, a value is beyond ±1e100, a feature duplicates the intercept, a category has one level
    /// only, or a feature has the name of another or of a column that comes with draws.
    pub fn from_table(table: &Table, selection: &Selection) -> Result<Self, Error> {
        selection.columns_to_read(table.file())?;
        Self::take(table.clone(), selection, &selection.features)
    }

    fn take(table: Table, selection: &Selection, features: &Columns) -> Result<Self, Error> {
        let target = table.column_index(&selection.target)?;
        let mut kept = features.positions(table.file(), table.names())?;
        kept.retain(|&k| k != target);
        if kept.is_empty() {
            return Err(Error::NoFeatures { file: table.file().into(), target: selection.target.clone() });
        }
        if table.n_rows() < 2 {
            return Err(Error::TooFewRows { file: table.file().into(), found: table.n_rows() });
        }
        let y = outcome(&table, target, selection.outcome)?;
        check_size(&table, kept.iter().copied().chain([target]))?;
        check_names(&table, &kept)?;
        check_levels(&table, &kept)?;
        if selection.intercept == Intercept::First {
            check_beside_intercept(&table, &kept)?;
        }
        let Design { sources, names, kinds } = design(&table, &kept, selection.intercept)?;
        let classes = table.levels[target].clone();
        let Table { file, values, n_dropped, kept_rows, names: table_names, .. } = table;
        let features = rows_of(&file, &sources, values, table_names.len())?;
        let all_names: Vec<&str> = names.iter().chain([&selection.target]).map(String::as_str).collect();
        let fingerprint = fingerprint(all_names.into_iter(), features.iter().chain(&y).copied());
        let (target, beside) = (selection.target.clone(), Beside::default());
        Ok(RegressionData { features, names, kinds, y, target, classes, beside, fingerprint, n_dropped, kept_rows })
    }

    /// A design matrix that was made of all columns of a table; the fingerprint is that of the table.
    ///
    /// # Panics
    ///
    /// If there are not as many rows as the table has, or not as many kinds as names.
    pub fn of_design(
        table: &Table,
        features: Vec<f64>,
        (names, kinds): (Vec<String>, Vec<DesignColumn>),
        (target, classes): (String, Vec<String>),
        y: Vec<f64>,
        beside: Beside,
    ) -> Self {
        assert_eq!((y.len(), features.len()), (table.n_rows(), names.len() * y.len()), "one row for each of the table");
        assert_eq!(names.len(), kinds.len(), "a kind for each column");
        let (n_dropped, kept_rows) = (table.n_dropped, table.kept_rows.clone());
        let fingerprint = table.fingerprint();
        RegressionData { features, names, kinds, y, target, classes, beside, fingerprint, n_dropped, kept_rows }
    }

    /// Columns and target of a table whose rows are elsewhere.
    ///
    /// # Panics
    /// If there are not as many kinds as names.
    pub fn without_rows(names: Vec<String>, kinds: Vec<DesignColumn>, target: String) -> Self {
        assert_eq!(names.len(), kinds.len(), "a kind for each column");
        RegressionData {
            features: Vec::new(),
            names,
            kinds,
            y: Vec::new(),
            target,
            classes: Vec::new(),
            beside: Beside::default(),
            fingerprint: String::new(),
            n_dropped: 0,
            kept_rows: Vec::new(),
        }
    }

    /// The first column of a table as the target and the others as features, for a model of a single quantity: a target
    /// may be the same in every row, two classes are given out as 0 and 1, and more as positions among their levels.
    ///
    /// # Errors
    ///
    /// The target does not hold what the outcome asks for, a value is beyond ±1e100, or a column has the name of one
    /// that comes with draws.
    pub fn columns(table: &Table, outcome: Outcome) -> Result<Self, Error> {
        check_size(table, 0..table.n_cols())?;
        check_names(table, &(0..table.n_cols()).collect::<Vec<_>>())?;
        let n_features = table.n_cols() - 1;
        let mut features = Vec::with_capacity(n_features * table.n_rows());
        table.values().chunks_exact(table.n_cols()).for_each(|row| features.extend_from_slice(&row[1..]));
        let y = single_outcome(table, outcome)?;
        let all_names = table.names().iter().map(String::as_str);
        let fingerprint = fingerprint(all_names, features.iter().chain(&y).copied());
        let (target, names) = (table.names()[0].clone(), table.names()[1..].to_vec());
        let kinds = vec![DesignColumn::Number; n_features];
        let (n_dropped, kept_rows) = (table.n_dropped, table.kept_rows.clone());
        let (classes, beside) = (table.levels[0].clone(), Beside::default());
        Ok(RegressionData { features, names, kinds, y, target, classes, beside, fingerprint, n_dropped, kept_rows })
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.y.len()
    }

    /// Number of columns of the design matrix, the intercept included.
    pub fn n_cols(&self) -> usize {
        self.names.len()
    }

    /// Row `i` of the design matrix, counted from 0.
    pub fn row(&self, i: usize) -> &[f64] {
        &self.features[i * self.n_cols()..(i + 1) * self.n_cols()]
    }
}

/// The columns of a design matrix before it is filled.
#[derive(Default)]
struct Design {
    sources: Vec<Source>,
    names: Vec<String>,
    kinds: Vec<DesignColumn>,
}

impl Design {
    fn push(&mut self, source: Source, name: String, kind: DesignColumn) {
        self.sources.push(source);
        self.names.push(name);
        self.kinds.push(kind);
    }
}

fn design(table: &Table, kept: &[usize], intercept: Intercept) -> Result<Design, Error> {
    let mut design = Design::default();
    let mut needs_reference = intercept == Intercept::First;
    if needs_reference {
        design.push(Source::One, "intercept".into(), DesignColumn::Intercept);
    }
    for &k in kept {
        let column = &table.names[k];
        let Some(levels) = table.levels(k) else {
            design.push(Source::Number(k), column.clone(), DesignColumn::Number);
            continue;
        };
        let reference = needs_reference.then(|| levels[0].clone());
        for (position, level) in levels.iter().enumerate().skip(usize::from(needs_reference)) {
            let name = format!("{column}={}", on_one_line(level));
            let is_name_of_a_column =
                kept.iter().any(|&other| table.levels[other].is_empty() && table.names[other] == name);
            if is_name_of_a_column || design.names.contains(&name) {
                let (file, number, column) = (table.file.clone(), table.numbers[k], column.clone());
                return Err(Error::IndicatorTaken { file, number, column, name });
            }
            let (column, level) = (column.clone(), level.clone());
            let indicator = DesignColumn::Indicator { column, level, reference: reference.clone() };
            design.push(Source::Indicator(k, position as f64), name, indicator);
        }
        // Indicators of all levels add up to an intercept, so a second full set would be redundant.
        needs_reference = true;
    }
    Ok(design)
}

/// A text whose control characters are escaped: names go into tables and files of lines.
pub fn on_one_line(level: &str) -> String {
    let escaped = |c: char| if c.is_control() { c.escape_default().to_string() } else { c.to_string() };
    level.chars().map(escaped).collect()
}

/// The design matrix, in the memory of `values` if it fits there.
fn rows_of(file: &Path, sources: &[Source], mut values: Vec<f64>, n_cols: usize) -> Result<Vec<f64>, Error> {
    let (n_rows, width) = (values.len() / n_cols, sources.len());
    if width > n_cols {
        let rows = values.chunks_exact(n_cols);
        // A category of many levels makes a wide matrix of a narrow table.
        let mut features = zeros(file, n_rows, width)?;
        for (row, out) in rows.zip(features.chunks_exact_mut(width)) {
            out.iter_mut().zip(sources).for_each(|(value, source)| *value = source.value(row));
        }
        return Ok(features);
    }
    let mut row = vec![0.0; n_cols];
    for i in 0..n_rows {
        row.copy_from_slice(&values[i * n_cols..(i + 1) * n_cols]);
        let out = &mut values[i * width..(i + 1) * width];
        out.iter_mut().zip(sources).for_each(|(value, source)| *value = source.value(&row));
    }
    values.truncate(n_rows * width);
    values.shrink_to_fit();
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Categorical, Outcome, Reading};

    fn table(text: &str) -> Table {
        Table::from_csv("t.csv", text.as_bytes(), &Columns::All).unwrap()
    }

    #[test]
    fn intercept_comes_first_and_the_target_never_is_a_feature() {
        let table = table("a,y,b\n2,0,5\n3,1,6\n");
        let data = RegressionData::from_table(&table, &Selection::new("y", Outcome::Real)).unwrap();
        assert_eq!(data.names, ["intercept", "a", "b"]);
        assert_eq!(data.features, [1.0, 2.0, 5.0, 1.0, 3.0, 6.0]);
        assert_eq!((data.y.as_slice(), data.n_rows(), data.n_cols()), ([0.0, 1.0].as_slice(), 2, 3));

        let only = Columns::Only(vec!["b".into(), "a".into()]);
        let chosen = Selection { features: only, intercept: Intercept::None, ..Selection::new("y", Outcome::Real) };
        let data = RegressionData::from_table(&table, &chosen).unwrap();
        assert_eq!((data.names, data.features), (vec!["b".into(), "a".into()], vec![5.0, 2.0, 6.0, 3.0]));
    }

    #[test]
    fn classes_become_minus_one_and_one() {
        let selection = Selection::new("y", Outcome::Binary);
        for text in ["x,y\n1,0\n2,1\n3,0\n", "x,y\n1,-1\n2,1\n3,-1\n"] {
            assert_eq!(RegressionData::from_table(&table(text), &selection).unwrap().y, [-1.0, 1.0, -1.0]);
        }
        let how = selection.reading(Path::new("t.csv")).unwrap();
        let texts = Table::from_csv_with("t.csv", b"x,y\n1,no\n2,yes\n3,no\n", &how).unwrap();
        let data = RegressionData::from_table(&texts, &selection).unwrap();
        assert_eq!((data.y.as_slice(), data.classes.join(" ")), ([-1.0, 1.0, -1.0].as_slice(), "no yes".into()));
    }

    #[test]
    fn fingerprint_sees_names_and_values_but_not_unused_columns() {
        let of = |text: &str| {
            let features = Columns::Only(vec!["a".into()]);
            let selection = Selection { features, ..Selection::new("y", Outcome::Real) };
            RegressionData::from_table(&table(text), &selection).unwrap().fingerprint
        };
        let first = of("a,b,y\n1,1,3\n2,1,4\n");
        assert_eq!(first, of("b,a,y\n7,1,3\n8,2,4\n"));
        assert_ne!(first, of("a,b,y\n1,1,3\n2,1,5\n"));
    }

    fn with_categories(text: &str, intercept: Intercept) -> RegressionData {
        let how = Reading { categorical: Categorical::Indicators, ..Reading::default() };
        let table = Table::from_csv_with("t.csv", text.as_bytes(), &how).unwrap();
        let selection = Selection { intercept, ..Selection::new("y", Outcome::Real) };
        RegressionData::from_table(&table, &selection).unwrap()
    }

    #[test]
    fn categories_become_indicators() {
        let text = "city,y,a,size\nOslo,1,5,big\nBergen,2,6,small\nTromsø,3,7,big\n";
        let data = with_categories(text, Intercept::First);
        assert_eq!(data.names, ["intercept", "city=Oslo", "city=Tromsø", "a", "size=small"]);
        assert_eq!(data.row(0), [1.0, 1.0, 0.0, 5.0, 0.0]);
        assert_eq!(data.row(1), [1.0, 0.0, 0.0, 6.0, 1.0]);
        assert_eq!(data.row(2), [1.0, 0.0, 1.0, 7.0, 0.0]);
        let reference = Some("Bergen".to_string());
        let oslo = DesignColumn::Indicator { column: "city".into(), level: "Oslo".into(), reference };
        assert_eq!(data.kinds[..2], [DesignColumn::Intercept, oslo]);

        let data = with_categories(text, Intercept::None);
        assert_eq!(data.names, ["city=Bergen", "city=Oslo", "city=Tromsø", "a", "size=small"]);
        assert_eq!(data.row(1), [1.0, 0.0, 0.0, 6.0, 1.0]);
    }

    #[test]
    fn design_matrix_reuses_the_memory_of_the_table() {
        let table = table("a,y,b\n2,0,5\n3,1,6\n");
        let memory = table.values.as_ptr();
        let data = RegressionData::take(table, &Selection::new("y", Outcome::Real), &Columns::All).unwrap();
        assert_eq!(data.features, [1.0, 2.0, 5.0, 1.0, 3.0, 6.0]);
        assert_eq!(data.features.as_ptr(), memory);
    }

    #[test]
    fn classes_of_a_single_column_are_0_and_1() {
        for text in ["y\n-1\n1\n1\n", "y\n0\n1\n1\n"] {
            let table = Table::from_csv("t.csv", text.as_bytes(), &Columns::All).unwrap();
            assert_eq!(RegressionData::columns(&table, Outcome::Binary).unwrap().y, [0.0, 1.0, 1.0]);
        }
        let one = Table::from_csv("t.csv", b"y\n1\n1\n", &Columns::All).unwrap();
        assert_eq!(RegressionData::columns(&one, Outcome::Binary).unwrap().y, [1.0, 1.0]);
    }

    /// Texts and numbers alike, where the reading says that the column is a category.
    #[test]
    fn classes_of_a_single_column_are_positions_among_their_levels() {
        let how = Selection::new("y", Outcome::Classes).reading(Path::new("t.csv")).unwrap();
        for (text, levels) in [("y\nsouth\nnorth\nsouth\n", "north south"), ("y\n7\n2\n7\n", "2 7")] {
            let table = Table::from_csv_with("t.csv", text.as_bytes(), &how).unwrap();
            let data = RegressionData::columns(&table, Outcome::Classes).unwrap();
            assert_eq!((data.y.as_slice(), data.classes.join(" ")), ([1.0, 0.0, 1.0].as_slice(), levels.into()));
        }
    }
}
