//! A hierarchical model with constraints: growth of plants in groups, with a scale for groups and one for noise.
//!
//! `cargo run --release -p elinvar --example hierarchy`

use elinvar::prelude::*;

/// Height y of plants in groups: y ~ N(alpha[group], sigma²), alpha ~ N(mu, tau²), written around mu + tau·eta so that
/// groups with little data do no harm.
struct Plants {
    group: Vec<usize>,
    y: Vec<f64>,
}

const GROUPS: usize = 6;

impl Plants {
    /// Four plants in each group.
    fn measured() -> Self {
        let centres = [9.0, 11.5, 10.2, 8.1, 12.4, 10.0];
        let noise = [0.6, -0.9, 0.1, 0.5];
        let rows = centres.iter().enumerate().flat_map(|(g, c)| noise.map(|e| (g, c + e * (1.0 + 0.1 * g as f64))));
        let (group, y) = rows.unzip();
        Self { group, y }
    }
}

impl Model for Plants {
    fn parameters(&self) -> Parameters {
        Parameters::new().real("eta", GROUPS).real("mu", 1).positive("tau", 1).positive("sigma", 1)
    }

    fn log_density(&self, x: &[f64], gradient: &mut [f64]) -> f64 {
        let (eta, mu, tau, sigma) = (&x[..GROUPS], x[GROUPS], x[GROUPS + 1], x[GROUPS + 2]);
        // eta ~ N(0, 1), mu ~ N(10, 5²), tau ~ N(0, 2²) and sigma ~ N(0, 2²), both positive.
        let mut log_p = -0.5 * eta.iter().map(|e| e * e).sum::<f64>();
        log_p -= 0.5 * ((mu - 10.0) / 5.0).powi(2) + 0.125 * (tau * tau + sigma * sigma);
        gradient[..GROUPS].iter_mut().zip(eta).for_each(|(g, e)| *g = -e);
        gradient[GROUPS..].copy_from_slice(&[-(mu - 10.0) / 25.0, -0.25 * tau, -0.25 * sigma]);
        for (g, y) in self.group.iter().zip(&self.y) {
            let residual = (y - mu - tau * eta[*g]) / sigma;
            log_p -= 0.5 * residual * residual + sigma.ln();
            gradient[*g] += residual * tau / sigma;
            gradient[GROUPS] += residual / sigma;
            gradient[GROUPS + 1] += residual * eta[*g] / sigma;
            gradient[GROUPS + 2] += (residual * residual - 1.0) / sigma;
        }
        log_p
    }
}

pub(crate) fn main() -> elinvar::Result {
    let posterior = elinvar::fit(&Plants::measured())?;
    println!("{posterior}");
    let draws = posterior.sample(4_000, 1);
    let wider = draws.column("tau").zip(draws.column("sigma")).filter(|(tau, sigma)| tau > sigma).count();
    println!("P(groups differ more than plants) = {:.2}", wider as f64 / draws.len() as f64);
    Ok(())
}
