//! `ngd_steps.json`: one step from listed draws, for every family, estimator and rule.

use elinvar::estimate::{Curvature, MixingWeights};
use elinvar::family::Approximation;
use elinvar::internals::estimate::{sampled_shape_information, shape_slope_by_traces};
use elinvar::internals::family::Stepping;
use elinvar::internals::family::{DrawPlan, Scratch, Seen, StepRequest};
use elinvar::internals::rule::{geodesic_step, student_t_christoffel};
use elinvar::internals::special::gamma::trigamma_minus_inv;
use elinvar::internals::special::implicit::inverse_gamma_derivative;
use elinvar::rule::Rule;
use elinvar::target::Prior;
use serde_json::Value;

use super::compare::{CLOSED_FORM, MARGIN, STEP, close};
use super::json::{flag, given, list, matrix, number, numbers, read, vector};
use super::logistic::{Items, PriorForm};
use super::member::{ListedDraw, Member, member};

/// The estimator that an option of the vectors names.
fn estimator(option: &str) -> (MixingWeights, Curvature) {
    match option {
        "I" => (MixingWeights::Sampled, Curvature::Hessian),
        "II" => (MixingWeights::Marginal, Curvature::Hessian),
        "III" => (MixingWeights::Conditional, Curvature::Hessian),
        // The Hessian-free form keeps the sampled w in ∇_B.
        "stein" => (MixingWeights::Sampled, Curvature::Stein { control_variate: false }),
        other => panic!("`{other}` is not an option"),
    }
}

/// Checks the plain step. The library halves β until the new precision is positive definite and keeps a share of the
/// old one; the listed step is its own wherever the first β does.
fn check_plain(label: &str, q: &Approximation, beta: f64, listed: &Value, new: &Approximation, taken: f64) {
    let (grad_b, g) = (matrix(listed, "grad_B"), matrix(listed, "G"));
    let p = q.precision();
    let admissible = |beta: f64| p.scaled(1.0 - MARGIN).plus(beta, &g).cholesky().is_some();
    if admissible(beta) {
        assert_eq!(taken, beta, "{label}: an admissible step was shortened");
        assert!(given(listed, "plain_precision").is_some(), "{label}: the listed step is not positive definite");
        close(&format!("{label}: P⁺"), &new.precision().entries, &matrix(listed, "plain_precision").entries, 0.0, STEP);
        close(&format!("{label}: B⁺"), &new.b().entries, &matrix(listed, "plain_B").entries, 0.0, STEP);
        return;
    }
    let halvings = (beta / taken).log2();
    assert!(halvings >= 1.0 && halvings.fract() == 0.0, "{label}: β {beta} became {taken}");
    assert!(admissible(taken) && !admissible(2.0 * taken), "{label}: halved too little or too much");
    let p_new = p.plus(taken, &g);
    let b_new = q.b().plus(taken, &p_new.solve(&grad_b.times(&q.omega_matrix().inverse())));
    assert!(new.precision().cholesky().is_some(), "{label}: the new precision is not positive definite");
    close(&format!("{label}: halved P⁺"), &new.precision().entries, &p_new.entries, 0.0, STEP);
    close(&format!("{label}: halved B⁺"), &new.b().entries, &b_new.entries, 0.0, STEP);
}

