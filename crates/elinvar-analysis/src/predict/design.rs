//! The rows of a new table with the columns of a fit.

use std::path::Path;

use elinvar_data::Table;

use crate::error::Error;
use crate::formula::Design;
use crate::job::Job;

/// Reads the columns that the fit needs from a file, and brings them to its scale; other columns may hold anything.
///
/// # Errors
/// What is wrong with the table, by file and line: a column or a cell that is missing, a level that the rows of the fit
/// did not have.
pub(super) fn of(job: &Job, file: &Path) -> Result<Design, Error> {
    let recipe = job.recipe().expect("a regression has columns");
    let table = Table::read_with(file, &recipe.reading())?;
    let mut design = recipe.apply(&table)?;
    let transforms = &job.rows.transforms;
    for row in design.features.chunks_exact_mut(transforms.len()) {
        row.iter_mut().zip(transforms).for_each(|(x, t)| *x = (*x - t.shift) / t.scale);
    }
    Ok(design)
}
