//! `mixture_ef.json`: mixtures of gammas at points, and one step of scheme M from these points.

use elinvar::block::LogWeights;
use elinvar::component::{Component, ComponentKind};
use elinvar::estimate::Sampling;
use elinvar::family::Approximation;
use elinvar::internals::family::Stepping;
use elinvar::internals::family::{Batch, DrawPlan, EfMixtureEstimator, Estimator, Scratch, Seen, StepRequest};
use elinvar::rule::Rule;
use elinvar::target::{Answer, Prior};
use elinvar::theory::Mcef;
use serde_json::Value;

use super::compare::{CLOSED_FORM, STEP, close};
use super::json::{list, number, read, vector};

fn mixture(case: &Value) -> Approximation {
    let standard = ComponentKind::new("gamma", None).unwrap().standard();
    let members = list(case, "components").iter().map(|component| {
        let parameters = [number(component, "a"), number(component, "b"), 0.0];
        standard.with_parameters(parameters).expect("in the domain")
    });
    let log_weights = vector(case, "weights").iter().map(|w| w.ln()).collect();
    Approximation::ef_mixture(LogWeights::new(log_weights).unwrap(), members.collect::<Vec<Component>>()).unwrap()
}

/// log p = −z + 1.5 log z, and its derivative.
fn target(z: f64) -> (f64, f64) {
    (-z + 1.5 * z.ln(), -1.0 + 1.5 / z)
}

fn check_points(label: &str, q: &Approximation, points: &[Value]) {
    for (i, point) in points.iter().enumerate() {
        let same = |what: &str, found: &[f64], expected: &[f64]| {
            close(&format!("{label}, point {i}: {what}"), found, expected, 1.0, CLOSED_FORM);
        };
        let z = number(point, "z");
        let (log_p, slope) = target(z);
        let mut score = [0.0];
        q.score(&[z], &mut score);
        same("log q", &[q.log_density(&[z])], &[number(point, "log_q")]);
        same("responsibilities", &q.responsibilities(&[z]), &vector(point, "responsibilities"));
        same("h", &[q.log_density(&[z]) - log_p], &[number(point, "h")]);
        same("h′", &[score[0] - slope], &[number(point, "dh")]);
    }
}

/// The points as a batch of scheme M, in which every draw moves every component by its weight δ_c.
fn check_step(label: &str, q: &Approximation, case: &Value) {
    let (points, beta) = (list(case, "points"), number(case, "beta"));
    // Independent draws from the mixture are scheme M.
    let plan = DrawPlan::independent(1);
    assert_eq!(plan.sampling, Sampling::Mixture);
    let mut work = EfMixtureEstimator::new(q, &plan);
    let mut batch = Batch::new(1, points.len(), 0, 0);
    let mut evaluations = Answer::new(1, points.len());
    work.set_labels(&vec![0; points.len()]);
    for (s, point) in points.iter().enumerate() {
        let z = number(point, "z");
        batch.draws.get_mut(s)[0] = z;
        let (log_p, slope) = target(z);
        evaluations.log_p_mut()[s] = log_p;
        evaluations.grad_mut(s)[0] = slope;
    }
    work.place(q, &mut batch);
    assert!(work.weigh(q, &batch));
    let mut gradient = q.zero_gradient();
    assert!(work.gradient(
        q,
        &Seen { evaluations: &evaluations, curvature: &[], prior: &Prior::None, batch: &batch },
        0.0,
        &mut gradient
    ));
    let natural = q.natural_gradient(&gradient);
    let mut new = q.clone();
    let request = StepRequest { rule: Rule::NaturalGradient, beta, mixing_beta: beta, max_kl: None };
    let taken = new.advance(&gradient, request, &mut Scratch::new(&new));
    let listed = list(case, "step");
    let in_domain = |step: &Value| vector(step, "new_natural")[0] > 0.0 && vector(step, "new_natural")[1] < 0.0;
    for (c, step) in listed.iter().enumerate() {
        let expected = [number(step, "grad_a"), -number(step, "grad_b")];
        close(&format!("{label}: ∇ of {c}"), &gradient.blocks[c].b, &expected, 0.0, STEP);
        let direction = vector(step, "nat_grad");
        close(&format!("{label}: natural gradient of {c}"), &natural[2 * c..2 * c + 2], &direction, 0.0, STEP);
        // A step that would leave the domain is halved instead.
        if in_domain(step) && taken.smallest == beta {
            let found = new.naturals()[c].coordinates()[0].natural();
            close(&format!("{label}: η⁺ of {c}"), &found[..2], &vector(step, "new_natural"), 0.0, STEP);
        }
    }
    assert_eq!(taken.smallest == beta, listed.iter().all(in_domain), "{label}: took {taken:?} of {beta}");
}

#[test]
fn points_and_steps() {
    let file = read("mixture_ef.json");
    for (i, case) in list(&file, "cases").iter().enumerate() {
        let q = mixture(case);
        let label = format!("mixture_ef case {i}");
        let expected: Vec<f64> = list(case, "expectation")
            .iter()
            .flat_map(|m| m.as_array().expect("a list").iter().map(|v| v.as_f64().expect("a number")))
            .collect();
        let found: Vec<f64> = (0..q.n_components())
            .flat_map(|c| q.naturals()[c].coordinates()[0].expectation().into_iter().take(2))
            .collect();
        close(&format!("{label}: m"), &found, &expected, 1.0, CLOSED_FORM);
        check_points(&label, &q, list(case, "points"));
        check_step(&label, &q, case);
    }
}
