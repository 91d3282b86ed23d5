//! Target and features of a regression model, taken out of a table and checked.

use std::path::Path;

use crate::fingerprint::fingerprint;
use crate::table::find;
use crate::{Error, Table};

/// Which columns of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Columns {
    /// All of them.
    #[default]
    All,
    /// These, in this order.
    Only(Vec<String>),
    /// All but these.
    Except(Vec<String>),
}

impl Columns {
    /// Positions in `names` of the columns meant.
    pub(crate) fn positions(&self, file: &Path, names: &[String]) -> Result<Vec<usize>, Error> {
        let listed = match self {
            Columns::All => return Ok((0..names.len()).collect()),
            Columns::Only(list) | Columns::Except(list) => {
                list.iter().map(|name| find(file, names, name)).collect::<Result<Vec<_>, _>>()?
            }
        };
        if let Some(i) = (1..listed.len()).find(|&i| listed[..i].contains(&listed[i])) {
            return Err(Error::ListedTwice { file: file.into(), name: names[listed[i]].clone() });
        }
        Ok(match self {
            Columns::Except(_) => (0..names.len()).filter(|k| !listed.contains(k)).collect(),
            _ => listed,
        })
    }
}

/// What the target must hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Any number.
    Real,
    /// Two classes, written 0 and 1 or −1 and 1; given out as −1 and 1.
    Binary,
    /// Whole numbers from 0.
    Count,
}

/// Whether a column of ones stands before the features.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Intercept {
    /// A column of ones named `intercept` comes first; a constant feature is an error.
    #[default]
    First,
    /// The features alone.
    None,
}

/// What a regression model takes from a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    /// Name of the target column.
    pub target: String,
    /// What the target must hold.
    pub outcome: Outcome,
    /// The features; the target is none of them and may not be listed.
    pub features: Columns,
    /// Whether a column of ones stands before the features.
    pub intercept: Intercept,
}

impl Selection {
    /// All columns but the target as features, after an intercept.
    pub fn new(target: impl Into<String>, outcome: Outcome) -> Self {
        Selection { target: target.into(), outcome, features: Columns::All, intercept: Intercept::First }
    }

    fn columns_to_read(&self, file: &Path) -> Result<Columns, Error> {
        match &self.features {
            Columns::All => Ok(Columns::All),
            Columns::Only(list) if list.contains(&self.target) => {
                Err(Error::TargetAmongFeatures { file: file.into(), name: self.target.clone() })
            }
            Columns::Only(list) => Ok(Columns::Only(list.iter().chain([&self.target]).cloned().collect())),
            Columns::Except(list) if list.contains(&self.target) => {
                Err(Error::TargetLeftOut { file: file.into(), name: self.target.clone() })
            }
            Columns::Except(list) => Ok(Columns::Except(list.clone())),
        }
    }
}

/// Features and target of a regression model.
#[derive(Clone, Debug, PartialEq)]
pub struct RegressionData {
    /// The design matrix, row after row.
    pub features: Vec<f64>,
    /// Names of the columns of the design matrix.
    pub names: Vec<String>,
    /// The target; −1 and 1 for [`Outcome::Binary`].
    pub y: Vec<f64>,
    /// Name of the target.
    pub target: String,
    /// Hash of the names and the bits of all values, by which a fit recognises its data.
    pub fingerprint: String,
}

impl RegressionData {
    /// Reads the columns that are needed from a file; columns that are left out may hold anything.
    ///
    /// # Errors
    ///
    /// As [`Table::read`] and [`RegressionData::from_table`].
    pub fn read(path: impl AsRef<Path>, selection: &Selection) -> Result<Self, Error> {
        let path = path.as_ref();
        let table = Table::read(path, &selection.columns_to_read(path)?)?;
        match &selection.features {
            Columns::Except(_) => Self::take(&table, selection, &Columns::All),
            features => Self::take(&table, selection, features),
        }
    }

    /// Takes target and features out of a table.
    ///
    /// # Errors
    ///
    /// A column is not there, no feature or fewer than two rows are left, the target does not hold what the outcome
    /// asks for or is constant, a value is beyond ±1e100, a feature duplicates the intercept, or it has the name of a
    /// column that comes with draws.
    pub fn from_table(table: &Table, selection: &Selection) -> Result<Self, Error> {
        selection.columns_to_read(table.file())?;
        Self::take(table, selection, &selection.features)
    }

