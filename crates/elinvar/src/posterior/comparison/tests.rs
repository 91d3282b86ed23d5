use std::ops::ControlFlow;

use super::*;
use crate::family::Approximation;
use crate::plan::Stop;
use crate::target::from_fn;
use crate::{Family, Plan};

/// N(0, 1) with its constant.
fn target() -> impl Target {
    from_fn(1, |z, grad| {
        grad[0] = -z[0];
        log_p(z[0])
    })
}

fn log_p(z: f64) -> f64 {
    -0.5 * (z * z + std::f64::consts::TAU.ln())
}

/// A member of a family on the line, from the means and precisions of its components.
fn member(target: &dyn Target, family: Family, components: &[(f64, f64)]) -> Posterior {
    let block = |&(mean, precision): &(f64, f64)| (vec![mean], vec![precision]);
    let log_weights = vec![-(components.len() as f64).ln(); components.len()];
    let state = Approximation::from_parts(family, 1, components.iter().map(block).collect(), log_weights);
    let plan = Plan { stop: Stop { max_steps: 0, ..Stop::default() }, ..Plan::default() };
    let start = state.unwrap();
    crate::run::fit_from(target, start, &plan, &mut |_| ControlFlow::Continue(())).unwrap()
}

/// ∫ q (log p − log q) by the trapezoidal rule on z = sinh t.
fn exact(posterior: &Posterior) -> f64 {
    let h = 1e-3;
    let term = |i: i32| {
        let t = f64::from(i) * h;
        let (z, log_q) = (t.sinh(), posterior.log_density(&[t.sinh()]));
        if log_q < -700.0 { 0.0 } else { log_q.exp() * (log_p(z) - log_q) * t.cosh() * h }
    };
    (-8_000..=8_000).map(term).sum()
}

/// A Gaussian, a Student-t and a mixture near each other, and a Gaussian far away.
fn fits(target: &dyn Target) -> Vec<Posterior> {
    vec![
        member(target, Family::gaussian(), &[(0.1, 0.9)]),
        member(target, Family::student_t(8.0), &[(0.05, 1.2)]),
        member(target, Family::mog(2), &[(-0.3, 1.0), (0.5, 1.1)]),
        member(target, Family::gaussian(), &[(4.0, 9.0)]),
    ]
}

#[test]
fn errors_are_those_of_the_estimates() {
    let target = target();
    let fits = fits(&target);
    let exact: Vec<f64> = fits.iter().map(exact).collect();
    // Of a pair the difference has a sign; which of several is the best would depend on the noise.
    let pairs = [(0, 1), (0, 2), (1, 2), (0, 3), (2, 3)];
    let seeds = 400_u32;
    // The mean of 400 squares of standard normals has the standard deviation √(2/400), their mean 1/√400; with ± 4.5 of
    // them a false alarm has the probability 7e-6 for each of the 20 numbers.
    let (n, spread) = (f64::from(seeds), 4.5 / f64::from(seeds).sqrt());
    for (a, b) in pairs {
        let mut scores = [Vec::new(), Vec::new()];
        for seed in 0..seeds {
            let found = compare(&target, &[&fits[a], &fits[b]], 2_000, seed.into()).unwrap();
            let [first, second] = [found.elbo[0], found.elbo[1]];
            assert_eq!(found.difference[found.best], Estimate { value: 0.0, mcse: 0.0 });
            let error = found.difference[1 - found.best].mcse;
            scores[0].push((first.value - exact[a]) / first.mcse);
            scores[1].push((first.value - second.value - exact[a] + exact[b]) / error);
        }
        for (what, scores) in ["bound", "difference"].into_iter().zip(scores) {
            let mean = scores.iter().sum::<f64>() / n;
            let square = scores.iter().map(|z| z * z).sum::<f64>() / n;
            assert!(mean.abs() < spread, "{what} of {a} and {b}: mean z {mean}");
            assert!((square - 1.0).abs() < spread * 2f64.sqrt(), "{what} of {a} and {b}: mean z² {square}");
        }
    }
}

/// Fits that share what is wrong with them.
#[test]
fn the_noise_of_neighbours_cancels() {
    let target = from_fn(1, |z, grad| {
        grad[0] = 1.0 - z[0].exp();
        z[0] - z[0].exp()
    });
    let gaussian = member(&target, Family::gaussian(), &[(-0.5, 0.9)]);
    let student = member(&target, Family::student_t(30.0), &[(-0.5, 0.9)]);
    let mixture = member(&target, Family::mog(2), &[(-0.7, 0.9), (-0.3, 1.0)]);
    let far = member(&target, Family::gaussian(), &[(-6.0, 9.0)]);
    let error = |pair: [&Posterior; 2]| {
        let found = compare(&target, &pair, 20_000, 1).unwrap();
        let apart = found.diagnostics[0].elbo.mcse.hypot(found.diagnostics[1].elbo.mcse);
        found.difference[1 - found.best].mcse / apart
    };
    for pair in [[&gaussian, &student], [&gaussian, &mixture], [&student, &mixture]] {
        let ratio = error(pair);
        assert!(ratio < 0.5, "{:?}: {ratio}", pair.map(|p| p.family().name()));
    }
    // Draws of the same seed whose ratios may go opposite ways: the error of a difference is at most √2 times larger.
    let ratio = error([&gaussian, &far]);
    assert!((0.7..1.42).contains(&ratio), "{ratio}");
    let twice = compare(&target, &[&mixture, &mixture], 1_000, 1).unwrap();
    assert_eq!(twice.difference, [Estimate { value: 0.0, mcse: 0.0 }; 2]);
}

#[test]
fn draws_where_the_density_is_not_finite_are_left_out() {
    let half = from_fn(1, |z, grad| {
        grad[0] = -z[0];
        if z[0] > 1.0 { f64::NAN } else { log_p(z[0]) }
    });
    let fits = fits(&half);
    let found = compare(&half, &[&fits[0], &fits[1]], 2_000, 1).unwrap();
    assert!(found.diagnostics.iter().all(|d| d.dropped > 200));
    assert!(found.elbo.iter().all(|elbo| elbo.is_known() && elbo.mcse < 0.1));
    assert!(compare(&half, &[], 100, 1).is_err());
}
