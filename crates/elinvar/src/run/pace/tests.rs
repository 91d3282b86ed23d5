use super::window::fewest_steps;
use super::*;
use crate::rule::{EuclideanAdam, Rule};
use crate::tuning::pace::{
    FEWEST_UNHURRIED_STEPS, FIRST_UNHURRIED_WINDOW, FIRST_WINDOW, IDLE_REVIEWS, NOISE_PER_COORDINATE, RETREAT,
};

/// The pace of one component in two dimensions.
fn pace(plan: &Plan) -> Pace {
    Pace::new(plan, 1, 2, vec![0.5, 0.5])
}

fn left(mean: f64, error: f64) -> Option<Remaining> {
    Some(Remaining { mean, error })
}

/// What a review finds: bound, what is left with its error, and noise.
fn found(elbo: f64, remaining: (f64, f64), energy: f64) -> Findings {
    Findings { elbo, elbo_se: 0.01, remaining: Remaining { mean: remaining.0, error: remaining.1 }, energy }
}

/// A whole review against a best bound of 0 ± 0.01.
fn review(pace: &mut Pace, plan: &Plan, found: Findings) -> LookBack {
    pace.begin_review();
    let outcome = pace.look_back(plan, &found, Some((0.0, 0.01)));
    pace.plan_steps(plan, &found, outcome, 2.0);
    pace.open_window();
    outcome
}

#[test]
fn a_bound_is_weighed_against_the_best() {
    let given = Plan { step_size: StepSize::Constant(0.1), ..Plan::default() };
    // The error of the difference is 0.0141.
    let table = [
        (0.10, LookBack::Best, LookBack::Best, 0),
        (0.00, LookBack::Best, LookBack::Best, 1),
        (-0.025, LookBack::Best, LookBack::Best, 1),
        (-0.035, LookBack::NotBest, LookBack::NotBest, 1),
        (-0.050, LookBack::Retreat, LookBack::Fallen, 1),
    ];
    for (elbo, learned, scheduled, idle) in table {
        for (plan, expected) in [(&Plan::default(), learned), (&given, scheduled)] {
            let mut pace = pace(plan);
            assert_eq!(pace.look_back(plan, &found(elbo, (0.5, 0.01), 0.0), Some((0.0, 0.01))), expected, "{elbo}");
            assert_eq!(pace.idle, idle, "{elbo}");
            assert_eq!(pace.longest, if expected == LookBack::Retreat { RETREAT } else { 1.0 }, "{elbo}");
        }
    }
    let mut first = pace(&given);
    assert_eq!(first.look_back(&given, &found(-1e9, (0.5, 0.01), 0.0), None), LookBack::Best, "the first is the best");
}

#[test]
fn noise_asks_for_more_draws_and_nothing_for_fewer() {
    let tolerable = NOISE_PER_COORDINATE * 2.0;
    let plan = Plan { max_draws: 64, ..Plan::default() };
    let mut one = pace(&plan);
    review(&mut one, &plan, found(0.0, (0.5, 0.01), 0.9 * 16.0 * tolerable));
    assert_eq!((one.n_draws, one.longest), (16, 1.0));
    assert!(one.reach < 1.0, "the noise that is left shortens the steps");
    let draws: Vec<usize> = (0..4)
        .map(|_| {
            review(&mut one, &plan, found(0.0, (0.5, 0.01), 1e3));
            one.n_draws
        })
        .collect();
    assert_eq!(draws, [32, 64, 64, 64]);
    review(&mut one, &plan, found(0.0, (0.5, 0.01), 0.0));
    assert_eq!((one.n_draws, one.reach), (64, 1.0));
    assert!(one.review_draws >= 64);

    // A gain that noise hides from the review, not from the steps, is a matter of its own draws.
    let plan = Plan::default();
    let mut two = pace(&plan);
    review(&mut two, &plan, found(0.0, (0.02, 0.02), 0.0));
    assert_eq!((two.n_draws, two.review_draws), (16, 32));
    // With fewer items than there are, more draws are not the answer.
    let plan = Plan { minibatch: Some(10), ..plan };
    let mut three = pace(&plan);
    review(&mut three, &plan, found(0.0, (0.5, 0.01), 1e3));
    assert_eq!(three.n_draws, 16);
}

