//! The logistic regressions of the paper, on tables that are built in.

use elinvar::model::{DesignMatrix, LogisticRegression};
use elinvar_data::{Columns, Intercept, Outcome, RegressionData, Selection, Table};

use crate::Error;

fn model(data: RegressionData, prior_precision: f64) -> Result<LogisticRegression, Error> {
    let x = DesignMatrix::new(data.features, data.names.len(), data.names)?;
    Ok(LogisticRegression::new(x, data.y, prior_precision)?)
}

fn table(name: &str, text: &str) -> Result<Table, Error> {
    Ok(Table::from_csv(name, text.as_bytes(), &Columns::All)?)
}

/// Two weights without an intercept under N(0, 100 I).
fn in_the_plane(name: &str, text: &str) -> Result<LogisticRegression, Error> {
    let selection = Selection { intercept: Intercept::None, ..Selection::new("y", Outcome::Binary) };
    model(RegressionData::from_table(&table(name, text)?, &selection)?, 0.01)
}

/// The two classes in the plane for which the optima of the bound are known (mathematics §9.5).
pub(crate) fn logistic_2d() -> Result<LogisticRegression, Error> {
    in_the_plane("logistic_2d.csv", include_str!("../data/logistic_2d.csv"))
}

/// The two classes in the plane of the authors' program (mathematics §9.2, E3).
pub(crate) fn murphy_toy() -> Result<LogisticRegression, Error> {
    in_the_plane("murphy_toy.csv", include_str!("../data/murphy_toy.csv"))
}

/// 341 rows of Breast-Cancer, an intercept and ten features, prior precision 1.
pub(crate) fn breast_cancer() -> Result<LogisticRegression, Error> {
    let selection = Selection::new("y", Outcome::Binary);
    model(RegressionData::from_table(&elinvar_data::breast_cancer(), &selection)?, 1.0)
}

/// 100 rows of Sonar, an intercept and sixty features, prior precision 0.204.
pub(crate) fn sonar() -> Result<LogisticRegression, Error> {
    let table = table("sonar.csv", include_str!("../data/sonar.csv"))?;
    let rows = elinvar_data::split(table.n_rows(), 100, 1)?;
    model(RegressionData::from_table(&table.rows(&rows.train), &Selection::new("y", Outcome::Binary))?, 0.204)
}

#[cfg(test)]
mod tests {
    use super::*;
    use elinvar::target::Target;

    #[test]
    fn the_tables_have_the_sizes_of_the_paper() {
        for (model, d, n) in [
            (logistic_2d().unwrap(), 2, 60),
            (murphy_toy().unwrap(), 2, 60),
            (breast_cancer().unwrap(), 11, 341),
            (sonar().unwrap(), 61, 100),
        ] {
            assert_eq!((model.dim(), model.about().n_rows), (d, Some(n)));
        }
    }
}
