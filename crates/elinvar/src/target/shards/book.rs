//! What was asked of all shards and what they answered, in a file, so that a fit that was ended goes on from there.
//!
//! A fit is a function of the sums that it asks for. One that begins again asks the same requests, finds their sums
//! here, and comes to the bits of a fit that nothing has ended; no state of its own is kept, and no part of it, not the
//! search and not the verdict, is left out.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::{Request, ShardError, Sums};
use crate::Error;
use crate::file::fingerprint;

/// What a file begins with; the subject follows.
const BEGIN: &str = "elinvar sums over shards, layout 1, of ";
/// Digits of a fingerprint.
const DIGITS: usize = 16;

/// The file, and what it holds.
#[derive(Debug)]
pub struct Book {
    path: PathBuf,
    inner: Mutex<Inner>,
}

#[derive(Debug)]
struct Inner {
    file: File,
    known: HashMap<String, Sums>,
}

impl Book {
    /// The book at `path` on shards that `subject` tells from all others, such as a fingerprint of their rows and of
    /// how they were scaled; a new one, if there is none. What was being written when a process was killed is given up.
    ///
    /// # Errors
    /// The file cannot be used, is something else, or is about other shards.
    pub fn open(path: impl Into<PathBuf>, subject: &str) -> Result<Self, Error> {
        let path = path.into();
        let failed = |problem: String| Error::Data { place: path.display().to_string(), problem };
        let system = |error: std::io::Error| failed(error.to_string());
        let mut file =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path).map_err(system)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(system)?;
        let begin = format!("{BEGIN}{}\n", fingerprint(subject.as_bytes())).into_bytes();
        let mut known = HashMap::new();
        let end = if begin.starts_with(&bytes) {
            file.seek(SeekFrom::Start(0)).and_then(|_| file.write_all(&begin)).map_err(system)?;
            begin.len()
        } else if let Some(mut rest) = bytes.strip_prefix(&begin[..]) {
            while let Some((key, sums, behind)) = entry(rest) {
                known.insert(key, sums);
                rest = behind;
            }
            bytes.len() - rest.len()
        } else if bytes.starts_with(BEGIN.as_bytes()) {
            let problem = "this is the journal of a fit to other rows, or of another model; name another file";
            return Err(failed(problem.into()));
        } else {
            return Err(failed("there is a file that is no journal of sums over shards; name another".into()));
        };
        file.set_len(end as u64).and_then(|()| file.seek(SeekFrom::End(0))).map_err(system)?;
        Ok(Self { inner: Mutex::new(Inner { file, known }), path })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Number of requests whose sums it holds.
    pub fn len(&self) -> usize {
        self.lock().known.len()
    }

    /// Whether it holds none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The sums of a request, if it was answered before.
    pub(super) fn find(&self, request: &Request) -> Option<Sums> {
        let known = self.lock().known.get(&fingerprint(&request.to_bytes())).cloned();
        // Two requests may share a fingerprint, though nobody will see it.
        known.filter(|sums| sums.lengths() == request.lengths())
    }

    /// Keeps the sums of a request.
    pub(super) fn keep(&self, request: &Request, sums: &Sums) -> Result<(), ShardError> {
        let key = fingerprint(&request.to_bytes());
        let content = [key.as_bytes(), &sums.to_bytes()].concat();
        let length = (content.len() as u64).to_le_bytes();
        let record = [&length[..], &content, fingerprint(&content).as_bytes()].concat();
        let mut inner = self.lock();
        let written = inner.file.write_all(&record).and_then(|()| inner.file.flush());
        inner.known.insert(key, sums.clone());
        written.map_err(|error| ShardError::Gone { problem: format!("{}: {error}", self.path.display()) })
    }
}

/// The first entry of these bytes, if it is whole, and what is behind it.
fn entry(bytes: &[u8]) -> Option<(String, Sums, &[u8])> {
    let (length, rest) = bytes.split_first_chunk()?;
    let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
    let (content, rest) = rest.split_at_checked(length)?;
    let (checksum, rest) = rest.split_at_checked(DIGITS)?;
    let (key, sums) = content.split_at_checked(DIGITS)?;
    if fingerprint(content).as_bytes() != checksum {
        return None;
    }
    Some((String::from_utf8(key.to_vec()).ok()?, Sums::from_bytes(sums).ok()?, rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::shards::Wanted;

    fn request(x: f64) -> Request {
        Request { dim: 2, draws: vec![x, 1.0], wanted: Wanted::Gradients }
    }

    fn sums(x: f64) -> Sums {
        Sums { log_p: vec![x], grad: vec![f64::NEG_INFINITY, 0.1 * x], rows: 7, ..Sums::default() }
    }

    #[test]
    fn what_was_written_whole_is_found_again() {
        let folder = std::env::temp_dir().join(format!("elinvar-book-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("sums");
        let book = Book::open(&path, "a").unwrap();
        for x in [1.0, 2.0, 3.0] {
            book.keep(&request(x), &sums(x)).unwrap();
        }
        drop(book);
        let whole = std::fs::read(&path).unwrap();
        // Whatever is cut off: entries before it are found, what is kept next is found, and nothing else.
        for cut in [0, 1, 17, 60] {
            std::fs::write(&path, &whole[..whole.len() - cut]).unwrap();
            let book = Book::open(&path, "a").unwrap();
            assert_eq!(book.len(), if cut == 0 { 3 } else { 2 });
            book.keep(&request(9.0), &sums(9.0)).unwrap();
            drop(book);
            let book = Book::open(&path, "a").unwrap();
            assert_eq!(book.find(&request(2.0)), Some(sums(2.0)));
            assert_eq!(book.find(&request(9.0)), Some(sums(9.0)));
            assert_eq!(book.find(&request(4.0)), None);
        }
        let other = Book::open(&path, "b").unwrap_err().to_string();
        assert!(other.contains("other rows"), "{other}");
        std::fs::write(&path, "a,b\n1,2\n").unwrap();
        let foreign = Book::open(&path, "a").unwrap_err().to_string();
        assert!(foreign.contains("no journal"), "{foreign}");
        assert_eq!(std::fs::read(&path).unwrap(), b"a,b\n1,2\n");
        std::fs::remove_dir_all(folder).unwrap();
    }
}
