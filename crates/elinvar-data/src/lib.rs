//! Tables from files as design matrices, with errors that say where and what to do.
//!
//! [`Table`] reads a CSV file (comma, semicolon or tab, found by itself; a header is required) into row-major `f64`.
//! [`RegressionData`] takes the target and the features out of it and checks what a regression model needs.
//! [`split()`] and [`read_row_numbers`] make training and test rows.
//!
//! ```
//! use elinvar_data::{Outcome, RegressionData, Selection};
//!
//! let table = elinvar_data::breast_cancer();
//! assert_eq!((table.n_rows(), table.n_cols()), (341, 11));
//!
//! let data = RegressionData::from_table(&table, &Selection::new("y", Outcome::Binary))?;
//! assert_eq!(data.names[..2], ["intercept", "x1"]);
//! assert!(data.y.iter().all(|&y| y == -1.0 || y == 1.0));
//! # Ok::<(), elinvar_data::Error>(())
//! ```
//!
//! A wrong name is answered with the nearest right one:
//!
//! ```
//! use elinvar_data::{Outcome, RegressionData, Selection};
//!
//! let table = elinvar_data::breast_cancer();
//! let error = RegressionData::from_table(&table, &Selection::new("Y", Outcome::Binary)).unwrap_err();
//! assert_eq!(error.to_string(), "breast_cancer.csv (embedded): there is no column \"Y\"; did you mean \"y\"?");
//! ```

#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod csv;
mod embedded;
mod error;
mod fingerprint;
mod nearest;
mod select;
mod split;
mod table;

pub use embedded::breast_cancer;
pub use error::{Error, Place};
pub use nearest::nearest;
pub use select::{Columns, Intercept, Outcome, RegressionData, Selection};
pub use split::{Split, read_row_numbers, split};
pub use table::Table;
