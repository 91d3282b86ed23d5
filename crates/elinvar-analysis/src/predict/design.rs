//! The rows of a new table with the columns of a fit.

use std::path::Path;

use elinvar_data::{Columns, Table};

use crate::error::Error;
use crate::formula::{Design, Recipe};
use crate::job::Job;

/// What is predicted of: the columns of the fit, and trials where the fit counts events of some.
pub(super) struct NewRows {
    pub(super) design: Design,
    /// Empty for one each.
    pub(super) trials: Vec<f64>,
}

/// Reads the columns that the fit needs from a file, and brings them to its scale; other columns may hold anything.
/// Trials are read where the file has them.
///
/// # Errors
/// What is wrong with the table, by file and line: a column or a cell that is missing, a level that the rows of the fit
/// did not have, a number of trials that is none.
pub(super) fn of(job: &Job, file: &Path) -> Result<NewRows, Error> {
    let recipe = job.recipe().expect("a regression has columns");
    let (table, has_trials) = read(recipe, file)?;
    let mut design = recipe.apply(&table)?;
    to_scale_of_fit(job, &mut design);
    let trials = if has_trials { recipe.trials(&table)? } else { Vec::new() };
    Ok(NewRows { design, trials })
}

/// The table, and whether it has trials. The standard input can be read but once, so that what it has is not asked for
/// first.
fn read(recipe: &Recipe, file: &Path) -> Result<(Table, bool), Error> {
    let (plain, with_trials) = (recipe.reading(), recipe.reading_with_trials());
    if plain.columns == with_trials.columns || file == Path::new("-") {
        let has_trials = recipe.response.trials.is_some();
        return Ok((Table::read_with(file, &with_trials)?, has_trials));
    }
    match Table::read_with(file, &with_trials) {
        Err(elinvar_data::Error::NoSuchColumn { wanted, .. }) if !matches!(&plain.columns, Columns::Only(names) if names.contains(&wanted)) => {
            Ok((Table::read_with(file, &plain)?, false))
        }
        read => Ok((read?, true)),
    }
}

/// Brings columns in the units of the file to those of the fit.
pub(crate) fn to_scale_of_fit(job: &Job, design: &mut Design) {
    let transforms = &job.rows.transforms;
    for row in design.features.chunks_exact_mut(transforms.len()) {
        row.iter_mut().zip(transforms).for_each(|(x, t)| *x = (*x - t.shift) / t.scale);
    }
}
