//! `nig` and `snig` with a learned λ: that its slope is that of the bound, what a step does, what fits find, and that
//! nothing drives it out of its domain.

use elinvar::family::Approximation;
use elinvar::internals::family::{
    Batch, DrawPlan, Estimator, MeanVarianceEstimator, NoiseKey, Scratch, Seen, StepRequest, Stepping as _,
};
use elinvar::internals::law::{Forms, InverseGaussian, ReciprocalInverseGaussian};
use elinvar::internals::special::implicit::inverse_gaussian_cdf;
use elinvar::internals::{Numbers as _, Whitening as _};
use elinvar::law::Law;
use elinvar::random::Purpose;
use elinvar::rule::{Rule, StepSize};
use elinvar::run::{Run, StopReason};
use elinvar::target::{Answer, Ask, Covariance, Draws, PointwiseSecondOrder, Prior, Target, Want, WithPrior};
use elinvar::{Family, Plan, Posterior};

use crate::subjects::{Member, logistic, numbers};

fn nig(lambda: f64) -> Family {
    Family::nig(lambda).learned()
}

fn snig(lambda: f64) -> Family {
    Family::snig(lambda).learned()
}

fn member(family: Family, dim: usize) -> Approximation {
    let precision = (0..dim * dim).map(|k| if k % (dim + 1) == 0 { 2.0 } else { 0.3 }).collect();
    Approximation::from_parts(family, dim, vec![(numbers(dim * family.n_columns(), 3), precision)], vec![0.0]).unwrap()
}

fn lambda(q: &Approximation) -> f64 {
    q.law().parameter().unwrap()
}

/// The law of the family with another λ, which stays.
fn law(family: Family, lambda: f64) -> Law {
    match family.name() {
        "nig" => InverseGaussian::new(lambda).unwrap().into(),
        _ => ReciprocalInverseGaussian::new(lambda).unwrap().into(),
    }
}

/// ∂L/∂λ of so many batches.
fn slopes(q: &Approximation, target: &dyn Target, prior: &Prior, plan: DrawPlan, n: u64) -> Vec<f64> {
    let dim = q.dim();
    let mut work = q.estimator(&plan);
    let mut batch = work.batch(q);
    let mut evaluations = Answer::new(dim, batch.draws.len());
    let mut gradient = q.zero_gradient();
    let once = |step| {
        work.draw(q, NoiseKey { seed: 7, purpose: Purpose::Draws, step }, &mut batch);
        assert!(work.weigh(q, &batch));
        evaluations.set_curvature(Covariance::Full, 1);
        let want = Want::Hessian(work.contraction());
        target.evaluate(&Ask::all(batch.draws.view(), want), &mut evaluations).unwrap();
        let curvature = evaluations.curvature();
        let seen = Seen { evaluations: &evaluations, curvature, prior, batch: &batch };
        assert!(work.gradient(q, &seen, 0.0, &mut gradient));
        gradient.shape
    };
    (0..n).map(once).collect()
}

/// Mean, and the variance of it.
fn moments(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    (mean, values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / (n * (n - 1.0)))
}

fn divergence(q: &Posterior, p: &Approximation) -> (f64, f64) {
    let (draws, log_q) = q.sample_with_log_density(100_000, 12);
    let differences: Vec<f64> = draws.view().iter().zip(&log_q).map(|(z, log_q)| log_q - p.log_density(z)).collect();
    let (mean, variance) = moments(&differences);
    (mean, variance.sqrt())
}

fn five_point(h: f64, f: impl Fn(f64) -> f64) -> f64 {
    (8.0 * (f(h) - f(-h)) - (f(2.0 * h) - f(-2.0 * h))) / (12.0 * h)
}

