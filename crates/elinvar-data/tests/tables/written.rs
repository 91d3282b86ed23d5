//! Parquet files for tests.

use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{BoolType, ByteArrayType, DataType, DoubleType, FloatType, Int32Type, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::Type;

/// Rows that are written together.
const GROUP_ROWS: usize = 1000;

/// The cells of a column.
pub(crate) enum Cells<'a> {
    F64(Vec<Option<f64>>),
    F32(Vec<f32>),
    I64(Vec<i64>, Option<LogicalType>),
    I32(Vec<i32>, Option<LogicalType>),
    Bool(Vec<bool>),
    Text(Vec<Option<&'a str>>),
}

impl Cells<'_> {
    pub(crate) fn f64(cells: impl IntoIterator<Item = f64>) -> Self {
        Cells::F64(cells.into_iter().map(Some).collect())
    }

    fn len(&self) -> usize {
        match self {
            Cells::F64(cells) => cells.len(),
            Cells::F32(cells) => cells.len(),
            Cells::I64(cells, _) => cells.len(),
            Cells::I32(cells, _) => cells.len(),
            Cells::Bool(cells) => cells.len(),
            Cells::Text(cells) => cells.len(),
        }
    }

    fn field(&self, name: &str) -> Type {
        let (physical, logical) = match self {
            Cells::F64(_) => (Physical::DOUBLE, None),
            Cells::F32(_) => (Physical::FLOAT, None),
            Cells::I64(_, logical) => (Physical::INT64, logical.clone()),
            Cells::I32(_, logical) => (Physical::INT32, logical.clone()),
            Cells::Bool(_) => (Physical::BOOLEAN, None),
            Cells::Text(_) => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        };
        let (precision, scale) = match &logical {
            Some(LogicalType::Decimal(decimal)) => (decimal.precision, decimal.scale),
            _ => (-1, -1),
        };
        let builder = Type::primitive_type_builder(name, physical).with_repetition(Repetition::OPTIONAL);
        builder.with_logical_type(logical).with_precision(precision).with_scale(scale).build().unwrap()
    }

    fn write(&self, rows: std::ops::Range<usize>, group: &mut SerializedRowGroupWriter<'_, File>) {
        match self {
            Cells::F64(cells) => column::<DoubleType>(group, &cells[rows]),
            Cells::F32(cells) => column::<FloatType>(group, &present(&cells[rows])),
            Cells::I64(cells, _) => column::<Int64Type>(group, &present(&cells[rows])),
            Cells::I32(cells, _) => column::<Int32Type>(group, &present(&cells[rows])),
            Cells::Bool(cells) => column::<BoolType>(group, &present(&cells[rows])),
            Cells::Text(cells) => {
                let cells: Vec<_> = cells[rows].iter().map(|cell| cell.map(Into::into)).collect();
                column::<ByteArrayType>(group, &cells);
            }
        }
    }
}

fn present<T: Copy>(cells: &[T]) -> Vec<Option<T>> {
    cells.iter().copied().map(Some).collect()
}

fn column<T: DataType>(group: &mut SerializedRowGroupWriter<'_, File>, cells: &[Option<T::T>]) {
    let values: Vec<T::T> = cells.iter().flatten().cloned().collect();
    let levels: Vec<i16> = cells.iter().map(|cell| i16::from(cell.is_some())).collect();
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<T>().write_batch(&values, Some(&levels), None).unwrap();
    column.close().unwrap();
}

/// Writes columns that may have nulls, in groups of a thousand rows.
pub(crate) fn write(folder: &tempfile::TempDir, compression: Compression, columns: &[(&str, Cells)]) -> PathBuf {
    let path = folder.path().join("t.parquet");
    let fields = columns.iter().map(|(name, cells)| Arc::new(cells.field(name))).collect();
    let schema = Type::group_type_builder("schema").with_fields(fields).build().unwrap();
    let how = WriterProperties::builder().set_compression(compression).build();
    let mut file = SerializedFileWriter::new(File::create(&path).unwrap(), Arc::new(schema), Arc::new(how)).unwrap();
    let n_rows = columns[0].1.len();
    for start in (0..n_rows).step_by(GROUP_ROWS) {
        let mut group = file.next_row_group().unwrap();
        for (_, cells) in columns {
            cells.write(start..n_rows.min(start + GROUP_ROWS), &mut group);
        }
        group.close().unwrap();
    }
    file.close().unwrap();
    path
}
