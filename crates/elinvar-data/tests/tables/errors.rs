//! The exact sentence of every error: file, line, column, what was found, what to do.

use std::fs;
use std::path::Path;

use elinvar_data::{Columns, Error, Intercept, Outcome, RegressionData, Selection, Table, read_row_numbers, split};

/// The sentence for CSV text in which a table cannot be found.
fn reading(text: impl AsRef<[u8]>) -> String {
    Table::from_csv("credit.csv", text.as_ref(), &Columns::All).expect_err("the text is wrong").to_string()
}

/// The sentence for a table from which `selection` cannot be taken.
fn taking(text: &str, selection: &Selection) -> String {
    let table = Table::from_csv("credit.csv", text.as_bytes(), &Columns::All).expect("the text is a table");
    RegressionData::from_table(&table, selection).expect_err("the selection is wrong").to_string()
}

fn names(list: &[&str]) -> Vec<String> {
    list.iter().map(|name| name.to_string()).collect()
}

fn read(path: &Path) -> Error {
    Table::read(path, &Columns::All).expect_err("the file is wrong")
}

#[test]
fn missing_file() {
    let folder = tempfile::tempdir().unwrap();
    let wanted = folder.path().join("credti.csv");
    assert_eq!(read(&wanted).to_string(), format!("{}: there is no such file; check the path", wanted.display()));
    let there = folder.path().join("credit.csv");
    fs::write(&there, "a\n1\n").unwrap();
    fs::write(folder.path().join("other.csv"), "a\n1\n").unwrap();
    let expected = format!("{}: there is no such file; did you mean {}?", wanted.display(), there.display());
    assert_eq!(read(&wanted).to_string(), expected);
    let elsewhere = folder.path().join("no_such_folder/credit.csv");
    assert_eq!(read(&elsewhere).to_string(), format!("{}: there is no such file; check the path", elsewhere.display()));
}

#[test]
fn folder_instead_of_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let shown = folder.path().display().to_string();
    assert_eq!(read(folder.path()).to_string(), format!("{shown}: this is a folder; name a file in it"));
    let table = folder.path().join("a.csv");
    fs::write(&table, "a\n1\n").unwrap();
    let expected = format!("{shown}: this is a folder; name a file in it, for example {}", table.display());
    assert_eq!(read(folder.path()).to_string(), expected);
}

#[test]
fn unreadable_file() {
    // A path through a file is refused for every user, root included.
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.csv");
    fs::write(&file, "a\n1\n").unwrap();
    let error = read(&file.join("b.csv"));
    assert!(matches!(error, Error::Unreadable { .. } | Error::NotFound { .. }), "{error:?}");
    let source = std::io::Error::new(std::io::ErrorKind::PermissionDenied, "permission denied");
    assert_eq!(
        Error::Unreadable { file: "credit.csv".into(), source }.to_string(),
        "credit.csv: the file cannot be read (permission denied); check the path and its permissions"
    );
}

#[test]
fn not_text() {
    let expected = "credit.csv, line 3: the file is not UTF-8 text; save it as CSV in UTF-8";
    assert_eq!(reading(b"stra\xc3\x9fe,b\n1,2\n3,\xdf\n"), expected);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("utf16.csv");
    fs::write(&file, b"\xff\xfea\0,\0b\0\n\0").unwrap();
    let expected = format!("{}, line 1: the file is not UTF-8 text; save it as CSV in UTF-8", file.display());
    assert_eq!(read(&file).to_string(), expected);
}

#[test]
fn empty_file() {
    let expected =
        "credit.csv: the file is empty; it needs a header line with the column names and one line for each row";
    for text in ["", "\n\r\n  \n", "\u{feff}"] {
        assert_eq!(reading(text), expected, "{text:?}");
    }
}

#[test]
fn header_without_rows() {
    assert_eq!(reading("a,b\n"), "credit.csv, line 1: no rows follow the header; add one line for each row");
    assert_eq!(reading("\na,b\r\n\r\n"), "credit.csv, line 2: no rows follow the header; add one line for each row");
}

