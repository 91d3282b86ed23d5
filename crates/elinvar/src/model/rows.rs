//! The rows of a regression: features and responses, what is added to each linear predictor, and what each log density
//! is multiplied by.

use super::DesignMatrix;
use crate::Error;

/// Classes, at most.
pub(super) const MOST_CLASSES: usize = 32;

/// Rows with what belongs to them, a number for each.
#[derive(Clone, Debug)]
pub(super) struct RegressionRows {
    pub(super) x: DesignMatrix,
    pub(super) y: Vec<f64>,
    /// What is added to η, or empty.
    pub(super) offset: Vec<f64>,
    /// What ℓ is multiplied by, or empty.
    pub(super) weights: Vec<f64>,
}

impl RegressionRows {
    /// Rows with these responses, without offsets and weights.
    pub(super) fn new(x: DesignMatrix, y: Vec<f64>) -> Result<Self, Error> {
        if y.len() != x.n_rows() {
            return Err(Error::Shape { what: "responses (one per row)", expected: x.n_rows(), found: y.len() });
        }
        Ok(Self { x, y, offset: Vec::new(), weights: Vec::new() })
    }

    /// Rows whose responses are classes 0, …, `n_classes` − 1.
    pub(super) fn of_classes(x: DesignMatrix, y: Vec<f64>, n_classes: usize) -> Result<Self, Error> {
        check_of_rows("responses (one per row)", &y, x.n_rows(), 0.0)?;
        if !(2..=MOST_CLASSES).contains(&n_classes) {
            let (parameter, value) = ("number of classes", n_classes as f64);
            return Err(Error::Domain { parameter, value, reason: "there are 2 to 32 classes" });
        }
        if let Some(i) = y.iter().position(|y| y.fract() != 0.0 || *y >= n_classes as f64) {
            let (place, problem) = (format!("response of row {}", i + 1), format!("{} is not a class", y[i]));
            return Err(Error::Data { place, problem });
        }
        Self::new(x, y)
    }

    pub(super) fn with_offset(self, offset: Vec<f64>) -> Result<Self, Error> {
        check_of_rows("offsets (one per row)", &offset, self.x.n_rows(), f64::NEG_INFINITY)?;
        Ok(Self { offset, ..self })
    }

    pub(super) fn with_weights(self, weights: Vec<f64>) -> Result<Self, Error> {
        check_of_rows("weights (one per row)", &weights, self.x.n_rows(), 0.0)?;
        Ok(Self { weights, ..self })
    }

    /// The weight of a row.
    pub(super) fn weight(&self, i: usize) -> f64 {
        self.weights.get(i).copied().unwrap_or(1.0)
    }

    /// What is added to η of a row.
    pub(super) fn offset_of(&self, i: usize) -> f64 {
        self.offset.get(i).copied().unwrap_or(0.0)
    }
}

/// What users do with the rows of a model that has them as `rows`: written here once, a method of each such model.
macro_rules! methods_of_rows {
    ($model:ident $(<$law:ident: $bound:path>)?) => {
        impl$(<$law: $bound>)? $model$(<$law>)? {
            /// The same model with offset_n added to each linear predictor of row n.
            ///
            /// # Errors
            /// If there is not one finite number for each row.
            pub fn with_offset(self, offset: Vec<f64>) -> Result<Self, crate::Error> {
                Ok(Self { rows: self.rows.with_offset(offset)?, ..self })
            }

            /// The same model in which the log density of row n is multiplied by weight_n ≥ 0.
            ///
            /// # Errors
            /// If there is not one for each row, or one is negative.
            pub fn with_weights(self, weights: Vec<f64>) -> Result<Self, crate::Error> {
                Ok(Self { rows: self.rows.with_weights(weights)?, ..self })
            }

            /// The features.
            pub fn design(&self) -> &crate::model::DesignMatrix {
                &self.rows.x
            }

            /// The responses: labels −1 or +1, counts, or positions of classes.
            pub fn responses(&self) -> &[f64] {
                &self.rows.y
            }

            /// What is added to each linear predictor of a row; empty for nothing.
            pub fn offset(&self) -> &[f64] {
                &self.rows.offset
            }

            /// What the log density of each row is multiplied by; empty for 1.
            pub fn weights(&self) -> &[f64] {
                &self.rows.weights
            }
        }
    };
}
pub(super) use methods_of_rows;

/// Checks that there is a finite number for each row, none below `least`.
pub(super) fn check_of_rows(what: &'static str, list: &[f64], n_rows: usize, least: f64) -> Result<(), Error> {
    if list.len() != n_rows {
        return Err(Error::Shape { what, expected: n_rows, found: list.len() });
    }
    match list.iter().position(|value| !(value.is_finite() && *value >= least)) {
        Some(i) => Err(Error::Data {
            place: format!("{what}, row {}", i + 1),
            problem: format!("{} is not a finite number, or too small", list[i]),
        }),
        None => Ok(()),
    }
}
