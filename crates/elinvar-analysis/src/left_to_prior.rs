//! What the data leave to the prior: classes that columns separate, and columns that say the same.

use elinvar::target::Transforms;

use crate::model_check::chosen_rows;
use crate::response::{Regression, Values};

/// Columns with a larger correlation are nearly the same: the error of their difference is 22 times that of their sum.
const SAME: f64 = 0.999;
/// Columns that are compared with each other, at most.
const MOST_COLUMNS: usize = 200;
/// Rows by which they are.
const MOST_ROWS: usize = 1_024;

/// What is said before the table, in sentences; z is the mean of the answer.
pub(crate) fn sentences(regression: &Regression<'_>, transforms: &Transforms, z: &[f64], seed: u64) -> Vec<String> {
    [separated(regression, transforms, z), same(regression, seed)].into_iter().flatten().collect()
}

/// Whether every row of the second class has a larger linear predictor than every row of the first. A line that
/// separates the classes is near the mean of the posterior, where there is one.
fn separated(regression: &Regression<'_>, transforms: &Transforms, z: &[f64]) -> Option<String> {
    if regression.response.values() != Values::Classes(2) || regression.design.n_cols() < 2 {
        return None;
    }
    let rows: Vec<usize> = (0..regression.n_rows()).filter(|i| regression.weight(*i) > 0.0).collect();
    let (mut highest, mut lowest) = (f64::NEG_INFINITY, f64::INFINITY);
    regression.under(z, transforms, &rows, |_, i, given| {
        if regression.observed(i) > 0.5 {
            lowest = lowest.min(given.eta[0]);
        } else {
            highest = highest.max(given.eta[0]);
        }
    });
    (highest < lowest && highest.is_finite() && lowest.is_finite()).then(|| {
        "Left to the prior: the columns tell the two classes apart without an error, so that the data set no limit to the \
         coefficients. How large they are is what the prior says."
            .into()
    })
}

/// The two columns that are most alike, if they are nearly the same.
fn same(regression: &Regression<'_>, seed: u64) -> Option<String> {
    let design = regression.design;
    let (rows, d) = (chosen_rows(design.n_rows(), MOST_ROWS, seed), design.n_cols());
    if d > MOST_COLUMNS || rows.len() < 3 || design.row_space().is_some() {
        return None;
    }
    let n = rows.len() as f64;
    let unit = |j: usize| -> Option<Vec<f64>> {
        let mean = rows.iter().map(|i| design.row(*i)[j]).sum::<f64>() / n;
        let centred: Vec<f64> = rows.iter().map(|i| design.row(*i)[j] - mean).collect();
        let length = centred.iter().map(|x| x * x).sum::<f64>().sqrt();
        // The intercept is no column like others.
        (length > 1e-9 * (1.0 + mean.abs()) * n.sqrt()).then(|| centred.iter().map(|x| x / length).collect())
    };
    let units: Vec<Option<Vec<f64>>> = (0..d).map(unit).collect();
    let mut worst: Option<(f64, usize, usize)> = None;
    for (k, b) in units.iter().enumerate() {
        for (j, a) in units[..k].iter().enumerate() {
            let (Some(a), Some(b)) = (a, b) else { continue };
            let r: f64 = a.iter().zip(b).map(|(a, b)| a * b).sum();
            if r.abs() > worst.map_or(SAME, |(most, ..)| f64::abs(most)) {
                worst = Some((r, j, k));
            }
        }
    }
    worst.map(|(r, j, k)| {
        let (names, sign) = (design.names(), if r < 0.0 { "−" } else { "" });
        let shown = if r.abs() > 0.99999 { "above 0.99999".into() } else { format!("{sign}{:.5}", r.abs()) };
        format!(
            "Left to the prior: {} and {} are nearly the same column (correlation {shown}), and the data hardly tell their \
             coefficients apart. What they have in common is known better than either; consider leaving one out.",
            names[j], names[k]
        )
    })
}

#[cfg(test)]
mod tests {
    use elinvar::model::DesignMatrix;
    use elinvar::target::Transform;

    use super::*;
    use crate::response::Bernoulli;

    fn found(columns: [fn(f64) -> f64; 2], y: fn(f64) -> f64) -> Vec<String> {
        let x = |i: usize| (i as f64 * 0.618).fract() * 4.0 - 2.0;
        let rows: Vec<f64> = (0..60).flat_map(|i| [1.0, columns[0](x(i)), columns[1](x(i))]).collect();
        let design = DesignMatrix::new(rows, 3, vec!["intercept".into(), "a".into(), "b".into()]).unwrap();
        let y: Vec<f64> = (0..60).map(|i| y(x(i))).collect();
        let transforms = Transforms::new(vec![Transform::Identity; 3]).unwrap();
        sentences(&Regression::plain(&Bernoulli, &design, &y), &transforms, &[0.0, 2.0, 0.0], 1)
    }

    #[test]
    fn separated_classes_and_equal_columns_are_named() {
        let step = |x: f64| f64::from(u8::from(x > 0.1));
        let separated = found([|x| x, |x| x * x], step);
        assert!(separated.len() == 1 && separated[0].contains("apart without an error"), "{separated:?}");
        let mixed = |x: f64| f64::from(u8::from((5.0 * x).sin() > 0.0));
        assert_eq!(found([|x| x, |x| x * x], mixed), Vec::<String>::new());
        let same = found([|x| x, |x| 3.0 - 2.0 * x + 0.01 * x * x], mixed);
        assert!(same.len() == 1 && same[0].contains("a and b are nearly the same column"), "{same:?}");
    }
}
