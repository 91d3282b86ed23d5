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

/// [`to_original`] of every group for both sides of a covariance of `dim` coordinates.
pub(super) fn covariance_to_original(columns: &[ColumnScale], groups: usize, covariance: &mut [f64], dim: usize) {
    assert_eq!(covariance.len(), dim * dim, "a covariance of all coordinates");
    if columns.is_empty() {
        return;
    }
    let each = |row: &mut [f64]| {
        row.chunks_exact_mut(columns.len()).take(groups).for_each(|group| to_original(columns, group));
    };
    covariance.chunks_exact_mut(dim).for_each(each);
    let mut column = vec![0.0; dim];
    for j in 0..dim {
        (0..dim).for_each(|i| column[i] = covariance[i * dim + j]);
        each(&mut column);
        (0..dim).for_each(|i| covariance[i * dim + j] = column[i]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::{Transform, Transforms};

    fn scaled() -> Transforms {
        let of = |shift, scale| ColumnScale { shift, scale };
        let blocks = vec![Transform::Identity, Transform::Identity, Transform::Identity, Transform::Log];
        Transforms::new(blocks).unwrap().with_columns(vec![ColumnScale::NONE, of(40.0, 12.0), of(-3.0, 0.5)]).unwrap()
    }

    #[test]
    fn coefficients_of_scaled_columns_predict_the_same_in_the_units_of_the_columns() {
        let transforms = scaled();
        let (z, row) = ([0.7, -1.3, 0.4, 0.2], [1.0, 55.0, -2.2]);
        let mut x = [0.0; 4];
        transforms.constrain(&z, &mut x);
        let prediction: f64 = row.iter().zip(&x).map(|(f, beta)| f * beta).sum();
        let expected = z[0] + z[1] * (55.0 - 40.0) / 12.0 + z[2] * (-2.2 + 3.0) / 0.5;
        assert!((prediction - expected).abs() < 1e-14);
        let mut back = [0.0; 4];
        transforms.unconstrain(&x, &mut back).unwrap();
        assert!(z.iter().zip(&back).all(|(a, b)| (a - b).abs() < 1e-14), "{back:?}");
        for (i, row) in transforms.linear().iter().enumerate().take(3) {
            let terms = &row.as_ref().unwrap().terms;
            let value: f64 = terms.iter().map(|(j, factor)| factor * z[*j]).sum();
            assert!((value - x[i]).abs() < 1e-14);
        }
        assert!(transforms.linear()[3].is_none());
        assert!((transforms.log_jacobian(&z) - (0.2 - 12f64.ln() - 0.5f64.ln())).abs() < 1e-14);
    }

    #[test]
    fn scaled_columns_are_kept_in_files_and_checked() {
        let text = serde_json::to_string(&scaled()).unwrap();
        assert_eq!(serde_json::from_str::<Transforms>(&text).unwrap(), scaled());
        let of = |shift, scale| ColumnScale { shift, scale };
        let two = || Transforms::identity(2);
        assert!(two().with_columns(vec![of(0.0, 1.0), of(0.0, 0.0)]).is_err());
        assert!(two().with_columns(vec![of(0.0, 2.0), of(1.0, 1.0)]).is_err());
        assert!(two().with_columns(vec![of(0.0, 2.0), of(0.0, 3.0)]).is_ok());
        assert!(two().with_columns(vec![ColumnScale::NONE; 3]).is_err());
        assert!(Transforms::new(vec![Transform::Log]).unwrap().with_columns(vec![of(0.0, 2.0)]).is_err());
    }

    #[test]
    fn covariance_follows_the_coefficients() {
        // Σ = Σ_k v_k v_kᵀ must become Σ_k (A v_k)(A v_k)ᵀ.
        let directions = [[1.0, 2.0, -1.0, 0.5], [0.3, -0.2, 4.0, 1.0], [0.0, 1.0, 1.0, 7.0]];
        let outer =
            |v: &[[f64; 4]]| -> Vec<f64> { (0..16).map(|k| v.iter().map(|v| v[k / 4] * v[k % 4]).sum()).collect() };
        let mut covariance = outer(&directions);
        scaled().unscale_covariance(&mut covariance);
        let mapped = directions.map(|mut v| {
            to_original(scaled().columns(), &mut v);
            v
        });
        for (a, b) in covariance.iter().zip(outer(&mapped)) {
            assert!((a - b).abs() <= 1e-12 * (1.0 + b.abs()), "{a} and {b}");
        }
    }
}
