//! Reading one array as numpy saves it (npy, versions 1 to 3), straight into the rows of a table.

use std::io::Read;
use std::path::Path;

use crate::draft::Draft;
use crate::error::Unit;
use crate::format::{Format, content};
use crate::room::{row_numbers, zeros};
use crate::{Error, Reading, Table};

/// How the numbers of an array are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Number {
    /// `f`, `i`, `u` or `b`, as numpy writes it.
    kind: u8,
    size: usize,
    big_endian: bool,
}

/// What stands before the numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    number: Number,
    fortran_order: bool,
    pub(crate) shape: Vec<usize>,
}

impl Header {
    /// Rows and columns; a vector is one column.
    pub(crate) fn size(&self) -> Option<(usize, usize)> {
        match self.shape[..] {
            [n] => Some((n, 1)),
            [n, d] => Some((n, d)),
            _ => None,
        }
    }

    /// Bytes of all numbers.
    pub(crate) fn n_bytes(&self) -> Option<u64> {
        let n = self.shape.iter().try_fold(self.number.size, |n, &side| n.checked_mul(side))?;
        Some(n as u64)
    }
}

/// Reads what stands before the numbers; the error is the problem in words.
pub(crate) fn read_header(from: &mut impl Read) -> Result<Header, String> {
    let cut = |_| "the file ends within its header".to_string();
    let mut start = [0; 8];
    from.read_exact(&mut start).map_err(cut)?;
    if &start[..6] != b"\x93NUMPY" {
        return Err("the content is not an array of numpy".into());
    }
    let length = if start[6] == 1 {
        let mut bytes = [0; 2];
        from.read_exact(&mut bytes).map_err(cut)?;
        usize::from(u16::from_le_bytes(bytes))
    } else {
        let mut bytes = [0; 4];
        from.read_exact(&mut bytes).map_err(cut)?;
        u32::from_le_bytes(bytes) as usize
    };
    // numpy itself reads no more than 10 000 bytes; only records need as many.
    const LONGEST: usize = 1 << 16;
    if length > LONGEST {
        return Err(format!("the header claims {length} bytes"));
    }
    let mut text = String::new();
    from.take(length as u64).read_to_string(&mut text).map_err(cut)?;
    parse_header(&text)
}

/// Reads `{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }`.
fn parse_header(text: &str) -> Result<Header, String> {
    let after = |key: &str| {
        let (_, rest) =
            text.split_once(&format!("'{key}':")).ok_or_else(|| format!("the header does not say '{key}'"))?;
        Ok::<&str, String>(rest.trim_start())
    };
    let descr = after("descr")?;
    let number = match descr.strip_prefix('\'').and_then(|rest| rest.split('\'').next()) {
        Some(word) => number_of(word).ok_or_else(|| format!("the numbers are stored as '{word}'"))?,
        None => return Err("the array holds records of several fields".into()),
    };
    let fortran_order = after("fortran_order")?.starts_with("True");
    let shape = after("shape")?;
    let shape = shape.strip_prefix('(').and_then(|rest| rest.split(')').next());
    let sides =
        shape.unwrap_or("?").split(',').map(|side| side.trim().trim_end_matches('L')).filter(|side| !side.is_empty());
    let shape = sides.map(|side| side.parse().map_err(|_| "the header has no shape".to_string()));
    Ok(Header { number, fortran_order, shape: shape.collect::<Result<_, _>>()? })
}

fn number_of(word: &str) -> Option<Number> {
    let (order, kind_and_size) = word.split_at_checked(1)?;
    let (kind, size) = kind_and_size.split_at_checked(1)?;
    let number = Number { kind: kind.as_bytes()[0], size: size.parse().ok()?, big_endian: order == ">" };
    let known = matches!((number.kind, number.size), (b'f', 4 | 8) | (b'i' | b'u', 1 | 2 | 4 | 8) | (b'b', 1));
    (known && matches!(order, "<" | ">" | "|" | "=")).then_some(number)
}

