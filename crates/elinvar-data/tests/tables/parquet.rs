//! Parquet files, written here without nulls or with them, and by other programs (`parquet_files/make.py`).
#![cfg(feature = "parquet")]

use std::path::{Path, PathBuf};

use elinvar_data::{Categorical, Columns, Missing, Outcome, Reading, RegressionData, Selection, Table};
use parquet::basic::{Compression, GzipLevel, LogicalType};

use crate::problem::problem;
use crate::written::{Cells, write};

fn dropping(columns: Columns) -> Reading {
    Reading { columns, categorical: Categorical::Indicators, missing: Missing::Drop, ..Reading::default() }
}

fn others(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/parquet_files/{name}.parquet"))
}

#[test]
fn every_type_of_number() {
    let folder = tempfile::tempdir().unwrap();
    let columns = [
        ("f64", Cells::f64([1.5, -2.0])),
        ("f32", Cells::F32(vec![0.5, 3.0])),
        ("i64", Cells::I64(vec![7, -8], None)),
        ("i32", Cells::I32(vec![9, 10], None)),
        ("i16", Cells::I32(vec![-11, 12], Some(LogicalType::integer(16, true)))),
        ("u8", Cells::I32(vec![13, 255], Some(LogicalType::integer(8, false)))),
        ("u32", Cells::I32(vec![14, -1], Some(LogicalType::integer(32, false)))),
        ("u64", Cells::I64(vec![15, -1], Some(LogicalType::integer(64, false)))),
        ("bool", Cells::Bool(vec![true, false])),
        ("decimal", Cells::I64(vec![150, -25], Some(LogicalType::decimal(2, 10)))),
    ];
    let gzip = Compression::GZIP(GzipLevel::default());
    for compression in [Compression::UNCOMPRESSED, Compression::SNAPPY, gzip] {
        let table = Table::read(write(&folder, compression, &columns), &Columns::All).unwrap();
        assert_eq!(table.names(), columns.each_ref().map(|(name, _)| name.to_string()));
        assert_eq!(table.row(0), [1.5, 0.5, 7.0, 9.0, -11.0, 13.0, 14.0, 15.0, 1.0, 1.5]);
        assert_eq!(table.row(1), [-2.0, 3.0, -8.0, 10.0, 12.0, 255.0, 4_294_967_295.0, 2_f64.powi(64), 0.0, -0.25]);
    }
}

#[test]
fn files_of_other_programs() {
    let columns: [(&str, &[f64]); 17] = [
        ("f64", &[1.5, -2.0, 4.25, 6.0]),
        ("f32", &[0.5, 3.0, -1.25, 2.0, 8.0]),
        ("f16", &[1.0, -2.5, 65504.0, 0.0, 5.960_464_477_539_063e-8, 3.0]),
        ("i64", &[7.0, -8.0, 9_007_199_254_740_992.0, 1.0, 2.0]),
        ("i32", &[9.0, 10.0, -2_147_483_648.0, 1.0, 2.0]),
        ("i16", &[-11.0, 12.0, -32_768.0, 1.0, 2.0]),
        ("i8", &[-11.0, 12.0, -128.0, 1.0, 2.0]),
        ("u8", &[13.0, 255.0, 0.0, 1.0, 2.0]),
        ("u16", &[13.0, 65_535.0, 0.0, 1.0, 2.0]),
        ("u32", &[13.0, 4_294_967_295.0, 0.0, 1.0, 2.0]),
        ("u64", &[13.0, 18_446_744_073_709_551_615.0, 0.0, 1.0, 2.0]),
        ("bool", &[1.0, 0.0, 1.0, 1.0, 0.0]),
        ("decimal", &[1.5, -0.25, 3.0, 4.0, 5.0]),
        ("long decimal", &[1.5, -0.25, 3.0, 4.0, 5.0]),
        // Codes of Bergen, Oslo and Tromsø, of a, b and c, of blue and red.
        ("text", &[1.0, 0.0, 2.0, 1.0]),
        ("large text", &[0.0, 1.0, 2.0, 0.0, 1.0]),
        ("factor", &[1.0, 0.0, 1.0, 1.0, 0.0]),
    ];
    let mut n_compared = 0;
    let files = [
        "pyarrow-plain",
        "pyarrow-snappy",
        "pyarrow-gzip",
        "pyarrow-zstd",
        "pyarrow-zstd-pages-2",
        "pyarrow-decimals-as-integers",
        "pyarrow-encodings",
        "polars",
        "duckdb",
        "fastparquet",
    ];
    for file in files {
        for (name, expected) in columns {
            let table = Table::read_with(others(file), &dropping(Columns::Only(vec![name.into()])));
            match table {
                Ok(table) => assert_eq!(table.column(0).collect::<Vec<_>>(), expected, "{file}, {name}"),
                Err(error) if error.to_string().contains("there is no column") => continue,
                Err(error) => panic!("{file}, {name}: {error}"),
            }
            n_compared += 1;
        }
    }
    // Seventeen columns in five files, sixteen in polars', fourteen in duckdb's, three in fastparquet's, six and one.
    assert_eq!(n_compared, 5 * 17 + 16 + 14 + 3 + 6 + 1);
}

