//! `experiments.json`: optima of the bound at which the natural gradient vanishes, and divergences on a grid.

use elinvar::block::{Full, LocationBlock, LogWeights, ScaleMatrix};
use elinvar::family::{Approximation, MixtureOfGaussians};
use elinvar::model::BetaBinomial;
use elinvar::special::logistic::{log1p_exp, log_sum_exp, logistic_variance, sigmoid};
use elinvar::target::{DrawBuffer, Evaluations, Rows, Target};
use serde_json::{Value, json};

use super::compare::close;
use super::dense::{Matrix, dot};
use super::json::{given, list, matrix, number, read, vector};
use super::logistic::Items;
use super::member::{Member, member, with_member};

/// Nodes x and weights of ∫ g(x) φ(x) dx over the line: the trapezoidal rule, whose error falls exponentially.
fn normal_rule() -> Vec<(f64, f64)> {
    const STEP: f64 = 1.0 / 64.0;
    let density = |x: f64| (-0.5 * x * x).exp() / std::f64::consts::TAU.sqrt();
    (-640..=640).map(|i| (f64::from(i) * STEP, STEP * density(f64::from(i) * STEP))).collect()
}

/// Nodes u and weights of ∫₀^∞ g(u) 2φ(u) du: tanh–sinh in u on (0, 10).
fn half_normal_rule() -> Vec<(f64, f64)> {
    const STEP: f64 = 1.0 / 64.0;
    const END: f64 = 10.0;
    let node = |i: i32| {
        let t = f64::from(i) * STEP;
        let s = std::f64::consts::FRAC_PI_2 * t.sinh();
        let u = END / (1.0 + (-2.0 * s).exp());
        let slope = END * std::f64::consts::FRAC_PI_4 * t.cosh() / (s.cosh() * s.cosh());
        (u, STEP * slope * 2.0 * (-0.5 * u * u).exp() / std::f64::consts::TAU.sqrt())
    };
    (-256..=256).map(node).filter(|(_, weight)| *weight > 1e-30).collect()
}

/// Σ_n E[f_n], its ∇_B = E[∇f ũᵀ] and E[∇²f]: each f_n depends on x_nᵀz = x_nᵀμ + u x_nᵀα + (x_nᵀΣx_n)^½ ε alone.
fn expected_loss(items: &Items, b: &Matrix, sigma: &Matrix) -> (f64, Matrix, Matrix) {
    let d = b.rows;
    let (mut value, mut grad_b, mut hessian) = (0.0, Matrix::zeros(d, b.cols), Matrix::zeros(d, d));
    let normal = normal_rule();
    let shifts = if b.cols == 1 { vec![(0.0, 1.0)] } else { half_normal_rule() };
    let (design, labels) = (items.model.design(), items.model.responses());
    for (n, y) in labels.iter().enumerate() {
        let x: Vec<f64> = design.row(n).iter().map(|v| y * v).collect();
        let centre = b.transposed().times_vector(&x);
        let spread = dot(&x, &sigma.times_vector(&x)).sqrt();
        let (mut slopes, mut curvature) = ([0.0; 2], 0.0);
        for (u, weight) in &shifts {
            let mean = centre[0] + u * centre.get(1).unwrap_or(&0.0);
            let (mut f, mut first, mut second) = (0.0, 0.0, 0.0);
            for (eps, weight) in &normal {
                let t = mean + spread * eps;
                f += weight * log1p_exp(-t);
                first -= weight * sigmoid(-t);
                second += weight * logistic_variance(t);
            }
            value += weight * f;
            slopes[0] += weight * first;
            slopes[1] += weight * u * first;
            curvature += weight * second;
        }
        for i in 0..d {
            for j in 0..b.cols {
                *grad_b.at_mut(i, j) += slopes[j] * x[i];
            }
            for j in 0..d {
                *hessian.at_mut(i, j) += curvature * x[i] * x[j];
            }
        }
    }
    (value, grad_b, hessian)
}

/// The optimum is listed with gradients of about 1e−10; the curvature residual is larger because the bound is flat in Σ there.
fn check_optimum<M: Member>(label: &str, q: &M, items: &Items, sigma: &Matrix, elbo: f64) {
    let prior = items.gaussian_prior();
    let (loss, loss_b, loss_hessian) = expected_loss(items, &q.b(), sigma);
    let (entropy, from_prior) = (q.entropy_slopes().expect("an exact entropy"), q.prior_slopes(prior));
    let grad_b = Matrix::from_columns(q.dim(), &entropy.b)
        .plus(1.0, &Matrix::from_columns(q.dim(), &from_prior.b))
        .plus(-1.0, &loss_b);
    let g = q.g_matrix(&entropy).plus(1.0, &q.g_matrix(&from_prior)).plus(1.0, &loss_hessian);
    let direction = sigma.times(&grad_b.times(&q.omega_matrix().inverse()));
    close(&format!("{label}: direction of B"), &direction.entries, &vec![0.0; direction.entries.len()], 1.0, 1e-8);
    let p = q.precision();
    let scale = p.entries.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
    close(&format!("{label}: direction of P"), &g.entries, &vec![0.0; g.entries.len()], scale, 1e-6);
    let found = q.entropy().expect("an exact entropy") + q.expected_log_prior(prior) - loss;
    close(&format!("{label}: ELBO"), &[found], &[elbo], 1.0, 1e-9);
}

