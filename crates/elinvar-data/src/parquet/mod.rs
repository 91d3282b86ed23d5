//! Reading parquet in batches of rows, each written once into the row-major table.

mod column;
mod delta;
mod header;
mod kind;
mod pages;
mod shards;
mod thrift;
mod unpack;
mod writer;

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use ::parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};
use ::parquet::schema::types::SchemaDescriptor;

use crate::category::Levels;
use crate::draft::Draft;
use crate::error::Unit;
use crate::format::{Format, content};
use crate::guard::guarded;
use crate::room::{self, check_proportion, row_numbers, zeros};
use crate::{Error, Reading, Table};

use column::{Column, Refused};
use kind::{Kind, kind};
use pages::read_at;

pub(crate) use shards::{column_names, each_shard};
pub use writer::parquet_bytes;

/// Rows decoded at once: their cells fit into a second-level cache.
const BATCH_ROWS: usize = 2048;

/// A column that is wanted.
struct Wanted {
    /// Its position in the table that is made.
    slot: usize,
    /// Its number among the columns of the file.
    k: usize,
    /// Its number among those that are stored, where a column of lists or the like is one or several.
    stored: usize,
    kind: Kind,
}

/// Reads a parquet file: numbers and truth values as numbers, texts as categories.
pub(crate) fn read(path: &Path, file: File, reading: &Reading) -> Result<Draft, Error> {
    // The crate takes much on trust, lengths in pages among it, and panics where it is wrong. Nothing of what is used
    // in here is used again after that.
    let read = guarded(|| read_unguarded(path, file, reading));
    read.unwrap_or_else(|| Err(unreadable(path, &"it is damaged")))
}

fn read_unguarded(path: &Path, file: File, reading: &Reading) -> Result<Draft, Error> {
    let file = Arc::new(file);
    let file_size = file.metadata().map_or(0, |about| about.len());
    let about = footer(path, &file, file_size)?;
    let schema = about.file_metadata().schema_descr();
    let names: Vec<String> = schema.root_schema().get_fields().iter().map(|field| field.name().into()).collect();
    let n_rows = usize::try_from(about.file_metadata().num_rows()).unwrap_or(0);
    if n_rows == 0 || names.is_empty() {
        return Err(content(path, "the table has no rows or no columns", "check how the file was written"));
    }
    let kept = reading.columns.positions(path, &names)?;
    let wanted = wanted(path, schema, &kept)?;
    check_chunks(path, &about, &wanted, file_size)?;
    check_proportion(path, (n_rows, kept.len()), file_size, room::PACKED)?;

    let mut table = Table::without_columns(path, Unit::Row);
    table.set_columns(kept.iter().map(|&k| (names[k].clone(), k + 1)));
    table.values = zeros(path, n_rows, kept.len())?;
    table.lines = row_numbers(path, n_rows)?;
    let mut levels: Vec<Option<Levels>> =
        table.names.iter().map(|name| reading.may_be_text(name).then(Levels::default)).collect();
    let refuse = |refused: Refused, first_row: usize, k: usize| match refused {
        Refused::Text(row, text) => {
            let remedy = "write numbers (a class as 0 or 1), take texts as categories by --categorical indicators, or leave the column out";
            Error::NotANumber { place: place(path, first_row + row, k, &names), text, remedy }
        }
        Refused::File(problem) => unreadable(path, &problem),
    };
    let mut cells = Vec::with_capacity(BATCH_ROWS);
    let mut first_row = 0;
    for group in about.row_groups() {
        let open = |w: &Wanted| {
            Column::open(&file, group, w.stored, w.kind, file_size).map_err(|refused| refuse(refused, first_row, w.k))
        };
        let mut columns = wanted.iter().map(open).collect::<Result<Vec<_>, _>>()?;
        let end = first_row.saturating_add(usize::try_from(group.num_rows()).unwrap_or(0));
        if end > n_rows {
            return Err(unreadable(path, &"it has more rows than it says"));
        }
        while first_row < end {
            let n = BATCH_ROWS.min(end - first_row);
            let rows = &mut table.values[first_row * kept.len()..(first_row + n) * kept.len()];
            for (column, w) in columns.iter_mut().zip(&wanted) {
                let read = column.read(n, levels[w.slot].as_mut(), &mut cells);
                read.map_err(|refused| refuse(refused, first_row, w.k))?;
                rows.iter_mut().skip(w.slot).step_by(kept.len()).zip(&cells).for_each(|(to, &value)| *to = value);
            }
            first_row += n;
        }
    }
    if first_row < n_rows {
        return Err(unreadable(path, &"it has fewer rows than it says"));
    }
    for (j, levels) in levels.into_iter().enumerate() {
        if let Some(levels) = levels.filter(|levels| !levels.is_empty()) {
            table.set_levels(j, levels);
        }
    }
    Ok(Draft { table, format: Format::Parquet, first_missing: Some("null or NaN".into()) })
}

