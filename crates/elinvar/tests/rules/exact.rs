//! Trajectories that are known: targets that are Gaussian, and rules that coincide.

use elinvar::block::{Diagonal, Full, LocationBlock, ScaleMatrix};
use elinvar::estimate::Curvature;
use elinvar::family::{Approximation, Gaussian};
use elinvar::law::PointMass;
use elinvar::model;
use elinvar::random::Noise;
use elinvar::rule::{AdamLike, BiasCorrection, EuclideanAdam, Root, Rule, StepSize};
use elinvar::run::{Run, start};
use elinvar::{Error, Plan};

use crate::subjects::{families, label, logistic, open};
use crate::takes;

/// An antithetic pair: on a quadratic every expectation is exact.
fn plan(rule: Rule, beta: f64) -> Plan {
    let (step_size, noise) = (StepSize::Constant(beta), Noise::Antithetic);
    Plan { n_draws: 2, noise, rule, step_size, mixing_step_size: StepSize::Auto, max_kl: None, ..Plan::default() }
}

fn gaussian<S: ScaleMatrix>(mean: &[f64], precision: &[f64]) -> Gaussian<S> {
    let scale = S::from_precision(mean.len(), precision.to_vec()).unwrap();
    Gaussian::new(PointMass, LocationBlock::new(mean.to_vec(), scale).unwrap()).unwrap()
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

/// On a Gaussian target the natural parameters (Pμ, P) follow η⁺ = η + β(η* − η) + γ(η − η₋), computed here as such. It converges at
/// the rate √γ where the discriminant of λ² − (1 − β + γ)λ + γ is negative.
#[test]
fn momentum_on_a_quadratic_is_the_heavy_ball() {
    let (m, lambda) = ([1.5, -0.7], [2.0, 0.6, 0.6, 1.1]);
    let target = model::Gaussian::new(m.to_vec(), lambda.to_vec()).unwrap();
    let (mean, precision) = ([-0.4, 0.9], [1.3, -0.2, -0.2, 0.8]);
    for (beta, gamma) in [(0.2, 0.0), (0.2, 0.6), (0.05, 0.9)] {
        let rule = Rule::NaturalMomentum { gamma };
        let mut run = Run::new(&target, gaussian::<Full>(&mean, &precision), &plan(rule, beta)).unwrap();
        let goal = [&times(&lambda, &m)[..], &lambda].concat();
        let mut eta = [&times(&precision, &mean)[..], &precision].concat();
        let mut before = eta.clone();
        for step in 0..60 {
            assert_eq!(run.step().unwrap().taken, beta, "step {step}");
            let next: Vec<f64> =
                (0..6).map(|k| eta[k] + beta * (goal[k] - eta[k]) + gamma * (eta[k] - before[k])).collect();
            before = std::mem::replace(&mut eta, next);
            let block = run.q().block();
            near("P", block.scale().precision(), &eta[2..], 1e-11);
            near("Pμ", &times(block.scale().precision(), block.b()), &eta[..2], 1e-11);
        }
    }
    for gamma in [1.0, 1.2] {
        let rule = Rule::NaturalMomentum { gamma };
        let found = Run::new(&target, gaussian::<Full>(&mean, &precision), &plan(rule, 0.1));
        assert!(matches!(found, Err(Error::Domain { parameter: "gamma", .. })));
    }
}

/// A step that the KL bound shortens is followed by γ times what was left of it.
#[test]
fn momentum_remembers_the_step_that_was_taken() {
    let target = model::Gaussian::new(vec![40.0], vec![1.0]).unwrap();
    let (beta, gamma) = (0.5, 0.5);
    let bounded = Plan { max_kl: Some(0.5), ..plan(Rule::NaturalMomentum { gamma }, beta) };
    let mut run = Run::new(&target, gaussian::<Full>(&[0.0], &[1.0]), &bounded).unwrap();
    let (mut at, mut before) = (0.0, 0.0);
    for _ in 0..6 {
        let taken = run.step().unwrap().taken;
        assert!(taken < 0.2 * beta, "{taken}");
        let next = at + taken / beta * (beta * (40.0 - at) + gamma * (at - before));
        before = std::mem::replace(&mut at, next);
        near("μ", run.q().block().b(), &[at], 1e-11);
    }
}

/// Adam on (μ, log σ) of N(μ, σ²) for a Gaussian target: ∂L/∂μ = λ(m − μ) and ∂L/∂log σ = 1 − λσ².
#[test]
fn euclidean_adam_is_adam_in_the_chart() {
    let (m, lambda) = ([1.5, -0.7], [2.0, 0.3]);
    let target = model::Gaussian::new(m.to_vec(), vec![lambda[0], 0.0, 0.0, lambda[1]]).unwrap();
    let rule = EuclideanAdam { beta1: 0.8, beta2: 0.95, epsilon: 1e-3 };
    let plan = plan(Rule::EuclideanAdam(rule), 0.07);
    let mut run = Run::new(&target, gaussian::<Diagonal>(&[0.2, 0.1], &[1.0, 4.0]), &plan).unwrap();
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
        near("μ", run.q().block().b(), &x[..2], 1e-12);
        let precision: Vec<f64> = x[2..].iter().map(|log| (-2.0 * log).exp()).collect();
        near("P", run.q().block().scale().precision(), &precision, 1e-12);
    }
    assert!((run.q().mean()[0] - 1.5).abs() < 0.5);
}

/// Without root, correction and momentum, and with 1 − γ₂ = β, the rule is the plain one (spec 07 §7.3).
#[test]
fn the_newton_mode_is_the_diagonal_natural_gradient_step() {
    let (target, beta) = (logistic(90, 3), 0.125);
    let newton =
        AdamLike { gamma1: 0.0, gamma2: 1.0 - beta, root: Root::Newton, bias_correction: BiasCorrection::None };
    let mut n_families = 0;
    for family in families().into_iter().filter(|family| takes(*family, Rule::AdamLike(newton))) {
        let from = start(&target, family, &Plan::default()).unwrap().approximation;
        for (curvature, minibatch) in [
            (Curvature::ItemGradients, None),
            (Curvature::ItemGradients, Some(40)),
            (Curvature::SquaredMean, Some(40)),
            (Curvature::GaussNewton, None),
            (Curvature::GradientOuterProduct, None),
        ] {
            let of = |rule| Plan { n_draws: 6, noise: Noise::Independent, curvature, minibatch, ..plan(rule, beta) };
            let mut adam = open(&target, from.clone(), &of(Rule::AdamLike(newton))).unwrap();
            let mut plain = open(&target, from.clone(), &of(Rule::NaturalGradient)).unwrap();
            for _ in 0..20 {
                let (one, two) = (adam.step().unwrap().taken, plain.step().unwrap().taken);
                assert_eq!((one, two), (beta, beta), "{}, {curvature}", label(family));
                let (one, two) = (adam.state(), plain.state());
                near(&label(family), &one.blocks[0].precision, &two.blocks[0].precision, 1e-12);
                near(&label(family), &one.blocks[0].b, &two.blocks[0].b, 1e-12);
            }
        }
        n_families += 1;
    }
    assert!(n_families >= 6, "{n_families}");
}
