//! Why a command could not do its work, as one sentence.

use std::fmt;

use elinvar_analysis::Error;

/// A sentence for the user, and whose matter it is.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The command or a value has to be changed.
    Input(String),
    /// What the analysis says.
    Analysis(Error),
}

impl Failure {
    /// Something about the input that the user can mend.
    pub(crate) fn input(sentence: impl Into<String>) -> Self {
        Failure::Input(sentence.into())
    }

    /// An error of the library while it evaluates the model.
    pub(crate) fn of_fit(error: elinvar::Error) -> Self {
        Failure::Analysis(Error::of_fit(error))
    }

    /// Whether the model could not be evaluated or fitted.
    pub(crate) fn is_of_model(&self) -> bool {
        matches!(self, Failure::Analysis(error) if error.is_of_model())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Input(sentence) => f.write_str(sentence),
            Failure::Analysis(error) => error.fmt(f),
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure::Analysis(error)
    }
}

impl From<elinvar_data::Error> for Failure {
    fn from(error: elinvar_data::Error) -> Self {
        Failure::Analysis(error.into())
    }
}
