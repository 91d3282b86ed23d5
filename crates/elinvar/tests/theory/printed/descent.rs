//! Eq. (3), plain gradient steps on a chart, and the reparameterisation gradient of the black box.

use elinvar::Family;
use elinvar::block::{Location, LogWeights, Scale};
use elinvar::estimate::{Curvature, Sampling};
use elinvar::family::Approximation;
use elinvar::internals::law::PointMass;
use elinvar::random::Stream;
use elinvar::rule::{Rule, StepSize};
use elinvar::target::Shape;

use super::*;

fn descent(curvature: Curvature) -> Plan {
    let step_size = StepSize::Constant(BETA);
    let plan = Plan { rule: Rule::GradientDescent, curvature, step_size, mixing_step_size: step_size, ..plan() };
    Plan { sampling: Sampling::Whole, ..plan }
}

/// In (μ, log σ): ∂L/∂μ = −E∇f − δμ and ∂L/∂log σ = 1 − σ²(E f″ + δ).
#[test]
fn a_diagonal_gaussian_descends_in_means_and_log_widths() {
    let items = Items::new();
    let p = precision(0).diagonal_entries();
    let scale = Scale::from_precision(Shape::Diagonal(DIM), p.clone()).unwrap();
    let start = Approximation::single(Family::gaussian(), Location::new(location(0), scale).unwrap()).unwrap();
    let after = one_step(&items.target(gaussian_prior()), &start, &descent(Curvature::Hessian));
    let (_, eps) = noise(PointMass.into(), DRAWS);
    let (mut g, mut h) = (vec![0.0; DIM], vec![0.0; DIM]);
    for eps in &eps {
        let z: Vec<f64> = (0..DIM).map(|i| location(0)[i] + eps[i] / p[i].sqrt()).collect();
        let (_, gradient, hessian) = items.all(&z);
        g = plus(&g, 1.0 / DRAWS as f64, &gradient);
        h = plus(&h, 1.0 / DRAWS as f64, &hessian.diagonal_entries());
    }
    let mean: Vec<f64> = (0..DIM).map(|i| location(0)[i] - BETA * (g[i] + DELTA * location(0)[i])).collect();
    let log_sd = |i: usize| -0.5 * p[i].ln() + BETA * (1.0 - (h[i] + DELTA) / p[i]);
    same("μ", after.locations()[0].b(), &mean);
    let moved: Vec<f64> = (0..DIM).map(|i| (-2.0 * log_sd(i)).exp()).collect();
    same("P", after.locations()[0].scale().precision(), &moved);
}

/// A mixture along the draws: with z = μ_c + σ_c ε, ∂z/∂μ_c = 1 and ∂z/∂log σ_c = z − μ_c, for log p and for log q; the
/// logits by the score function.
#[test]
fn the_black_box_differentiates_a_mixture_along_its_draws() {
    let items = Items::new();
    let (pi, n) = ([0.55, 0.45], 6);
    let p = [precision(0).diagonal_entries(), precision(1).diagonal_entries()];
    let block = |c: usize| {
        let scale = Scale::from_precision(Shape::Diagonal(DIM), p[c].clone()).unwrap();
        Location::new(location(c), scale).unwrap()
    };
    let weights = LogWeights::new(pi.iter().map(|w: &f64| w.ln()).collect()).unwrap();
    let start = Approximation::mixture(weights, vec![block(0), block(1)]).unwrap();
    let plan = Plan { n_draws: n, ..descent(Curvature::Stein { control_variate: false }) };
    let after = one_step(&items.target(Prior::None), &start, &plan);

    let mut source = NoiseSource::new(Noise::Independent, DIM, n);
    source.begin(SEED, Purpose::Draws, 0, 0);
    let mut eps = vec![0.0; DIM * n];
    source.fill_eps(&mut eps);
    let mut stream = Stream::open(SEED, Purpose::Draws, 0, 1 << 20);
    let share = 1.0 / n as f64;
    let (mut in_mu, mut in_log_sd) = ([vec![0.0; DIM], vec![0.0; DIM]], [vec![0.0; DIM], vec![0.0; DIM]]);
    let (mut values, mut deltas) = (Vec::new(), Vec::new());
    for eps in eps.chunks_exact(DIM) {
        let c = usize::from(stream.uniform() >= pi[0]);
        let z: Vec<f64> = (0..DIM).map(|i| location(c)[i] + eps[i] / p[c][i].sqrt()).collect();
        let part = |c: usize| {
            let term = |i: usize| {
                let off = z[i] - location(c)[i];
                (p[c][i] / std::f64::consts::TAU).sqrt() * (-0.5 * p[c][i] * off * off).exp()
            };
            (0..DIM).map(term).product::<f64>()
        };
        let parts = [part(0), part(1)];
        let q = pi[0] * parts[0] + pi[1] * parts[1];
        let (f, gradient, _) = items.all(&z);
        let score = |i: usize| (0..2).map(|c| -pi[c] * parts[c] / q * p[c][i] * (z[i] - location(c)[i])).sum::<f64>();
        for c in 0..2 {
            let delta = parts[c] / q;
            for i in 0..DIM {
                let slope = share * pi[c] * delta * (gradient[i] + score(i));
                in_mu[c][i] -= slope;
                in_log_sd[c][i] -= slope * (z[i] - location(c)[i]);
            }
        }
        values.push(q.ln() + f);
        deltas.push([parts[0] / q, parts[1] / q]);
    }
    for c in 0..2 {
        same(&format!("μ of {c}"), after.locations()[c].b(), &plus(&location(c), BETA, &in_mu[c]));
        let moved: Vec<f64> = (0..DIM).map(|i| p[c][i] * (-2.0 * BETA * in_log_sd[c][i]).exp()).collect();
        same(&format!("P of {c}"), after.locations()[c].scale().precision(), &moved);
    }
    // The first batch lends its mean of h as the baseline.
    let baseline = values.iter().sum::<f64>() * share;
    let expected = |c: usize| values.iter().zip(&deltas).map(|(h, d)| share * d[c] * (h - baseline)).sum::<f64>();
    let mean = pi[0] * expected(0) + pi[1] * expected(1);
    let slope = |c: usize| -pi[c] * (expected(c) - mean);
    let ratio = (pi[0] / pi[1]).ln() + BETA * (slope(0) - slope(1));
    let found = after.weights().log()[0] - after.weights().log()[1];
    assert!((found - ratio).abs() < 1e-12, "{found} {ratio}");
}
