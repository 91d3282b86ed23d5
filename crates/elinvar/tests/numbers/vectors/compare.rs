//! What counts as equal.

/// Closed forms.
pub(crate) const CLOSED_FORM: f64 = 1e-12;
/// Entropies and whole steps.
pub(crate) const STEP: f64 = 1e-10;
/// The last case of a family's file, whose covariance has the scale 1e−4.
pub(crate) const EXTREME: f64 = 1e-9;

/// Share of the old precision that the library's plain step keeps, halving β where it would not.
pub(crate) const MARGIN: f64 = 0.05;

/// Largest deviation of `found` from `expected`, relative to the largest expected entry but at least to `floor`.
///
/// The entries of a vector or a matrix come from sums of terms of the size of the largest one, so that this is the
/// scale on which rounding acts. A `floor` of one belongs to logarithms and to gradients that may vanish.
pub(crate) fn deviation(found: &[f64], expected: &[f64], floor: f64) -> f64 {
    assert_eq!(found.len(), expected.len(), "a wrong number of entries");
    let scale = expected.iter().fold(floor, |m, v| m.max(v.abs()));
    let largest =
        found.iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0, |m: f64, v| if v <= m { m } else { v });
    if largest == 0.0 { 0.0 } else { largest / scale }
}

/// Asserts that the deviation is within the tolerance.
#[track_caller]
pub(crate) fn close(what: &str, found: &[f64], expected: &[f64], floor: f64, tolerance: f64) {
    let error = deviation(found, expected, floor);
    assert!(error <= tolerance, "{what}: found {found:?}, expected {expected:?}, error {error:e} above {tolerance:e}");
}
