//! Columns brought to one scale.

use serde::{Deserialize, Serialize};

use crate::{DesignColumn, Error, RegressionData};

/// What is done to the columns of numbers of a design matrix; intercept and indicators of categories stay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scaling {
    /// Nothing.
    #[default]
    None,
    /// The mean is subtracted and the rest divided by the standard deviation (with n − 1): mean 0, sd 1.
    Standardize,
    /// Division by the largest absolute value: all values in [−1, 1], zeros stay.
    Scale,
}

/// What was done to one column of a design matrix: x became (x − shift) / scale.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ColumnTransform {
    /// Name of the column.
    pub name: String,
    /// What was subtracted; 0 for an intercept.
    pub shift: f64,
    /// What the rest was divided by; never 0, and 1 for an intercept.
    pub scale: f64,
}

impl ColumnTransform {
    /// Whether it is more than a name.
    pub fn changes(&self) -> bool {
        self.shift != 0.0 || self.scale != 1.0
    }
}

impl Scaling {
    /// The transformation of each column, computed from the rows of `train`.
    ///
    /// A column that is constant in these rows is shifted as others are and divided by 1.
    ///
    /// # Errors
    ///
    /// [`Error::ShiftWithoutIntercept`] for [`Scaling::Standardize`] without an intercept.
    pub fn transforms(self, train: &RegressionData) -> Result<Vec<ColumnTransform>, Error> {
        if self == Scaling::Standardize && train.kinds.first() != Some(&DesignColumn::Intercept) {
            return Err(Error::ShiftWithoutIntercept);
        }
        Ok(self.of_columns(train))
    }

    /// [`Scaling::transforms`] for a model that has a constant of its own, such as the biases of a network.
    pub fn of_columns(self, train: &RegressionData) -> Vec<ColumnTransform> {
        let (shifts, scales) = match self {
            Scaling::None => (vec![0.0; train.n_cols()], vec![1.0; train.n_cols()]),
            Scaling::Standardize => means_and_sds(train),
            Scaling::Scale => (vec![0.0; train.n_cols()], largest(train)),
        };
        let parts = train.names.iter().zip(&train.kinds).zip(shifts.into_iter().zip(scales));
        parts
            .map(|((name, kind), (shift, scale))| match kind {
                DesignColumn::Number => {
                    ColumnTransform { name: name.clone(), shift, scale: if scale > 0.0 { scale } else { 1.0 } }
                }
                _ => ColumnTransform { name: name.clone(), shift: 0.0, scale: 1.0 },
            })
            .collect()
    }
}

/// The transformation that brings every column but the intercept, indicators included, to standard deviation 1, and to
/// mean 0 where an intercept takes up the shift: the scale on which priors that follow the data are all alike.
///
/// A column that is constant in the rows of `train` is divided by 1.
pub fn unit_columns(train: &RegressionData) -> Vec<ColumnTransform> {
    let has_intercept = train.kinds.first() == Some(&DesignColumn::Intercept);
    let (means, sds) = means_and_sds(train);
    let columns = train.names.iter().zip(&train.kinds).zip(means.into_iter().zip(sds));
    columns
        .map(|((name, kind), (mean, sd))| match kind {
            DesignColumn::Intercept => ColumnTransform { name: name.clone(), shift: 0.0, scale: 1.0 },
            _ => ColumnTransform {
                name: name.clone(),
                shift: if has_intercept { mean } else { 0.0 },
                scale: if sd > 0.0 { sd } else { 1.0 },
            },
        })
        .collect()
}

fn means_and_sds(data: &RegressionData) -> (Vec<f64>, Vec<f64>) {
    let n = data.n_rows() as f64;
    let mut means = vec![0.0; data.n_cols()];
    let mut squares = vec![0.0; data.n_cols()];
    for row in data.features.chunks_exact(data.n_cols()) {
        means.iter_mut().zip(row).for_each(|(sum, x)| *sum += x);
    }
    means.iter_mut().for_each(|sum| *sum /= n);
    for row in data.features.chunks_exact(data.n_cols()) {
        squares.iter_mut().zip(row.iter().zip(&means)).for_each(|(sum, (x, mean))| *sum += (x - mean).powi(2));
    }
    let sds = squares.into_iter().zip(&means).map(|(sum, mean)| {
        let sd = (sum / (n - 1.0).max(1.0)).sqrt();
        // What rounding leaves of a constant column is no spread.
        if sd <= 1e-13 * mean.abs() { 0.0 } else { sd }
    });
    let sds = sds.collect();
    (means, sds)
}

fn largest(data: &RegressionData) -> Vec<f64> {
    let mut largest = vec![0.0_f64; data.n_cols()];
    for row in data.features.chunks_exact(data.n_cols()) {
        largest.iter_mut().zip(row).for_each(|(most, x)| *most = most.max(x.abs()));
    }
    largest
}

