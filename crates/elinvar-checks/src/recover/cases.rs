//! One member of every family.

use elinvar::Family;

use super::inside::{Inside, random_member};
use crate::families::label;

/// A family and a member of it that a fit must find.
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) family: Family,
    pub(crate) target: Inside,
    /// What the fit is expected to know besides the density.
    pub(crate) shape: Option<f64>,
}

fn located(family: Family, dim: usize) -> Result<Case, String> {
    let member = random_member(family, dim, 20 + dim as u64)?;
    Ok(Case { name: label(family), family, target: Inside::new(member), shape: None })
}

/// Every case of the table.
pub(crate) fn cases() -> Result<Vec<Case>, String> {
    let located_cases = [
        (Family::gaussian(), 5),
        (Family::gaussian().diagonal(), 5),
        (Family::mog(3), 2),
        (Family::mog(3).diagonal(), 2),
        (Family::student_t(3.0), 3),
        (Family::student_t(3.0).diagonal(), 3),
        (Family::skew(), 3),
        (Family::skew().diagonal(), 3),
        (Family::emg(), 3),
        (Family::emg().diagonal(), 3),
        (Family::nig(2.0), 3),
        (Family::nig(2.0).diagonal(), 3),
        (Family::snig(2.0), 3),
        (Family::snig(2.0).diagonal(), 3),
        (Family::rank_k(2), 5),
    ];
    located_cases.into_iter().map(|(family, dim)| located(family, dim)).collect()
}
