//! Draws and gradients of all schemes and noises.

use super::*;
use elinvar::internals::family::NoiseKey;
use elinvar::internals::family::Seen;
use elinvar::internals::family::Stepping;

/// The three schemes and the three kinds of noise end at the same bound.
#[test]
fn schemes_and_noises_agree() {
    let target = Pointwise(Pair);
    let mut bounds = Vec::new();
    for sampling in [Sampling::OwnDraws, Sampling::Stratified, Sampling::Mixture] {
        for noise in Noise::ALL {
            let plan = Plan { sampling, noise, ..Plan::default() };
            let mut posterior = elinvar::run::fit(&target, family_of(("gamma", 2)), &plan).unwrap();
            let elbo = posterior.diagnose(&target, 40_000, 5).unwrap().elbo;
            bounds.push((format!("{sampling} {noise}"), elbo.value));
        }
    }
    let (low, high) = bounds.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), (_, v)| (l.min(*v), h.max(*v)));
    assert!(high - low < 0.02, "{bounds:?}");
}

/// The gradient of the bound is unbiased: its mean over many batches against differences of a quadrature.
///
/// Four numbers at 4.5 standard errors (7e−6 each) for every scheme and component kind.
#[test]
fn gradients_are_those_of_the_bound() {
    let p = |z: f64| -0.7 * z + 1.2 * z.ln() + (2.0 * z).sin() / 3.0;
    let slope = |z: f64| -0.7 + 1.2 / z + 2.0 * (2.0 * z).cos() / 3.0;
    for (name, one, two) in [
        ("gamma", &[2.0, 1.0][..], &[5.0, 1.5][..]),
        ("log_normal", &[0.2, 0.5], &[1.0, 0.4]),
        ("exponential", &[2.0], &[0.5]),
        ("gamma and exponential", &[5.0, 1.5], &[0.5]),
    ] {
        let q = member(name, 1, &[0.3, 0.7], &[one, two]);
        let nodes = grid(Support::Positive);
        let bound = |eta: &[f64]| {
            let q = q.with_natural(eta).unwrap();
            let term = |&(z, width): &(f64, f64)| {
                let log_q = q.log_density(&[z]);
                if log_q < -700.0 { 0.0 } else { log_q.exp() * (p(z) - log_q) * width }
            };
            nodes.iter().map(term).sum::<f64>()
        };
        let eta = q.natural();
        let expected: Vec<f64> = (0..eta.len())
            .map(|k| {
                let at = |h: f64| {
                    let mut moved = eta.clone();
                    moved[k] += h;
                    bound(&moved)
                };
                (at(1e-4) - at(-1e-4)) / 2e-4
            })
            .collect();
        for sampling in [Sampling::OwnDraws, Sampling::Stratified, Sampling::Mixture] {
            for noise in Noise::ALL {
                let plan = DrawPlan { n_draws: 8, noise, sampling, ..DrawPlan::independent(8) };
                let mut work = q.estimator(&plan);
                let (mut batch, mut gradient) = (work.batch(&q), q.zero_gradient());
                let n = 2_000;
                let (mut sum, mut squares) = (vec![0.0; eta.len()], vec![0.0; eta.len()]);
                for step in 0..n {
                    work.draw(&q, NoiseKey { seed: 9, purpose: Purpose::Draws, step }, &mut batch);
                    assert!(work.weigh(&q, &batch));
                    let mut out = Answer::new(1, batch.n);
                    for s in 0..batch.n {
                        let z = batch.draws.get(s)[0];
                        out.log_p_mut()[s] = p(z);
                        out.grad_mut(s)[0] = slope(z);
                    }
                    assert!(work.gradient(
                        &q,
                        &Seen { evaluations: &out, curvature: &[], prior: &Prior::None, batch: &batch },
                        0.0,
                        &mut gradient
                    ));
                    let weights = [q.weights().weight(0), q.weights().weight(1)];
                    let parts =
                        gradient.blocks.iter().zip(weights).flat_map(|(block, pi)| block.b.iter().map(move |g| pi * g));
                    // ∂L/∂(log-odds) = −π₁π₂(E₁[h] − E₂[h]).
                    let odds = -weights[0] * weights[1] * (gradient.expected_h[0] - gradient.expected_h[1]);
                    for (k, g) in parts.chain([odds]).enumerate() {
                        sum[k] += g / n as f64;
                        squares[k] += g * g / n as f64;
                    }
                }
                for k in 0..eta.len() {
                    let error = ((squares[k] - sum[k] * sum[k]) / n as f64).sqrt();
                    let (found, expected) = (sum[k], expected[k]);
                    assert!(
                        (found - expected).abs() < 4.5 * error + 1e-6,
                        "{name} {sampling} {noise} {k}: {found} ± {error}, {expected}"
                    );
                }
            }
        }
    }
}
