//! Check 7: derivatives of exact expectations in d = 1 against the extended Bonnet and Price identities, mathematics §0
//! (0.1).

use crate::state::Stated;
use elinvar::Family;
use elinvar::family::Approximation;
use elinvar::internals::special::logistic::{log1p_exp, logistic_variance, sigmoid};

use crate::members::differences::{close, gradient};
use crate::members::{Fineness, Member, Node, Slopes};

/// log p of a smooth log-concave target with linear tails, its first and its second derivative.
pub(crate) fn log_p(z: f64) -> [f64; 3] {
    let (x, y) = (1.3 * z - 0.4, -0.8 * z - 0.2);
    [
        -log1p_exp(x) - 1.5 * log1p_exp(y),
        -1.3 * sigmoid(x) + 1.2 * sigmoid(y),
        -1.69 * logistic_variance(x) - 0.96 * logistic_variance(y),
    ]
}

/// ELBO = Σ_c π_c E_c[log p − log q] by quadrature.
pub(crate) fn elbo(q: &Approximation) -> f64 {
    let value = |node: &Node| node.weight * (log_p(node.z[0])[0] - q.log_density(&node.z));
    let components = q.component_weights();
    components.iter().enumerate().map(|(c, pi)| pi * q.nodes(c, Fineness::EXACT).iter().map(value).sum::<f64>()).sum()
}

/// ∇_B L = −E[∇h ũᵀ], ∇_Σ L = −½E[s∇²h] and ∂L/∂π_c = −E_c[h] with h = log q − log p, by quadrature.
pub(crate) fn elbo_slopes(q: &Approximation) -> Slopes {
    let mut slopes = Slopes { location: Vec::new(), scale: Vec::new(), weights: Vec::new() };
    for (c, pi) in q.component_weights().iter().enumerate() {
        let (mut location, mut scale, mut weight) = (vec![0.0; q.family().n_columns()], 0.0, 0.0);
        let (mut score, mut hessian) = ([0.0], [0.0]);
        for node in q.nodes(c, Fineness::EXACT) {
            q.score(&node.z, &mut score);
            q.hessian(&node.z, &mut hessian);
            let [value, first, second] = log_p(node.z[0]);
            location.iter_mut().zip(&node.u).for_each(|(l, u)| *l += pi * node.weight * (first - score[0]) * u);
            scale += 0.5 * pi * node.weight * node.s * (second - hessian[0]);
            weight += node.weight * (value - q.log_density(&node.z));
        }
        slopes.location.push(location);
        slopes.scale.push(vec![scale]);
        slopes.weights.push(weight);
    }
    slopes
}

/// Σ_c π_c E_c[g] by quadrature.
fn expectation(q: &Approximation, g: impl Fn(&Node) -> f64) -> f64 {
    let components = q.component_weights();
    let mean = |c: usize| q.nodes(c, Fineness::EXACT).iter().map(|node| node.weight * g(node)).sum::<f64>();
    components.iter().enumerate().map(|(c, pi)| pi * mean(c)).sum()
}

/// The member with other B and Σ of component `c`.
fn at(q: &Approximation, c: usize, parameters: &[f64]) -> Approximation {
    let (sigma, b) = parameters.split_last().unwrap();
    q.with(|state| {
        state.blocks[c].b.copy_from_slice(b);
        state.blocks[c].precision[0] = 1.0 / sigma;
    })
}

/// (∇_B, ∇_Σ) E[f] by the stencil against E[f′ũ] and ½E[s f″], with the sampled w, given z, in two points, and without
/// f″.
fn identities(q: &Approximation) {
    for (c, pi) in q.component_weights().iter().enumerate() {
        let block = q.state().blocks[c].clone();
        let parameters = [&block.b[..], &[1.0 / block.precision[0]]].concat();
        let exact = gradient(&parameters, |p| expectation(&at(q, c, p), |node| log_p(node.z[0])[0]));
        let nodes = q.nodes(c, Fineness::EXACT);
        let mean = |g: &dyn Fn(&Node) -> f64| pi * nodes.iter().map(|node| node.weight * g(node)).sum::<f64>();
        let r = block.b.len();
        let check = |what: &str, location: &dyn Fn(&Node, usize) -> f64, scale: &dyn Fn(&Node) -> f64| {
            let mut found: Vec<f64> = (0..r).map(|j| mean(&|node| location(node, j))).collect();
            found.push(0.5 * mean(scale));
            close(&format!("{}: {what}", q.name()), &found, &exact, 1e-9);
        };
        let (first, second) = (|z: f64| log_p(z)[1], |z: f64| log_p(z)[2]);
        check("with w", &|n, j| first(n.z[0]) * n.u[j], &|n| n.s * second(n.z[0]));
        let shifted = |n: &Node| n.hat[0] - block.b[0];
        check("Stein", &|n, j| first(n.z[0]) * n.u[j], &|n| block.precision[0] * shifted(n) * first(n.z[0]));
        if q.conditional(&[0.0]).is_some() {
            let given = |n: &Node| q.conditional(&n.z).unwrap();
            check("given z", &|n, j| first(n.z[0]) * given(n).0[j], &|n| given(n).1 * second(n.z[0]));
        }
        if q.two_point(&[0.0]).is_some() {
            let two = |n: &Node, j: usize| match (j, q.two_point(&n.z).unwrap()) {
                (0, _) => first(n.z[0]),
                (_, (u, v0)) => u * first(n.z[0]) + v0 * first(n.hat[0]),
            };
            check("in two points", &two, &|n| second(n.z[0]));
        }
    }
}

#[test]
fn bonnet_and_price_hold_for_every_family_and_form() {
    every_member!(full identities(1, 80));
    every_member!(full identities(1, 81));
}

/// Which families have which forms, so that a form that disappears is noticed.
#[test]
fn every_form_has_been_checked() {
    let mut forms = Vec::new();
    fn note(q: &Approximation, forms: &mut Vec<(String, bool, bool)>) {
        forms.push((q.family().to_string(), q.conditional(&[0.3]).is_some(), q.two_point(&[0.3]).is_some()));
    }
    every_member!(full note(1, 80, &mut forms));
    let with = |pick: fn(&(String, bool, bool)) -> bool| -> Vec<String> {
        forms.iter().filter(|form| pick(form)).map(|form| form.0.clone()).collect()
    };
    assert_eq!(with(|form| !form.1), ["mog"]);
    assert_eq!(with(|form| form.2), ["skew", "emg"]);
}

/// The form of a mixture that knows z only: E_c[f] = E_q[δ_c f] with δ_c = q(c|z)/π_c.
#[test]
fn responsibilities_turn_draws_of_the_mixture_into_draws_of_a_component() {
    let q = crate::members::member(Family::mog(3), 1, 82);
    for c in 0..3 {
        let own: f64 = q.nodes(c, Fineness::EXACT).iter().map(|node| node.weight * log_p(node.z[0])[1]).sum();
        let shared = expectation(&q, |n| q.responsibilities(&n.z)[c] / q.weights().weight(c) * log_p(n.z[0])[1]);
        assert!((own - shared).abs() < 1e-11, "{own} {shared}");
    }
}