    fn take(table: &Table, selection: &Selection, features: &Columns) -> Result<Self, Error> {
        let target = table.column_index(&selection.target)?;
        let mut kept = features.positions(table.file(), table.names())?;
        kept.retain(|&k| k != target);
        if kept.is_empty() {
            return Err(Error::NoFeatures { file: table.file().into(), target: selection.target.clone() });
        }
        if table.n_rows() < 2 {
            return Err(Error::TooFewRows { file: table.file().into(), found: table.n_rows() });
        }
        let y = outcome(table, target, selection.outcome)?;
        check_size(table, kept.iter().copied().chain([target]))?;
        check_names(table, &kept)?;
        let with_ones = selection.intercept == Intercept::First;
        if with_ones {
            check_beside_intercept(table, &kept)?;
        }
        let ones = with_ones.then(|| "intercept".to_string());
        let names: Vec<String> = ones.into_iter().chain(kept.iter().map(|&k| table.names[k].clone())).collect();
        let mut features = Vec::with_capacity(names.len() * table.n_rows());
        for row in table.values().chunks_exact(table.n_cols()) {
            features.extend(with_ones.then_some(1.0));
            features.extend(kept.iter().map(|&k| row[k]));
        }
        let all_names: Vec<&str> = names.iter().chain([&selection.target]).map(String::as_str).collect();
        let fingerprint = fingerprint(all_names.into_iter(), features.iter().chain(&y).copied());
        Ok(RegressionData { features, names, y, target: selection.target.clone(), fingerprint })
    }

    /// The first column of a table as the target and the others as features, for a model of a single quantity: a target may be
    /// the same in every row, and two classes are given out as 0 and 1.
    ///
    /// # Errors
    ///
    /// The target does not hold what the outcome asks for, a value is beyond ±1e100, or a column has the name of one that comes
    /// with draws.
    pub fn columns(table: &Table, outcome: Outcome) -> Result<Self, Error> {
        check_size(table, 0..table.n_cols())?;
        check_names(table, &(0..table.n_cols()).collect::<Vec<_>>())?;
        let n_features = table.n_cols() - 1;
        let mut features = Vec::with_capacity(n_features * table.n_rows());
        table.values().chunks_exact(table.n_cols()).for_each(|row| features.extend_from_slice(&row[1..]));
        let mut y: Vec<f64> = table.column(0).collect();
        match outcome {
            Outcome::Real => {}
            Outcome::Count => check_counts(table, 0, &y)?,
            Outcome::Binary => match lower_class(table, 0, &y) {
                Ok(_) | Err(Error::OneClass { .. }) => y.iter_mut().for_each(|v| *v = v.max(0.0)),
                Err(error) => return Err(error),
            },
        }
        let all_names = table.names().iter().map(String::as_str);
        let fingerprint = fingerprint(all_names, features.iter().chain(&y).copied());
        let (target, names) = (table.names()[0].clone(), table.names()[1..].to_vec());
        Ok(RegressionData { features, names, y, target, fingerprint })
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.y.len()
    }

    /// Number of columns of the design matrix, the intercept included.
    pub fn n_cols(&self) -> usize {
        self.names.len()
    }
}

/// Refuses values beyond ±1e100: what a model computes from them would overflow.
fn check_size(table: &Table, columns: impl Iterator<Item = usize>) -> Result<(), Error> {
    const LARGEST: f64 = 1e100;
    for k in columns {
        if let Some((i, value)) = table.column(k).enumerate().find(|(_, value)| value.abs() > LARGEST) {
            return Err(Error::TooLarge { place: table.place(i, k), value });
        }
    }
    Ok(())
}

/// Refuses the names of the columns that come before the parameters wherever draws are written.
fn check_names(table: &Table, kept: &[usize]) -> Result<(), Error> {
    const TAKEN: [&str; 3] = ["lp__", "log_p__", "log_g__"];
    match kept.iter().find(|&&k| TAKEN.contains(&table.names[k].as_str())) {
        Some(&k) => {
            let (number, column) = (table.numbers[k], table.names[k].clone());
            Err(Error::NameTaken { file: table.file.clone(), number, column })
        }
        None => Ok(()),
    }
}

