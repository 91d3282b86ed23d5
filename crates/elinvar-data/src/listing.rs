//! A description of a file as plain text with aligned columns.

use std::fmt;

use crate::describe::{ColumnDescription, Description};
use crate::sentence::{rows, shortened};

/// Levels that are shown by name.
const LEVELS_SHOWN: usize = 4;

/// Four significant digits.
pub(crate) fn four_digits(value: f64) -> String {
    if value == 0.0 {
        return "0".into();
    }
    let exponent = value.abs().log10().floor();
    if !(-4.0..6.0).contains(&exponent) {
        let rounded: f64 = format!("{value:.3e}").parse().unwrap_or(value);
        return format!("{rounded:e}");
    }
    let decimals = (3.0 - exponent).clamp(0.0, 8.0) as usize;
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_string() } else { text }
}

fn levels(column: &ColumnDescription) -> String {
    let shown: Vec<String> =
        column.levels.iter().take(LEVELS_SHOWN).map(|l| format!("{} ({})", shortened(&l.level), l.n_rows)).collect();
    let more = column.n_levels.saturating_sub(LEVELS_SHOWN);
    let and_more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{and_more}", shown.join(", "))
}

fn cells(column: &ColumnDescription) -> [String; 8] {
    let range = column.range.map(|range| [range.min, range.mean, range.sd, range.max].map(four_digits));
    let [min, mean, sd, max] = range.unwrap_or_default();
    let (name, kind) = (shortened(&column.name), column.kind.name().to_string());
    [name, kind, column.n_missing.to_string(), min, mean, sd, max, levels(column)]
}

impl fmt::Display for Description {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let n_columns = self.columns.len();
        let columns = if n_columns == 1 { "1 column".into() } else { format!("{n_columns} columns") };
        writeln!(f, "{}: {}; {}, {columns}", self.file.display(), self.format, rows(self.n_rows))?;
        let mut table = vec![["column", "type", "missing", "min", "mean", "sd", "max", "levels"].map(String::from)];
        table.extend(self.columns.iter().map(cells));
        if self.columns.iter().all(|column| column.n_levels == 0) {
            table[0][7].clear();
        }
        let width = |k: usize| table.iter().map(|row| row[k].chars().count()).max().unwrap_or(0);
        let widths: [usize; 8] = std::array::from_fn(width);
        writeln!(f)?;
        for row in &table {
            let mut line = String::new();
            for (k, (cell, width)) in row.iter().zip(widths).enumerate() {
                let gap = " ".repeat(width - cell.chars().count());
                let is_text = k < 2 || k == 7;
                line += &if is_text { format!("{cell}{gap}") } else { format!("{gap}{cell}") };
                line += "  ";
            }
            writeln!(f, "{}", line.trim_end())?;
        }
        if self.n_rows_missing > 0 {
            writeln!(f, "\n{} of {} have a missing cell.", self.n_rows_missing, rows(self.n_rows))?;
        }
        if self.problems.is_empty() {
            return writeln!(f, "\nNo problems found.");
        }
        writeln!(f, "\nProblems:")?;
        for problem in &self.problems {
            let column = problem.column.as_deref().map(|name| format!("{}: ", shortened(name))).unwrap_or_default();
            writeln!(f, "  {column}{}; {}", problem.found, problem.remedy)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_four_digits() {
        let shown = [0.0, 1.0, -0.5, 1234.567, 99999.9, 123456.0, 1.5e9, -2.34567e-7, 0.012345, 1e300].map(four_digits);
        assert_eq!(shown, ["0", "1", "-0.5", "1235", "100000", "123456", "1.5e9", "-2.346e-7", "0.01235", "1e300"]);
    }
}
