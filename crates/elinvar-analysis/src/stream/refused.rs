//! What does not go with rows that are read piece by piece.

/// Why rows are not read piece by piece.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Refused {
    /// Another model.
    #[error("--stream takes the models {models}, and not {model}; leave it out if the table fits into memory")]
    NotStreamed {
        /// The model that was named.
        model: &'static str,
        /// Those that can.
        models: String,
    },
    /// Something that needs all rows at once.
    #[error("{what} does not go with --stream{remedy}")]
    NotWithStream {
        /// What was asked for.
        what: &'static str,
        /// What to do, as the end of the sentence.
        remedy: &'static str,
    },
    /// Too little memory.
    #[error("--memory {memory}: the pieces of this table need {needed} MB; give --memory {needed} or fewer columns")]
    Memory {
        /// The number that was given, or the usual one.
        memory: usize,
        /// The smallest that will do.
        needed: usize,
    },
    /// The cache cannot be written or read.
    #[error("the cache cannot be used ({problem}); name another folder with --cache")]
    Cache {
        /// What the system says.
        problem: String,
    },
    /// No file is meant.
    #[error("{pattern}: no parquet or CSV file is meant by this; check the folder and the pattern")]
    NoFiles {
        /// What was given.
        pattern: String,
    },
}
