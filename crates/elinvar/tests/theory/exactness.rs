//! What must come out exactly: Gaussian targets, and families at the parameters where they are Gaussian.

use elinvar::Family;
use elinvar::internals::family::Stepping;
use std::ops::ControlFlow;

use crate::state::Stated;
use elinvar::block::{Location, LogWeights, Scale};
use elinvar::estimate::Curvature;
use elinvar::family::Approximation;
use elinvar::internals::family::{
    Batch, DrawPlan, Estimator, FactorEstimator, MeanVarianceEstimator, Scratch, Seen, StepRequest,
};
use elinvar::random::Noise;
use elinvar::rule::{Rule, StepSize};
use elinvar::run::{Run, StopReason};
use elinvar::target::{Answer, Ask, Covariance, Prior, Shape, Target, Want};
use elinvar::{Plan, model};

use crate::members::differences::close;
use crate::members::{self, Affine, Member, bent_target};

const RULES: [Rule; 2] = [Rule::NaturalGradient, Rule::Retraction];

/// Antithetic draws, steps of one size, no bound on them.
pub(crate) fn plan(rule: Rule, beta: f64, n_draws: usize) -> Plan {
    Plan {
        n_draws,
        noise: Noise::Antithetic,
        rule,
        step_size: StepSize::Constant(beta),
        mixing_step_size: StepSize::Constant(beta),
        max_kl: None,
        ..Plan::default()
    }
}

fn gaussian_target(d: usize, seed: u64) -> model::Gaussian {
    let stream = &mut members::stream(seed);
    let mean = members::normals(stream, d);
    model::Gaussian::new(mean, members::positive_definite(stream, d)).unwrap()
}

#[test]
fn one_plain_step_of_size_one_with_an_antithetic_pair_lands_on_a_gaussian() {
    for d in [1, 2, 5, 20] {
        let target = gaussian_target(d, 1);
        let start = members::member(Family::gaussian(), d, 2);
        let mut run = Run::new(&target, start, &plan(Rule::NaturalGradient, 1.0, 2)).unwrap();
        assert_eq!(run.step().unwrap().taken, 1.0);
        close("precision", run.q().locations()[0].scale().precision(), target.precision(), 1e-10);
        close("mean", run.q().locations()[0].b(), target.mean(), 1e-10);
    }
}

/// The diagonal family lands on the diagonal of the precision and, where the target is diagonal, on the target.
#[test]
fn a_diagonal_step_lands_on_a_diagonal_gaussian() {
    let target = model::Gaussian::new(vec![1.0, -2.0, 0.5], vec![2.0, 0.0, 0.0, 0.0, 0.3, 0.0, 0.0, 0.0, 0.9]).unwrap();
    let start = members::member(Family::gaussian().diagonal(), 3, 3);
    let mut run = Run::new(&target, start, &plan(Rule::NaturalGradient, 1.0, 2)).unwrap();
    run.step().unwrap();
    close("precision", run.q().locations()[0].scale().precision(), &[2.0, 0.3, 0.9], 1e-10);
    close("mean", run.q().locations()[0].b(), target.mean(), 1e-10);
}

/// The retraction is not exact in one step: P⁺ = ½(P + ΛΣΛ), so the relative error of P is squared (and halved) from
/// step to step, and that of the mean is multiplied by it.
#[test]
fn the_retraction_converges_quadratically_to_a_gaussian() {
    let d = 3;
    let target = gaussian_target(d, 4);
    let start = members::member(Family::gaussian(), d, 5);
    let (old, lambda) = (start.locations()[0].scale().clone(), target.precision().to_vec());
    let mut run = Run::new(&target, start, &plan(Rule::Retraction, 1.0, 2)).unwrap();
    run.step().unwrap();
    let mut x = lambda.clone();
    old.solve(&mut x);
    let product = |i: usize, j: usize| (0..d).map(|k| lambda[k * d + i] * x[j * d + k]).sum::<f64>();
    let expected: Vec<f64> = (0..d * d).map(|k| 0.5 * (old.precision()[k] + product(k % d, k / d))).collect();
    close("after one step", run.q().locations()[0].scale().precision(), &expected, 1e-10);
    let distance = |run: &Run<'_>| {
        let entries = run.q().locations()[0].scale().precision().iter().zip(&lambda);
        entries.map(|(p, l)| (p - l).abs()).fold(0.0, f64::max)
    };
    let mut errors = vec![distance(&run)];
    for _ in 0..10 {
        run.step().unwrap();
        errors.push(distance(&run));
    }
    let (k, before) = errors.iter().enumerate().find(|(_, e)| **e < 0.01).unwrap();
    assert!(errors[k + 1] < 2.0 * before * before, "{errors:?}");
    close("in the end", run.q().locations()[0].scale().precision(), &lambda, 1e-10);
    close("mean in the end", run.q().locations()[0].b(), target.mean(), 1e-10);
}

