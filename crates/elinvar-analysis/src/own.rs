//! Which files of a folder elinvar has written: only these are replaced.
//!
//! A folder may have the names of a run and not be one: a project with a `config.toml` written by hand, a folder that
//! was unpacked, a run in which somebody keeps files of their own. Before a fit goes on there, what lies under the
//! names of its files is held against how elinvar begins each of them.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use crate::error::Error;

/// The names of the files of a run.
pub(crate) const TRACE: &str = "trace.csv";
pub(crate) const DIAGNOSTICS: &str = "diagnostics.json";
pub(crate) const CONFIG: &str = "config.toml";
pub(crate) const REPORT: &str = "report.html";
/// The list of checksums: those of the files that have none of their own and are not made anew.
pub(crate) const CHECKSUMS: &str = "checksums.txt";
pub(crate) const FIT: &str = "fit.json";
/// How a table becomes a design matrix; models of a single column have none.
pub(crate) const RECIPE: &str = "recipe.json";
/// All of them: an incomplete one of these is ours to remove, any other file is not.
pub(crate) const FILES: [&str; 7] = [TRACE, DIAGNOSTICS, CONFIG, RECIPE, REPORT, CHECKSUMS, FIT];

/// How the table of steps begins.
pub(crate) const TRACE_HEADER: &str =
    "step,evaluations,seconds,elbo,elbo_se,step_size,taken,kl,remaining,dropped,draws,components,bound\n";

/// Bytes in which a file shows whose it is; settings are shorter as a whole.
const BEGINNING: u64 = 1 << 20;

/// Whether there is something at `path` that a fit may not replace: anything but a plain file that elinvar has written.
fn is_foreign(path: &Path) -> bool {
    match path.symlink_metadata() {
        Err(_) => false,
        Ok(there) => !there.is_file() || !is_of_elinvar(path),
    }
}

fn is_of_elinvar(path: &Path) -> bool {
    let Some(text) = beginning(path) else { return false };
    match path.file_name().and_then(|name| name.to_str()) {
        Some(TRACE) => text.starts_with(TRACE_HEADER),
        Some(DIAGNOSTICS) => text.starts_with("{\n  \"verdict\": \""),
        // What somebody has written about the settings would be lost with the file.
        Some(CONFIG) => {
            text.starts_with("elinvar = \"") && !text.lines().any(|line| line.trim_start().starts_with('#'))
        }
        Some(REPORT) => {
            let title = text.split_once("</title>").map(|(head, _)| head);
            text.starts_with("<!doctype html>\n") && title.is_some_and(|head| head.ends_with(" · elinvar"))
        }
        Some(CHECKSUMS) => text.lines().all(|line| line.split_once("  ").is_some_and(|(sum, _)| is_checksum(sum))),
        Some(RECIPE) => text.starts_with("{\n  \"format\": \"elinvar-recipe "),
        Some(FIT) => text.starts_with("{\n  \"format\": \"elinvar-fit\""),
        _ => false,
    }
}

fn is_checksum(text: &str) -> bool {
    text.len() == 16 && text.bytes().all(|b| b.is_ascii_hexdigit())
}

/// The beginning of a plain file as text; what is cut in the middle of a character ends before it.
fn beginning(path: &Path) -> Option<String> {
    let mut bytes = Vec::new();
    plain(path)?.take(BEGINNING).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// A plain file, opened; a link may lead anywhere, and a pipe would be waited for.
fn plain(path: &Path) -> Option<File> {
    if path.symlink_metadata().ok()?.is_file() { File::open(path).ok() } else { None }
}

/// Whether the settings in this folder are those of a run.
pub(crate) fn has_settings_of_run(folder: &Path) -> bool {
    let config = folder.join(CONFIG);
    config.symlink_metadata().is_ok() && !is_foreign(&config)
}

/// Refuses to go on in a folder in which something lies under the name of a result that elinvar has not written.
pub(crate) fn check_results(folder: &Path) -> Result<(), Error> {
    match FILES.map(|name| folder.join(name)).into_iter().find(|path| is_foreign(path)) {
        Some(path) => Err(Error::Foreign { path }),
        None => Ok(()),
    }
}

/// The place of the report in a folder.
///
/// # Errors
/// [`Error::Exists`] where there is something else.
pub(crate) fn report_in(folder: &Path) -> Result<PathBuf, Error> {
    let path = folder.join(REPORT);
    if is_foreign(&path) { Err(Error::Exists { path, flag: Some("--html") }) } else { Ok(path) }
}

/// The content of a plain file of a run, if it is no larger than one can be.
pub(crate) fn content(path: &Path) -> Option<Vec<u8>> {
    const LARGEST: u64 = 1 << 32;
    let mut file = plain(path)?;
    let size = file.metadata().ok()?.len();
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(usize::try_from(size).ok().filter(|_| size <= LARGEST)?).ok()?;
    file.read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_known_by_how_they_begin() {
        let folder = tempfile::tempdir().unwrap();
        let ours = [
            (TRACE, TRACE_HEADER),
            (DIAGNOSTICS, "{\n  \"verdict\": \"trust\""),
            (CONFIG, "elinvar = \"0.1.0\"\n"),
            (RECIPE, "{\n  \"format\": \"elinvar-recipe 1\","),
            (REPORT, "<!doctype html>\n<title>Trust · elinvar</title>"),
            (CHECKSUMS, "8209b8d009d71846  trace.csv\n"),
            (FIT, "{\n  \"format\": \"elinvar-fit\","),
        ];
        assert_eq!(ours.map(|(name, _)| name), FILES);
        for (name, text) in ours {
            let path = folder.path().join(name);
            assert!(!is_foreign(&path), "{name} is not there");
            std::fs::write(&path, text).unwrap();
            assert!(!is_foreign(&path), "{name}");
            for other in ["precious".into(), format!("x{text}"), format!("# mine\n{text}")] {
                std::fs::write(&path, &other).unwrap();
                assert!(is_foreign(&path) && check_results(folder.path()).is_err(), "{name}: {other}");
            }
            std::fs::remove_file(&path).unwrap();
            std::fs::create_dir(&path).unwrap();
            assert!(is_foreign(&path) && content(&path).is_none(), "{name} is a folder");
            std::fs::remove_dir(&path).unwrap();
        }
    }
}
