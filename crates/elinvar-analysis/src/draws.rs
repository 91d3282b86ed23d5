//! Draws as a table: the columns that Stan puts first, then the parameters on the constrained scale.

use std::borrow::Cow;
use std::io::{self, BufWriter, Write};
use std::ops::Range;

use elinvar::Posterior;
use elinvar::target::{DrawBuffer, Draws};

/// The columns before the parameters.
const FIRST: [&str; 3] = ["lp__", "log_p__", "log_g__"];

/// Draws with their log densities.
pub struct DrawTable<'a> {
    /// The fit.
    pub posterior: &'a Posterior,
    /// The draws, of unconstrained coordinates.
    pub draws: DrawBuffer,
    /// log p at each draw; `None` where the model is not at hand.
    pub log_p: Option<Vec<f64>>,
    /// log q at each draw.
    pub log_q: Vec<f64>,
}

impl DrawTable<'_> {
    /// Names of the columns.
    fn names(&self) -> impl Iterator<Item = &str> {
        FIRST.into_iter().chain(self.posterior.names().iter().map(String::as_str))
    }

    /// Appends these rows to `out`.
    fn rows(&self, rows: Range<usize>, out: &mut Vec<f64>) {
        let d = self.posterior.dim();
        let points = Draws::new(d, &self.draws.view().as_slice()[rows.start * d..rows.end * d]);
        for (s, natural) in rows.zip(&self.posterior.on_natural_scale(points)) {
            out.extend([0.0, self.log_p.as_ref().map_or(f64::NAN, |log_p| log_p[s]), self.log_q[s]]);
            out.extend_from_slice(natural);
        }
    }

    /// A header and one line for each draw, every number with as many digits as bring it back.
    ///
    /// # Errors
    /// Those of writing.
    pub fn write_csv(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut out = BufWriter::new(out);
        let names: Vec<Cow<'_, str>> = self.names().map(csv_cell).collect();
        writeln!(out, "{}", names.join(","))?;
        let mut row = Vec::new();
        for s in 0..self.draws.len() {
            row.clear();
            self.rows(s..s + 1, &mut row);
            // As Stan writes it.
            write!(out, "0")?;
            for value in &row[1..] {
                if value.is_nan() { write!(out, ",nan")? } else { write!(out, ",{value:?}")? }
            }
            writeln!(out)?;
        }
        out.flush()
    }

    /// The same table as parquet.
    ///
    /// # Errors
    /// Those of writing.
    #[cfg(feature = "parquet")]
    pub fn write_parquet(&self, out: &mut dyn Write) -> io::Result<()> {
        let names: Vec<&str> = self.names().collect();
        let made_by = ("elinvar.family", self.posterior.family().name());
        let bytes =
            elinvar_data::parquet_bytes(&names, self.draws.len(), &[made_by], |rows, out| self.rows(rows, out))?;
        out.write_all(&bytes)
    }
}

pub(crate) fn csv_cell(text: &str) -> Cow<'_, str> {
    if text.contains([',', '"', '\n', '\r']) {
        Cow::Owned(format!("\"{}\"", text.replace('"', "\"\"")))
    } else {
        Cow::Borrowed(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_quoted_where_they_must_be() {
        assert_eq!(csv_cell("age"), "age");
        assert_eq!(csv_cell("age, \"years\""), "\"age, \"\"years\"\"\"");
    }
}
