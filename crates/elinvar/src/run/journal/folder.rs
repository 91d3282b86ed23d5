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
    subject: String,
}

impl Folder {
    /// The journal in the folder `path`, which is made if it is not there.
    ///
    /// # Errors
    /// [`Error::Io`] if it cannot be made.
    pub fn new(path: impl Into<PathBuf>) -> Result<Self, Error> {
        let path = path.into();
        match std::fs::create_dir_all(&path) {
            Ok(()) => Ok(Self { path, subject: String::new() }),
            Err(source) => Err(Error::Io { path, source }),
        }
    }

    /// The same journal for a fit about `subject`, whatever describes target, data and prior: entries about anything
    /// else are refused.
    pub fn about(self, subject: &str) -> Self {
        Self { subject: file::fingerprint(subject.as_bytes()), ..self }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Looks at every entry before a fit goes on: one that is damaged or about something else is found while nothing
    /// has been written that belongs to the fit that was meant.
    ///
    /// # Errors
    /// Those of loading the first such entry.
    pub fn check(&self) -> Result<(), Error> {
        let io = |source| Error::Io { path: self.path.clone(), source };
        for found in std::fs::read_dir(&self.path).map_err(io)? {
            let name = found.map_err(io)?.file_name();
            let part = name.to_str().and_then(|name| Part::named(name.strip_suffix(".json")?));
            part.map(|part| self.load(part)).transpose()?;
        }
        Ok(())
    }

    /// Removes the entries, and what a crash has left of them; whatever else lies in the folder stays.
    ///
    /// # Errors
    /// [`Error::Io`] if it cannot be read or a file cannot be removed.
    pub fn clear(&self) -> Result<(), Error> {
        self.remove(true)
    }

    /// Removes what a crash has left of entries that were being written, and nothing else.
    ///
    /// # Errors
    /// As [`Folder::clear`].
    pub fn remove_left_overs(&self) -> Result<(), Error> {
        self.remove(false)
    }

    fn remove(&self, entries_too: bool) -> Result<(), Error> {
        let io = |source| Error::Io { path: self.path.clone(), source };
        for found in std::fs::read_dir(&self.path).map_err(io)? {
            let found = found.map_err(io)?;
            let name = found.file_name();
            let entry =
                name.to_str().map(|name| name.trim_start_matches('.')).and_then(|name| name.split_once(".json"));
            let is_ours = entry.is_some_and(|(part, rest)| {
                Part::named(part).is_some()
                    && (entries_too && rest.is_empty() || file::is_left_over(&name, &format!("{part}.json")))
            });
            if is_ours {
                std::fs::remove_file(found.path()).map_err(io)?;
            }
        }
        Ok(())
    }

    fn file(&self, part: Part) -> PathBuf {
        self.path.join(format!("{part}.json"))
    }
}

impl Journal for Folder {
    fn load(&self, part: Part) -> Result<Option<Entry>, Error> {
        let path = self.file(part);
        if path.symlink_metadata().is_ok_and(|found| !found.is_file()) {
            let problem = "this is no plain file, and nothing that a fit has kept; move it away".into();
            return Err(Error::File { path, problem });
        }
        match file::read_own(&self.file(part), Entry::FORMAT) {
            Ok(Entry { subject, .. }) if subject != self.subject => Err(Error::File {
                path: self.file(part),
                problem: "it belongs to a fit of another model, other data or another prior: bring the settings back \
                          that it was begun with, or begin anew in another folder"
                    .into(),
            }),
            Ok(entry) if !entry.counts.are_plausible() || !entry.seconds.is_finite() => {
                Err(file::damaged(&self.file(part), &"its counts cannot be"))
            }
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
        file::write_compact(&self.file(part), &Entry { subject: self.subject.clone(), ..entry.clone() })
    }
}
