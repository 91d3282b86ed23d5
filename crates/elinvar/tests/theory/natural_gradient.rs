//! Checks 4, 5 and 10, and the pitfall of mathematics §0.4: what the natural gradient is, and what a step along it
//! does.

use crate::state::Stated;
use elinvar::Family;
use elinvar::family::Approximation;
use elinvar::internals::family::Stepping;
use elinvar::internals::family::{Scratch, StepRequest};
use elinvar::rule::Rule;
use elinvar::theory::Mcef;

use crate::bonnet_price::{elbo, elbo_slopes};
use crate::members::differences::{close, gradient, jacobian, solve};
use crate::members::{Member, Slopes};

/// A smooth function of the parameters that mixes all of them, with its gradient.
pub(crate) fn smooth(q: &Approximation) -> (f64, Slopes) {
    let (state, pi) = (q.state(), q.component_weights());
    let d = state.dim;
    let mut value = 0.0;
    let mut slopes = Slopes { location: Vec::new(), scale: Vec::new(), weights: Vec::new() };
    for (c, block) in state.blocks.iter().enumerate() {
        let (sigma, b) = (q.scale_matrix(c), &block.b);
        let coefficient = 0.5 + c as f64;
        let rate = |k: usize| 0.4 + 0.1 * k as f64 + 0.2 * c as f64;
        value += b.iter().enumerate().map(|(k, b)| (rate(k) * b).sin()).sum::<f64>();
        let mut location: Vec<f64> = b.iter().enumerate().map(|(k, b)| rate(k) * (rate(k) * b).cos()).collect();
        let weight = |k: usize| ((k % d + k / d) as f64 + 0.3 * c as f64).cos();
        value += sigma.iter().enumerate().map(|(k, s)| weight(k) * s).sum::<f64>();
        let mut scale: Vec<f64> = (0..d * d).map(weight).collect();
        value += 0.5 * sigma[0] * sigma[0] + b[0] * sigma[0] + coefficient * pi[c] * pi[c] * b[0];
        location[0] += sigma[0] + coefficient * pi[c] * pi[c];
        scale[0] += sigma[0] + b[0];
        slopes.location.push(location);
        slopes.scale.push(scale);
        slopes.weights.push(2.0 * coefficient * pi[c] * b[0]);
    }
    (value, slopes)
}

pub(crate) fn columns(n: usize, matrix: &[f64]) -> Vec<Vec<f64>> {
    matrix.chunks_exact(n).map(<[f64]>::to_vec).collect()
}

/// ∇_m L of a function with this slope in η, first by the joint expectations as they stand, then as it should be.
pub(crate) fn literal_and_exact(q: &Approximation, slope: &[f64]) -> Vec<[f64; 2]> {
    let eta = q.natural();
    // ∇_η L = Jᵀ ∇_m L with J = ∂(m_z, m_w)/∂(η_z, η_w); column k of Jᵀ is row k of J.
    let full = jacobian(&eta, |eta| q.with_natural(eta).unwrap().expectation());
    let rows: Vec<Vec<f64>> = (0..eta.len()).map(|i| full.iter().map(|column| column[i]).collect()).collect();
    let exact = solve(&columns(eta.len(), &q.fisher()), slope);
    solve(&rows, slope).into_iter().zip(exact).map(|(literal, exact)| [literal, exact]).collect()
}

/// Check 4: F⁻¹∇_η L, by differences, is ∇_m L by the chain rule.
fn expectation_gradient(q: &Approximation) {
    let eta = q.natural();
    let slope = gradient(&eta, |eta| smooth(&q.with_natural(eta).unwrap()).0);
    let expected = solve(&columns(eta.len(), &q.fisher()), &slope);
    let found = q.natural_gradient(&q.gradient_of(&smooth(q).1));
    close(&format!("{}: ∇_m L", q.name()), &found, &expected, 1e-8);
}

#[test]
fn the_natural_gradient_is_the_gradient_in_expectation_coordinates() {
    for dim in 1..=3 {
        every_member!(expectation_gradient(dim, 40 + dim as u64));
    }
}

