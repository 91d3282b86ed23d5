//! The boxes of §4.3 and App. E (skew), App. F (EMG) and of the rank-1 Gaussian.

use elinvar::Family;
use elinvar::block::{Location, Scale};
use elinvar::estimate::MixingWeights;
use elinvar::family::Approximation;
use elinvar::internals::Batches as _;
use elinvar::internals::family::{Estimator, FactorEstimator, NoiseKey};
use elinvar::internals::law::{Exponential, HalfNormal};
use elinvar::law::Law;
use elinvar::target::Shape;

use super::*;

/// ∇_αH and ∇_ΣH as App. E prints them, by quadrature.
pub(super) fn skew_entropy(p: &Matrix, alpha: &[f64]) -> (Vec<f64>, Matrix) {
    let v = p.times_vector(alpha);
    let kappa = dot(alpha, &v);
    let wide = p.inverse().plus(1.0, &outer(alpha, alpha)).inverse();
    let sd = (kappa / (1.0 + kappa)).sqrt();
    let root = (std::f64::consts::TAU * (1.0 + kappa)).sqrt();
    let mean = normal_mean(|x| log_phi(sd * x) / root * (sd * x) / kappa);
    let slope = plus(&wide.times_vector(alpha), -2.0 * mean, &v);
    (slope, wide.scaled(0.5).plus(mean, &outer(&v, &v)))
}

/// The same of App. F, with log Φ for log φ and Σ⁻¹ (correction 16).
pub(super) fn emg_entropy(p: &Matrix, alpha: &[f64]) -> (Vec<f64>, Matrix) {
    let v = p.times_vector(alpha);
    let kappa = dot(alpha, &v);
    let root = kappa.sqrt();
    let inner = |w: f64| normal_mean(|x| mills(x + w * root - 1.0 / root) * (w + 1.0 / kappa));
    // E over w ~ Exp(1) in w = exp(x − e^{−x}), whose integrand falls doubly exponentially.
    let h = 1.0 / 32.0;
    let term = |x: f64| {
        let w = (x - (-x).exp()).exp();
        h * w * (1.0 + (-x).exp()) * (-w).exp() * inner(w)
    };
    let mean: f64 = (-130..=130).map(|k| term(f64::from(k) * h)).sum();
    let e = 1.0 / kappa + 1.0 / (kappa * kappa) - mean / root;
    (v.iter().map(|v| e * v).collect(), p.scaled(0.5).plus(-0.5 * e, &outer(&v, &v)))
}

fn start(family: Family) -> Approximation {
    let scale = Scale::from_precision(Shape::Full(DIM), precision(0).entries).unwrap();
    Approximation::single(family, Location::new([location(0), shift()].concat(), scale).unwrap()).unwrap()
}

/// Which family: its law, c = E[u], the constants of u(z) and v, and its entropy.
struct Case {
    family: Family,
    law: Law,
    u: fn(f64) -> f64,
}

fn cases() -> [Case; 2] {
    [
        Case { family: Family::skew(), law: HalfNormal.into(), u: f64::abs },
        Case { family: Family::emg(), law: Exponential.into(), u: |w| w },
    ]
}

/// g_μ, g_α without its entropy and g₃, averaged over the draws, of these items.
pub(super) fn terms(
    items: &Items,
    rows: &[usize],
    is_skew: bool,
    law: Law,
    u: fn(f64) -> f64,
    weights: MixingWeights,
) -> (Vec<f64>, Vec<f64>, Matrix) {
    let (p, mu, alpha) = (precision(0), location(0), shift());
    let (w, eps) = noise(law, DRAWS);
    let v = p.times_vector(&alpha);
    let kappa = dot(&alpha, &v);
    let (mut g1, mut g2, mut g3) = (vec![0.0; DIM], vec![0.0; DIM], Matrix::zeros(DIM, DIM));
    let share = 1.0 / DRAWS as f64;
    for s in 0..DRAWS {
        let hat = plus(&mu, 1.0, &unwhitened(&p, &eps[s]));
        let z = plus(&hat, u(w[s]), &alpha);
        let (_, gradient, hessian) = items.sum(rows, &z);
        g1 = plus(&g1, share, &gradient);
        g3 = g3.plus(share, &hessian);
        g2 = match weights {
            MixingWeights::Sampled => plus(&g2, share * u(w[s]), &gradient),
            _ => {
                let along = dot(&difference(&z, &mu), &v);
                let c = (2.0 / std::f64::consts::PI).sqrt();
                let (u_z, v_0) = if is_skew {
                    (along / (1.0 + kappa), c / (1.0 + kappa))
                } else {
                    ((along - 1.0) / kappa, 1.0 / kappa)
                };
                let other = items.sum(rows, &hat).1;
                plus(&plus(&g2, share * u_z, &gradient), share * v_0, &other)
            }
        };
    }
    (g1, g2, g3)
}

