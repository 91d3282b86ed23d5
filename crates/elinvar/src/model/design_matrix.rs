//! A table of features.

use std::sync::Arc;

use crate::Error;
use crate::target::{ColumnScale, Prior, RowSpace, Transform, Transforms};

/// A row-major N × d matrix of finite numbers with named columns.
#[derive(Clone, Debug, PartialEq)]
pub struct DesignMatrix {
    rows: Vec<f64>,
    names: Vec<String>,
    /// What was done to the columns; empty if nothing was.
    scales: Vec<ColumnScale>,
    /// What the columns are directions of, with the names of the columns of the table, if they are.
    directions: Option<(Arc<RowSpace>, Vec<String>)>,
}

impl DesignMatrix {
    /// The matrix whose rows follow each other in `rows`.
    ///
    /// # Errors
    /// If there is no row or no column, if `rows` is not a whole number of rows, if the number of names is wrong or if
    /// an entry is not finite.
    pub fn new(rows: Vec<f64>, n_cols: usize, names: Vec<String>) -> Result<Self, Error> {
        if n_cols == 0 || rows.is_empty() {
            return Err(Error::Data {
                place: "design matrix".into(),
                problem: "there are no rows or no columns; give at least one of each".into(),
            });
        }
        if names.len() != n_cols {
            return Err(Error::Shape { what: "column names", expected: n_cols, found: names.len() });
        }
        let n_rows = rows.len() / n_cols;
        if rows.len() != n_rows * n_cols {
            return Err(Error::Shape {
                what: "entries of the design matrix (rows × columns)",
                expected: (n_rows + 1) * n_cols,
                found: rows.len(),
            });
        }
        if let Some(i) = rows.iter().position(|v| !v.is_finite()) {
            return Err(Error::Data {
                place: format!("row {}, column `{}`", i / n_cols + 1, names[i % n_cols]),
                problem: format!("{} is not a finite number; remove the row or fill it in", rows[i]),
            });
        }
        Ok(Self { rows, names, scales: Vec::new(), directions: None })
    }

    /// The same matrix with a first column of ones called `intercept`.
    ///
    /// # Panics
    /// If its columns are directions.
    pub fn with_intercept(self) -> Self {
        assert!(self.directions.is_none(), "the intercept comes before directions");
        let d = self.n_cols();
        let mut rows = Vec::with_capacity(self.rows.len() + self.n_rows());
        for row in self.rows.chunks_exact(d) {
            rows.push(1.0);
            rows.extend_from_slice(row);
        }
        let mut names = Vec::with_capacity(d + 1);
        names.push("intercept".to_owned());
        names.extend(self.names);
        let mut scales = self.scales;
        if !scales.is_empty() {
            scales.insert(0, ColumnScale::NONE);
        }
        Self { rows, names, scales, directions: None }
    }

    /// The same matrix, whose columns were shifted and scaled before: generalised linear models and linear regression
    /// report coefficients in the units of the columns as they were. Priors are those of the columns as they stand
    /// here.
    ///
    /// # Errors
    /// If there is not one for each column, a scale is not positive, or a shift has no plain first column to take it
    /// up.
    pub fn with_scales(mut self, scales: Vec<ColumnScale>) -> Result<Self, Error> {
        if scales.len() != self.n_cols() {
            return Err(Error::Shape { what: "scales of columns", expected: self.n_cols(), found: scales.len() });
        }
        Transforms::identity(scales.len()).with_columns(scales.clone())?;
        self.scales = scales;
        Ok(self)
    }

    /// The columns alone, for a model that has taken its sums.
    pub(super) fn without_rows(self) -> Self {
        Self { rows: Vec::new(), ..self }
    }

    /// What was done to the columns; empty if nothing was.
    pub fn scales(&self) -> &[ColumnScale] {
        &self.scales
    }

