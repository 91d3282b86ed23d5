//! Draws: their moments, their log density, and expectations of which the families know the exact value.

use elinvar::estimate::{Curvature, MixingWeights, Sampling};
use elinvar::family::Approximation;
use elinvar::internals::family::Stepping;
use elinvar::internals::family::{DrawPlan, NoiseKey};
use elinvar::random::{Noise, Purpose};
use elinvar::target::Prior;

use crate::averages::Averages;
use crate::members::Member;

fn plan(noise: Noise) -> DrawPlan {
    DrawPlan {
        n_draws: 16,
        noise,
        sampling: Sampling::Mixture,
        curvature: Curvature::Hessian,
        weights: MixingWeights::Conditional,
        ..DrawPlan::independent(16)
    }
}

/// Calls `f` with each draw and its log q of one batch after the other, and averages what it returns within each batch.
fn over_batches(q: &Approximation, noise: Noise, n_values: usize, f: impl Fn(&[f64], f64) -> Vec<f64>) -> Averages {
    let plan = plan(noise);
    let mut work = q.estimator(&plan);
    let mut batch = work.batch(q);
    let mut averages = Averages::new(n_values);
    for step in 0..1000 {
        work.draw(q, NoiseKey { seed: 11, purpose: Purpose::Sample, step }, &mut batch);
        let mut mean = vec![0.0; n_values];
        for s in 0..batch.n {
            let values = f(batch.draws.get(s), batch.log_q[s]);
            mean.iter_mut().zip(values).for_each(|(m, v)| *m += v / batch.n as f64);
        }
        averages.add(&mean);
    }
    averages
}

/// First and second moments; 16 members × 3 noises × 12 numbers: 4e−3 for a new seed.
fn moments(q: &Approximation, noise: Noise) {
    let (d, mean, cov) = (q.dim(), q.mean(), q.covariance());
    let found = over_batches(q, noise, d + d * d, |z, _| {
        let r: Vec<f64> = z.iter().zip(&mean).map(|(z, m)| z - m).collect();
        let second = (0..d * d).map(|k| r[k % d] * r[k / d]);
        r.iter().copied().chain(second).collect()
    });
    let expected: Vec<f64> = std::iter::repeat_n(0.0, d).chain(cov).collect();
    found.compare(&format!("{} {noise}", q.name()), &expected, 1e-12);
}

#[test]
fn draws_have_the_claimed_mean_and_covariance() {
    for noise in Noise::ALL {
        every_member!(moments(3, 310, noise));
    }
}

/// log q that comes with a draw is the log density there, for every noise and scheme; a draw is a function of its name
/// alone.
fn log_q(q: &Approximation) {
    for noise in Noise::ALL {
        for sampling in [Sampling::Mixture, Sampling::OwnDraws, Sampling::Stratified] {
            let plan = DrawPlan { sampling, ..plan(noise) };
            let mut work = q.estimator(&plan);
            let mut batch = work.batch(q);
            work.draw(q, NoiseKey { seed: 12, purpose: Purpose::Draws, step: 3 }, &mut batch);
            for s in 0..batch.n {
                let expected = q.log_density(batch.draws.get(s));
                assert!((batch.log_q[s] - expected).abs() < 1e-11 * expected.abs().max(1.0), "{}", q.name());
            }
            let mut other_work = q.estimator(&plan);
            let mut other = other_work.batch(q);
            other_work.draw(q, NoiseKey { seed: 12, purpose: Purpose::Draws, step: 2 }, &mut other);
            assert!(other.draws != batch.draws);
            other_work.draw(q, NoiseKey { seed: 12, purpose: Purpose::Draws, step: 3 }, &mut other);
            assert_eq!(other.draws, batch.draws, "{}", q.name());
        }
    }
}

#[test]
fn log_q_of_a_draw_is_its_log_density() {
    for dim in [1, 3, 18] {
        every_member!(log_q(dim, 320 + dim as u64));
    }
}

/// Entropy and E[log prior] in closed form against averages; 16 members × 3 numbers: 3e−4 for a new seed.
fn expectations(q: &Approximation) {
    let d = q.dim();
    let own = Prior::Normal { mean: (0..d).map(|i| 0.3 * i as f64 - 0.5).collect(), precision: vec![0.7; d] };
    let priors = [own, Prior::Gaussian { precision: 2.5, leading: 1 }];
    let known = q.entropy().is_some();
    let found = over_batches(q, Noise::Independent, 3, |z, log_q| {
        let entropy = if known { -log_q } else { 0.0 };
        vec![entropy, priors[0].log_density(z), priors[1].log_density(z)]
    });
    let entropy = q.entropy().unwrap_or(0.0);
    let expected = [entropy, q.expected_log_prior(&priors[0]), q.expected_log_prior(&priors[1])];
    found.compare(&q.name(), &expected, 1e-12);
    assert_eq!(q.expected_log_prior(&Prior::None), 0.0);
    assert_eq!(q.entropy().is_none(), ["nig", "mog", "skew_k", "emg_k"].contains(&q.family().name()), "{}", q.name());
}

#[test]
fn entropies_and_expected_priors_are_averages() {
    every_member!(expectations(3, 330));
}