/// The boxes at the end of App. E and of App. F, from g_μ, g_α and g_S.
pub(super) fn box_of(is_skew: bool, g_mu: &[f64], g_alpha: &[f64], g_s: &Matrix) -> (Matrix, [Column; 2]) {
    let (p, mu, alpha) = (precision(0), location(0), shift());
    let identity = Matrix::diagonal(&[1.0; DIM]);
    let p_new = p.scaled(1.0 - BETA).plus(BETA, &identity.scaled(DELTA).plus(1.0, g_s));
    let direction = |one: f64, gradient: &[f64], two: f64, other: &[f64], at: &[f64]| -> Vec<f64> {
        let likelihood = plus(&gradient.iter().map(|g| one * g).collect::<Vec<_>>(), two, other);
        plus(&likelihood, DELTA, at).iter().map(|v| -v).collect()
    };
    let directions = if is_skew {
        let c = (2.0 / std::f64::consts::PI).sqrt();
        let bar = 1.0 / (1.0 - c * c);
        [direction(bar, g_mu, -bar * c, g_alpha, &mu), direction(bar, g_alpha, -bar * c, g_mu, &alpha)]
    } else {
        [direction(2.0, g_mu, -1.0, g_alpha, &mu), direction(1.0, g_alpha, -1.0, g_mu, &alpha)]
    };
    let [of_mu, of_alpha] = directions;
    (p_new, [(mu, of_mu), (alpha, of_alpha)])
}

/// The member that the box gives from these items.
fn by_hand(items: &Items, rows: &[usize], case: &Case, weights: MixingWeights) -> (Matrix, [Column; 2]) {
    let is_skew = case.family == Family::skew();
    let (g_mu, g2, g3) = terms(items, rows, is_skew, case.law, case.u, weights);
    let (p, alpha) = (precision(0), shift());
    let (slope, in_sigma) = if is_skew { skew_entropy(&p, &alpha) } else { emg_entropy(&p, &alpha) };
    // N g_S and N g_α of the paper: the entropy is shared out over the items.
    let g_s = g3.plus(-2.0, &in_sigma).plus(1.0, &p);
    box_of(is_skew, &g_mu, &plus(&g2, -1.0, &slope), &g_s)
}

#[test]
fn skew_and_emg_move_by_their_boxes_under_both_options() {
    let items = Items::new();
    let all: Vec<usize> = (0..ROWS).collect();
    for case in cases() {
        for weights in [MixingWeights::Sampled, MixingWeights::Marginal] {
            let what = format!("{} {weights}", case.family);
            let plan = Plan { weights, ..plan() };
            let after = one_step(&items.target(gaussian_prior()), &start(case.family), &plan);
            let (p_new, columns) = by_hand(&items, &all, &case, weights);
            check_location(&what, &after, &p_new, &columns);
        }
    }
}

/// One item at random: the step is the box of exactly one of them.
#[test]
fn a_single_item_is_scaled_by_their_number() {
    let items = Items::new();
    for case in cases() {
        let plan = Plan { minibatch: Some(1), ..plan() };
        let after = one_step(&items.target(gaussian_prior()), &start(case.family), &plan);
        let found = after.locations()[0].scale().precision();
        let is_item = |n: &usize| {
            let expected = by_hand(&items, &[*n], &case, MixingWeights::Sampled).0.entries;
            difference(found, &expected).iter().all(|off| off.abs() < 1e-11)
        };
        assert_eq!((0..ROWS).filter(is_item).count(), 1, "{}", case.family);
    }
}

/// P⁺ = (1 − β)P + β(H + δI + PAWAᵀP), μ⁺ and A⁺ with Ω = I: the rank-1 Gaussian of §4.3 by Theorem 3.
#[test]
fn the_rank_one_gaussian_moves_by_theorem_three() {
    let items = Items::new();
    let p = Matrix::diagonal(&precision(0).diagonal_entries());
    let (mu, alpha) = (location(0), shift());
    let scale = Scale::from_precision(Shape::Full(DIM), p.entries.clone()).unwrap();
    let block = Location::new([mu.clone(), alpha.clone()].concat(), scale).unwrap();
    let start = Approximation::single(Family::rank_k(1), block).unwrap();
    let mut drawn = FactorEstimator::new(&start, &plan().draw_plan(DRAWS));
    let mut batch = Estimator::batch(&drawn, &start);
    let key = NoiseKey { seed: SEED, purpose: Purpose::Draws, step: 0 };
    Estimator::draw(&mut drawn, &start, key, &mut batch);
    // The w of a factor are not kept with its draws: option III, E[w | z].
    let v = p.times_vector(&alpha);
    let inverse = 1.0 / (1.0 + dot(&alpha, &v));
    let (mut g1, mut g2, mut g3) = (vec![0.0; DIM], vec![0.0; DIM], Matrix::zeros(DIM, DIM));
    for s in 0..DRAWS {
        let z = batch.draws.get(s);
        let (_, gradient, hessian) = items.all(z);
        let w = inverse * dot(&difference(z, &mu), &v);
        let share = 1.0 / DRAWS as f64;
        (g1, g2, g3) = (plus(&g1, share, &gradient), plus(&g2, share * w, &gradient), g3.plus(share, &hessian));
    }
    let identity = Matrix::diagonal(&[1.0; DIM]);
    let g = g3.plus(DELTA, &identity).plus(inverse, &outer(&v, &v));
    let p_new = p.scaled(1.0 - BETA).plus(BETA, &g);
    let direction = |g: &[f64], at: &[f64]| plus(g, DELTA, at).iter().map(|v| -v).collect::<Vec<_>>();
    let of_alpha = plus(&direction(&g2, &alpha), inverse, &v);
    let columns = [(mu.clone(), direction(&g1, &mu)), (alpha.clone(), of_alpha)];
    let plan = Plan { weights: MixingWeights::Conditional, ..plan() };
    let after = one_step(&items.target(gaussian_prior()), &start, &plan);
    check_location("rank_k", &after, &p_new, &columns);
}
