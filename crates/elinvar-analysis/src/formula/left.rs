//! The left side of a formula as numbers.

use std::path::Path;

use elinvar_data::{Outcome, Table};

use super::arithmetic::{Arithmetic, index};
use super::mistake::{Mistake, Problem};
use super::recipe::{Category, Recipe};
use crate::error::Error;

/// How many classes there are, where they are more than two.
const LEVELS: std::ops::RangeInclusive<usize> = 3..=32;

/// What a row has to explain; lists that a formula does not have are empty.
#[derive(Clone, Debug, PartialEq)]
pub struct Left {
    /// The response: −1 and 1 for two classes, positions for levels.
    pub y: Vec<f64>,
    /// Trials of which it counts the events.
    pub trials: Vec<f64>,
    /// What log densities are multiplied by.
    pub weights: Vec<f64>,
}

impl Recipe {
    /// The response of a table, which holds what `outcome` asks for, with trials and weights.
    ///
    /// # Errors
    /// A value that is not what it should be, with its line.
    pub fn left(&self, table: &Table, outcome: Outcome) -> Result<Left, Error> {
        let response = &self.response;
        let values = |of: &Option<Arithmetic>| of.as_ref().map_or(Ok(Vec::new()), |of| of.values(table));
        let (trials, weights) = (self.trials(table)?, values(&response.weights)?);
        if let Some(i) = weights.iter().position(|w| *w < 0.0) {
            return Err(not_among(table, response.weights.as_ref(), i, weights[i], "a weight; weights are 0 or more"));
        }
        let y = match &response.of {
            Arithmetic::Column(name) if !response.levels.is_empty() => self.classes(table, name, outcome)?,
            Arithmetic::Column(name) => table.outcome(index(table, name)?, outcome)?,
            of => {
                let values = of.values(table)?;
                if outcome != Outcome::Real {
                    let (column, needed) = (of.to_string(), "counts or classes as they are in the table");
                    return Err(Mistake::from(Problem::NeedsColumn { column, needed }).into());
                }
                values
            }
        };
        if let Some(i) = trials.iter().zip(&y).position(|(n, y)| y > n) {
            return Err(not_among(table, Some(&response.of), i, y[i], "a number of events: it exceeds the trials"));
        }
        Ok(Left { y, trials, weights })
    }

    /// The trials of each row; none where the formula has none.
    ///
    /// # Errors
    /// A value that is no number of trials, with its line.
    pub(crate) fn trials(&self, table: &Table) -> Result<Vec<f64>, Error> {
        let Some(of) = &self.response.trials else { return Ok(Vec::new()) };
        let trials = of.values(table)?;
        let is_count = |n: &f64| n.fract() == 0.0 && *n >= 0.0;
        match trials.iter().position(|n| !is_count(n)) {
            Some(i) => Err(not_among(table, Some(of), i, trials[i], "a number of trials")),
            None => Ok(trials),
        }
    }

    /// Classes by the levels that the rows of the fit had.
    fn classes(&self, table: &Table, column: &str, outcome: Outcome) -> Result<Vec<f64>, Error> {
        let levels = self.response.levels.clone();
        let file = || table.file().into();
        if matches!(outcome, Outcome::Levels | Outcome::Classes) {
            check_number(table.file(), column, &levels)?;
            let codes = Category { column: column.into(), levels, reference: 0 }.codes(table)?;
            return Ok(codes.into_iter().map(|code| code as f64).collect());
        }
        if outcome != Outcome::Binary {
            let needed = if outcome == Outcome::Count { "counts" } else { "numbers" };
            return Err(
                Mistake::from(Problem::TextResponse { file: file(), column: column.into(), levels, needed }).into()
            );
        }
        if levels.len() != 2 {
            return Err(Mistake::from(Problem::NotTwoClasses { file: file(), column: column.into(), levels }).into());
        }
        let codes = Category { column: column.into(), levels, reference: 0 }.codes(table)?;
        Ok(codes.into_iter().map(|code| 2.0 * code as f64 - 1.0).collect())
    }
}

/// Refuses a target of so few classes that another model is for them, or of so many that they are hardly classes.
pub(crate) fn check_number(file: &Path, column: &str, levels: &[String]) -> Result<(), Error> {
    if LEVELS.contains(&levels.len()) {
        return Ok(());
    }
    let (file, column, levels) = (file.into(), column.into(), levels.to_vec());
    Err(Mistake::from(Problem::NumberOfClasses { file, column, levels }).into())
}

fn not_among(table: &Table, of: Option<&Arithmetic>, row: usize, value: f64, what: &'static str) -> Error {
    let mut names = Vec::new();
    of.iter().for_each(|of| of.add_columns(&mut names));
    let column = names.first().and_then(|name| index(table, name).ok()).unwrap_or(0);
    Mistake::from(Problem::NotAmong { place: table.place(row, column), value, what }).into()
}
