//! Density, moments, entropy and the derivative of draws.

use elinvar::component::ComponentKind;
use elinvar::estimate::Sampling;
use elinvar::internals::family::{DrawPlan, EfMixtureEstimator, Estimator, Seen, Stepping};
use elinvar::internals::special::gamma::digamma;
use elinvar::internals::special::implicit::gamma_shape_derivative;
use elinvar::target::{Answer, Prior};
use elinvar::theory::Mcef;

use super::*;

/// Of the trapezoid rule, whose error is exponentially small, and of its ends.
const QUADRATURE: f64 = 1e-9;
/// Of differences of it.
const DIFFERENCES: f64 = 1e-6;

#[test]
fn moments_entropy_and_expectations_are_integrals() {
    for a in [[2.0, 3.0, 1.5], [0.8, 0.9, 4.0], [30.0, 7.0, 12.0]] {
        let q = mixture(&[1.0], &[&a]);
        let (mut mass, mut entropy) = (0.0, 0.0);
        let (mut mean, mut square, mut logs) = ([0.0; 3], [0.0; 9], [0.0; 3]);
        for (z, area) in nodes(0.1, 36.0) {
            let log_q = q.log_density(&z);
            let share = area * log_q.exp();
            mass += share;
            entropy -= if share > 0.0 { share * log_q } else { 0.0 };
            for i in 0..3 {
                mean[i] += share * z[i];
                logs[i] += if share > 0.0 { share * z[i].ln() } else { 0.0 };
                (0..3).for_each(|j| square[3 * i + j] += share * z[i] * z[j]);
            }
        }
        assert!((mass - 1.0).abs() < QUADRATURE, "{a:?}: {mass}");
        assert!((q.entropy().unwrap() - entropy).abs() < QUADRATURE, "{a:?}: {entropy}");
        let (found, covariance, m) = (q.mean(), q.covariance(), q.expectation());
        for i in 0..3 {
            assert!((found[i] - mean[i]).abs() < QUADRATURE && (m[i] - logs[i]).abs() < QUADRATURE, "{a:?}, {i}");
            for j in 0..3 {
                let expected = square[3 * i + j] - mean[i] * mean[j];
                assert!((covariance[3 * i + j] - expected).abs() < QUADRATURE, "{a:?}, {i} {j}");
            }
        }
    }
}

/// Of two shares the first has a beta law: density, entropy, and steps from one gradient.
#[test]
fn two_shares_are_a_beta_law() {
    let beta = ComponentKind::new("beta", None).unwrap().standard();
    for (a, b) in [(2.0, 5.0), (0.05, 0.3), (4e5, 3e5), (1e-3, 2.0), (7.0, 1e6)] {
        let law = beta.with_parameters([a, b, 0.0]).unwrap();
        let q = mixture(&[1.0], &[&[a, b]]);
        let (mean, variance) = law.mean_and_variance();
        for t in [-2.0, -0.3, 0.0, 1.1] {
            let z = (mean + t * variance.sqrt()).clamp(1e-12, 1.0 - 1e-12);
            let (found, expected) = (q.log_density(&[z, 1.0 - z]), law.log_density(z));
            assert!((found - expected).abs() < 1e-9 * (1.0 + expected.abs()), "{a} {b} {z}: {found} {expected}");
        }
        assert!((q.entropy().unwrap() - law.entropy().unwrap()).abs() < 1e-9 * law.entropy().unwrap().abs().max(1.0));
        let mut gradient = q.zero_gradient();
        gradient.blocks[0].b.copy_from_slice(&[0.3, -1.7]);
        let (found, expected) = (q.natural_gradient(&gradient), law.natural_gradient([0.3, -1.7, 0.0]));
        for i in 0..2 {
            assert!((found[i] - expected[i]).abs() < 1e-9 * expected[i].abs(), "{a} {b}: {found:?} {expected:?}");
        }
    }
}

/// gᵀ∂z/∂a of one draw, by the estimator: what a batch of a single draw has in the place of an average.
fn along(q: &Approximation, z: &[f64], g: &[f64]) -> Vec<f64> {
    let plan = DrawPlan { sampling: Sampling::Mixture, ..DrawPlan::independent(1) };
    let mut work = EfMixtureEstimator::new(q, &plan);
    let mut batch = work.batch(q);
    work.set_labels(&[0]);
    batch.draws.get_mut(0).copy_from_slice(z);
    work.place(q, &mut batch);
    assert!(work.weigh(q, &batch));
    let (mut answer, mut score) = (Answer::new(z.len(), 1), vec![0.0; z.len()]);
    q.score(z, &mut score);
    // ∇log p = g + ∇log q.
    answer.grad_mut(0).iter_mut().zip(g).zip(&score).for_each(|((to, g), score)| *to = g + score);
    let mut gradient = q.zero_gradient();
    let seen = Seen { evaluations: &answer, curvature: &[], prior: &Prior::None, batch: &batch };
    assert!(work.gradient(q, &seen, 0.0, &mut gradient));
    gradient.blocks[0].b.clone()
}

