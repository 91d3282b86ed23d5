//! The boxes of §2 (the Gaussian), §4.2 and App. D (Student-t), App. G (NIG) and App. H (symmetric NIG).

use elinvar::Family;
use elinvar::block::{Location, Scale};
use elinvar::estimate::MixingWeights;
use elinvar::family::Approximation;
use elinvar::internals::law::{InverseGamma, InverseGaussian, PointMass, ReciprocalInverseGaussian};
use elinvar::law::Law;
use elinvar::target::Shape;

use super::*;

const A: f64 = 2.5;
const A_0: f64 = 1.7;
pub(super) const LAMBDA: f64 = 1.3;

fn start(family: Family, b: Vec<f64>) -> Approximation {
    let scale = Scale::from_precision(Shape::Full(DIM), precision(0).entries).unwrap();
    Approximation::single(family, Location::new(b, scale).unwrap()).unwrap()
}

/// (1 − β)P + β(Σ_s s ∇²f/S + prior I) and the direction of μ.
fn box_of(items: &Items, draws: &[(Vec<f64>, f64)], prior: f64, pull: f64) -> (Matrix, [Column; 1]) {
    let (p, mu) = (precision(0), location(0));
    let (mut g, mut h) = (vec![0.0; DIM], Matrix::zeros(DIM, DIM));
    for (z, s) in draws {
        let (_, gradient, hessian) = items.all(z);
        g = plus(&g, 1.0 / draws.len() as f64, &gradient);
        h = h.plus(s / draws.len() as f64, &hessian);
    }
    let identity = Matrix::diagonal(&[1.0; DIM]);
    let p_new = p.scaled(1.0 - BETA).plus(BETA, &h.plus(prior, &identity));
    let direction = plus(&g, pull, &mu).iter().map(|v| -v).collect();
    (p_new, [(mu, direction)])
}

/// z = μ + √s L⁻ᵀε of each draw.
fn points(law: Law, scale: impl Fn(f64) -> f64, n: usize) -> Vec<(Vec<f64>, f64)> {
    let (p, mu) = (precision(0), location(0));
    let (w, eps) = noise(law, n);
    (0..n).map(|s| (plus(&mu, scale(w[s]).sqrt(), &unwhitened(&p, &eps[s])), w[s])).collect()
}

#[test]
fn the_gaussian_moves_by_variational_online_newton() {
    let items = Items::new();
    let draws: Vec<_> = points(PointMass.into(), |_| 1.0, DRAWS).into_iter().map(|(z, _)| (z, 1.0)).collect();
    let (p_new, columns) = box_of(&items, &draws, DELTA, DELTA);
    let after = one_step(&items.target(gaussian_prior()), &start(Family::gaussian(), location(0)), &plan());
    check_location("gaussian", &after, &p_new, &columns);
}

/// u(z) of §4.2.
fn u_of_t(z: &[f64]) -> f64 {
    (A + 0.5 * distance(z)) / (A - 1.0 + 0.5 * DIM as f64)
}

#[test]
fn the_student_t_moves_by_its_box_with_the_t_prior_and_learns_a_in_a_itself() {
    let items = Items::new();
    let prior = Prior::student_t(DELTA, A_0, DIM);
    let law: Law = InverseGamma::new(A).unwrap().into();
    for weights in [MixingWeights::Sampled, MixingWeights::Marginal] {
        let drawn = points(law, |w| w, DRAWS);
        let weigh = |z: &[f64], w: f64| if weights == MixingWeights::Sampled { w } else { u_of_t(z) };
        let draws: Vec<_> = drawn.iter().map(|(z, w)| (z.clone(), weigh(z, *w))).collect();
        let (p_new, columns) = box_of(&items, &draws, DELTA, DELTA);
        let plan = Plan { weights, ..plan() };

        let fixed = one_step(&items.target(prior.clone()), &start(Family::student_t(A), location(0)), &plan);
        check_location(&format!("student_t {weights}"), &fixed, &p_new, &columns);

        let learned = one_step(&items.target(prior.clone()), &start(learned_t(), location(0)), &plan);
        check_location(&format!("learned student_t {weights}"), &learned, &p_new, &columns);
        // Eq. (21) with the mean over the draws of the factor and the trace of each.
        let sigma = precision(0).inverse();
        let traces = drawn.iter().map(|(z, w)| w * w / (2.0 * (1.0 - w)) * sigma.times(&items.all(z).2).trace());
        let mean = traces.sum::<f64>() / DRAWS as f64;
        let a = (1.0 - BETA) * A + BETA * (A_0 - mean);
        same("a", &[learned.law().parameter().unwrap()], &[a]);
    }
}