fn check_beside_intercept(table: &Table, kept: &[usize]) -> Result<(), Error> {
    for &k in kept {
        let (number, column, file) = (table.numbers[k], table.names[k].clone(), table.file.clone());
        let value = table.row(0)[k];
        if table.column(k).all(|x| x == value) {
            return Err(Error::ConstantColumn { file, number, column, value });
        }
        if column == "intercept" {
            return Err(Error::InterceptTaken { file, number });
        }
    }
    Ok(())
}

fn check_counts(table: &Table, target: usize, y: &[f64]) -> Result<(), Error> {
    /// From here on not every whole number is an `f64`.
    const COUNT_LIMIT: f64 = 9_007_199_254_740_992.0;
    match y.iter().position(|&v| !(0.0..=COUNT_LIMIT).contains(&v) || v.fract() != 0.0) {
        Some(i) => Err(Error::NotACount { place: table.place(i, target), value: y[i] }),
        None => Ok(()),
    }
}

fn outcome(table: &Table, target: usize, outcome: Outcome) -> Result<Vec<f64>, Error> {
    let mut y: Vec<f64> = table.column(target).collect();
    match outcome {
        Outcome::Real => {
            if y.iter().all(|&v| v == y[0]) {
                return Err(constant_target(table, target, y[0]));
            }
        }
        Outcome::Count => {
            check_counts(table, target, &y)?;
            if y.iter().all(|&v| v == 0.0) {
                return Err(constant_target(table, target, 0.0));
            }
        }
        Outcome::Binary => {
            let low = lower_class(table, target, &y)?;
            y.iter_mut().for_each(|v| *v = if *v == low { -1.0 } else { 1.0 });
        }
    }
    Ok(y)
}

fn constant_target(table: &Table, target: usize, value: f64) -> Error {
    let (number, column) = (table.numbers[target], table.names[target].clone());
    Error::ConstantTarget { file: table.file.clone(), number, column, value }
}

/// The value that stands for the class −1: 0 or −1.
fn lower_class(table: &Table, target: usize, y: &[f64]) -> Result<f64, Error> {
    const SHOWN: usize = 5;
    let low = if y.contains(&-1.0) { -1.0 } else { 0.0 };
    let file = table.file.clone();
    let (number, column) = (table.numbers[target], table.names[target].clone());
    if y.iter().any(|&v| v != low && v != 1.0) {
        let mut order: Vec<usize> = (0..y.len()).collect();
        order.sort_by(|&i, &j| y[i].total_cmp(&y[j]).then(i.cmp(&j)));
        order.dedup_by(|j, i| y[*i] == y[*j]);
        let n_distinct = order.len();
        let found = order.iter().take(SHOWN).map(|&i| (y[i], table.lines[i])).collect();
        return Err(Error::NotBinary { file, number, column, found, n_distinct });
    }
    if y.iter().all(|&v| v == y[0]) {
        return Err(Error::OneClass { file, number, column, value: y[0] });
    }
    Ok(low)
}

#[cfg(test)]
mod tests {
    use super::*;

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
    }

    #[test]
    fn a_single_column_may_be_constant_and_is_checked_all_the_same() {
        let of = |text: &str, outcome| RegressionData::columns(&table(text), outcome);
        let counts = of("n,hours\n3,0.5\n3,1.5\n", Outcome::Count).unwrap();
        assert_eq!(
            (counts.y, counts.features, counts.names),
            (vec![3.0, 3.0], vec![0.5, 1.5], vec!["hours".to_string()])
        );
        assert_eq!(of("y\n1\n1\n", Outcome::Binary).unwrap().y, [1.0, 1.0]);
        assert_eq!(of("y\n-1\n1\n", Outcome::Binary).unwrap().y, [0.0, 1.0]);
        assert!(matches!(of("n\n2\n2.5\n", Outcome::Count), Err(Error::NotACount { .. })));
        assert!(matches!(of("y\n0\n2\n", Outcome::Binary), Err(Error::NotBinary { .. })));
        assert!(matches!(of("lp__\n0.5\n", Outcome::Real), Err(Error::NameTaken { .. })));
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
}