    /// The matrix in the directions that its rows can see, and the prior of their coefficients, where the rows are
    /// fewer than the columns; otherwise itself and the same prior. Models over it have the same posterior, of the
    /// coefficients of all columns too: what no row sees keeps its prior. A column whose prior is flat is a direction
    /// of its own.
    ///
    /// ```
    /// use elinvar::model::{DesignMatrix, LogisticRegression};
    /// use elinvar::target::{Prior, Target};
    ///
    /// let names = (1..=4).map(|i| format!("x{i}")).collect();
    /// let x = DesignMatrix::new(vec![1.0, 0.5, -1.0, 2.0, 0.3, 0.0, 1.0, -1.0], 4, names)?;
    /// let (x, prior) = x.in_row_space(&Prior::Gaussian { precision: 1.0, leading: 4 })?;
    /// let model = LogisticRegression::new(x, vec![1.0, -1.0], 1.0)?.with_coefficient_prior(prior)?;
    /// assert_eq!((model.about().dim, model.about().parameters.len()), (2, 4));
    /// # Ok::<(), elinvar::Error>(())
    /// ```
    ///
    /// # Errors
    /// For a [`Prior::StudentT`], whose coordinates are not independent.
    pub fn in_row_space(self, prior: &Prior) -> Result<(Self, Prior), Error> {
        let d = self.n_cols();
        let found = if self.directions.is_none() { RowSpace::of(&self.rows, d, prior)? } else { None };
        let Some((space, prior_of_directions)) = found else { return Ok((self, prior.clone())) };
        let rows = space.seen_by(&self.rows);
        let names = (1..=space.n_directions()).map(|k| format!("direction {k}")).collect();
        let directions = Some((Arc::new(space), self.names));
        Ok((Self { rows, names, scales: self.scales, directions }, prior_of_directions))
    }

    /// What the columns are directions of, if they are.
    pub fn row_space(&self) -> Option<&RowSpace> {
        self.directions.as_ref().map(|(space, _)| &**space)
    }

    /// Names of the columns of the table, of which the columns of this matrix may be directions.
    pub fn table_names(&self) -> &[String] {
        self.directions.as_ref().map_or(&self.names, |(_, names)| names)
    }

    /// From coefficients of these columns, so many groups of them, and what stands behind them to the scale that is
    /// printed.
    pub(super) fn transforms(&self, groups: usize, beside: impl IntoIterator<Item = Transform>) -> Transforms {
        let mut blocks = vec![Transform::Identity; groups * self.n_cols()];
        blocks.extend(beside);
        let space = self.directions.as_ref().map(|(space, _)| space.clone());
        let transforms = Transforms::new(blocks).expect("the transforms of a model have valid constants");
        transforms.with_groups(space, self.scales.clone(), groups).expect("scales and directions were checked")
    }

    /// N.
    pub fn n_rows(&self) -> usize {
        self.rows.len() / self.names.len()
    }

    /// d.
    pub fn n_cols(&self) -> usize {
        self.names.len()
    }

    /// Row `i`.
    pub fn row(&self, i: usize) -> &[f64] {
        let d = self.n_cols();
        &self.rows[i * d..(i + 1) * d]
    }

    /// Rows `range`, one after the other.
    pub fn rows(&self, range: std::ops::Range<usize>) -> &[f64] {
        let d = self.n_cols();
        &self.rows[range.start * d..range.end * d]
    }

    /// Multiplies each row by a finite number.
    pub(super) fn scale_rows(&mut self, factors: &[f64]) {
        let d = self.n_cols();
        for (row, factor) in self.rows.chunks_exact_mut(d).zip(factors) {
            row.iter_mut().for_each(|x| *x *= factor);
        }
    }

    /// Names of the columns.
    pub fn names(&self) -> &[String] {
        &self.names
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(n: usize) -> Vec<String> {
        (1..=n).map(|i| format!("x{i}")).collect()
    }

    #[test]
    fn the_intercept_comes_first() {
        let x = DesignMatrix::new(vec![1.5, 2.0, 3.0, 4.0], 2, names(2)).unwrap().with_intercept();
        assert_eq!((x.n_rows(), x.n_cols()), (2, 3));
        assert_eq!((x.row(0), x.row(1)), (&[1.0, 1.5, 2.0][..], &[1.0, 3.0, 4.0][..]));
        assert_eq!(x.names(), ["intercept", "x1", "x2"]);
    }

    #[test]
    fn wrong_shapes_and_infinite_entries_are_named() {
        assert!(matches!(DesignMatrix::new(vec![1.0; 5], 2, names(2)), Err(Error::Shape { found: 5, .. })));
        assert!(matches!(DesignMatrix::new(vec![1.0; 4], 2, names(3)), Err(Error::Shape { found: 3, .. })));
        assert!(DesignMatrix::new(vec![], 2, names(2)).is_err());
        let message = DesignMatrix::new(vec![1.0, 2.0, 3.0, f64::NAN], 2, names(2)).unwrap_err().to_string();
        assert!(message.contains("row 2") && message.contains("`x2`"), "{message}");
    }
}
