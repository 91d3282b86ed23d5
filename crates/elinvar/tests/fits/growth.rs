//! Draws that double when noise hides the gain, and starts that share no draws with the fit they begin.

use std::ops::ControlFlow;
use std::sync::Mutex;

use elinvar::model::Banana;
use elinvar::random::Noise;
use elinvar::run::{Checkpoint, Run, StopReason, start};
use elinvar::target::from_fn;
use elinvar::{Family, Plan};

/// A noisy family on a curved target: 16 draws do not show what is left to gain.
fn noisy<'t>(target: &'t Banana, plan: &Plan) -> Run<'t> {
    let approximation = start(target, Family::nig(2.0), plan).unwrap().approximation;
    Run::new(target, approximation, plan).unwrap()
}

#[test]
fn draws_double_until_the_gain_is_seen() {
    let target = Banana::default();
    let mut run = noisy(&target, &Plan::default());
    assert_eq!(run.fit(&mut |_| ControlFlow::Continue(())).unwrap(), StopReason::Converged);
    let draws: Vec<usize> = run.trace().iter().map(|step| step.n_draws).collect();
    assert_eq!(draws[0], 16);
    assert!(draws.last() > Some(&16), "ended with {:?}", draws.last());
    assert!(draws.windows(2).all(|pair| pair[1] == pair[0] || pair[1] == 2 * pair[0]));

    let fixed = Plan { max_draws: 16, ..Plan::default() };
    let mut run = noisy(&target, &fixed);
    run.fit(&mut |step| if step.index < 300 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }).unwrap();
    assert!(run.trace().iter().all(|step| step.n_draws == 16), "a plan may forbid it");
}

#[test]
fn a_run_that_has_grown_resumes_to_the_same_bits() {
    let target = Banana::default();
    let mut straight = noisy(&target, &Plan::default());
    let mut kept: Option<Checkpoint> = None;
    loop {
        straight.step().unwrap();
        if straight.review_is_due() {
            straight.review().unwrap();
        }
        if kept.is_none() && straight.n_draws() > 16 {
            kept = Some(straight.checkpoint());
        }
        if straight.reason_to_stop().is_some() {
            break;
        }
    }
    let checkpoint = kept.expect("the draws have grown");
    let mut resumed: Run<'_> = Run::resume(&target, &checkpoint).unwrap();
    assert_eq!(resumed.n_draws(), checkpoint.n_draws());
    while resumed.reason_to_stop().is_none() {
        resumed.step().unwrap();
        if resumed.review_is_due() {
            resumed.review().unwrap();
        }
    }
    assert_eq!(resumed.checkpoint().state(), straight.checkpoint().state());
    assert_eq!(resumed.counts(), straight.counts());
}

/// The noise of the first step of a fit is not that of the first step of the short fit behind its start.
#[test]
fn a_fit_does_not_see_the_draws_of_its_start() {
    let seen = Mutex::new(Vec::new());
    let target = from_fn(2, |z: &[f64], grad: &mut [f64]| {
        seen.lock().unwrap().push([z[0], z[1]]);
        grad.iter_mut().zip(z).for_each(|(g, z)| *g = -z);
        -0.5 * (z[0] * z[0] + z[1] * z[1])
    });
    let plan = Plan { n_draws: 4, noise: Noise::Independent, ..Plan::default() };
    // The start of a Gaussian is the search for the mode and no more.
    let searched = start(&target, Family::gaussian(), &plan).unwrap().counts.gradient as usize;
    seen.lock().unwrap().clear();
    let approximation = start(&target, Family::mog(1), &plan).unwrap().approximation;
    // The short fit begins at N(0, I): its first four points are its noise.
    let of_the_start = seen.lock().unwrap()[searched..searched + 4].to_vec();
    let q = approximation;
    seen.lock().unwrap().clear();
    let mut run: Run<'_> = Run::new(&target, q.clone(), &plan).unwrap();
    run.step().unwrap();
    let (mean, cov) = (q.mean(), q.covariance());
    for (z, eps) in seen.lock().unwrap().iter().zip(&of_the_start) {
        // The last coordinate of μ + L⁻ᵀε is μ₂ + ε₂/L₂₂, with L₂₂² the last conditional precision, 1/Σ₂₂.
        let white = (z[1] - mean[1]) / cov[3].sqrt();
        assert!((white - eps[1]).abs() > 1e-6, "the same noise twice: {white} and {}", eps[1]);
    }
}
