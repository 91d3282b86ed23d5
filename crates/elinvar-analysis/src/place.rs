//! Where results go: there as a whole or not at all, and never in place of something else.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tempfile::{NamedTempFile, TempDir};

use crate::error::Error;

/// A file to be written.
pub enum Place {
    /// A file that is not there yet; links are followed.
    New(PathBuf),
    /// A pipe, a terminal or another device; also a stream of this process, wherever it leads.
    Device(PathBuf),
}

impl Place {
    /// Checks, before anything is done, that `path` can be written and that no file is lost by it.
    ///
    /// # Errors
    /// [`Error::Exists`] or [`Error::Unwritable`].
    pub fn of(path: &Path) -> Result<Self, Error> {
        Self::named_by(path, None)
    }

    /// The same for a path that was given by this flag.
    ///
    /// # Errors
    /// [`Error::Exists`] or [`Error::Unwritable`].
    pub fn named_by(path: &Path, flag: Option<&'static str>) -> Result<Self, Error> {
        let unwritable =
            |e: io::Error| Error::Unwritable { path: path.into(), kind: e.kind(), flag: flag.unwrap_or("--out") };
        match fs::metadata(path) {
            Ok(there) if there.is_file() && !is_stream(path) => Err(Error::Exists { path: path.into(), flag }),
            Ok(there) if there.is_dir() => Err(unwritable(io::ErrorKind::IsADirectory.into())),
            Ok(_) => Ok(Place::Device(path.into())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let end = end_of_links(path);
                temporary_file(&end).map_err(unwritable)?;
                Ok(Place::New(end))
            }
            Err(error) => Err(unwritable(error)),
        }
    }

    /// Writes what `write` makes.
    ///
    /// # Errors
    /// Those of the system.
    pub fn write(&self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
        match self {
            Place::Device(path) => {
                // The other end of a pipe may have read enough.
                match write(&mut fs::OpenOptions::new().append(true).open(path)?) {
                    Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
                    result => result,
                }
            }
            Place::New(path) => {
                let mut spool = Spool { path, text: Vec::new(), file: None };
                write(&mut spool)?;
                spool.into_file()?.persist_noclobber(path)?;
                Ok(())
            }
        }
    }
}

/// A text on its way to a new file. It is kept in memory as long as it is short: an interrupted command leaves a
/// temporary file only while that is written.
struct Spool<'p> {
    path: &'p Path,
    text: Vec<u8>,
    file: Option<NamedTempFile>,
}

impl Spool<'_> {
    /// Bytes that are kept in memory.
    const LONGEST: usize = 1 << 26;

    /// The file with all of the text.
    fn into_file(mut self) -> io::Result<NamedTempFile> {
        self.flush()?;
        self.file.map_or_else(|| temporary_file(self.path), Ok)
    }
}

impl Write for Spool<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.text.len() + bytes.len() > Self::LONGEST {
            self.flush()?;
        }
        self.text.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(temporary_file(self.path)?),
        };
        file.as_file_mut().write_all(&self.text)?;
        self.text.clear();
        Ok(())
    }
}

/// A folder to be made, or an empty one to be filled.
pub struct NewFolder {
    path: PathBuf,
}

impl NewFolder {
    /// Checks, before anything is done, that a folder can be made at `path` and that nothing is lost by it.
    ///
    /// # Errors
    /// A sentence about what stands there or cannot be written.
    pub fn of(path: &Path) -> Result<Self, Error> {
        let unwritable = |e: io::Error| Error::unwritable(path, &e);
        if path.file_name().is_none() {
            return Err(Error::NoName { path: path.into() });
        }
        if path.is_dir() {
            if fs::read_dir(path).map_err(unwritable)?.next().is_some() {
                return Err(Error::NotEmpty { path: path.into() });
            }
        } else if path.symlink_metadata().is_ok() {
            return Err(Error::InTheWay { path: path.into() });
        }
        let there = |above: &&Path| above.as_os_str().is_empty() || above.symlink_metadata().is_ok();
        let existing = path.ancestors().skip(1).find(there).unwrap_or(Path::new(""));
        temporary_folder(existing).map_err(unwritable)?;
        Ok(Self { path: path.into() })
    }

    /// Makes the folder with these files, by name and content.
    ///
    /// # Errors
    /// [`Error::Unwritable`].
    pub fn write(&self, files: &[(String, String)]) -> Result<(), Error> {
        let write = || {
            let parent = self.path.parent().unwrap_or(Path::new(""));
            if !parent.as_os_str().is_empty() {
                fs::create_dir_all(parent)?;
            }
            let folder = temporary_folder(parent)?;
            for (name, text) in files {
                fs::write(folder.path().join(name), text)?;
            }
            if self.path.is_dir() {
                fs::remove_dir(&self.path)?;
            }
            fs::rename(folder.path(), &self.path)?;
            // It has been moved: there is nothing left to clean up.
            let _ = folder.keep();
            Ok(())
        };
        write().map_err(|e: io::Error| Error::unwritable(&self.path, &e))
    }
}

/// A new folder in `parent` that vanishes unless it is kept.
fn temporary_folder(parent: &Path) -> io::Result<TempDir> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".elinvar-");
    // Temporary folders are private by default; this one becomes an ordinary one.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o777));
    builder.tempdir_in(if parent.as_os_str().is_empty() { Path::new(".") } else { parent })
}

/// Whether the path is a link of the system to an open stream, such as /dev/stdout.
fn is_stream(path: &Path) -> bool {
    let folder = path.parent().and_then(|parent| fs::canonicalize(parent).ok());
    path.is_symlink() && folder.is_some_and(|folder| folder == Path::new("/dev") || folder.starts_with("/proc"))
}

/// The place that a chain of links leads to, there or not.
fn end_of_links(path: &Path) -> PathBuf {
    const MOST_LINKS: usize = 40;
    let mut end = path.to_path_buf();
    for _ in 0..MOST_LINKS {
        match fs::read_link(&end) {
            // An absolute link replaces the folder as well.
            Ok(next) => end = end.parent().unwrap_or(Path::new("")).join(next),
            Err(_) => break,
        }
    }
    end
}

/// A new file beside `path` that vanishes unless it is kept.
fn temporary_file(path: &Path) -> io::Result<NamedTempFile> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    builder.prefix(".elinvar-");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.tempfile_in(parent)
}
