//! The rows of a new table with the columns of a fit.

use std::path::Path;

use elinvar_data::{Columns, DesignColumn, Reading, Table};

use crate::error::Error;
use crate::job::Job;

/// New rows, as the fit has its own.
pub(super) struct NewRows {
    pub(super) features: Vec<f64>,
    /// Empty where there are none.
    pub(super) offsets: Vec<f64>,
}

/// Reads the columns that the fit needs from a file and brings them to its scale; other columns may hold anything.
pub(super) fn of(job: &Job, file: &Path) -> Result<NewRows, Error> {
    let rows = &job.rows;
    let mut columns: Vec<String> = Vec::new();
    let mut categories: Vec<String> = Vec::new();
    for (name, kind) in rows.columns.iter().zip(&rows.kinds) {
        match kind {
            DesignColumn::Intercept => {}
            DesignColumn::Number => columns.push(name.clone()),
            DesignColumn::Indicator { column, .. } if !categories.contains(column) => {
                columns.push(column.clone());
                categories.push(column.clone());
            }
            DesignColumn::Indicator { .. } => {}
        }
    }
    let reading = Reading { columns: Columns::Only(columns), as_category: categories, ..Reading::default() };
    let table = Table::read_with(file, &reading)?;
    let mut features = Vec::with_capacity(table.n_rows() * rows.columns.len());
    check_levels(job, &table)?;
    for i in 0..table.n_rows() {
        for (name, kind) in rows.columns.iter().zip(&rows.kinds) {
            features.push(match kind {
                DesignColumn::Intercept => 1.0,
                DesignColumn::Number => table.row(i)[table.column_index(name)?],
                DesignColumn::Indicator { column, level, .. } => {
                    let k = table.column_index(column)?;
                    let found = table.levels(k).and_then(|levels| levels.get(table.row(i)[k] as usize));
                    f64::from(u8::from(found == Some(level)))
                }
            });
        }
    }
    for row in features.chunks_exact_mut(rows.transforms.len()) {
        row.iter_mut().zip(&rows.transforms).for_each(|(x, t)| *x = (*x - t.shift) / t.scale);
    }
    Ok(NewRows { features, offsets: Vec::new() })
}

/// Refuses a level that the rows of the fit did not have.
fn check_levels(job: &Job, table: &Table) -> Result<(), Error> {
    for k in 0..table.n_cols() {
        let Some(levels) = table.levels(k) else { continue };
        let name = &table.names()[k];
        let known = |level: &String| {
            job.rows.kinds.iter().any(|kind| match kind {
                DesignColumn::Indicator { column, level: other, reference } => {
                    column == name && (other == level || reference.as_ref() == Some(level))
                }
                _ => false,
            })
        };
        let Some(unknown) = levels.iter().position(|level| !known(level)) else { continue };
        let line = (0..table.n_rows()).find(|i| table.row(*i)[k] as usize == unknown).map_or(0, |i| table.line(i));
        let (file, column, level) = (table.file().to_path_buf(), name.clone(), levels[unknown].clone());
        return Err(Error::UnknownLevel { file, line, column, level });
    }
    Ok(())
}
