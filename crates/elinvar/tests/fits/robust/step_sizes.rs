//! No step size leaves the domain under the retraction.

use crate::state::Stated;
use elinvar::Plan;
use elinvar::model::{Banana, Funnel};
use elinvar::rule::{Rule, StepSize};
use elinvar::run::{Run, start};
use elinvar::target::Target;

use super::problem;
use crate::subjects::{families, label, logistic};

const SIZES: [f64; 4] = [0.01, 0.1, 1.0, 10.0];

fn plan(rule: Rule, beta: f64, seed: u64) -> Plan {
    let step_size = StepSize::Constant(beta);
    Plan { n_draws: 4, rule, step_size, mixing_step_size: step_size, max_kl: None, seed, ..Plan::default() }
}

/// 200 steps, or fewer if the run says that it cannot go on.
fn every_state_is_in_the_domain(name: &str, target: &dyn Target, rule: Rule, seeds: u64) {
    for family in families() {
        let from = start(target, family, &Plan::default()).unwrap().approximation;
        for (beta, seed) in SIZES.into_iter().flat_map(|beta| (1..=seeds).map(move |seed| (beta, seed))) {
            let mut run = Run::new(target, from.clone(), &plan(rule, beta, seed)).unwrap();
            for step in 0..200 {
                if run.reason_to_stop().is_some() {
                    break;
                }
                let at = || format!("{name}, {}, {rule}, β = {beta}, seed {seed}, step {step}", label(family));
                let report = run.step().unwrap_or_else(|error| panic!("{}: {error}", at()));
                assert!(report.elbo.is_none_or(f64::is_finite) && report.taken.is_finite(), "{}: {report:?}", at());
                if let Some(problem) = problem(&run.q().state()) {
                    panic!("{}: {problem}", at());
                }
            }
        }
    }
}

#[test]
fn of_a_regression() {
    every_state_is_in_the_domain("logistic", &logistic(30, 4), Rule::Retraction, 5);
}

#[test]
fn of_a_bent_target() {
    every_state_is_in_the_domain("banana", &Banana::default(), Rule::Retraction, 5);
}

#[test]
fn of_a_funnel() {
    every_state_is_in_the_domain("funnel", &Funnel::new(3).unwrap(), Rule::Retraction, 5);
}

/// The plain rule is not made for such steps, but halves them.
#[test]
fn of_a_bent_target_under_the_plain_rule() {
    every_state_is_in_the_domain("banana", &Banana::default(), Rule::NaturalGradient, 2);
}

/// The whole way from nothing; the start is found with steps of its own.
#[test]
fn a_fit_with_any_step_size_ends_with_a_reason() {
    for family in families() {
        for (beta, seed) in SIZES.into_iter().flat_map(|beta| (1..=20).map(move |seed| (beta, seed))) {
            let mut plan = plan(Rule::Retraction, beta, seed);
            plan.stop.max_steps = 100;
            let posterior = elinvar::run::fit(&Funnel::new(3).unwrap(), family, &plan);
            let posterior = posterior.unwrap_or_else(|error| panic!("{}, β = {beta}, {seed}: {error}", label(family)));
            assert_eq!(problem(&posterior.approximation().state()), None, "{}, β = {beta}", label(family));
        }
    }
}