/// What the end of a file says about its columns.
fn footer(path: &Path, file: &File, file_size: u64) -> Result<ParquetMetaData, Error> {
    const TAIL: u64 = 8;
    let failed = |error: std::io::Error| unreadable(path, &error);
    let cut = || unreadable(path, &"its end is missing or damaged");
    let tail_at = file_size.checked_sub(TAIL).ok_or_else(cut)?;
    let tail = read_at(file, tail_at, TAIL as usize).map_err(failed)?;
    let length = tail.strip_suffix(b"PAR1").and_then(|length| Some(u32::from_le_bytes(length.try_into().ok()?)));
    let length = length.ok_or_else(cut)?;
    let start = tail_at.checked_sub(u64::from(length)).ok_or_else(cut)?;
    let bytes = read_at(file, start, length as usize).map_err(failed)?;
    if !thrift::is_footer(&bytes) {
        return Err(cut());
    }
    ParquetMetaDataReader::decode_metadata(&bytes).map_err(|error| unreadable(path, &error))
}

/// Refuses columns that share bytes of the file: each would be read anew.
fn check_chunks(path: &Path, about: &ParquetMetaData, wanted: &[Wanted], file_size: u64) -> Result<(), Error> {
    let mut n_bytes = 0_u64;
    for group in about.row_groups() {
        for chunk in wanted.iter().filter_map(|w| group.columns().get(w.stored)) {
            let length = pages::range(chunk, file_size).map(|(start, end)| end - start);
            let length = length.ok_or_else(|| unreadable(path, &"a column lies outside the file"))?;
            n_bytes = n_bytes.saturating_add(length);
        }
    }
    if n_bytes > file_size { Err(unreadable(path, &"its columns overlap")) } else { Ok(()) }
}

/// The columns at these places, in the order of the file, so that of several problems the leftmost is named.
fn wanted(path: &Path, schema: &SchemaDescriptor, kept: &[usize]) -> Result<Vec<Wanted>, Error> {
    let fields = schema.root_schema().get_fields();
    let mut stored = vec![None; fields.len()];
    for leaf in 0..schema.num_columns() {
        stored[schema.get_column_root_idx(leaf)].get_or_insert(leaf);
    }
    let mut slots: Vec<(usize, usize)> = kept.iter().copied().enumerate().collect();
    slots.sort_by_key(|&(_, k)| k);
    let find = |(slot, k): (usize, usize)| {
        let kind = kind(&fields[k]).map_err(|found| Error::ColumnType {
            file: path.into(),
            number: k + 1,
            column: fields[k].name().into(),
            found: format!("values of the type {found}"),
            remedy: "write numbers or texts, or leave the column out",
        })?;
        let stored = stored[k].ok_or_else(|| unreadable(path, &"a column is not stored"))?;
        Ok(Wanted { slot, k, stored, kind })
    };
    slots.into_iter().map(find).collect()
}

fn unreadable(path: &Path, problem: &dyn std::fmt::Display) -> Error {
    let remedy = "write it again, packed by snappy, zstd or gzip or not at all, or save the table as CSV or npy";
    content(path, &format!("the parquet file cannot be read ({problem})"), remedy)
}

fn place(path: &Path, row: usize, k: usize, names: &[String]) -> crate::Place {
    crate::Place { file: path.into(), line: row as u64, unit: Unit::Row, number: k + 1, column: names[k].clone() }
}
