//! Every citation of docs/mathematics and every link between documents leads somewhere.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::tree::{files, read, root, shown};

/// What introduces a citation in sources, documents and settings.
const CITED_AS: &str = "mathematics §";
/// Kinds of files that cite.
const CITING: &[&str] = &["rs", "md", "toml", "json"];

/// The numbers that can be cited.
#[derive(Default)]
struct Book {
    /// "3" and "3.4".
    sections: BTreeSet<String>,
    /// "0.1".
    equations: BTreeSet<String>,
}

impl Book {
    fn open() -> Self {
        let mut chapters = Vec::new();
        files(&root().join("docs/mathematics"), &["md"], &mut chapters);
        let mut book = Self::default();
        chapters.iter().for_each(|path| book.add(&read(path)));
        book
    }

    /// Headings "# 3. Title" and "## 3.4 Title", equations "\tag{0.1}".
    fn add(&mut self, text: &str) {
        for line in text.lines() {
            let heading = line.strip_prefix("# ").or_else(|| line.strip_prefix("## "));
            if let Some(number) = heading.and_then(number_at) {
                assert!(self.sections.insert(number.to_string()), "section {number} is there twice");
            }
        }
        for rest in text.split("\\tag{").skip(1) {
            self.equations.extend(number_at(rest).map(str::to_string));
        }
    }

    /// What is wrong with the citations in a text whose lines have been joined; counts those that are right.
    fn problems(&self, text: &str, introduced_by: &str, count: &mut usize) -> Vec<String> {
        let mut problems = Vec::new();
        for (at, _) in text.match_indices(introduced_by) {
            let mut rest = &text[at + introduced_by.len()..];
            loop {
                let Some(number) = number_at(rest) else {
                    problems.push(format!("no number after \"{introduced_by}\""));
                    break;
                };
                *count += 1;
                if !self.sections.contains(number) {
                    problems.push(format!("there is no §{number}"));
                }
                rest = &rest[number.len()..];
                let after = rest.strip_prefix(',').unwrap_or(rest);
                if let Some(equation) = after.strip_prefix(" (").and_then(number_at)
                    && equation.contains('.')
                    && !self.equations.contains(equation)
                {
                    problems.push(format!("there is no equation ({equation})"));
                }
                let Some(next) = [", §", " and §", "–§"].iter().find_map(|joint| rest.strip_prefix(joint)) else {
                    break;
                };
                rest = next;
            }
        }
        problems
    }

    /// Numbers such as (0.1) that no equation has.
    fn unknown_equations(&self, text: &str) -> Vec<String> {
        let enclosed = |rest: &str, number: &str| number.contains('.') && rest[number.len()..].starts_with(')');
        let numbers = text.split('(').filter_map(|rest| number_at(rest).filter(|number| enclosed(rest, number)));
        let unknown = numbers.filter(|number| !self.equations.contains(*number));
        unknown.map(|number| format!("there is no equation ({number})")).collect()
    }
}

/// "3.4" of "3.4, and", "3" of "3. Title" and of "3.".
fn number_at(text: &str) -> Option<&str> {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let chapter = digits(text);
    if chapter == 0 {
        return None;
    }
    let section = text[chapter..].strip_prefix('.').map_or(0, digits);
    Some(&text[..if section > 0 { chapter + 1 + section } else { chapter }])
}

/// The text with its lines, freed of comment marks, joined by blanks: a citation may begin on one line and end on the next.
fn joined(text: &str) -> String {
    let line = |line: &str| line.trim().trim_start_matches('/').trim_start_matches('!').trim().to_string();
    text.lines().map(line).collect::<Vec<_>>().join(" ")
}

/// The text without fenced code and without code between single backquotes.
fn without_code(text: &str) -> String {
    let mut fenced = false;
    let mut prose = String::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced {
            line.split('`').step_by(2).for_each(|part| prose.push_str(part));
        }
        prose.push('\n');
    }
    prose
}

/// Destinations of links and pictures, without those that lead out of the repository.
fn links(text: &str) -> Vec<String> {
    let prose = without_code(text);
    let destinations = prose.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let local = destinations.filter(|to| !to.contains("://") && !to.starts_with("mailto:") && !to.contains(' '));
    local.map(str::to_string).collect()
}

/// The anchors that a page of this text has: its headings in small letters, with hyphens for blanks and without other signs.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut fenced = false;
    let mut found = BTreeSet::new();
    for line in text.lines() {
        fenced ^= line.trim_start().starts_with("```");
        let title = line.trim_start_matches('#');
        if fenced || title.len() == line.len() || !title.starts_with(' ') {
            continue;
        }
        let kept = title.trim().chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
        let slug: String = kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect();
        let copies = (1..).map(|n| format!("{slug}-{n}"));
        let free = std::iter::once(slug.clone()).chain(copies).find(|name| !found.contains(name));
        found.extend(free);
    }
    found
}

