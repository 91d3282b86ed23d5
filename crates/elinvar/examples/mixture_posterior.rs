//! A posterior with two modes: the labels of a mixture of two normals can be exchanged.
//!
//! `cargo run --release -p elinvar --example mixture_posterior`

use elinvar::prelude::*;

/// Half of them around −2, half around 2.
const Y: [f64; 10] = [-2.3, -1.6, -2.1, -1.9, -2.6, 2.2, 1.7, 2.4, 1.9, 2.1];

pub(crate) fn main() -> elinvar::Result {
    // The two means, with unit noise, equal weights and priors N(0, 5²).
    let model = log_density(2, |mu, gradient| {
        let mut log_p = -0.02 * (mu[0] * mu[0] + mu[1] * mu[1]);
        (gradient[0], gradient[1]) = (-0.04 * mu[0], -0.04 * mu[1]);
        for y in Y {
            let [a, b] = [0, 1].map(|c| -0.5 * (y - mu[c]) * (y - mu[c]));
            let top = a.max(b);
            let total = (a - top).exp() + (b - top).exp();
            log_p += top + total.ln();
            gradient[0] += (a - top).exp() / total * (y - mu[0]);
            gradient[1] += (b - top).exp() / total * (y - mu[1]);
        }
        log_p
    })
    .named(["mu[1]", "mu[2]"]);
    let posterior = Fit::new(&model).family(Family::mog_auto()).run()?;
    println!("{posterior}");
    let draws = posterior.sample(4_000, 1);
    let share = draws.iter().filter(|mu| mu[0] < mu[1]).count() as f64 / draws.len() as f64;
    println!("share of draws with mu[1] < mu[2]: {share:.2}");
    Ok(())
}
