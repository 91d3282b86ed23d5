//! npy and npz files, written here byte by byte as numpy's format describes them.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use elinvar_data::{Columns, Outcome, Reading, RegressionData, Selection, Table};
use flate2::write::DeflateEncoder;
use flate2::{Compression, Crc};

use crate::problem::problem;

/// An npy file: version, type, order, shape, bytes of the numbers.
fn npy(version: u8, descr: &str, fortran: bool, shape: &str, data: &[u8]) -> Vec<u8> {
    let order = if fortran { "True" } else { "False" };
    let mut header = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}");
    let before = if version == 1 { 10 } else { 12 };
    header.extend(std::iter::repeat_n(' ', 63 - (before + header.len()) % 64));
    header.push('\n');
    let mut bytes = b"\x93NUMPY".to_vec();
    bytes.extend([version, 0]);
    match version {
        1 => bytes.extend((header.len() as u16).to_le_bytes()),
        _ => bytes.extend((header.len() as u32).to_le_bytes()),
    }
    bytes.extend(header.as_bytes());
    bytes.extend(data);
    bytes
}

fn f8(values: &[f64]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// A ZIP archive of parts, stored or deflated.
fn zip(parts: &[(&str, Vec<u8>)], deflated: bool) -> Vec<u8> {
    let (mut bytes, mut directory) = (Vec::new(), Vec::new());
    for (name, content) in parts {
        let packed = if deflated {
            let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
            encoder.write_all(content).unwrap();
            encoder.finish().unwrap()
        } else {
            content.clone()
        };
        let mut crc = Crc::new();
        crc.update(content);
        let mut common = Vec::new();
        common.extend([20, 0, 0, 0]);
        common.extend((if deflated { 8_u16 } else { 0 }).to_le_bytes());
        common.extend([0; 4]);
        common.extend(crc.sum().to_le_bytes());
        common.extend((packed.len() as u32).to_le_bytes());
        common.extend((content.len() as u32).to_le_bytes());
        common.extend((name.len() as u16).to_le_bytes());
        let offset = bytes.len() as u32;
        bytes.extend(b"PK\x03\x04");
        bytes.extend(&common);
        bytes.extend(3_u16.to_le_bytes());
        bytes.extend(name.as_bytes());
        bytes.extend(b"abc");
        bytes.extend(&packed);
        directory.extend(b"PK\x01\x02\x14\x00");
        directory.extend(&common);
        directory.extend([0; 12]);
        directory.extend(offset.to_le_bytes());
        directory.extend(name.as_bytes());
    }
    let offset = bytes.len() as u32;
    bytes.extend(&directory);
    bytes.extend(b"PK\x05\x06\0\0\0\0");
    bytes.extend((parts.len() as u16).to_le_bytes());
    bytes.extend((parts.len() as u16).to_le_bytes());
    bytes.extend((directory.len() as u32).to_le_bytes());
    bytes.extend(offset.to_le_bytes());
    bytes.extend(0_u16.to_le_bytes());
    bytes
}

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Folder(tempfile::tempdir().unwrap())
    }

    fn write(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.0.path().join(name);
        fs::write(&path, bytes).unwrap();
        path
    }
}

fn read(path: &Path) -> Table {
    Table::read(path, &Columns::All).unwrap()
}

#[test]
fn every_type_of_number_in_both_orders() {
    let folder = Folder::new();
    let values = [1_i16, 0, -3, 4, 5, 60];
    let le = |f: &dyn Fn(i16) -> Vec<u8>| values.iter().flat_map(|&v| f(v)).collect::<Vec<u8>>();
    let signed: [(&str, Vec<u8>); 8] = [
        ("<f8", le(&|v| f64::from(v).to_le_bytes().to_vec())),
        (">f8", le(&|v| f64::from(v).to_be_bytes().to_vec())),
        ("<f4", le(&|v| f32::from(v).to_le_bytes().to_vec())),
        ("<i8", le(&|v| i64::from(v).to_le_bytes().to_vec())),
        ("<i4", le(&|v| i32::from(v).to_le_bytes().to_vec())),
        (">i4", le(&|v| i32::from(v).to_be_bytes().to_vec())),
        ("<i2", le(&|v| v.to_le_bytes().to_vec())),
        ("|i1", le(&|v| (v as i8).to_le_bytes().to_vec())),
    ];
    for (descr, data) in signed {
        for version in [1, 2, 3] {
            let table = read(&folder.write("a.npy", &npy(version, descr, false, "(2, 3)", &data)));
            assert_eq!(table.names(), ["x1", "x2", "x3"]);
            assert_eq!(table.values(), [1.0, 0.0, -3.0, 4.0, 5.0, 60.0], "{descr}");
        }
        let table = read(&folder.write("a.npy", &npy(1, descr, true, "(2, 3)", &data)));
        assert_eq!(table.values(), [1.0, -3.0, 5.0, 0.0, 4.0, 60.0], "{descr} by columns");
    }
    let table = read(&folder.write("a.npy", &npy(1, "|u1", false, "(3,)", &[0, 200, 255])));
    assert_eq!((table.names(), table.values()), (["x1".to_string()].as_slice(), [0.0, 200.0, 255.0].as_slice()));
    let table = read(&folder.write("a.npy", &npy(1, "|b1", false, "(2, 1)", &[0, 1])));
    assert_eq!(table.values(), [0.0, 1.0]);
}

