//! What the library shows: every public item by name, compared with a list, so that a change of it is seen in a review.

use std::collections::BTreeSet;
use std::path::Path;

use crate::tree::{files, read, root};

/// The list; `ELINVAR_REGENERATE_SURFACE=1 cargo test -p xtask surface` writes it anew.
const LIST: &str = "crates/elinvar/surface.txt";
const KINDS: &[&str] = &["fn", "struct", "enum", "trait", "const", "type", "mod", "static"];

/// The kind and the name of the item that a line declares as public.
fn item(line: &str) -> Option<(&str, &str)> {
    let declared = line.strip_prefix("pub ")?;
    let declared = if declared.starts_with("const fn ") { &declared["const ".len()..] } else { declared };
    let (kind, rest) = declared.split_once(' ')?;
    let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
    KINDS.contains(&kind).then(|| (kind, &rest[..end]))
}

/// What the sources of the library declare: items of files, and methods of their `impl` blocks.
fn declared(library: &Path) -> BTreeSet<String> {
    let mut found = Vec::new();
    files(library, &["rs"], &mut found);
    let mut items = BTreeSet::new();
    for path in found {
        let inside = path.strip_prefix(library).unwrap().with_extension("");
        let module = inside.display().to_string().replace('\\', "/");
        let (text, mut owner) = (read(&path), String::new());
        for line in text.lines().take_while(|line| !line.starts_with("#[cfg(test)]")) {
            if let Some(block) = line.strip_prefix("impl") {
                let of = block.rsplit(" for ").next().unwrap_or(block).trim_start_matches(|c| c != ' ').trim();
                owner = of.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            }
            let is_method = line.starts_with("    pub ");
            if let Some((kind, name)) = item(line.trim_start()) {
                let of = if is_method && !owner.is_empty() { format!("{owner}::") } else { String::new() };
                if is_method || line.starts_with("pub ") {
                    items.insert(format!("{module} {kind} {of}{name}"));
                }
            }
        }
    }
    items
}

#[test]
fn the_surface_is_the_one_that_was_agreed_on() {
    let items = declared(&root().join("crates/elinvar/src"));
    let path = root().join(LIST);
    if std::env::var_os("ELINVAR_REGENERATE_SURFACE").is_some() {
        let text: Vec<&str> = items.iter().map(String::as_str).collect();
        std::fs::write(&path, text.join("\n") + "\n").unwrap();
    }
    let listed: BTreeSet<String> = read(&path).lines().map(str::to_owned).collect();
    let news: Vec<&String> = items.difference(&listed).collect();
    let gone: Vec<&String> = listed.difference(&items).collect();
    assert!(news.is_empty() && gone.is_empty(), "not in {LIST}: {news:#?}\nin {LIST} only: {gone:#?}");
}

#[test]
fn items_are_recognised() {
    assert_eq!(item("pub fn at(&self) -> f64 {"), Some(("fn", "at")));
    assert_eq!(item("pub const fn half(x: u8) -> u8 {"), Some(("fn", "half")));
    assert_eq!(item("pub const NAMES: &[&str] = &[];"), Some(("const", "NAMES")));
    assert_eq!(item("pub struct Draws<'a> {"), Some(("struct", "Draws")));
    assert_eq!(item("pub(crate) fn hidden() {}"), None);
    assert_eq!(item("pub dim: usize,"), None);
}
