//! Two linear regressions of posteriordb on tables that are not part of this repository.

use std::path::Path;

use elinvar::model::{DesignMatrix, LinearRegression, NoisePrior};
use elinvar::target::{Prior, Target};
use elinvar_data::{Columns, Intercept, Outcome, RegressionData, Selection, Table};

type Read = fn(&Path) -> Result<Box<dyn Target>, String>;

/// What there is, each with what reads it from a folder.
pub(crate) const NAMES: [(&str, Read); 2] = [("sblrc", sblrc), ("diamonds", diamonds)];

/// The columns x1, x2, … and y of the file of the folder whose name ends in `<name>.csv`.
fn columns(folder: &Path, name: &str) -> Result<RegressionData, String> {
    let ending = format!("{name}.csv");
    let entries = std::fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    let path = paths.into_iter().find(|path| path.to_string_lossy().ends_with(&ending));
    let path = path.ok_or_else(|| format!("{} has no file that ends in {ending}", folder.display()))?;
    let bytes = std::fs::read(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    let table = Table::from_csv(&path, &bytes, &Columns::All).map_err(|e| e.to_string())?;
    let selection = Selection { intercept: Intercept::None, ..Selection::new("y", Outcome::Real) };
    RegressionData::from_table(&table, &selection).map_err(|e| e.to_string())
}

/// y ~ N(Xβ, σ²), β ~ N(0, 10²), σ ~ half-normal(10), columns of X correlated.
fn sblrc(folder: &Path) -> Result<Box<dyn Target>, String> {
    let data = columns(folder, "sblrc")?;
    let x = DesignMatrix::new(data.features, data.names.len(), data.names).map_err(|e| e.to_string())?;
    let model = LinearRegression::new(x, data.y, 0.01).map_err(|e| e.to_string())?;
    Ok(Box::new(model.with_noise_prior(NoisePrior::HalfNormal { scale: 10.0 }).map_err(|e| e.to_string())?))
}

/// y ~ N(a + Xb, σ²) with 24 centred columns, b ~ N(0, 1), σ ~ half-t₃(10).
///
/// In the collection a ~ t₃(8, 10); here it is N(8, 10²), which is the same to the eye of 5 000 rows: a has a posterior
/// sd of 0.002.
fn diamonds(folder: &Path) -> Result<Box<dyn Target>, String> {
    let data = columns(folder, "diamonds")?;
    let (d, n) = (data.names.len(), data.y.len() as f64);
    // The first column of the file is the constant one.
    let mut mean = vec![0.0; d];
    for row in data.features.chunks_exact(d) {
        mean.iter_mut().zip(row).skip(1).for_each(|(mean, x)| *mean += x / n);
    }
    let centred = data.features.iter().enumerate().map(|(at, x)| x - mean[at % d]).collect();
    let x = DesignMatrix::new(centred, d, data.names).map_err(|e| e.to_string())?;
    let (mut centre, mut sd) = (vec![0.0; d], vec![1.0; d]);
    (centre[0], sd[0]) = (8.0, 10.0);
    let noise = NoisePrior::HalfStudentT { degrees_of_freedom: 3.0, scale: 10.0 };
    let model = LinearRegression::new(x, data.y, 1.0)
        .and_then(|model| model.with_coefficient_prior(Prior::normal(centre, &sd)))
        .and_then(|model| model.with_noise_prior(noise));
    Ok(Box::new(model.map_err(|e| e.to_string())?))
}