/// E_q[∇fᵀ∂z/∂a] against differences of E_q[f] by quadrature.
#[test]
fn the_derivative_of_draws_is_that_of_means() {
    let f = |z: &[f64; 3]| (2.0 * z[0] - z[1]).sin() + z[1] * z[2] * z[2];
    let slope = |z: &[f64; 3]| {
        let c = (2.0 * z[0] - z[1]).cos();
        [2.0 * c, z[2] * z[2] - c, 2.0 * z[1] * z[2]]
    };
    let a = [1.4, 3.0, 0.9];
    let q = mixture(&[1.0], &[&a]);
    let grid = nodes(0.25, 24.0);
    let mut found = [0.0; 3];
    for (z, area) in &grid {
        let share = area * q.log_density(z).exp();
        if share > 1e-14 {
            along(&q, z, &slope(z)).iter().zip(&mut found).for_each(|(g, sum)| *sum += share * g);
        }
    }
    for j in 0..3 {
        let mean = |h: f64| {
            let mut moved = a;
            moved[j] += h;
            let q = mixture(&[1.0], &[&moved]);
            grid.iter().map(|(z, area)| area * q.log_density(z).exp() * f(z)).sum::<f64>()
        };
        let expected = (mean(1e-4) - mean(-1e-4)) / 2e-4;
        assert!((found[j] - expected).abs() < DIFFERENCES, "{j}: {} {expected}", found[j]);
    }
}

/// The other way to it: z = y/Y with gamma draws y, whose shapes have implicit derivatives, and given z the sum Y has a
/// gamma law. The mean over Y is what the library takes.
#[test]
fn the_derivative_of_a_draw_is_the_mean_of_that_of_gamma_draws() {
    let a = [0.7, 2.5, 6.0, 1.2];
    let (q, total) = (mixture(&[1.0], &[&a]), a.iter().sum::<f64>());
    for z in [[0.1, 0.3, 0.45, 0.15], [0.01, 0.6, 0.3, 0.09], [0.3, 0.02, 0.08, 0.6]] {
        for i in 0..4 {
            let g: Vec<f64> = (0..4).map(|k| f64::from(u8::from(k == i))).collect();
            let found = along(&q, &z, &g);
            for j in 0..4 {
                let direction = f64::from(u8::from(i == j)) - z[i];
                let step = 0.02;
                let term = |k: i32| {
                    let log_y = total.ln() + step * f64::from(k);
                    let y = log_y.exp();
                    let density = (total * log_y - y - ln_gamma(total)).exp();
                    step * density * gamma_shape_derivative(a[j], z[j] * y) / y
                };
                let expected = direction * (-700..=250).map(term).sum::<f64>();
                assert!((found[j] - expected).abs() < QUADRATURE, "{z:?}, {i} {j}: {} {expected}", found[j]);
            }
        }
    }
}

/// Moments of draws, also of small concentrations, where shares are often too small for a number.
#[test]
fn draws_lie_on_the_simplex_and_have_the_moments() {
    for a in [&[2.0, 0.5, 7.0][..], &[0.05, 0.02, 0.4], &[1e-3, 1e-3], &[1e6, 2e6, 3.0]] {
        let q = mixture(&[0.4, 0.6], &[a, &a.iter().map(|a| 1.5 * a).collect::<Vec<_>>()]);
        let mut stream = crate::members::stream(5);
        let n = 20_000;
        let (mut sum, mut squares) = (vec![0.0; a.len()], vec![0.0; a.len()]);
        for _ in 0..n {
            let (z, _) = q.draw_joint(&mut stream);
            assert!((z.iter().sum::<f64>() - 1.0).abs() < 1e-12 && z.iter().all(|z| *z > 0.0), "{z:?}");
            assert!(q.log_density(&z).is_finite(), "{z:?}");
            for (i, z) in z.iter().enumerate() {
                sum[i] += z / f64::from(n);
                squares[i] += z * z / f64::from(n);
            }
        }
        // |z| < 4.5: false alarms 7e−6 each.
        for (i, mean) in q.mean().iter().enumerate() {
            let error = ((squares[i] - sum[i] * sum[i]) / f64::from(n)).sqrt();
            assert!((sum[i] - mean).abs() < 4.5 * error + 1e-12, "{a:?}, {i}: {} ± {error}, {mean}", sum[i]);
        }
    }
}

/// m → a → m over a wide range, and what no member has.
#[test]
fn every_expectation_has_its_member() {
    for a in [vec![2.0, 3.0], vec![1e-2, 5.0, 0.3], vec![1e5, 3e5, 7.0, 0.2], vec![0.4; 12]] {
        let q = mixture(&[1.0], &[&a]);
        let found = q.with_expectation(&q.expectation()).unwrap().natural();
        for (found, a) in found.iter().zip(&a) {
            // Of large concentrations m keeps ten digits less than a has.
            assert!((found / a - 1.0).abs() < 1e-7, "{found} {a}");
        }
        assert!((q.expectation()[0] - (digamma(a[0]) - digamma(a.iter().sum()))).abs() < 1e-12);
    }
    let q = mixture(&[1.0], &[&[1.0, 1.0]]);
    // e^m of every member sum to less than one.
    assert!(q.with_expectation(&[0.5f64.ln(), 0.5f64.ln()]).is_err());
}