/// What is wrong with the links of one document.
fn broken(path: &Path, text: &str) -> Vec<String> {
    let mut problems = Vec::new();
    for link in links(text) {
        let (file, anchor) = link.split_once('#').map_or((link.as_str(), None), |(file, anchor)| (file, Some(anchor)));
        let target = if file.is_empty() { path.to_path_buf() } else { path.parent().unwrap().join(file) };
        if !target.exists() {
            problems.push(format!("{}: the link ({link}) leads to no file", shown(path)));
        } else if let Some(anchor) = anchor
            && !anchors(&read(&target)).contains(anchor)
        {
            problems.push(format!("{}: the link ({link}) leads to no heading", shown(path)));
        }
    }
    problems
}

/// README.md, CONTRIBUTING.md, CHANGELOG.md and all of docs.
fn documents() -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> =
        ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"].iter().map(|name| root().join(name)).collect();
    files(&root().join("docs"), &["md"], &mut found);
    found
}

#[test]
fn every_citation_of_the_mathematics_leads_to_a_section() {
    let book = Book::open();
    let mut citing: Vec<PathBuf> = Vec::new();
    files(&root(), CITING, &mut citing);
    let mut count = 0;
    let mut problems = Vec::new();
    // The wrong citations in this file are meant to be wrong.
    for path in citing.iter().filter(|path| !path.ends_with(file!())) {
        let text = joined(&read(path));
        let own = shown(path).starts_with("docs/mathematics/");
        // Inside the book a bare § and a bare (0.1) are its own.
        let mut found = book.problems(&text, if own { "§" } else { CITED_AS }, &mut count);
        if own {
            found.extend(book.unknown_equations(&text));
        }
        problems.extend(found.into_iter().map(|problem| format!("{}: {problem}", shown(path))));
    }
    assert!(problems.is_empty(), "{problems:#?}");
    assert!(count > 150, "only {count} citations were found");
    assert!(book.sections.len() > 60 && book.equations.len() == 4, "the book was not read as it should be");
}

#[test]
fn every_link_between_documents_leads_to_a_file_and_a_heading() {
    let documents = documents();
    let count: usize = documents.iter().map(|path| links(&read(path)).len()).sum();
    let problems: Vec<String> = documents.iter().flat_map(|path| broken(path, &read(path))).collect();
    assert!(problems.is_empty(), "{problems:#?}");
    assert!(count > 100, "only {count} links were found");
}

#[test]
fn the_list_of_documents_leads_to_every_one() {
    let folder = root().join("docs");
    let mut listed = BTreeSet::new();
    for link in links(&read(&folder.join("README.md"))) {
        // The README of a folder lists what is in it.
        listed.insert(folder.join(link.strip_suffix("/README.md").unwrap_or(&link)));
    }
    let is_listed = |path: &Path| path.ancestors().any(|part| listed.contains(part));
    let mut all = Vec::new();
    files(&folder, &["md"], &mut all);
    all.retain(|path| *path != folder.join("README.md") && !is_listed(path));
    assert!(
        all.is_empty(),
        "docs/README.md does not lead to {:#?}",
        all.iter().map(|path| shown(path)).collect::<Vec<_>>()
    );
}

#[test]
fn wrong_citations_are_seen() {
    let mut book = Book::default();
    book.add("# 3. Title\n\n## 3.4 Other\n\nx\\tag{3.1}\n");
    let problems = |text: &str| book.problems(&joined(text), CITED_AS, &mut 0);
    for right in
        ["mathematics §3.", "/// (mathematics\n    /// §3.4 (3.1))", "mathematics §3, (3.1)", "mathematics §3.4 (9)"]
    {
        assert!(problems(right).is_empty(), "{right}: {:?}", problems(right));
    }
    assert_eq!(book.unknown_equations("(3.1), (3.2) and (4)").len(), 1);
    for wrong in
        ["mathematics §3.5", "mathematics §4", "mathematics §3.4, §3.5", "mathematics §3 (3.2)", "mathematics §x"]
    {
        assert_eq!(problems(wrong).len(), 1, "{wrong}");
    }
}

#[test]
fn wrong_links_are_seen() {
    let page = root().join("docs/page.md");
    let text = "# A page: its *title*\n\n`[x](not-a-link)`\n\n```\n# no heading\n```\n\n# A page: its title\n";
    let problems = |link: &str| broken(&page, &format!("{text}[a]({link})\n"));
    for right in ["cli.md", "../README.md", "families", "https://example.org/nothing", "families/skew.md#density"] {
        assert!(problems(right).is_empty(), "{right}: {:?}", problems(right));
    }
    for wrong in ["nowhere.md", "../docs/families/none.md", "families/skew.md#nothing"] {
        assert_eq!(problems(wrong).len(), 1, "{wrong}");
    }
    assert_eq!(anchors(text).into_iter().collect::<Vec<_>>(), ["a-page-its-title", "a-page-its-title-1"]);
}
