//! What can go wrong in an experiment.

use std::path::{Path, PathBuf};

/// Why an experiment has no findings, or why they were not kept.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A fit failed.
    #[error(transparent)]
    Fit(#[from] elinvar::Error),
    /// A table could not be used.
    #[error(transparent)]
    Data(#[from] elinvar_data::Error),
    /// Data that the project does not carry was not given.
    #[error("{what}; name the folder that holds it with `--data`, or take `--quick`, which needs none")]
    DataNeeded {
        /// What is needed, under which name, and where it comes from.
        what: String,
    },
    /// The file of expectations of an experiment cannot be read.
    #[error("the expectations of {experiment}: {problem}")]
    Expectations {
        /// The experiment.
        experiment: &'static str,
        /// What is wrong with them.
        problem: String,
    },
    /// A file could not be read or written.
    #[error("{path}: {source}")]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A folder that is there would have been replaced.
    #[error("{0} exists and is not replaced; name another folder, or remove it")]
    Exists(PathBuf),
    /// A figure could not be drawn.
    #[error("the figure {stem}: {problem}")]
    Drawing {
        /// The file stem of the figure.
        stem: String,
        /// What is wrong.
        problem: String,
    },
}

impl Error {
    pub(crate) fn io(path: &Path) -> impl FnOnce(std::io::Error) -> Self + '_ {
        move |source| Self::Io { path: path.to_path_buf(), source }
    }
}
