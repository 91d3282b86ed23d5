//! The coordinates of the black-box baseline and the last displacement of natural momentum, for every family.

use crate::state::Stated;
use elinvar::family::Approximation;
use elinvar::internals::family::Stepping;
use elinvar::internals::family::{Scratch, StepRequest};
use elinvar::rule::Rule;
use elinvar::theory::Mcef;

use crate::bonnet_price::{elbo, elbo_slopes};
use crate::members::Member;
use crate::members::differences::{close, gradient, within};
use crate::natural_gradient::smooth;

/// The member at these coordinates.
fn at(q: &Approximation, coordinates: &[f64]) -> Approximation {
    let mut moved = q.clone();
    assert!(moved.set_chart(coordinates, &mut Scratch::new(&moved)), "{}", q.name());
    moved
}

fn coordinates(q: &Approximation) -> Vec<f64> {
    let mut out = vec![f64::NAN; q.chart_len()];
    q.chart(&mut out);
    out
}

/// Slopes in (B, Σ, π) become the slopes in the coordinates of the chart.
fn chain_rule(q: &Approximation) {
    let x = coordinates(q);
    let expected = gradient(&x, |x| smooth(&at(q, x)).0);
    let mut found = vec![f64::NAN; x.len()];
    q.chart_gradient(&q.gradient_of(&smooth(q).1), &mut Scratch::new(q), &mut found);
    close(&format!("{}: chart", q.name()), &found, &expected, 1e-9);
    // There and back: the state is the same up to rounding.
    let (one, two) = (q.state(), at(q, &x).state());
    for (a, b) in one.blocks.iter().zip(&two.blocks) {
        assert_eq!(a.b, b.b, "{}", q.name());
        close(&format!("{}: P", q.name()), &b.precision, &a.precision, 1e-13);
    }
    within(&format!("{}: log π", q.name()), &two.log_weights, &one.log_weights, 1e-15);
}

#[test]
fn chart_gradients_are_derivatives_in_the_chart() {
    for dim in 1..=4 {
        every_member!(chain_rule(dim, 700 + dim as u64));
    }
}

/// The same for the bound itself, by quadrature in one dimension.
fn of_the_bound(q: &Approximation) {
    let x = coordinates(q);
    let expected = gradient(&x, |x| elbo(&at(q, x)));
    let mut found = vec![f64::NAN; x.len()];
    q.chart_gradient(&q.gradient_of(&elbo_slopes(q)), &mut Scratch::new(q), &mut found);
    within(&format!("{}: chart of the bound", q.name()), &found, &expected, 1e-8);
}

#[test]
fn the_chart_gradient_of_the_bound_is_its_derivative() {
    every_member!(full of_the_bound(1, 710));
}

/// Coordinates that cannot be represented leave everything where it was.
fn refusal(q: &Approximation) {
    let x = coordinates(q);
    for bad in [f64::NAN, f64::INFINITY, 1e200, -1e200] {
        for k in 0..x.len() {
            let mut wrong = x.clone();
            wrong[k] = bad;
            let mut moved = q.clone();
            assert!(!moved.set_chart(&wrong, &mut Scratch::new(&moved)), "{}: {bad} at {k}", q.name());
            assert!(moved == *q, "{}: {bad} at {k} moved it", q.name());
        }
    }
}

#[test]
fn what_cannot_be_represented_is_refused_as_a_whole() {
    every_member!(refusal(3, 720));
}

/// η⁺ − η = β{∇_m L + ratio (η − η₋)}, the whole step and one that the KL bound has shortened (mathematics §7.1).
fn heavy_ball(q: &Approximation) {
    let eta = q.natural();
    let slopes = q.gradient_of(&smooth(q).1);
    let natural = q.natural_gradient(&slopes);
    let before_eta: Vec<f64> = eta.iter().zip(&natural).map(|(eta, step)| eta - 0.01 * step + 0.003 * eta).collect();
    let before = q.with_natural(&before_eta).unwrap();
    let (beta, gamma) = (0.01, 0.7);
    let mut direction = slopes.clone();
    q.add_momentum(&before, gamma / beta, &mut Scratch::new(q), &mut direction);
    for max_kl in [None, Some(1e-5)] {
        let request = StepRequest { rule: Rule::NaturalMomentum { gamma }, beta, mixing_beta: beta, max_kl };
        let mut moved = q.clone();
        let taken = moved.advance(&direction, request, &mut Scratch::new(&moved));
        assert!(if max_kl.is_none() { taken.smallest == beta } else { taken.largest < beta }, "{}", q.name());
        if max_kl.is_some() && q.n_components() > 1 {
            // Each component is shortened by itself.
            continue;
        }
        let expected = (0..eta.len())
            .map(|k| eta[k] + taken.smallest * natural[k] + gamma * taken.smallest / beta * (eta[k] - before_eta[k]));
        close(&format!("{}: η⁺", q.name()), &moved.natural(), &expected.collect::<Vec<_>>(), 1e-11);
    }
}

#[test]
fn momentum_is_the_last_displacement_in_natural_parameters() {
    for dim in 1..=3 {
        every_member!(heavy_ball(dim, 730 + dim as u64));
    }
}
