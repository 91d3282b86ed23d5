//! `elinvar sample`: draws from a kept fit, as CSV on the constrained scale.

use std::borrow::Cow;
use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use elinvar::Posterior;
use tempfile::NamedTempFile;

use crate::Outcome;
use crate::args::SampleArgs;
use crate::error::Failure;
use crate::job::check_memory;
use crate::kept::Kept;

/// Draws and writes.
pub(crate) fn run(args: &SampleArgs) -> Result<Outcome, Failure> {
    let posterior = Kept::open(&args.run)?.posterior;
    check_memory("--draws", args.draws, posterior.dim())?;
    match &args.out {
        None => match write_draws(&posterior, args, &mut io::stdout().lock()) {
            // Whoever reads has read enough.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
            result => result.map_err(|e| Failure::input(format!("the draws could not be printed ({e})")))?,
        },
        Some(path) => {
            let place = Place::of(path)?;
            place.write(&posterior, args).map_err(|e| Failure::unwritable(path, &e))?;
        }
    }
    Ok(Outcome::Done)
}

/// Where the draws go.
enum Place {
    /// A file that is not there yet; links are followed.
    New(PathBuf),
    /// A pipe, a terminal or another device; also a stream of this process, wherever it leads.
    Device(PathBuf),
}

impl Place {
    /// Checks, before anything is drawn, that `path` can be written and that no file is lost by it.
    fn of(path: &Path) -> Result<Self, Failure> {
        let unwritable = |e: io::Error| Failure::unwritable(path, &e);
        match fs::metadata(path) {
            Ok(there) if there.is_file() && !is_stream(path) => {
                Err(Failure::input(format!("{} exists already; choose another name or remove it", path.display())))
            }
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

    fn write(&self, posterior: &Posterior, args: &SampleArgs) -> io::Result<()> {
        match self {
            Place::Device(path) => {
                // The other end of a pipe may have read enough.
                match write_draws(posterior, args, &mut fs::OpenOptions::new().append(true).open(path)?) {
                    Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
                    result => result,
                }
            }
            Place::New(path) => {
                // The text first: an interrupted command leaves a temporary file only while this one is written.
                let mut text = Vec::new();
                write_draws(posterior, args, &mut text)?;
                let mut file = temporary_file(path)?;
                file.as_file_mut().write_all(&text)?;
                file.persist_noclobber(path)?;
                Ok(())
            }
        }
    }
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

fn write_draws(posterior: &Posterior, args: &SampleArgs, out: &mut dyn Write) -> io::Result<()> {
    let mut out = BufWriter::new(out);
    write!(out, "lp__,log_p__,log_g__")?;
    for name in posterior.constrained_names() {
        write!(out, ",{}", csv_cell(name))?;
    }
    writeln!(out)?;
    let transforms = posterior.transforms();
    let mut x = vec![0.0; transforms.n_constrained()];
    let (draws, log_q) = posterior.sample_with_log_density(args.draws, args.seed);
    for (z, log_q) in draws.view().iter().zip(&log_q) {
        transforms.constrain(z, &mut x);
        write!(out, "0,nan,{log_q:?}")?;
        for value in &x {
            write!(out, ",{value:?}")?;
        }
        writeln!(out)?;
    }
    out.flush()
}

fn csv_cell(text: &str) -> Cow<'_, str> {
    if text.contains([',', '"', '\n', '\r']) {
        Cow::Owned(format!("\"{}\"", text.replace('"', "\"\"")))
    } else {
        Cow::Borrowed(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_quoted_where_they_must_be() {
        assert_eq!(csv_cell("age"), "age");
        assert_eq!(csv_cell("age, \"years\""), "\"age, \"\"years\"\"\"");
    }
}
