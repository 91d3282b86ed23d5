//! `mog.json`: mixtures of Gaussians at points, and one step of scheme M from these points.

use elinvar::block::{Location, LogWeights, Scale};
use elinvar::estimate::{Curvature, Sampling};
use elinvar::family::Approximation;
use elinvar::internals::family::BlockGradient;
use elinvar::internals::family::Stepping;
use elinvar::internals::family::{Batch, DrawPlan, Estimator, GaussianMixtureEstimator, Scratch, Seen, StepRequest};
use elinvar::rule::Rule;
use elinvar::target::{Prior, Shape};
use serde_json::Value;

use super::compare::{CLOSED_FORM, MARGIN, STEP, close};
use super::dense::{Matrix, difference};
use super::json::{given, list, matrices, matrix, number, read, vector};
use super::logistic::{Items, PriorForm};

/// The mixture with these means and covariances.
pub(crate) fn mixture(log_weights: Vec<f64>, means: &Matrix, covariances: &[Matrix]) -> Approximation {
    let means = means.transposed();
    let components = covariances.iter().enumerate().map(|(c, sigma)| {
        let scale = Scale::from_precision(Shape::Full(sigma.rows), sigma.inverse().entries).expect("positive definite");
        Location::new(means.column(c).to_vec(), scale).expect("finite means")
    });
    Approximation::mixture(LogWeights::new(log_weights).expect("weights"), components.collect()).expect("a mixture")
}

/// A draw from component c, as noise: ε = L_cᵀ(z − μ_c).
pub(crate) fn standardised(q: &Approximation, c: usize, z: &[f64]) -> Vec<f64> {
    let block = &q.locations()[c];
    let l = Matrix::from_columns(z.len(), block.scale().precision()).cholesky().expect("positive definite");
    l.transposed().times_vector(&difference(z, block.column(0)))
}

pub(crate) fn plan(sampling: Sampling, curvature: Curvature) -> DrawPlan {
    DrawPlan { sampling, curvature, ..DrawPlan::independent(1) }
}

fn check_points(label: &str, q: &Approximation, items: &Items, points: &[Value]) {
    let d = q.dim();
    for (i, point) in points.iter().enumerate() {
        let z = vector(point, "z");
        let same = |what: &str, found: &[f64], expected: &[f64], floor: f64| {
            close(&format!("{label}, point {i}: {what}"), found, expected, floor, CLOSED_FORM);
        };
        let log_q = q.log_density(&z);
        let (mut score, mut hessian) = (vec![f64::NAN; d], vec![f64::NAN; d * d]);
        q.score(&z, &mut score);
        q.hessian(&z, &mut hessian);
        let responsibilities = q.responsibilities(&z);
        let delta: Vec<f64> = responsibilities.iter().enumerate().map(|(c, r)| r / q.weights().weight(c)).collect();
        let (log_p, grad, second) = items.at(&z);
        same("log q", &[log_q], &[number(point, "log_density")], 1.0);
        // A responsibility is the exponential of a logarithm of size up to some hundreds: entry by entry.
        for (c, (found, expected)) in responsibilities.iter().zip(vector(point, "responsibilities")).enumerate() {
            same(&format!("responsibility of {c}"), &[*found], &[expected], 1e-300);
        }
        same("δ", &delta, &vector(point, "delta"), 1.0);
        same("score", &score, &vector(point, "score"), 1.0);
        same("hessian", &hessian, &matrix(point, "hessian").entries, 1.0);
        same("h", &[log_q - log_p], &[number(point, "h")], 1.0);
        same("∇h", &difference(&score, &grad), &vector(point, "grad_h"), 1.0);
        same("∇²h", &difference(&hessian, &second), &matrix(point, "hess_h").entries, 1.0);
    }
}

/// Compares new precisions and means with the listed ones; a component that would lose more of its precision than the
/// library allows moves by a halved β instead, which the smallest β taken shows.
fn check_components(
    label: &str,
    q: &Approximation,
    gradients: &[BlockGradient],
    (new, taken): (&Approximation, f64),
    rule: Rule,
    case: &Value,
    names: [&str; 2],
) {
    let (d, beta, listed) = (q.dim(), number(case, "beta"), &case["step"]);
    let mut whole = true;
    for (c, (block, gradient)) in new.locations().iter().zip(gradients).enumerate() {
        let p = Matrix::from_columns(d, q.locations()[c].scale().precision());
        let p_new = Matrix::from_columns(d, block.scale().precision());
        let kept = p.scaled(1.0 - MARGIN).plus(beta, &Matrix::from_columns(d, &gradient.g));
        if rule == Rule::NaturalGradient && kept.cholesky().is_none() {
            whole = false;
            assert!(p_new.plus(-MARGIN, &p).cholesky().is_some(), "{label}: component {c} lost too much precision");
            continue;
        }
        let expected = matrices(listed, names[0]).swap_remove(c);
        close(&format!("{label}: P⁺ of {c}"), &p_new.entries, &expected.entries, 0.0, STEP);
        if given(listed, names[1]).is_some() {
            let expected = matrix(listed, names[1]).transposed();
            close(&format!("{label}: μ⁺ of {c}"), block.column(0), expected.column(c), 0.0, STEP);
        }
    }
    assert!(if whole { taken == beta } else { taken < beta }, "{label}: took {taken} of {beta}");
}