/// At q = p the difference log p̂ − log q is the log-normaliser at every draw: value exact, standard error zero.
#[test]
fn the_bound_at_a_gaussian_is_its_log_normaliser() {
    let log_z = 3.75;
    let target = gaussian_target(4, 6).with_log_normaliser(log_z);
    let scale = Scale::from_precision(Shape::Full(4), target.precision().to_vec()).unwrap();
    let block = Location::new(target.mean().to_vec(), scale).unwrap();
    let start = Approximation::single(Family::gaussian(), block).unwrap();
    for noise in Noise::ALL {
        let plan = Plan { noise, ..plan(Rule::Retraction, 0.1, 16) };
        let step = Run::new(&target, start.clone(), &plan).unwrap().step().unwrap();
        assert!((step.elbo.unwrap() - log_z).abs() < 1e-12 && step.elbo_se.unwrap() < 1e-12);
    }
}

/// A whole fit with the default plan, stopping rule and trust region included, commutes with affine maps.
#[test]
fn a_gaussian_fit_is_equivariant() {
    let (d, map) = (4, Affine::new(4, 8));
    let (plain, moved) = (bent_target(d), map.target());
    let start = members::member(Family::gaussian(), d, 9);
    let image = start.with(|state| map.move_state(state));
    let fit = |target: &dyn Target, start: Approximation| {
        let mut run = Run::new(target, start, &Plan::default()).unwrap();
        let reason = run.fit(&mut |_| ControlFlow::Continue(())).unwrap();
        assert_eq!(reason, StopReason::Converged);
        (run.q().clone(), run.counts())
    };
    let ((one, counts), (two, other_counts)) = (fit(&plain, start), fit(&moved, image));
    assert_eq!(counts, other_counts);
    let expected = one.with(|state| map.move_state(state));
    close("mean", two.locations()[0].b(), expected.locations()[0].b(), 1e-8);
    close("precision", two.locations()[0].scale().precision(), expected.locations()[0].scale().precision(), 1e-8);
}

/// The states (μ, P) along a run.
fn path(target: &dyn Target, start: Approximation, plan: &Plan, n_steps: usize) -> Vec<(Vec<f64>, Vec<f64>)> {
    let mut run = Run::new(target, start, plan).unwrap();
    let states = (0..n_steps).map(|_| {
        assert!(run.step().unwrap().taken > 0.0);
        let block = run.q().state().blocks.remove(0);
        (block.b, block.precision)
    });
    states.collect()
}

/// Largest difference between two paths, relative to the largest entries.
fn distance(one: &[(Vec<f64>, Vec<f64>)], two: &[(Vec<f64>, Vec<f64>)]) -> f64 {
    let relative = |x: &[f64], y: &[f64]| {
        let scale = x.iter().fold(0.0f64, |scale, v| scale.max(v.abs()));
        x.iter().zip(y).map(|(x, y)| (x - y).abs() / scale).fold(0.0, f64::max)
    };
    one.iter().zip(two).map(|(a, b)| relative(&a.0, &b.0).max(relative(&a.1, &b.1))).fold(0.0, f64::max)
}

