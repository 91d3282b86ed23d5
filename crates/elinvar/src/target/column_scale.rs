//! Coefficients of columns that were shifted and scaled, in the units of the columns as they were.

use serde::{Deserialize, Serialize};

use crate::Error;

/// What was done to a column of features before a fit: x became (x − shift)/scale.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ColumnScale {
    /// What was subtracted.
    pub shift: f64,
    /// What the rest was divided by.
    pub scale: f64,
}

impl ColumnScale {
    /// Nothing.
    pub const NONE: ColumnScale = ColumnScale { shift: 0.0, scale: 1.0 };
}

/// Checks that scales are positive and that there is an unscaled first column to take up shifts.
pub(super) fn check(columns: &[ColumnScale]) -> Result<(), Error> {
    for column in columns {
        if !(column.scale.is_finite() && column.scale > 0.0) {
            let reason = "columns are divided by positive numbers";
            return Err(Error::Domain { parameter: "scale of a column", value: column.scale, reason });
        }
        if !column.shift.is_finite() {
            let reason = "finite numbers are subtracted from columns";
            return Err(Error::Domain { parameter: "shift of a column", value: column.shift, reason });
        }
    }
    let shifted = columns.iter().find(|column| column.shift != 0.0);
    if let Some(column) = shifted.filter(|_| columns[0] != ColumnScale::NONE) {
        let reason = "shifts are taken up by the first column, which is the intercept and neither shifted nor scaled";
        return Err(Error::Domain { parameter: "shift of a column", value: column.shift, reason });
    }
    Ok(())
}

/// βⱼ = β′ⱼ/scaleⱼ and β₀ = β′₀ − Σ βⱼ·shiftⱼ, in place; predictions stay the same.
pub(super) fn to_original(columns: &[ColumnScale], beta: &mut [f64]) {
    let mut taken_up = 0.0;
    for (beta, column) in beta.iter_mut().zip(columns) {
        *beta /= column.scale;
        taken_up += *beta * column.shift;
    }
    if taken_up != 0.0 {
        beta[0] -= taken_up;
    }
}

/// The inverse of [`to_original`].
pub(super) fn to_scaled(columns: &[ColumnScale], beta: &mut [f64]) {
    let taken_up: f64 = beta.iter().zip(columns).map(|(beta, column)| beta * column.shift).sum();
    if taken_up != 0.0 {
        beta[0] += taken_up;
    }
    beta.iter_mut().zip(columns).for_each(|(beta, column)| *beta *= column.scale);
}
