//! What the paper names beside its boxes: the entropy along the draws, the prior in closed form or at the draws.

use elinvar::Family;
use elinvar::block::{Location, LogWeights, Scale};
use elinvar::estimate::MixingWeights;
use elinvar::family::Approximation;
use elinvar::rule::{BesselRatio, EntropyGradient, FisherMatrix, Printed, PriorTerm, Rule};
use elinvar::target::Shape;

use super::*;

/// The plan with another option.
pub(super) fn with(change: impl FnOnce(&mut Printed)) -> Plan {
    let mut options = Printed::default();
    change(&mut options);
    Plan { rule: Rule::Printed(options), ..plan() }
}

pub(super) fn bounds() -> BesselRatio {
    BesselRatio::MeanOfBounds
}

/// ∇H along z = μ + uα + L⁻ᵀε: −∇log q, −u∇log q and −½P(z − Bũ)∇log qᵀ, symmetrised, for Σ.
#[test]
fn the_entropy_of_mean_mixtures_along_their_draws() {
    let items = Items::new();
    let (p, alpha) = (precision(0), shift());
    let v = p.times_vector(&alpha);
    let kappa = dot(&alpha, &v);
    for case in mean_mixtures::cases() {
        let (is_skew, u) = (case.is_skew(), |w| case.u(w));
        let all: Vec<usize> = (0..ROWS).collect();
        let at = mean_mixtures::At::first();
        let (mut g_mu, mut g_alpha, mut g_s) = at.terms(&items, &all, &case, MixingWeights::Sampled);
        let (w, eps) = noise(case.law, DRAWS);
        for s in 0..DRAWS {
            let noise = unwhitened(&p, &eps[s]);
            let r = plus(&noise, u(w[s]), &alpha);
            let along = dot(&r, &v);
            // q = 2Φ(t)N(z | μ, Σ + ααᵀ), and the density of App. F: ∇log q = ρ(t)∇t + the Gaussian part.
            let score = if is_skew {
                let t = along / (1.0 + kappa).sqrt();
                let wide = p.inverse().plus(1.0, &outer(&alpha, &alpha)).inverse();
                plus(&wide.times_vector(&r), -mills(t) / (1.0 + kappa).sqrt(), &v).iter().map(|v| -v).collect()
            } else {
                let t = (along - 1.0) / kappa.sqrt();
                plus(&p.times_vector(&r), -(mills(t) + t) / kappa.sqrt(), &v).iter().map(|v| -v).collect::<Vec<_>>()
            };
            let share = 1.0 / DRAWS as f64;
            let pathwise = outer(&p.times_vector(&noise), &score);
            g_mu = plus(&g_mu, share, &score);
            g_alpha = plus(&g_alpha, share * u(w[s]), &score);
            // −2∇_ΣH, and P comes off again where the box adds it.
            g_s = g_s.plus(0.5 * share, &pathwise).plus(0.5 * share, &pathwise.transposed());
        }
        let (p_new, columns) = at.box_of(&case, &g_mu, &g_alpha, &g_s.plus(1.0, &p));
        let plan = with(|options| options.entropy = EntropyGradient::Reparameterised);
        let after = one_step(&items.target(gaussian_prior()), &mean_mixtures::start(case.family), &plan);
        check_location(&format!("{}, entropy along the draws", case.family), &after, &p_new, &columns);
    }
}

