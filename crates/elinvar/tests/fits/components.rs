//! Mixtures whose number of components is found: births, deaths, merges, and that nothing goes uncounted.

use std::ops::ControlFlow;

use crate::state::{State, Stated};
use elinvar::block::{Location, LogWeights, Scale};
use elinvar::family::{Approximation, Kind};
use elinvar::model::{Banana, GaussianMixture};
use elinvar::run::components::{Grown, grow};
use elinvar::run::{Counts, Step, Stop, StopReason};
use elinvar::run::{fit, fit_from, fit_observed};
use elinvar::target::{Shape, Target};
use elinvar::{Error, Family, Plan};

use crate::counting::Counting;
use crate::subjects::GradientsOnly;

/// Components (log weight, mean, precision of every coordinate).
fn mixture(components: &[(f64, &[f64], f64)]) -> Approximation {
    let d = components[0].1.len();
    let block = |mean: &[f64], precision: f64| {
        let mut entries = vec![0.0; d * d];
        (0..d).for_each(|i| entries[i * d + i] = precision);
        Location::new(mean.to_vec(), Scale::from_precision(Shape::Full(d), entries).unwrap()).unwrap()
    };
    let weights = LogWeights::new(components.iter().map(|c| c.0).collect()).unwrap();
    Approximation::mixture(weights, components.iter().map(|c| block(c.1, c.2)).collect()).unwrap()
}

fn grown(target: &dyn Target, start: Approximation, plan: &Plan) -> Grown {
    grow(target, start, plan, &mut |_| ControlFlow::Continue(())).unwrap()
}

fn seeded(seed: u64) -> Plan {
    Plan { seed, ..Plan::default() }
}

/// N(0, diag(1, 1)), N((7, 0), ·) with weights 0.7 and 0.3; log Z = 0.
fn two_modes() -> GaussianMixture {
    let unit = [1.0, 0.0, 0.0, 1.0].repeat(2);
    GaussianMixture::new(&[0.7, 0.3], vec![0.0, 0.0, 7.0, 0.0], &unit).unwrap()
}

#[test]
fn duplicates_merge() {
    let target = GaussianMixture::isotropic(2, vec![1.0, -1.0]).unwrap();
    let start = mixture(&[(0.0, &[0.9, -1.0], 1.0), (0.0, &[1.1, -1.0], 1.0), (-1.0, &[1.0, -0.9], 1.0)]);
    let grown = grown(&target, start, &seeded(1));
    assert_eq!(grown.q.n_components(), 1, "{:?}", grown.rounds);
    assert_eq!(grown.reason, StopReason::Converged);
    let mean = grown.q.mean();
    assert!((mean[0] - 1.0).abs() < 1e-3 && (mean[1] + 1.0).abs() < 1e-3, "{mean:?}");
}

#[test]
fn dead_components_are_removed_and_the_living_stay() {
    // The third component stands where the target has no mass: its weight falls to nothing.
    let start = mixture(&[(0.0, &[0.0, 0.0], 1.0), (0.0, &[7.0, 0.0], 1.0), (-3.0, &[0.0, 30.0], 50.0)]);
    let plan = Plan { max_kl: Some(1e-2), ..seeded(2) };
    let grown = grown(&two_modes(), start, &plan);
    let mut weights: Vec<f64> = (0..grown.q.n_components()).map(|c| grown.q.weights().weight(c)).collect();
    weights.sort_by(f64::total_cmp);
    assert_eq!(weights.len(), 2, "{weights:?} {:?}", grown.rounds);
    assert!((weights[0] - 0.3).abs() < 1e-3, "{weights:?}");
}

#[test]
fn a_start_in_one_mode_gets_the_other() {
    for seed in 1..=5 {
        let grown = grown(&two_modes(), mixture(&[(0.0, &[0.0, 0.0], 1.0)]), &seeded(seed));
        assert_eq!(grown.q.n_components(), 2, "seed {seed}: {:?}", grown.rounds);
        let last = grown.rounds.last().unwrap();
        assert!(last.elbo.value.abs() < 1e-3, "seed {seed}: {:?}", grown.rounds);
        // One mode alone is worth log 0.7.
        assert!((grown.rounds[0].elbo.value - 0.7f64.ln()).abs() < 0.01, "seed {seed}: {:?}", grown.rounds);
    }
}

#[test]
fn a_banana_gets_components_until_they_do_not_pay() {
    let plan = seeded(3);
    let posterior = fit(&Banana::default(), Family::mog_auto(), &plan).unwrap();
    let Kind::Mog { components } = posterior.family().kind else { panic!("{:?}", posterior.family()) };
    assert!((5..=20).contains(&components), "{components}");
    let elbo = posterior.clone().diagnose(&Banana::default(), 20_000, 1).unwrap().elbo;
    // The best Gaussian is at −0.55; log Z = 0.
    assert!(elbo.value > -0.01 && elbo.value < 4.0 * elbo.mcse, "{elbo:?}");
    let k: Vec<usize> = posterior.trace().iter().map(|step| step.components).collect();
    assert!(k[0] == 1 && *k.last().unwrap() == components, "{k:?}");
}