/// A rule of short steps is given time, and its draws are not doubled for the noise of whole natural-gradient steps.
#[test]
fn a_rule_of_short_steps_is_not_judged_by_whole_ones() {
    let plan = Plan { rule: Rule::EuclideanAdam(EuclideanAdam::default()), max_draws: 64, ..Plan::default() };
    let mut one = pace(&plan);
    assert_eq!(one.review_at, FIRST_UNHURRIED_WINDOW);
    let loud = found(0.0, (0.5, 0.01), 1e3);
    one.plan_steps(&plan, &loud, LookBack::Best, 2.0);
    assert_eq!(one.n_draws, 16);
    // Gains that noise hides, window after window, still ask for more.
    one.previous = left(0.5, 0.01);
    one.plan_steps(&plan, &loud, LookBack::Best, 2.0);
    assert_eq!(one.n_draws, 32);

    let plan = Plan { max_draws: 32, ..plan };
    (one.remaining, one.idle) = (left(0.5, 0.01), IDLE_REVIEWS);
    one.step = FEWEST_UNHURRIED_STEPS - 1;
    assert_eq!(one.reason_to_stop(&plan), None);
    one.step = FEWEST_UNHURRIED_STEPS;
    assert_eq!(one.reason_to_stop(&plan), Some(StopReason::Stagnated));
}

/// A gain of a tenth of a nat that whole windows do not shrink: the steps jump across the optimum.
#[test]
fn steps_that_bring_nothing_become_shorter() {
    let plan = Plan::default();
    let mut one = pace(&plan);
    one.previous = None;
    let table = [(0.5, 1.0), (0.2, 1.0), (0.19, 0.5), (0.05, 0.5), (0.049, 0.5)];
    for (remaining, longest) in table {
        review(&mut one, &plan, found(0.0, (remaining, 1e-4), 0.0));
        assert_eq!(one.longest, longest, "{remaining} left");
    }
}

#[test]
fn only_a_small_gain_that_was_seen_twice_is_convergence() {
    let plan = Plan::default();
    let converged = Some(StopReason::Converged);
    let table = [
        (left(0.005, 1e-3), left(0.001, 1e-4), converged, "seen twice"),
        (left(0.005, 1e-3), left(0.02, 1e-4), None, "too much is left"),
        (left(0.005, 1e-3), left(0.001, 0.006), None, "too little is known"),
        (left(0.5, 1e-3), left(0.001, 1e-4), None, "the review before disagrees"),
        (left(0.001, 1e-4), left(-0.02, 1e-3), None, "a negative gain is noise"),
        (None, left(0.001, 1e-4), None, "seen once"),
    ];
    for (previous, remaining, expected, why) in table {
        let one = Pace { previous, remaining, ..pace(&plan) };
        assert_eq!(one.reason_to_stop(&plan), expected, "{why}");
    }
}

#[test]
fn a_mixture_is_not_believed_too_soon() {
    let plan = Plan::default();
    let mut two = Pace::new(&plan, 2, 2, vec![1.0, 1.0]);
    assert_eq!(two.review_at, fewest_steps(2) / 4);
    (two.remaining, two.previous) = (left(0.0, 0.0), left(0.0, 0.0));
    two.step = fewest_steps(2) - 1;
    assert_eq!(two.reason_to_stop(&plan), None);
    two.step += 1;
    assert_eq!(two.reason_to_stop(&plan), Some(StopReason::Converged));
}

#[test]
fn a_run_that_cannot_draw_more_is_given_up() {
    let few = Plan { max_draws: 31, ..Plan::default() };
    let more = Plan { max_draws: 64, ..Plan::default() };
    let mut one = pace(&few);
    // Something is left, and five reviews bring nothing.
    for n in 0..IDLE_REVIEWS {
        assert_eq!(one.reason_to_stop(&few), None, "after {n} reviews");
        review(&mut one, &few, found(0.0, (0.03, 0.001), 0.0));
    }
    assert_eq!(one.reason_to_stop(&few), Some(StopReason::Stagnated));
    assert_eq!(one.reason_to_stop(&more), None, "more draws are left to try");
    review(&mut one, &few, found(1.0, (0.03, 0.001), 0.0));
    assert_eq!(one.reason_to_stop(&few), None, "a gain begins the count anew");
}