impl RegressionData {
    /// Transforms the columns; the fingerprint stays that of the values that were read.
    ///
    /// # Panics
    ///
    /// If there are not as many transformations as columns.
    pub fn transform(&mut self, transforms: &[ColumnTransform]) {
        assert_eq!(transforms.len(), self.n_cols(), "one transformation for each column");
        if transforms.iter().all(|t| t.shift == 0.0 && t.scale == 1.0) {
            return;
        }
        for row in self.features.chunks_exact_mut(transforms.len()) {
            row.iter_mut().zip(transforms).for_each(|(x, t)| *x = (*x - t.shift) / t.scale);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Intercept, Outcome, Selection, Table};

    fn data(intercept: Intercept) -> RegressionData {
        let how = crate::Reading { categorical: crate::Categorical::Indicators, ..Default::default() };
        let text = b"a,b,c,y\n1,1000,u,1\n2,-3000,v,0\n4,500.5,w,2\n-7,20,u,5\n0.5,1e3,v,3\n";
        let table = Table::from_csv_with("t.csv", text, &how).unwrap();
        let selection = Selection { intercept, ..Selection::new("y", Outcome::Real) };
        RegressionData::from_table(&table, &selection).unwrap()
    }

    fn predictions(data: &RegressionData, beta: &[f64]) -> Vec<f64> {
        (0..data.n_rows()).map(|i| data.row(i).iter().zip(beta).map(|(x, b)| x * b).sum()).collect()
    }

    #[test]
    fn columns_have_the_scale_that_is_promised() {
        let mut standard = data(Intercept::First);
        let names = standard.names.clone();
        assert_eq!(names, ["intercept", "a", "b", "c=v", "c=w"]);
        standard.transform(&Scaling::Standardize.transforms(&standard).unwrap());
        for j in [1, 2] {
            let column: Vec<f64> = (0..5).map(|i| standard.row(i)[j]).collect();
            let mean = column.iter().sum::<f64>() / 5.0;
            let variance = column.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 4.0;
            assert!(mean.abs() < 1e-15 && (variance - 1.0).abs() < 1e-14, "{mean} {variance}");
        }
        let mut scaled = data(Intercept::None);
        scaled.transform(&Scaling::Scale.transforms(&scaled).unwrap());
        assert_eq!((scaled.row(3)[0], scaled.row(1)[1]), (-1.0, -1.0));
        for j in [0, 3, 4] {
            assert_eq!(standard.row(1)[j], data(Intercept::First).row(1)[j]);
        }
    }

    #[test]
    fn predictions_are_the_same_with_coefficients_of_either_kind() {
        for (scaling, intercept) in [
            (Scaling::None, Intercept::First),
            (Scaling::Standardize, Intercept::First),
            (Scaling::Scale, Intercept::First),
            (Scaling::Scale, Intercept::None),
        ] {
            let original = data(intercept);
            let transforms = scaling.transforms(&original).unwrap();
            let mut transformed = original.clone();
            transformed.transform(&transforms);
            let fitted: Vec<f64> = (0..original.n_cols()).map(|j| 0.7 - 0.9 * j as f64).collect();
            let mut undone: Vec<f64> = fitted.iter().zip(&transforms).map(|(beta, t)| beta / t.scale).collect();
            let taken_up: f64 = undone.iter().zip(&transforms).map(|(beta, t)| beta * t.shift).sum();
            undone[0] -= taken_up;
            let pairs = predictions(&transformed, &fitted).into_iter().zip(predictions(&original, &undone));
            for (a, b) in pairs {
                assert!((a - b).abs() < 1e-13, "{scaling:?}: {a} and {b}");
            }
        }
    }

    #[test]
    fn unit_columns_take_indicators_along_and_shift_only_beside_an_intercept() {
        let mut with = data(Intercept::First);
        with.transform(&unit_columns(&with));
        let mut without = data(Intercept::None);
        let before = without.clone();
        without.transform(&unit_columns(&without));
        for j in 0..4 {
            let column = |data: &RegressionData, j: usize| (0..5).map(|i| data.row(i)[j]).collect::<Vec<f64>>();
            for (column, centred) in [(column(&with, j + 1), true), (column(&without, j), false)] {
                let mean = column.iter().sum::<f64>() / 5.0;
                let variance = column.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 4.0;
                assert!((variance - 1.0).abs() < 1e-14 && (!centred || mean.abs() < 1e-15), "{j}: {mean} {variance}");
            }
            let ratio = before.row(3)[j] / without.row(3)[j];
            assert!(ratio.is_nan() || (0..5).all(|i| (without.row(i)[j] * ratio - before.row(i)[j]).abs() < 1e-12));
        }
        assert!((0..5).all(|i| with.row(i)[0] == 1.0));
    }

    #[test]
    fn rows_that_were_not_there_do_not_matter_and_constants_stay_finite() {
        let whole = data(Intercept::First);
        let mut part = whole.clone();
        part.features.truncate(2 * whole.n_cols());
        part.y.truncate(2);
        let transforms = Scaling::Standardize.transforms(&part).unwrap();
        assert_eq!((transforms[1].shift, transforms[2].shift), (1.5, -1000.0));
        part.features[1] = 2.0;
        let constant = Scaling::Standardize.transforms(&part).unwrap();
        assert_eq!((constant[1].shift, constant[1].scale), (2.0, 1.0));
        let json = serde_json::to_string(&transforms[1]).unwrap();
        assert!(json.starts_with("{\"name\":\"a\",\"shift\":1.5,\"scale\":0.707"), "{json}");
        assert_eq!(serde_json::from_str::<ColumnTransform>(&json).unwrap(), transforms[1]);
    }
}