/// Appends the numbers in `bytes` to `out`.
fn decode(number: Number, bytes: &[u8], out: &mut Vec<f64>) {
    macro_rules! each {
        ($type:ty) => {{
            const SIZE: usize = size_of::<$type>();
            let chunks = bytes.chunks_exact(SIZE).map(|chunk| chunk.try_into().unwrap_or([0; SIZE]));
            if number.big_endian {
                out.extend(chunks.map(|chunk| <$type>::from_be_bytes(chunk) as f64));
            } else {
                out.extend(chunks.map(|chunk| <$type>::from_le_bytes(chunk) as f64));
            }
        }};
    }
    match (number.kind, number.size) {
        (b'f', 8) => each!(f64),
        (b'f', _) => each!(f32),
        (b'i', 8) => each!(i64),
        (b'i', 4) => each!(i32),
        (b'i', 2) => each!(i16),
        (b'i', _) => each!(i8),
        (b'u', 8) => each!(u64),
        (b'u', 4) => each!(u32),
        (b'u', 2) => each!(u16),
        (b'u', _) => each!(u8),
        _ => out.extend(bytes.iter().map(|&byte| f64::from(u8::from(byte != 0)))),
    }
}

/// Writes the numbers of an array into rows of `width` values: column `c` goes to place `slots[c]`, if there is one.
///
/// The error is the problem in words.
pub(crate) fn read_numbers(
    from: &mut impl Read,
    header: &Header,
    values: &mut [f64],
    width: usize,
    slots: &[Option<usize>],
) -> Result<(), String> {
    const AT_ONCE: usize = 8192;
    let (n_rows, n_cols) = header.size().ok_or("the array has neither one nor two dimensions")?;
    let total = n_rows * n_cols;
    let mut bytes = vec![0; AT_ONCE * header.number.size];
    let mut numbers = Vec::with_capacity(AT_ONCE);
    let (mut row, mut column) = (0, 0);
    let in_order = slots.iter().enumerate().all(|(k, slot)| *slot == Some(k));
    let in_place = in_order && width == n_cols && !header.fortran_order;
    for start in (0..total).step_by(AT_ONCE) {
        let bytes = &mut bytes[..AT_ONCE.min(total - start) * header.number.size];
        from.read_exact(bytes).map_err(|_| format!("the array of {n_rows} × {n_cols} numbers is cut off"))?;
        numbers.clear();
        decode(header.number, bytes, &mut numbers);
        if in_place {
            values[start..start + numbers.len()].copy_from_slice(&numbers);
            continue;
        }
        for &value in &numbers {
            if let Some(slot) = slots[column] {
                values[row * width + slot] = value;
            }
            if header.fortran_order {
                row += 1;
                if row == n_rows {
                    (row, column) = (0, column + 1);
                }
            } else {
                column += 1;
                if column == n_cols {
                    (row, column) = (row + 1, 0);
                }
            }
        }
    }
    Ok(())
}

/// What to do about an array that cannot be used.
pub(crate) const REMEDY: &str = "save one or two dimensions of numbers by numpy.save(file, array.astype(float))";

/// Reads an npy file of `size` bytes: columns `x1`, `x2`, ….
pub(crate) fn read(path: &Path, mut from: impl Read, size: u64, reading: &Reading) -> Result<Draft, Error> {
    let failed = |problem: String| content(path, &problem, REMEDY);
    let header = read_header(&mut from).map_err(failed)?;
    let Some((n_rows, n_cols)) = header.size() else {
        return Err(failed(format!("the array has {} dimensions", header.shape.len())));
    };
    if header.n_bytes().is_none_or(|bytes| size < bytes) {
        return Err(failed(format!("the array of {n_rows} × {n_cols} numbers is cut off")));
    }
    if n_rows == 0 || n_cols == 0 {
        return Err(failed(format!("the array of {n_rows} × {n_cols} numbers is empty")));
    }
    let names: Vec<String> = (1..=n_cols).map(|j| format!("x{j}")).collect();
    let kept = reading.columns.positions(path, &names)?;
    let mut slots = vec![None; n_cols];
    kept.iter().enumerate().for_each(|(slot, &k)| slots[k] = Some(slot));
    let mut table = Table::without_columns(path, Unit::Row);
    table.set_columns(kept.iter().map(|&k| (names[k].clone(), k + 1)));
    table.values = zeros(path, n_rows, kept.len())?;
    table.lines = row_numbers(path, n_rows)?;
    read_numbers(&mut from, &header, &mut table.values, kept.len(), &slots).map_err(failed)?;
    Ok(Draft { table, format: Format::Npy, first_missing: None })
}
