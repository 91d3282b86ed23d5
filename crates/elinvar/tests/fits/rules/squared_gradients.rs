//! The curvatures that square gradients, as a run computes them.

use crate::state::Stated;
use elinvar::block::{Location, Scale};
use elinvar::estimate::Curvature;
use elinvar::family::Approximation;
use elinvar::internals::Batches;
use elinvar::internals::family::NoiseKey;
use elinvar::internals::family::Stepping;
use elinvar::internals::target::Minibatch;
use elinvar::model::LogisticRegression;
use elinvar::random::{Noise, Purpose};
use elinvar::rule::{Rule, StepSize};
use elinvar::run::Run;
use elinvar::target::{Shape, Target};
use elinvar::{Error, Family, Plan};

use crate::subjects::{logistic, numbers};

const N: usize = 150;
const D: usize = 3;
const DELTA: f64 = 0.3;
const BETA: f64 = 0.5;

fn plan(curvature: Curvature, minibatch: Option<usize>) -> Plan {
    Plan {
        n_draws: 3,
        noise: Noise::Independent,
        curvature,
        minibatch,
        rule: Rule::NaturalGradient,
        step_size: StepSize::Constant(BETA),
        mixing_step_size: StepSize::Constant(BETA),
        max_kl: None,
        seed: 5,
        ..Plan::default()
    }
}

fn block(shape: Shape) -> Location {
    let n = shape.n_entries();
    let precision = (0..n).map(|k| if n == D || k % (D + 1) == 0 { 9.0 } else { 0.0 });
    Location::new(numbers(D, 3), Scale::from_precision(shape, precision.collect()).unwrap()).unwrap()
}

/// ∇log p(y_n | z) = y σ(−y xᵀz) x for labels ±1.
fn item(target: &LogisticRegression, n: usize, z: &[f64]) -> Vec<f64> {
    let (x, y) = (target.design().row(n), target.responses()[n]);
    let eta: f64 = x.iter().zip(z).map(|(x, z)| x * z).sum();
    x.iter().map(|x| x * y / (1.0 + (y * eta).exp())).collect()
}

/// P after one plain step, by hand: P + β{Σ_s w_s N·(mean square) + kδ − P} at the draws that the run will make.
fn by_hand(
    target: &LogisticRegression,
    q: &Approximation,
    plan: &Plan,
    k: f64,
    weight: impl Fn(&[f64]) -> f64,
) -> Vec<f64> {
    let draw_plan = plan.draw_plan(plan.n_draws);
    let mut work = q.estimator(&draw_plan);
    let mut batch = work.batch(q);
    work.draw(q, NoiseKey { seed: plan.seed, purpose: Purpose::Draws, step: 0 }, &mut batch);
    let mut rows: Vec<u32> = (0..N as u32).collect();
    if let Some(size) = plan.minibatch {
        rows = vec![0; size];
        Minibatch::new(N, size).fill(plan.seed, 0, &mut rows);
    }
    let m = rows.len() as f64;
    let mut square = [0.0; D * D];
    for s in 0..plan.n_draws {
        let z = batch.draws.get(s);
        let items: Vec<Vec<f64>> = rows.iter().map(|n| item(target, *n as usize, z)).collect();
        let mean: Vec<f64> = (0..D).map(|i| items.iter().map(|g| g[i]).sum::<f64>() / m).collect();
        let vectors = if plan.curvature == Curvature::ItemGradients { items } else { vec![mean; rows.len()] };
        for (k, value) in square.iter_mut().enumerate() {
            let sum: f64 = vectors.iter().map(|g| g[k % D] * g[k / D]).sum();
            *value += weight(z) / plan.n_draws as f64 * N as f64 * sum / m;
        }
    }
    let precision = &q.state().blocks[0].precision;
    let diagonal = precision.len() == D;
    let entry = |j: usize| {
        let (at, on) = if diagonal { (j * (D + 1), true) } else { (j, j.is_multiple_of(D + 1)) };
        precision[j] + BETA * (square[at] + if on { k * DELTA } else { 0.0 } - precision[j])
    };
    (0..precision.len()).map(entry).collect()
}

