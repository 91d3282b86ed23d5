//! `beyond.json`: trust regions, steps that stay positive, and deterministic-mixture weights.

use elinvar::block::LogWeights;
use elinvar::estimate::{Curvature, Sampling};
use elinvar::family::Approximation;
use elinvar::internals::MovingWeights;
use elinvar::internals::family::Stepping;
use elinvar::internals::family::{Batch, Estimator, GaussianMixtureEstimator, Scratch, StepRequest};
use elinvar::internals::rule::{geodesic_step, largest_step, log_step, student_t_christoffel};
use elinvar::rule::Rule;
use elinvar::target::Covariance;
use serde_json::Value;

use super::compare::{CLOSED_FORM, MARGIN, STEP, close};
use super::dense::{Matrix, difference, dot};
use super::json::{list, matrices, matrix, number, read, vector};
use super::mog::{mixture, plan, standardised};

/// Accuracy of the library's search in the divergence; a shortened step lies within it below the bound.
const SEARCH: f64 = 0.05;

fn gaussian(mean: &[f64], precision: &Matrix) -> Approximation {
    Approximation::gaussian(mean.to_vec(), Covariance::Full, precision.entries.clone()).expect("a Gaussian")
}

/// One step of a Gaussian with the given ∇_μ L and G; the new mean and precision, and the β taken.
fn stepped(mean: &[f64], p: &Matrix, grad: &[f64], g: &Matrix, request: StepRequest) -> (Vec<f64>, Matrix, f64) {
    let mut q = gaussian(mean, p);
    let mut gradient = q.zero_gradient();
    gradient.blocks[0].b.copy_from_slice(grad);
    gradient.blocks[0].g.copy_from_slice(&g.entries);
    let taken = q.advance(&gradient, request, &mut Scratch::new(&q)).smallest;
    (q.locations()[0].column(0).to_vec(), Matrix::from_columns(p.rows, q.locations()[0].scale().precision()), taken)
}

/// KL(N(mean_new, P_new⁻¹) ‖ N(mean, P⁻¹)), mathematics §1.1.
fn divergence(mean_new: &[f64], p_new: &Matrix, mean: &[f64], p: &Matrix) -> f64 {
    let ratio = p_new.solve(p);
    let shift = difference(mean_new, mean);
    0.5 * (ratio.trace() - p.rows as f64 + dot(&shift, &p.times_vector(&shift)) + p_new.log_det() - p.log_det())
}

/// The boundary of a divergence bound is found to this accuracy in β: KL is quadratic in β, both of size one here.
const BOUNDARY: f64 = 1e-9;

fn check_trust_region(case: &Value) {
    let (p, mean) = (matrix(case, "P"), vector(case, "mean"));
    let g = matrix(case, "expected_hessian").plus(-1.0, &p);
    let grad: Vec<f64> = vector(case, "expected_gradient").iter().map(|v| -v).collect();
    let (epsilon, beta_max, listed) = (number(case, "epsilon"), number(case, "beta_max"), number(case, "beta"));
    let at = |beta: f64| {
        let p_new = p.plus(beta, &g);
        p_new.cholesky()?;
        let shift = p_new.solve(&Matrix::from_columns(p.rows, &grad)).scaled(beta);
        let mean_new: Vec<f64> = mean.iter().zip(&shift.entries).map(|(m, s)| m + s).collect();
        Some((mean_new, p_new))
    };
    let kl = |beta: f64| at(beta).map(|(mean_new, p_new)| divergence(&mean_new, &p_new, &mean, &p));

    let beta = largest_step(beta_max, epsilon, 1e-12, kl);
    close("β of the bound", &[beta], &[listed], 0.0, BOUNDARY);
    assert!(kl(beta).expect("admissible") <= epsilon);
    close("KL", &[kl(listed).expect("admissible")], &[number(case, "kl")], 0.0, STEP);

    // At the listed β the library's plain step is the listed one.
    let request = |beta, max_kl| StepRequest { rule: Rule::NaturalGradient, beta, mixing_beta: beta, max_kl };
    let (mean_new, p_new, taken) = stepped(&mean, &p, &grad, &g, request(listed, None));
    assert_eq!(taken, listed);
    close("mean", &mean_new, &vector(case, "mean_new"), 0.0, STEP);
    close("P", &p_new.entries, &matrix(case, "P_new").entries, 0.0, STEP);

    // With the bound it stops short of it by no more than its tolerance.
    let (mean_new, p_new, taken) = stepped(&mean, &p, &grad, &g, request(beta_max, Some(epsilon)));
    let reached = divergence(&mean_new, &p_new, &mean, &p);
    assert!(taken <= listed * (1.0 + BOUNDARY) && reached <= epsilon * (1.0 + BOUNDARY), "{taken} is beyond {listed}");
    // The search starts from the first of β_max, β_max/2, … that keeps the library's share of the old precision.
    let start = std::iter::successors(Some(beta_max), |beta| Some(0.5 * beta))
        .find(|beta| p.scaled(1.0 - MARGIN).plus(*beta, &g).cholesky().is_some())
        .expect("small steps are admissible");
    if start > listed {
        assert!(reached >= (1.0 - SEARCH) * epsilon * (1.0 - BOUNDARY), "KL {reached} is far below {epsilon}");
    } else {
        assert_eq!(taken, start);
    }
    let (expected_mean, expected_p) = at(taken).expect("admissible");
    close("mean of the shortened step", &mean_new, &expected_mean, 0.0, STEP);
    close("P of the shortened step", &p_new.entries, &expected_p.entries, 0.0, STEP);
}

