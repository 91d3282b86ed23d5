//! The density: it integrates to one, and its derivatives are its derivatives.

use crate::members::differences::{close, gradient, jacobian, within};
use crate::members::{Member, normals, stream};
use crate::state::Stated;
use elinvar::family::Approximation;

/// ∫ q by the trapezoid rule in x with z = mean + deviation · sinh x, which reaches 200 standard deviations.
fn integral(q: &Approximation) -> f64 {
    let (d, mean, cov) = (q.dim(), q.mean(), q.covariance());
    let (step, half) = (0.06, 100);
    let line = |i: usize| -> Vec<(f64, f64)> {
        let deviation = cov[i * d + i].sqrt();
        let at = |k: i64| (step * k as f64, deviation);
        (-half..=half).map(at).map(|(x, s)| (mean[i] + s * x.sinh(), step * s * x.cosh())).collect()
    };
    if d == 1 {
        return line(0).iter().map(|(z, weight)| weight * q.log_density(&[*z]).exp()).sum();
    }
    let (rows, columns) = (line(0), line(1));
    let row = |x: f64| columns.iter().map(|(y, weight)| weight * q.log_density(&[x, *y]).exp()).sum::<f64>();
    rows.iter().map(|(x, weight)| weight * row(*x)).sum()
}

fn integrates_to_one(q: &Approximation, tolerance: f64) {
    let found = integral(q);
    assert!((found - 1.0).abs() < tolerance, "{}: {:e}", q.name(), found - 1.0);
}

#[test]
fn densities_integrate_to_one() {
    for seed in 340..343 {
        every_member!(integrates_to_one(1, seed, 1e-9));
    }
    every_member!(integrates_to_one(2, 343, 1e-7));
}

fn derivatives(q: &Approximation) {
    let d = q.dim();
    let mut source = stream(350);
    let mut score = vec![0.0; d];
    let mut hessian = vec![0.0; d * d];
    for distance in [0.3, 1.0, 4.0] {
        let z: Vec<f64> = q.mean().iter().zip(normals(&mut source, d)).map(|(m, n)| m + distance * n).collect();
        q.score(&z, &mut score);
        q.hessian(&z, &mut hessian);
        close(&format!("{}: score", q.name()), &score, &gradient(&z, |z| q.log_density(z)), 1e-8);
        let columns = jacobian(&z, |z| {
            let mut score = vec![0.0; d];
            q.score(z, &mut score);
            score
        });
        // Relative to P: in an exponential tail the Hessian itself vanishes.
        let scale = q.state().blocks.iter().flat_map(|block| block.precision.clone()).fold(0.0, f64::max);
        within(&format!("{}: Hessian", q.name()), &hessian, &columns.concat(), 1e-8 * scale);
    }
}

#[test]
fn score_and_hessian_are_the_derivatives_of_the_log_density() {
    for dim in [1, 2, 5] {
        every_member!(derivatives(dim, 350 + dim as u64));
    }
}