/// Check 5: a straight step in η, mapped back, is the boxed step of the library.
fn update_equivalence(q: &Approximation) {
    let gradient = q.gradient_of(&smooth(q).1);
    // Small enough for every precision to stay above its margin: the step is taken as a whole.
    let beta = 0.02;
    let eta: Vec<f64> =
        q.natural().iter().zip(q.natural_gradient(&gradient)).map(|(eta, step)| eta + beta * step).collect();
    let expected = q.with_natural(&eta).unwrap().state();
    let mut moved = q.clone();
    let request = StepRequest { rule: Rule::NaturalGradient, beta, mixing_beta: beta, max_kl: None };
    let taken = moved.advance(&gradient, request, &mut Scratch::new(&moved)).smallest;
    assert_eq!(taken, beta, "{}", q.name());
    let found = moved.state();
    for (found, expected) in found.blocks.iter().zip(&expected.blocks) {
        close(&format!("{}: B", q.name()), &found.b, &expected.b, 1e-11);
        close(&format!("{}: P", q.name()), &found.precision, &expected.precision, 1e-12);
    }
    for (found, expected) in found.log_weights.iter().zip(&expected.log_weights) {
        assert!((found - expected).abs() < 1e-12, "{}: log π", q.name());
    }
    assert!(moved != *q);
}

#[test]
fn a_step_in_natural_coordinates_is_the_library_s_plain_step() {
    for dim in 1..=4 {
        every_member!(update_equivalence(dim, 50 + dim as u64));
    }
}

/// The product g₁ᵀF⁻¹g₂ by which a run judges what remains to be gained.
fn inner_product(q: &Approximation) {
    let one = q.gradient_of(&smooth(q).1);
    let two = q.gradient_of(&smooth(&q.with(|state| state.blocks[0].b[0] += 0.7)).1);
    let (x, y) = (q.natural_gradient(&one), q.natural_gradient(&two));
    let fisher = columns(x.len(), &q.fisher());
    let expected: f64 = x.iter().zip(&fisher).map(|(x, f)| x * f.iter().zip(&y).map(|(f, y)| f * y).sum::<f64>()).sum();
    let found = q.inner(&one, &two, &mut Scratch::new(q));
    assert!((found / expected - 1.0).abs() < 1e-10, "{}: {found} {expected}", q.name());
}

#[test]
fn the_inner_product_of_gradients_is_the_inverse_fisher_metric() {
    every_member!(inner_product(3, 65));
}

/// The pitfall: with m_z fixed the partial derivative in m_w is another direction, because m_z = π_c(·) involves η_w.
#[test]
fn the_literal_partial_derivative_in_joint_expectations_is_wrong_for_a_mixture() {
    let q = crate::members::member(Family::mog(3), 1, 60);
    let eta = q.natural();
    let n_z = eta.len() - q.n_mixing();
    let slope = gradient(&eta, |eta| smooth(&q.with_natural(eta).unwrap()).0);
    let (literal, exact): (Vec<f64>, Vec<f64>) = literal_and_exact(&q, &slope).into_iter().map(|[l, e]| (l, e)).unzip();
    let boxed = q.natural_gradient(&q.gradient_of(&smooth(&q).1));
    close("the boxed form", &boxed, &exact, 1e-8);
    close("the literal form, components", &literal[..n_z], &exact[..n_z], 1e-8);
    let error = literal[n_z..].iter().zip(&exact[n_z..]).map(|(l, e)| (l - e).abs()).fold(0.0, f64::max);
    assert!(error > 0.1, "the literal form is off by {error} only");
}

/// Check 10, with check 4 for the bound itself: L(η + β∇_m L) − L(η) = β ∇_m LᵀF∇_m L + O(β²) > 0 with exact
/// expectations.
fn monotone(q: &Approximation) {
    let eta = q.natural();
    let n = eta.len();
    let fisher = columns(n, &q.fisher());
    let direction = q.natural_gradient(&q.gradient_of(&elbo_slopes(q)));
    let slope = gradient(&eta, |eta| elbo(&q.with_natural(eta).unwrap()));
    close(&format!("{}: ∇_m of the bound", q.name()), &direction, &solve(&fisher, &slope), 1e-7);
    let length: f64 =
        (0..n).map(|i| direction[i] * fisher[i].iter().zip(&direction).map(|(f, d)| f * d).sum::<f64>()).sum();
    assert!(length > 0.0);
    let start = elbo(q);
    let rate = |beta: f64| {
        let at: Vec<f64> = eta.iter().zip(&direction).map(|(eta, step)| eta + beta * step).collect();
        (elbo(&q.with_natural(&at).unwrap()) - start) / beta
    };
    let (coarse, fine) = (rate(2e-3), rate(1e-3));
    assert!(coarse > 0.0 && fine > 0.0, "{}: the bound fell", q.name());
    // Halving β halves the distance to the limit.
    let ratio = (coarse - length) / (fine - length);
    assert!((fine / length - 1.0).abs() < 0.05 && (ratio - 2.0).abs() < 0.1, "{}: {coarse} {fine} {length}", q.name());
}

#[test]
fn a_small_step_with_exact_expectations_raises_the_bound() {
    every_member!(full monotone(1, 70));
}
