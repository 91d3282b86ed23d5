//! A journal in a folder.

use std::io;
use std::path::{Path, PathBuf};

use super::{Entry, Journal, Part};
use crate::Error;
use crate::file;

/// A journal with a file for each entry. A file is replaced as a whole: a crash at any moment leaves the old one or the
/// new one.
#[derive(Clone, Debug)]
pub struct Folder {
    path: PathBuf,
}

impl Folder {
    /// The journal in the folder `path`, which is made if it is not there.
    ///
    /// # Errors
    /// [`Error::Io`] if it cannot be made.
    pub fn new(path: impl Into<PathBuf>) -> Result<Self, Error> {
        let path = path.into();
        match std::fs::create_dir_all(&path) {
            Ok(()) => Ok(Self { path }),
            Err(source) => Err(Error::Io { path, source }),
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn file(&self, part: Part) -> PathBuf {
        self.path.join(format!("{part}.json"))
    }
}

impl Journal for Folder {
    fn load(&self, part: Part) -> Result<Option<Entry>, Error> {
        match file::read_own(&self.file(part), Entry::FORMAT) {
            Ok(entry) => Ok(Some(entry)),
            Err(Error::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(Error::File { path, problem }) => Err(Error::File {
                path,
                problem: format!("{problem}; remove it: what it holds is then computed again"),
            }),
            Err(error) => Err(error),
        }
    }

    fn store(&self, part: Part, entry: &Entry) -> Result<(), Error> {
        file::write_compact(&self.file(part), entry)
    }
}
