//! docs/paper-map.md and the `Paper:` lines of the sources name the same things.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// A reference of the paper and the file that carries it.
type Entry = (String, String);

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
}

/// "§4.3, App. E." → {"§4.3", "App. E"}; words after the references are ignored.
fn references(line: &str) -> Vec<String> {
    let starts = ["§", "App. ", "eq. (", "Theorem ", "Table ", "Lemma ", "Definition "];
    let parts = line.split(", ").map(|part| part.trim().trim_end_matches('.'));
    let known = parts.filter(|part| starts.iter().any(|s| part.starts_with(s)));
    known.map(|part| part.split(" (with").next().unwrap().to_string()).collect()
}

fn in_the_sources() -> BTreeSet<Entry> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    let mut found = BTreeSet::new();
    for file in files {
        let name = file.strip_prefix(&root).unwrap().to_str().unwrap().replace('\\', "/");
        for line in std::fs::read_to_string(&file).unwrap().lines() {
            if let Some((_, rest)) = line.split_once("Paper: ") {
                let listed = references(rest);
                assert!(!listed.is_empty(), "{name}: no reference understood in {line:?}");
                found.extend(listed.into_iter().map(|reference| (reference, name.clone())));
            }
        }
    }
    found
}

fn in_the_map() -> (BTreeSet<Entry>, Vec<(String, String)>) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/paper-map.md");
    let text = std::fs::read_to_string(path).unwrap();
    let (mut entries, mut tests) = (BTreeSet::new(), Vec::new());
    for line in text.lines().take_while(|line| !line.starts_with("## Not implemented")) {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        if cells.len() == 7 && cells[2].starts_with('`') {
            let file = cells[2].trim_matches('`').to_string();
            assert!(entries.insert((cells[1].to_string(), file)), "twice in the map: {line}");
            tests.push((cells[4].trim_matches('`').to_string(), line.to_string()));
        }
    }
    (entries, tests)
}

#[test]
fn the_map_and_the_sources_agree() {
    let (map, _) = in_the_map();
    let code = in_the_sources();
    assert!(map.len() > 30, "the map was read: {} rows", map.len());
    let only_code: Vec<_> = code.difference(&map).collect();
    let only_map: Vec<_> = map.difference(&code).collect();
    assert!(only_code.is_empty(), "in the sources but not in docs/paper-map.md: {only_code:#?}");
    assert!(only_map.is_empty(), "in docs/paper-map.md but not in the sources: {only_map:#?}");
}

/// The functions of a file that are tests.
fn tests_in(text: &str) -> BTreeSet<&str> {
    let functions = text.split("#[test]").skip(1).filter_map(|rest| rest.split_once("fn ")?.1.split('(').next());
    functions.collect()
}

#[test]
fn every_row_names_a_test_function_that_exists() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    for (test, row) in in_the_map().1 {
        let Some((file, function)) = test.split_once("::") else { panic!("no function is named in the row {row}") };
        let path = folder.join(format!("{file}.rs"));
        let text =
            std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}, in the row {row}", path.display()));
        assert!(tests_in(&text).contains(function), "no test `{function}` in {file}.rs, named in the row {row}");
    }
}

/// Every numbered equation, definition and theorem has a row, or stands under "Not implemented".
#[test]
fn nothing_numbered_is_left_out() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/paper-map.md");
    let text = std::fs::read_to_string(path).unwrap();
    let first_cells: BTreeSet<&str> =
        text.lines().filter_map(|line| Some(line.strip_prefix("| ")?.split_once(" |")?.0)).collect();
    let numbered = (1..=31).map(|n| format!("eq. ({n})"));
    let named = ["Definition", "Theorem"].into_iter().flat_map(|word| (1..=4).map(move |n| format!("{word} {n}")));
    for reference in numbered.chain(named).chain(["Table 1".into()]) {
        assert!(first_cells.contains(&reference[..]), "docs/paper-map.md has no row for {reference}");
    }
    assert!(text.contains("\n## Not implemented\n"));
}
