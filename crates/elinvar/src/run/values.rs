//! Runs that ask for log p alone.

use crate::Error;
use crate::estimate::Curvature;
use crate::family::{Approximation, Family};
use crate::target::About;

/// Whether the family and the target agree about gradients.
pub(super) fn check_values(about: &About, start: &Approximation, curvature: Curvature) -> Result<(), Error> {
    if curvature == Curvature::GradientFree && !start.takes_values_alone()
        || !about.offers.gradient && curvature != Curvature::GradientFree
    {
        return Err(not_from_values(start.family()));
    }
    Ok(())
}

/// What to say where a family needs gradients and there are none.
pub(super) fn not_from_values(family: Family) -> Error {
    Error::Unsupported {
        wanted: format!("`{family}` from values of the log density alone"),
        instead: "give the target a gradient, or fit `gaussian`, `student_t` with a given, `skew`, `emg`, `nig`, `snig`, `rank_k`, \
                  `skew_k`, `emg_k`, `matrix` or `mog` with its number of components"
            .into(),
    }
}