/// With the prior at the draws a declared prior and one inside the target are the same step; in closed form they are
/// not, for one draw.
#[test]
fn a_prior_at_the_draws_is_part_of_the_target() {
    let items = Items::new();
    let scale = || Scale::from_precision(Shape::Full(DIM), precision(0).entries).unwrap();
    let q = Approximation::single(Family::gaussian(), Location::new(location(0), scale()).unwrap()).unwrap();
    let declared = items.target(gaussian_prior());
    let sampled = one_step(&declared, &q, &with(|options| options.prior = PriorTerm::Sampled));
    let closed = one_step(&declared, &q, &with(|options| options.prior = PriorTerm::ClosedForm));
    let (_, eps) = noise(elinvar::internals::law::PointMass.into(), DRAWS);
    let (mut g, mut h) = (vec![0.0; DIM], Matrix::zeros(DIM, DIM));
    for eps in &eps {
        let z = plus(&location(0), 1.0, &unwhitened(&precision(0), eps));
        let (_, gradient, hessian) = items.all(&z);
        let share = 1.0 / DRAWS as f64;
        (g, h) = (plus(&plus(&g, share, &gradient), share * DELTA, &z), h.plus(share, &hessian));
    }
    let identity = Matrix::diagonal(&[1.0; DIM]);
    let p_new = precision(0).scaled(1.0 - BETA).plus(BETA, &h.plus(DELTA, &identity));
    let direction = g.iter().map(|v| -v).collect();
    check_location("prior at the draws", &sampled, &p_new, &[(location(0), direction)]);
    assert!(difference(sampled.locations()[0].b(), closed.locations()[0].b()).iter().any(|off| off.abs() > 1e-3));
}

/// App. B.5 with both factors over the draws: exponential components, t(z) = z and ∂z/∂η = z/ρ in η = −ρ, so that
/// F_c is the mean of δ_c z/ρ_c.
#[test]
fn the_fisher_matrix_over_the_draws() {
    let (start, rates, pi, n) = mixtures::exponentials();
    let plan = Plan { n_draws: n, ..with(|options| options.fisher = FisherMatrix::Sampled) };
    let after = one_step(&mixtures::gamma_target(), &start, &plan);
    let exact = one_step(&mixtures::gamma_target(), &start, &Plan { n_draws: n, ..plan_of_exact() });
    let points = mixtures::given_draws(&start, n);
    for (c, rate) in rates.iter().enumerate() {
        let (mut gradient, mut fisher) = (0.0, 0.0);
        for z in &points {
            let (delta, slope, _) = mixtures::at_exponentials(&rates, &pi, *z);
            gradient -= delta[c] * slope * (z / rate);
            fisher += delta[c] * (z / rate);
        }
        let eta = |q: &Approximation| q.naturals()[c].coordinates()[0].natural()[0];
        same(&format!("η of {c}"), &[eta(&after)], &[-rate + BETA * gradient / fisher]);
        assert!((eta(&after) - eta(&exact)).abs() > 1e-4, "the two matrices tell apart");
    }
}

fn plan_of_exact() -> Plan {
    with(|_| {})
}

/// The same with two natural parameters: one normal law in η = (μ/σ², −1/(2σ²)), whose ∂z/∂η is explicit; the matrix is
/// not symmetric.
#[test]
fn the_fisher_matrix_over_the_draws_of_a_normal_law() {
    let (mean, sd, n) = (0.4, 0.8, 5);
    let target = elinvar::model::Gaussian::new(vec![-0.3], vec![2.5]).unwrap();
    let member = super::mixtures::member("normal", [mean, sd, 0.0]);
    let start = Approximation::ef_mixture(LogWeights::uniform(1), vec![member]).unwrap();
    let points = mixtures::given_draws(&start, n);
    let plan = Plan { n_draws: n, ..with(|options| options.fisher = FisherMatrix::Sampled) };
    let after = one_step(&target, &start, &plan);
    let (mut fisher, mut gradient, variance) = ([[0.0; 2]; 2], [0.0; 2], sd * sd);
    for z in points {
        let slope = -(z - mean) / variance + 2.5 * (z + 0.3);
        let path = [variance, 2.0 * mean * variance + (z - mean) * variance];
        for i in 0..2 {
            gradient[i] -= slope * path[i] / n as f64;
            fisher[i][0] += path[i] / n as f64;
            fisher[i][1] += path[i] * 2.0 * z / n as f64;
        }
    }
    let det = fisher[0][0] * fisher[1][1] - fisher[0][1] * fisher[1][0];
    let moved = [
        mean / variance + BETA * (fisher[1][1] * gradient[0] - fisher[0][1] * gradient[1]) / det,
        -0.5 / variance + BETA * (fisher[0][0] * gradient[1] - fisher[1][0] * gradient[0]) / det,
    ];
    same("η", &after.naturals()[0].coordinates()[0].natural()[..2], &moved);
}
