//! Trajectories that are known: targets that are Gaussian, and rules that coincide.

use crate::state::{BlockState, State, Stated};
use elinvar::estimate::Curvature;
use elinvar::family::Approximation;
use elinvar::model;
use elinvar::random::Noise;
use elinvar::rule::{AdamLike, BiasCorrection, EuclideanAdam, Root, Rule, StepSize};
use elinvar::run::{Run, start};
use elinvar::target::Covariance;
use elinvar::{Error, Family, Plan};

use super::takes;
use crate::subjects::{families, is_learned, label, logistic};

/// An antithetic pair: on a quadratic every expectation is exact.
fn plan(rule: Rule, beta: f64) -> Plan {
    let (step_size, noise) = (StepSize::Constant(beta), Noise::Antithetic);
    Plan { n_draws: 2, noise, rule, step_size, mixing_step_size: StepSize::Auto, max_kl: None, ..Plan::default() }
}

fn gaussian(covariance: Covariance, mean: &[f64], precision: &[f64]) -> Approximation {
    Approximation::gaussian(mean.to_vec(), covariance, precision.to_vec()).unwrap()
}

fn times(matrix: &[f64], x: &[f64]) -> Vec<f64> {
    let d = x.len();
    (0..d).map(|i| (0..d).map(|j| matrix[j * d + i] * x[j]).sum()).collect()
}

#[track_caller]
fn near(what: &str, found: &[f64], expected: &[f64], tolerance: f64) {
    let size = expected.iter().fold(1e-3f64, |m, v| m.max(v.abs()));
    for (a, b) in found.iter().zip(expected) {
        assert!((a - b).abs() <= tolerance * size, "{what}: {found:?} and {expected:?}");
    }
}

/// KL(N(m₁, P₁⁻¹) ‖ N(m₂, P₂⁻¹)) in two dimensions.
fn divergence(m1: &[f64], p1: &[f64], m2: &[f64], p2: &[f64]) -> f64 {
    let det = |p: &[f64]| p[0] * p[3] - p[1] * p[2];
    let inverse: Vec<f64> = [p1[3], -p1[1], -p1[2], p1[0]].iter().map(|v| v / det(p1)).collect();
    let trace: f64 = p2.iter().zip(&inverse).map(|(a, b)| a * b).sum();
    let shift = [m1[0] - m2[0], m1[1] - m2[1]];
    let square: f64 = times(p2, &shift).iter().zip(shift).map(|(a, b)| a * b).sum();
    0.5 * (trace - 2.0 + (det(p1) / det(p2)).ln() + square)
}

/// The divergence that each of five steps reports, against the states before and after it.
fn check_divergences(family: Family, max_kl: f64) {
    let target = logistic(60, 2);
    let n = family.n_components();
    let block = |c: usize| BlockState { b: vec![0.3 * c as f64, -0.2], precision: vec![2.0 + c as f64, 0.4, 0.4, 1.0] };
    let mut before =
        State { family, dim: 2, blocks: (0..n).map(block).collect(), log_weights: vec![-(n as f64).ln(); n] };
    let mixing_step_size = StepSize::Constant(0.6);
    let plan = Plan { n_draws: 16, max_kl: Some(max_kl), mixing_step_size, ..plan(Rule::Retraction, 0.6) };
    let mut run = Run::new(&target, Approximation::from_state(&before).unwrap(), &plan).unwrap();
    for _ in 0..5 {
        let kl = run.step().unwrap().kl.unwrap();
        let after = run.q().state();
        let weights = after.log_weights.iter().zip(&before.log_weights);
        let mut expected = 0.0;
        for ((new, old), (log_new, log_old)) in after.blocks.iter().zip(&before.blocks).zip(weights) {
            let block = divergence(&new.b, &new.precision, &old.b, &old.precision);
            assert!(block <= max_kl * (1.0 + 1e-9), "{block} {max_kl}");
            expected += log_new.exp() * (block + log_new - log_old);
        }
        assert!((kl - expected).abs() <= 1e-9 * expected.max(1e-3), "{n} components: {kl} {expected}");
        before = after;
    }
}