/// The points as a batch of scheme M; any component may stand for the one a point comes from.
fn placed(q: &Approximation, curvature: Curvature, points: &[Value]) -> (GaussianMixtureEstimator, Batch) {
    let mut work = GaussianMixtureEstimator::new(q, &plan(Sampling::Mixture, curvature));
    let mut batch = Batch::new(q.dim(), points.len(), 0, 0);
    let (mut labels, mut eps) = (Vec::new(), Vec::new());
    for point in points {
        let z = vector(point, "z");
        let responsibilities = q.responsibilities(&z);
        // The nearest one, for the sake of rounding.
        let c = (0..responsibilities.len())
            .max_by(|a, b| responsibilities[*a].total_cmp(&responsibilities[*b]))
            .expect("a mixture has a component");
        labels.push(c as u32);
        eps.extend(standardised(q, c, &z));
    }
    work.set_noise(&labels, &eps);
    work.place(q, &mut batch);
    assert!(work.weigh(q, &batch));
    (work, batch)
}

fn check_step(label: &str, q: &Approximation, items: &Items, case: &Value) {
    let (points, listed, beta) = (list(case, "points"), &case["step"], number(case, "beta"));
    let d = q.dim();
    let request = |rule| StepRequest { rule, beta, mixing_beta: beta, max_kl: None };

    let (mut work, batch) = placed(q, Curvature::Hessian, points);
    let (evaluations, curvature) = items.evaluate(q, &work, &batch, PriorForm::Evaluated);
    let mut gradient = q.zero_gradient();
    assert!(work.gradient(
        q,
        &Seen { evaluations: &evaluations, curvature: &curvature, prior: &Prior::None, batch: &batch },
        0.0,
        &mut gradient
    ));
    let expected_h = vector(listed, "delta_weighted_h");
    close(&format!("{label}: E_c[h]"), &gradient.expected_h, &expected_h, 0.0, STEP);
    for (rule, precision, mean) in [
        (Rule::NaturalGradient, "plain_precision", "plain_mean"),
        (Rule::Retraction, "improved_precision", "improved_mean"),
    ] {
        let mut new = q.clone();
        let taken = new.advance(&gradient, request(rule), &mut Scratch::new(&new)).smallest;
        check_components(
            &format!("{label}, {rule}"),
            q,
            &gradient.blocks,
            (&new, taken),
            rule,
            case,
            [precision, mean],
        );
        close(&format!("{label}: log π⁺"), new.weights().log(), &vector(listed, "log_weights"), 0.0, STEP);
    }

    // The vectors apply the Hessian-free form to all of h; the library applies it to log p and takes the Hessian of log
    // q as it is. With log p − log q for log p, the library's estimate less that Hessian is the form of the vectors.
    let (mut work, batch) = placed(q, Curvature::Stein { control_variate: false }, points);
    let (mut evaluations, _) = items.evaluate(q, &work, &batch, PriorForm::Evaluated);
    let weights: Vec<Vec<f64>> = {
        let contraction = work.contraction();
        (0..contraction.len()).map(|c| contraction.weights(c).to_vec()).collect()
    };
    let (mut score, mut hessian) = (vec![0.0; d], vec![0.0; d * d]);
    let mut log_q_part = vec![vec![0.0; d * d]; weights.len()];
    for s in 0..batch.n {
        q.score(batch.draws.get(s), &mut score);
        q.hessian(batch.draws.get(s), &mut hessian);
        evaluations.grad_mut(s).iter_mut().zip(&score).for_each(|(g, v)| *g -= v);
        for (part, weights) in log_q_part.iter_mut().zip(&weights) {
            part.iter_mut().zip(&hessian).for_each(|(p, h)| *p += weights[s] * h);
        }
    }
    let mut free = q.zero_gradient();
    assert!(work.gradient(
        q,
        &Seen { evaluations: &evaluations, curvature: &[], prior: &Prior::None, batch: &batch },
        0.0,
        &mut free
    ));
    for (c, part) in log_q_part.iter().enumerate() {
        free.blocks[c].g = difference(&free.blocks[c].g, part);
        free.blocks[c].b.clone_from(&gradient.blocks[c].b);
    }
    free.expected_h.clone_from(&gradient.expected_h);
    for (rule, precision, mean) in [
        (Rule::NaturalGradient, "stein_precision", "stein_mean"),
        (Rule::Retraction, "stein_improved_precision", "stein_improved_mean"),
    ] {
        let mut new = q.clone();
        let taken = new.advance(&free, request(rule), &mut Scratch::new(&new)).smallest;
        let label = format!("{label}, {rule}, Hessian-free");
        check_components(&label, q, &free.blocks, (&new, taken), rule, case, [precision, mean]);
    }
}

#[test]
fn points_and_steps() {
    let file = read("mog.json");
    for (i, case) in list(&file, "cases").iter().enumerate() {
        let q = mixture(vector(case, "log_weights"), &matrix(case, "means"), &matrices(case, "covariances"));
        let items = Items::of(case);
        let label = format!("mog case {i}");
        check_points(&label, &q, &items, list(case, "points"));
        check_step(&label, &q, &items, case);
    }
}
