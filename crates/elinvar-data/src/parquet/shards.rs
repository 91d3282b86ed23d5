//! Columns of numbers, so many rows at once.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use super::column::{Column, Refused};

use super::{BATCH_ROWS, check_chunks, content, footer, place, unreadable, wanted};
use crate::guard::guarded;
use crate::open::open;
use crate::{Error, Place};

/// Names of the columns of a file.
pub(crate) fn column_names(path: &Path, file: File) -> Result<Vec<String>, Error> {
    let read = guarded(|| {
        let n_bytes = file.metadata().map_or(0, |about| about.len());
        let about = footer(path, &file, n_bytes)?;
        let root = about.file_metadata().schema_descr().root_schema();
        Ok(root.get_fields().iter().map(|field| field.name().into()).collect())
    });
    read.unwrap_or_else(|| Err(unreadable(path, &"it is damaged")))
}

/// Hands over rows of these columns, at most so many at once and of one group of rows, with a function that says where
/// a cell stands; until it is told that nobody takes them.
pub(crate) fn each_shard(
    path: &Path,
    names: &[String],
    shard_rows: usize,
    take: &mut dyn FnMut(Vec<f64>, &dyn Fn(usize) -> Place) -> Result<bool, Error>,
) -> Result<bool, Error> {
    let read = guarded(|| each_unguarded(path, names, shard_rows, take));
    read.unwrap_or_else(|| Err(unreadable(path, &"it is damaged")))
}

fn each_unguarded(
    path: &Path,
    names: &[String],
    shard_rows: usize,
    take: &mut dyn FnMut(Vec<f64>, &dyn Fn(usize) -> Place) -> Result<bool, Error>,
) -> Result<bool, Error> {
    let file = Arc::new(open(path)?.0);
    let n_bytes = file.metadata().map_or(0, |about| about.len());
    let about = footer(path, &file, n_bytes)?;
    let schema = about.file_metadata().schema_descr();
    let all: Vec<String> = schema.root_schema().get_fields().iter().map(|field| field.name().into()).collect();
    let kept = names.iter().map(|name| crate::table::find(path, &all, name)).collect::<Result<Vec<_>, _>>()?;
    let wanted = wanted(path, schema, &kept)?;
    check_chunks(path, &about, &wanted, n_bytes)?;
    let n_rows = usize::try_from(about.file_metadata().num_rows()).unwrap_or(0);
    if n_rows == 0 {
        return Err(content(path, "the table has no rows or no columns", "check how the file was written"));
    }
    let refuse = |refused: Refused, first_row: usize, k: usize| match refused {
        Refused::Text(row, text) => {
            let remedy = "write numbers (a class as 0 or 1), or leave the column out";
            Error::NotANumber { place: place(path, first_row + row, k, &all), text, remedy }
        }
        Refused::File(problem) => unreadable(path, &problem),
    };
    let (width, mut cells, mut first_row) = (kept.len(), Vec::with_capacity(BATCH_ROWS), 0);
    for group in about.row_groups() {
        let opened = |w: &super::Wanted| {
            // A text has no levels here: the first one is refused where it stands.
            let kind = w.kind;
            Column::open(&file, group, w.stored, kind, n_bytes).map_err(|refused| refuse(refused, first_row, w.k))
        };
        let mut columns = wanted.iter().map(opened).collect::<Result<Vec<_>, _>>()?;
        let end = first_row.saturating_add(usize::try_from(group.num_rows()).unwrap_or(0));
        if end > n_rows {
            return Err(unreadable(path, &"it has more rows than it says"));
        }
        while first_row < end {
            let n_of_shard = shard_rows.min(end - first_row);
            let mut values = vec![0.0; n_of_shard * width];
            for (batch, rows) in values.chunks_mut(BATCH_ROWS * width).enumerate() {
                let (row, n) = (first_row + batch * BATCH_ROWS, rows.len() / width);
                for (column, w) in columns.iter_mut().zip(&wanted) {
                    column.read(n, None, &mut cells).map_err(|refused| refuse(refused, row, w.k))?;
                    rows.iter_mut().skip(w.slot).step_by(width).zip(&cells).for_each(|(to, value)| *to = *value);
                }
            }
            let of_cell = |k: usize| place(path, first_row + k / width, kept[k % width], &all);
            if !take(values, &of_cell)? {
                return Ok(false);
            }
            first_row += n_of_shard;
        }
    }
    if first_row < n_rows { Err(unreadable(path, &"it has fewer rows than it says")) } else { Ok(true) }
}
