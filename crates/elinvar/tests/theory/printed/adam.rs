//! The Adam boxes of App. J: their first step, from s = 0 and m = 0.

use elinvar::Family;
use elinvar::block::{Location, Scale};
use elinvar::estimate::{Curvature, MixingWeights};
use elinvar::family::Approximation;
use elinvar::internals::law::{HalfNormal, InverseGamma};
use elinvar::law::Law;
use elinvar::rule::{AdamLike, PrintedStep};
use elinvar::target::Shape;

use super::*;

const GAMMA_1: f64 = 0.9;
const GAMMA_2: f64 = 0.999;
const N: f64 = ROWS as f64;

fn box_plan() -> Plan {
    let plan = options::with(|options| options.step = PrintedStep::AdamLike(AdamLike::default()));
    Plan { n_draws: 1, curvature: Curvature::SquaredMean, weights: MixingWeights::Sampled, ..plan }
}

fn start(family: Family, b: Vec<f64>) -> Approximation {
    let scale = Scale::from_precision(Shape::Diagonal(DIM), vec![3.0; DIM]).unwrap();
    Approximation::single(family, Location::new(b, scale).unwrap()).unwrap()
}

/// m̂/√ŝ for the first step, where the bias correction undoes 1 − γ₁.
fn move_by(from: &[f64], m: &[f64], s_hat: &[f64]) -> Vec<f64> {
    (0..DIM).map(|i| from[i] - BETA * m[i] / s_hat[i].sqrt()).collect()
}

/// Box 1, option I: one draw, the mean of the gradients of all items squared.
#[test]
fn the_adam_box_of_the_skew_gaussian() {
    let items = Items::new();
    let (mu, alpha) = (location(0), shift());
    let after = one_step(
        &items.target(gaussian_prior()),
        &start(Family::skew(), [mu.clone(), alpha.clone()].concat()),
        &box_plan(),
    );
    let p = Matrix::diagonal(&[DELTA; DIM]);
    let law: Law = HalfNormal.into();
    let (w, eps) = noise(law, 1);
    let u = w[0].abs();
    let z: Vec<f64> = (0..DIM).map(|i| mu[i] + eps[0][i] / DELTA.sqrt() + u * alpha[i]).collect();
    let g_mu: Vec<f64> = items.all(&z).1.iter().map(|g| g / N).collect();
    let (slope, in_sigma) = mean_mixtures::skew_entropy(&p, &alpha);
    let g_alpha = plus(&g_mu.iter().map(|g| u * g).collect::<Vec<_>>(), -1.0 / N, &slope);
    let c = (2.0 / std::f64::consts::PI).sqrt();
    let bar = 1.0 / (1.0 - c * c);
    let m = |one: &[f64], two: &[f64], at: &[f64]| -> Vec<f64> {
        (0..DIM).map(|i| bar * (one[i] - c * two[i]) + DELTA * at[i] / N).collect()
    };
    let s: Vec<f64> =
        (0..DIM).map(|i| (1.0 - GAMMA_2) * (g_mu[i] * g_mu[i] - 2.0 * in_sigma.at(i, i) / N + DELTA / N)).collect();
    let s_hat: Vec<f64> = s.iter().map(|s| (s + DELTA / N) / (1.0 - GAMMA_2)).collect();
    let block = &after.locations()[0];
    same("μ", block.column(0), &move_by(&mu, &m(&g_mu, &g_alpha, &mu), &s_hat));
    same("α", block.column(1), &move_by(&alpha, &m(&g_alpha, &g_mu, &alpha), &s_hat));
    let precision: Vec<f64> = s.iter().map(|s| N * s + DELTA).collect();
    same("P", block.scale().precision(), &precision);
    assert_eq!(AdamLike::default().gamma1, GAMMA_1);
}

/// Box 3, option I.
#[test]
fn the_adam_box_of_the_student_t() {
    let items = Items::new();
    let (mu, a) = (location(0), 2.5);
    let after = one_step(&items.target(gaussian_prior()), &start(Family::student_t(a), mu.clone()), &box_plan());
    let law: Law = InverseGamma::new(a).unwrap().into();
    let (w, eps) = noise(law, 1);
    let prior = DELTA * a / (a - 1.0);
    let z: Vec<f64> = (0..DIM).map(|i| mu[i] + (w[0] / prior).sqrt() * eps[0][i]).collect();
    let g: Vec<f64> = items.all(&z).1.iter().map(|g| g / N).collect();
    let s: Vec<f64> = g.iter().map(|g| (1.0 - GAMMA_2) * w[0] * g * g).collect();
    let s_hat: Vec<f64> = s.iter().map(|s| (s + prior / N) / (1.0 - GAMMA_2)).collect();
    let m = plus(&g, DELTA / N, &mu);
    same("μ", after.locations()[0].column(0), &move_by(&mu, &m, &s_hat));
    let precision: Vec<f64> = s.iter().map(|s| N * s + prior).collect();
    same("P", after.locations()[0].scale().precision(), &precision);
}
