//! Natural momentum, App. J: the second step of a run from the state after the first, with the paper's m.

use elinvar::Family;
use elinvar::block::{Location, Scale};
use elinvar::estimate::MixingWeights;
use elinvar::internals::law::{InverseGamma, ReciprocalInverseGaussian};
use elinvar::law::Law;
use elinvar::rule::PrintedStep;
use elinvar::target::Shape;

use super::mean_mixtures::At;
use super::*;

/// m; β/(1 − m) is the step size of the plan, and m/(1 − m) the share of the last displacement.
const M: f64 = 0.2;
const SHARE: f64 = M / (1.0 - M);

/// The states after the first and after the second step.
fn two_steps(start: &Approximation) -> [Approximation; 2] {
    let target = Items::new().target(gaussian_prior());
    let plan = options::with(|options| options.step = PrintedStep::Momentum { gamma: SHARE });
    let mut run = Run::new(&target, start.clone(), &plan).unwrap();
    [(), ()].map(|()| {
        run.step().unwrap();
        run.q().clone()
    })
}

/// The box of a plain step with its momentum: P⁺ + m/(1 − m)(P − P₋), and m/(1 − m)Σ⁺P₋(B − B₋) in the step of B.
fn with_momentum(
    p_new: &Matrix,
    columns: &[Column],
    p: &Matrix,
    p_before: &Matrix,
    before: &[Vec<f64>],
) -> (Matrix, Vec<Column>) {
    let p_new = p_new.plus(SHARE, p).plus(-SHARE, p_before);
    let pushed = |((at, direction), before): (&Column, &Vec<f64>)| {
        // `check_location` multiplies by the step size.
        (at.clone(), plus(direction, SHARE / BETA, &p_before.times_vector(&difference(at, before))))
    };
    (p_new, columns.iter().zip(before).map(pushed).collect())
}

fn precision_of(q: &Approximation) -> Matrix {
    Matrix::from_columns(DIM, q.locations()[0].scale().precision())
}

#[test]
fn mean_mixtures_move_by_natural_momentum() {
    let (items, all) = (Items::new(), (0..ROWS).collect::<Vec<_>>());
    for case in mean_mixtures::cases() {
        let [first, second] = two_steps(&mean_mixtures::start(case.family));
        let column = |j: usize| first.locations()[0].column(j).to_vec();
        let at = At { p: precision_of(&first), mu: column(0), alpha: column(1), step: 1 };
        let (p_new, columns) = at.by_hand(&items, &all, &case, MixingWeights::Sampled);
        let before = [location(0), shift()];
        let (p_new, columns) = with_momentum(&p_new, &columns, &at.p, &precision(0), &before);
        check_location(&format!("{} with momentum", case.family), &second, &p_new, &columns);
    }
}

#[test]
fn scale_mixtures_move_by_natural_momentum() {
    let (items, a, lambda) = (Items::new(), 2.5, 1.3);
    let t: Law = InverseGamma::new(a).unwrap().into();
    let snig: Law = ReciprocalInverseGaussian::new(lambda).unwrap().into();
    // A law with s(w), and s̄ = E[s].
    type Case = (Family, Law, fn(f64) -> f64, f64);
    let cases: [Case; 2] = [
        (Family::student_t(a), t, |w| w, a / (a - 1.0)),
        (Family::snig(lambda), snig, |w| 1.0 / w, 1.0 + 1.0 / lambda),
    ];
    for (family, law, s, mean_s) in cases {
        let scale = Scale::from_precision(Shape::Full(DIM), precision(0).entries).unwrap();
        let start = Approximation::single(family, Location::new(location(0), scale).unwrap()).unwrap();
        let [first, second] = two_steps(&start);
        let (p, mu) = (precision_of(&first), first.locations()[0].column(0).to_vec());
        let (w, eps) = noise_of_step(law, DRAWS, 1);
        let (mut g, mut h) = (vec![0.0; DIM], Matrix::zeros(DIM, DIM));
        for (w, eps) in w.iter().zip(&eps) {
            let z = plus(&mu, s(*w).sqrt(), &unwhitened(&p, eps));
            let (_, gradient, hessian) = items.all(&z);
            (g, h) = (plus(&g, 1.0 / DRAWS as f64, &gradient), h.plus(s(*w) / DRAWS as f64, &hessian));
        }
        let identity = Matrix::diagonal(&[1.0; DIM]);
        let p_new = p.scaled(1.0 - BETA).plus(BETA, &h.plus(DELTA * mean_s, &identity));
        let direction = plus(&g, DELTA, &mu).iter().map(|v| -v).collect();
        let (p_new, columns) = with_momentum(&p_new, &[(mu, direction)], &p, &precision(0), &[location(0)]);
        check_location(&format!("{family} with momentum"), &second, &p_new, &columns);
    }
}
