//! `adam_like.json`: three iterations of the Adam-like rule from listed draws, for every family and option.

use crate::state::{BlockState, State, Stated};
use elinvar::estimate::{Curvature, MixingWeights};
use elinvar::family::{Approximation, Family};
use elinvar::internals::family::Stepping;
use elinvar::internals::family::{DrawPlan, Scratch, Seen};
use elinvar::internals::rule::{AdamLikeMemory, AdamLikeRequest};
use elinvar::rule::AdamLike;
use elinvar::target::{Answer, Ask, Covariance, Rows, Target, Want};
use serde_json::Value;

use super::compare::{STEP, close};
use super::json::{given, list, number, numbers, read, vector};
use super::logistic::Items;
use super::member::{ListedDraw, Member, kind};

/// k = s̄ of mathematics §0, written down again.
fn prior_factor(name: &str, par: Option<f64>) -> f64 {
    match (name, par) {
        ("student_t", Some(a)) => a / (a - 1.0),
        ("snig", Some(lambda)) => 1.0 + 1.0 / lambda,
        _ => 1.0,
    }
}

/// z = μ + √(s(w)/P) ε + u(w) α for the listed ε and w.
fn listed_draw(q: &State, name: &str, step: &Value) -> ListedDraw {
    let (d, block) = (q.dim, &q.blocks[0]);
    let w = given(step, "w").and_then(numbers).unwrap_or_default();
    let (shift, scale) = match (name, w.first()) {
        ("skew", Some(w)) => (w.abs(), 1.0),
        ("emg", Some(w)) => (*w, 1.0),
        ("student_t", Some(w)) => (0.0, *w),
        ("snig", Some(w)) => (0.0, 1.0 / w),
        _ => (0.0, 1.0),
    };
    let at = |i: usize, eps: f64| {
        let alpha = block.b.get(d + i).copied().unwrap_or(0.0);
        block.b[i] + (scale / block.precision[i]).sqrt() * eps + shift * alpha
    };
    ListedDraw { z: vector(step, "eps").iter().enumerate().map(|(i, eps)| at(i, *eps)).collect(), w }
}

fn check(label: &str, start: &Approximation, case: &Value) {
    let (name, n) = (case["family"].as_str().unwrap(), number(case, "N"));
    let prior_precision = prior_factor(name, case["par"].as_f64()) * number(case, "prior_precision");
    let weights = if case["option"] == "I" { MixingWeights::Sampled } else { MixingWeights::Marginal };
    let plan = DrawPlan { curvature: Curvature::ItemGradients, weights, ..DrawPlan::independent(1) };
    let rule = AdamLike { gamma1: number(case, "gamma1"), gamma2: number(case, "gamma2"), ..AdamLike::default() };
    let beta = number(case, "beta");
    let request = AdamLikeRequest { rule, beta, mixing_beta: beta, max_kl: None, n_items: n };
    let items = Items::of(case);
    let (mut q, d) = (start.clone(), start.dim());
    let mut gradient = q.zero_gradient();
    let mut memory: AdamLikeMemory = q.adam_like_memory().expect("a diagonal family");
    for (t, step) in list(case, "steps").iter().enumerate() {
        let label = format!("{label}, step {}", t + 1);
        let (mut work, batch) = q.placed(&[listed_draw(&q.state(), name, step)], &plan);
        assert!(work.weigh(&q, &batch));
        // One item of N, scaled by N/M = N: its gradient at the draw and, for option II, at ẑ.
        let rows = [number(step, "i") as u32];
        let mut evaluations = Answer::new(d, batch.draws.len());
        let mut curvature = vec![0.0; d];
        for s in 0..batch.draws.len() {
            let mut answer = Answer::new(d, 0);
            answer.set_items(1);
            let (draws, rows, want) = (batch.draws.view(), Rows::Subset(&rows), Want::ItemGradients { draw: s });
            items.model.evaluate(&Ask { draws, rows, want }, &mut answer).unwrap();
            let item = answer.items();
            if s < batch.n {
                work.add_item_gradients(&q, s, item, &mut curvature);
            }
            evaluations.grad_mut(s).iter_mut().zip(item).for_each(|(out, g)| *out = n * g);
        }
        curvature.iter_mut().for_each(|v| *v *= n);
        let prior = items.gaussian_prior();
        assert!(work.gradient(
            &q,
            &Seen { evaluations: &evaluations, curvature: &curvature, prior: &prior, batch: &batch },
            0.0,
            &mut gradient
        ));
        let taken = q.adam_like_step(&gradient, &prior, request, &mut memory, &mut Scratch::new(&q)).smallest;
        assert_eq!(taken, request.beta, "{label}");

        let block = &q.state().blocks[0];
        let s: Vec<f64> = block.precision.iter().map(|p| (p - prior_precision) / n).collect();
        close(&format!("{label}: s"), &s, &vector(step, "s"), 0.0, STEP);
        close(&format!("{label}: μ"), &block.b[..d], &vector(step, "mu"), 0.0, STEP);
        close(&format!("{label}: m_μ"), &memory.m[..d], &vector(step, "m_mu"), 0.0, STEP);
        if given(step, "alpha").is_some() {
            close(&format!("{label}: α"), &block.b[d..], &vector(step, "alpha"), 0.0, STEP);
            close(&format!("{label}: m_α"), &memory.m[d..], &vector(step, "m_alpha"), 0.0, STEP);
        }
    }
    assert_eq!(memory.t, 3);
}

#[test]
fn every_trace_of_the_adam_like_rule() {
    let file = read("adam_like.json");
    let mut seen = Vec::new();
    for case in list(&file, "cases") {
        let name = case["family"].as_str().expect("a case names its family");
        let option = case["option"].as_str().expect("a case names its option");
        let init = &case["init"];
        let mut b = vector(init, "mu");
        let dim = b.len();
        b.extend(given(init, "alpha").and_then(numbers).unwrap_or_default());
        let k_delta = prior_factor(name, case["par"].as_f64()) * number(case, "prior_precision");
        let precision = vector(init, "s").iter().map(|s| number(case, "N") * s + k_delta).collect();
        let kind = kind(name, case["par"].as_f64(), b.len() / dim);
        let state = State {
            family: Family { kind, covariance: Covariance::Diagonal },
            dim,
            blocks: vec![BlockState { b, precision }],
            log_weights: vec![0.0],
        };
        let q = Approximation::from_state(&state).unwrap();
        check(&format!("{name}, option {option}"), &q, case);
        seen.push(format!("{name} {option}"));
    }
    let all =
        ["gaussian I", "skew I", "skew II", "emg I", "emg II", "student_t I", "student_t II", "snig I", "snig II"];
    assert_eq!(seen, all);
}
