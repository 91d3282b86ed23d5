//! Tables that are read shard by shard: the same numbers as at once, wherever they are cut.

use std::fs;
use std::path::PathBuf;

use elinvar_data::{Columns, Error, Missing, ShardRows, ShardedTable, Table, parquet_bytes};

/// More rows than a shard has, in the order of the columns a, b, y.
const N: usize = 70_000;

fn cell(row: usize, column: usize) -> f64 {
    match column {
        0 => row as f64,
        1 => (row as f64 * 0.37).sin(),
        _ => f64::from(u8::from(row.is_multiple_of(3))),
    }
}

fn parquet(rows: std::ops::Range<usize>) -> Vec<u8> {
    let first = rows.start;
    parquet_bytes(&["a", "b", "y"], rows.len(), &[], |range, out| {
        range.for_each(|row| out.extend((0..3).map(|column| cell(first + row, column))));
    })
    .unwrap()
}

fn csv(rows: std::ops::Range<usize>) -> String {
    rows.map(|row| format!("{},{},{}\n", cell(row, 0), cell(row, 1), cell(row, 2))).collect::<String>()
}

fn all(table: &ShardedTable) -> Result<Vec<ShardRows>, Error> {
    let mut shards = Vec::new();
    table.pass(2, |shard| {
        shards.push(shard);
        Ok::<(), Error>(())
    })?;
    Ok(shards)
}

fn opened(files: &[PathBuf], features: &Columns) -> Result<ShardedTable, Error> {
    ShardedTable::open(files, features, "y", Missing::Refuse)
}

#[test]
fn shards_of_parquet_and_of_csv_have_the_rows_of_the_table() {
    let folder = tempfile::tempdir().unwrap();
    let (one, other) = (folder.path().join("a.parquet"), folder.path().join("b.csv"));
    fs::write(&one, parquet(0..N)).unwrap();
    fs::write(&other, format!("a,b,y\r\n{}", csv(N..N + 10).replace('\n', "\r\n"))).unwrap();
    let table = opened(&[one.clone(), other], &Columns::Only(vec!["b".into(), "a".into()])).unwrap();
    assert_eq!(table.names(), ["b", "a", "y"]);
    let shards = all(&table).unwrap();
    let lengths: Vec<(usize, usize)> = shards.iter().map(|shard| (shard.file, shard.values.len() / 3)).collect();
    assert_eq!(lengths, [(0, 43_690), (0, N - 43_690), (1, 10)]);
    let values: Vec<f64> = shards.into_iter().flat_map(|shard| shard.values).collect();
    for (row, values) in values.chunks_exact(3).enumerate() {
        assert_eq!(values, [cell(row, 1), cell(row, 0), cell(row, 2)], "{row}");
    }
    // And so has the table at once.
    assert_eq!(Table::read(&one, &Columns::All).unwrap().row(N - 1), [cell(N - 1, 0), cell(N - 1, 1), cell(N - 1, 2)]);
}

#[test]
fn what_is_wrong_with_a_part_is_said_with_its_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let write = |name: &str, text: &str| {
        fs::write(path(name), text).unwrap();
        path(name)
    };
    let first = write("1.csv", "a,weight,y\n1,2,0\n3,4,1\n");
    let told = |second: PathBuf, expected: &str| {
        let files = [first.clone(), second.clone()];
        let error = opened(&files, &Columns::All).and_then(|table| all(&table)).unwrap_err().to_string();
        let [first, second] = [&first, &second].map(|file| file.display().to_string());
        assert_eq!(error, expected.replace("{first}", &first).replace("{second}", &second));
    };
    let same = "; all files must have the same columns";
    let of = |what: &str| format!("{{second}}: its columns are not those of {{first}} ({what}){same}");
    told(write("2.csv", "a,wieght,y\n1,2,0\n"), &of("there is no column \"weight\", but \"wieght\""));
    told(write("3.csv", "a,weight,y,z\n1,2,0,1\n"), &of("there is a column \"z\" more"));
    told(write("4.csv", "weight,a,y\n1,2,0\n"), &of("they stand in another order"));
    told(write("5.csv", "a,weight,y\n"), "{second}, line 1: no rows follow the header; add one line for each row");
    let number = "write numbers (a class as 0 or 1), take texts as categories by --categorical indicators, or leave the \
                  column out";
    told(
        write("6.csv", "a,weight,y\n\n1,2,0\n1,two,0\n"),
        &format!("{{second}}, line 4, column 2 (weight): \"two\" is not a number; {number}"),
    );
    told(
        write("7.csv", "a,weight,y\n1,2,0\n,2,0\n"),
        "{second}, line 3, column 1 (a): the value is missing (empty, null or NaN); fill it in, remove the row or leave the \
         column out",
    );
    told(
        write("8.npz", "PK\u{3}\u{4}"),
        "{second}: only parquet and plain CSV are read piece by piece; leave --stream out, or write one of these",
    );
    fs::write(path("9.parquet"), &parquet(0..100)[..500]).unwrap();
    let damaged = opened(&[path("9.parquet")], &Columns::All).unwrap_err().to_string();
    assert!(damaged.contains("9.parquet") && damaged.contains("cannot be read"), "{damaged}");

    let dropped = ShardedTable::open(&[path("7.csv")], &Columns::All, "y", Missing::Drop).unwrap();
    let shards = all(&dropped).unwrap();
    assert_eq!((shards[0].n_dropped, shards[0].values.as_slice()), (1, &[1.0, 2.0, 0.0][..]));
}

#[test]
fn a_file_that_changes_between_two_passes_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.csv");
    fs::write(&file, "a,b,y\n1,2,0\n").unwrap();
    let table = opened(std::slice::from_ref(&file), &Columns::All).unwrap();
    all(&table).unwrap();
    fs::write(&file, "a,b,y\n1,2,0\n1,3,0\n").unwrap();
    let expected = format!("{}: the file has changed since it was first read; fit again", file.display());
    assert_eq!(all(&table).unwrap_err().to_string(), expected);
}

#[test]
fn whoever_takes_may_stop() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.parquet");
    fs::write(&file, parquet(0..N)).unwrap();
    let table = opened(&[file.clone(), file.clone(), file.clone(), file], &Columns::All).unwrap();
    let mut n = 0;
    let stopped = table.pass(1, |_| {
        n += 1;
        Err::<(), Error>(Error::ShiftWithoutIntercept)
    });
    assert!(matches!(stopped, Err(Error::ShiftWithoutIntercept)) && n == 1);
}