fn check(q: &Approximation, k: f64, weight: impl Fn(&[f64]) -> f64 + Copy) {
    let target = logistic(N, D);
    for curvature in [Curvature::ItemGradients, Curvature::SquaredMean] {
        for minibatch in [None, Some(70), Some(1)] {
            let plan = plan(curvature, minibatch);
            let expected = by_hand(&target, q, &plan, k, weight);
            let mut run = Run::new(&target, q.clone(), &plan).unwrap();
            assert_eq!(run.step().unwrap().taken, BETA);
            let found = &run.q().state().blocks[0].precision;
            for (a, b) in found.iter().zip(&expected) {
                assert!((a - b).abs() < 1e-12 * (1.0 + b.abs()), "{curvature} {minibatch:?}: {found:?} {expected:?}");
            }
            // A pass over the items of a draw is one gradient more.
            let passes = if curvature == Curvature::ItemGradients { 2 } else { 1 };
            assert_eq!(run.counts().gradient, 3 * passes);
        }
    }
}

#[test]
fn a_run_squares_the_gradients_of_items_and_of_their_mean() {
    check(&Approximation::single(Family::gaussian(), block(Shape::Diagonal(D))).unwrap(), 1.0, |_| 1.0);
    check(&Approximation::single(Family::gaussian(), block(Shape::Full(D))).unwrap(), 1.0, |_| 1.0);
    // E[w | z] of the Student-t: (a + Q/2)/(a + d/2 − 1).
    let (a, mu) = (4.0, numbers(D, 3));
    let given = |z: &[f64]| {
        let q: f64 = z.iter().zip(&mu).map(|(z, m)| 9.0 * (z - m) * (z - m)).sum();
        (a + 0.5 * q) / (a + 0.5 * D as f64 - 1.0)
    };
    check(&Approximation::single(Family::student_t(a), block(Shape::Diagonal(D))).unwrap(), a / (a - 1.0), given);
}

/// For a generalised linear model the Gauss–Newton matrix is the Hessian.
#[test]
fn gauss_newton_of_a_linear_model_is_the_hessian() {
    let target = logistic(N, D);
    let q = Approximation::single(Family::gaussian(), block(Shape::Full(D))).unwrap();
    let after = |curvature| {
        let mut run = Run::new(&target, q.clone(), &plan(curvature, Some(70))).unwrap();
        (0..5).for_each(|_| _ = run.step().unwrap());
        assert_eq!(run.counts().hessian, 15);
        run.q().state()
    };
    let (one, two) = (after(Curvature::Hessian), after(Curvature::GaussNewton));
    for (a, b) in one.blocks[0].precision.iter().zip(&two.blocks[0].precision) {
        assert!((a - b).abs() < 1e-12 * a.abs().max(1.0), "{a} {b}");
    }
}

#[test]
fn a_target_that_cannot_is_told_so() {
    let target = elinvar::model::Banana::default();
    for curvature in [Curvature::ItemGradients, Curvature::GaussNewton] {
        let plan = Plan { curvature, ..Plan::default() };
        let Err(Error::Unsupported { wanted, .. }) = plan.resolve(&target) else { panic!("{curvature} was accepted") };
        assert!(wanted.contains(&curvature.to_string()), "{wanted}");
    }
    let regression = logistic(N, D);
    assert!(regression.about().offers.item_gradients);
    let adam = Plan { rule: Rule::AdamLike(Default::default()), ..Plan::default() };
    assert_eq!(adam.resolve(&regression).unwrap().curvature, Curvature::ItemGradients);
    assert_eq!(adam.resolve(&target).unwrap().curvature, Curvature::SquaredMean);
    assert_eq!(adam.resolve(&regression).unwrap().step_size, StepSize::Constant(1e-3));
}
