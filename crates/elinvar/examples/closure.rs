//! A log density as a closure, fitted by three families: what does each buy?
//!
//! `cargo run --release -p elinvar --example closure`

use elinvar::prelude::*;

fn main() -> Result<(), Error> {
    // x ~ N(0, 4), y | x ~ N(x²/4 − 1, 1): curved like a banana, normalised up to log(4π).
    let target = from_fn(2, |z: &[f64], grad: &mut [f64]| {
        let residual = z[1] - 0.25 * z[0] * z[0] + 1.0;
        grad[0] = -0.25 * z[0] + 0.5 * residual * z[0];
        grad[1] = -residual;
        -0.125 * z[0] * z[0] - 0.5 * residual * residual
    });
    let log_normaliser = (4.0 * std::f64::consts::PI).ln();
    for family in [Family::gaussian(), Family::skew(), Family::mog(6)] {
        let mut posterior = elinvar::run::fit(&target, family, &Plan::default())?;
        let report = posterior.diagnose(&target, 20_000, 1)?;
        println!(
            "{family:9} KL {:.3} ± {:.3}, k̂ {:.2} (threshold {:.2}), {} gradients, {}",
            log_normaliser - report.elbo.value,
            report.elbo.mcse,
            report.pareto_k.unwrap_or(f64::NAN),
            report.pareto_k_threshold,
            posterior.counts().gradient,
            posterior.stop_reason(),
        );
    }
    Ok(())
}