/// The bound in one dimension as an integral, differentiated by differences, against 2¹⁴ draws; 4.5 standard errors:
/// 7e−6 for a new seed.
#[test]
fn the_slope_is_that_of_the_bound_under_every_prior() {
    let priors = [Prior::None, Prior::Gaussian { precision: 0.4, leading: 1 }, Prior::normal(vec![0.7], &[1.3])];
    for family in [nig(1.7), snig(1.7), nig(0.4), snig(12.0)] {
        let q = member(family, 1);
        let at = lambda(&q);
        for prior in &priors {
            let target = logistic(40, 1);
            let log_p = |z: f64| {
                let mut answer = Answer::new(1, 1);
                let draws = [z];
                target.evaluate(&Ask::all(Draws::new(1, &draws), Want::Values), &mut answer).unwrap();
                answer.log_p()[0] + prior.log_density(&draws)
            };
            let points: Vec<(f64, f64)> = (-4_000..4_000)
                .map(|i| {
                    let y = 4e-3 * (f64::from(i) + 0.5);
                    (y.sinh(), y.cosh() * 4e-3)
                })
                .collect();
            let values: Vec<f64> = points.iter().map(|(z, _)| log_p(*z)).collect();
            let bound = |lambda: f64| -> f64 {
                let of = if family.name() == "nig" { nig } else { snig };
                let q = member(of(lambda), 1);
                points
                    .iter()
                    .zip(&values)
                    .map(|((z, weight), log_p)| {
                        let log_q = q.log_density(&[*z]);
                        if log_q < -600.0 { 0.0 } else { log_q.exp() * weight * (log_p - log_q) }
                    })
                    .sum()
            };
            let expected = five_point(1e-2 * at, |h| bound(at + h));
            let found = slopes(&q, &target, prior, DrawPlan::independent(256), 64);
            let (mean, variance) = moments(&found);
            let error = variance.sqrt();
            assert!(
                (mean - expected).abs() < 4.5 * error + 1e-6,
                "{family} λ = {at}, {prior:?}: {mean} and {expected} ± {error}"
            );
            assert!(error < 0.2 * expected.abs().max(0.02), "{family} {prior:?}: {mean} and {expected} ± {error}");
        }
    }
}

/// In three dimensions the pathwise slope agrees with that from values alone, which knows nothing of paths; 4.5
/// standard errors of the difference: 7e−6 for a new seed.
#[test]
fn paths_and_values_agree() {
    for family in [nig(1.7), snig(1.7)] {
        let (q, target, prior) = (member(family, 3), logistic(40, 3), Prior::Gaussian { precision: 0.4, leading: 2 });
        let plan = DrawPlan::independent(256);
        let by_values = DrawPlan { curvature: elinvar::estimate::Curvature::GradientFree, ..plan };
        let (by_paths, path_variance) = moments(&slopes(&q, &target, &prior, plan, 64));
        let (by_values, value_variance) = moments(&slopes(&q, &target, &prior, by_values, 640));
        let error = (path_variance + value_variance).sqrt();
        assert!((by_paths - by_values).abs() < 4.5 * error, "{family}: {by_paths} and {by_values} ± {error}");
        assert!(error < 0.3 * by_paths.abs(), "{family}: {by_paths} ± {error}");
    }
}

/// One draw: w is moved with its probability held, z with it, and log p − log q of the old q is differenced along that
/// way. Then one step of λ by hand.
#[test]
fn one_draw_and_one_step_are_those_computed_by_hand() {
    let dim = 2;
    for family in [nig(1.7), snig(1.7)] {
        let (q, target) = (member(family, dim), logistic(40, dim));
        let at = lambda(&q);
        let (w, eps) = (0.83, [0.4, -1.3]);
        let mut work = MeanVarianceEstimator::new(&q, &DrawPlan::independent(1));
        let mut batch = work.batch(&q);
        work.set_noise(&[w], &eps);
        work.place(&q, &mut batch);
        let found = slope_of(&q, &target, &mut work, &batch);
        let block = &q.locations()[0];
        let place = |w: f64| {
            let law = q.law();
            let mut z: Vec<f64> = eps.iter().map(|e| law.scale(w).sqrt() * e).collect();
            block.scale().unwhiten(&mut z);
            z.iter_mut().zip(block.column(0)).for_each(|(z, mu)| *z += mu);
            if law.is_shifted() {
                z.iter_mut().zip(block.column(1)).for_each(|(z, alpha)| *z += law.shift(w) * alpha);
            }
            z
        };
        let probability = inverse_gaussian_cdf(1.0, at, w);
        let moved = |lambda: f64| {
            let (mut low, mut high) = (0.5 * w, 2.0 * w);
            for _ in 0..200 {
                let middle = 0.5 * (low + high);
                if inverse_gaussian_cdf(1.0, lambda, middle) < probability { low = middle } else { high = middle }
            }
            0.5 * (low + high)
        };
        let difference = |z: &[f64]| {
            let mut answer = Answer::new(dim, 1);
            target.evaluate(&Ask::all(Draws::new(dim, z), Want::Values), &mut answer).unwrap();
            answer.log_p()[0] + target.about().prior.log_density(z) - q.log_density(z)
        };
        let expected = five_point(1e-3 * at, |h| difference(&place(moved(at + h))));
        assert!((found / expected - 1.0).abs() < 1e-6, "{family}: {found} and {expected}");

        let mut gradient = q.zero_gradient();
        gradient.shape = found;
        let mut after = q.clone();
        let request = StepRequest { rule: Rule::Retraction, beta: 0.0, mixing_beta: 0.1, max_kl: None };
        after.advance(&gradient, request, &mut Scratch::new(&after));
        let by_hand = at * (0.1 * 2.0 * at * found).clamp(-1.0, 1.0).exp();
        assert!((lambda(&after) / by_hand - 1.0).abs() < 1e-14, "{family}: {} and {by_hand}", lambda(&after));
    }
}

