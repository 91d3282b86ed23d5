//! Numbers, vectors and matrices of the vector files.

use serde_json::Value;

use super::dense::Matrix;

/// The file of this name in the folder of vectors.
pub(crate) fn read(file: &str) -> Value {
    let folder = std::env::var("ELINVAR_VECTORS")
        .unwrap_or_else(|_| concat!(env!("CARGO_MANIFEST_DIR"), "/tests/vectors").to_string());
    let text = std::fs::read_to_string(format!("{folder}/{file}")).unwrap_or_else(|e| panic!("{folder}/{file}: {e}"));
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{folder}/{file}: {e}"))
}

/// The entries of a list, at least one.
pub(crate) fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    let entries = value[name].as_array().unwrap_or_else(|| panic!("there is no list `{name}`"));
    assert!(!entries.is_empty(), "`{name}` is empty");
    entries
}

/// The entry of this name, unless it is missing or null.
pub(crate) fn given<'a>(value: &'a Value, name: &str) -> Option<&'a Value> {
    value.get(name).filter(|entry| !entry.is_null())
}

/// The number of this name.
pub(crate) fn number(value: &Value, name: &str) -> f64 {
    scalar(&value[name]).unwrap_or_else(|| panic!("there is no number `{name}`"))
}

/// The vector of this name.
pub(crate) fn vector(value: &Value, name: &str) -> Vec<f64> {
    numbers(&value[name]).unwrap_or_else(|| panic!("there is no vector `{name}`"))
}

/// The matrix of this name, given by rows.
pub(crate) fn matrix(value: &Value, name: &str) -> Matrix {
    as_matrix(&value[name]).unwrap_or_else(|| panic!("there is no matrix `{name}`"))
}

/// The list of matrices of this name.
pub(crate) fn matrices(value: &Value, name: &str) -> Vec<Matrix> {
    list(value, name).iter().map(|m| as_matrix(m).unwrap_or_else(|| panic!("`{name}` has no matrices"))).collect()
}

/// Whether this is true; missing means false.
pub(crate) fn flag(value: &Value, name: &str) -> bool {
    value[name].as_bool().unwrap_or(false)
}

fn scalar(value: &Value) -> Option<f64> {
    value.as_f64()
}

/// A list of numbers, or a number as a list of one.
pub(crate) fn numbers(value: &Value) -> Option<Vec<f64>> {
    match value {
        Value::Number(_) => scalar(value).map(|x| vec![x]),
        _ => value.as_array()?.iter().map(scalar).collect(),
    }
}

fn as_matrix(value: &Value) -> Option<Matrix> {
    let rows: Vec<Vec<f64>> = value.as_array()?.iter().map(numbers).collect::<Option<_>>()?;
    Matrix::from_rows(rows)
}
