//! The ways in which the target is fitted.

use std::ops::ControlFlow;

use elinvar::family::Approximation;
use elinvar::model::GaussianMixture;
use elinvar::{Family, Plan};

use super::{COMPONENTS, DIM};
use crate::Error;
use crate::authors::{Program, scattered_start};

/// A way, and how often it is taken.
pub(super) struct Arm {
    pub(super) name: String,
    /// Name of its figure, where it has one.
    pub(super) stem: Option<&'static str>,
    pub(super) repetitions: usize,
    how: How,
}

#[derive(Clone, Copy)]
enum How {
    /// The default plan.
    Default,
    /// Where the default plan begins.
    DefaultStart,
    /// The default plan from the start of the paper.
    FromPaperStart,
    /// An iteration of the paper or of its authors, from the start of the paper.
    By(Program),
}

/// β times the number of iterations; the paper gives neither.
const LENGTH: f64 = 150.0;

/// S = 10 and update (16) as printed (mathematics §9.2, E1): one β for components and weights, h as it is.
fn printed(beta: f64) -> Program {
    let steps = (LENGTH / beta).round() as u64;
    Program { draws: 10, beta, weight_factor: 1.0, entropy_bonus: None, subtracts_mean: false, steps }
}

/// The same with what the authors' program adds.
fn authors(beta: f64) -> Program {
    Program { weight_factor: 0.01, entropy_bonus: Some(5e5), subtracts_mean: true, ..printed(beta) }
}

/// All ways, a few of them in a quick run.
pub(super) fn arms(quick: bool) -> Vec<Arm> {
    let (default, others) = if quick { (2, 1) } else { (5, 5) };
    let arm = |name: &str, stem, repetitions, how| Arm { name: name.into(), stem, repetitions, how };
    let mut arms = vec![
        arm("elinvar, default plan", Some("default"), default, How::Default),
        arm("elinvar, default plan, at its start", None, default, How::DefaultStart),
        arm("elinvar from the paper's start", Some("paper-start"), others, How::FromPaperStart),
    ];
    let betas: &[f64] = if quick { &[0.05] } else { &[0.2, 0.1, 0.05, 0.02] };
    for beta in betas {
        let stem = (*beta == 0.05).then_some("printed");
        arms.push(arm(&format!("as printed, β = {beta}"), stem, others, How::By(printed(*beta))));
    }
    for beta in if quick { &[0.05][..] } else { &[0.1, 0.05, 0.02] } {
        let stem = (*beta == 0.05).then_some("authors");
        arms.push(arm(&format!("authors' program, β = {beta}"), stem, others, How::By(authors(*beta))));
    }
    arms
}

impl Arm {
    /// One fit.
    pub(super) fn fit(&self, target: &GaussianMixture, seed: u64) -> Result<Approximation, Error> {
        let plan = Plan { seed, ..Plan::default() };
        let family = Family::mog(COMPONENTS);
        let scattered = || scattered_start(DIM, COMPONENTS, 10.0, 100.0, seed);
        Ok(match self.how {
            How::Default => elinvar::run::fit(target, family, &plan)?.approximation().clone(),
            How::DefaultStart => elinvar::run::start(target, family, &plan)?.approximation,
            How::FromPaperStart => {
                let fit = elinvar::run::fit_from(target, scattered()?, &plan, &mut |_| ControlFlow::Continue(()))?;
                fit.approximation().clone()
            }
            How::By(program) => program.run(target, scattered()?, seed)?,
        })
    }
}