#[test]
fn a_gaussian_stays_one_component() {
    let target = GaussianMixture::isotropic(3, vec![1.0, 2.0, 3.0]).unwrap();
    let posterior = fit(&target, Family::mog_auto(), &seeded(4)).unwrap();
    assert_eq!(posterior.family(), Family::mog(1));
    assert!(posterior.converged());
    let diagonal = fit(&target, Family::mog_auto().diagonal(), &seeded(4)).unwrap();
    assert_eq!(diagonal.family(), Family::mog(1).diagonal());
}

#[test]
fn the_same_seed_gives_the_same_bits() {
    let run = |seed| {
        let posterior = fit(&Banana::default(), Family::mog_auto(), &seeded(seed)).unwrap();
        let trace: Vec<Step> = posterior.trace().iter().map(|step| Step { seconds: 0.0, ..*step }).collect();
        (posterior.approximation().state(), posterior.counts(), trace)
    };
    assert_eq!(run(5), run(5));
    assert_ne!(run(5).0, run(6).0);
}

#[test]
fn every_evaluation_is_counted_and_every_step_is_seen() {
    let target = Counting::new(two_modes());
    let mut seen = Vec::new();
    let mut observe = |step: &Step| {
        seen.push(step.index);
        ControlFlow::Continue(())
    };
    let posterior = fit_observed(&target, Family::mog_auto(), &seeded(7), &mut observe).unwrap();
    let asked = target.asked();
    let Counts { log_density, gradient, hessian, .. } = posterior.counts();
    assert_eq!((gradient, hessian), asked);
    assert_eq!(log_density, gradient);
    assert_eq!(seen, (0..posterior.trace().len() as u64).collect::<Vec<_>>());
    let counts: Vec<u64> = posterior.trace().iter().map(|step| step.counts.gradient).collect();
    assert!(counts.is_sorted());
}

#[test]
fn limits_and_observers_end_it() {
    let target = Banana::default();
    let limited = |stop| fit(&target, Family::mog_auto(), &Plan { stop, ..seeded(8) }).unwrap();
    let steps = limited(Stop { max_steps: 33, ..Stop::default() });
    assert_eq!((steps.stop_reason(), steps.trace().len()), (StopReason::MaxSteps, 33));
    let evaluations = limited(Stop { max_evaluations: 8_000, ..Stop::default() });
    assert_eq!(evaluations.stop_reason(), StopReason::MaxEvaluations);
    // A step, a round's judgement and its search may come on top.
    assert!((8_000..16_000).contains(&evaluations.counts().gradient), "{:?}", evaluations.counts());
    let mut observe = |step: &Step| if step.index == 25 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
    let interrupted = fit_observed(&target, Family::mog_auto(), &seeded(8), &mut observe).unwrap();
    assert_eq!((interrupted.stop_reason(), interrupted.trace().len()), (StopReason::Interrupted, 26));
}

#[test]
fn auto_is_a_request_and_no_state() {
    let state = mixture(&[(0.0, &[0.0], 1.0)]).state();
    let request = State { family: Family::mog_auto(), ..state };
    let refused = Approximation::from_state(&request);
    assert!(matches!(&refused, Err(Error::Unsupported { .. })), "{refused:?}");
    assert!(Approximation::from_state(&request).is_err());
}

#[test]
fn gradients_alone_leave_a_mixture_where_it_is_the_target() {
    // The components overlap: log p − log q has no noise there, log p beside the Hessian of log q would have.
    let unit = [1.0, 0.0, 0.0, 1.0].repeat(2);
    let target = GaussianMixture::new(&[0.7, 0.3], vec![0.0, 0.0, 2.0, 0.0], &unit).unwrap();
    let start = mixture(&[(0.7f64.ln(), &[0.0, 0.0], 1.0), (0.3f64.ln(), &[2.0, 0.0], 1.0)]);
    let plan = Plan { stop: Stop { max_steps: 30, ..Stop::default() }, ..seeded(3) };
    let mut walk = |_: &Step| ControlFlow::Continue(());
    let moved = fit_from(&GradientsOnly(&target), start.clone(), &plan, &mut walk).unwrap();
    for (block, other) in moved.approximation().locations().iter().zip(start.locations()) {
        let near = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-9);
        assert!(near(block.b(), other.b()) && near(block.scale().precision(), other.scale().precision()));
    }
}

#[test]
fn many_modes_cost_little_with_gradients_alone() {
    let (d, k) = (12, 6);
    let means: Vec<f64> = (0..d * k).map(|i| 15.0 * (1.7 * i as f64 + 0.3).sin()).collect();
    let target = GaussianMixture::isotropic(d, means).unwrap();
    let posterior = fit(&GradientsOnly(&target), Family::mog_auto(), &seeded(2)).unwrap();
    // Two modes are so near to each other that three components share them without loss.
    assert!((k..=k + 1).contains(&posterior.approximation().n_components()));
    // With gradients of log p beside the Hessian of log q it takes hundreds of times as many (mathematics §10.2).
    assert!(posterior.counts().gradient < 10_000, "{:?}", posterior.counts());
    let elbo = posterior.importance(&target, 20_000, 1).unwrap().diagnostics.elbo;
    assert!(elbo.value.abs() < 0.01, "{elbo:?}");
}