/// As w → 1 the runs of a scale mixture tend to the Gaussian run with the same noise, like the standard deviation of w.
fn tends_to_the_gaussian(covariance: Covariance, family: impl Fn(f64) -> Family) {
    let member = |family: Family| members::member(family.with_covariance(covariance), 3, 10);
    let target = bent_target(3);
    for rule in RULES {
        let plan = plan(rule, 0.3, 8);
        let gaussian = path(&target, member(Family::gaussian()), &plan, 10);
        // √w of a draw differs from 1 by about ½Var(w)^½, and ten steps add up a few of those.
        for variance in [1e-6, 1e-12] {
            let mixture = path(&target, member(family(1.0 / variance)), &plan, 10);
            let found = distance(&gaussian, &mixture);
            assert!(found < 2.0 * variance.sqrt() && found > 0.0, "{rule}: {found:e} at variance {variance:e}");
        }
    }
}

#[test]
fn scale_mixtures_without_mixing_follow_the_gaussian() {
    tends_to_the_gaussian(Covariance::Full, Family::student_t);
    tends_to_the_gaussian(Covariance::Diagonal, Family::student_t);
    tends_to_the_gaussian(Covariance::Full, Family::snig);
}

/// α = 0: E[u | z] is constant, [1, E u]Ω⁻¹ = [1, 0], so μ and P move as the Gaussian's and α stays where it is.
fn without_shift(family: Family) {
    let target = bent_target(3);
    let gaussian = members::member(Family::gaussian(), 3, 11);
    let b = [gaussian.locations()[0].b(), &[0.0; 3]].concat();
    let start =
        Approximation::single(family, Location::new(b, gaussian.locations()[0].scale().clone()).unwrap()).unwrap();
    for rule in RULES {
        for noise in Noise::ALL {
            let plan = Plan { noise, ..plan(rule, 0.3, 8) };
            let expected = path(&target, gaussian.clone(), &plan, 5);
            let found = path(&target, start.clone(), &plan, 5);
            assert!(found.iter().all(|(b, _)| b[3..].iter().all(|alpha| alpha.abs() < 1e-10)), "α moved");
            let found: Vec<_> = found.into_iter().map(|(b, p)| (b[..3].to_vec(), p)).collect();
            assert!(distance(&expected, &found) < 1e-10, "{family} {rule} {noise}");
        }
    }
}

#[test]
fn mean_mixtures_without_shift_follow_the_gaussian() {
    without_shift(Family::skew());
    without_shift(Family::emg());
}

/// With one component ∇log q averages to zero over antithetic pairs and ∇²log q = −P: the run is the Gaussian one.
#[test]
fn a_mixture_of_one_component_follows_the_gaussian() {
    let target = bent_target(3);
    let gaussian = members::member(Family::gaussian(), 3, 12);
    let mixture = Approximation::mixture(LogWeights::uniform(1), vec![gaussian.locations()[0].clone()]).unwrap();
    for rule in RULES {
        let plan = plan(rule, 0.3, 8);
        let (expected, found) = (path(&target, gaussian.clone(), &plan, 10), path(&target, mixture.clone(), &plan, 10));
        assert!(distance(&expected, &found) < 1e-10, "{rule}");
    }
}

/// One step on `target` from draws that are already placed.
fn step_from(q: &mut Approximation, target: &dyn Target, rule: Rule, work: &mut dyn Estimator, batch: &mut Batch) {
    let mut evaluations = Answer::new(q.dim(), batch.draws.len()).with_curvature(q.family().covariance, 1);
    assert!(work.weigh(q, batch));
    let want = Want::Hessian(work.contraction());
    target.evaluate(&Ask::all(batch.draws.view(), want), &mut evaluations).unwrap();
    let mut gradient = q.zero_gradient();
    assert!(work.gradient(
        q,
        &Seen { evaluations: &evaluations, curvature: evaluations.curvature(), prior: &Prior::None, batch },
        0.0,
        &mut gradient
    ));
    let taken = q
        .advance(&gradient, StepRequest { rule, beta: 0.3, mixing_beta: 0.3, max_kl: None }, &mut Scratch::new(q))
        .smallest;
    assert_eq!(taken, 0.3);
}

