use std::ops::ControlFlow;

use super::*;
use crate::family::Approximation;
use crate::plan::Stop;
use crate::target::{Target, from_fn};
use crate::{Family, Plan};

/// N(0, 1/a) × N(0, 1/b) as a posterior, untouched by the target.
fn normals(target: &dyn Target, a: f64, b: f64) -> Posterior {
    let blocks = vec![(vec![0.0; 2], vec![a, 0.0, 0.0, b])];
    let state = Approximation::from_parts(Family::gaussian(), 2, blocks, vec![0.0]);
    let plan = Plan { stop: Stop { max_steps: 0, ..Stop::default() }, ..Plan::default() };
    let start = state.unwrap();
    crate::run::fit_from(target, start, &plan, &mut |_| ControlFlow::Continue(())).unwrap()
}

/// N(0, 4) × N(0, 1), not a number where |z₁| is larger than `edge`.
fn target(edge: f64) -> impl Target {
    from_fn(2, move |z, grad| {
        grad.copy_from_slice(&[-z[0] / 4.0, -z[1]]);
        if z[0].abs() > edge { f64::NAN } else { -0.5 * (z[0] * z[0] / 4.0 + z[1] * z[1]) }
    })
}

#[test]
fn the_mixture_is_a_density_and_its_draws_are_of_it() {
    let posterior = normals(&target(f64::INFINITY), 0.25, 1.0);
    let wide = Wide::around(&posterior).unwrap();
    let mut u = [0.0; 2];
    // Σ over a grid in z = 2 sinh x, y = sinh y of the density; the tails beyond sinh 9 hold 1e-6.
    let (h, reach) = (0.02, 450);
    let mut total = 0.0;
    let mut near = 0.0;
    for i in -reach..=reach {
        for j in -reach..=reach {
            let (x, y) = (f64::from(i) * h, f64::from(j) * h);
            let z = [2.0 * x.sinh(), y.sinh()];
            let mass = wide.log_mixture(&z, f64::NEG_INFINITY, &mut u).exp() * 2.0 * x.cosh() * y.cosh() * h * h;
            total += mass;
            near += if z[0].abs() < 4.0 && z[1].abs() < 1.0 { mass } else { 0.0 };
        }
    }
    assert!((total - 0.5).abs() < 1e-4, "{total}");
    let draws = wide.draw(40_000, 3);
    let inside = draws.view().iter().filter(|z| z[0].abs() < 4.0 && z[1].abs() < 1.0).count();
    // Standard error 0.0025 and the steps of the grid: a false alarm in 1e-5.
    assert!((inside as f64 / 40_000.0 - 2.0 * near).abs() < 0.015, "{inside} {near}");
}

/// Weights towards p and q are the same numbers.
#[test]
fn a_fit_that_is_right_does_not_move_at_all() {
    let target = target(f64::INFINITY);
    let posterior = normals(&target, 0.25, 1.0);
    let mut weighted = posterior.importance(&target, 2_000, 1).unwrap();
    posterior.look_wider(&mut Evaluator::new(&target, None), 1, &[], &mut weighted).unwrap();
    let diagnostics = &weighted.diagnostics;
    let wide = diagnostics.wide.unwrap();
    let widened = weighted.widened.as_ref().unwrap();
    assert_eq!((widened.draws.len(), widened.weights.len()), (4_000, 4_000));
    assert!((widened.weights.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    assert_eq!(widened.draws.get(7), weighted.draws.get(7));
    assert_eq!((wide.n_draws, diagnostics.counts.log_density), (2_000, 4_000));
    assert!(wide.effective_sample_size > 0.6 * 4_000.0, "{wide:?}");
    for shift in &diagnostics.shifts {
        let numbers = [shift.mean.value, shift.mean.mcse, shift.log_sd.value, shift.log_sd.mcse];
        assert!(numbers.iter().all(|x| x.abs() < 1e-10), "{shift:?}");
    }
}

#[test]
fn wide_draws_outside_the_domain_are_no_fault_of_the_fit() {
    let target = target(12.0);
    let posterior = normals(&target, 0.25, 1.0);
    let mut weighted = posterior.importance(&target, 2_000, 1).unwrap();
    posterior.look_wider(&mut Evaluator::new(&target, None), 1, &[], &mut weighted).unwrap();
    let diagnostics = &weighted.diagnostics;
    assert_eq!(diagnostics.dropped, 0);
    assert!(diagnostics.counts.dropped > 100, "{:?}", diagnostics.counts);
    // What q has beyond six standard deviations is 2e-9.
    assert!(diagnostics.shifts.iter().all(|shift| shift.log_sd.value.abs() < 1e-5), "{:?}", diagnostics.shifts);
}

/// p is N(0, I) with a twentieth of N(0, 100 I): its sd is 2.44 = e^0.89, and draws of q do not see why.
#[test]
fn what_lies_outside_of_q_is_seen() {
    let target = from_fn(2, |z, grad| {
        let square = 0.5 * (z[0] * z[0] + z[1] * z[1]);
        let (core, halo) = (0.95 * (-square).exp(), 0.05 * (-square / 100.0).exp() / 100.0);
        let slope = (core + halo / 100.0) / (core + halo);
        grad.iter_mut().zip(z).for_each(|(g, z)| *g = -slope * z);
        (core + halo).ln()
    });
    let posterior = normals(&target, 1.0, 1.0);
    let mut weighted = posterior.importance(&target, 10_000, 1).unwrap();
    let alone = weighted.diagnostics.shifts[0].log_sd;
    assert!(alone.value.abs() < 0.1, "{alone:?}");
    posterior.look_wider(&mut Evaluator::new(&target, None), 1, &[], &mut weighted).unwrap();
    let together = weighted.diagnostics.shifts[0].log_sd;
    let truth = 0.5 * (0.95f64 + 0.05 * 100.0).ln();
    assert!((together.value - truth).abs() < 4.5 * together.mcse && together.mcse < 0.1, "{together:?}");
}
