//! From a fit to a sampler of somebody else's: nuts-rs starts where elinvar's posterior is, in coordinates in which
//! that posterior is round, and counts what this saves in gradients for each effective draw.
//!
//! `cargo run --release` in this folder; it ends with an error where the means differ or little is saved.

mod chain;

use std::sync::atomic::{AtomicU64, Ordering};

use chain::{Coordinates, Counted, effective_draws, sample};
use elinvar::prelude::*;

/// Coefficients of a logistic regression.
const D: usize = 20;

/// Rows with strongly correlated columns, and answers.
struct Rows {
    x: Vec<[f64; D]>,
    y: Vec<f64>,
}

impl Rows {
    /// Made by a linear congruential generator, so that nothing has to be read.
    fn made(n: usize) -> Self {
        let mut state = 12_345u64;
        let mut uniform = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1u64 << 53) as f64
        };
        let mut normal = || (0..12).map(|_| uniform()).sum::<f64>() - 6.0;
        let mut rows = Self { x: Vec::new(), y: Vec::new() };
        for _ in 0..n {
            let common = normal();
            let mut x = [1.0; D];
            x[1..].iter_mut().for_each(|x| *x = 0.95 * common + 0.3 * normal());
            let eta = 0.5 + x[1] - x[2] + 0.5 * common;
            rows.y.push(if eta + 1.6 * normal() > 0.0 { 1.0 } else { 0.0 });
            rows.x.push(x);
        }
        rows
    }

    /// log p and its gradient; the prior of each coefficient is N(0, 2.5²).
    fn log_density(&self, beta: &[f64], gradient: &mut [f64]) -> f64 {
        let mut sum = 0.0;
        for (g, beta) in gradient.iter_mut().zip(beta) {
            *g = -beta / 6.25;
            sum -= 0.5 * beta * beta / 6.25;
        }
        for (x, y) in self.x.iter().zip(&self.y) {
            let eta: f64 = x.iter().zip(beta).map(|(x, beta)| x * beta).sum();
            let rest = y - 1.0 / (1.0 + (-eta).exp());
            gradient.iter_mut().zip(x).for_each(|(g, x)| *g += rest * x);
            sum += y * eta - eta.max(0.0) - (-eta.abs()).exp().ln_1p();
        }
        sum
    }
}

fn main() -> elinvar::Result {
    let rows = Rows::made(400);
    let model = log_density(D, |beta, gradient| rows.log_density(beta, gradient));
    let posterior = elinvar::fit(&model)?;
    let fitted = posterior.counts().gradient;
    println!("elinvar: {} after {fitted} gradients", posterior.verdict().expect("a fit is judged"));

    let gradients = AtomicU64::new(0);
    let counted = Counted {
        log_density: &|beta: &[f64], gradient: &mut [f64]| rows.log_density(beta, gradient),
        gradients: &gradients,
    };
    let draws = 1000;

    // As nuts-rs does by itself: it adapts a diagonal metric from the prior's centre.
    let cold = sample(&counted, &Coordinates::plain(vec![0.0; D]), 1000, draws, 1);
    let cold_gradients = gradients.swap(0, Ordering::Relaxed);

    // Start and metric from the posterior: its mean, and the factor of its covariance. Only the step size is left to
    // be found.
    let q = posterior.approximation();
    let round = Coordinates::around(q.mean(), &q.covariance());
    let warm = sample(&counted, &round, 100, draws, 1);
    let warm_gradients = gradients.swap(0, Ordering::Relaxed);

    let (cold_draws, warm_draws) = (effective_draws(&cold), effective_draws(&warm));
    let line = |name: &str, total: u64, worth: f64| {
        println!(
            "{name:28} {total:>9} gradients {worth:>7.0} effective draws {:>8.1} gradients each",
            total as f64 / worth
        );
        total as f64 / worth
    };
    let alone = line("nuts-rs alone", cold_gradients, cold_draws);
    let handed = line("handed over, with the fit", warm_gradients + fitted, warm_draws);
    println!("{:.1} times fewer gradients for an effective draw", alone / handed);
    // The same posterior: means agree within five of their errors.
    for i in 0..D {
        let [(a, va), (b, vb)] = [&cold, &warm].map(|draws| chain::mean_and_variance(draws, i));
        let error = (va / cold_draws + vb / warm_draws).sqrt();
        assert!((a - b).abs() < 5.0 * error, "coefficient {i}: {a} and {b}, error {error}");
    }
    assert!(alone > 1.5 * handed, "the hand-over saves too little: {alone} and {handed} gradients for each");
    Ok(())
}
