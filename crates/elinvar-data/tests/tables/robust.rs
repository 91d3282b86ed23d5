//! Damaged files of every kind are answered by an error or read as something else, never by a panic.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use elinvar_data::{Categorical, Missing, Reading, Table, describe};

const N_DAMAGED: u64 = 400;

fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// Reads versions of the file with bytes changed, left out or doubled.
fn read_damaged(name: &str, whole: &[u8]) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    let how = Reading { missing: Missing::Drop, categorical: Categorical::Indicators, ..Reading::default() };
    let read = |path: &Path| (Table::read_with(path, &how).is_ok(), describe(path, &how).is_ok());
    fs::write(&path, whole).unwrap();
    assert_eq!(read(&path), (true, true), "{name}");
    let mut state = 1;
    for case in 0..N_DAMAGED {
        let mut bytes = whole.to_vec();
        for _ in 0..=case % 3 {
            let at = random(&mut state) as usize % bytes.len();
            match random(&mut state) % 4 {
                0 => bytes[at] ^= 1 << (random(&mut state) % 8),
                1 => bytes[at] = random(&mut state) as u8,
                2 => bytes.truncate(at.max(1)),
                _ => bytes.insert(at, bytes[at]),
            }
        }
        fs::write(&path, &bytes).unwrap();
        let outcome = catch_unwind(AssertUnwindSafe(|| read(&path)));
        assert!(outcome.is_ok(), "{name}, case {case}: {:?}", String::from_utf8_lossy(&bytes));
    }
}

fn npy(shape: &str, values: &[f64]) -> Vec<u8> {
    let mut header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}");
    header.extend(std::iter::repeat_n(' ', 117 - header.len()));
    let mut bytes = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
    bytes.extend(header.as_bytes());
    bytes.push(b'\n');
    bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
    bytes
}

#[test]
fn damaged_text() {
    read_damaged("a.csv", "city,\"size, m\",y\n\"Oslo\",1.5,0\r\nBergen,NA,1\nTromsø,-2e3,1\n".as_bytes());
    read_damaged("a.libsvm", b"+1 1:0.5 3:-2 # note\n-1 qid:3 2:1e3\n0\n");
}

#[test]
fn damaged_arrays() {
    let array = npy("(3, 2)", &[1.0, 2.0, f64::NAN, 4.0, 5.0, 6.0]);
    read_damaged("a.npy", &array);
    // One stored part named X.npy; its checksum is not reached by a header that lost its size.
    let mut crc = flate2::Crc::new();
    crc.update(&array);
    let mut common = vec![20, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    common.extend(crc.sum().to_le_bytes());
    common.extend((array.len() as u32).to_le_bytes());
    common.extend((array.len() as u32).to_le_bytes());
    common.extend(5_u16.to_le_bytes());
    let mut bytes = [b"PK\x03\x04".as_slice(), &common, &[0, 0], b"X.npy", &array].concat();
    let offset = bytes.len() as u32;
    let list = [b"PK\x01\x02\x14\x00".as_slice(), &common, &[0; 16], b"X.npy"].concat();
    bytes.extend(&list);
    bytes.extend(b"PK\x05\x06\0\0\0\0\x01\0\x01\0");
    bytes.extend((list.len() as u32).to_le_bytes());
    bytes.extend(offset.to_le_bytes());
    bytes.extend([0, 0]);
    read_damaged("a.npz", &bytes);
}

#[cfg(feature = "parquet")]
#[test]
fn damaged_parquet() {
    // Pages packed by zstd and by gzip, in every encoding.
    for name in ["pyarrow-encodings", "fastparquet"] {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/parquet_files/{name}.parquet"));
        read_damaged("a.parquet", &fs::read(file).unwrap());
    }
}

/// A few bytes that claim a table of gigabytes.
#[test]
fn claims_are_bounded_by_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let said = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        Table::read_with(&path, &Reading::default()).unwrap_err().to_string()
    };
    let long = said("a.libsvm", b"1 4194304:1\n0 1:1\n");
    assert!(long.contains("the index 4194304 is out of all proportion to the 18 bytes"), "{long}");
    let wide = said("b.libsvm", &[b"1 4000:1\n".as_slice(), &b"0\n".repeat(500)].concat());
    assert!(wide.contains("501 rows of 4001 columns cannot stand in 1009 bytes"), "{wide}");
    // Many columns, and many lines without cells.
    let names: String = (0..50_000).map(|k| format!(",c{k}")).collect();
    let csv = format!("a{names}\n{}1\n", "\n".repeat(1_000_000));
    assert!(said("a.csv", csv.as_bytes()).contains("the row has 1 field and the header has 50001"));
    assert!(said("a.npy", &npy("(4000000000, 500)", &[1.0])).contains("is cut off"));
}

/// A column of texts is found out once, not once for each column.
#[test]
fn late_texts_take_two_passes() {
    let n = 1_500;
    let mut text: String = (0..n).map(|k| format!("c{k},")).collect();
    text += "y\n";
    for row in 0..n {
        let cells: String = (0..n).map(|k| if k == row { "x," } else { "1," }).collect();
        text += &format!("{cells}{row}\n");
    }
    let how = Reading { categorical: Categorical::Indicators, ..Reading::default() };
    let begun = std::time::Instant::now();
    let table = Table::from_csv_with("t.csv", text.as_bytes(), &how).unwrap();
    assert_eq!(table.levels(7).unwrap(), ["1", "x"]);
    // Five megabytes, which take 0.2 seconds here; a pass for each column took minutes.
    assert!(begun.elapsed().as_secs() < 30, "{:?}", begun.elapsed());
}
