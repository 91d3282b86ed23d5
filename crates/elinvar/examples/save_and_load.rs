//! A fit as one file: saved, read back without the model, sampled.
//!
//! `cargo run --release -p elinvar --example save_and_load`

use elinvar::model::{DesignMatrix, LinearRegression};
use elinvar::prelude::*;

pub(crate) fn main() -> elinvar::Result {
    // y = 1 + 2x with noise of standard deviation ½.
    let noise = [0.4, -0.6, 0.1, 0.7, -0.3, -0.5, 0.2, 0.5, -0.4, -0.1];
    let x: Vec<f64> = (0..10).map(f64::from).collect();
    let y = x.iter().zip(noise).map(|(x, e)| 1.0 + 2.0 * x + e).collect();
    let design = DesignMatrix::new(x, 1, vec!["x".into()])?.with_intercept();
    let model = LinearRegression::new(design, y, 0.01)?;

    let posterior = elinvar::fit(&model)?;
    let path = std::env::temp_dir().join(format!("elinvar-example-{}.fit.json", std::process::id()));
    posterior.save(&path)?;

    let loaded = Posterior::load(&path)?;
    println!("{loaded}");
    assert_eq!(loaded.sample(3, 7), posterior.sample(3, 7));
    std::fs::remove_file(&path).map_err(|source| Error::Io { path, source })
}
