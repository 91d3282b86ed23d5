//! The levels of a category: collected while reading, sorted afterwards.

use std::collections::HashMap;

use crate::cell::number;

/// The texts of one column, numbered as they were met.
#[derive(Clone, Debug, Default)]
pub(crate) struct Levels {
    codes: HashMap<Box<str>, usize>,
}

impl Levels {
    /// The number of a text, a new one if it was not met before.
    pub(crate) fn code(&mut self, text: &str) -> f64 {
        if let Some(&code) = self.codes.get(text) {
            return code as f64;
        }
        let code = self.codes.len();
        self.codes.insert(text.into(), code);
        code as f64
    }

    /// Whether no text was met.
    #[cfg(feature = "parquet")]
    pub(crate) fn is_empty(&self) -> bool {
        self.codes.is_empty()
    }

    /// The levels in their order, and the position in it of every number given out.
    ///
    /// Levels are sorted as numbers if all of them are, and as texts otherwise.
    pub(crate) fn sorted(self) -> (Vec<String>, Vec<f64>) {
        let mut levels: Vec<(Box<str>, usize)> = self.codes.into_iter().collect();
        let as_number = |text: &str| number(text.as_bytes()).unwrap_or(f64::NAN);
        if levels.iter().all(|(text, _)| number(text.as_bytes()).is_ok()) {
            levels.sort_by(|(a, i), (b, j)| as_number(a).total_cmp(&as_number(b)).then(i.cmp(j)));
        } else {
            levels.sort();
        }
        let mut positions = vec![0.0; levels.len()];
        for (position, (_, code)) in levels.iter().enumerate() {
            positions[*code] = position as f64;
        }
        (levels.into_iter().map(|(text, _)| text.into_string()).collect(), positions)
    }
}

/// The levels of a column of numbers, and the number of each value as its position among them; NaN stays.
pub(crate) fn levels_of_numbers(values: &mut [f64], column: usize, n_cols: usize) -> Vec<String> {
    let cells = || (column..values.len()).step_by(n_cols);
    // Adding zero makes −0 the level 0.
    let mut distinct: Vec<f64> = cells().map(|k| values[k] + 0.0).filter(|value| !value.is_nan()).collect();
    distinct.sort_unstable_by(f64::total_cmp);
    distinct.dedup();
    for k in (column..values.len()).step_by(n_cols) {
        let value = values[k];
        if !value.is_nan() {
            values[k] = distinct.partition_point(|level| *level < value) as f64;
        }
    }
    distinct.into_iter().map(|value| value.to_string()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(texts: &[&str]) -> (Vec<String>, Vec<f64>) {
        let mut levels = Levels::default();
        let codes: Vec<f64> = texts.iter().map(|text| levels.code(text)).collect();
        let (names, positions) = levels.sorted();
        (names, codes.into_iter().map(|code| positions[code as usize]).collect())
    }

    #[test]
    fn levels_are_sorted_and_cells_follow() {
        let (names, cells) = sorted(&["red", "blue", "red", "green"]);
        assert_eq!(names, ["blue", "green", "red"]);
        assert_eq!(cells, [2.0, 0.0, 2.0, 1.0]);
        assert_eq!(sorted(&["10", "9", "-1"]).0, ["-1", "9", "10"]);
        assert_eq!(sorted(&["10", "9", "x"]).0, ["10", "9", "x"]);
    }

    #[test]
    fn numbers_become_positions_in_their_order() {
        let mut values = [3.0, 10.0, 0.5, f64::NAN, 3.0, -2.0, 7.0, 10.0];
        assert_eq!(levels_of_numbers(&mut values, 1, 2), ["-2", "10"]);
        assert_eq!(values[..3], [3.0, 1.0, 0.5]);
        assert!(values[3].is_nan());
        assert_eq!(values[4..], [3.0, 0.0, 7.0, 1.0]);
    }
}