fn check_option(label: &str, q: &Approximation, case: &Value, option: &str, listed: &Value) {
    let draws: Vec<ListedDraw> = list(case, "samples")
        .iter()
        .map(|sample| ListedDraw {
            z: vector(sample, "z"),
            w: given(sample, "w").and_then(numbers).unwrap_or_default(),
        })
        .collect();
    let (weights, curvature) = estimator(option);
    let plan = DrawPlan { curvature, weights, ..DrawPlan::independent(draws.len()) };
    let items = Items::of(case);
    let (mut work, batch) = q.placed(&draws, &plan);
    for (i, (sample, draw)) in list(case, "samples").iter().zip(&draws).enumerate() {
        close(&format!("{label}: draw {i}"), batch.draws.get(i), &draw.z, 0.0, CLOSED_FORM);
        if batch.n_paired > 0 && given(sample, "zhat").is_some() {
            close(&format!("{label}: ẑ {i}"), batch.draws.get(batch.n + i), &vector(sample, "zhat"), 0.0, CLOSED_FORM);
        }
    }
    assert!(work.weigh(q, &batch));
    // Where log q is averaged over the draws, the vectors average the whole of h, prior included.
    let form = if q.entropy_gradient().is_none() { PriorForm::Evaluated } else { PriorForm::Declared };
    let (evaluations, curvature) = items.evaluate(q, &*work, &batch, form);
    let prior = match (form, given(case, "t_prior_a0").and_then(Value::as_f64)) {
        (PriorForm::Evaluated, _) => Prior::None,
        (_, Some(a)) => Prior::student_t(number(case, "prior_precision"), a, q.dim()),
        (_, None) => items.gaussian_prior(),
    };
    let mut gradient = q.zero_gradient();
    assert!(work.gradient(
        q,
        &Seen { evaluations: &evaluations, curvature: &curvature, prior: &prior, batch: &batch },
        0.0,
        &mut gradient
    ));
    let (grad_b, g) = (matrix(listed, "grad_B"), matrix(listed, "G"));
    close(&format!("{label}: ∇_B"), &gradient.blocks[0].b, &grad_b.entries, 1.0, CLOSED_FORM);
    close(&format!("{label}: G"), &q.g_matrix(&gradient.blocks[0]).entries, &g.entries, 1.0, CLOSED_FORM);

    let beta = number(case, "beta");
    for rule in [Rule::NaturalGradient, Rule::Retraction] {
        let mut new = q.clone();
        let taken = new
            .advance(&gradient, StepRequest { rule, beta, mixing_beta: beta, max_kl: None }, &mut Scratch::new(&new))
            .smallest;
        if rule == Rule::NaturalGradient {
            check_plain(&format!("{label}, plain"), q, beta, listed, &new, taken);
        } else {
            let label = format!("{label}, improved");
            assert_eq!(taken, beta, "{label}: this rule needs no halving");
            let p_new = matrix(listed, "improved_precision");
            close(&format!("{label}: P⁺"), &new.precision().entries, &p_new.entries, 0.0, STEP);
            close(&format!("{label}: B⁺"), &new.b().entries, &matrix(listed, "improved_B").entries, 0.0, STEP);
        }
    }
    check_shape(label, q, &items, case, listed, &draws);
}

/// tr(Σ∇²f) at a draw, f the negative log likelihood.
fn trace(q: &Approximation, items: &Items, z: &[f64]) -> f64 {
    let d = z.len();
    let Prior::Gaussian { precision, .. } = items.gaussian_prior() else { panic!("the items have a Gaussian prior") };
    let (_, _, hessian) = items.at(z);
    let sigma = q.precision().inverse().entries;
    let product: f64 = sigma.iter().zip(&hessian).map(|(s, h)| s * h).sum();
    let identity: f64 = (0..d).map(|i| sigma[i * d + i]).sum();
    -product - precision * identity
}

/// The step of the Student-t shape: ∂w/∂a, the slope in m_a with the exact and with the sampled denominator, the plain
/// and the second-order step (mathematics §2.3).
fn check_shape(label: &str, q: &Approximation, items: &Items, case: &Value, listed: &Value, draws: &[ListedDraw]) {
    let Some(a0) = given(case, "t_prior_a0").and_then(Value::as_f64) else { return };
    let (a, beta) = (number(case, "par"), number(case, "beta"));
    if given(listed, "dw_da").is_some() {
        for (draw, expected) in draws.iter().zip(vector(listed, "dw_da")) {
            // Near its sign change the derivative is a small difference of two terms of size w/a.
            let found = inverse_gamma_derivative(a, draw.w[0]);
            close(&format!("{label}: ∂w/∂a"), &[found], &[expected], 0.03 * draw.w[0] / a, 1e-11);
        }
    }
    let traces: Vec<(f64, f64)> = draws.iter().map(|draw| (draw.w[0], trace(q, items, &draw.z))).collect();
    let w: Vec<f64> = draws.iter().map(|draw| draw.w[0]).collect();
    let slope = shape_slope_by_traces(a, &traces);
    for (name, information) in [("a_exact", trigamma_minus_inv(a)), ("a_stochastic", sampled_shape_information(a, &w))]
    {
        let Some(step) = given(listed, name) else { continue };
        close(&format!("{label}: {name}, slope"), &[slope / information], &[number(step, "grad_ma_Ef")], 0.0, 1e-10);
        let direction = a0 - a - number(step, "grad_ma_Ef");
        close(&format!("{label}: {name}"), &[a + beta * direction], &[number(step, "a_plain")], 0.0, STEP);
        let improved = geodesic_step(a, direction, beta, student_t_christoffel(a));
        close(&format!("{label}: {name}, improved"), &[improved], &[number(step, "a_improved")], 0.0, STEP);
    }
}

#[test]
fn every_option_of_every_case() {
    let file = read("ngd_steps.json");
    for (i, case) in list(&file, "cases").iter().enumerate() {
        let name = case["family"].as_str().expect("a case names its family");
        let kind = if flag(case, "diagonal") { "diagonal" } else { "full" };
        let options = case["options"].as_object().expect("a case has options");
        assert!(!options.is_empty());
        for (option, listed) in options {
            let label = format!("{name} ({kind}) case {i}, option {option}");
            check_option(&label, &member(name, case), case, option, listed);
        }
    }
}