fn learned_t() -> Family {
    Family::student_t(A).learned()
}

/// The paper's Adam box of the t has a Gaussian prior and a fixed a: a/(a − 1) times its precision.
#[test]
fn the_student_t_under_a_gaussian_prior() {
    let items = Items::new();
    let law: Law = InverseGamma::new(A).unwrap().into();
    let (p_new, columns) = box_of(&items, &points(law, |w| w, DRAWS), DELTA * A / (A - 1.0), DELTA);
    let after = one_step(&items.target(gaussian_prior()), &start(Family::student_t(A), location(0)), &plan());
    check_location("student_t, Gaussian prior", &after, &p_new, &columns);
}

/// K_v(x) eˣ = ∫₀^∞ exp{−x(cosh t − 1)} cosh(vt) dt.
pub(super) fn bessel(v: f64, x: f64) -> f64 {
    let h = 1.0 / 64.0;
    let term = |t: f64| (-x * (t.cosh() - 1.0)).exp() * (v * t).cosh();
    h * (0.5 * term(0.0) + (1..=640).map(|k| term(f64::from(k) * h)).sum::<f64>())
}

/// (z − μ)ᵀΣ⁻¹(z − μ).
fn distance(z: &[f64]) -> f64 {
    let off = difference(z, &location(0));
    quadratic(&off, &precision(0), &off)
}

/// u(z) of App. H, from (z − μ)ᵀΣ⁻¹(z − μ).
pub(super) fn u_of_snig(distance: f64, ratio: impl Fn(f64, f64) -> f64) -> f64 {
    let b = distance + LAMBDA;
    (b / LAMBDA).sqrt() * ratio(0.5 * (DIM as f64 - 1.0), (LAMBDA * b).sqrt())
}

pub(super) fn exact_ratio(v: f64, x: f64) -> f64 {
    bessel(v - 1.0, x) / bessel(v, x)
}

#[test]
fn the_symmetric_nig_moves_by_its_box_under_both_options() {
    let items = Items::new();
    let law: Law = ReciprocalInverseGaussian::new(LAMBDA).unwrap().into();
    for weights in [MixingWeights::Sampled, MixingWeights::Marginal] {
        let drawn = points(law, |w| 1.0 / w, DRAWS);
        let draws: Vec<_> = drawn
            .into_iter()
            .map(|(z, w)| {
                let s = if weights == MixingWeights::Sampled { 1.0 / w } else { u_of_snig(distance(&z), exact_ratio) };
                (z, s)
            })
            .collect();
        let (p_new, columns) = box_of(&items, &draws, DELTA * (1.0 + 1.0 / LAMBDA), DELTA);
        let plan = Plan { weights, ..plan() };
        let after = one_step(&items.target(gaussian_prior()), &start(Family::snig(LAMBDA), location(0)), &plan);
        check_location(&format!("snig {weights}"), &after, &p_new, &columns);
    }
}

/// The bounds of App. H in a step, by their printed definition.
#[test]
fn the_symmetric_nig_by_the_mean_of_the_bounds() {
    let items = Items::new();
    let law: Law = ReciprocalInverseGaussian::new(LAMBDA).unwrap().into();
    let drawn = points(law, |w| 1.0 / w, DRAWS);
    let draws: Vec<_> = drawn
        .into_iter()
        .map(|(z, _)| {
            let s = u_of_snig(distance(&z), printed_ratio);
            (z, s)
        })
        .collect();
    let (p_new, columns) = box_of(&items, &draws, DELTA * (1.0 + 1.0 / LAMBDA), DELTA);
    let plan = Plan { weights: MixingWeights::Marginal, ..options::with(|o| o.bessel = options::bounds()) };
    let after = one_step(&items.target(gaussian_prior()), &start(Family::snig(LAMBDA), location(0)), &plan);
    check_location("snig by bounds", &after, &p_new, &columns);
}

