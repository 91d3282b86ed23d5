//! A likelihood over many rows, fitted on a few of them at a time. Whole sums have no noise and need few steps: where
//! all rows fit into memory they cost less, as the two counts show.
//!
//! `cargo run --release -p elinvar --example mini_batches`

use elinvar::prelude::*;
use elinvar::research::target::sum_over_rows;

pub(crate) fn main() -> elinvar::Result {
    // Counts with the rate exp(0.5 + 0.8 x), rounded.
    let n_rows = 5_000;
    let x: Vec<f64> = (0..n_rows).map(|n| ((n * 7) % 101) as f64 / 50.0 - 1.0).collect();
    let y: Vec<f64> =
        x.iter().enumerate().map(|(n, x)| ((0.5 + 0.8 * x).exp() + (n as f64).sin()).max(0.0).round()).collect();
    let model = sum_over_rows(2, n_rows, |n, z, gradient| {
        let rate = (z[0] + z[1] * x[n]).exp();
        gradient[0] += y[n] - rate;
        gradient[1] += (y[n] - rate) * x[n];
        y[n] * rate.ln() - rate
    })
    .named(["intercept", "slope"])
    .normal_prior(0.0, 5.0);

    let all = Fit::new(&model).family(Family::gaussian()).run()?;
    let plan = Plan { minibatch: Some(250), ..Plan::default() };
    let some = Fit::new(&model).family(Family::gaussian()).plan(plan).run()?;
    for (name, posterior) in [("all rows", &all), ("250 at a time", &some)] {
        let (mean, variances) = (posterior.approximation().mean(), posterior.approximation().covariance());
        println!(
            "{name}: slope {:.3} ± {:.3}, {} gradients",
            mean[1],
            variances[3].sqrt(),
            posterior.counts().gradient
        );
    }
    let sd = all.approximation().covariance()[3].sqrt();
    assert!((all.approximation().mean()[1] - some.approximation().mean()[1]).abs() < sd);
    Ok(())
}
