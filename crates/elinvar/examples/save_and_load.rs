//! A fit as one file: saved, read back without the model, sampled.
//!
//! `cargo run --release -p elinvar --example save_and_load`

use elinvar::model::{DesignMatrix, LinearRegression};
use elinvar::prelude::*;

fn main() -> Result<(), Error> {
    // y = 1 + 2x with noise of standard deviation ½.
    let noise = [0.4, -0.6, 0.1, 0.7, -0.3, -0.5, 0.2, 0.5, -0.4, -0.1];
    let x: Vec<f64> = (0..10).map(f64::from).collect();
    let y = x.iter().zip(noise).map(|(x, e)| 1.0 + 2.0 * x + e).collect();
    let design = DesignMatrix::new(x, 1, vec!["x".into()])?.with_intercept();
    let target = LinearRegression::new(design, y, 0.01)?;

    let mut posterior = elinvar::run::fit(&target, Family::gaussian(), &Plan::default())?;
    posterior.diagnose(&target, 10_000, 1)?;
    let path = std::env::temp_dir().join("elinvar-example.fit.json");
    posterior.save(&path)?;

    let loaded = Posterior::load(&path)?;
    for row in loaded.summary(20_000, 1).parameters {
        let [mean, sd, q5, q95] = [row.mean, row.sd, row.q5, row.q95].map(|estimate| estimate.value);
        println!("{:9}  {mean:6.3} ± {sd:.3}   [{q5:.3}, {q95:.3}]", row.name);
    }
    assert_eq!(loaded.sample_z(3, 7), posterior.sample_z(3, 7));
    Ok(())
}
