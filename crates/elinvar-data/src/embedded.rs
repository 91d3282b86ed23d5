//! The table that is part of the program.

use crate::{Columns, Table};

/// The training half of the Wisconsin breast-cancer data: 341 rows, features `x1` … `x10` in [−1, 1] and the class `y`
/// (1 malignant, 0 benign).
///
/// Source and licence (CC BY 4.0) are in `docs/data.md`.
///
/// ```
/// let table = elinvar_data::breast_cancer();
/// assert_eq!(table.names().last().map(String::as_str), Some("y"));
/// ```
pub fn breast_cancer() -> Table {
    let text = include_str!("../data/breast_cancer.csv");
    Table::from_csv("breast_cancer.csv (embedded)", text.as_bytes(), &Columns::All)
        .expect("the embedded table is read by a test")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn embedded_table_is_the_documented_one() {
        let table = breast_cancer();
        assert_eq!(table.n_rows(), 341);
        let expected: Vec<String> = (1..=10).map(|j| format!("x{j}")).chain(["y".to_string()]).collect();
        assert_eq!(table.names(), expected);
        let malignant = (0..341).filter(|&i| table.row(i)[10] == 1.0).count();
        let benign = (0..341).filter(|&i| table.row(i)[10] == 0.0).count();
        assert_eq!((malignant, benign), MALIGNANT_BENIGN);
        assert!((0..341).all(|i| table.row(i)[..10].iter().all(|x| x.abs() <= 1.0)));
    }

    /// Counted in the file by a separate program.
    const MALIGNANT_BENIGN: (usize, usize) = (116, 225);
}
