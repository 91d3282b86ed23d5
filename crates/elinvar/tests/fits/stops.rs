//! Why runs end: fits that cannot converge say so, by themselves and in time.

use std::ops::ControlFlow;

use elinvar::model::BetaBinomial;
use elinvar::run::fit;
use elinvar::run::{Run, Stop, StopReason, start};
use elinvar::target::{Target, from_fn};
use elinvar::{Family, Plan};

use crate::subjects::standard;

/// A fit from N((0, 0.1), I), without the search that would notice more.
fn reason(target: &dyn Target, plan: &Plan) -> (StopReason, bool, usize) {
    let mut run = Run::new(target, standard(Family::gaussian(), 2), plan).unwrap();
    let reason = run.fit(&mut |_| ControlFlow::Continue(())).unwrap();
    let steps = run.trace().len();
    (reason, run.finish_as(reason).converged(), steps)
}

#[test]
fn a_constant_density_is_never_converged() {
    let constant = from_fn(2, |_, grad| {
        grad.fill(0.0);
        3.0
    });
    let (found, converged, _) = reason(&constant, &Plan::default());
    assert!(!converged && found != StopReason::Converged, "{found}");
    let posterior = fit(&constant, Family::gaussian(), &Plan::default()).unwrap();
    assert!(!posterior.converged(), "{}", posterior.stop_reason());
}

#[test]
fn a_flat_direction_is_never_converged() {
    let ridge = from_fn(2, |z, grad| {
        let sum = z[0] + z[1];
        grad.fill(-sum);
        -0.5 * sum * sum
    });
    let (found, converged, steps) = reason(&ridge, &Plan::default());
    assert!(!converged && found != StopReason::Converged, "{found} after {steps} steps");
}

/// The gradient belongs to another function than the value: nothing is left to gain by one, and the other never rises.
#[test]
fn noise_that_more_draws_do_not_cure_is_not_convergence() {
    let rough = from_fn(2, |z, grad| {
        for i in 0..2 {
            grad[i] = -z[i] + 20.0 * (1e7 * z[i]).sin();
        }
        -0.5 * (z[0] * z[0] + z[1] * z[1])
    });
    let plan = Plan { max_draws: 16, ..Plan::default() };
    let (found, converged, steps) = reason(&rough, &plan);
    assert!(!converged && found != StopReason::Converged, "{found} after {steps} steps");
}

#[test]
fn limits_are_not_convergence() {
    let target = BetaBinomial::cancer_mortality();
    let limits = [
        (Stop { max_steps: 1, ..Stop::default() }, StopReason::MaxSteps),
        (Stop { max_evaluations: 50, ..Stop::default() }, StopReason::MaxEvaluations),
        (Stop { max_seconds: Some(0.0), ..Stop::default() }, StopReason::MaxSeconds),
    ];
    for (stop, expected) in limits {
        let posterior = fit(&target, Family::gaussian(), &Plan { stop, ..Plan::default() }).unwrap();
        assert_eq!((posterior.stop_reason(), posterior.converged()), (expected, false));
    }
    // With no tolerance nothing is small enough.
    let stop = Stop { remaining_nats: 0.0, max_steps: 300, ..Stop::default() };
    let posterior = fit(&target, Family::gaussian(), &Plan { stop, ..Plan::default() }).unwrap();
    assert!(!posterior.converged());
}

/// Across reviews, and a retreat: the run is moved away by hand, so that the next review goes back, before or after the
/// cut.
#[test]
fn a_mixture_resumes_across_reviews_and_a_retreat() {
    let target = BetaBinomial::cancer_mortality();
    let plan = Plan { seed: 3, max_kl: Some(1.0), ..Plan::default() };
    let from = start(&target, Family::mog(3), &plan).unwrap().approximation;
    let q = from;
    let advance = |run: &mut Run<'_>, steps: u64| {
        for _ in 0..steps {
            run.step().unwrap();
            if run.review_is_due() {
                run.review().unwrap();
            }
        }
    };
    let mut straight = Run::new(&target, q, &plan).unwrap();
    advance(&mut straight, 50);
    let mut cuts = vec![straight.checkpoint()];
    for steps in [15, 60, 140] {
        advance(&mut straight, steps);
        cuts.push(straight.checkpoint());
    }
    let end = serde_json::to_string(cuts[3].state()).unwrap();
    for cut in &cuts[..3] {
        // Through text, as a file would.
        let read = serde_json::from_str(&serde_json::to_string(cut).unwrap()).unwrap();
        let mut resumed: Run<'_> = Run::resume(&target, &read).unwrap();
        advance(&mut resumed, 265 - cut.step());
        assert_eq!(serde_json::to_string(resumed.checkpoint().state()).unwrap(), end, "cut at {}", cut.step());
        assert_eq!(resumed.counts(), straight.counts());
        assert_eq!(resumed.best(), straight.best());
    }

    // A best state that promises too much makes the next review go back.
    let mut value = serde_json::to_value(&cuts[2]).unwrap();
    let elsewhere = serde_json::to_value(cuts[0].state()).unwrap();
    value["state"]["blocks"].as_array_mut().unwrap().iter_mut().for_each(|block| {
        block["b"][0] = (block["b"][0].as_f64().unwrap() + 3.0).into();
    });
    value["average"]["reference"] = value["state"].clone();
    value["average"]["count"] = 0.into();
    value["average"]["sum"].as_array_mut().unwrap().iter_mut().for_each(|sum| *sum = 0.0.into());
    value["pace"]["review_at"] = (cuts[2].step() + 1).into();
    value["best"]["state"] = elsewhere;
    let moved = serde_json::from_value(value).unwrap();
    let mut run: Run<'_> = Run::resume(&target, &moved).unwrap();
    let best = run.best().clone();
    advance(&mut run, 1);
    assert_eq!(run.q(), &best, "the review has gone back");
    let cut = run.checkpoint();
    advance(&mut run, 30);
    let mut resumed: Run<'_> = Run::resume(&target, &cut).unwrap();
    advance(&mut resumed, 30);
    assert_eq!((resumed.q(), resumed.counts()), (run.q(), run.counts()));
    let mut before: Run<'_> = Run::resume(&target, &moved).unwrap();
    advance(&mut before, 31);
    assert_eq!(before.q(), run.q());
}
