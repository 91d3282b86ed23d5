//! Why a command could not do its work, as one sentence.

use std::path::Path;

/// A sentence for the user, and whose matter it is.
#[derive(Debug)]
pub enum Failure {
    /// The command, a file or a value has to be changed.
    Input(String),
    /// The model could not be evaluated or fitted.
    Model(String),
}

impl Failure {
    /// Something about the input that the user can mend.
    pub fn input(sentence: impl Into<String>) -> Self {
        Failure::Input(sentence.into())
    }

    /// A file or folder that cannot be written.
    pub fn unwritable(path: &Path, source: &std::io::Error) -> Self {
        // The kind only: the rest names temporary files that no longer exist.
        Failure::Input(format!(
            "{}: it cannot be written ({}); name another place with --out",
            path.display(),
            source.kind()
        ))
    }

    /// An error of the library while it fits.
    pub fn of_fit(error: elinvar::Error) -> Self {
        match error {
            elinvar::Error::Unsupported { .. } | elinvar::Error::File { .. } | elinvar::Error::Io { .. } => {
                Failure::Input(error.to_string())
            }
            _ => Failure::Model(error.to_string()),
        }
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (Failure::Input(sentence) | Failure::Model(sentence)) = self;
        f.write_str(sentence)
    }
}

impl From<elinvar_data::Error> for Failure {
    fn from(error: elinvar_data::Error) -> Self {
        Failure::Input(error.to_string())
    }
}
