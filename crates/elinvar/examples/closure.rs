//! A log density as a closure: fitted, judged, drawn from; and what single families are worth on it.
//!
//! `cargo run --release -p elinvar --example closure`

use elinvar::prelude::*;

pub(crate) fn main() -> elinvar::Result {
    // x ~ N(0, 4), y | x ~ N(x²/4 − 1, 1): curved like a banana, normalised up to log(4π).
    let model = log_density(2, |x, gradient| {
        let residual = x[1] - 0.25 * x[0] * x[0] + 1.0;
        gradient[0] = -0.25 * x[0] + 0.5 * residual * x[0];
        gradient[1] = -residual;
        -0.125 * x[0] * x[0] - 0.5 * residual * residual
    })
    .named(["x", "y"]);

    let posterior = elinvar::fit(&model)?;
    println!("{posterior}");
    for draw in &posterior.sample(3, 1) {
        println!("a draw: {:.2} {:.2}", draw[0], draw[1]);
    }

    let log_normaliser = (4.0 * std::f64::consts::PI).ln();
    for family in [Family::gaussian(), Family::skew(), Family::mog(6)] {
        let posterior = Fit::new(&model).family(family).judged_by(20_000).run()?;
        let report = posterior.diagnostics().expect("it was judged");
        println!(
            "{family:9} KL {:.3} ± {:.3}, {} gradients, {}",
            log_normaliser - report.elbo.value,
            report.elbo.mcse,
            posterior.counts().gradient,
            posterior.stop_reason(),
        );
    }
    Ok(())
}