fn slope_of(q: &Approximation, target: &dyn Target, work: &mut dyn Estimator, batch: &Batch) -> f64 {
    let mut evaluations = Answer::new(q.dim(), batch.draws.len());
    let mut gradient = q.zero_gradient();
    assert!(work.weigh(q, batch));
    evaluations.set_curvature(Covariance::Full, 1);
    target.evaluate(&Ask::all(batch.draws.view(), Want::Hessian(work.contraction())), &mut evaluations).unwrap();
    let prior = target.about().prior;
    let seen = Seen { evaluations: &evaluations, curvature: evaluations.curvature(), prior: &prior, batch };
    assert!(work.gradient(q, &seen, 0.0, &mut gradient));
    gradient.shape
}

#[test]
fn where_q_is_the_target_there_is_no_noise() {
    for family in [nig(1.7), snig(1.7), nig(300.0), snig(300.0)] {
        let q = member(family, 3);
        let target = PointwiseSecondOrder(Member(q.clone()));
        let found = slopes(&q, &target, &Prior::None, DrawPlan::independent(64), 20);
        let size = 1.0 / lambda(&q);
        assert!(found.iter().all(|slope| slope.abs() < 1e-10 * size), "{family}: {found:?}");
    }
}

/// E[score_λ²] − E[score_λ score_τ]²/E[score_τ²] by quadrature in d = 1, with scores by differences of log q.
#[test]
fn the_information_of_the_marginal_is_that_of_its_score() {
    for family in [nig(1.0), snig(1.0)] {
        for at in [0.3, 3.0, 60.0] {
            let log_q = |lambda: f64, tau: f64, z: f64| {
                let forms = Forms { dim: 1, q: z * z * f64::exp(-tau), ..Forms::default() };
                law(family, lambda).log_marginal(forms) - 0.5 * tau
            };
            let (mut own, mut shared, mut scale) = (0.0, 0.0, 0.0);
            for i in -3_000..3_000 {
                let y = 3e-3 * (f64::from(i) + 0.5);
                let (z, mass) = (y.sinh(), log_q(at, 0.0, y.sinh()).exp() * y.cosh() * 3e-3);
                let by_lambda = five_point(1e-2 * at, |h| log_q(at + h, 0.0, z));
                let by_tau = five_point(1e-3, |h| log_q(at, h, z));
                own += mass * by_lambda * by_lambda;
                shared += mass * by_lambda * by_tau;
                scale += mass * by_tau * by_tau;
            }
            let expected = own - shared * shared / scale;
            let found = law(family, at).marginal_fisher(1).unwrap();
            assert!((found / expected - 1.0).abs() < 1e-4, "{family} λ = {at}: {found:e} and {expected:e}");
        }
    }
}

/// KL and information of the mixing law against one-dimensional quadrature.
#[test]
fn the_mixing_law() {
    let sum = |lambda: f64, f: &dyn Fn(f64) -> f64| -> f64 {
        (-20_000..20_000)
            .map(|i| {
                let w = (f64::from(i) * 1e-3).exp();
                let log = law(nig(1.0), lambda).log_mixing_density(w);
                if log < -700.0 { 0.0 } else { log.exp() * w * 1e-3 * f(w) }
            })
            .sum()
    };
    for (one, two) in [(0.5, 3.0), (3.0, 0.5), (40.0, 42.0), (500.0, 300.0)] {
        let (q, p) = (law(nig(1.0), one), law(nig(1.0), two));
        let by_sum = sum(one, &|w| q.log_mixing_density(w) - p.log_mixing_density(w));
        let found = q.divergence_from(&p);
        assert!((found / by_sum - 1.0).abs() < 1e-8, "{one}, {two}: {found} and {by_sum}");
        let information =
            sum(one, &|w| five_point(1e-3 * one, |h| law(nig(1.0), one + h).log_mixing_density(w)).powi(2));
        let fisher = q.shape_slopes(3).unwrap().fisher;
        assert!((fisher / information - 1.0).abs() < 1e-6, "{one}: {fisher} and {information}");
    }
}

