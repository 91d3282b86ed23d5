//! Scale mixtures of every law, with one scale for all coordinates and with one for each: recovery, gradients, files.

use crate::state::{BlockState, State, Stated};
use elinvar::block::{Location, Scale};
use elinvar::family::Approximation;
use elinvar::internals::Numbers;
use elinvar::internals::family::Stepping;
use elinvar::internals::family::{DrawPlan, NoiseKey, Scratch, Seen, StepRequest};
use elinvar::internals::law::{Forms, Logistic, VarianceGamma};
use elinvar::law::Law;
use elinvar::random::{Noise, Purpose, Stream};
use elinvar::rule::{Rule, StepSize};
use elinvar::run::{Checkpoint, Run, Stop};
use elinvar::target::{Answer, Ask, Covariance, PointwiseSecondOrder, Prior, Shape, Target, Want};
use elinvar::theory::Mcef;
use elinvar::{Error, Family, Plan, Posterior};

use crate::subjects::{Member, logistic, numbers};

/// Every law with its usual constants.
fn laws() -> Vec<Law> {
    Law::scale_names().map(|name| Law::of_scale(name, &[]).unwrap()).collect()
}

fn forms_of(law: Law) -> [Family; 3] {
    let family = Family::scale_mixture(law);
    [family, family.diagonal(), family.product()]
}

fn member(family: Family, dim: usize) -> Approximation {
    let a = numbers(dim * dim, 51);
    let entry = |i: usize, j: usize| {
        let product: f64 = (0..dim).map(|k| a[i * dim + k] * a[j * dim + k]).sum();
        product + if i == j { 0.5 } else { 0.0 }
    };
    let precision = match family.covariance {
        Covariance::Full => (0..dim * dim).map(|at| entry(at % dim, at / dim)).collect(),
        Covariance::Diagonal => (0..dim).map(|i| entry(i, i)).collect(),
    };
    let block = BlockState { b: numbers(dim, 40), precision };
    Approximation::from_state(&State { family, dim, blocks: vec![block], log_weights: vec![0.0] }).unwrap()
}

fn divergence(q: &Posterior, p: &Approximation) -> (f64, f64) {
    let (draws, log_q) = q.sample_with_log_density(20_000, 12);
    let differences: Vec<f64> = draws.view().iter().zip(&log_q).map(|(z, log_q)| log_q - p.log_density(z)).collect();
    let n = differences.len() as f64;
    let mean = differences.iter().sum::<f64>() / n;
    let variance = differences.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / (n - 1.0);
    (mean, (variance / n).sqrt())
}

/// By the thorough plan from the start that it finds.
#[test]
fn every_law_recovers_its_own() {
    for law in laws() {
        for family in forms_of(law) {
            let p = member(family, 3);
            let posterior =
                elinvar::run::fit(&PointwiseSecondOrder(Member(p.clone())), family, &Plan::thorough()).unwrap();
            let (kl, error) = divergence(&posterior, &p);
            assert!(kl + 3.0 * error < 0.005, "{law} {family:?}: KL = {kl:.5} ± {error:.5}");
        }
    }
}

/// Where the target is the product itself, every draw has the gradient zero.
#[test]
fn a_product_at_its_target_has_no_noise() {
    for law in laws() {
        let q = member(Family::scale_mixture(law).product(), 3);
        let target = PointwiseSecondOrder(Member(q.clone()));
        let plan = DrawPlan { noise: Noise::QuasiMonteCarlo, ..DrawPlan::independent(16) };
        let mut work = q.estimator(&plan);
        let mut batch = work.batch(&q);
        work.draw(&q, NoiseKey { seed: 3, purpose: Purpose::Draws, step: 0 }, &mut batch);
        assert!(work.weigh(&q, &batch));
        let mut evaluations = Answer::new(3, batch.draws.len());
        target.evaluate(&Ask::all(batch.draws.view(), Want::Gradients), &mut evaluations).unwrap();
        let mut gradient = q.zero_gradient();
        assert!(work.gradient(
            &q,
            &Seen { evaluations: &evaluations, curvature: &[], prior: &Prior::None, batch: &batch },
            0.0,
            &mut gradient
        ));
        let size = q.locations()[0].scale().precision().iter().fold(0.0f64, |size, p| size.max(*p));
        assert!(
            gradient.blocks[0].b.iter().chain(&gradient.blocks[0].g).all(|v| v.abs() < 1e-12 * size),
            "{law}: {gradient:?}"
        );
    }
}

