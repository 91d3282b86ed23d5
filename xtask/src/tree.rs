//! The files of the repository, for tests that read them as text.

use std::fs;
use std::path::{Path, PathBuf};

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_path_buf()
}

/// All files of these kinds under a folder, in order; what builds leave behind is left out.
pub(crate) fn files(folder: &Path, kinds: &[&str], found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        // The library has a module of the name of cargo's folder.
        let is_built = name == "node_modules" || path.join("CACHEDIR.TAG").exists();
        if path.is_dir() && !name.starts_with('.') && !is_built {
            files(&path, kinds, found);
        } else if path.extension().is_some_and(|kind| kinds.iter().any(|k| kind == *k)) {
            found.push(path);
        }
    }
}

/// The lines of a source with their numbers from 1, without those of its tests.
pub(crate) fn code(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines: Vec<&str> = text.lines().collect();
    // A `#[cfg(test)]` before a line that declares no block concerns that line only.
    let begins =
        |i: &usize| lines[*i].starts_with("#[cfg(test)]") && lines.get(i + 1).is_some_and(|l| l.ends_with('{'));
    let end = (0..lines.len()).find(begins).unwrap_or(lines.len());
    let kept = (0..end).filter(|&i| i == 0 || !lines[i - 1].starts_with("#[cfg(test)]")).collect::<Vec<usize>>();
    kept.into_iter().map(move |i| (i + 1, lines[i]))
}

pub(crate) fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|problem| panic!("{}: {problem}", path.display()))
}

pub(crate) fn shown(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string().replace('\\', "/")
}
