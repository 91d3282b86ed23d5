//! One cell of a text file as a number.

/// Why a cell is no number to compute with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    Missing,
    NotFinite,
    NotANumber,
}

/// The finite number in a cell.
#[inline]
pub(crate) fn number(cell: &[u8]) -> Result<f64, Fault> {
    match fast_float2::parse::<f64, _>(cell) {
        Ok(value) if value.is_finite() => Ok(value),
        _ => unusual_number(cell),
    }
}

#[cold]
fn unusual_number(cell: &[u8]) -> Result<f64, Fault> {
    let cell = cell.trim_ascii();
    if is_missing_sign(cell) {
        return Err(Fault::Missing);
    }
    match fast_float2::parse::<f64, _>(cell) {
        Ok(value) if value.is_finite() => Ok(value),
        Ok(value) if value.is_nan() => Err(Fault::Missing),
        Ok(_) => Err(Fault::NotFinite),
        Err(_) => Err(Fault::NotANumber),
    }
}

/// Whether a text stands for a missing value, in either case of its letters.
pub(crate) fn is_missing_sign(text: &[u8]) -> bool {
    let missing: [&[u8]; 10] = [b"", b"na", b"n/a", b"#n/a", b"nan", b"none", b"null", b"?", b".", b"-"];
    missing.iter().any(|sign| text.eq_ignore_ascii_case(sign))
}

/// The number in a cell, where an infinite one counts as well.
pub(crate) fn number_or_infinity(cell: &[u8]) -> Result<f64, Fault> {
    match number(cell) {
        Err(Fault::NotFinite) => fast_float2::parse::<f64, _>(cell.trim_ascii()).map_err(|_| Fault::NotANumber),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_correctly_rounded() {
        for cell in ["0.1", "1e-320", "-0", "9007199254740993", "2.2250738585072011e-308", "179769313486231570e291"] {
            assert_eq!(number(cell.as_bytes()).ok(), cell.parse::<f64>().ok(), "{cell}");
        }
    }

    #[test]
    fn faults_are_told_apart() {
        let faults =
            ["", " NA ", "+nan", "-inf", "1e999", "12a", "1,5"].map(|cell| number(cell.as_bytes()).unwrap_err());
        use Fault::{Missing, NotANumber, NotFinite};
        assert_eq!(faults, [Missing, Missing, Missing, NotFinite, NotFinite, NotANumber, NotANumber]);
        assert_eq!(number_or_infinity(b" -inf "), Ok(f64::NEG_INFINITY));
        assert_eq!(number_or_infinity(b"x"), Err(NotANumber));
    }
}