/// ∇_μ L and −2∇_Σ L of a product under a Gaussian prior against differences of the exact bound for a separable target.
///
/// The target is Σ −log cosh(z_i − c_i): the expectations are one-dimensional sums. 2¹⁴ independent draws, 4.5 standard
/// errors.
#[test]
fn the_gradient_of_a_product_is_that_of_its_bound() {
    struct Separable;
    impl elinvar::target::PointwiseTarget for Separable {
        fn dim(&self) -> usize {
            2
        }

        fn gradient(&self, z: &[f64], grad: &mut [f64]) -> Result<f64, elinvar::target::TargetError> {
            grad.iter_mut().zip(z).for_each(|(g, z)| *g = -(z - 0.4).tanh());
            Ok(z.iter().map(|z| -(z - 0.4).cosh().ln()).sum())
        }
    }
    let prior = Prior::Gaussian { precision: 0.3, leading: 1 };
    for law in laws() {
        let bound = |i: usize, mu: f64, p: f64| -> f64 {
            let step = 0.01;
            let mut sum = 0.0;
            for k in -4000..4000 {
                let y = (f64::from(k) + 0.5) * step;
                let x = y.sinh();
                let log_q = law.log_marginal(Forms { dim: 1, q: x * x, ..Forms::default() }) + 0.5 * p.ln();
                let mass = (log_q - 0.5 * p.ln()).exp() * y.cosh() * step;
                let z = mu + x / p.sqrt();
                let far = (z - 0.4).abs();
                let log_p = -(far + (-2.0 * far).exp().ln_1p() - std::f64::consts::LN_2);
                let declared = if i == 0 { -0.15 * z * z } else { 0.0 };
                if mass > 0.0 {
                    sum += mass * (log_p + declared - log_q);
                }
            }
            sum
        };
        let (mu, precision) = ([0.7, -0.3], [1.7, 0.6]);
        let block =
            Location::new(mu.to_vec(), Scale::from_precision(Shape::Diagonal(2), precision.to_vec()).unwrap()).unwrap();
        let q = Approximation::single(Family::scale_mixture(law).product(), block).unwrap();
        let target = elinvar::target::Pointwise(Separable);
        let plan = DrawPlan::independent(128);
        let mut work = q.estimator(&plan);
        let mut batch = work.batch(&q);
        let mut evaluations = Answer::new(2, batch.draws.len());
        let mut gradient = q.zero_gradient();
        let (mut sums, mut squares) = ([0.0; 4], [0.0; 4]);
        let n = 128;
        for index in 0..n {
            work.draw(&q, NoiseKey { seed: 11, purpose: Purpose::Draws, step: index }, &mut batch);
            assert!(work.weigh(&q, &batch));
            target.evaluate(&Ask::all(batch.draws.view(), Want::Gradients), &mut evaluations).unwrap();
            assert!(work.gradient(
                &q,
                &Seen { evaluations: &evaluations, curvature: &[], prior: &prior, batch: &batch },
                0.0,
                &mut gradient
            ));
            for (k, v) in gradient.blocks[0].b.iter().chain(&gradient.blocks[0].g).enumerate() {
                sums[k] += v;
                squares[k] += v * v;
            }
        }
        for i in 0..2 {
            let (m, p, h) = (mu[i], precision[i], 1e-4);
            let by_mu = (bound(i, m + h, p) - bound(i, m - h, p)) / (2.0 * h);
            let sigma = 1.0 / p;
            let by_sigma = (bound(i, m, 1.0 / (sigma + h)) - bound(i, m, 1.0 / (sigma - h))) / (2.0 * h);
            for (k, expected) in [(i, by_mu), (2 + i, -2.0 * by_sigma)] {
                let mean = sums[k] / n as f64;
                let error = ((squares[k] / n as f64 - mean * mean) / (n - 1) as f64).sqrt();
                assert!((mean - expected).abs() < 4.5 * error, "{law} {k}: {mean} ± {error} and {expected}");
            }
        }
    }
}

