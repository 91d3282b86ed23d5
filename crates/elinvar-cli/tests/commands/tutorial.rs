//! The tutorial, run: every command of docs/tutorial.md in one folder, and its output line by line.
//!
//! `…` stands for what differs from machine to machine: inside a line for any text, alone in a line for any lines.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

struct Example {
    /// The line of the page, counted from 1.
    line: usize,
    command: String,
    output: Vec<String>,
}

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

/// The commands of all `console` blocks with what they print.
fn examples(page: &str) -> Vec<Example> {
    let mut found: Vec<Example> = Vec::new();
    let mut is_inside = false;
    for (i, line) in page.lines().enumerate() {
        if line.starts_with("```") {
            is_inside = line == "```console";
        } else if let Some(command) = line.strip_prefix("$ ").filter(|_| is_inside) {
            found.push(Example { line: i + 1, command: command.into(), output: Vec::new() });
        } else if is_inside {
            found.last_mut().expect("a block begins with a command").output.push(line.trim_end().into());
        }
    }
    found
}

/// Whether `line` is what the page says.
fn matches(pattern: &str, line: &str) -> bool {
    let mut parts = pattern.split('…');
    let mut rest = match parts.next().and_then(|first| line.strip_prefix(first)) {
        Some(rest) => rest,
        None => return false,
    };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    true
}

/// The first line of the page that the output does not have, if there is one.
fn difference(expected: &[String], found: &[&str]) -> Option<String> {
    let (mut at, mut may_skip) = (0, false);
    for pattern in expected {
        if pattern == "…" {
            may_skip = true;
            continue;
        }
        let next = if may_skip {
            found[at..].iter().position(|line| matches(pattern, line)).map(|skipped| at + skipped)
        } else {
            found.get(at).filter(|line| matches(pattern, line)).map(|_| at)
        };
        match next {
            Some(next) => (at, may_skip) = (next + 1, false),
            None => return Some(pattern.clone()),
        }
    }
    (at < found.len() && !may_skip).then(|| format!("(nothing more after line {at})"))
}

#[test]
fn every_command_prints_what_the_tutorial_says() {
    let folder = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(docs().join("tutorial")).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, folder.path().join(path.file_name().unwrap())).unwrap();
    }
    let page = fs::read_to_string(docs().join("tutorial.md")).unwrap();
    let program = Path::new(env!("CARGO_BIN_EXE_elinvar")).parent().unwrap().to_path_buf();
    let path = std::env::join_paths(
        std::iter::once(program).chain(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())),
    );
    let examples = examples(&page);
    assert!(examples.len() > 10, "{}", examples.len());
    for Example { line, command, output } in examples {
        // How the program is built and where it is, the test knows by itself.
        if ["cargo ", "cd ", "export "].iter().any(|word| command.starts_with(word)) {
            continue;
        }
        let ended = Command::new("sh")
            .args(["-c", &format!("{command} 2>&1")])
            .current_dir(folder.path())
            .env("PATH", path.as_ref().unwrap())
            .output()
            .unwrap();
        let text = String::from_utf8(ended.stdout).unwrap();
        let found: Vec<&str> = text.lines().map(str::trim_end).collect();
        if let Some(missing) = difference(&output, &found) {
            panic!("docs/tutorial.md, line {line}: {command}\nexpected: {missing}\nfound:\n{text}");
        }
    }
}

#[test]
fn lines_are_compared_strictly() {
    let lines = |text: &str| text.lines().map(String::from).collect::<Vec<_>>();
    assert!(matches("time   …", "time   3 s") && matches("a … b … c", "a 1 b 2 c") && !matches("a … b", "a 1 c"));
    assert!(!matches("abc", "abcd") && matches("abc", "abc"));
    assert_eq!(difference(&lines("a\n…\nd"), &["a", "b", "c", "d"]), None);
    assert_eq!(difference(&lines("a\nc"), &["a", "b", "c"]), Some("c".into()));
    assert_eq!(difference(&lines("a"), &["a", "b"]), Some("(nothing more after line 1)".into()));
    assert_eq!(difference(&lines("a\nb"), &["a"]), Some("b".into()));
}
