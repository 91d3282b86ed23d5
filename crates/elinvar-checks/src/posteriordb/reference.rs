//! The files of one posterior: data, summaries of the reference draws, and some of the draws.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// What is known about one posterior.
pub(crate) struct Reference {
    data: Value,
    folder: PathBuf,
    /// Names of the parameters.
    pub(crate) names: Vec<String>,
    /// Mean of each.
    pub(crate) mean: Vec<f64>,
    /// Standard deviation of each.
    pub(crate) sd: Vec<f64>,
    draws: Vec<Vec<f64>>,
}

impl Reference {
    /// Reads the folder `name` of the collection.
    pub(crate) fn read(collection: &Path, name: &str) -> Result<Self, String> {
        let folder = collection.join(name);
        let data = serde_json::from_str(&text(&folder.join("data.json"))?).map_err(|e| at(&folder, &e.to_string()))?;
        let (header, summary) = table(&folder.join("summary.csv"))?;
        if header.get(..3) != Some(&["parameter", "mean", "sd"].map(str::to_owned)) {
            return Err(at(&folder, "summary.csv does not begin with parameter, mean and sd"));
        }
        let names: Vec<String> = summary.iter().map(|row| row[0].clone()).collect();
        let column = |i: usize| summary.iter().map(|row| number(&row[i], &folder)).collect::<Result<Vec<f64>, _>>();
        let (mean, sd) = (column(1)?, column(2)?);
        let (columns, rows) = table(&folder.join("draws.csv"))?;
        if columns != names {
            return Err(at(&folder, "draws.csv and summary.csv have other parameters"));
        }
        let draws = rows.iter().map(|row| row.iter().map(|cell| number(cell, &folder)).collect());
        let draws = draws.collect::<Result<Vec<Vec<f64>>, String>>()?;
        Ok(Self { data, folder, names, mean, sd, draws })
    }

    /// A row of the reference draws.
    pub(crate) fn draw(&self, row: usize) -> Result<&[f64], String> {
        self.draws.get(row).map(Vec::as_slice).ok_or_else(|| at(&self.folder, &format!("there is no draw {row}")))
    }

    /// A number of the data.
    pub(crate) fn scalar(&self, field: &str) -> Result<f64, String> {
        self.data[field].as_f64().ok_or_else(|| at(&self.folder, &format!("data.json has no number `{field}`")))
    }

    /// A list of the data.
    pub(crate) fn list(&self, field: &str) -> Result<Vec<f64>, String> {
        numbers(&self.data[field]).ok_or_else(|| at(&self.folder, &format!("data.json has no list `{field}`")))
    }

    /// A list of lists of the data, one after the other.
    pub(crate) fn rows(&self, field: &str) -> Result<Vec<f64>, String> {
        let rows = self.data[field].as_array().and_then(|rows| rows.iter().map(numbers).collect::<Option<Vec<_>>>());
        rows.map(|rows| rows.concat()).ok_or_else(|| at(&self.folder, &format!("data.json has no rows `{field}`")))
    }
}

fn numbers(value: &Value) -> Option<Vec<f64>> {
    value.as_array()?.iter().map(Value::as_f64).collect()
}

fn at(place: &Path, problem: &str) -> String {
    format!("{}: {problem}", place.display())
}

fn text(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|e| at(path, &e.to_string()))
}

fn number(cell: &str, place: &Path) -> Result<f64, String> {
    cell.parse().map_err(|_| at(place, &format!("\"{cell}\" is not a number")))
}

/// The header and the rows of a table without quotes.
fn table(path: &Path) -> Result<(Vec<String>, Vec<Vec<String>>), String> {
    let text = text(path)?;
    let mut rows = text.lines().filter(|l| !l.is_empty()).map(|l| l.split(',').map(|c| c.trim().to_owned()).collect());
    let header: Vec<String> = rows.next().ok_or_else(|| at(path, "it is empty"))?;
    let rows: Vec<Vec<String>> = rows.collect();
    match rows.iter().position(|row| row.len() != header.len()) {
        Some(i) => Err(at(path, &format!("row {} has {} cells instead of {}", i + 2, rows[i].len(), header.len()))),
        None => Ok((header, rows)),
    }
}
