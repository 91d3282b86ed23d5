//! What the library shows: every public item by name, compared with a list, so that a change of it is seen in a review.
//!
//! On the surface is what a public module declares or exports, and the methods of such types. What only `internals`
//! shows is not; neither is seen what a macro makes.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::tree::{code, files, read, root};

/// The list; `ELINVAR_REGENERATE_SURFACE=1 cargo test -p xtask surface` writes it anew.
const LIST: &str = "crates/elinvar/surface.txt";
const KINDS: &[&str] = &["fn", "struct", "enum", "trait", "const", "type", "mod", "static"];

/// The kind and the name of the item that a line declares as public.
fn item(line: &str) -> Option<(&str, &str)> {
    let declared = line.strip_prefix("pub ")?;
    let declared = if declared.starts_with("const fn ") { &declared["const ".len()..] } else { declared };
    let (kind, rest) = declared.split_once(' ')?;
    KINDS.contains(&kind).then(|| (kind, word(rest)))
}

fn word(text: &str) -> &str {
    &text[..text.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(text.len())]
}

/// What the public modules show: their own paths, and where each name comes from that they export.
#[derive(Default)]
struct Shown {
    /// `run/mod`, say.
    modules: BTreeSet<String>,
    /// (`run/checkpoint`, `Checkpoint`), say.
    exports: BTreeSet<(String, String)>,
}

impl Shown {
    /// Adds a module, given as `run/mod`, and the public modules in it.
    fn follow(&mut self, library: &Path, module: &str) {
        let text = read(&library.join(module).with_extension("rs"));
        let inside = module.strip_suffix("mod").unwrap_or(if module == "lib" { "" } else { module });
        self.modules.insert(module.to_owned());
        let mut before = "";
        for line in text.lines() {
            let name = line.strip_prefix("pub mod ").and_then(|rest| rest.strip_suffix(';'));
            if let Some(name) = name.filter(|_| before != "#[doc(hidden)]") {
                let folder = format!("{inside}{name}/mod");
                let is_folder = library.join(&folder).with_extension("rs").exists();
                self.follow(library, &if is_folder { folder } else { format!("{inside}{name}") });
            }
            before = line;
        }
        // Exports of the modules inside `research` are indented.
        let flat: String = text.lines().map(str::trim_start).collect::<Vec<&str>>().join("\n");
        for export in flat.split("\npub use ").skip(1) {
            let path: String = export[..export.find(';').unwrap()].split_whitespace().collect();
            let (from, names) = path.rsplit_once("::").map_or(("", path.as_str()), |(from, names)| (from, names));
            let (from, names) = path.split_once("::{").unwrap_or((from, names));
            // `theory` shows parts of other modules; that is all it adds to them.
            if from.starts_with("crate::") && module.starts_with("theory") {
                continue;
            }
            let file = match from.strip_prefix("crate::") {
                Some(whole) => whole.replace("::", "/"),
                None => format!("{inside}{}", from.replace("::", "/")),
            };
            let names = names.trim_end_matches('}').split(',').filter(|name| !name.is_empty());
            self.exports.extend(names.map(|name| (file.clone(), name.to_owned())));
        }
    }

    /// Whether an item of this name in this file is seen.
    fn has(&self, file: &str, name: &str) -> bool {
        let is_in =
            |from: &String| file == from || file.strip_prefix(from.as_str()).is_some_and(|f| f.starts_with('/'));
        self.modules.contains(file) || self.exports.iter().any(|(from, export)| export == name && is_in(from))
    }

    /// Whether this type, whose methods are in this file, is seen.
    fn has_type(&self, file: &str, name: &str) -> bool {
        let top = |path: &str| path.split('/').next().unwrap_or_default().to_owned();
        self.exports.iter().any(|(from, export)| export == name && top(from) == top(file)) || self.has(file, name)
    }
}