/// What a step says of its divergence is what it is: of a Gaussian, and of a mixture with its weights.
#[test]
fn the_divergence_of_a_step_is_known() {
    for max_kl in [0.02, 10.0] {
        check_divergences(Family::gaussian(), max_kl);
        check_divergences(Family::mog(3), max_kl);
    }
    let target = logistic(60, 2);
    let start = gaussian(Covariance::Full, &[0.0; 2], &[1.0, 0.0, 0.0, 1.0]);
    let mut run = Run::new(&target, start, &plan(Rule::Retraction, 0.1)).unwrap();
    assert_eq!(run.step().unwrap().kl, None);
}

/// On a Gaussian target the natural parameters (Pμ, P) follow η⁺ = η + β(η* − η) + γ(η − η₋), computed here as such. It
/// converges at the rate √γ where the discriminant of λ² − (1 − β + γ)λ + γ is negative.
#[test]
fn momentum_on_a_quadratic_is_the_heavy_ball() {
    let (m, lambda) = ([1.5, -0.7], [2.0, 0.6, 0.6, 1.1]);
    let target = model::Gaussian::new(m.to_vec(), lambda.to_vec()).unwrap();
    let (mean, precision) = ([-0.4, 0.9], [1.3, -0.2, -0.2, 0.8]);
    for (beta, gamma) in [(0.2, 0.0), (0.2, 0.6), (0.05, 0.9)] {
        let rule = Rule::NaturalMomentum { gamma };
        let mut run = Run::new(&target, gaussian(Covariance::Full, &mean, &precision), &plan(rule, beta)).unwrap();
        let goal = [&times(&lambda, &m)[..], &lambda].concat();
        let mut eta = [&times(&precision, &mean)[..], &precision].concat();
        let mut before = eta.clone();
        for step in 0..60 {
            assert_eq!(run.step().unwrap().taken, beta, "step {step}");
            let next: Vec<f64> =
                (0..6).map(|k| eta[k] + beta * (goal[k] - eta[k]) + gamma * (eta[k] - before[k])).collect();
            before = std::mem::replace(&mut eta, next);
            let block = &run.q().locations()[0];
            near("P", block.scale().precision(), &eta[2..], 1e-11);
            near("Pμ", &times(block.scale().precision(), block.b()), &eta[..2], 1e-11);
        }
    }
    for gamma in [1.0, 1.2] {
        let rule = Rule::NaturalMomentum { gamma };
        let found = Run::new(&target, gaussian(Covariance::Full, &mean, &precision), &plan(rule, 0.1));
        assert!(matches!(found, Err(Error::Domain { parameter: "gamma", .. })));
    }
}

/// A step that the KL bound shortens is followed by γ times what was left of it.
#[test]
fn momentum_remembers_the_step_that_was_taken() {
    let target = model::Gaussian::new(vec![40.0], vec![1.0]).unwrap();
    let (beta, gamma) = (0.5, 0.5);
    let bounded = Plan { max_kl: Some(0.5), ..plan(Rule::NaturalMomentum { gamma }, beta) };
    let mut run = Run::new(&target, gaussian(Covariance::Full, &[0.0], &[1.0]), &bounded).unwrap();
    let (mut at, mut before) = (0.0, 0.0);
    for _ in 0..6 {
        let taken = run.step().unwrap().taken;
        assert!(taken < 0.2 * beta, "{taken}");
        let next = at + taken / beta * (beta * (40.0 - at) + gamma * (at - before));
        before = std::mem::replace(&mut at, next);
        near("μ", run.q().locations()[0].b(), &[at], 1e-11);
    }
}