#[test]
fn numbers_where_names_should_be() {
    assert_eq!(
        reading("1,2.5,-3e4\n4,5,6\n"),
        "credit.csv, line 1: the first line holds only numbers (\"1,2.5,-3e4\") where column names should be; add a header line"
    );
    assert!(Table::from_csv("ok.csv", b"2019,y\n1,2\n", &Columns::All).is_ok());
}

#[test]
fn column_without_a_name() {
    assert_eq!(
        reading("a,,b\n1,2,3\n"),
        "credit.csv, line 1, column 2: the column has no name; name it in the header or remove it"
    );
    assert_eq!(
        reading(",a,b\n0,2,3\n1,3,4\n"),
        "credit.csv, line 1, column 1: the column has no name; name it, or save the table without its index"
    );
}

#[test]
fn name_with_a_control_character() {
    for (text, shown) in [("a,\"b\nc\"\n1,2\n", "b\\nc"), ("a,b\u{1b}[31m\n1,2\n", "b\\u{1b}[31m")] {
        assert_eq!(
            reading(text),
            format!("credit.csv, line 1, column 2: the name \"{shown}\" holds a control character; rename the column")
        );
    }
}

#[test]
fn line_before_the_header() {
    for first in ["# made by a tool", "# made by a tool, today", "#x", "sep=,", "SEP=;", "\"sep=,\""] {
        assert_eq!(
            reading(format!("{first}\na,b\n1,2\n")),
            format!("credit.csv, line 1: \"{first}\" is not a line of column names; remove line 1")
        );
    }
    assert!(Table::from_csv("ok.csv", b"#id,y\n1,2\n", &Columns::All).is_ok());
    assert!(Table::from_csv("ok.csv", b"\"#id\";y\n\"1\";2\n", &Columns::All).is_ok());
    assert!(Table::from_csv("ok.csv", b"sepal,y\n1,2\n", &Columns::All).is_ok());
}

#[test]
fn two_columns_with_one_name() {
    assert_eq!(
        reading("a,income,b, income\n1,2,3,4\n"),
        "credit.csv, line 1, columns 2 and 4: both are named \"income\"; rename one of them"
    );
}

#[test]
fn row_with_another_number_of_fields() {
    assert_eq!(
        reading("a,b,c\n1,2,3\n4,5\n"),
        "credit.csv, line 3: the row has 2 fields and the header has 3 (\"4,5\"); \
         add what is missing, or check for a missing delimiter"
    );
    assert_eq!(
        reading("a,b\r\n\r\n1,2,3\r\n"),
        "credit.csv, line 3: the row has 3 fields and the header has 2 (\"1,2,3\"); \
         remove what is too much, or put quotes around a text that contains the delimiter"
    );
    assert_eq!(
        reading("a,b\n1,2\n\"3,4\n5,6\n"),
        "credit.csv, line 3: the row has 1 field and the header has 2 (\"\"3,4\"); close the quote that is open on this line"
    );
}

#[test]
fn missing_value() {
    let remedy = "fill it in, remove the row or leave the column out";
    assert_eq!(
        reading("age,income\n31,2.5\n47,\n"),
        format!("credit.csv, line 3, column 2 (income): the value is missing (empty cell); {remedy}")
    );
    for sign in ["NA", "na", "N/A", "#N/A", "NaN", "nan", "null", "NULL", "None", "none", "?", ".", "-"] {
        assert_eq!(
            reading(format!("age,income\n{sign},2.5\n")),
            format!("credit.csv, line 2, column 1 (age): the value is missing (\"{sign}\"); {remedy}")
        );
    }
    assert_eq!(
        reading("age\n1\n\"\"\n2\n"),
        format!("credit.csv, line 3, column 1 (age): the value is missing (empty cell); {remedy}")
    );
}