#[test]
fn steps_that_lead_nowhere_end_a_run() {
    let plan = Plan::default();
    let mut one = pace(&plan);
    (1..LOST_STEPS).for_each(|_| one.skip());
    assert_eq!(one.reason_to_stop(&plan), None);
    one.skip();
    assert_eq!(one.reason_to_stop(&plan), Some(StopReason::BadEvaluations));
    (0..LOST_STEPS).for_each(|_| one.after_step(Some(-1.0), 0.0));
    assert_eq!((one.reason_to_stop(&plan), one.step), (Some(StopReason::Stuck), 2 * u64::from(LOST_STEPS)));
    one.after_step(Some(-1.0), 0.5);
    assert_eq!(one.reason_to_stop(&plan), None, "a step that moves begins both counts anew");
    assert_eq!(one.baseline(7.0), 1.0, "−ELBO of the step before");
}

/// Standard deviations may change by factors of 10⁸ and not more.
#[test]
fn widths_beyond_every_range_are_wild() {
    let plan = Plan::default();
    for (variance, must_exist, wild) in [
        (0.5e15, true, false),
        (0.5e17, true, true),
        (0.5e-15, true, false),
        (0.5e-17, true, true),
        (f64::INFINITY, true, true),
        (f64::INFINITY, false, false),
        (f64::NAN, true, true),
    ] {
        let mut one = pace(&plan);
        one.watch_widths(&[0.5, variance], must_exist);
        assert_eq!(one.reason_to_stop(&plan), wild.then_some(StopReason::Diverged), "variance {variance}");
        let text = serde_json::to_string(&Pace { first_variances: vec![f64::INFINITY], ..one.clone() }).unwrap();
        assert_eq!(serde_json::from_str::<Pace>(&text).unwrap().first_variances, [f64::INFINITY]);
    }
}

#[test]
fn windows_grow_with_the_run_and_pay_for_their_reviews() {
    let plan = Plan::default();
    let mut one = pace(&plan);
    assert_eq!(one.review_at, FIRST_WINDOW);
    // The step of the review, draws of a review, and where the next window ends: 4 batches of 16 cost as much as 4
    // steps.
    for (step, review_draws, next) in [(8, 16, 12), (12, 16, 16), (100, 16, 140), (100, 64, 140), (100, 256, 164)] {
        (one.step, one.review_draws) = (step, review_draws);
        one.open_window();
        assert_eq!(one.review_at, next, "at step {step} with {review_draws} draws");
    }
}

#[test]
fn a_round_has_so_many_steps_and_a_look_back_in_the_middle() {
    // Steps of the round, limit of steps, the middle, the end, its reason, and whether it is whole.
    let table = [
        (20, 100, 10, 20, StopReason::Converged, true),
        (20, 20, 10, 20, StopReason::MaxSteps, true),
        (20, 13, 6, 13, StopReason::MaxSteps, false),
        (20, 1, u64::MAX, 1, StopReason::MaxSteps, false),
    ];
    for (steps, max_steps, middle, end, reason, whole) in table {
        let stop = Stop { max_steps, ..Stop::default() };
        let plan = Plan { stop, ..Plan::default() };
        let mut round = pace(&plan).at_most(0.4).round(steps, &stop);
        assert_eq!((round.is_round(), round.is_whole(&stop), round.beta(&plan)), (true, whole, 0.4));
        let mut looks = Vec::new();
        while round.reason_to_stop(&plan).is_none() {
            round.after_step(Some(0.0), 1.0);
            if round.review_is_due() {
                looks.push(round.step);
                round.arrive();
            }
        }
        assert_eq!((round.step, round.reason_to_stop(&plan)), (end, Some(reason)));
        assert_eq!(looks, if middle < end { vec![middle] } else { vec![] });
    }
}

