//! The house rules that can be checked by reading: floors, sizes of files, widths of lines, and that every file is
//! formatted.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;

use crate::tree::{code, files, read, root, shown};

/// Lines of a file; a table of numbers says so in its first line.
const LONGEST_FILE: usize = 450;
const TABLE: &str = "//! A table of numbers";
/// Columns of a line of prose: a comment, or a paragraph of a page.
const WIDEST_LINE: usize = 120;
/// Pages that a command writes, and what is written for a machine.
const GENERATED: &[&str] = &[
    "docs/paper/",
    "docs/affine.md",
    "docs/answers.md",
    "docs/calibration.md",
    "docs/chains.md",
    "docs/containing.md",
    "docs/remarks.md",
    "docs/defaults.md",
    "docs/evaluations.md",
    "docs/families.md",
    "docs/posteriordb.md",
    "docs/scaling.md",
    "docs/trust.md",
];

fn sources() -> Vec<PathBuf> {
    let mut found = Vec::new();
    ["crates", "xtask"].iter().for_each(|folder| files(&root().join(folder), &["rs"], &mut found));
    found
}

/// The floor of each module of the library, the ground being 0.
fn floors() -> BTreeMap<String, usize> {
    let text = read(&root().join("xtask/floors.txt"));
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.enumerate().flat_map(|(floor, line)| line.split(' ').map(move |name| (name.to_owned(), floor))).collect()
}

/// The modules of the library that a line of code names, without what is in its comment.
fn named(line: &str) -> impl Iterator<Item = &str> {
    let code = line.split("//").next().unwrap_or_default();
    code.split("crate::").skip(1).map(|rest| {
        let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
        &rest[..end]
    })
}

#[test]
fn a_module_names_only_floors_below_its_own() {
    let (floors, library) = (floors(), root().join("crates/elinvar/src"));
    let mut found = Vec::new();
    files(&library, &["rs"], &mut found);
    let mut wrong = Vec::new();
    for path in found {
        let inside = path.strip_prefix(&library).unwrap();
        let module = inside.iter().next().unwrap().to_string_lossy().trim_end_matches(".rs").to_owned();
        let is_face = matches!(module.as_str(), "lib" | "prelude");
        if is_face || inside.ends_with("tests.rs") {
            continue;
        }
        let Some(floor) = floors.get(&module) else {
            wrong.push(format!("{}: the module {module} has no floor in xtask/floors.txt", shown(&path)));
            continue;
        };
        // Tests may name anything.
        for (number, line) in code(&read(&path)) {
            for other in named(line) {
                // What is not a module is an item of the root, such as `Error`.
                if floors.get(other).is_some_and(|above| above > floor) {
                    wrong.push(format!("{}:{}: {module} names {other}, a floor above it", shown(&path), number));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} lines\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn no_file_is_longer_than_a_reader_can_hold() {
    let mut long = Vec::new();
    for path in sources() {
        let text = read(&path);
        let n = text.lines().count();
        if n > LONGEST_FILE && !text.starts_with(TABLE) {
            long.push(format!("{} has {n} lines", shown(&path)));
        }
    }
    assert!(long.is_empty(), "more than {LONGEST_FILE} lines:\n{}", long.join("\n"));
}

#[test]
fn no_line_of_prose_is_wider_than_a_page() {
    let mut wide = Vec::new();
    // The licence of a table is quoted as it is.
    for path in sources().into_iter().filter(|path| !read(path).starts_with(TABLE)) {
        for (i, line) in read(&path).lines().enumerate() {
            let is_comment = line.trim_start().starts_with("//");
            if is_comment && line.chars().count() > WIDEST_LINE && line.trim().contains(' ') {
                wide.push(format!("{}:{}", shown(&path), i + 1));
            }
        }
    }
    let mut pages = Vec::new();
    files(&root(), &["md"], &mut pages);
    pages.retain(|page| !GENERATED.iter().any(|generated| shown(page).starts_with(generated)));
    for path in pages {
        let mut is_code = false;
        for (i, line) in read(&path).lines().enumerate() {
            is_code ^= line.trim_start().starts_with("```");
            // Rows of a table, headings, pictures and listings cannot be broken.
            let is_whole =
                is_code || line.starts_with(['|', '#']) || line.starts_with("![") || line.starts_with("    ");
            if !is_whole && line.chars().count() > WIDEST_LINE {
                wide.push(format!("{}:{}", shown(&path), i + 1));
            }
        }
    }
    assert!(wide.is_empty(), "{} lines above {WIDEST_LINE} columns:\n{}", wide.len(), wide.join("\n"));
}

/// `cargo fmt` follows `mod` lines and does not see a module that a macro declares.
#[test]
fn every_file_is_formatted() {
    let mut command = Command::new("rustfmt");
    command.args(["--edition", "2024", "--check", "-l"]).current_dir(root()).args(sources());
    let output = command.output().unwrap();
    let listed = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "not formatted:\n{listed}{}", String::from_utf8_lossy(&output.stderr));
}
