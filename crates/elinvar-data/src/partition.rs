//! Training and test rows taken out of the data of a model.

use crate::fingerprint::fingerprint;
use crate::split::{Split, split};
use crate::{Error, RegressionData};

/// A part of the rows, rounded to the nearest number, for training; the order is that of [`split`].
///
/// ```
/// let rows = elinvar_data::split_fraction(10, 0.75, 1)?;
/// assert_eq!((rows.train.len(), rows.test.len()), (8, 2));
/// # Ok::<(), elinvar_data::Error>(())
/// ```
///
/// # Errors
///
/// [`Error::BadFraction`] if no row would be left to train or none to test.
pub fn split_fraction(n_rows: usize, fraction: f64, seed: u32) -> Result<Split, Error> {
    let n_train = (fraction * n_rows as f64).round();
    if !(0.0..=1.0).contains(&fraction) || n_train < 1.0 || n_train >= n_rows as f64 {
        return Err(Error::BadFraction { fraction, n_rows });
    }
    split(n_rows, n_train as usize, seed)
}

impl Split {
    /// These rows to train, and all others, in their order, to test.
    pub fn by_train(train: Vec<usize>, n_rows: usize) -> Split {
        let test = others(&train, n_rows);
        Split { train, test }
    }

    /// These rows to test, and all others, in their order, to train.
    pub fn by_test(test: Vec<usize>, n_rows: usize) -> Split {
        let train = others(&test, n_rows);
        Split { train, test }
    }
}

fn others(rows: &[usize], n_rows: usize) -> Vec<usize> {
    let mut is_other = vec![true; n_rows];
    rows.iter().for_each(|&row| is_other[row] = false);
    (0..n_rows).filter(|&row| is_other[row]).collect()
}

impl RegressionData {
    /// Rows that the file has, those that were dropped included: the bound for
    /// [`read_row_numbers`](crate::read_row_numbers).
    pub fn n_rows_of_file(&self) -> usize {
        self.n_rows() + self.n_dropped
    }

    /// Number in the file, counted from 0, of row i.
    pub fn file_row(&self, i: usize) -> usize {
        self.kept_rows.get(i).copied().unwrap_or(i)
    }

    /// Rows of the file, counted from 0, as rows of the data; those that were dropped are skipped.
    pub fn rows_from_file(&self, file_rows: &[usize]) -> Vec<usize> {
        if self.kept_rows.is_empty() {
            return file_rows.to_vec();
        }
        file_rows.iter().filter_map(|row| self.kept_rows.binary_search(row).ok()).collect()
    }

    /// The given rows, in the given order.
    ///
    /// # Panics
    ///
    /// If a row number is not below [`RegressionData::n_rows`].
    pub fn rows(&self, rows: &[usize]) -> RegressionData {
        let features = rows.iter().flat_map(|&i| self.row(i)).copied().collect();
        let y = rows.iter().map(|&i| self.y[i]).collect();
        self.with_rows(features, y, rows)
    }

    /// Training and test rows.
    ///
    /// A split that uses every row sorts them in place, so that only the test rows are copied.
    ///
    /// # Errors
    ///
    /// [`Error::ConstantTraining`] if the target does not vary among the training rows.
    ///
    /// # Panics
    ///
    /// If a row number is not below [`RegressionData::n_rows`].
    pub fn split(mut self, split: &Split) -> Result<(RegressionData, RegressionData), Error> {
        let first = split.train.first().map(|&i| self.y[i]);
        if let Some(value) = first.filter(|value| split.train.iter().all(|&i| self.y[i] == *value)) {
            let (target, n_train) = (self.target, split.train.len());
            return Err(Error::ConstantTraining { target, value, n_train });
        }
        let order: Vec<usize> = split.train.iter().chain(&split.test).copied().collect();
        if !is_permutation(&order, self.n_rows()) {
            return Ok((self.rows(&split.train), self.rows(&split.test)));
        }
        let width = self.n_cols();
        let mut features = std::mem::take(&mut self.features);
        permute_rows(&mut features, width, &order);
        let mut y: Vec<f64> = order.iter().map(|&i| self.y[i]).collect();
        let test_features = features.split_off(split.train.len() * width);
        let test_y = y.split_off(split.train.len());
        let (train, test) = (&split.train, &split.test);
        Ok((self.with_rows(features, y, train), self.with_rows(test_features, test_y, test)))
    }

