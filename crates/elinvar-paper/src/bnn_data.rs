//! Regression tables with their twenty usual splits, standardised by the rows that are fitted.

use std::path::Path;

use elinvar::model::DesignMatrix;
use elinvar_data::{Columns, Table};

use crate::Error;

/// A table and the test rows of each split.
pub(crate) struct TableOfSplits {
    /// The word for it.
    pub(crate) name: &'static str,
    table: Table,
    test_rows: Vec<Vec<usize>>,
}

/// One split, every column with mean 0 and variance 1 over the rows that are fitted.
pub(crate) struct Split {
    pub(crate) train_x: DesignMatrix,
    pub(crate) train_y: Vec<f64>,
    pub(crate) test_x: DesignMatrix,
    pub(crate) test_y: Vec<f64>,
    /// The standard deviation of the response, by which errors are brought back to its unit.
    pub(crate) scale: f64,
}

macro_rules! built_in {
    ($name:literal) => {
        Self::from_text(
            $name,
            include_str!(concat!("../data/regression/", $name, ".csv")),
            include_str!(concat!("../data/regression/", $name, ".splits.csv")),
        )
    };
}

impl TableOfSplits {
    fn from_text(name: &'static str, rows: &str, splits: &str) -> Result<Self, Error> {
        let table = Table::from_csv(format!("{name}.csv"), rows.as_bytes(), &Columns::All)?;
        Self::new(name, table, splits)
    }

    fn new(name: &'static str, table: Table, splits: &str) -> Result<Self, Error> {
        let rows = |line: &str| line.split(',').filter_map(|word| word.trim().parse().ok()).collect();
        Ok(Self { name, table, test_rows: splits.lines().map(rows).collect() })
    }

    pub(crate) fn concrete() -> Result<Self, Error> {
        built_in!("concrete")
    }

    pub(crate) fn energy() -> Result<Self, Error> {
        built_in!("energy")
    }

    pub(crate) fn wine() -> Result<Self, Error> {
        built_in!("wine_red")
    }

    pub(crate) fn yacht() -> Result<Self, Error> {
        built_in!("yacht")
    }

    /// Boston, from a folder.
    pub(crate) fn boston(folder: Option<&Path>) -> Result<Self, Error> {
        let path = folder.map(|folder| folder.join("boston.csv")).filter(|path| path.exists());
        let Some(path) = path else {
            let what = "boston.csv (506 rows: crim … lstat, then y), of the R package MASS, is not there".into();
            return Err(Error::DataNeeded { what });
        };
        Self::new("boston", Table::read(path, &Columns::All)?, include_str!("../data/regression/boston.splits.csv"))
    }

    /// Split `k`, from 0.
    pub(crate) fn split(&self, k: usize) -> Result<Split, Error> {
        let mut is_test = vec![false; self.table.n_rows()];
        self.test_rows[k].iter().for_each(|row| is_test[*row] = true);
        let train: Vec<usize> = (0..is_test.len()).filter(|row| !is_test[*row]).collect();
        self.standardised(&train, &self.test_rows[k])
    }

    /// The training rows of split `k` alone, without its test rows: those that the next split tests on are predicted,
    /// the others fitted.
    pub(crate) fn validation(&self, k: usize) -> Result<Split, Error> {
        let [fitted, held_out] = self.validation_rows(k);
        self.standardised(&fitted, &held_out)
    }

    /// The rows of `validation`: fitted, predicted.
    fn validation_rows(&self, k: usize) -> [Vec<usize>; 2] {
        let (test, next) = (&self.test_rows[k], &self.test_rows[(k + 1) % self.test_rows.len()]);
        let train = (0..self.table.n_rows()).filter(|row| !test.contains(row));
        let (held_out, fitted) = train.partition(|row| next.contains(row));
        [fitted, held_out]
    }

    /// Rows to fit and rows to predict, every column with mean 0 and variance 1 over those that are fitted.
    fn standardised(&self, train: &[usize], test: &[usize]) -> Result<Split, Error> {
        let d = self.table.n_cols() - 1;
        let moments = |j: usize| {
            let n = train.len() as f64;
            let mean = train.iter().map(|i| self.table.row(*i)[j]).sum::<f64>() / n;
            let variance = train.iter().map(|i| (self.table.row(*i)[j] - mean).powi(2)).sum::<f64>() / n;
            // A constant column says nothing; it stays at zero.
            (mean, if variance > 0.0 { variance.sqrt() } else { 1.0 })
        };
        let moments: Vec<(f64, f64)> = (0..=d).map(moments).collect();
        let value = |i: usize, j: usize| (self.table.row(i)[j] - moments[j].0) / moments[j].1;
        let design = |rows: &[usize]| {
            let entries = rows.iter().flat_map(|i| (0..d).map(|j| value(*i, j))).collect();
            DesignMatrix::new(entries, d, self.table.names()[..d].to_vec())
        };
        let responses = |rows: &[usize]| rows.iter().map(|i| value(*i, d)).collect();
        Ok(Split {
            train_x: design(train)?,
            train_y: responses(train),
            test_x: design(test)?,
            test_y: responses(test),
            scale: moments[d].1,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_have_twenty_splits_of_a_tenth_each() {
        let tables =
            [TableOfSplits::concrete(), TableOfSplits::energy(), TableOfSplits::wine(), TableOfSplits::yacht()];
        for (table, (n_rows, d)) in tables.into_iter().zip([(1030, 8), (768, 8), (1599, 11), (308, 6)]) {
            let table = table.unwrap();
            assert_eq!((table.table.n_rows(), table.table.n_cols(), table.test_rows.len()), (n_rows, d + 1, 20));
            let split = table.split(19).unwrap();
            let n_train = (0.9 * n_rows as f64).round() as usize;
            assert_eq!((split.train_y.len(), split.test_y.len()), (n_train, n_rows - n_train), "{}", table.name);
            let mean: f64 = split.train_y.iter().sum::<f64>() / n_train as f64;
            let variance: f64 = split.train_y.iter().map(|y| y * y).sum::<f64>() / n_train as f64;
            assert!(mean.abs() < 1e-12 && (variance - 1.0).abs() < 1e-12);
            assert!(split.train_x.n_cols() == d && split.test_x.n_rows() == split.test_y.len());
        }
    }

    #[test]
    fn rows_that_choose_a_step_size_are_no_test_rows() {
        for table in [TableOfSplits::concrete(), TableOfSplits::energy(), TableOfSplits::wine(), TableOfSplits::yacht()]
        {
            let table = table.unwrap();
            for k in [0, 1, 19] {
                let [fitted, held_out] = table.validation_rows(k);
                let mut all = [&fitted[..], &held_out, &table.test_rows[k]].concat();
                all.sort_unstable();
                assert!(all.iter().copied().eq(0..table.table.n_rows()), "{}: a row twice, or not at all", table.name);
                let share = held_out.len() as f64 / fitted.len() as f64;
                assert!((0.07..0.14).contains(&share), "{}: {share}", table.name);
                let split = table.validation(k).unwrap();
                assert_eq!((split.train_y.len(), split.test_y.len()), (fitted.len(), held_out.len()));
            }
        }
    }

    #[test]
    fn boston_is_asked_for() {
        let problem = TableOfSplits::boston(None).err().unwrap().to_string();
        assert!(problem.contains("boston.csv") && problem.contains("--data"), "{problem}");
    }
}