/// {D_{2v−1}(v, x) + D₀(v, x)}/2 of App. G.
pub(super) fn printed_ratio(v: f64, x: f64) -> f64 {
    let d = |alpha: f64| {
        let tau = v - 0.5 * (alpha + 1.0);
        let psi = v - 0.5 - tau / (2.0 * (tau * tau + x * x).sqrt());
        x / (psi + (psi * psi + x * x).sqrt())
    };
    0.5 * (d(2.0 * v - 1.0) + d(0.0))
}

/// ∇h and ∇²h of App. G at z, with the derivatives of log K_v from the ratio, and u(z).
fn nig_h(items: &Items, z: &[f64], prior: f64, ratio: impl Fn(f64, f64) -> f64) -> (Vec<f64>, Matrix, f64) {
    let (p, mu, alpha) = (precision(0), location(0), shift());
    let v = p.times_vector(&alpha);
    let r = difference(z, &mu);
    let pr = p.times_vector(&r);
    let (a, b) = (dot(&alpha, &v) + LAMBDA, dot(&r, &pr) + LAMBDA);
    let (x, order) = ((a * b).sqrt(), 0.5 * (DIM as f64 + 1.0));
    let k = ratio(order, x);
    // log q = … + rᵀPα + log K_ν(x) − (ν/2) log b, x = √(ab): first and second derivatives in b.
    let (first, second) = (-k - order / x, (1.0 - 2.0 * order) / x * k - k * k + order / (x * x) + 1.0);
    let (dx, ddx) = (a / (2.0 * x), -a * a / (4.0 * x * x * x));
    let slope = first * dx - 0.5 * order / b;
    let bend = second * dx * dx + first * ddx + 0.5 * order / (b * b);
    let score = plus(&v, 2.0 * slope, &pr);
    let hessian = p.scaled(2.0 * slope).plus(4.0 * bend, &outer(&pr, &pr));
    let (_, g, h) = items.all(z);
    let gradient = plus(&plus(&g, 1.0, &score), prior, z);
    let identity = Matrix::diagonal(&[1.0; DIM]);
    (gradient, h.plus(1.0, &hessian).plus(prior, &identity), (b / a).sqrt() * k)
}

#[test]
fn the_nig_moves_by_its_box_with_the_prior_inside_h() {
    let items = Items::new();
    let law: Law = InverseGaussian::new(LAMBDA).unwrap().into();
    let (p, mu, alpha) = (precision(0), location(0), shift());
    let (w, eps) = noise(law, DRAWS);
    for by_bounds in [false, true] {
        for weights in [MixingWeights::Sampled, MixingWeights::Marginal] {
            let (mut g_mu, mut g_alpha, mut g) = (vec![0.0; DIM], vec![0.0; DIM], Matrix::zeros(DIM, DIM));
            for s in 0..DRAWS {
                let z = plus(&plus(&mu, w[s], &alpha), w[s].sqrt(), &unwhitened(&p, &eps[s]));
                let (gradient, hessian, u) =
                    nig_h(&items, &z, DELTA, |v, x| if by_bounds { printed_ratio(v, x) } else { exact_ratio(v, x) });
                let c = if weights == MixingWeights::Sampled { w[s] } else { u };
                let share = 1.0 / DRAWS as f64;
                g_mu = plus(&g_mu, -share, &gradient);
                g_alpha = plus(&g_alpha, -share * c, &gradient);
                g = g.plus(share * c, &hessian);
            }
            let p_new = p.plus(BETA, &g);
            let combine =
                |one: f64, x: &[f64], two: f64, y: &[f64]| plus(&x.iter().map(|v| one * v).collect::<Vec<_>>(), two, y);
            let columns = [
                (mu.clone(), combine(LAMBDA, &g_mu, -LAMBDA, &g_alpha)),
                (alpha.clone(), combine(1.0 + LAMBDA, &g_alpha, -LAMBDA, &g_mu)),
            ];
            let plan = options::with(|o| o.bessel = if by_bounds { options::bounds() } else { Default::default() });
            let plan = Plan { weights, ..plan };
            let begin = start(Family::nig(LAMBDA), [mu.clone(), alpha.clone()].concat());
            let after = one_step(&items.target(gaussian_prior()), &begin, &plan);
            check_location(&format!("nig {weights}, by bounds {by_bounds}"), &after, &p_new, &columns);
        }
    }
}
