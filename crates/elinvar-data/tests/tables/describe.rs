//! What a description of a file says, word for word.

use std::fs;

use elinvar_data::{ColumnKind, Description, Reading, describe};

fn described(text: &str) -> Description {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("credit.csv");
    fs::write(&path, text).unwrap();
    let mut description = describe(&path, &Reading::default()).unwrap();
    description.file = "credit.csv".into();
    description
}

#[test]
fn a_table_with_everything() {
    let rows = [
        "31,Oslo,7,1,,250000,31,1e9,4",
        "47,Bergen,7,NA,,251000,47,2e9,x",
        "58,Oslo,7,0.25,,inf,58,3e9,5",
        "-2,Oslo,7,?,,249500.25,-2,4e9,6",
    ];
    let text = format!("age;city;seven;rate;none;income;again;big;slip\n{}\n", rows.join("\n").replace(',', ";"));
    let expected = "\
credit.csv: CSV, separated by semicolons; 4 rows, 9 columns

column  type      missing     min    mean       sd     max  levels
age     number          0      -2    33.5    26.13      58
city    category        0                                   Bergen (1), Oslo (3)
seven   constant        0       7       7        0       7
rate    number          2    0.25   0.625   0.5303       1
none    missing         4
income  number          0  249500  250167    763.7  251000
again   number          0      -2    33.5    26.13      58
big     number          0     1e9   2.5e9  1.291e9     4e9
slip    category        0                                   4 (1), 5 (1), 6 (1), x (1)

4 of 4 rows have a missing cell.

Problems:
  city: it holds texts; take texts as categories by --categorical indicators, or leave the column out
  seven: every row has the same value; leave the column out
  rate: 2 of 4 cells are missing, the first in line 3; fill them in, drop the rows by --missing drop or leave the column out
  none: no cell has a value; leave the column out
  income: 1 of 4 cells is infinite, the first in line 4; correct them, remove the rows or leave the column out
  slip: 1 of 4 cells is no number, the first \"x\" in line 3; correct them, or the column is taken as a category
  again: it is the same as \"age\" in every row; leave one of them out
  standard deviations go from 0.5303 (\"rate\") to 1.291e9 (\"big\"); use --standardize, so that one prior suits all coefficients
";
    let description = described(&text);
    assert_eq!(description.to_string(), expected);
    assert_eq!(description.columns[4].kind, ColumnKind::Missing);
    let json = serde_json::to_value(&description).unwrap();
    assert_eq!(json["format"], "CSV, separated by semicolons");
    assert_eq!(json["columns"][1]["levels"][1], serde_json::json!({"level": "Oslo", "n_rows": 3}));
    assert_eq!(json["columns"][2]["kind"], "constant");
}

#[test]
fn a_table_without_problems() {
    let expected = "\
credit.csv: CSV, separated by commas; 2 rows, 1 column

column  type    missing  min  mean      sd  max
a       number        0    1   1.5  0.7071    2

No problems found.
";
    assert_eq!(described("a\n1\n2\n").to_string(), expected);
}

#[test]
fn identifiers_and_names_that_are_taken() {
    let rows: String = (0..60).map(|i| format!("p{i},{i},{}\n", i * i)).collect();
    let problems: Vec<String> = described(&format!("id,intercept,lp__\n{rows}"))
        .problems
        .into_iter()
        .map(|problem| format!("{}: {}", problem.column.unwrap_or_default(), problem.found))
        .collect();
    assert_eq!(
        problems,
        [
            "id: 60 different texts in 60 rows",
            "intercept: the name is taken by the model's own intercept",
            "lp__: the name is taken by a column of the draws"
        ]
    );
}