#[test]
fn cell_that_is_not_a_number() {
    assert_eq!(
        reading("age,income\n31,2.5\n\n47,12a\n"),
        "credit.csv, line 4, column 2 (income): \"12a\" is not a number; \
         write numbers (a class as 0 or 1), take texts as categories by --categorical indicators, or leave the column out"
    );
    assert_eq!(
        reading("age;income\n31;2,5\n"),
        "credit.csv, line 2, column 2 (income): \"2,5\" is not a number; write a decimal point instead of the comma"
    );
    assert_eq!(
        reading("age income\n31 2.5\n"),
        "credit.csv, line 2, column 1 (age income): \"31 2.5\" is not a number; \
         separate the columns by commas, semicolons or tabs"
    );
    assert_eq!(
        reading(format!("age\n{}\n", "x".repeat(5000))),
        format!(
            "credit.csv, line 2, column 1 (age): \"{}…\" is not a number; \
             write numbers (a class as 0 or 1), take texts as categories by --categorical indicators, or leave the column out",
            "x".repeat(40)
        )
    );
}

#[test]
fn infinite_cell() {
    for sign in ["inf", "-Infinity", "1e999"] {
        assert_eq!(
            reading(format!("age,income\n31,{sign}\n")),
            format!(
                "credit.csv, line 2, column 2 (income): \"{sign}\" is not a finite number; \
                 correct it, remove the row or leave the column out"
            )
        );
    }
}

#[test]
fn unknown_column() {
    let text = "age,income,y\n31,2.5,0\n47,3.5,1\n";
    assert_eq!(
        taking(text, &Selection::new("incmoe", Outcome::Real)),
        "credit.csv: there is no column \"incmoe\"; did you mean \"income\"?"
    );
    assert_eq!(
        taking(text, &Selection::new("default", Outcome::Real)),
        "credit.csv: there is no column \"default\"; the columns are \"age\", \"income\", \"y\""
    );
    let wide: Vec<String> = (0..30).map(|j| format!("x{j}")).collect();
    let rows = vec!["1"; 30].join(",");
    assert_eq!(
        taking(&format!("{}\n{rows}\n", wide.join(",")), &Selection::new("target", Outcome::Real)),
        "credit.csv: there is no column \"target\"; the columns are \
         \"x0\", \"x1\", \"x2\", \"x3\", \"x4\", \"x5\", \"x6\", \"x7\" and 22 more"
    );
    let features = Columns::Except(names(&["Age "]));
    assert_eq!(
        taking(text, &Selection { features, ..Selection::new("y", Outcome::Real) }),
        "credit.csv: there is no column \"Age \"; did you mean \"age\"?"
    );
}

#[test]
fn columns_listed_wrongly() {
    let text = "age,income,y\n31,2.5,0\n47,3.5,1\n";
    let only = |list: &[&str]| Selection { features: Columns::Only(names(list)), ..Selection::new("y", Outcome::Real) };
    let except =
        |list: &[&str]| Selection { features: Columns::Except(names(list)), ..Selection::new("y", Outcome::Real) };
    assert_eq!(
        taking(text, &only(&["age", "income", "age"])),
        "credit.csv: the column \"age\" is listed twice; list it once"
    );
    assert_eq!(
        taking(text, &except(&["age", "y"])),
        "credit.csv: the target column \"y\" is also left out; keep it or name another target"
    );
    let none = "credit.csv: no feature column is left beside the target \"y\"; keep at least one";
    assert_eq!(taking(text, &except(&["age", "income"])), none);
    let listed =
        "credit.csv: the target column \"y\" is also listed as a feature; take it off the list or name another target";
    assert_eq!(taking(text, &only(&["y"])), listed);
    assert_eq!(taking(text, &only(&["age", "y"])), listed);
    assert_eq!(taking("y\n1\n2\n", &Selection::new("y", Outcome::Real)), none);
}