#[test]
fn many_rows_and_chosen_columns() {
    let folder = Folder::new();
    let (n, d) = (10_007, 3);
    let cell = |i: usize, j: usize| (i * 10 + j) as f64;
    let by_rows: Vec<f64> = (0..n * d).map(|k| cell(k / d, k % d)).collect();
    let by_columns: Vec<f64> = (0..n * d).map(|k| cell(k % n, k / n)).collect();
    let columns = Columns::Only(vec!["x3".into(), "x1".into()]);
    for (fortran, values) in [(false, by_rows), (true, by_columns)] {
        let path = folder.write("a.npy", &npy(1, "<f8", fortran, &format!("({n}, {d})"), &f8(&values)));
        let table = Table::read(&path, &columns).unwrap();
        assert_eq!((table.n_rows(), table.names()), (n, ["x3".to_string(), "x1".to_string()].as_slice()));
        assert!((0..n).all(|i| table.row(i) == [cell(i, 2), cell(i, 0)]));
    }
}

#[test]
fn arrays_are_chosen_by_name() {
    let folder = Folder::new();
    let train = npy(1, "<f8", false, "(3, 2)", &f8(&[1.0, 2.0, 3.0, 4.0, 5.0, 7.0]));
    let y = npy(1, "<i8", false, "(3,)", &[0_i64, 1, 1].map(i64::to_le_bytes).concat());
    let other = npy(1, "<f8", false, "(2, 2)", &f8(&[9.0; 4]));
    let text = npy(1, "<U3", false, "(3,)", &[0; 36]);
    for deflated in [false, true] {
        let one = zip(&[("X.npy", train.clone()), ("y.npy", y.clone()), ("note.npy", text.clone())], deflated);
        let path = folder.write("one.npz", &one);
        let data = RegressionData::read(&path, &Selection::new("y", Outcome::Binary)).unwrap();
        assert_eq!(data.names, ["intercept", "x1", "x2"]);
        assert_eq!((data.y.as_slice(), data.row(2)), ([-1.0, 1.0, 1.0].as_slice(), [1.0, 5.0, 7.0].as_slice()));

        let two = zip(&[("X_test.npy", other.clone()), ("X_train.npy", train.clone()), ("y.npy", y.clone())], deflated);
        let path = folder.write("two.npz", &two);
        let array = Some("X_train".to_string());
        let selection = Selection { array, ..Selection::new("y", Outcome::Binary) };
        assert_eq!(RegressionData::read(&path, &selection).unwrap(), data);
        assert_eq!(
            problem(&path, &Reading::default()),
            "the arrays \"X_test\" (2 × 2), \"X_train\" (3 × 2), \"y\" (3) do not make one table; \
             say which one holds the features by --array NAME"
        );
        let wrong = |name: &str| Reading { array: Some(name.into()), ..Reading::default() };
        assert_eq!(problem(&path, &wrong("x-train")), "there is no array \"x-train\"; did you mean \"X_train\"?");
        assert_eq!(
            problem(&path, &wrong("features")),
            "there is no array \"features\"; the arrays are \"X_test\" (2 × 2), \"X_train\" (3 × 2), \"y\" (3)"
        );
    }
    let path = folder.write("columns.npz", &zip(&[("a.npy", y.clone()), ("b.npy", y.clone())], false));
    assert_eq!(read(&path).names(), ["a", "b"]);
    let path = folder.write("clash.npz", &zip(&[("X.npy", train), ("x1.npy", y)], false));
    let clash = "array \"x1\": its name is that of a column of the matrix; rename the array";
    assert_eq!(problem(&path, &Reading::default()), clash);
}

