//! Reading parquet in batches of rows, each written once into the row-major table.

use std::fs::File;
use std::path::Path;

use ::parquet::arrow::ProjectionMask;
use ::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use arrow_array::array::AnyDictionaryArray;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type,
    UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, Decimal128Array, NullArray};

use crate::category::Levels;
use crate::cell::is_missing_sign;
use crate::draft::Draft;
use crate::error::Unit;
use crate::format::{Format, content, zeros};
use crate::sentence::excerpt;
use crate::{Error, Reading, Table};

/// Rows decoded at once: their cells fit into a second-level cache.
const BATCH_ROWS: usize = 2048;

/// Why a column cannot be read.
enum Refused {
    /// A text, in this row of the batch, where numbers are needed.
    Text(usize, String),
    /// Neither numbers nor texts.
    Type,
}

fn numbers<T: ArrowPrimitiveType>(array: &dyn Array, to: impl Fn(T::Native) -> f64, out: &mut Vec<f64>) -> bool {
    let Some(array) = array.as_primitive_opt::<T>() else { return false };
    out.extend(array.values().iter().map(|&value| to(value)));
    true
}

fn texts<'a>(
    cells: impl Iterator<Item = Option<&'a str>>,
    levels: Option<&mut Levels>,
    out: &mut Vec<f64>,
) -> Result<(), Refused> {
    let Some(levels) = levels else {
        for (row, cell) in cells.enumerate() {
            match cell.map(str::trim) {
                Some(text) if !is_missing_sign(text.as_bytes()) => return Err(Refused::Text(row, excerpt(text))),
                _ => out.push(f64::NAN),
            }
        }
        return Ok(());
    };
    out.extend(cells.map(|cell| match cell.map(str::trim) {
        Some(text) if !is_missing_sign(text.as_bytes()) => levels.code(text),
        _ => f64::NAN,
    }));
    Ok(())
}

/// The cells of a column that has its values in a dictionary; what the dictionary holds beside them does not matter.
fn dictionary(array: &dyn AnyDictionaryArray, levels: Option<&mut Levels>, out: &mut Vec<f64>) -> Result<(), Refused> {
    let (mut own_levels, may_be_text, mut of_key) = (Levels::default(), levels.is_some(), Vec::new());
    decode(array.values().as_ref(), Some(levels.unwrap_or(&mut own_levels)), &mut of_key)?;
    if of_key.is_empty() {
        out.resize(array.len(), f64::NAN);
        return Ok(());
    }
    out.extend(array.normalized_keys().into_iter().map(|key| of_key[key]));
    let is_text = |row: &usize| !array.is_null(*row) && !out[*row].is_nan();
    match (0..out.len()).find(is_text) {
        Some(row) if !may_be_text && !own_levels.is_empty() => {
            Err(Refused::Text(row, excerpt(own_levels.text(out[row]))))
        }
        _ => Ok(()),
    }
}

/// The cells of a column as numbers: levels of texts as their codes, null as NaN.
fn decode(array: &dyn Array, levels: Option<&mut Levels>, out: &mut Vec<f64>) -> Result<(), Refused> {
    out.clear();
    let is_number = numbers::<Float64Type>(array, |v| v, out)
        || numbers::<Float32Type>(array, f64::from, out)
        || numbers::<Int64Type>(array, |v| v as f64, out)
        || numbers::<Int32Type>(array, f64::from, out)
        || numbers::<Int16Type>(array, f64::from, out)
        || numbers::<Int8Type>(array, f64::from, out)
        || numbers::<UInt8Type>(array, f64::from, out)
        || numbers::<UInt16Type>(array, f64::from, out)
        || numbers::<UInt32Type>(array, f64::from, out)
        || numbers::<UInt64Type>(array, |v| v as f64, out)
        || numbers::<Float16Type>(array, |v| v.to_f64(), out);
    if is_number {
    } else if let Some(array) = array.as_boolean_opt() {
        out.extend(array.values().iter().map(|value| f64::from(u8::from(value))));
    } else if let Some(array) = array.as_any().downcast_ref::<Decimal128Array>() {
        let unit = 10_f64.powi(i32::from(array.scale()));
        out.extend(array.values().iter().map(|&value| value as f64 / unit));
    } else if let Some(array) = array.as_string_opt::<i32>() {
        return texts(array.iter(), levels, out);
    } else if let Some(array) = array.as_string_opt::<i64>() {
        return texts(array.iter(), levels, out);
    } else if let Some(array) = array.as_string_view_opt() {
        return texts(array.iter(), levels, out);
    } else if let Some(array) = array.as_any_dictionary_opt() {
        dictionary(array, levels, out)?;
    } else if array.as_any().is::<NullArray>() {
        out.resize(array.len(), f64::NAN);
    } else {
        return Err(Refused::Type);
    }
    if let Some(nulls) = array.nulls() {
        (0..out.len()).filter(|&i| nulls.is_null(i)).for_each(|i| out[i] = f64::NAN);
    }
    Ok(())
}