/// What the sources of the library show: items of files, and methods of their `impl` blocks.
fn declared(library: &Path) -> BTreeSet<String> {
    let (mut found, mut shown) = (Vec::<PathBuf>::new(), Shown::default());
    files(library, &["rs"], &mut found);
    shown.follow(library, "lib");
    let mut items = BTreeSet::new();
    for path in found {
        let inside = path.strip_prefix(library).unwrap().with_extension("");
        let module = inside.display().to_string().replace('\\', "/");
        let (text, mut owner, mut before) = (read(&path), String::new(), "");
        for (_, line) in code(&text) {
            if let Some(block) = line.strip_prefix("impl") {
                let of = block.rsplit(" for ").next().unwrap_or(block).trim_start_matches(|c| c != ' ').trim();
                owner = word(of).to_owned();
            }
            if let Some(name) = line.strip_prefix("pub mod ").and_then(|rest| rest.strip_suffix(" {")) {
                owner = name.to_owned();
            } else if line.starts_with("mod ") {
                owner.clear();
            }
            if let Some((kind, name)) = item(line).filter(|(_, name)| shown.has(&module, name)) {
                items.insert(format!("{module} {kind} {name}"));
            }
            let method = line.strip_prefix("    ").and_then(item).filter(|_| before.trim() != "#[doc(hidden)]");
            before = line;
            if let Some((kind, name)) = method.filter(|_| !owner.is_empty() && shown.has_type(&module, &owner)) {
                items.insert(format!("{module} {kind} {owner}::{name}"));
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

/// The comment above the item of this name in one of these files, if it is declared there.
fn comment<'t>(texts: &'t [String], name: &str) -> Option<Vec<&'t str>> {
    let declares = |line: &&str| item(line).is_some_and(|(kind, found)| found == name && kind != "mod");
    texts.iter().find_map(|text| {
        let lines: Vec<&str> = text.lines().collect();
        let at = lines.iter().position(declares)?;
        let above = lines[..at].iter().rev().take_while(|line| !line.is_empty() && *line != &"}");
        Some(above.copied().collect())
    })
}

/// What most people see first: each item at the root shows how it is used, or links to what does.
#[test]
fn every_item_at_the_root_has_an_example_or_a_link_to_one() {
    let library = root().join("crates/elinvar/src");
    let mut found = Vec::new();
    files(&library, &["rs"], &mut found);
    let (mut shown, mut bare) = (Shown::default(), Vec::new());
    let text = read(&library.join("lib.rs"));
    for export in text.split("\npub use ").skip(1) {
        let path: String = export[..export.find(';').unwrap()].split_whitespace().collect();
        let (from, names) = path.split_once("::{").or(path.rsplit_once("::")).unwrap();
        let top = from.split("::").next().unwrap();
        let is_there = |path: &&PathBuf| path.strip_prefix(&library).unwrap().with_extension("").starts_with(top);
        let texts: Vec<String> = found.iter().filter(is_there).map(|path| read(path)).collect();
        for name in names.trim_end_matches('}').split(',').filter(|name| !name.is_empty()) {
            shown.exports.insert((String::new(), name.to_owned()));
            let above = comment(&texts, name).unwrap_or_default();
            if !above.iter().any(|line| line.contains("```") || line.contains("[`")) {
                bare.push(name.to_owned());
            }
        }
    }
    assert!(bare.is_empty(), "without an example or a link: {bare:?}");
    let most = 40;
    assert!((20..=most).contains(&shown.exports.len()), "{} items at the root, at most {most}", shown.exports.len());
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

#[test]
fn exported_is_what_a_public_module_names() {
    let mut shown = Shown::default();
    shown.follow(&root().join("crates/elinvar/src"), "lib");
    assert!(shown.has("target/draws", "Draws") && shown.has("record", "Step") && shown.has("error", "Error"));
    assert!(shown.has_type("posterior/diagnose", "Posterior") && shown.has_type("run/checkpoint", "Run"));
    assert!(!shown.has("special/gamma", "ln_gamma") && !shown.has("family/step", "Scratch"));
    assert!(!shown.modules.contains("internals") && !shown.has_type("family/step", "Scratch"));
    // Hidden modules show nothing but what `research` or the root name.
    assert!(shown.has("run/checkpoint", "Checkpoint") && !shown.has("run/fit", "fit_journaled"));
}
