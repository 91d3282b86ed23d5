//! Reading named arrays as numpy saves them: a matrix gives the columns `x1`, `x2`, …, vectors give columns of their
//! name.

use std::collections::HashMap;
use std::fs::File;
use std::path::Path;

use crate::draft::Draft;
use crate::error::Unit;
use crate::format::{Format, content};
use crate::nearest::nearest;
use crate::npy::{Header, REMEDY, read_header, read_numbers};
use crate::room::{row_numbers, zeros};
use crate::sentence::quoted;
use crate::zip::{self, Part};
use crate::{Error, Reading, Table};

struct Array {
    name: String,
    part: Part,
    header: Header,
    n_rows: usize,
    n_cols: usize,
}

impl Array {
    /// A matrix of one column is a vector.
    fn is_matrix(&self) -> bool {
        self.n_cols > 1
    }

    fn about(&self) -> String {
        let sides: Vec<String> = self.header.shape.iter().map(usize::to_string).collect();
        format!("{} ({})", quoted(&self.name), sides.join(" × "))
    }
}

fn of_array(path: &Path, name: &str, problem: &str) -> Error {
    content(path, &format!("array {}: {problem}", quoted(name)), REMEDY)
}

/// The arrays with one or two dimensions of numbers; others may stand beside them.
fn arrays(path: &Path, file: &mut File) -> Result<Vec<Array>, Error> {
    let unreadable = |error: std::io::Error| content(path, &error.to_string(), "write the file again by numpy.savez");
    let mut arrays = Vec::new();
    for part in zip::parts(file).map_err(unreadable)? {
        let Some(name) = part.name.strip_suffix(".npy").map(str::to_string) else { continue };
        let mut reader = zip::open(file, &part).map_err(unreadable)?;
        let Ok(header) = read_header(&mut reader) else { continue };
        let is_whole = header.n_bytes().is_some_and(|bytes| bytes <= part.size);
        if !is_whole {
            return Err(of_array(path, &name, "it is cut off"));
        }
        if let Some((n_rows, n_cols)) =
            header.size().filter(|(n_rows, n_cols)| *n_cols > 0 && (*n_rows > 0 || *n_cols == 1))
        {
            drop(reader);
            arrays.push(Array { name, part, header, n_rows, n_cols });
        }
    }
    if arrays.is_empty() {
        return Err(content(path, "the archive holds no array with one or two dimensions of numbers", REMEDY));
    }
    Ok(arrays)
}

fn listed(arrays: &[Array]) -> String {
    arrays.iter().map(Array::about).collect::<Vec<_>>().join(", ")
}

/// The array that gives the rows: the one that was named, else the only matrix, else the first vector.
fn main_array(path: &Path, arrays: &[Array], wanted: Option<&str>) -> Result<usize, Error> {
    if let Some(wanted) = wanted {
        return arrays.iter().position(|array| array.name == wanted).ok_or_else(|| {
            let remedy = match nearest(wanted, arrays.iter().map(|array| array.name.as_str())) {
                Some(name) => format!("did you mean {}?", quoted(name)),
                None => format!("the arrays are {}", listed(arrays)),
            };
            content(path, &format!("there is no array {}", quoted(wanted)), &remedy)
        });
    }
    let matrices: Vec<usize> = (0..arrays.len()).filter(|&i| arrays[i].is_matrix()).collect();
    let n_rows = arrays[0].n_rows;
    match matrices[..] {
        [only] => Ok(only),
        [] if arrays.iter().all(|array| array.n_rows == n_rows) => Ok(0),
        _ => {
            let problem = format!("the arrays {} do not make one table", listed(arrays));
            Err(content(path, &problem, "say which one holds the features by --array NAME"))
        }
    }
}

/// Reads the array with the features and every vector of as many rows.
pub(crate) fn read(path: &Path, mut file: File, reading: &Reading) -> Result<Draft, Error> {
    let arrays = arrays(path, &mut file)?;
    let main = main_array(path, &arrays, reading.array.as_deref())?;
    let n_rows = arrays[main].n_rows;
    let mut names: Vec<String> = Vec::new();
    let mut used: Vec<(&Array, usize)> = Vec::new();
    for (i, array) in arrays.iter().enumerate() {
        let is_column = !array.is_matrix() && array.n_rows == n_rows;
        if i == main && array.is_matrix() {
            used.push((array, names.len()));
            names.extend((1..=array.n_cols).map(|j| format!("x{j}")));
        } else if i == main || is_column {
            used.push((array, names.len()));
            names.push(array.name.clone());
        }
    }
    if n_rows == 0 {
        return Err(of_array(path, &arrays[main].name, "it has no rows"));
    }
    let mut n_named: HashMap<&str, usize> = HashMap::with_capacity(names.len());
    names.iter().for_each(|name| *n_named.entry(name).or_default() += 1);
    for (array, _) in &used {
        if !array.is_matrix() && n_named[array.name.as_str()] > 1 {
            let problem = "its name is that of a column of the matrix";
            return Err(content(path, &format!("array {}: {problem}", quoted(&array.name)), "rename the array"));
        }
    }
    let kept = reading.columns.positions(path, &names)?;
    let mut slots = vec![None; names.len()];
    kept.iter().enumerate().for_each(|(slot, &k)| slots[k] = Some(slot));
    let mut table = Table::without_columns(path, Unit::Row);
    table.set_columns(kept.iter().map(|&k| (names[k].clone(), k + 1)));
    table.values = zeros(path, n_rows, kept.len())?;
    table.lines = row_numbers(path, n_rows)?;
    for (array, first) in used {
        let slots = &slots[first..first + array.n_cols];
        if slots.iter().all(Option::is_none) {
            continue;
        }
        let failed = |problem: String| of_array(path, &array.name, &problem);
        let mut reader = zip::open(&mut file, &array.part).map_err(|error| failed(error.to_string()))?;
        read_header(&mut reader).map_err(failed)?;
        read_numbers(&mut reader, &array.header, &mut table.values, kept.len(), slots).map_err(failed)?;
        if !zip::is_intact(&reader, &array.part) {
            return Err(failed("it is damaged (its checksum is wrong)".into()));
        }
    }
    Ok(Draft { table, format: Format::Npz, first_missing: None })
}