#[test]
fn text_in_a_column_that_is_left_out_does_no_harm() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("credit.csv");
    fs::write(&file, "id,age,y\nann,31,0\nbob,47,1\n").unwrap();
    for features in [Columns::Except(names(&["id"])), Columns::Only(names(&["age"]))] {
        let selection = Selection { features, ..Selection::new("y", Outcome::Binary) };
        let data = RegressionData::read(&file, &selection).unwrap();
        assert_eq!((data.names, data.y), (names(&["intercept", "age"]), vec![-1.0, 1.0]));
    }
    let error = RegressionData::read(&file, &Selection::new("y", Outcome::Binary)).unwrap_err();
    let expected = format!(
        "{}, line 2, column 1 (id): \"ann\" is not a number; write numbers (a class as 0 or 1), take texts as categories by --categorical indicators, or leave the column out",
        file.display()
    );
    assert_eq!(error.to_string(), expected);
}

#[test]
fn too_few_rows() {
    assert_eq!(
        taking("x,y\n1,2\n", &Selection::new("y", Outcome::Real)),
        "credit.csv: 1 row of data is too few; at least 2 rows are needed"
    );
}

#[test]
fn target_that_is_not_binary() {
    let binary = Selection::new("y", Outcome::Binary);
    assert_eq!(
        taking("x,y\n1,2\n2,1\n3,2\n", &binary),
        "credit.csv, column 2 (y): a binary target holds 0 and 1, or -1 and 1, but this one holds 1 (line 3) and 2 (line 2); \
         write 0 for 1 and 1 for 2"
    );
    assert_eq!(
        taking("x,y\n1,0\n2,-1\n3,1\n", &binary),
        "credit.csv, column 2 (y): a binary target holds 0 and 1, or -1 and 1, \
         but this one holds -1 (line 3), 0 (line 2) and 1 (line 4); \
         recode it to two classes or choose a model for such a target"
    );
    assert_eq!(
        taking("x,y\n1,0\n2,1\n3,2\n4,3.5\n5,4\n6,5\n7,6\n", &binary),
        "credit.csv, column 2 (y): a binary target holds 0 and 1, or -1 and 1, \
         but this one holds 0 (line 2), 1 (line 3), 2 (line 4), 3.5 (line 5), 4 (line 6) and 2 more values; \
         recode it to two classes or choose a model for such a target"
    );
    assert_eq!(
        taking("x,y\n1,7\n2,7\n", &binary),
        "credit.csv, column 2 (y): a binary target holds 0 and 1, or -1 and 1, but this one holds 7 (line 2); \
         recode it to two classes or choose a model for such a target"
    );
}

#[test]
fn target_with_one_class() {
    for class in ["0", "1", "-1"] {
        assert_eq!(
            taking(&format!("x,y\n1,{class}\n2,{class}\n"), &Selection::new("y", Outcome::Binary)),
            format!(
                "credit.csv, column 2 (y): every row has the class {class}, and a binary target needs two; \
                 add rows of the other class or name another target"
            )
        );
    }
}

#[test]
fn target_that_is_not_a_count() {
    let counts = Selection::new("y", Outcome::Count);
    for value in ["-1", "2.5", "1e300"] {
        assert_eq!(
            taking(&format!("x,y\n1,2\n2,{value}\n"), &counts),
            format!(
                "credit.csv, line 3, column 2 (y): {value} is not a count; the target must hold whole numbers from 0 to 2^53"
            )
        );
    }
    let found = taking("x,y\n1,0.2\n2,1\n", &Selection::new("y", Outcome::Share));
    assert!(found.ends_with("line 3, column 2 (y): 1 is not a number between 0 and 1, as the model needs; correct it, or choose another model"), "{found}");
    let table = Table::from_csv("ok.csv", b"x,y\n1,0\n2,17\n", &Columns::All).unwrap();
    assert_eq!(RegressionData::from_table(&table, &counts).unwrap().y, [0.0, 17.0]);
}

