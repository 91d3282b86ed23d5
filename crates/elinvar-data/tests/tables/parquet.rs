//! Parquet files, written here by the crate that reads them.
#![cfg(feature = "parquet")]

use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::types::Int8Type;
use arrow_array::{
    ArrayRef, BooleanArray, Date32Array, Decimal128Array, DictionaryArray, Float32Array, Float64Array, Int8Array,
    Int16Array, Int32Array, Int64Array, NullArray, RecordBatch, StringArray, UInt8Array,
};
use elinvar_data::{Categorical, Columns, Missing, Outcome, Reading, RegressionData, Selection, Table};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, GzipLevel, ZstdLevel};
use parquet::file::properties::WriterProperties;

use crate::problem::problem;

fn write(folder: &tempfile::TempDir, compression: Compression, columns: Vec<(&str, ArrayRef)>) -> PathBuf {
    let path = folder.path().join("t.parquet");
    let batch = RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(n, c)| (n, c, true))).unwrap();
    let how = WriterProperties::builder().set_compression(compression).set_max_row_group_row_count(Some(1000)).build();
    let mut writer = ArrowWriter::try_new(File::create(&path).unwrap(), batch.schema(), Some(how)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    path
}

#[test]
fn every_type_of_number() {
    let folder = tempfile::tempdir().unwrap();
    let decimals = Decimal128Array::from(vec![150_i128, -25]).with_precision_and_scale(10, 2).unwrap();
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("f64", Arc::new(Float64Array::from(vec![1.5, -2.0]))),
        ("f32", Arc::new(Float32Array::from(vec![0.5_f32, 3.0]))),
        ("i64", Arc::new(Int64Array::from(vec![7_i64, -8]))),
        ("i32", Arc::new(Int32Array::from(vec![9, 10]))),
        ("i16", Arc::new(Int16Array::from(vec![-11_i16, 12]))),
        ("u8", Arc::new(UInt8Array::from(vec![13_u8, 255]))),
        ("bool", Arc::new(BooleanArray::from(vec![true, false]))),
        ("decimal", Arc::new(decimals)),
    ];
    let (gzip, zstd) = (Compression::GZIP(GzipLevel::default()), Compression::ZSTD(ZstdLevel::default()));
    for compression in [Compression::UNCOMPRESSED, Compression::SNAPPY, gzip, zstd] {
        let table = Table::read(write(&folder, compression, columns.clone()), &Columns::All).unwrap();
        assert_eq!(table.names(), ["f64", "f32", "i64", "i32", "i16", "u8", "bool", "decimal"]);
        assert_eq!(table.row(0), [1.5, 0.5, 7.0, 9.0, -11.0, 13.0, 1.0, 1.5]);
        assert_eq!(table.row(1), [-2.0, 3.0, -8.0, 10.0, 12.0, 255.0, 0.0, -0.25]);
    }
}

#[test]
fn many_rows_in_several_groups_and_chosen_columns() {
    let folder = tempfile::tempdir().unwrap();
    let n = 5003;
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("a", Arc::new(Float64Array::from_iter_values((0..n).map(f64::from)))),
        ("skipped", Arc::new(StringArray::from_iter_values((0..n).map(|i| i.to_string())))),
        ("b", Arc::new(Int32Array::from_iter_values((0..n).map(|i| i * i)))),
    ];
    let path = write(&folder, Compression::SNAPPY, columns);
    let table = Table::read(&path, &Columns::Only(vec!["b".into(), "a".into()])).unwrap();
    assert_eq!(table.n_rows(), 5003);
    assert!((0..n).all(|i| table.row(i as usize) == [f64::from(i * i), f64::from(i)]));
    let selection = Selection { features: Columns::Only(vec!["a".into()]), ..Selection::new("b", Outcome::Count) };
    let data = RegressionData::read(&path, &selection).unwrap();
    assert_eq!((data.row(5002), data.y[5002]), ([1.0, 5002.0].as_slice(), 5002.0 * 5002.0));
}