/// Adam on (μ, log σ) of N(μ, σ²) for a Gaussian target: ∂L/∂μ = λ(m − μ) and ∂L/∂log σ = 1 − λσ².
#[test]
fn euclidean_adam_is_adam_in_the_chart() {
    let (m, lambda) = ([1.5, -0.7], [2.0, 0.3]);
    let target = model::Gaussian::new(m.to_vec(), vec![lambda[0], 0.0, 0.0, lambda[1]]).unwrap();
    let rule = EuclideanAdam { beta1: 0.8, beta2: 0.95, epsilon: 1e-3 };
    let plan = plan(Rule::EuclideanAdam(rule), 0.07);
    let mut run = Run::new(&target, gaussian(Covariance::Diagonal, &[0.2, 0.1], &[1.0, 4.0]), &plan).unwrap();
    let mut x = [0.2, 0.1, 0.0, 0.5f64.ln()];
    let (mut first, mut second) = ([0.0; 4], [0.0; 4]);
    for t in 1..=40 {
        assert_eq!(run.step().unwrap().taken, 0.07);
        for k in 0..4 {
            let i = k % 2;
            let g = if k < 2 { lambda[i] * (m[i] - x[i]) } else { 1.0 - lambda[i] * (2.0 * x[k]).exp() };
            first[k] = 0.8 * first[k] + 0.2 * g;
            second[k] = 0.95 * second[k] + 0.05 * g * g;
        }
        for k in 0..4 {
            let (m, v) = (first[k] / (1.0 - 0.8f64.powi(t)), second[k] / (1.0 - 0.95f64.powi(t)));
            x[k] += 0.07 * m / (v.sqrt() + 1e-3);
        }
        near("μ", run.q().locations()[0].b(), &x[..2], 1e-12);
        let precision: Vec<f64> = x[2..].iter().map(|log| (-2.0 * log).exp()).collect();
        near("P", run.q().locations()[0].scale().precision(), &precision, 1e-12);
    }
    assert!((run.q().mean()[0] - 1.5).abs() < 0.5);
}

/// Without root, correction and momentum, and with 1 − γ₂ = β, the rule is the plain one (mathematics §7.3).
#[test]
fn the_newton_mode_is_the_diagonal_natural_gradient_step() {
    let (target, beta) = (logistic(90, 3), 0.125);
    let newton =
        AdamLike { gamma1: 0.0, gamma2: 1.0 - beta, root: Root::Newton, bias_correction: BiasCorrection::None };
    let mut n_families = 0;
    // With the shape the share kδ of the prior in P moves, which the running mean s knows nothing of.
    let fixed = families().into_iter().filter(|family| !is_learned(*family));
    for family in fixed.filter(|family| takes(*family, Rule::AdamLike(newton))) {
        let from = start(&target, family, &Plan::default()).unwrap().approximation;
        for (curvature, minibatch) in [
            (Curvature::ItemGradients, None),
            (Curvature::ItemGradients, Some(40)),
            (Curvature::SquaredMean, Some(40)),
            (Curvature::GaussNewton, None),
            (Curvature::GradientOuterProduct, None),
        ] {
            let (noise, mixing_step_size) = (Noise::Independent, StepSize::Constant(beta));
            let of = |rule| Plan { n_draws: 6, noise, curvature, minibatch, mixing_step_size, ..plan(rule, beta) };
            let mut adam = Run::new(&target, from.clone(), &of(Rule::AdamLike(newton))).unwrap();
            let mut plain = Run::new(&target, from.clone(), &of(Rule::NaturalGradient)).unwrap();
            for _ in 0..20 {
                let (one, two) = (adam.step().unwrap().taken, plain.step().unwrap().taken);
                assert_eq!((one, two), (beta, beta), "{}, {curvature}", label(family));
                let (one, two) = (adam.q().state(), plain.q().state());
                for (one, two) in one.blocks.iter().zip(&two.blocks) {
                    near(&label(family), &one.precision, &two.precision, 1e-12);
                    near(&label(family), &one.b, &two.b, 1e-12);
                }
                near(&label(family), &one.log_weights, &two.log_weights, 1e-12);
            }
        }
        n_families += 1;
    }
    assert!(n_families >= 6, "{n_families}");
}
