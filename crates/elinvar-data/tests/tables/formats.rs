//! Kinds of files, missing cells and categories: what is read, and the exact sentence for what is not.

use std::fs;

use elinvar_data::{Categorical, Columns, Intercept, Missing, Outcome, Reading, RegressionData, Selection, Table};

fn indicators() -> Reading {
    Reading { categorical: Categorical::Indicators, ..Reading::default() }
}

/// The sentence for a file of this name and content, without the folder.
fn reading(name: &str, content: impl AsRef<[u8]>, how: &Reading) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, content).unwrap();
    let error = Table::read_with(&path, how).expect_err("the file is wrong").to_string();
    error.replace(&format!("{}/", folder.path().display()), "")
}

fn taking(text: &str, intercept: Intercept) -> String {
    let table = Table::from_csv_with("credit.csv", text.as_bytes(), &indicators()).expect("the text is a table");
    let selection = Selection { intercept, ..Selection::new("y", Outcome::Binary) };
    RegressionData::from_table(&table, &selection).expect_err("the selection is wrong").to_string()
}

#[test]
fn libsvm_is_told_by_content_or_name() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a9a", "a9a.txt", "a9a.csv", "a.libsvm"] {
        let path = folder.path().join(name);
        fs::write(&path, "-1 3:1 11:0.5\n+1 5:1\n").unwrap();
        let data = RegressionData::read(
            &path,
            &Selection { intercept: Intercept::None, ..Selection::new("y", Outcome::Binary) },
        );
        let data = data.unwrap();
        assert_eq!((data.n_cols(), data.y.as_slice()), (11, [-1.0, 1.0].as_slice()), "{name}");
        assert_eq!((data.row(0)[10], data.row(1)[4], data.names[10].as_str()), (0.5, 1.0, "x11"));
    }
}

#[test]
fn lines_that_are_not_libsvm() {
    for (text, sentence) in [
        (
            "1 1:2\n\n1 2\n",
            "line 3: \"2\" is not an index:value pair; write an index, a colon and a number without spaces",
        ),
        ("1 0:2 1:3\n", "line 1: \"0:2\" has the index 0; count indices from 1 (in scikit-learn: zero_based=False)"),
        ("1 a:2\n", "line 1: \"a:2\" has an index that is not a whole number; count the features from 1"),
        ("1 -4:2\n", "line 1: \"-4:2\" has an index that is not a whole number; count the features from 1"),
        (
            "1 2:2 2:3\n",
            "line 1: \"2:3\" does not have a larger index than the pair before it; \
             write the indices of a line in increasing order, each once",
        ),
        ("1 1:x\n", "line 1: \"1:x\" has a value that is not a number; write a number behind the colon"),
        ("1 1:2\nyes 1:1\n", "line 2: \"yes\" is not a number; begin each line with the target as a number"),
        (
            "1 1:2\n1 1:nan\n",
            "line 2, column 1 (x1): the value is missing (\"1:nan\"); fill it in, remove the row or leave the column out",
        ),
        (
            "1 1:inf\n",
            "line 1, column 1 (x1): \"inf\" is not a finite number; correct it, remove the row or leave the column out",
        ),
    ] {
        assert_eq!(reading("a.libsvm", text, &Reading::default()), format!("a.libsvm, {sentence}"));
    }
    assert_eq!(
        reading("a.libsvm", "# nothing\n\n", &Reading::default()),
        "a.libsvm: the file has no rows; write one line for each row: label index:value …"
    );
    assert_eq!(
        reading("a.libsvm", "1 1:1\n1 4000000000:1\n", &Reading::default()),
        "a.libsvm, line 2: \"4000000000:1\" has an index above 4194304; number the features from 1 without gaps"
    );
    assert_eq!(
        reading("a.libsvm", format!("{}1 4000000:1\n", "0\n".repeat(600)), &Reading::default()),
        "a.libsvm: the index 4000000 is out of all proportion to the 1212 bytes of the file; \
         number the features from 1 without gaps"
    );
}

#[test]
fn files_of_other_kinds() {
    let how = Reading::default();
    assert_eq!(
        reading("a.xlsx", b"PK\x03\x04....", &how),
        "a.xlsx: this is a spreadsheet; save the sheet as CSV in UTF-8"
    );
    let broken = reading("a.csv.gz", b"\x1f\x8b\x08\x00", &how);
    assert!(broken.starts_with("a.csv.gz: the file cannot be unpacked (") && broken.ends_with("is whole"), "{broken}");
    for ending in ["npy", "npz", "parquet"] {
        assert_eq!(
            reading(&format!("a.{ending}"), "a,b\n1,2\n", &how),
            format!(
                "a.{ending}: the name ends in .{ending}, but the content is something else; check how the file was written"
            )
        );
    }
    #[cfg(not(feature = "parquet"))]
    assert_eq!(
        reading("a.parquet", b"PAR1....PAR1", &how),
        "a.parquet: this is a parquet file, which this build does not read; \
         build with --features parquet, or save the table as CSV or npy"
    );
}

