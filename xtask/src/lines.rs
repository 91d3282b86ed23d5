//! How large the house is: lines of each module of the library and of each crate, into `docs/lines.md`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use crate::tree::{code, files, read, root, shown};

const PAGE: &str = "docs/lines.md";

/// Lines of sources: all, and those that are code, comments and tests; what is left is blank.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Lines {
    files: usize,
    all: usize,
    code: usize,
    comments: usize,
    tests: usize,
}

impl Lines {
    fn of(text: &str, is_test: bool) -> Self {
        let all = text.lines().count();
        let mut lines = Self { files: 1, all, ..Self::default() };
        if is_test {
            return Self { tests: all, ..lines };
        }
        for (_, line) in code(text) {
            match line.trim_start() {
                "" => {}
                line if line.starts_with("//") => lines.comments += 1,
                _ => lines.code += 1,
            }
        }
        // A block of tests is the end of its file.
        lines.tests = all - code(text).last().map_or(0, |(number, _)| number);
        lines
    }

    fn add(&mut self, other: Self) {
        self.files += other.files;
        self.all += other.all;
        self.code += other.code;
        self.comments += other.comments;
        self.tests += other.tests;
    }

    fn row(&self, name: &str) -> String {
        let Self { files, all, code, comments, tests } = self;
        format!("| {name} | {files} | {all} | {code} | {comments} | {tests} |\n")
    }
}

/// The lines below a folder of sources, by what `group` makes of the path in it.
fn count(folder: &Path, group: impl Fn(&Path) -> String) -> BTreeMap<String, Lines> {
    let (mut found, mut groups) = (Vec::new(), BTreeMap::<String, Lines>::new());
    files(folder, &["rs"], &mut found);
    for path in found {
        let inside = path.strip_prefix(folder).unwrap_or(&path);
        let is_test =
            inside.components().any(|part| ["tests", "tests.rs"].iter().any(|name| part.as_os_str() == *name));
        groups.entry(group(inside)).or_default().add(Lines::of(&read(&path), is_test));
    }
    groups
}

fn first(path: &Path) -> String {
    path.iter().next().unwrap_or_default().to_string_lossy().trim_end_matches(".rs").to_owned()
}

/// Counts, and writes the page.
pub(crate) fn write() -> Result<(), String> {
    let head = |what: &str| {
        format!("| {what} | files | lines | code | comments | tests inside |\n|---|---|---|---|---|---|\n")
    };
    let mut page =
        "# How large the house is\n\nWritten by `cargo xtask lines`. Code is what is neither blank nor a comment \
                    nor a test; tests inside are those\nthat stand beside the code they test.\n\n## The library, by \
                    module\n\n"
            .to_owned();
    page += &head("module");
    let library = count(&root().join("crates/elinvar/src"), first);
    let mut total = Lines::default();
    let mut rows: Vec<(&String, &Lines)> = library.iter().collect();
    rows.sort_by_key(|(name, lines)| (std::cmp::Reverse(lines.all), *name));
    for (name, lines) in rows {
        total.add(*lines);
        page += &lines.row(&format!("`{name}`"));
    }
    page += &total.row("all");
    page += "\n## The crates\n\nSources and what tests, benchmarks and examples have in folders of their own.\n\n";
    page += &head("crate");
    for (name, lines) in count(&root().join("crates"), |path| {
        path.iter().take(2).map(|part| part.to_string_lossy()).collect::<Vec<_>>().join("/")
    }) {
        page += &lines.row(&format!("`{name}`"));
    }
    let mut sources = Vec::new();
    files(&root().join("crates"), &["rs"], &mut sources);
    sources.sort_by_key(|path| std::cmp::Reverse(read(path).lines().count()));
    page += "\n## The longest files\n\nAbove 450 lines only tables of numbers are allowed.\n\n| file | lines |\n|---|---|\n";
    for path in sources.iter().take(10) {
        writeln!(page, "| `{}` | {} |", shown(path), read(path).lines().count()).map_err(|e| e.to_string())?;
    }
    std::fs::write(root().join(PAGE), page).map_err(|e| format!("{PAGE}: {e}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_blank_or_something() {
        let text =
            "//! What it is.\n\nfn f() {\n    // Why.\n    g();\n}\n\n#[cfg(test)]\nmod tests {\n    fn t() {}\n}\n";
        let lines = Lines::of(text, false);
        assert_eq!(lines, Lines { files: 1, all: 11, code: 3, comments: 2, tests: 4 });
        assert_eq!(Lines::of(text, true).tests, 11);
    }
}
