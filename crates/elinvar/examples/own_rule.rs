//! A rule of updating that elinvar does not have: natural gradients in natural parameters, averaged over steps, with a
//! schedule of its own. ELBO and natural gradient are in plain view at each step.
//!
//! `cargo run --release -p elinvar --features theory --example own_rule`

use elinvar::model::Banana;
use elinvar::prelude::*;
use elinvar::theory::Mcef;

/// Share of the direction that is kept from one step to the next.
const INERTIA: f64 = 0.5;

pub(crate) fn main() -> elinvar::Result {
    let model = Banana::default();
    for family in [Family::gaussian(), Family::mog(3), Family::skew(), Family::rank_k(1)] {
        let plan = Plan { n_draws: 64, ..Plan::default() };
        let mut run = Fit::new(&model).family(family).plan(plan).start_around(Placement::default()).begin()?;
        let mut direction = vec![0.0; run.q().natural().len()];
        for t in 0..200 {
            let Some(elbo) = run.estimate_gradient()? else { continue };
            let natural = run.q().natural_gradient(run.gradient());
            direction.iter_mut().zip(&natural).for_each(|(d, g)| *d = INERTIA * *d + (1.0 - INERTIA) * g);

            // Halved until it leads to a member of the family: a precision has to stay positive definite.
            let from = run.q().natural();
            let mut beta = 0.3 / (1.0 + f64::from(t) / 50.0).sqrt();
            let moved = loop {
                let to: Vec<f64> = from.iter().zip(&direction).map(|(at, d)| at + beta * d).collect();
                match run.q().with_natural(&to) {
                    Ok(member) => break member,
                    Err(_) => beta *= 0.5,
                }
            };
            if t % 50 == 0 {
                println!("{family:10} step {t:3}  ELBO {elbo:.3}  slope {:.4}", run.slope());
            }
            run.move_to(moved)?;
        }
        let mut posterior = run.finish();
        println!("{family:10} {}", posterior.judge(&model, 10_000, 1)?);
    }
    Ok(())
}
