//! docs/printed.md: every row names a test that exists here, a Rust line that the page compiles, and a command.

use std::path::Path;

fn page() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/printed.md");
    std::fs::read_to_string(path).unwrap()
}

/// The cells of the table of boxes: box, family, command, Rust, test, corrections.
fn rows(page: &str) -> Vec<Vec<String>> {
    let cells = |line: &str| line.trim_matches('|').split('|').map(|cell| cell.trim().to_string()).collect::<Vec<_>>();
    page.lines().map(cells).filter(|cells| cells.len() == 6 && cells[3].starts_with('`')).collect()
}

#[test]
fn every_row_of_the_page_has_a_test_a_command_and_a_line_that_compiles() {
    let page = page();
    let rows = rows(&page);
    assert!(rows.len() >= 34, "{} rows", rows.len());
    let code: String = page.split("```rust").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/theory/printed");
    let sources: String = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| std::fs::read_to_string(entry.unwrap().path()).unwrap())
        .collect();
    for row in rows {
        let [printed, _, command, line, test, _] = &row[..] else { unreachable!("six cells") };
        assert!(code.contains(line.trim_matches('`')), "{printed}: {line} is not in the code of the page");
        assert!(sources.contains(&format!("fn {}()", test.trim_matches('`'))), "{printed}: no test {test}");
        assert!(command.starts_with("`elinvar fit "), "{printed}: {command}");
    }
}