#[test]
fn what_other_programs_write_and_is_refused() {
    let remedy = "write numbers or texts, or leave the column out";
    for file in ["pyarrow-snappy", "pyarrow-zstd"] {
        for (number, name, found) in
            [(19, "date", "Date32"), (20, "time", "Timestamp(µs)"), (21, "list", "List"), (22, "bytes", "Binary")]
        {
            let sentence = problem(&others(file), &dropping(Columns::Only(vec!["f64".into(), name.into()])));
            let expected = format!("column {number} ({name}): the column holds values of the type {found}; {remedy}");
            assert_eq!(sentence, expected, "{file}");
        }
        let nothing = problem(&others(file), &dropping(Columns::Only(vec!["nothing".into()])));
        assert!(nothing.starts_with("each of the 6 rows has a missing cell"), "{nothing}");
    }
    for codec in ["lz4", "brotli"] {
        let sentence = problem(&others(&format!("pyarrow-{codec}")), &Reading::default());
        assert!(
            sentence.contains(&format!("it is packed by {codec}, which is not known here"))
                && sentence.contains("packed by snappy, zstd or gzip"),
            "{sentence}"
        );
    }
}

#[test]
fn many_rows_in_several_groups_and_chosen_columns() {
    let folder = tempfile::tempdir().unwrap();
    let n = 5003;
    let texts: Vec<String> = (0..n).map(|i| i.to_string()).collect();
    let columns = [
        ("a", Cells::f64((0..n).map(f64::from))),
        ("skipped", Cells::Text(texts.iter().map(|text| Some(text.as_str())).collect())),
        ("b", Cells::I32((0..n).map(|i| i * i).collect(), None)),
    ];
    let path = write(&folder, Compression::SNAPPY, &columns);
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
    let columns = [
        ("colour", Cells::Text(vec![Some("red"), None, Some("blue"), Some("red")])),
        ("city", Cells::Text(vec![Some("Oslo"), Some("Bergen"), Some("Tromsø"), Some("Oslo")])),
        ("x", Cells::F64(vec![Some(1.0), Some(2.0), None, Some(4.0)])),
        ("y", Cells::f64([1.0, 2.0, 3.0, 4.0])),
    ];
    let path = write(&folder, Compression::SNAPPY, &columns);
    let table = Table::read_with(&path, &dropping(Columns::All)).unwrap();
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
    let columns = Columns::Only(vec!["factor".into()]);
    let table = Table::read_with(others("pyarrow-snappy"), &dropping(columns.clone())).unwrap();
    assert_eq!(table.levels(0).unwrap(), ["blue".to_string(), "red".to_string()]);
    assert_eq!(
        problem(&others("pyarrow-snappy"), &Reading { columns, ..Reading::default() }),
        "row 0 (counted from 0), column 18 (factor): \"red\" is not a number; \
         write numbers (a class as 0 or 1), take texts as categories by --categorical indicators, or leave the column out"
    );
}

#[test]
fn what_is_wrong_with_a_parquet_file() {
    let folder = tempfile::tempdir().unwrap();
    let x = ("x", Cells::f64([1.0, 2.0]));
    let dates = ("when", Cells::I32(vec![1, 2], Some(LogicalType::Date)));
    let path = write(&folder, Compression::SNAPPY, &[x, dates]);
    assert_eq!(
        problem(&path, &Reading::default()),
        "column 2 (when): the column holds values of the type Date32; write numbers or texts, or leave the column out"
    );
    assert!(Table::read(&path, &Columns::Except(vec!["when".into()])).is_ok());

    let nothing = ("nothing", Cells::F64(vec![None, None]));
    let path = write(&folder, Compression::SNAPPY, &[("x", Cells::f64([1.0, 2.0])), nothing]);
    let how = Reading { missing: Missing::Drop, ..Reading::default() };
    assert_eq!(
        problem(&path, &how),
        "each of the 2 rows has a missing cell, so that --missing drop leaves none; leave out the columns with missing cells"
    );

    let path = write(&folder, Compression::SNAPPY, &[("x", Cells::f64([]))]);
    let empty = "the table has no rows or no columns; check how the file was written";
    assert_eq!(problem(&path, &Reading::default()), empty);

    std::fs::write(&path, b"PAR1 and then something else PAR1").unwrap();
    let sentence = problem(&path, &Reading::default());
    assert!(sentence.starts_with("the parquet file cannot be read ("), "{sentence}");
    assert!(sentence.ends_with("or save the table as CSV or npy"), "{sentence}");
}
