//! Checks 8 and 9: the conjugate model is solved in one step, and affine maps commute with the iteration.

use crate::state::Stated;
use elinvar::Family;
use elinvar::block::Scale;
use elinvar::estimate::Curvature;
use elinvar::family::Approximation;
use elinvar::random::Noise;
use elinvar::rule::Rule;
use elinvar::run::Run;
use elinvar::target::{Prior, Shape, WithPrior};
use elinvar::{Plan, model};

use crate::members::differences::close;
use crate::members::{self, Affine, Member, bent_target, full_precision};

fn plan(rule: Rule, beta: f64) -> Plan {
    crate::exactness::plan(rule, beta, 2)
}

/// Check 8: likelihood N(m, Λ⁻¹), prior N(0, I/δ), any start whose precision is at most 20 times the posterior's (the
/// margin of the plain rule): one step of size 1 lands on precision Λ + δI and mean (Λ + δI)⁻¹Λm, whatever the two
/// draws were.
#[test]
fn one_step_solves_the_conjugate_model() {
    for seed in 0..20 {
        let d = 1 + (seed % 5) as usize;
        let stream = &mut members::stream(100 + seed);
        let (lambda, mean, delta) = (members::positive_definite(stream, d), members::normals(stream, d), 0.8);
        let mut posterior = lambda.clone();
        (0..d).for_each(|i| posterior[i * d + i] += delta);
        let mut expected: Vec<f64> = (0..d).map(|i| (0..d).map(|j| lambda[j * d + i] * mean[j]).sum()).collect();
        Scale::from_precision(Shape::Full(d), posterior.clone()).unwrap().solve(&mut expected);
        let target = WithPrior::new(
            model::Gaussian::new(mean, lambda).unwrap(),
            Prior::Gaussian { precision: delta, leading: d },
        );
        let start = members::member(Family::gaussian(), d, 200 + seed);
        let mut run = Run::new(&target, start, &plan(Rule::NaturalGradient, 1.0)).unwrap();
        assert_eq!(run.step().unwrap().taken, 1.0);
        close("precision", run.q().locations()[0].scale().precision(), &posterior, 1e-10);
        close("mean", run.q().locations()[0].b(), &expected, 1e-10);
    }
}

/// Check 9: the run on the transformed model is the transformed run.
fn equivariant(q: &Approximation, rule: Rule, curvature: Curvature, max_kl: Option<f64>) {
    let (map, plain) = (Affine::new(q.dim(), 3), bent_target(q.dim()));
    let moved = map.target();
    let plan = Plan { n_draws: 8, noise: Noise::Independent, curvature, max_kl, ..plan(rule, 0.2) };
    let mut one = Run::new(&plain, q.clone(), &plan).unwrap();
    let mut two = Run::new(&moved, q.with(|state| map.move_state(state)), &plan).unwrap();
    for step in 0..15 {
        let (first, second) = (one.step().unwrap(), two.step().unwrap());
        assert!(first.taken > 0.0 && (first.taken / second.taken - 1.0).abs() < 1e-6, "{}: step {step}", q.name());
        let shift = first.elbo.unwrap() - second.elbo.unwrap() + map.log_det();
        assert!(shift.abs() < 1e-8, "{}: the bound differs by {shift}", q.name());
        let expected = one.q().with(|state| map.move_state(state)).state();
        let found = two.q().state();
        for (c, (found_block, expected_block)) in found.blocks.iter().zip(&expected.blocks).enumerate() {
            close(&format!("{} step {step}: B", q.name()), &found_block.b, &expected_block.b, 1e-8);
            close(
                &format!("{} step {step}: P", q.name()),
                &full_precision(&found, c),
                &full_precision(&expected, c),
                1e-8,
            );
        }
        for (found, expected) in found.log_weights.iter().zip(&expected.log_weights) {
            assert!((found - expected).abs() < 1e-8, "{} step {step}: log π", q.name());
        }
    }
}

#[test]
fn affine_maps_commute_with_every_rule_and_estimator() {
    for rule in [Rule::NaturalGradient, Rule::Retraction] {
        every_member!(full equivariant(3, 90, rule, Curvature::Hessian, None));
        every_member!(full equivariant(2, 91, rule, Curvature::Stein { control_variate: true }, None));
        every_member!(full equivariant(2, 92, rule, Curvature::Hessian, Some(0.05)));
    }
}
