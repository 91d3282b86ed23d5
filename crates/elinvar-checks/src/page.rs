//! A page of docs/: text and tables in Markdown.

use std::path::Path;

/// A table with named columns.
pub(crate) struct Table {
    header: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn new<const N: usize>(header: [&str; N]) -> Self {
        Self { header: header.map(String::from).to_vec(), rows: Vec::new() }
    }

    pub(crate) fn push<const N: usize>(&mut self, row: [String; N]) {
        debug_assert_eq!(N, self.header.len());
        self.rows.push(row.to_vec());
    }

    /// The table in Markdown, columns aligned.
    pub(crate) fn markdown(&self) -> String {
        let width = |j: usize| {
            let cells = std::iter::once(&self.header).chain(&self.rows);
            cells.map(|row| row[j].chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.header.len()).map(width).collect();
        let line = |row: &[String]| {
            let cells = row.iter().zip(&widths).map(|(cell, width)| format!(" {cell:width$} |"));
            format!("|{}\n", cells.collect::<String>())
        };
        let rule: String = widths.iter().map(|width| format!("{}|", "-".repeat(width + 2))).collect();
        format!("{}|{rule}\n{}", line(&self.header), self.rows.iter().map(|row| line(row)).collect::<String>())
    }
}

/// Prints a page and, if a path is given, writes it there.
pub(crate) fn publish(page: &str, path: Option<&String>) -> Result<(), String> {
    print!("{page}");
    let Some(path) = path else { return Ok(()) };
    std::fs::write(Path::new(path), page).map_err(|e| format!("{path}: {e}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned() {
        let mut table = Table::new(["a", "k̂ of it"]);
        table.push(["longer".into(), "1".into()]);
        assert_eq!(table.markdown(), "| a      | k̂ of it |\n|--------|----------|\n| longer | 1        |\n");
    }
}
