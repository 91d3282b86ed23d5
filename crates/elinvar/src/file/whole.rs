//! Putting a file in the place of another: a crash at any moment leaves the old one or the new one.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::hash::{BuildHasher as _, RandomState};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// What a file ends with that is not complete.
const PART: &str = ".part";
/// Hexadecimal digits that make its name its own.
const DIGITS: usize = 16;

/// Puts a file with this content at `path`: whole or not at all, in place of a file or a link that is there.
///
/// It is written beside `path` under a name that nobody can know before, never through a link, and is on the disk when
/// this returns.
///
/// # Errors
/// Those of the system; nothing is left behind.
pub fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let (part, mut file) = create_beside(path)?;
    let written = file.write_all(content).and_then(|()| file.sync_all()).and_then(|()| fs::rename(&part, path));
    // That it cannot be removed either is no further error.
    written.inspect_err(|_| drop(fs::remove_file(&part)))?;
    sync_folder_of(path);
    Ok(())
}

/// Whether `found`, the name of a file, is what a crash has left of writing a file called `name`.
pub fn is_left_over(found: &OsStr, name: &str) -> bool {
    let digits = found
        .to_str()
        .and_then(|found| found.strip_prefix('.')?.strip_prefix(name)?.strip_prefix('.')?.strip_suffix(PART));
    digits.is_some_and(|digits| digits.len() == DIGITS && digits.bytes().all(|b| b.is_ascii_hexdigit()))
}

/// A new file in the folder of `path`, with a name that was free.
fn create_beside(path: &Path) -> io::Result<(PathBuf, File)> {
    /// Names that may be taken one after the other before something else is wrong.
    const TRIES: usize = 16;
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?.to_string_lossy();
    for _ in 0..TRIES {
        // The keys of a hasher are random numbers of the system.
        let part = path.with_file_name(format!(".{name}.{:016x}{PART}", RandomState::new().hash_one(0)));
        match OpenOptions::new().write(true).create_new(true).open(&part) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            outcome => return Ok((part, outcome?)),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

/// Makes a rename last through a power cut; a system on which folders cannot be opened does so by itself or not at all.
fn sync_folder_of(path: &Path) {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn left_over_names_are_those_of_unfinished_files_alone() {
        let is = |found: &str| is_left_over(OsStr::new(found), "fit.json");
        assert!(is(".fit.json.0123456789abcdef.part"));
        for other in ["fit.json.part", ".fit.json.part", ".fit.json.0123456789abcdeg.part", ".fit.json.01.part", "x"] {
            assert!(!is(other), "{other}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_replaced_and_what_it_points_to_stays() {
        let folder = tempfile::tempdir().unwrap();
        let (victim, link) = (folder.path().join("victim"), folder.path().join("fit.json"));
        fs::write(&victim, "precious").unwrap();
        std::os::unix::fs::symlink(&victim, &link).unwrap();
        replace(&link, b"new").unwrap();
        assert_eq!(fs::read_to_string(&victim).unwrap(), "precious");
        assert_eq!(fs::read_to_string(&link).unwrap(), "new");
        assert!(!link.is_symlink());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }
}
