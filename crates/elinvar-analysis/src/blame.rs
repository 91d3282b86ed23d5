//! Whose fault an error is: that of what was asked for, of the model, or of the place where a fit is kept.

use std::io;
use std::path::Path;

use crate::error::Error;
use crate::stream::{Fault, Refused};

impl Error {
    /// An error of the library while it fits.
    pub fn of_fit(error: elinvar::Error) -> Self {
        match error {
            elinvar::Error::Interrupted => Error::Interrupted,
            elinvar::Error::Unsupported { .. } | elinvar::Error::File { .. } | elinvar::Error::Io { .. } => {
                Error::Refused(error)
            }
            _ => Error::Model(error),
        }
    }

    /// What ended a pass over rows that are not in memory.
    pub(crate) fn of_stream(fault: Fault) -> Self {
        match fault {
            Fault::Data(error) => Error::Data(error),
            Fault::Model(error) => Error::of_fit(error),
            fault => Refused::Cache { problem: fault.to_string() }.into(),
        }
    }

    /// A file or folder of `--out` that cannot be written.
    pub fn unwritable(path: &Path, source: &io::Error) -> Self {
        Error::Unwritable { path: path.into(), kind: source.kind(), flag: "--out" }
    }

    /// Whether the model is at fault, and not what was asked for.
    pub fn is_of_model(&self) -> bool {
        matches!(self, Error::Model(_))
    }
}
