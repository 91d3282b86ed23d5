//! Leave-one-out as a page, a JSON object and a table of rows.

use std::io::{self, BufWriter, Write};

use serde::Serialize;

use super::{LeftOut, Loo};
use crate::number::{fixed, grouped, with_error};
use crate::page::evidence::folded;
use crate::page::line;

/// So many rows are named, the worst first.
const NAMED: usize = 10;

#[derive(Serialize)]
struct Object<'a> {
    elpd_loo: f64,
    elpd_loo_se: f64,
    p_loo: f64,
    p_loo_se: f64,
    n_rows: usize,
    /// Rows that were left out, where these are not all.
    n_rows_chosen: usize,
    n_draws: usize,
    seed: u64,
    pareto_k_threshold: f64,
    /// Rows that are not to be relied on.
    unreliable: Vec<&'a LeftOut>,
    run_dir: String,
}

impl Loo {
    /// The page.
    pub fn page(&self) -> String {
        let (elpd, p_loo, threshold) = (self.elpd(), self.p_loo(), self.threshold());
        let mut page = format!("Leave-one-out: {}\n\n", self.title);
        let mut bad: Vec<&LeftOut> = self.unreliable().collect();
        bad.sort_by(|a, b| b.pareto_k.total_cmp(&a.pareto_k));
        page += &line(
            "elpd_loo",
            &format!("{} nats, of as many new rows; higher is better", with_error(elpd.value, elpd.se)),
        );
        page += &line("p_loo", &format!("{} parameters' worth of freedom", with_error(p_loo.value, p_loo.se)));
        let n = self.rows.len();
        let rows = format!("{} of {} rows below {threshold:.2}", grouped((n - bad.len()) as u64), grouped(n as u64));
        page += &line("Pareto k\u{302}", &(rows + if bad.is_empty() { ": all are reliable" } else { "" }));
        if n < self.n_rows {
            let chosen =
                format!("{} of {}, chosen at random; sums are of all", grouped(n as u64), grouped(self.n_rows as u64));
            page += &line("rows", &chosen);
        }
        page += &line("draws", &format!("{}, seed {}", grouped(self.n_draws as u64), self.seed));
        if !bad.is_empty() {
            page += "\n";
            page += &folded(&accusation(&bad, threshold));
        }
        page
    }

    /// One JSON object.
    pub fn json(&self) -> String {
        let (elpd, p_loo) = (self.elpd(), self.p_loo());
        let object = Object {
            elpd_loo: elpd.value,
            elpd_loo_se: elpd.se,
            p_loo: p_loo.value,
            p_loo_se: p_loo.se,
            n_rows: self.n_rows,
            n_rows_chosen: self.rows.len(),
            n_draws: self.n_draws,
            seed: self.seed,
            pareto_k_threshold: self.threshold(),
            unreliable: self.unreliable().collect(),
            run_dir: self.path.display().to_string(),
        };
        serde_json::to_string(&object).expect("numbers and strings are always JSON") + "\n"
    }

    /// A line for each row that was left out.
    ///
    /// # Errors
    /// Those of writing.
    pub fn write_csv(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut out = BufWriter::new(out);
        writeln!(out, "row,elpd,lpd,pareto_k")?;
        for LeftOut { row, elpd, lpd, pareto_k } in &self.rows {
            writeln!(out, "{row},{elpd:?},{lpd:?},{pareto_k:?}")?;
        }
        out.flush()
    }
}

/// Which rows are not to be relied on, and what that means.
fn accusation(bad: &[&LeftOut], threshold: f64) -> String {
    let k = |k: f64| if k.is_finite() { fixed(k, 2) } else { "endless".into() };
    let named: Vec<String> = bad.iter().take(NAMED).map(|row| format!("{} ({})", row.row, k(row.pareto_k))).collect();
    let more = bad.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(" and {} more", grouped(more as u64)) } else { String::new() };
    let (rows, are) = if bad.len() == 1 { ("Row", "has") } else { ("Rows", "have") };
    format!(
        "{rows} {}{more} {are} k\u{302} above {threshold:.2}: the posterior without such a row is far from that with it, and \
         its term, mostly too high, is not to be relied on. Look at these rows: they may be outliers, or the model too \
         flexible for them.",
        named.join(", ")
    )
}