#[test]
fn what_is_wrong_with_an_array() {
    let folder = Folder::new();
    let remedy = "save one or two dimensions of numbers by numpy.save(file, array.astype(float))";
    for (bytes, sentence) in [
        (npy(1, "<c16", false, "(2,)", &[0; 32]), "the numbers are stored as '<c16'"),
        (npy(1, "|O", false, "(2,)", &[0; 32]), "the numbers are stored as '|O'"),
        (npy(1, "<f8", false, "()", &[0; 8]), "the array has 0 dimensions"),
        (npy(1, "<f8", false, "(1, 2, 1)", &[0; 16]), "the array has 3 dimensions"),
        (npy(1, "<f8", false, "(0, 2)", &[]), "the array of 0 × 2 numbers is empty"),
        (npy(1, "<f8", false, "(3, 20)", &[0; 16]), "the array of 3 × 20 numbers is cut off"),
        (
            npy(1, "<f8", false, "(9999999999, 9999999999)", &[0; 16]),
            "the array of 9999999999 × 9999999999 numbers is cut off",
        ),
        (b"\x93NUMPY\x01\x00\x76\x00{'des".to_vec(), "the header does not say 'descr'"),
        (b"\x93NUMPY\x01\x00".to_vec(), "the file ends within its header"),
    ] {
        let path = folder.write("a.npy", &bytes);
        assert_eq!(problem(&path, &Reading::default()), format!("{sentence}; {remedy}"));
    }
    let records = String::from_utf8(npy(1, "?", false, "(2,)", &[])[10..].to_vec()).unwrap();
    let records = records.replace("'?'", "[('a', '<f8')]");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((records.len() as u16).to_le_bytes());
    bytes.extend(records.as_bytes());
    let path = folder.write("a.npy", &bytes);
    assert_eq!(problem(&path, &Reading::default()), format!("the array holds records of several fields; {remedy}"));
}

#[test]
fn what_is_wrong_with_an_archive() {
    let folder = Folder::new();
    let array = npy(1, "<f8", false, "(2, 2)", &f8(&[1.0, 2.0, 3.0, 4.0]));
    let whole = zip(&[("X.npy", array)], false);
    let mut changed = whole.clone();
    let last = whole.windows(8).rposition(|w| w == 4.0_f64.to_le_bytes()).unwrap();
    changed[last + 2] ^= 1;
    let path = folder.write("a.npz", &changed);
    let again = "save one or two dimensions of numbers by numpy.save(file, array.astype(float))";
    let sentence = format!("array \"X\": it is damaged (its checksum is wrong); {again}");
    assert_eq!(problem(&path, &Reading::default()), sentence);
    let path = folder.write("a.npz", &whole[..whole.len() - 30]);
    let damaged = "the archive is damaged; write the file again by numpy.savez";
    assert_eq!(problem(&path, &Reading::default()), damaged);
    let path = folder.write("a.npz", &zip(&[("notes.txt", b"hello".to_vec())], true));
    let none = format!("the archive holds no array with one or two dimensions of numbers; {again}");
    assert_eq!(problem(&path, &Reading::default()), none);
}

#[test]
fn cells_are_named_by_row_and_column() {
    let folder = Folder::new();
    let bytes = npy(1, "<f8", false, "(3, 2)", &f8(&[1.0, 2.0, 3.0, f64::NAN, 5.0, 7.0]));
    let path = folder.write("a.npy", &bytes);
    assert_eq!(
        problem(&path, &Reading::default()),
        "row 1 (counted from 0), column 2 (x2): the value is missing (NaN); fill it in, remove the row or leave the column out"
    );
    let bytes = npy(1, "<f4", true, "(2, 2)", &[1.0_f32, f32::NEG_INFINITY, 3.0, 4.0].map(f32::to_le_bytes).concat());
    let path = folder.write("a.npy", &bytes);
    assert_eq!(
        problem(&path, &Reading::default()),
        "row 1 (counted from 0), column 1 (x1): \"-inf\" is not a finite number; correct it, remove the row or leave the column out"
    );
    let bytes = npy(1, "|u1", false, "(3, 2)", &[1, 2, 3, 2, 5, 0]);
    let path = folder.write("a.npy", &bytes);
    let error = RegressionData::read(&path, &Selection::new("x2", Outcome::Binary)).unwrap_err().to_string();
    let sentence = "column 2 (x2): a binary target holds 0 and 1, or -1 and 1, but this one holds 0 (row 2) and 2 (row 0); \
                    write 0 for 0 and 1 for 2";
    assert_eq!(error, format!("{}, {sentence}", path.display()));
}
