//! The files of a table: one, those of a folder, or those that a pattern names.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::rows::find;
use crate::settings::Settings;
use crate::stream::Refused;

/// Files that `name` stands for, in the order of their names.
pub(super) fn of(settings: &Settings, name: &str) -> Result<Vec<PathBuf>, Error> {
    let path = find(settings, name);
    if path.is_dir() {
        let is_table = |file: &str| file.ends_with(".parquet") || file.ends_with(".csv");
        return listed(&path, name, is_table);
    }
    let pattern = path.file_name().and_then(|name| name.to_str()).filter(|pattern| pattern.contains('*'));
    let Some(pattern) = pattern.filter(|_| !path.exists()) else { return Ok(vec![path]) };
    listed(path.parent().unwrap_or(Path::new("")), name, |file| matches(pattern, file))
}

fn listed(folder: &Path, name: &str, is_wanted: impl Fn(&str) -> bool) -> Result<Vec<PathBuf>, Error> {
    let none = || Refused::NoFiles { pattern: name.into() }.into();
    let here = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let entries = fs::read_dir(here).map_err(|_| none())?.flatten();
    let mut files: Vec<PathBuf> = entries
        .filter(|entry| entry.file_name().to_str().is_some_and(&is_wanted) && entry.path().is_file())
        .map(|entry| folder.join(entry.file_name()))
        .collect();
    // By their names, which number them: part-10 stands behind part-9 only where digits are as many.
    files.sort();
    if files.is_empty() { Err(none()) } else { Ok(files) }
}

/// Whether a name is as the pattern says, in which a star stands for any letters.
fn matches(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((begin, rest)) => name.strip_prefix(begin).is_some_and(|behind| {
            let ends = behind.char_indices().map(|(i, _)| i).chain([behind.len()]);
            ends.into_iter().any(|i| matches(rest, &behind[i..]))
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_stand_for_any_letters() {
        for (pattern, name, is) in [
            ("part-*.parquet", "part-12.parquet", true),
            ("part-*.parquet", "part-.parquet", true),
            ("part-*.parquet", "part-1.csv", false),
            ("*", "ä", true),
            ("a*b*c", "a1b2b3c", true),
            ("a*b*c", "a1c", false),
        ] {
            assert_eq!(matches(pattern, name), is, "{pattern} {name}");
        }
    }
}
