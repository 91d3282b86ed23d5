use super::*;
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
    let posterior = run.finish(StopReason::MaxSteps);
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

/// At N((x, 0), I) the gain ½ gᵀF⁻¹g is x²/2, and so is the fall of the bound. 4.5 standard errors: 2e−5 for a new seed.
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
    assert_eq!(run.counts().gradient, 2 * (BATCHES * run.review_draws) as u64);
}

#[test]
fn noise_asks_for_more_draws_and_nothing_for_fewer() {
    let target = target();
    let tolerable = NOISE_PER_COORDINATE * 2.0;
    let mut run = opened(&target, &Plan { max_draws: 64, ..Plan::default() });
    let quiet = findings(0.0, (0.5, 0.01), 0.9 * 16.0 * tolerable);
    run.plan_draws(&quiet, true);
    assert_eq!((run.n_draws, run.longest), (16, 1.0));
    assert!(run.reach < 1.0, "the noise that is left shortens the steps");
    let loud = findings(0.0, (0.5, 0.01), 1e3);
    let draws: Vec<usize> = (0..4)
        .map(|_| {
            run.plan_draws(&loud, true);
            run.n_draws
        })
        .collect();
    assert_eq!(draws, [32, 64, 64, 64]);
    run.plan_draws(&findings(0.0, (0.5, 0.01), 0.0), true);
    assert_eq!((run.n_draws, run.reach), (64, 1.0));
    assert!(run.review_draws >= 64);

    // A gain that noise hides from the review, not from the steps, is a matter of its own draws.
    let mut run = opened(&target, &Plan::default());
    run.plan_draws(&findings(0.0, (0.02, 0.02), 0.0), true);
    assert_eq!((run.n_draws, run.review_draws), (16, 32));
}

/// A rule of short steps is given time, and its draws are not doubled for the noise of whole natural-gradient steps.
#[test]
fn a_rule_of_short_steps_is_not_judged_by_whole_ones() {
    let target = target();
    let rule = Rule::EuclideanAdam(EuclideanAdam::default());
    let mut run = opened(&target, &Plan { rule, max_draws: 16, ..Plan::default() });
    assert_eq!(run.review_at, FIRST_UNHURRIED);
    run.plan.max_draws = 64;
    run.plan_draws(&findings(0.0, (0.5, 0.01), 1e3), true);
    assert_eq!(run.n_draws, 16);
    // Gains that noise hides, window after window, still ask for more.
    run.previous = Some(Remaining { mean: 0.5, error: 0.01 });
    run.plan_draws(&findings(0.0, (0.5, 0.01), 1e3), true);
    assert_eq!(run.n_draws, 32);

    run.plan.max_draws = 32;
    (run.remaining, run.idle) = (Some(Remaining { mean: 0.5, error: 0.01 }), IDLE_REVIEWS);
    run.step = FEWEST_UNHURRIED - 1;
    assert_eq!(run.reason_of_reviews(), None);
    run.step = FEWEST_UNHURRIED;
    assert_eq!(run.reason_of_reviews(), Some(StopReason::Stagnated));
}

/// A gain of a tenth of a nat that whole windows do not shrink: the steps jump across the optimum.
#[test]
fn steps_that_bring_nothing_become_shorter() {
    let target = target();
    let mut run = opened(&target, &Plan::default());
    let mut review = |remaining| {
        run.learn(normal(0.1, 1.0), &findings(0.0, (remaining, 1e-4), 0.0));
        run.longest
    };
    assert_eq!([0.5, 0.2, 0.19, 0.05, 0.049].map(&mut review), [1.0, 1.0, 0.5, 0.5, 0.5]);
}

#[test]
fn only_a_small_gain_that_was_seen_twice_is_convergence() {
    let target = target();
    let mut run = opened(&target, &Plan::default());
    let mut reason = |previous: (f64, f64), remaining: (f64, f64)| {
        run.previous = Some(Remaining { mean: previous.0, error: previous.1 });
        run.remaining = Some(Remaining { mean: remaining.0, error: remaining.1 });
        run.reason_to_stop()
    };
    assert_eq!(reason((0.005, 1e-3), (0.001, 1e-4)), Some(StopReason::Converged));
    assert_eq!(reason((0.005, 1e-3), (0.02, 1e-4)), None, "too much is left");
    assert_eq!(reason((0.005, 1e-3), (0.001, 0.006)), None, "too little is known");
    assert_eq!(reason((0.5, 1e-3), (0.001, 1e-4)), None, "the review before disagrees");
    assert_eq!(reason((0.001, 1e-4), (-0.02, 1e-3)), None, "a negative gain is noise");
    run.previous = None;
    assert_eq!(run.reason_to_stop(), None);
}

#[test]
fn a_mixture_is_not_believed_too_soon() {
    let target = target();
    let weights = LogWeights::new(vec![0.0, 0.0]).unwrap();
    let q = Approximation::mixture(weights, vec![block(-0.1, 1.0), block(0.1, 1.0)]).unwrap();
    let mut run = Run::new(&target, q, &Plan::default()).unwrap();
    run.remaining = Some(Remaining { mean: 0.0, error: 0.0 });
    run.previous = run.remaining;
    run.step = fewest_steps(2) - 1;
    assert_eq!(run.reason_to_stop(), None);
    run.step += 1;
    assert_eq!(run.reason_to_stop(), Some(StopReason::Converged));
}

#[test]
fn a_run_that_cannot_draw_more_is_given_up() {
    let target = target();
    let mut run = opened(&target, &Plan { max_draws: 31, ..Plan::default() });
    // Something is left, and five reviews bring nothing.
    for review in 0..=IDLE_REVIEWS {
        assert_eq!(run.reason_to_stop(), None, "after {review} reviews");
        run.learn(normal(0.1, 1.0), &findings(0.0, (0.03, 0.001), 0.0));
    }
    assert_eq!(run.reason_to_stop(), Some(StopReason::Stagnated));
    run.plan.max_draws = 64;
    assert_eq!(run.reason_to_stop(), None, "more draws are left to try");
    run.learn(normal(0.1, 1.0), &findings(1.0, (0.03, 0.001), 0.0));
    run.plan.max_draws = 31;
    assert_eq!(run.reason_to_stop(), None, "a gain begins the count anew");
}

#[test]
fn widths_beyond_every_range_are_wild() {
    let target = target();
    let mut run = opened(&target, &Plan { stop: Stop { max_steps: 50, ..Stop::default() }, ..Plan::default() });
    for (precision, wild) in [(2e-15, false), (2e-17, true), (2e15, false), (2e17, true)] {
        run.q = normal(0.0, precision);
        assert_eq!(run.is_wild(), wild, "precision {precision}");
    }
}