/// A = 0: E[w | z] = 0, so A stays at zero and (μ, P) moves as the Gaussian's from the same ε, whatever w is.
#[test]
fn a_factor_gaussian_without_factors_follows_the_gaussian() {
    let (d, k, n) = (3, 2, 6);
    let target = bent_target(d);
    for rule in RULES {
        let mut gaussian = members::member(Family::gaussian(), d, 13);
        let b = [gaussian.locations()[0].b(), &vec![0.0; d * k]].concat();
        let block = Location::new(b, gaussian.locations()[0].scale().clone()).unwrap();
        let mut factors = Approximation::single(Family::rank_k(k), block).unwrap();
        let stream = &mut members::stream(14);
        let (w, eps) = (members::normals(stream, k * n), members::normals(stream, d * n));
        let both: Vec<f64> =
            w.chunks_exact(k).zip(eps.chunks_exact(d)).flat_map(|(w, eps)| [w, eps].concat()).collect();
        let plan =
            DrawPlan { curvature: Curvature::Hessian, weights: Plan::default().weights, ..DrawPlan::independent(n) };

        let mut work = MeanVarianceEstimator::new(&gaussian, &plan);
        let mut batch = work.batch(&gaussian);
        work.set_noise(&vec![1.0; n], &eps);
        work.place(&gaussian, &mut batch);
        step_from(&mut gaussian, &target, rule, &mut work, &mut batch);

        let mut work = FactorEstimator::new(&factors, &plan);
        let mut batch = work.batch(&factors);
        work.set_noise(&both);
        work.place(&factors, &mut batch);
        step_from(&mut factors, &target, rule, &mut work, &mut batch);

        close("mean", factors.locations()[0].column(0), gaussian.locations()[0].b(), 1e-10);
        close(
            "precision",
            factors.locations()[0].scale().precision(),
            gaussian.locations()[0].scale().precision(),
            1e-10,
        );
        assert!(factors.locations()[0].b()[d..].iter().all(|a| *a == 0.0));
    }
}

/// With one column the vector law is the scalar one: `skew_k` and `emg_k` are `skew` and `emg`.
#[test]
fn one_direction_of_its_own_is_the_scalar_family() {
    let d = 3;
    for (several, one) in [(Family::skew_k(1), Family::skew()), (Family::emg_k(1), Family::emg())] {
        for seed in 20..24 {
            let scalar = members::member(one, d, seed);
            let vector = Approximation::single(several, scalar.locations()[0].clone()).unwrap();
            let z = members::normals(&mut members::stream(seed + 100), d);
            let far: Vec<f64> = z.iter().map(|z| 30.0 * z).collect();
            for z in [&z, &far] {
                let (mut found, mut expected) = (vec![0.0; d * d], vec![0.0; d * d]);
                close("log q", &[vector.log_density(z)], &[scalar.log_density(z)], 1e-12);
                vector.score(z, &mut found[..d]);
                scalar.score(z, &mut expected[..d]);
                close("score", &found[..d], &expected[..d], 1e-12);
                vector.hessian(z, &mut found);
                scalar.hessian(z, &mut expected);
                close("Hessian", &found, &expected, 1e-12);
            }
            close("mean", &vector.mean(), &scalar.mean(), 1e-14);
            close("covariance", &vector.covariance(), &scalar.covariance(), 1e-14);
        }
    }
}

/// Two columns that are apart in the metric of Σ are two independent scalar families, each on its own coordinates.
#[test]
fn columns_that_do_not_meet_are_independent() {
    let block = |b: &[f64], p: &[f64]| {
        Location::new(b.to_vec(), Scale::from_precision(Shape::Diagonal(p.len()), p.to_vec()).unwrap()).unwrap()
    };
    for (several, one) in [(Family::skew_k(2), Family::skew()), (Family::emg_k(2), Family::emg())] {
        let both = block(&[0.3, -1.0, 1.5, 0.0, 0.0, -0.7], &[2.0, 0.8]);
        let both = Approximation::single(several, both).unwrap();
        let first = Approximation::single(one, block(&[0.3, 1.5], &[2.0])).unwrap();
        let second = Approximation::single(one, block(&[-1.0, -0.7], &[0.8])).unwrap();
        for z in [[0.0, 0.0], [2.0, -3.0], [-4.0, 5.0]] {
            let sum = first.log_density(&z[..1]) + second.log_density(&z[1..]);
            close("log q", &[both.log_density(&z)], &[sum], 1e-12);
        }
    }
}
