//! What a run of an experiment found.

use serde::Serialize;

/// The result of a run: figures, tables, numbers and a page.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    /// The figures.
    pub figures: Vec<Figure>,
    /// The tables behind them.
    pub tables: Vec<Table>,
    /// The numbers that expectations may name.
    pub quantities: Vec<Quantity>,
    /// The body of the page, in Markdown, without its heading and without the figures.
    pub page: String,
}

impl Findings {
    /// Adds a number.
    pub fn put(&mut self, name: impl Into<String>, value: f64) {
        self.quantities.push(Quantity { name: name.into(), value, spread: None });
    }

    /// Adds the mean of repetitions with their standard deviation.
    pub fn put_mean(&mut self, name: impl Into<String>, values: &[f64]) {
        let (mean, sd) = mean_and_sd(values);
        self.quantities.push(Quantity { name: name.into(), value: mean, spread: sd });
    }

    /// The number with this name.
    pub fn get(&self, name: &str) -> Option<f64> {
        self.quantities.iter().find(|quantity| quantity.name == name).map(|quantity| quantity.value)
    }
}

/// Mean and sample standard deviation; the latter of two values at least.
pub(crate) fn mean_and_sd(values: &[f64]) -> (f64, Option<f64>) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (mean, (values.len() > 1).then(|| variance.sqrt()))
}

/// Mean, smallest and largest value.
pub(crate) fn mean_and_range(values: &[f64]) -> (f64, f64, f64) {
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    (values.iter().sum::<f64>() / values.len() as f64, low, high)
}

/// A figure.
#[derive(Clone, Debug)]
pub struct Figure {
    /// File name without its ending.
    pub stem: String,
    /// One sentence that says what is seen.
    pub title: String,
    /// The drawing.
    pub svg: String,
}

/// A table.
#[derive(Clone, Debug)]
pub struct Table {
    /// File name without its ending.
    pub stem: String,
    /// Names of the columns.
    pub header: Vec<String>,
    /// The rows, as long as the header.
    pub rows: Vec<Vec<String>>,
}

impl Table {
    /// An empty table.
    pub fn new<const N: usize>(stem: &str, header: [&str; N]) -> Self {
        Self { stem: stem.into(), header: header.map(String::from).to_vec(), rows: Vec::new() }
    }

    /// Adds a row.
    pub fn push<const N: usize>(&mut self, row: [String; N]) {
        debug_assert_eq!(self.header.len(), N);
        self.rows.push(row.to_vec());
    }

    /// The table in Markdown.
    pub fn markdown(&self) -> String {
        let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
        let rule = format!("|{}\n", "---|".repeat(self.header.len()));
        let rows: String = self.rows.iter().map(|row| line(row)).collect();
        format!("{}{rule}{rows}", line(&self.header))
    }
}

/// A number that a run found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Quantity {
    /// Its name, unique within the experiment, in words of the field: `kl of mog K = 8`.
    pub name: String,
    /// Its value; a mean where there are repetitions.
    pub value: f64,
    /// Standard deviation over the repetitions.
    pub spread: Option<f64>,
}