#[test]
fn the_natural_gradient_vanishes_at_the_optima() {
    let file = read("experiments.json");
    let experiment = &file["logistic_2d"];
    let items = Items::of(experiment);
    for (entry, name) in [("gaussian_full", "gaussian"), ("skew_full", "skew")] {
        let Some(listed) = given(experiment, entry) else { continue };
        let mut columns = vec![vector(listed, "mu")];
        if name == "skew" {
            columns.push(vector(listed, "alpha"));
        }
        let rows: Vec<Vec<f64>> = (0..columns[0].len()).map(|i| columns.iter().map(|c| c[i]).collect()).collect();
        let case = json!({ "B": rows, "Sigma": listed["Sigma"] });
        let (sigma, elbo) = (matrix(listed, "Sigma"), number(listed, "elbo"));
        if let Some(evidence) = given(experiment, "log_evidence").and_then(Value::as_f64) {
            assert!(elbo < evidence, "a bound lies below what it bounds");
        }
        with_member!(&member(name, &case), q => check_optimum(entry, q, &items, &sigma, elbo));
    }
}

/// n equally spaced points of [from, to] with the weights of the trapezoidal rule.
fn trapezoid(from: f64, to: f64, n: usize) -> Vec<(f64, f64)> {
    let step = (to - from) / (n - 1) as f64;
    let weight = |i: usize| if i == 0 || i + 1 == n { 0.5 * step } else { step };
    (0..n).map(|i| (from + i as f64 * step, weight(i))).collect()
}

fn mixture(components: &[Value]) -> MixtureOfGaussians<Full> {
    let log_weights = components.iter().map(|c| number(c, "weight").ln()).collect();
    let blocks = components.iter().map(|c| {
        let precision = matrix(c, "precision");
        let scale = Full::from_precision(precision.rows, precision.entries).expect("positive definite");
        LocationBlock::new(vector(c, "mean"), scale).expect("finite means")
    });
    MixtureOfGaussians::new(LogWeights::new(log_weights).expect("weights"), blocks.collect()).expect("a mixture")
}

/// On the grid that the file describes; the listed divergences were checked there and on a finer one.
#[test]
fn beta_binomial_divergences() {
    let file = read("experiments.json");
    let experiment = &file["beta_binomial"];
    let (first, second) = (trapezoid(-10.5, -3.5, 281), trapezoid(1.5, 24.0, 301));
    let mut grid = DrawBuffer::zeros(2, first.len() * second.len());
    let mut weights = Vec::with_capacity(grid.len());
    for (x, wx) in &first {
        for (y, wy) in &second {
            grid.get_mut(weights.len()).copy_from_slice(&[*x, *y]);
            weights.push(wx * wy);
        }
    }
    let mut evaluations = Evaluations::new(2, grid.len());
    BetaBinomial::cancer_mortality().evaluate(grid.view(), Rows::All, &mut evaluations).expect("an evaluation");
    let log_p = evaluations.log_p();
    let terms: Vec<f64> = log_p.iter().zip(&weights).map(|(log_p, weight)| log_p + weight.ln()).collect();
    let log_z = log_sum_exp(&terms);
    close("log normaliser", &[log_z], &[number(experiment, "log_normaliser")], 1.0, 1e-9);
    let mut mean = [0.0; 2];
    for (z, term) in grid.view().iter().zip(&terms) {
        (0..2).for_each(|i| mean[i] += (term - log_z).exp() * z[i]);
    }
    close("posterior mean", &mean, &vector(experiment, "posterior_mean"), 1.0, 1e-9);

    let components = experiment["components"].as_object().expect("components by their number");
    assert!(!components.is_empty());
    for k in components.keys() {
        let q = mixture(list(&experiment["components"], k));
        let mut divergence = log_z;
        for ((z, weight), log_p) in grid.view().iter().zip(&weights).zip(log_p) {
            let log_q = q.log_density(z);
            divergence += weight * log_q.exp() * (log_q - log_p);
        }
        close(&format!("KL with {k} components"), &[divergence], &[number(&experiment["kl"], k)], 1.0, 1e-4);
    }
}
