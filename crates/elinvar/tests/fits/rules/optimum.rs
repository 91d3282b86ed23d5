//! Every rule ends at the optimum of its family.

use elinvar::estimate::Curvature;
use elinvar::family::Family;
use elinvar::random::Noise;
use elinvar::rule::{AdamLike, BiasCorrection, EuclideanAdam, Root, Rule, StepSize};
use elinvar::run::{Placement, Run, Stop, start_around};
use elinvar::target::Target;
use elinvar::{Plan, Posterior};

use super::{MOMENTUM, adam_like};
use crate::subjects::logistic;

/// The bound on 200 000 draws; those of two fits are the same up to their parameters.
fn bound(target: &dyn Target, mut posterior: Posterior) -> f64 {
    let elbo = posterior.diagnose(target, 200_000, 77).unwrap().elbo;
    assert!(elbo.mcse < 2e-3, "± {}", elbo.mcse);
    elbo.value
}

fn best(target: &dyn Target, family: Family) -> f64 {
    bound(target, elinvar::run::fit(target, family, &Plan { n_draws: 128, ..Plan::thorough() }).unwrap())
}

fn ends_at(target: &dyn Target, family: Family, plan: &Plan, best: f64) {
    let posterior = elinvar::run::fit(target, family, plan).unwrap();
    let (steps, reason) = (posterior.trace().len(), posterior.stop_reason());
    let gap = best - bound(target, posterior);
    println!("{family}, {:?}, {}: {gap:.4} nats, {steps} steps, {reason:?}", plan.rule, plan.curvature);
    assert!(gap < 0.02, "{family}, {plan:?}: {gap} nats below the optimum after {steps} steps");
}

fn plan(rule: Rule, step_size: StepSize) -> Plan {
    let stop = Stop { max_steps: 6_000, ..Stop::default() };
    Plan { rule, step_size, stop, seed: 3, ..Plan::default() }
}

#[test]
fn of_a_gaussian_and_a_skew_gaussian() {
    let target = logistic(60, 3);
    for family in [Family::gaussian().diagonal(), Family::gaussian(), Family::skew().diagonal(), Family::mog(2)] {
        let best = best(&target, family);
        let decay = StepSize::Power { initial: 0.05, delay: 300.0, exponent: 0.6 };
        let euclidean = Rule::EuclideanAdam(EuclideanAdam::default());
        for (rule, step_size) in [
            (MOMENTUM, StepSize::Auto),
            (MOMENTUM, StepSize::Power { initial: 0.3, delay: 100.0, exponent: 0.6 }),
            (euclidean, StepSize::Auto),
            (euclidean, decay),
        ] {
            ends_at(&target, family, &plan(rule, step_size), best);
        }
        // Adam without averages: the last state, of steps that have become short.
        ends_at(&target, family, &Plan { average: false, ..plan(euclidean, decay) }, best);
        // The reparameterisation gradient, without second derivatives.
        let curvature = Curvature::Stein { control_variate: false };
        ends_at(&target, family, &Plan { curvature, ..plan(euclidean, StepSize::Auto) }, best);
    }
}

/// With the Hessian for its curvature the rule has the fixed point of the natural gradient; with squared gradients,
/// which are the curvature only on average over data from the model, one nearby.
#[test]
fn of_the_adam_like_rule() {
    let target = logistic(60, 3);
    for family in [Family::gaussian(), Family::skew(), Family::emg(), Family::student_t(6.0), Family::snig(3.0)] {
        let family = family.diagonal();
        let best = best(&target, family);
        for (root, bias_correction) in [
            (Root::PaperRoot, BiasCorrection::MomentumOnly),
            (Root::PaperRoot, BiasCorrection::Both),
            (Root::VadamRoot, BiasCorrection::DataOnly),
            (Root::Newton, BiasCorrection::None),
        ] {
            let Rule::AdamLike(rule) = adam_like(root, bias_correction) else { unreachable!() };
            let rule = Rule::AdamLike(AdamLike { gamma2: 0.99, ..rule });
            let step_size = StepSize::Power { initial: 0.02, delay: 500.0, exponent: 0.6 };
            ends_at(&target, family, &Plan { curvature: Curvature::Hessian, ..plan(rule, step_size) }, best);
            if family.name() == "gaussian" {
                for minibatch in [None, Some(20)] {
                    ends_at(&target, family, &Plan { minibatch, ..plan(rule, step_size) }, best);
                }
            }
        }
    }
}

/// Components of a mixture, each with running means of its own: they end where those of the retraction end, and above
/// the Gaussian.
#[test]
fn of_the_adam_like_rule_for_a_mixture() {
    let target = logistic(60, 3);
    let family = Family::mog(3).diagonal();
    let best = best(&target, family);
    let rule = AdamLike { gamma2: 0.99, bias_correction: BiasCorrection::MomentumOnly, ..AdamLike::default() };
    let step_size = StepSize::Power { initial: 0.02, delay: 500.0, exponent: 0.6 };
    let plan = Plan { curvature: Curvature::Hessian, ..plan(Rule::AdamLike(rule), step_size) };
    ends_at(&target, family, &plan, best);
}

/// A mixture of one component is the Gaussian: pairs of mirrored draws leave nothing of E[∇ log q].
#[test]
fn one_component_moves_as_the_gaussian() {
    let target = logistic(60, 3);
    let rule = Rule::AdamLike(AdamLike::default());
    let plan = Plan { noise: Noise::Antithetic, n_draws: 4, minibatch: Some(20), ..plan(rule, StepSize::Auto) };
    let ends = |family: Family| {
        let start = start_around(family.diagonal(), 3, Placement { mean: 0.3, ..Placement::default() }, 1).unwrap();
        let mut run = Run::new(&target, start, &plan).unwrap();
        (0..200).for_each(|_| _ = run.step().unwrap());
        let block = &run.q().locations()[0];
        [block.b(), block.scale().precision()].concat()
    };
    let (gaussian, mixture) = (ends(Family::gaussian()), ends(Family::mog(1)));
    for (a, b) in gaussian.iter().zip(&mixture) {
        assert!((a - b).abs() < 1e-10 * (1.0 + b.abs()), "{gaussian:?} {mixture:?}");
    }
    assert!(gaussian[0] != 0.3);
}