#[test]
fn several_missing_cells_are_counted() {
    let text = "age,income,y\n31,2.5,1\nNA,,0\n47,3,1\n?,4,0\n";
    assert_eq!(
        reading("credit.csv", text, &Reading::default()),
        "credit.csv, line 3, column 1 (age): the value is missing (\"NA\"), the first of 3 missing cells in 2 rows; \
         fill them in, drop the rows by --missing drop or leave the column out"
    );
    assert_eq!(
        reading("credit.csv", "a,b\n,\n", &Reading::default()),
        "credit.csv, line 2, column 1 (a): the value is missing (empty cell), the first of 2 missing cells in 1 row; \
         fill them in, drop the rows by --missing drop or leave the column out"
    );
    let drop = Reading { missing: Missing::Drop, ..Reading::default() };
    assert_eq!(
        reading("credit.csv", "a,b\n1,\nNA,2\n", &drop),
        "credit.csv: each of the 2 rows has a missing cell, so that --missing drop leaves none; \
         leave out the columns with missing cells"
    );
    let columns = Columns::Only(vec!["income".into()]);
    let table = Table::from_csv_with("t.csv", text.as_bytes(), &Reading { columns, ..drop }).unwrap();
    assert_eq!((table.values(), table.n_dropped()), ([2.5, 3.0, 4.0].as_slice(), 1));
}

#[test]
fn identifiers_and_slips_are_no_categories() {
    let names: String = (0..60).map(|i| format!("p{i},{}\n", i % 2)).collect();
    assert_eq!(
        reading("credit.csv", format!("id,y\n{names}"), &indicators()),
        "credit.csv, column 1 (id): 60 different values in 60 rows are too many for a category; leave the column out"
    );
    let numbers: String = (0..60).map(|i| if i == 40 { "4o,0\n".into() } else { format!("{i},{}\n", i % 2) }).collect();
    assert_eq!(
        reading("credit.csv", format!("age,y\n{numbers}"), &indicators()),
        "credit.csv, line 42, column 1 (age): \"4o\" is not a number; correct it or leave the column out"
    );
    let few: String = (0..60).map(|i| format!("p{},{}\n", i % 30, i % 2)).collect();
    let table = Table::from_csv_with("ok.csv", format!("id,y\n{few}").as_bytes(), &indicators()).unwrap();
    assert_eq!(table.levels(0).unwrap().len(), 30);
}

#[test]
fn categories_that_no_model_can_use() {
    assert_eq!(
        taking("city,y\nOslo,1\nOslo,0\n", Intercept::First),
        "credit.csv, column 1 (city): every row has the level \"Oslo\", so that there is nothing to compare; leave the column out"
    );
    assert_eq!(
        taking("x,y\n1,a\n2,b\n2,c\n3,d\n4,e\n", Intercept::First),
        "credit.csv, column 2 (y): the target holds texts (\"a\", \"b\", \"c\" and 2 more); write numbers or name another target"
    );
    assert_eq!(
        taking("city,city=Oslo,y\nOslo,1,1\nBergen,2,0\n", Intercept::First),
        "credit.csv, column 1 (city): its indicator \"city=Oslo\" has the name of another column; rename one of them"
    );
    let how = Reading { as_category: vec!["cty".into()], ..Reading::default() };
    assert_eq!(
        reading("credit.csv", "city,y\n1,2\n", &how),
        "credit.csv: there is no column \"cty\"; did you mean \"city\"?"
    );
}

#[test]
fn scaling_and_splits_that_cannot_be_done() {
    let table = elinvar_data::breast_cancer();
    let selection = Selection { intercept: Intercept::None, ..Selection::new("y", Outcome::Binary) };
    let data = RegressionData::from_table(&table, &selection).unwrap();
    assert_eq!(
        elinvar_data::Scaling::Standardize.transforms(&data).unwrap_err().to_string(),
        "--standardize subtracts the mean of each column, and without an intercept that changes the model; \
         keep the intercept or use --scale"
    );
    assert_eq!(
        elinvar_data::split_fraction(10, 0.99, 1).unwrap_err().to_string(),
        "0.99 of 10 rows cannot be taken for training; take a part between 0 and 1 that leaves rows on both sides"
    );
}

/// `a,b\n1,2\n3,4\n` as gzip and zstd write it.
#[test]
fn packed_tables_are_read_as_they_are() {
    use std::io::Write as _;
    let text = b"a,b\n1,2\n3,4\n";
    let folder = tempfile::tempdir().unwrap();
    let packed = |bytes: &[u8]| {
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        gzip.write_all(bytes).unwrap();
        gzip.finish().unwrap()
    };
    let read = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        elinvar_data::Table::read(&path, &elinvar_data::Columns::All)
    };
    let table = read("t.csv.gz", &packed(text)).unwrap();
    assert_eq!(
        (table.names().to_vec(), table.values().to_vec()),
        (vec!["a".into(), "b".into()], vec![1.0, 2.0, 3.0, 4.0])
    );
    // The name within tells LIBSVM, as it does without packing.
    let sparse = read("t.libsvm.gz", &packed(b"1 1:2\n0 1:3\n")).unwrap();
    assert_eq!(sparse.n_rows(), 2);
    let twice = read("t.csv.gz", &packed(&packed(text))).unwrap_err().to_string();
    assert!(twice.ends_with("the file is packed twice; unpack it first"), "{twice}");
    let archive = read("t.parquet.gz", &packed(b"PAR1....PAR1")).unwrap_err().to_string();
    assert!(archive.ends_with("name the file itself"), "{archive}");
    let bomb = read("t.csv.gz", &packed(&vec![b'1'; 32 << 20])).unwrap_err().to_string();
    assert!(bomb.contains("out of all proportion"), "{bomb}");
    // As the program zstd 1.5 writes it.
    #[cfg(feature = "parquet")]
    {
        let zstd = [&[0x28, 0xb5, 0x2f, 0xfd, 0x20, 0x0c, 0x61, 0x00, 0x00][..], text].concat();
        assert_eq!(read("t.csv.zst", &zstd).unwrap().values(), [1.0, 2.0, 3.0, 4.0]);
    }
}