/// Reads a parquet file: numbers and truth values as numbers, texts and dictionaries of texts as categories.
pub(crate) fn read(path: &Path, file: File, reading: &Reading) -> Result<Draft, Error> {
    let remedy = "write it again, packed by snappy, zstd or gzip or not at all, or save the table as CSV or npy";
    let failed = |error: String| content(path, &format!("the parquet file cannot be read ({error})"), remedy);
    let builder = ParquetRecordBatchReaderBuilder::try_new(file).map_err(|error| failed(error.to_string()))?;
    let names: Vec<String> = builder.schema().fields().iter().map(|field| field.name().clone()).collect();
    let n_rows = usize::try_from(builder.metadata().file_metadata().num_rows()).unwrap_or(0);
    if n_rows == 0 || names.is_empty() {
        return Err(content(path, "the table has no rows or no columns", "check how the file was written"));
    }
    let kept = reading.columns.positions(path, &names)?;
    let mask = ProjectionMask::roots(builder.parquet_schema(), kept.iter().copied());
    let mut file_order: Vec<usize> = (0..kept.len()).collect();
    file_order.sort_by_key(|&slot| kept[slot]);
    let reader = builder.with_projection(mask).with_batch_size(BATCH_ROWS).build();
    let reader = reader.map_err(|error| failed(error.to_string()))?;

    let mut table = Table::without_columns(path, Unit::Row);
    table.set_columns(kept.iter().map(|&k| (names[k].clone(), k + 1)));
    table.values = zeros(path, n_rows, kept.len())?;
    table.lines = (0..n_rows as u64).collect();
    let mut levels: Vec<Option<Levels>> =
        table.names.iter().map(|name| reading.may_be_text(name).then(Levels::default)).collect();
    let mut cells = Vec::with_capacity(BATCH_ROWS);
    let mut first_row = 0;
    for batch in reader {
        let batch = batch.map_err(|error| failed(error.to_string()))?;
        let end = first_row + batch.num_rows();
        if end > n_rows {
            return Err(failed("it has more rows than it says".into()));
        }
        let rows = &mut table.values[first_row * kept.len()..end * kept.len()];
        for (array, &slot) in batch.columns().iter().zip(&file_order) {
            let decoded = decode(array.as_ref(), levels[slot].as_mut(), &mut cells);
            decoded.map_err(|refused| match refused {
                Refused::Text(row, text) => {
                    let remedy = "write numbers (a class as 0 or 1), take texts as categories by --categorical indicators, or leave the column out";
                    Error::NotANumber { place: table_place(path, first_row + row, kept[slot], &names), text, remedy }
                }
                Refused::Type => Error::ColumnType {
                    file: path.into(),
                    number: kept[slot] + 1,
                    column: names[kept[slot]].clone(),
                    found: format!("values of the type {}", array.data_type()),
                    remedy: "write numbers or texts, or leave the column out",
                },
            })?;
            rows.iter_mut().skip(slot).step_by(kept.len()).zip(&cells).for_each(|(to, &value)| *to = value);
        }
        first_row = end;
    }
    if first_row < n_rows {
        return Err(failed("it has fewer rows than it says".into()));
    }
    for (j, levels) in levels.into_iter().enumerate() {
        if let Some(levels) = levels.filter(|levels| !levels.is_empty()) {
            table.set_levels(j, levels);
        }
    }
    Ok(Draft { table, format: Format::Parquet, first_missing: Some("null or NaN".into()) })
}

fn table_place(path: &Path, row: usize, k: usize, names: &[String]) -> crate::Place {
    crate::Place { file: path.into(), line: row as u64, unit: Unit::Row, number: k + 1, column: names[k].clone() }
}
