//! Multilinear exponential families (mathematics §0.7): blocks, their expectations, their Fisher matrices, their
//! natural gradients.

use elinvar::family::{Approximation, MatrixUpdate};
use elinvar::internals::family::Gradient;
use elinvar::internals::family::Stepping;
use elinvar::internals::family::{Scratch, StepRequest};
use elinvar::rule::Rule;
use elinvar::target::Covariance;
use elinvar::theory::Multilinear;

use super::example::{layout, member};
use crate::members::differences::{close, gradient, jacobian, partial, smallest_eigenvalue, solve};
use crate::subjects::numbers;

macro_rules! every_shape {
    ($check:ident) => {{
        for (i, groups) in
            [&[&[3usize][..]][..], &[&[2, 3]], &[&[2, 2, 3]], &[&[2, 2], &[3], &[2, 1]]].iter().enumerate()
        {
            let seed = 20 + i as u64;
            $check(&member(Covariance::Full, groups, MatrixUpdate::Blockwise, seed));
            $check(&member(Covariance::Diagonal, groups, MatrixUpdate::Blockwise, seed));
        }
    }};
}

fn columns(n: usize, matrix: &[f64]) -> Vec<Vec<f64>> {
    matrix.chunks_exact(n).map(<[f64]>::to_vec).collect()
}

fn name(q: &Approximation, k: usize) -> String {
    format!("{} {:?}, block {k}", layout(q), q.family().covariance)
}

/// m_k = ∇_{η_k}A, F_k = ∂m_k/∂η_k, and one-to-one both ways.
fn blocks(q: &Approximation) {
    for k in 0..q.n_natural_blocks() {
        let name = name(q, k);
        let eta = q.natural_block(k);
        let at = |eta: &[f64]| q.with_natural_block(k, eta).unwrap();
        let slope = gradient(&eta, |eta| at(eta).multilinear_log_partition());
        close(&format!("{name}: ∇A"), &slope, &q.expectation_block(k), 1e-8);
        let found = jacobian(&eta, |eta| at(eta).expectation_block(k)).concat();
        let fisher = q.fisher_block(k);
        close(&format!("{name}: ∂m/∂η"), &found, &fisher, 1e-8);
        assert!(smallest_eigenvalue(eta.len(), &fisher) > 1e-3, "{name}: not minimal");
        let again = q.with_expectation_block(k, &q.expectation_block(k)).unwrap();
        close(&format!("{name}: there and back"), &again.natural_block(k), &eta, 1e-11);
        assert!(q.with_natural_block(k, &eta[1..]).is_err());
    }
}

#[test]
fn each_block_is_a_minimal_exponential_family() {
    every_shape!(blocks);
}

/// log q(z) = ⟨η_k, t_k(z, η_−k)⟩ + what does not depend on η_k − A(η): linear in each block.
fn linear(q: &Approximation) {
    let z = numbers(q.dim(), 5);
    for k in 0..q.n_natural_blocks() {
        let eta = q.natural_block(k);
        let f = |q: &Approximation| q.log_density(&z) + q.multilinear_log_partition();
        let slope = gradient(&eta, |eta| f(&q.with_natural_block(k, eta).unwrap()));
        close(&format!("{}: statistics", name(q, k)), &slope, &q.statistics_block(k, &z), 1e-8);
        // No curvature: the difference quotient at twice the parameters is the same.
        let double: Vec<f64> = eta.iter().map(|v| 2.0 * v).collect();
        let there = gradient(&double, |eta| f(&q.with_natural_block(k, eta).unwrap()));
        close(&format!("{}: linear", name(q, k)), &there, &slope, 1e-7);
    }
}

#[test]
fn the_exponent_is_linear_in_each_block() {
    every_shape!(linear);
}

/// A smooth function of (W, V_1, …) with its gradient in the form that steps take.
fn smooth(q: &Approximation) -> (f64, Gradient) {
    let mut value = 0.0;
    let mut out = q.zero_gradient();
    for (group, out) in q.tensors().iter().zip(&mut out.blocks) {
        let mut at_g = 0;
        for (k, w) in group.w().iter().enumerate() {
            let rate = 0.4 + 0.1 * k as f64;
            value += (rate * w).sin();
            out.b[k] = rate * (rate * w).cos();
        }
        for factor in group.factors() {
            let d = factor.dim();
            let mut v = vec![0.0; d * d];
            factor.covariance_into(&mut v);
            let others = (group.size() / d) as f64;
            let weight = |k: usize| ((k % d + k / d) as f64).cos();
            value += v.iter().enumerate().map(|(k, v)| weight(k) * v).sum::<f64>() + 0.5 * v[0] * v[0] * group.w()[0];
            out.b[0] += 0.5 * v[0] * v[0];
            let slope = |k: usize| weight(k) + if k == 0 { v[0] * group.w()[0] } else { 0.0 };
            for (entry, g) in out.g[at_g..at_g + factor.precision().len()].iter_mut().enumerate() {
                let k = if q.family().covariance == Covariance::Full { entry } else { entry * (d + 1) };
                *g = -2.0 / others * slope(k);
            }
            at_g += factor.precision().len();
        }
    }
    (value, out)
}

