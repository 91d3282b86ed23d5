//! Memory for a table: bounded by the bytes of its file, and an error where it is not there.

use std::path::Path;

use crate::Error;
use crate::format::content;
use crate::sentence::rows;

/// Numbers that the smallest file may ask for: half a megabyte.
const ALWAYS: usize = 1 << 16;

/// Numbers for each byte of a LIBSVM file, which leaves out zeros: one in 500 has to be there.
pub(crate) const SPARSE: usize = 1 << 6;

/// Numbers for each byte of a file that is packed: ten columns of a constant beside one of numbers are far from it.
#[cfg(feature = "parquet")]
pub(crate) const PACKED: usize = 1 << 10;

/// Refuses a table of more than 16 GiB.
fn check_cells(path: &Path, n_rows: usize, n_cols: usize) -> Result<usize, Error> {
    const MOST_CELLS: usize = 1 << 31;
    match n_rows.checked_mul(n_cols) {
        Some(cells) if cells <= MOST_CELLS => Ok(cells),
        _ => {
            let problem = format!("{} of {n_cols} columns are more than 2^31 numbers", rows(n_rows));
            Err(content(path, &problem, "choose fewer columns"))
        }
    }
}

/// Whether so many numbers may come from a file of so many bytes.
pub(crate) fn is_in_proportion(n_numbers: usize, n_bytes: u64, per_byte: usize) -> bool {
    n_numbers <= usize::try_from(n_bytes).unwrap_or(usize::MAX).saturating_mul(per_byte).saturating_add(ALWAYS)
}

/// Refuses a table that is out of all proportion to the `n_bytes` it is read from.
pub(crate) fn check_proportion(
    path: &Path,
    (n_rows, n_cols): (usize, usize),
    n_bytes: u64,
    per_byte: usize,
) -> Result<(), Error> {
    if is_in_proportion(check_cells(path, n_rows, n_cols)?, n_bytes, per_byte) {
        return Ok(());
    }
    let problem = format!("{} of {n_cols} columns cannot stand in {n_bytes} bytes", rows(n_rows));
    Err(content(path, &problem, "check how the file was written, or choose fewer columns"))
}

/// `n_rows × n_cols` zeros.
pub(crate) fn zeros(path: &Path, n_rows: usize, n_cols: usize) -> Result<Vec<f64>, Error> {
    let cells = check_cells(path, n_rows, n_cols)?;
    let mut values = Vec::new();
    reserve(path, &mut values, cells)?;
    values.resize(cells, 0.0);
    Ok(values)
}

/// The numbers of the rows of a file that is no text, from 0.
pub(crate) fn row_numbers(path: &Path, n_rows: usize) -> Result<Vec<u64>, Error> {
    let mut numbers = Vec::new();
    reserve(path, &mut numbers, n_rows)?;
    numbers.extend(0..n_rows as u64);
    Ok(numbers)
}

/// Makes room for so many more.
pub(crate) fn reserve<T>(path: &Path, values: &mut Vec<T>, n_more: usize) -> Result<(), Error> {
    values
        .try_reserve_exact(n_more)
        .map_err(|_| content(path, "the table does not fit into memory", "choose fewer columns or rows"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_bounded_by_its_file() {
        let path = Path::new("t.libsvm");
        assert!(check_proportion(path, (16, 4_096), 52, SPARSE).is_ok());
        let error = check_proportion(path, (17, 4_096), 52, SPARSE).unwrap_err();
        assert_eq!(
            error.to_string(),
            "t.libsvm: 17 rows of 4096 columns cannot stand in 52 bytes; check how the file was written, or choose \
             fewer columns"
        );
        assert!(check_proportion(path, (17, 4_096), 1_024, SPARSE).is_ok());
        assert!(check_proportion(path, (1 << 20, 1 << 20), u64::MAX, SPARSE).is_err());
    }

    #[test]
    fn memory_that_is_not_there_is_an_error() {
        let path = Path::new("t.npy");
        assert!(zeros(path, usize::MAX, 2).is_err() && zeros(path, 1 << 40, 1).is_err());
        assert_eq!(zeros(path, 2, 3).unwrap(), [0.0; 6]);
        let mut none: Vec<[u64; 1 << 20]> = Vec::new();
        let error = reserve(path, &mut none, 1 << 40).unwrap_err();
        assert_eq!(error.to_string(), "t.npy: the table does not fit into memory; choose fewer columns or rows");
        assert_eq!(row_numbers(path, 3).unwrap(), [0, 1, 2]);
    }
}
