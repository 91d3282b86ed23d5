//! Tables from files as design matrices, with errors that say where and what to do.
//!
//! [`Table`] reads a file into row-major `f64`: CSV (comma, semicolon or tab, found by itself; a header is required),
//! LIBSVM, npy, npz and, with the feature `parquet`, parquet; text and npy also packed by gzip or, with that feature,
//! zstd, and `-` is the standard input. The content tells which; [`Reading`] says what becomes of
//! missing cells and of texts. [`RegressionData`] takes the target and the features out of it and checks what a
//! regression model needs. [`split()`], [`split_fraction`] and [`read_row_numbers`] make training and test rows,
//! [`Scaling`] brings columns to one scale, [`log_loss`] and its like score predictions, and [`describe()`] says what
//! is in a file.
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

mod beside;
mod category;
mod cell;
mod check;
mod columns;
mod csv;
mod describe;
mod design;
mod draft;
mod embedded;
mod error;
mod fingerprint;
mod format;
mod guard;
mod libsvm;
mod listing;
mod metrics;
mod nearest;
mod npy;
mod npz;
mod open;
mod packed;
#[cfg(feature = "parquet")]
mod parquet;
mod partition;
mod problems;
mod reading;
mod room;
mod scaling;
mod select;
mod sentence;
mod sharded;
mod split;
mod table;
mod zip;

pub use beside::Beside;
pub use columns::Columns;
pub use describe::{ColumnDescription, ColumnKind, Description, Level, Problem, Range, describe};
pub use design::{DesignColumn, RegressionData, on_one_line};
pub use embedded::breast_cancer;
pub use error::{Error, Place, Unit};
pub use format::Format;
pub use guard::is_guarded;
pub use metrics::{
    CalibrationBin, Link, Score, accuracy, brier, calibration, calibration_error, log_loss, mean_predictions, rmse,
};
pub use nearest::nearest;
#[cfg(feature = "parquet")]
pub use parquet::parquet_bytes;
pub use partition::split_fraction;
pub use reading::{Categorical, Missing, Reading};
pub use scaling::{ColumnTransform, Scaling, unit_columns};
pub use select::{Intercept, Outcome, Selection};
pub use sharded::{Compact, CompactShard, MemoryOrFile, Scaled, ShardRows, ShardedTable};
pub use split::{Split, is_held_out, read_row_numbers, split};
pub use table::Table;

/// Names of the columns that come before the parameters wherever draws are written.
pub const DRAWS_COLUMNS: [&str; 3] = ["lp__", "log_p__", "log_g__"];
