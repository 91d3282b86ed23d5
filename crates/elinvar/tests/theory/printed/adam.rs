//! The Adam boxes of App. J: their first step, from s = 0 and m = 0, with one draw and the mean over the items of the
//! gradients of f.

use elinvar::Family;
use elinvar::block::{Location, Scale};
use elinvar::estimate::{Curvature, MixingWeights, ShapeEstimator};
use elinvar::family::{Approximation, Kind};
use elinvar::internals::law::{InverseGamma, ReciprocalInverseGaussian};
use elinvar::internals::special::gamma::trigamma_minus_inv;
use elinvar::internals::special::implicit::inverse_gamma_derivative;
use elinvar::law::Law;
use elinvar::rule::{AdamLike, PrintedStep};
use elinvar::target::Shape;

use super::*;

const GAMMA_2: f64 = 0.999;
const N: f64 = ROWS as f64;
const OPTIONS: [MixingWeights; 2] = [MixingWeights::Sampled, MixingWeights::Marginal];

fn box_plan(weights: MixingWeights) -> Plan {
    let plan = options::with(|options| options.step = PrintedStep::AdamLike(AdamLike::default()));
    Plan { n_draws: 1, curvature: Curvature::SquaredMean, weights, ..plan }
}

fn start(family: Family, b: Vec<f64>) -> Approximation {
    let scale = Scale::from_precision(Shape::Diagonal(DIM), vec![3.0; DIM]).unwrap();
    Approximation::single(family, Location::new(b, scale).unwrap()).unwrap()
}

/// m̂/√ŝ for the first step, where the bias correction undoes 1 − γ₁.
fn move_by(from: &[f64], m: &[f64], s_hat: &[f64]) -> Vec<f64> {
    (0..DIM).map(|i| from[i] - BETA * m[i] / s_hat[i].sqrt()).collect()
}

fn mean_gradient(items: &Items, z: &[f64]) -> Vec<f64> {
    items.all(z).1.iter().map(|g| g / N).collect()
}

/// The boxes of the skew-Gaussian and of the EMG, where Σ⁻¹ = diag(Ns + δ) is δI at the start.
fn check_mean_mixture(case: mean_mixtures::Case) {
    let items = Items::new();
    let (mu, alpha) = (location(0), shift());
    let (w, eps) = noise(case.law, 1);
    let u = case.u(w[0]);
    let hat: Vec<f64> = (0..DIM).map(|i| mu[i] + eps[0][i] / DELTA.sqrt()).collect();
    let z = plus(&hat, u, &alpha);
    let p = Matrix::diagonal(&[DELTA; DIM]);
    let (slope, in_sigma) = case.entropy(&p, &alpha);
    let kappa = DELTA * dot(&alpha, &alpha);
    for weights in OPTIONS {
        let begin = start(case.family, [mu.clone(), alpha.clone()].concat());
        let after = one_step(&items.target(gaussian_prior()), &begin, &box_plan(weights));
        let g_mu = mean_gradient(&items, &z);
        let scaled = |by: f64, x: &[f64]| x.iter().map(|x| by * x).collect::<Vec<_>>();
        let g_hat = match weights {
            MixingWeights::Sampled => scaled(u, &g_mu),
            _ => {
                let (u_z, v) = case.option_two(DELTA * dot(&difference(&z, &mu), &alpha), kappa);
                plus(&scaled(u_z, &g_mu), v, &mean_gradient(&items, &hat))
            }
        };
        let g_alpha = plus(&g_hat, -1.0 / N, &slope);
        let [of_mu, of_alpha] = case.combined(&g_mu, &g_alpha);
        let (m_mu, m_alpha) = (plus(&of_mu, DELTA / N, &mu), plus(&of_alpha, DELTA / N, &alpha));
        let g_s = |i: usize| g_mu[i] * g_mu[i] - 2.0 * in_sigma.at(i, i) / N + DELTA / N;
        let s: Vec<f64> = (0..DIM).map(|i| (1.0 - GAMMA_2) * g_s(i)).collect();
        let s_hat: Vec<f64> = s.iter().map(|s| (s + DELTA / N) / (1.0 - GAMMA_2)).collect();
        let (block, label) = (&after.locations()[0], format!("{} {weights}", case.family));
        same(&format!("{label}: μ"), block.column(0), &move_by(&mu, &m_mu, &s_hat));
        same(&format!("{label}: α"), block.column(1), &move_by(&alpha, &m_alpha, &s_hat));
        let precision: Vec<f64> = s.iter().map(|s| N * s + DELTA).collect();
        same(&format!("{label}: P"), block.scale().precision(), &precision);
    }
}

/// Box 1.
#[test]
fn the_adam_box_of_the_skew_gaussian() {
    check_mean_mixture(mean_mixtures::cases()[0]);
    assert_eq!((AdamLike::default().gamma1, AdamLike::default().gamma2), (0.9, GAMMA_2));
}

