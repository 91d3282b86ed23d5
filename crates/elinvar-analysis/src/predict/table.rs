//! Predictions as a table.

use std::io::{self, BufWriter, Write};

use super::Predictions;
use crate::draws::csv_cell;

impl Predictions {
    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.values.len() / self.names.len()
    }

    /// Names of the columns.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Row `i`, counted from 0.
    pub fn row(&self, i: usize) -> &[f64] {
        &self.values[i * self.names.len()..(i + 1) * self.names.len()]
    }

    /// A header and one line for each row, every number with as many digits as bring it back.
    ///
    /// # Errors
    /// Those of writing.
    pub fn write_csv(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut out = BufWriter::new(out);
        let names: Vec<_> = self.names.iter().map(|name| csv_cell(name)).collect();
        writeln!(out, "{}", names.join(","))?;
        for row in self.values.chunks_exact(self.names.len()) {
            let cells: Vec<String> = row.iter().map(|value| format!("{value:?}")).collect();
            writeln!(out, "{}", cells.join(","))?;
        }
        out.flush()
    }
}