/// Draws of every noise have the law of the family: mean and variance of each coordinate within 4.5 standard errors.
#[test]
fn draws_of_a_product_have_its_moments() {
    for law in laws() {
        let q = member(Family::scale_mixture(law).product(), 2);
        for noise in Noise::ALL {
            let plan = DrawPlan { noise, ..DrawPlan::independent(64) };
            let mut work = q.estimator(&plan);
            let mut batch = work.batch(&q);
            let values: Vec<[f64; 2]> = (0..400)
                .map(|index| {
                    work.draw(&q, NoiseKey { seed: 5, purpose: Purpose::Draws, step: index }, &mut batch);
                    let mut sums = [0.0; 2];
                    for s in 0..64 {
                        let r = (batch.draws.get(s)[1] - q.mean()[1]) * q.locations()[0].scale().precision()[1].sqrt();
                        sums[0] += r / 64.0;
                        // E|r| is finite for every law; r² has a heavy tail for a t.
                        sums[1] += (r * r).min(9.0) / 64.0;
                    }
                    sums
                })
                .collect();
            let step = 0.01;
            let expected: f64 = (-4000..4000)
                .map(|k| {
                    let y = (f64::from(k) + 0.5) * step;
                    let x = y.sinh();
                    let log_q = law.log_marginal(Forms { dim: 1, q: x * x, ..Forms::default() });
                    log_q.exp() * y.cosh() * step * (x * x).min(9.0)
                })
                .sum();
            for (k, expected) in [(0, 0.0), (1, expected)] {
                let mean = values.iter().map(|v| v[k]).sum::<f64>() / 400.0;
                let variance = values.iter().map(|v| (v[k] - mean).powi(2)).sum::<f64>() / (400.0 * 399.0);
                assert!(
                    (mean - expected).abs() < 4.5 * variance.sqrt() + 1e-3,
                    "{law} {noise} {k}: {mean} and {expected}"
                );
            }
        }
    }
}

