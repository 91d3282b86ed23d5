//! The loop in your own hands: any family, any rule, step by step; and a checkpoint from which another process goes on.
//!
//! `cargo run --release -p elinvar --example researchers_loop`

use elinvar::model::{Banana, BetaBinomial};
use elinvar::prelude::*;
use elinvar::research::estimate::Curvature;
use elinvar::research::rule::StepSize;

pub(crate) fn main() -> elinvar::Result {
    let model = Banana::default();
    let families =
        [Family::mog(3), Family::skew(), Family::student_t(4.0), Family::gaussian().diagonal(), Family::rank_k(1)];
    for family in families {
        let plan = Plan {
            curvature: Curvature::Hessian,
            step_size: StepSize::Constant(0.1),
            n_draws: 32,
            max_kl: None,
            ..Plan::default()
        };
        let mut run = Fit::new(&model).family(family).plan(plan).start_around(Placement::default()).begin()?;
        for _ in 0..300 {
            let step = run.step()?;
            if step.index.is_multiple_of(100) {
                println!("{family:10} {step}");
            }
        }
        let mut posterior = run.finish();
        println!("{family:10} {}", posterior.judge(&model, 10_000, 1)?.verdict);
    }

    // A schedule of your own: each step in its two halves.
    let mut run = Fit::new(&model).family(Family::mog(3)).start_around(Placement::default()).begin()?;
    for t in 0..200 {
        let Some(elbo) = run.estimate_gradient()? else { continue };
        if t % 50 == 0 {
            println!("step {t}: ELBO {elbo}, slope along the natural gradient {:.4}", run.slope());
        }
        run.move_by(if t < 100 { 0.3 } else { 30.0 / f64::from(t) })?;
    }

    // A state can be kept between any two steps.
    let counts = BetaBinomial::cancer_mortality();
    let mut run = Fit::new(&counts).family(Family::mog(3)).plan(Plan::thorough()).begin()?;
    (0..50).try_for_each(|_| run.step().map(|_| ()))?;
    let checkpoint = run.checkpoint();
    let mut resumed = Run::resume(&counts, &checkpoint)?;
    assert_eq!(run.step()?.elbo, resumed.step()?.elbo, "the same bits");
    for (c, block) in run.q().locations().iter().enumerate() {
        let mean = block.column(0);
        println!("weight {:.2}, mean ({:.2}, {:.2})", run.q().weights().weight(c), mean[0], mean[1]);
    }
    Ok(())
}