    /// The same columns with these numbers, which are those of some of its rows.
    fn with_rows(&self, features: Vec<f64>, y: Vec<f64>, rows: &[usize]) -> RegressionData {
        let all_names: Vec<&str> = self.names.iter().chain([&self.target]).map(String::as_str).collect();
        let fingerprint = fingerprint(all_names.into_iter(), features.iter().chain(&y).copied());
        let (names, kinds, target) = (self.names.clone(), self.kinds.clone(), self.target.clone());
        RegressionData {
            features,
            names,
            kinds,
            y,
            target,
            classes: self.classes.clone(),
            beside: self.beside.rows(rows),
            fingerprint,
            n_dropped: self.n_dropped,
            kept_rows: Vec::new(),
        }
    }
}

fn is_permutation(order: &[usize], n: usize) -> bool {
    let mut seen = vec![false; n];
    order.len() == n && order.iter().all(|&i| !std::mem::replace(&mut seen[i], true))
}

/// Puts row `order[i]` in place `i`, along the cycles of the permutation.
fn permute_rows(values: &mut [f64], width: usize, order: &[usize]) {
    let mut done = vec![false; order.len()];
    let mut first = vec![0.0; width];
    for start in 0..order.len() {
        if done[start] {
            continue;
        }
        first.copy_from_slice(&values[start * width..(start + 1) * width]);
        let mut at = start;
        loop {
            done[at] = true;
            let from = order[at];
            if from == start {
                break;
            }
            values.copy_within(from * width..(from + 1) * width, at * width);
            at = from;
        }
        values[at * width..(at + 1) * width].copy_from_slice(&first);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Missing, Outcome, Selection, Table};

    fn data(n: usize) -> RegressionData {
        let rows: String = (0..n).map(|i| format!("{i},{},{}\n", i * i, i % 3)).collect();
        let table = Table::from_csv("t.csv", format!("a,b,y\n{rows}").as_bytes(), &crate::Columns::All).unwrap();
        RegressionData::from_table(&table, &Selection::new("y", Outcome::Real)).unwrap()
    }

    #[test]
    fn rows_go_where_the_split_says() {
        let whole = data(101);
        let rows = split_fraction(101, 0.6, 7).unwrap();
        let (train, test) = whole.clone().split(&rows).unwrap();
        assert_eq!((train.n_rows(), test.n_rows()), (61, 40));
        assert_eq!(train, whole.rows(&rows.train));
        assert_eq!(test, whole.rows(&rows.test));
        assert_eq!(train.row(3), whole.row(rows.train[3]));
        assert_ne!(train.fingerprint, test.fingerprint);
    }

    #[test]
    fn a_split_may_leave_rows_out() {
        let whole = data(10);
        let (train, test) = whole.clone().split(&Split { train: vec![9, 2, 1], test: vec![5] }).unwrap();
        assert_eq!((train.y.as_slice(), test.y.as_slice()), ([0.0, 2.0, 1.0].as_slice(), [2.0].as_slice()));
        assert_eq!(Split::by_train(vec![9, 2], 4 + 6).test, [0, 1, 3, 4, 5, 6, 7, 8]);
        assert_eq!(Split::by_test(vec![1], 3), Split { train: vec![0, 2], test: vec![1] });
    }

    #[test]
    fn training_rows_must_vary() {
        let error = data(9).split(&Split::by_train(vec![0, 3, 6], 9)).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the target \"y\" has the value 0 in each of the 3 training rows; take more training rows or another seed"
        );
    }

    #[test]
    fn fractions_leave_rows_on_both_sides() {
        for fraction in [0.0, 1.0, -0.5, 1.5, f64::NAN, 0.01] {
            assert!(split_fraction(10, fraction, 1).is_err(), "{fraction}");
        }
        assert_eq!(split_fraction(10, 0.4, 1).unwrap(), split(10, 4, 1).unwrap());
    }

    #[test]
    fn rows_of_the_file_are_found_after_others_were_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("t.csv");
        std::fs::write(&file, "a,y\n1,2\nNA,3\n4,5\n").unwrap();
        let selection = Selection { missing: Missing::Drop, ..Selection::new("y", Outcome::Real) };
        let data = RegressionData::read(&file, &selection).unwrap();
        assert_eq!((data.n_rows(), data.n_dropped, data.n_rows_of_file()), (2, 1, 3));
        assert_eq!(data.rows_from_file(&[2, 1, 0]), [1, 0]);
    }
}
