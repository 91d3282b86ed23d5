//! The rows at which an effect is shown: one column over its values, the others held.

use elinvar_data::{Columns, Reading, Table, breast_cancer};

use super::Asked;
use crate::draws::csv_cell;
use crate::error::Error;
use crate::formula::{Category, Recipe};
use crate::kept::Kept;
use crate::number::significant;
use crate::rows;

/// Places of a curve.
const PLACES: usize = 41;
/// A column of numbers with at most so many different ones is shown at these.
const FEW: usize = 6;

/// Rows that differ in one column.
#[derive(Clone, Debug)]
pub(super) struct Grid {
    /// The column.
    pub(super) by: String,
    /// Its values, row by row.
    pub(super) values: Values,
    /// The other columns, with what they are held at.
    pub(super) held: Vec<(String, String)>,
    /// The rows.
    pub(super) table: Table,
}

/// The values of the column that is varied.
#[derive(Clone, Debug)]
pub(super) enum Values {
    /// From the smallest to the largest, evenly.
    Range(Vec<f64>),
    /// All there are.
    Few(Vec<f64>),
    /// The levels of a category.
    Levels(Vec<String>),
}

impl Values {
    /// As cells of a file.
    pub(super) fn cells(&self) -> Vec<String> {
        match self {
            Values::Range(numbers) | Values::Few(numbers) => numbers.iter().map(|x| format!("{x:?}")).collect(),
            Values::Levels(levels) => levels.clone(),
        }
    }
}

impl Grid {
    /// Over the values of the rows of the fit.
    pub(super) fn new(kept: &Kept, recipe: &Recipe, asked: &Asked) -> Result<Self, Error> {
        let Columns::Only(names) = recipe.reading().columns else { unreachable!("a recipe names its columns") };
        let known = |flag: &'static str, name: &str| match names.iter().any(|known| known == name) {
            true => Ok(()),
            false => {
                let problem = format!("the fit has no such column; it has {}", names.join(", "));
                Err(Error::NoEffect { flag, name: name.into(), problem })
            }
        };
        known("--by", &asked.by)?;
        asked.at.iter().try_for_each(|(name, _)| known("--at", name))?;
        let fitted = read(kept, recipe)?;
        let mut held = Vec::with_capacity(names.len());
        let mut values = Values::Few(Vec::new());
        for name in &names {
            let category = recipe.categories.iter().find(|category| category.column == *name);
            let given = asked.at.iter().rev().find(|(column, _)| column == name).map(|(_, value)| value.clone());
            if *name == asked.by {
                values = match category {
                    Some(category) => Values::Levels(category.levels.clone()),
                    None => of_numbers(fitted.column(fitted.column_index(name)?).collect()),
                };
                continue;
            }
            if let Some(value) = &given {
                check(name, value, category)?;
            }
            let usual = || match category {
                Some(category) => Ok(category.levels[category.reference].clone()),
                None => {
                    let numbers: Vec<f64> = fitted.column(fitted.column_index(name)?).collect();
                    Ok::<_, Error>(format!("{:?}", numbers.iter().sum::<f64>() / numbers.len() as f64))
                }
            };
            held.push((name.clone(), given.map_or_else(usual, Ok)?));
        }
        let cells = values.cells();
        let line = |of_by: &str, of_others: fn(&(String, String)) -> &String| {
            let others = held.iter().map(|pair| csv_cell(of_others(pair)).into_owned());
            std::iter::once(csv_cell(of_by).into_owned()).chain(others).collect::<Vec<_>>().join(",") + "\n"
        };
        let rows: String = cells.iter().map(|cell| line(cell, |pair| &pair.1)).collect();
        let text = line(&asked.by, |pair| &pair.0) + &rows;
        let table = Table::from_csv_with("--at", text.as_bytes(), &recipe.reading())?;
        let shown = |(name, cell): (String, String)| {
            let is_number = !recipe.categories.iter().any(|category| category.column == name);
            let number = cell.parse::<f64>().ok().filter(|_| is_number);
            (name, number.map_or(cell, significant))
        };
        Ok(Self { by: asked.by.clone(), values, held: held.into_iter().map(shown).collect(), table })
    }
}

/// Whether a column can be held at a value.
fn check(name: &str, value: &str, category: Option<&Category>) -> Result<(), Error> {
    let problem = match category {
        Some(category) if category.levels.iter().any(|level| level == value) => return Ok(()),
        None if value.parse::<f64>().is_ok_and(f64::is_finite) => return Ok(()),
        Some(category) => format!("{value:?} is not among its levels, {}", category.levels.join(", ")),
        None => format!("{value:?} is not a number"),
    };
    Err(Error::NoEffect { flag: "--at", name: name.into(), problem })
}

fn of_numbers(mut numbers: Vec<f64>) -> Values {
    numbers.sort_unstable_by(f64::total_cmp);
    let (low, high) = (numbers[0], numbers[numbers.len() - 1]);
    numbers.dedup();
    if numbers.len() <= FEW {
        return Values::Few(numbers);
    }
    let place = |i: usize| {
        let share = i as f64 / (PLACES - 1) as f64;
        (1.0 - share) * low + share * high
    };
    Values::Range((0..PLACES).map(place).collect())
}

/// The table of the fit, with the columns of the recipe.
fn read(kept: &Kept, recipe: &Recipe) -> Result<Table, Error> {
    let settings = kept.settings.as_ref().ok_or_else(|| Error::NoModelBeside { path: kept.path.clone() })?;
    let Some(file) = &settings.data.file else { return Ok(breast_cancer()) };
    // The response is read as well, so that the rows are those of the fit.
    let reading = recipe.reading_with_response();
    let (array, missing) = (settings.data.array.clone(), settings.data.missing.unwrap_or_default());
    Ok(Table::read_with(rows::find(settings, file), &Reading { array, missing, ..reading })?)
}