#[test]
fn texts_are_categories_and_nulls_are_missing() {
    let folder = tempfile::tempdir().unwrap();
    let colours: DictionaryArray<Int8Type> = vec![Some("red"), None, Some("blue"), Some("red")].into_iter().collect();
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("colour", Arc::new(colours)),
        ("city", Arc::new(StringArray::from(vec![Some("Oslo"), Some("Bergen"), Some("Tromsø"), Some("Oslo")]))),
        ("x", Arc::new(Float64Array::from(vec![Some(1.0), Some(2.0), None, Some(4.0)]))),
        ("y", Arc::new(Float64Array::from(vec![1.0, 2.0, 3.0, 4.0]))),
    ];
    let path = write(&folder, Compression::SNAPPY, columns);
    let how = Reading { categorical: Categorical::Indicators, missing: Missing::Drop, ..Reading::default() };
    let table = Table::read_with(&path, &how).unwrap();
    assert_eq!((table.n_rows(), table.n_dropped()), (2, 2));
    assert_eq!(
        (table.levels(0).unwrap(), table.levels(1).unwrap()),
        (["red".to_string()].as_slice(), ["Oslo".to_string()].as_slice())
    );
    assert_eq!(table.values(), [0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 4.0, 4.0]);

    let refuse = Reading { categorical: Categorical::Indicators, ..Reading::default() };
    assert_eq!(
        problem(&path, &refuse),
        "row 1 (counted from 0), column 1 (colour): the value is missing (null or NaN), the first of 2 missing cells in 2 rows; \
         fill them in, drop the rows by --missing drop or leave the column out"
    );
    assert_eq!(
        problem(&path, &Reading::default()),
        "row 0 (counted from 0), column 1 (colour): \"red\" is not a number; \
         write numbers (a class as 0 or 1), take texts as categories by --categorical indicators, or leave the column out"
    );
    let columns = Columns::Only(vec!["city".into(), "y".into()]);
    let table = Table::read_with(&path, &Reading { columns, ..refuse }).unwrap();
    assert_eq!(table.levels(0).unwrap(), ["Bergen", "Oslo", "Tromsø"]);
    assert_eq!(table.column(0).collect::<Vec<_>>(), [1.0, 0.0, 2.0, 1.0]);
}

#[test]
fn only_values_of_a_dictionary_that_rows_have_count() {
    let folder = tempfile::tempdir().unwrap();
    let keys = Int8Array::from(vec![None, Some(2), Some(1), Some(2)]);
    let colours = DictionaryArray::new(keys, Arc::new(StringArray::from(vec!["unused", "blue", "red"])) as ArrayRef);
    let keys = Int8Array::from(vec![1, 0, 1, 1]);
    let numbers = DictionaryArray::new(keys, Arc::new(Float64Array::from(vec![2.5, -1.0])) as ArrayRef);
    let columns: Vec<(&str, ArrayRef)> = vec![("x", Arc::new(numbers)), ("colour", Arc::new(colours))];
    let path = write(&folder, Compression::SNAPPY, columns);
    assert_eq!(
        problem(&path, &Reading::default()),
        "row 1 (counted from 0), column 2 (colour): \"red\" is not a number; \
         write numbers (a class as 0 or 1), take texts as categories by --categorical indicators, or leave the column out"
    );
    let how = Reading { categorical: Categorical::Indicators, missing: Missing::Drop, ..Reading::default() };
    let table = Table::read_with(&path, &how).unwrap();
    assert_eq!((table.levels(0), table.levels(1).unwrap()), (None, ["blue".to_string(), "red".to_string()].as_slice()));
    assert_eq!(table.values(), [2.5, 1.0, -1.0, 0.0, -1.0, 1.0]);
}

#[test]
fn what_is_wrong_with_a_parquet_file() {
    let folder = tempfile::tempdir().unwrap();
    let x: ArrayRef = Arc::new(Float64Array::from(vec![1.0, 2.0]));
    let dates: ArrayRef = Arc::new(Date32Array::from(vec![1, 2]));
    let path = write(&folder, Compression::SNAPPY, vec![("x", x.clone()), ("when", dates)]);
    assert_eq!(
        problem(&path, &Reading::default()),
        "column 2 (when): the column holds values of the type Date32; write numbers or texts, or leave the column out"
    );
    assert!(Table::read(&path, &Columns::Except(vec!["when".into()])).is_ok());

    let nothing: ArrayRef = Arc::new(NullArray::new(2));
    let path = write(&folder, Compression::SNAPPY, vec![("x", x), ("nothing", nothing)]);
    let how = Reading { missing: Missing::Drop, ..Reading::default() };
    assert_eq!(
        problem(&path, &how),
        "each of the 2 rows has a missing cell, so that --missing drop leaves none; leave out the columns with missing cells"
    );

    let none: ArrayRef = Arc::new(Float64Array::from(Vec::<f64>::new()));
    let path = write(&folder, Compression::SNAPPY, vec![("x", none)]);
    let empty = "the table has no rows or no columns; check how the file was written";
    assert_eq!(problem(&path, &Reading::default()), empty);

    std::fs::write(&path, b"PAR1 and then something else PAR1").unwrap();
    let sentence = problem(&path, &Reading::default());
    assert!(sentence.starts_with("the parquet file cannot be read ("), "{sentence}");
    assert!(sentence.ends_with("or save the table as CSV or npy"), "{sentence}");
}