#[test]
fn trust_region() {
    list(&read("beyond.json"), "trust_region").iter().for_each(check_trust_region);
}

#[test]
fn steps_that_stay_positive_definite() {
    for case in list(&read("beyond.json"), "pd_step") {
        let (p, g, beta) = (matrix(case, "P"), matrix(case, "G"), number(case, "beta"));
        let mean = vec![0.0; p.rows];
        let request = StepRequest { rule: Rule::Retraction, beta, mixing_beta: beta, max_kl: None };
        let (_, p_new, taken) = stepped(&mean, &p, &mean, &g, request);
        assert_eq!(taken, beta);
        close("P", &p_new.entries, &matrix(case, "P_new").entries, 0.0, CLOSED_FORM);
    }
}

#[test]
fn positive_scalars() {
    for case in list(&read("beyond.json"), "positive_scalar") {
        let (a, g, beta) = (number(case, "a"), number(case, "natural_gradient"), number(case, "beta"));
        let christoffel = student_t_christoffel(a);
        close("Γ", &[christoffel], &[number(case, "christoffel")], 0.0, CLOSED_FORM);
        let second = geodesic_step(a, g, beta, christoffel);
        close("second-order step", &[second], &[number(case, "a_second_order")], 0.0, CLOSED_FORM);
        if a > 1.0 {
            let above = log_step(a, 1.0, g, beta);
            close("log form above one", &[above], &[number(case, "a_log_form_above_one")], 0.0, CLOSED_FORM);
        }
    }
}

#[test]
fn deterministic_mixture_weights() {
    for case in list(&read("beyond.json"), "deterministic_mixture") {
        let covariances = matrices(case, "covariances");
        let counts = vector(case, "counts");
        let z = matrix(case, "z").transposed();
        // Deterministic-mixture weights do not depend on π.
        let log_weights: Vec<f64> = (0..covariances.len()).map(|c| -(c as f64)).collect();
        let q = mixture(log_weights, &matrix(case, "means"), &covariances);
        let labels: Vec<u32> =
            counts.iter().enumerate().flat_map(|(c, n)| std::iter::repeat_n(c as u32, *n as usize)).collect();
        assert_eq!(labels.len(), z.cols, "as many points as the counts say");
        let eps = labels.iter().enumerate().flat_map(|(s, c)| standardised(&q, *c as usize, z.column(s)));
        let mut work = GaussianMixtureEstimator::new(&q, &plan(Sampling::Stratified, Curvature::Hessian));
        let mut batch = Batch::new(q.dim(), labels.len(), 0, 0);
        work.set_noise(&labels, &eps.collect::<Vec<_>>());
        work.place(&q, &mut batch);
        assert!(work.weigh(&q, &batch));
        let contraction = work.contraction();
        let weights = matrix(case, "weights").transposed();
        for c in 0..covariances.len() {
            for (found, expected) in contraction.weights(c).iter().zip(weights.column(c)) {
                close("weight", &[*found], &[*expected], 0.0, CLOSED_FORM);
            }
        }
    }
}

#[test]
fn weights_trust_region() {
    for case in list(&read("beyond.json"), "weights_trust_region") {
        let old = LogWeights::new(vector(case, "log_weights")).expect("weights");
        let h = vector(case, "expected_h");
        let (epsilon, beta_max, listed) = (number(case, "epsilon"), number(case, "beta_max"), number(case, "beta"));
        let mut next = vec![0.0; old.len()];
        let beta = largest_step(beta_max, epsilon, 1e-12, |beta| Some(old.divergence(&h, beta, &mut next)));
        close("β of the bound", &[beta], &[listed], 0.0, BOUNDARY);
        close("KL", &[old.divergence(&h, listed, &mut next)], &[number(case, "kl")], 0.0, STEP);

        let mut moved = old.clone();
        assert_eq!(moved.advance(&h, listed, None, &mut next), listed);
        close("log π", moved.log(), &vector(case, "log_weights_new"), 0.0, STEP);

        let mut bounded = old.clone();
        let taken = bounded.advance(&h, beta_max, Some(epsilon), &mut next);
        let reached: f64 = bounded.log().iter().zip(old.log()).map(|(new, old)| new.exp() * (new - old)).sum();
        assert!(taken <= listed * (1.0 + BOUNDARY) && reached <= epsilon * (1.0 + BOUNDARY));
        assert!(listed == beta_max || reached >= (1.0 - SEARCH) * epsilon * (1.0 - BOUNDARY));
    }
}