/// Coordinates there and back, E[t] by draws, F as the derivative of m, and the plain step as a step in η along F⁻¹∇_η
/// L.
#[test]
fn a_product_is_an_exponential_family_given_its_scales() {
    for law in laws() {
        let q = member(Family::scale_mixture(law).product(), 2);
        let (natural, m) = (q.natural(), q.expectation());
        let n = natural.len();
        let near = |a: &[f64], b: &[f64], tolerance: f64| a.iter().zip(b).all(|(a, b)| (a - b).abs() < tolerance);
        assert!(near(&q.with_natural(&natural).unwrap().expectation(), &m, 1e-12));
        assert!(near(&q.with_expectation(&m).unwrap().natural(), &natural, 1e-12));

        // 4.5 standard errors of the mean of z_i/s_i, for which given s the variance is 1/(p_i s_i).
        let mut stream = Stream::open(9, Purpose::Check, 0, 0);
        let draws: Vec<Vec<f64>> = (0..20_000)
            .map(|_| {
                let (z, w) = q.draw_joint(&mut stream);
                let joint = q.log_joint_density(&z, &w);
                assert!(joint.is_finite());
                q.statistics(&z, &w)
            })
            .collect();
        for k in 0..2 {
            let mean = draws.iter().map(|t| t[k]).sum::<f64>() / draws.len() as f64;
            let variance = draws.iter().map(|t| (t[k] - mean).powi(2)).sum::<f64>() / draws.len() as f64;
            let error = (variance / draws.len() as f64).sqrt();
            assert!((mean - m[k]).abs() < 4.5 * error, "{law} {k}: {mean} ± {error} and {}", m[k]);
        }

        let fisher = q.fisher();
        for j in 0..n {
            let at = |h: f64| {
                let mut eta = natural.clone();
                eta[j] += h;
                q.with_natural(&eta).unwrap().expectation()
            };
            let h = 1e-5;
            let (up, down) = (at(h), at(-h));
            let slope: Vec<f64> = up.iter().zip(&down).map(|(a, b)| (a - b) / (2.0 * h)).collect();
            let size = fisher.iter().fold(1.0f64, |size, f| size.max(f.abs()));
            assert!(near(&slope, &fisher[j * n..(j + 1) * n], 1e-6 * size), "{law} {j}: {slope:?}");
        }

        let mut gradient = q.zero_gradient();
        gradient.blocks[0].b.copy_from_slice(&[0.3, -0.2]);
        gradient.blocks[0].g.copy_from_slice(&[0.1, 0.4]);
        let beta = 0.05;
        let request = StepRequest { rule: Rule::NaturalGradient, beta, mixing_beta: beta, max_kl: None };
        let mut moved = q.clone();
        moved.advance(&gradient, request, &mut Scratch::new(&moved));
        let along: Vec<f64> =
            natural.iter().zip(q.natural_gradient(&gradient)).map(|(eta, g)| eta + beta * g).collect();
        assert!(near(&moved.natural(), &along, 1e-13), "{law}: {:?} and {along:?}", moved.natural());
    }
}

#[test]
fn fits_are_saved_loaded_resumed_and_sampled() {
    let target = logistic(40, 2);
    let folder = std::env::temp_dir().join(format!("elinvar-scale-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    for law in laws() {
        for family in forms_of(law) {
            let stop = Stop { max_steps: 30, ..Stop::default() };
            let plan = Plan { stop, ..Plan::default() };
            let posterior = elinvar::run::fit(&target, family, &plan).unwrap();
            let path = folder.join("fit.json");
            posterior.save(&path).unwrap();
            let read = Posterior::load(&path).unwrap();
            assert_eq!(read.family(), posterior.family());
            assert_eq!(read.sample_z(9, 1), posterior.sample_z(9, 1));
            assert!(read.sample_z(9, 1).view().as_slice().iter().all(|v| v.is_finite()));

            let mut run = Run::new(&target, posterior.approximation().clone(), &plan).unwrap();
            (0..5).for_each(|_| {
                run.step().unwrap();
            });
            let text = serde_json::to_string(&run.checkpoint()).unwrap();
            let checkpoint: Checkpoint = serde_json::from_str(&text).unwrap();
            let mut again = Run::resume(&target, &checkpoint).unwrap();
            (0..5).for_each(|_| {
                run.step().unwrap();
                again.step().unwrap();
            });
            assert_eq!(run.q().state(), again.q().state(), "{law}");
        }
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn what_is_outside_the_theory_is_refused_with_the_reason() {
    let target = logistic(20, 2);
    let family = Family::scale_mixture(Logistic).product().with_covariance(Covariance::Full);
    let error = elinvar::run::fit(&target, family, &Plan::default()).unwrap_err();
    assert!(
        matches!(error, Error::Unsupported { .. }) && error.to_string().contains("scale per coordinate"),
        "{error}"
    );
    let error = VarianceGamma::new(1.0).unwrap_err();
    assert!(error.to_string().contains("Fisher information of μ is infinite"), "{error}");
    // A fixed step size as well.
    let plan = Plan { step_size: StepSize::Constant(0.1), ..Plan::default() };
    elinvar::run::fit(&target, Family::scale_mixture(Logistic).product(), &plan).unwrap();
}
