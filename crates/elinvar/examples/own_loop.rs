//! The loop in your own hands: step by step, with a checkpoint from which another process could go on.
//!
//! `cargo run --release -p elinvar --example own_loop`

use elinvar::model::BetaBinomial;
use elinvar::prelude::*;

fn main() -> Result<(), Error> {
    let target = BetaBinomial::cancer_mortality();
    let plan = Plan::thorough();
    let start = elinvar::run::start(&target, Family::mog(3), &plan)?.approximation;
    let mut run = Run::new(&target, start, &plan)?;
    for _ in 0..300 {
        let step = run.step()?;
        if step.index.is_multiple_of(50) {
            println!(
                "{:4}  ELBO {:.3} ± {:.3}",
                step.index,
                step.elbo.unwrap_or(f64::NAN),
                step.elbo_se.unwrap_or(f64::NAN)
            );
        }
    }
    let checkpoint = run.checkpoint();
    let mut resumed = Run::resume(&target, &checkpoint)?;
    assert_eq!(run.step()?.elbo, resumed.step()?.elbo, "the same bits");
    for c in 0..3 {
        let block = &run.q().locations()[c];
        println!(
            "weight {:.2}, mean ({:.2}, {:.2})",
            run.q().weights().weight(c),
            block.column(0)[0],
            block.column(0)[1]
        );
    }
    Ok(())
}