#[test]
fn the_length_of_steps_is_learned_or_given() {
    let plan = Plan::default();
    let mut one = Pace { reach: 0.5, longest: 0.25, step: 4, ..pace(&plan) };
    let wanted = one.wanted(&plan, Some(-3.0));
    assert_eq!((wanted.beta, wanted.mixing_beta, wanted.max_kl), (0.25, 0.25, Some(1.0)));
    one.after_step(Some(-3.0), 1.0);
    // Step 5 takes the noise of step 4, and its bound is lower.
    assert_eq!(one.noise(&plan), 4);
    assert_eq!(one.wanted(&plan, Some(-3.1)).max_kl, Some(0.5));
    let given = Plan { step_size: StepSize::Constant(0.9), max_kl: None, ..plan };
    let mut other = Pace { reach: 0.5, longest: 0.25, step: 5, ..pace(&given) };
    assert_eq!((other.noise(&given), other.beta(&given), other.wanted(&given, Some(0.0)).max_kl), (5, 0.9, None));
}

/// The reviews after the second at which a run ends that always finds `remaining`, is above the Gaussian by `lead` and
/// has taken so many gradients (600 of the Gaussian).
fn ends_beside_its_gaussian(remaining: (f64, f64), lead: Estimate, gradients: u64, is_shifted: bool) -> Option<u32> {
    let plan = Plan::default();
    let mut pace = pace(&plan);
    review(&mut pace, &plan, found(0.0, remaining, 0.0));
    (1..=4).find(|_| {
        review(&mut pace, &plan, found(0.0, remaining, 0.0));
        pace.weigh_contained(&plan, lead, (gradients, 600), is_shifted);
        pace.reason_of_reviews(&plan) == Some(StopReason::Converged)
    })
}

#[test]
fn a_run_that_cannot_rise_above_its_gaussian_ends() {
    let lead = |value, mcse| Estimate { value, mcse };
    for (remaining, lead, gradients, expected) in [
        ((0.012, 0.001), lead(-0.01, 0.001), 1_800, Some(2)),
        ((0.012, 0.001), lead(0.0, 0.001), 1_800, None),
        ((0.3, 0.1), lead(-0.01, 0.001), 1_800, None),
        ((0.03, 0.01), lead(-0.01, 0.001), 5_400, Some(1)),
        ((0.03, 0.009), lead(0.001, 0.001), 5_400, Some(1)),
        ((0.3, 0.1), lead(0.001, 0.001), 5_400, None),
        ((0.3, 0.1), lead(0.05, 0.001), 5_400, None),
        // Whatever it hopes.
        ((0.3, 0.1), lead(0.001, 0.001), 6_300, Some(1)),
        ((0.3, 0.1), lead(0.05, 0.001), 6_300, None),
    ] {
        let ended = ends_beside_its_gaussian(remaining, lead, gradients, false);
        assert_eq!(ended, expected, "{remaining:?}, {lead:?}, {gradients}");
    }
}

#[test]
fn what_is_left_above_the_gaussian_is_believed_sooner_the_more_it_has_cost() {
    let (above, level) = (Estimate { value: 0.05, mcse: 0.001 }, Estimate { value: 0.0, mcse: 0.001 });
    for (remaining, gradients, expected) in [
        ((0.005, 0.004), 1_700, None),
        ((0.005, 0.004), 1_900, Some(1)),
        ((0.005, 0.006), 3_500, None),
        ((0.005, 0.006), 3_700, Some(1)),
        ((0.005, 0.021), 3_700, None),
        ((0.011, 0.001), 3_700, None),
    ] {
        assert_eq!(ends_beside_its_gaussian(remaining, above, gradients, false), expected, "{remaining:?}");
    }
    // One that is not above has to show it with two errors to spare.
    assert_eq!(ends_beside_its_gaussian((0.005, 0.004), level, 2_500, false), None);
}

/// Without a shift there is no slope along one, and so nothing that seems to be left.
#[test]
fn a_family_with_a_shift_is_not_believed_at_its_gaussian_before_its_time() {
    let level = Estimate { value: 0.0, mcse: 0.001 };
    let little = (0.001, 0.001);
    for (is_shifted, gradients, expected) in [(false, 1_800, Some(1)), (true, 1_800, None), (true, 4_900, Some(1))] {
        assert_eq!(ends_beside_its_gaussian(little, level, gradients, is_shifted), expected, "{gradients}");
    }
    let above = Estimate { value: 0.05, mcse: 0.001 };
    assert_eq!(ends_beside_its_gaussian(little, above, 1_800, true), Some(1));
}
