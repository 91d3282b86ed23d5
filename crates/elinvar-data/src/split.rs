//! Training and test rows.

use std::path::Path;

use crate::open::read_text;
use crate::sentence::excerpt;
use crate::{Error, Table};

/// Which rows train and which test, as zero-based row numbers in the order of the rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Split {
    /// Rows to fit.
    pub train: Vec<usize>,
    /// Rows held back.
    pub test: Vec<usize>,
}

/// SplitMix64 as a function of its counter; a bijection, so that two rows never have the same key.
fn splitmix64(x: u64) -> u64 {
    let mut z = x.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// The first `n_train` of `n_rows` rows in the order of the keys splitmix64(seed·2³² xor row), and the rest.
///
/// The order depends on `seed` and `n_rows` alone, on every machine and in every version.
///
/// ```
/// let rows = elinvar_data::split(10, 4, 1)?;
/// assert_eq!(rows.train, [6, 1, 7, 5]);
/// assert_eq!(rows.test, [4, 9, 8, 3, 2, 0]);
/// # Ok::<(), elinvar_data::Error>(())
/// ```
///
/// # Errors
///
/// [`Error::TrainTooLarge`] if `n_train` is 0 or more than `n_rows`.
pub fn split(n_rows: usize, n_train: usize, seed: u32) -> Result<Split, Error> {
    if n_train == 0 || n_train > n_rows {
        return Err(Error::TrainTooLarge { n_train, n_rows });
    }
    let mut train: Vec<usize> = (0..n_rows).collect();
    train.sort_unstable_by_key(|&row| splitmix64((u64::from(seed) << 32) ^ row as u64));
    let test = train.split_off(n_train);
    Ok(Split { train, test })
}

/// Whether a row is held out by itself: its key, splitmix64(seed·2³² xor row), is among this share of all keys. It
/// depends on nothing but the row, so that no list of rows is needed; how many are held out is left to chance.
pub fn is_held_out(row: u64, share: f64, seed: u32) -> bool {
    // 2⁵³ keys are told apart.
    ((splitmix64((u64::from(seed) << 32) ^ row) >> 11) as f64) < share * (1_u64 << 53) as f64
}

/// Zero-based row numbers of a table with `n_rows` rows from a file with one number per line; blank lines are skipped.
///
/// # Errors
///
/// The file cannot be read or is empty, a line is not a row number, or a row is not in the table or is named twice.
pub fn read_row_numbers(path: impl AsRef<Path>, n_rows: usize) -> Result<Vec<usize>, Error> {
    let path = path.as_ref();
    let text = read_text(path)?;
    let mut rows = Vec::new();
    let mut line_of_row: Vec<u64> = vec![0; n_rows];
    for (index, content) in text.lines().enumerate() {
        let (line, content) = (index as u64 + 1, content.trim());
        if content.is_empty() {
            continue;
        }
        let Ok(row) = content.parse::<usize>() else {
            return Err(Error::NotARowNumber { file: path.into(), line, text: excerpt(content) });
        };
        if row >= n_rows {
            return Err(Error::NoSuchRow { file: path.into(), line, row, n_rows });
        }
        if line_of_row[row] != 0 {
            return Err(Error::RepeatedRow { file: path.into(), line, row, first_line: line_of_row[row] });
        }
        line_of_row[row] = line;
        rows.push(row);
    }
    if rows.is_empty() {
        return Err(Error::NoRowNumbers { file: path.into() });
    }
    Ok(rows)
}

impl Table {
    /// The given rows, in the given order.
    ///
    /// # Panics
    ///
    /// If a row number is not below [`Table::n_rows`].
    pub fn rows(&self, rows: &[usize]) -> Table {
        let values = rows.iter().flat_map(|&i| self.row(i)).copied().collect();
        let lines = rows.iter().map(|&i| self.line(i)).collect();
        let file_row = |&i: &usize| self.kept_rows.get(i).copied();
        let kept_rows = rows.iter().filter_map(file_row).collect();
        Table { values, lines, kept_rows, ..self.without_rows() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_has_the_check_values() {
        let ten = split(10, 10, 1).unwrap();
        assert_eq!(ten.train, [6, 1, 7, 5, 4, 9, 8, 3, 2, 0]);
        assert!(ten.test.is_empty());
        assert_eq!(split(683, 341, 1).unwrap().train[..5], [426, 333, 97, 317, 417]);
    }

    #[test]
    fn every_row_is_used_once_and_the_seed_matters() {
        let Split { train, test } = split(683, 341, 2).unwrap();
        assert_eq!((train.len(), test.len()), (341, 342));
        let mut all: Vec<usize> = train.iter().chain(&test).copied().collect();
        all.sort_unstable();
        assert!(all.into_iter().eq(0..683));
        assert_ne!(train, split(683, 341, 1).unwrap().train);
    }

    #[test]
    fn a_row_is_held_out_by_itself() {
        for (share, seed) in [(0.0, 1), (0.1, 1), (0.5, 2), (1.0, 3)] {
            let n = (0..100_000).filter(|row| is_held_out(*row, share, seed)).count() as f64;
            // False alarms: 7e-6 each.
            assert!((n - 1e5 * share).abs() <= 4.5 * (1e5 * share * (1.0 - share)).sqrt(), "{share}: {n}");
        }
        assert_ne!((0..64).map(|row| is_held_out(row, 0.5, 1)).collect::<Vec<_>>(), vec![false; 64]);
    }

    #[test]
    fn rows_keep_their_lines() {
        let table = crate::breast_cancer();
        let part = table.rows(&[5, 0]);
        assert_eq!((part.n_rows(), part.line(0), part.line(1)), (2, 7, 2));
        assert_eq!(part.row(0), table.row(5));
        assert_eq!(part.names(), table.names());
    }
}
