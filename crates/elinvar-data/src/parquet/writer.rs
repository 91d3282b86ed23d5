//! Writing a table of numbers as parquet.

use std::io;
use std::ops::Range;
use std::sync::Arc;

use ::parquet::basic::{Compression, Repetition, Type as PhysicalType};
use ::parquet::data_type::DoubleType;
use ::parquet::errors::ParquetError;
use ::parquet::file::metadata::KeyValue;
use ::parquet::file::properties::WriterProperties;
use ::parquet::file::writer::SerializedFileWriter;
use ::parquet::schema::types::Type;

/// Numbers that are held at once beside the file.
const GROUP_NUMBERS: usize = 1 << 22;

/// The bytes of a parquet file, packed by snappy, with one column of doubles without nulls for each name and with
/// `notes` as its metadata; `rows` appends the rows of a range, each with one number for each name.
///
/// # Errors
/// If the file cannot be made; memory aside, nothing is known that leads to it.
pub fn parquet_bytes(
    names: &[&str],
    n_rows: usize,
    notes: &[(&str, &str)],
    rows: impl Fn(Range<usize>, &mut Vec<f64>),
) -> io::Result<Vec<u8>> {
    write(names, n_rows, notes, rows).map_err(io::Error::other)
}

fn write(
    names: &[&str],
    n_rows: usize,
    notes: &[(&str, &str)],
    rows: impl Fn(Range<usize>, &mut Vec<f64>),
) -> Result<Vec<u8>, ParquetError> {
    let column = |name: &&str| {
        let builder = Type::primitive_type_builder(name, PhysicalType::DOUBLE);
        builder.with_repetition(Repetition::REQUIRED).build().map(Arc::new)
    };
    let fields = names.iter().map(column).collect::<Result<Vec<_>, _>>()?;
    let schema = Type::group_type_builder("schema").with_fields(fields).build()?;
    let note = |(key, value): &(&str, &str)| KeyValue::new((*key).into(), Some((*value).into()));
    let properties = WriterProperties::builder()
        .set_created_by(concat!("elinvar ", env!("CARGO_PKG_VERSION")).into())
        .set_key_value_metadata(Some(notes.iter().map(note).collect()))
        .set_compression(Compression::SNAPPY)
        // Random numbers do not repeat.
        .set_dictionary_enabled(false)
        .build();
    let mut bytes = Vec::new();
    let mut file = SerializedFileWriter::new(&mut bytes, Arc::new(schema), Arc::new(properties))?;
    let width = names.len();
    let group_rows = (GROUP_NUMBERS / width.max(1)).max(1);
    let (mut values, mut cells) = (Vec::new(), Vec::new());
    for start in (0..n_rows).step_by(group_rows) {
        let end = n_rows.min(start + group_rows);
        values.clear();
        rows(start..end, &mut values);
        let mut group = file.next_row_group()?;
        for j in 0..width {
            cells.clear();
            cells.extend(values.iter().skip(j).step_by(width));
            let Some(mut column) = group.next_column()? else { break };
            column.typed::<DoubleType>().write_batch(&cells, None, None)?;
            column.close()?;
        }
        group.close()?;
    }
    file.close()?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Columns, Table};

    #[test]
    fn what_is_written_is_read_again() {
        let value = |row: usize, column: usize| (row as f64 + 0.1) * (column as f64 - 1.5).exp();
        let names = ["lp__", "a, \"b\"", "länge"];
        let fill = |rows: Range<usize>, out: &mut Vec<f64>| {
            rows.for_each(|row| out.extend((0..3).map(|column| value(row, column))));
        };
        // More than one group of rows.
        let n_rows = GROUP_NUMBERS / 3 + 10;
        let bytes = parquet_bytes(&names, n_rows, &[("elinvar.family", "mog")], fill).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("draws.parquet");
        std::fs::write(&path, bytes).unwrap();
        let table = Table::read(&path, &Columns::All).unwrap();
        assert_eq!((table.names(), table.n_rows()), (&names.map(String::from)[..], n_rows));
        for row in [0, 1, 77, GROUP_NUMBERS / 3 - 1, GROUP_NUMBERS / 3, n_rows - 1] {
            let expected: Vec<f64> = (0..3).map(|column| value(row, column)).collect();
            assert_eq!(table.row(row), expected, "{row}");
        }
    }
}