#[test]
fn target_that_never_changes() {
    let sentence = |value: &str| {
        format!(
            "credit.csv, column 2 (y): every row has the value {value}, so there is nothing to explain; name another target"
        )
    };
    assert_eq!(taking("x,y\n1,2.5\n2,2.5\n", &Selection::new("y", Outcome::Real)), sentence("2.5"));
    let counts = Selection::new("y", Outcome::Count);
    assert_eq!(taking("x,y\n1,0\n2,0\n", &counts), sentence("0"));
    let table = Table::from_csv("ok.csv", b"x,y\n1,3\n2,3\n", &Columns::All).unwrap();
    assert!(RegressionData::from_table(&table, &counts).is_ok());
}

#[test]
fn value_that_is_too_large() {
    let real = Selection::new("y", Outcome::Real);
    for (text, place, shown) in [
        ("x,y\n1,2\n-1.5e101,3\n", "line 3, column 1 (x)", "-1.5e101"),
        ("x,y\n1,1e300\n2,3\n", "line 2, column 2 (y)", "1e300"),
    ] {
        assert_eq!(
            taking(text, &real),
            format!("credit.csv, {place}: {shown} is too large to compute with; divide the column by a constant")
        );
    }
    let table = Table::from_csv("ok.csv", b"z,x,y\n1e200,1e100,2\n1,2,3\n", &Columns::All).unwrap();
    let features = Columns::Except(names(&["z"]));
    assert!(RegressionData::from_table(&table, &Selection { features, ..real }).is_ok());
}

#[test]
fn name_that_comes_with_draws() {
    for name in ["lp__", "log_p__", "log_g__"] {
        assert_eq!(
            taking(&format!("x,{name},y\n1,2,3\n2,5,4\n"), &Selection::new("y", Outcome::Real)),
            format!(
                "credit.csv, column 2 ({name}): the name is taken by a column of the draws; \
                 rename the column or leave it out"
            )
        );
    }
}

#[test]
fn feature_that_duplicates_the_intercept() {
    let text = "x,one,y\n1,3,2\n2,3,4\n";
    assert_eq!(
        taking(text, &Selection::new("y", Outcome::Real)),
        "credit.csv, column 2 (one): every row has the value 3, which duplicates the intercept; drop it or use --no-intercept"
    );
    let table = Table::from_csv("ok.csv", text.as_bytes(), &Columns::All).unwrap();
    let without = Selection { intercept: Intercept::None, ..Selection::new("y", Outcome::Real) };
    assert_eq!(RegressionData::from_table(&table, &without).unwrap().names, ["x", "one"]);
    assert_eq!(
        taking("intercept,y\n1,3\n2,4\n", &Selection::new("y", Outcome::Real)),
        "credit.csv, column 1 (intercept): the name is taken by the model's own intercept; \
         rename the column or use --no-intercept"
    );
}

#[test]
fn training_rows_that_do_not_exist() {
    assert_eq!(
        split(10, 11, 1).unwrap_err().to_string(),
        "11 of 10 rows cannot be taken for training; take between 1 and 10"
    );
    assert_eq!(
        split(10, 0, 1).unwrap_err().to_string(),
        "0 of 10 rows cannot be taken for training; take between 1 and 10"
    );
}

#[test]
fn files_of_row_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("train.idx");
    let shown = file.display().to_string();
    let reading = |text: &str| {
        fs::write(&file, text).unwrap();
        read_row_numbers(&file, 10)
    };
    assert_eq!(reading("6\r\n1\r\n\r\n7\r\n").unwrap(), [6, 1, 7]);
    for (text, sentence) in [
        ("6\n1.5\n", "line 2: \"1.5\" is not a row number; write one number per line, the first row being 0"),
        ("6\n\n10\n", "line 3: there is no row 10 among 10 rows; rows are counted from 0 to 9"),
        ("6\n1\n6\n", "line 3: row 6 is already on line 1; remove one of them"),
    ] {
        assert_eq!(reading(text).unwrap_err().to_string(), format!("{shown}, {sentence}"));
    }
    assert_eq!(
        reading("\n").unwrap_err().to_string(),
        format!("{shown}: the file holds no row numbers; write one number per line, the first row being 0")
    );
}
