//! Eight schools: the effect of coaching on test scores in eight schools, which borrow strength from each other.
//!
//! `cargo run --release -p elinvar --example eight_schools`

use elinvar::model::EightSchools;
use elinvar::prelude::*;

pub(crate) fn main() -> elinvar::Result {
    // Measured effects and their standard errors.
    let (effect, error) = EightSchools::data();
    // theta = mu + tau·eta with eta ~ N(0, 1); mu ~ N(0, 5²), tau half-Cauchy with scale 5.
    let parameters = Parameters::new().real("mu", 1).positive("tau", 1).real("eta", 8);
    let model = log_density(parameters, |x, gradient| {
        let (mu, tau, eta) = (x[0], x[1], &x[2..]);
        let mut log_p = -mu * mu / 50.0 - (1.0 + tau * tau / 25.0).ln();
        (gradient[0], gradient[1]) = (-mu / 25.0, -2.0 * tau / (25.0 + tau * tau));
        for (j, eta) in eta.iter().enumerate() {
            let residual = (effect[j] - mu - tau * eta) / error[j];
            log_p -= 0.5 * (eta * eta + residual * residual);
            gradient[0] += residual / error[j];
            gradient[1] += residual * eta / error[j];
            gradient[2 + j] = residual * tau / error[j] - eta;
        }
        log_p
    });
    let posterior = elinvar::fit(&model)?;
    println!("{posterior}");

    // What is a function of the parameters is the same function of each draw.
    let draws = posterior.sample(4_000, 1);
    let first = draws.iter().map(|x| x[0] + x[1] * x[2]).sum::<f64>() / draws.len() as f64;
    println!("mean effect in the first school: {first:.1}, measured {:.0}", effect[0]);
    assert!((4.0..9.0).contains(&first), "shrunk towards the others");
    Ok(())
}