/// F_k⁻¹∇_{η_k}L by differences is ∇_{m_k}L, others fixed, by differences and as the library has it.
fn natural_gradient(q: &Approximation) {
    let (_, slopes) = smooth(q);
    for k in 0..q.n_natural_blocks() {
        let name = name(q, k);
        let (eta, m) = (q.natural_block(k), q.expectation_block(k));
        let slope = gradient(&eta, |eta| smooth(&q.with_natural_block(k, eta).unwrap()).0);
        let expected = solve(&columns(eta.len(), &q.fisher_block(k)), &slope);
        let found = q.natural_gradient_block(k, &slopes);
        close(&format!("{name}: F⁻¹∇"), &found, &expected, 1e-8);
        let by_m: Vec<f64> = (0..m.len())
            .map(|i| partial(&m, i, |m| vec![smooth(&q.with_expectation_block(k, m).unwrap()).0])[0])
            .collect();
        close(&format!("{name}: ∇_m"), &found, &by_m, 1e-6);
    }
}

#[test]
fn the_natural_gradient_of_a_block_is_its_gradient_in_expectations() {
    every_shape!(natural_gradient);
}

/// A plain step moves every block along its natural gradient, all at the old point.
fn plain_step(q: &Approximation) {
    let (_, slopes) = smooth(q);
    let beta = 0.01;
    let mut moved = q.clone();
    let request = StepRequest { rule: Rule::NaturalGradient, beta, mixing_beta: beta, max_kl: None };
    assert_eq!(moved.advance(&slopes, request, &mut Scratch::new(&moved)).smallest, beta);
    for k in 0..q.n_natural_blocks() {
        let expected: Vec<f64> = q
            .natural_block(k)
            .iter()
            .zip(q.natural_gradient_block(k, &slopes))
            .map(|(eta, step)| eta + beta * step)
            .collect();
        close(&name(q, k), &moved.natural_block(k), &expected, 1e-12);
    }
}

#[test]
fn a_plain_step_is_straight_in_each_block() {
    every_shape!(plain_step);
}

/// Both factors together are not minimal: along (P_1, −P_2) nothing changes, which the blocks alone cannot see.
#[test]
fn the_pair_of_factors_has_a_direction_that_changes_nothing() {
    let q = member(Covariance::Full, &[&[2, 3]], MatrixUpdate::Blockwise, 30);
    let z = numbers(6, 6);
    for c in [0.25, 3.0, 1e4] {
        let scaled = |k: usize, c: f64| q.natural_block(k).iter().map(|v| c * v).collect::<Vec<f64>>();
        let other = q.with_natural_block(1, &scaled(1, c)).unwrap().with_natural_block(2, &scaled(2, 1.0 / c)).unwrap();
        assert!((other.log_density(&z) - q.log_density(&z)).abs() < 1e-12 * q.log_density(&z).abs());
        let one = q.with_natural_block(1, &scaled(1, c)).unwrap();
        assert!((one.log_density(&z) - q.log_density(&z)).abs() > 0.1);
    }
}

/// The gradient in the coordinates of the chart is that of the function, scales of single factors included.
fn chart(q: &Approximation) {
    let mut coordinates = vec![0.0; q.chart_len()];
    q.chart(&mut coordinates);
    let mut found = vec![0.0; q.chart_len()];
    q.chart_gradient(&smooth(q).1, &mut Scratch::new(q), &mut found);
    let mut at = q.clone();
    let expected = gradient(&coordinates, |coordinates| {
        assert!(at.set_chart(coordinates, &mut Scratch::new(&at)));
        smooth(&at).0
    });
    close(&format!("{}: chart", layout(q)), &found, &expected, 1e-7);
    assert!(at.set_chart(&coordinates, &mut Scratch::new(&at)));
    close("there and back", &at.covariance(), &q.covariance(), 1e-12);
}

#[test]
fn the_chart_has_the_gradient_of_the_function() {
    every_shape!(chart);
}