/// Five seeds, d = 1 and 3.
#[test]
fn the_lambda_of_a_member_is_found() {
    for (family, of) in [(Family::nig_learned(), Family::nig(3.0)), (Family::snig_learned(), Family::snig(3.0))] {
        for dim in [1, 3] {
            let p = member(of, dim);
            let target = PointwiseSecondOrder(Member(p.clone()));
            for seed in 1..=5 {
                let posterior = elinvar::run::fit(&target, family, &Plan { seed, ..Plan::thorough() }).unwrap();
                let (kl, error) = divergence(&posterior, &p);
                let found = lambda(posterior.approximation());
                println!(
                    "{family} d = {dim}, seed {seed}: λ = {found:.3}, KL = {kl:.5} ± {error:.5}, {} steps, {} gradients",
                    posterior.trace().len(),
                    posterior.counts().gradient
                );
                assert_eq!(posterior.stop_reason(), StopReason::Converged, "{family} d = {dim}, seed {seed}");
                assert!(kl + 3.0 * error < 0.005, "{family} d = {dim}, seed {seed}: KL = {kl:.5} ± {error:.5}");
                assert!((1.5..6.0).contains(&found), "{family} d = {dim}, seed {seed}: λ = {found}");
            }
        }
    }
}

/// A Gaussian target: λ grows until the difference costs next to nothing.
#[test]
fn a_gaussian_target_drives_lambda_up() {
    for family in [Family::nig_learned(), Family::snig_learned()] {
        for dim in [1, 4] {
            let p = member(Family::gaussian(), dim);
            let target = PointwiseSecondOrder(Member(p.clone()));
            let posterior = elinvar::run::fit(&target, family, &Plan::default()).unwrap();
            let (kl, error) = divergence(&posterior, &p);
            let found = lambda(posterior.approximation());
            println!(
                "{family} d = {dim}: λ = {found:.3}, KL = {kl:.5} ± {error:.5}, {} gradients",
                posterior.counts().gradient
            );
            assert!(kl + 3.0 * error < 0.01, "{family} d = {dim}: KL = {kl} ± {error}");
            assert!(found > 3.0 && found <= 1e6, "{family} d = {dim}: λ = {found}");
            let stop = elinvar::run::Stop { remaining_nats: 0.0, max_steps: 400, ..Default::default() };
            let posterior = elinvar::run::fit(&target, family, &Plan { stop, ..Plan::default() }).unwrap();
            let (kl, error) = divergence(&posterior, &p);
            let found = lambda(posterior.approximation());
            assert!(kl < 0.01 + 3.0 * error && found > 10.0, "{family} d = {dim}: λ = {found}, KL = {kl} ± {error}");
        }
    }
}

#[test]
fn no_step_leaves_the_domain() {
    for family in [nig(1.3), snig(1.3)] {
        let q = member(family, 2);
        for shape in [-1e100, -1e8, -1.0, 1e-9, 1.0, 1e100] {
            for beta in [1e-9, 1.0, 1e300] {
                for max_kl in [None, Some(1e-6), Some(1.0)] {
                    let mut gradient = q.zero_gradient();
                    gradient.shape = shape;
                    let request = StepRequest { rule: Rule::Retraction, beta: 0.0, mixing_beta: beta, max_kl };
                    let mut new = q.clone();
                    for _ in 0..40 {
                        let before = new.law();
                        new.advance(&gradient, request, &mut Scratch::new(&new));
                        assert!((1e-2..=1e6).contains(&lambda(&new)), "{} after {shape:e}", lambda(&new));
                        let kl = new.law().divergence_from(&before);
                        let bound = max_kl.map_or(f64::INFINITY, |bound| 0.5 * bound * (1.0 + 1e-6) + 1e-9);
                        assert!(kl <= bound, "KL {kl} of a step, bound {max_kl:?}");
                    }
                }
            }
        }
        let target = WithPrior::new(logistic(30, 2), Prior::None);
        for step in [1.0, 1e3] {
            let constant = StepSize::Constant(step);
            let plan = Plan { step_size: constant, mixing_step_size: constant, max_kl: None, ..Plan::default() };
            let mut run = Run::new(&target, member(family, 2), &plan).unwrap();
            for _ in 0..100 {
                run.step().unwrap();
                assert!((1e-2..=1e6).contains(&lambda(run.q())));
            }
        }
    }
}
