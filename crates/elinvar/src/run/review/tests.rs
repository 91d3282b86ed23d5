use super::*;
use crate::Family;
use crate::block::{Location, Scale};
use crate::model;
use crate::rule::StepSize;
use crate::run::{Plan, StopReason};
use crate::target::Shape;
use crate::tuning::pace::RETREAT;

/// N(0, I) in two dimensions.
fn target() -> model::Gaussian {
    model::Gaussian::new(vec![0.0, 0.0], vec![1.0, 0.0, 0.0, 1.0]).unwrap()
}

fn block(x: f64, precision: f64) -> Location {
    let scale = Scale::from_precision(Shape::Full(2), vec![precision, 0.0, 0.0, precision]).unwrap();
    Location::new(vec![x, 0.0], scale).unwrap()
}

fn normal(x: f64, precision: f64) -> Approximation {
    Approximation::single(Family::gaussian(), block(x, precision)).unwrap()
}

fn opened<'t>(target: &'t model::Gaussian, plan: &Plan) -> Run<'t> {
    Run::new(target, normal(0.5, 2.0), plan).unwrap()
}

/// A window that consists of one state.
fn window_of(run: &mut Run<'_>, q: Approximation) {
    run.average = Average::new(q.clone());
    run.average.add(&q);
    run.q = q;
    (0..10).for_each(|_| run.pace.after_step(None, 1.0));
}

/// KL(N((2, 0), I) ‖ N(0, I)) = 2: two nats lower than the state before.
#[test]
fn a_run_whose_bound_has_fallen_goes_back_and_takes_shorter_steps() {
    let target = target();
    let mut run = opened(&target, &Plan::default());
    window_of(&mut run, normal(0.1, 1.0));
    run.review().unwrap();
    assert_eq!(run.best(), &normal(0.1, 1.0));
    assert!(run.pace.beta(&run.plan) > RETREAT);

    window_of(&mut run, normal(2.0, 1.0));
    run.review().unwrap();
    assert_eq!((run.best(), run.q()), (&normal(0.1, 1.0), &normal(0.1, 1.0)));
    assert!(run.pace.beta(&run.plan) <= RETREAT);
    let fresh = Average::new(normal(0.1, 1.0));
    assert_eq!(run.average.state(), fresh.state(), "the next window begins at the best state");
    run.step().unwrap();

    window_of(&mut run, normal(0.0, 1.0));
    run.review().unwrap();
    assert_eq!(run.best(), &normal(0.0, 1.0), "a better state is kept");
    assert!(run.pace.beta(&run.plan) <= RETREAT, "steps stay short");
}

/// A schedule of one's own is not overruled, but the best state is still the result.
#[test]
fn a_run_with_given_step_sizes_does_not_go_back() {
    let target = target();
    let mut run = opened(&target, &Plan { step_size: StepSize::Constant(0.1), ..Plan::default() });
    window_of(&mut run, normal(0.1, 1.0));
    run.review().unwrap();
    window_of(&mut run, normal(2.0, 1.0));
    run.review().unwrap();
    assert_eq!((run.q(), run.best()), (&normal(2.0, 1.0), &normal(0.1, 1.0)));
    let posterior = run.finish_as(StopReason::MaxSteps);
    assert_eq!(posterior.log_density(&[0.3, 0.2]), normal(0.1, 1.0).log_density(&[0.3, 0.2]));
}

#[test]
fn a_plan_without_averages_judges_the_last_state() {
    let target = target();
    for (average, expected) in [(true, 0.5), (false, 1.0)] {
        let mut run = opened(&target, &Plan { average, ..Plan::default() });
        run.average = Average::new(normal(0.0, 1.0));
        run.average.add(&normal(0.0, 1.0));
        run.average.add(&normal(1.0, 1.0));
        run.q = normal(1.0, 1.0);
        run.review().unwrap();
        assert!((run.best().mean()[0] - expected).abs() < 1e-14, "{:?}", run.best().mean());
    }
}

/// At N((x, 0), I) the gain ½ gᵀF⁻¹g is x²/2, and so is the fall of the bound. 4.5 standard errors: 2e−5 for a new
/// seed.
#[test]
fn a_review_finds_the_bound_and_what_is_left() {
    let target = target();
    let mut run = opened(&target, &Plan::default());
    let found = run.findings_at(&mut normal(0.4, 1.0)).unwrap().unwrap();
    let gain = run.q.gain_factor() * 0.08;
    assert!((found.remaining.mean - gain).abs() < 4.5 * found.remaining.error, "{:?}", found.remaining);
    assert!(found.remaining.error < 0.3 * gain);
    let optimum = run.findings_at(&mut normal(0.0, 1.0)).unwrap().unwrap();
    assert!(optimum.remaining.mean.abs() < 4.5 * optimum.remaining.error && optimum.remaining.is_below(0.05));
    assert!(optimum.energy > 0.0 && optimum.energy < 1.0, "sixteen points of low discrepancy: {}", optimum.energy);
    let fall = optimum.elbo - found.elbo;
    assert!((fall - 0.08).abs() < 4.5 * found.elbo_se + 1e-12, "{fall} ± {}", found.elbo_se);
    assert_eq!(run.q(), &normal(0.5, 2.0), "the run is where it was");
    assert_eq!(run.counts().gradient, 2 * (REVIEW_BATCHES * run.pace.review_draws()) as u64);
}