/// Box 2.
#[test]
fn the_adam_box_of_the_emg() {
    check_mean_mixture(mean_mixtures::cases()[1]);
}

/// The boxes of the Student-t and of the symmetric NIG: z = μ + √s(w)σε with Σ⁻¹ = diag(Ns + s̄δ), g_s = s(w) g∘g or
/// u(z) g∘g.
fn check_scale_mixture(family: Family, law: Law, s_of: fn(f64) -> f64, mean_s: f64, u_of: impl Fn(f64) -> f64) {
    let items = Items::new();
    let mu = location(0);
    let (w, eps) = noise(law, 1);
    let prior = DELTA * mean_s;
    let z: Vec<f64> = (0..DIM).map(|i| mu[i] + (s_of(w[0]) / prior).sqrt() * eps[0][i]).collect();
    let off = difference(&z, &mu);
    for weights in OPTIONS {
        let after = one_step(&items.target(gaussian_prior()), &start(family, mu.clone()), &box_plan(weights));
        let g = mean_gradient(&items, &z);
        let factor = if weights == MixingWeights::Sampled { s_of(w[0]) } else { u_of(prior * dot(&off, &off)) };
        let s: Vec<f64> = g.iter().map(|g| (1.0 - GAMMA_2) * factor * g * g).collect();
        let s_hat: Vec<f64> = s.iter().map(|s| (s + prior / N) / (1.0 - GAMMA_2)).collect();
        let m = plus(&g, DELTA / N, &mu);
        let (block, label) = (&after.locations()[0], format!("{family} {weights}"));
        same(&format!("{label}: μ"), block.column(0), &move_by(&mu, &m, &s_hat));
        let precision: Vec<f64> = s.iter().map(|s| N * s + prior).collect();
        same(&format!("{label}: P"), block.scale().precision(), &precision);
    }
}

/// Box 3.
#[test]
fn the_adam_box_of_the_student_t() {
    let a = 2.5;
    let law = InverseGamma::new(a).unwrap().into();
    let u = |q: f64| (a + 0.5 * q) / (a + 0.5 * DIM as f64 - 1.0);
    check_scale_mixture(Family::student_t(a), law, |w| w, a / (a - 1.0), u);
}

/// No box has a running mean of a learned a. It moves beside box 3, which is that of a fixed a, by the natural gradient
/// of the bound along the draw, in log(a − 1) and with the same β.
#[test]
fn a_learned_shape_moves_beside_the_adam_box_of_the_student_t() {
    let (items, a) = (Items::new(), 2.5);
    let plan = Plan { shape: ShapeEstimator::Exact, ..box_plan(MixingWeights::Sampled) };
    let after = |learn: bool| {
        let family = Family { kind: Kind::StudentT { a, learn }, ..Family::student_t(a) };
        one_step(&items.target(gaussian_prior()), &start(family, location(0)), &plan)
    };
    let (fixed, learned) = (after(false), after(true));
    let (expected, found) = (&fixed.locations()[0], &learned.locations()[0]);
    same("μ", found.b(), expected.b());
    same("P", found.scale().precision(), expected.scale().precision());

    let (w, eps) = noise(InverseGamma::new(a).unwrap().into(), 1);
    let precision = DELTA * a / (a - 1.0);
    let off: Vec<f64> = eps[0].iter().map(|eps| (w[0] / precision).sqrt() * eps).collect();
    let z = plus(&location(0), 1.0, &off);
    let q = precision * dot(&off, &off);
    // (z − μ)ᵀ∇(log p + log prior − log q), and z − μ moves with a by half the relative change of w.
    let of_q = (a + 0.5 * DIM as f64) * q / (a + 0.5 * q);
    let along = of_q - dot(&items.all(&z).1, &off) - DELTA * dot(&z, &off);
    let slope = 0.5 * inverse_gamma_derivative(a, w[0]) / w[0] * along;
    let exponent = BETA * slope / trigamma_minus_inv(a) / (a - 1.0);
    assert!(exponent.abs() < 1.0, "{exponent}: the step is bounded there");
    same("a", &[learned.law().parameter().unwrap()], &[1.0 + (a - 1.0) * exponent.exp()]);
}

/// Box 4.
#[test]
fn the_adam_box_of_the_symmetric_nig() {
    let lambda = scale_mixtures::LAMBDA;
    let law = ReciprocalInverseGaussian::new(lambda).unwrap().into();
    let u = |q: f64| scale_mixtures::u_of_snig(q, scale_mixtures::exact_ratio);
    check_scale_mixture(Family::snig(lambda), law, |w| 1.0 / w, 1.0 + 1.0 / lambda, u);
}
