//! Logistic regression written by hand, with its Hessian: fewer evaluations than with gradients alone.
//!
//! `cargo run --release -p elinvar --example logistic_by_hand`

use elinvar::prelude::*;

/// Hours of study and of sleep, and whether the test was passed.
const ROWS: [([f64; 3], f64); 12] = [
    ([1.0, 0.5, 5.0], 0.0),
    ([1.0, 1.0, 7.5], 0.0),
    ([1.0, 1.5, 6.0], 0.0),
    ([1.0, 1.8, 8.0], 1.0),
    ([1.0, 2.2, 6.5], 0.0),
    ([1.0, 2.5, 8.0], 1.0),
    ([1.0, 2.8, 5.5], 0.0),
    ([1.0, 3.1, 7.0], 1.0),
    ([1.0, 3.6, 6.0], 1.0),
    ([1.0, 4.0, 8.0], 1.0),
    ([1.0, 4.4, 5.0], 0.0),
    ([1.0, 5.0, 7.0], 1.0),
];
/// Standard deviations of the normal priors.
const PRIOR: [f64; 3] = [10.0, 2.5, 2.5];

fn probability(row: &[f64; 3], beta: &[f64]) -> f64 {
    1.0 / (1.0 + (-row.iter().zip(beta).map(|(x, b)| x * b).sum::<f64>()).exp())
}

fn log_p(beta: &[f64], gradient: &mut [f64]) -> f64 {
    let mut sum = 0.0;
    for ((g, b), sd) in gradient.iter_mut().zip(beta).zip(PRIOR) {
        *g = -b / (sd * sd);
        sum -= 0.5 * (b / sd).powi(2);
    }
    for (row, y) in &ROWS {
        let p = probability(row, beta);
        sum += if *y == 1.0 { p.ln() } else { (1.0 - p).ln() };
        gradient.iter_mut().zip(row).for_each(|(g, x)| *g += (y - p) * x);
    }
    sum
}

fn hessian(beta: &[f64], hessian: &mut [f64]) {
    hessian.fill(0.0);
    (0..3).for_each(|i| hessian[4 * i] = -1.0 / (PRIOR[i] * PRIOR[i]));
    for (row, _) in &ROWS {
        let p = probability(row, beta);
        for (at, entry) in hessian.iter_mut().enumerate() {
            *entry -= p * (1.0 - p) * row[at % 3] * row[at / 3];
        }
    }
}

pub(crate) fn main() -> elinvar::Result {
    let names = ["intercept", "study", "sleep"];
    let by_gradients = log_density(3, log_p).named(names);
    let by_hessians = log_density(3, log_p).named(names).with_hessian(hessian);
    let gaussian = |model: &dyn Target| Fit::new(model).family(Family::gaussian()).run();
    let [one, two] = [gaussian(&by_gradients)?, gaussian(&by_hessians)?];
    println!("{two}");
    println!("{} gradients; {} and Hessians", one.counts().gradient, two.counts().gradient);
    let study = elinvar::fit(&by_hessians)?.sample(4_000, 1);
    let helps = study.column("study").filter(|slope| *slope > 0.0).count() as f64 / study.len() as f64;
    println!("P(study helps) = {helps:.3}");
    Ok(())
}
