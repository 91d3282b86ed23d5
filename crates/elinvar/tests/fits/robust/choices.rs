//! Choices that do not fit together are refused before anything runs, each with its sentence.

use elinvar::estimate::Curvature;
use elinvar::family::Family;
use elinvar::model::Banana;
use elinvar::rule::StepSize;
use elinvar::run::{Run, Stop, start};
use elinvar::target::{About, Answer, Ask, Prior, Target, TargetError, from_fn};
use elinvar::{Error, Plan};

use crate::subjects::{every_kind, logistic};

/// The sentence with which a plan is refused, for a start that fits the target.
fn refusal(target: &dyn Target, plan: &Plan) -> String {
    let from = start(target, Family::gaussian(), &Plan::default()).unwrap().approximation;
    let error = Run::new(target, from, plan).map(|_| ()).unwrap_err();
    // What a run refuses, a fit refuses in the same words.
    assert_eq!(error.to_string(), elinvar::run::fit(target, Family::gaussian(), plan).unwrap_err().to_string());
    error.to_string()
}

fn no_hessian() -> impl Target {
    from_fn(2, |z, grad| {
        grad.iter_mut().zip(z).for_each(|(g, z)| *g = -z);
        -0.5 * (z[0] * z[0] + z[1] * z[1])
    })
}

#[test]
fn a_start_of_another_dimension() {
    let from = start(&Banana::default(), Family::gaussian(), &Plan::default()).unwrap().approximation;
    let error = Run::new(&logistic(20, 3), from, &Plan::default()).map(|_| ()).unwrap_err();
    assert_eq!(error.to_string(), "dimension of the start: expected 3, found 2");
}

#[test]
fn plans_that_are_not_possible() {
    let (banana, regression, first_order) = (Banana::default(), logistic(20, 3), no_hessian());
    let default = Plan::default;
    let sized = |step_size| Plan { step_size, ..default() };
    let mixing = |mixing_step_size| Plan { mixing_step_size, ..default() };
    let stop = |stop| Plan { stop, ..default() };
    let power = |initial, delay, exponent| StepSize::Power { initial, delay, exponent };
    let kl = |bound| Plan { max_kl: Some(bound), ..default() };
    let batch = |size| Plan { minibatch: Some(size), ..default() };
    let positive_size = "is outside its domain: a step size is a positive number";
    let bound = "is outside its domain: the bound is a positive number of nats";
    let items = "is outside its domain: a mini-batch has between 1 and as many items as the data";
    let cases: Vec<(&dyn Target, Plan, String)> = vec![
        (
            &banana,
            Plan { n_draws: 0, ..default() },
            "n_draws = 0 is outside its domain: a step needs at least one draw".into(),
        ),
        (
            &first_order,
            Plan { curvature: Curvature::Hessian, ..default() },
            "curvature `hessian` for a target without second derivatives is not available here; use `stein`, which needs \
             gradients only, or give the target a Hessian"
                .into(),
        ),
        (
            &banana,
            batch(1),
            "a mini-batch of a target that is not a sum over data items is not available here; leave `minibatch` out, or \
             set `About::n_rows`"
                .into(),
        ),
        (&regression, batch(21), format!("minibatch = 21 {items}")),
        (&regression, batch(0), format!("minibatch = 0 {items}")),
        (&banana, kl(-1.0), format!("max_kl = -1 {bound}")),
        (&banana, kl(0.0), format!("max_kl = 0 {bound}")),
        (&banana, kl(f64::NAN), format!("max_kl = NaN {bound}")),
        (&banana, sized(StepSize::Constant(0.0)), format!("step_size = 0 {positive_size}")),
        (&banana, sized(StepSize::Constant(-0.1)), format!("step_size = -0.1 {positive_size}")),
        (&banana, sized(StepSize::Constant(f64::NAN)), format!("step_size = NaN {positive_size}")),
        (&banana, sized(StepSize::Constant(f64::INFINITY)), format!("step_size = inf {positive_size}")),
        (&banana, mixing(StepSize::Constant(-2.0)), format!("mixing_step_size = -2 {positive_size}")),
        (
            &banana,
            sized(power(0.0, 1.0, 0.6)),
            "step_size = 0 is outside its domain: the initial step size is a positive number".into(),
        ),
        (
            &banana,
            sized(power(1.0, -3.0, 0.6)),
            "step_size = -3 is outside its domain: the delay is a positive number of steps".into(),
        ),
        (
            &banana,
            sized(power(1.0, 1.0, 1.5)),
            "step_size = 1.5 is outside its domain: the exponent lies between 0 and 1".into(),
        ),
        (
            &banana,
            stop(Stop { remaining_nats: -0.5, ..Stop::default() }),
            "stop.remaining_nats = -0.5 is outside its domain: the tolerance is a number of nats, zero or more".into(),
        ),
        (
            &banana,
            stop(Stop { max_seconds: Some(f64::NAN), ..Stop::default() }),
            "stop.max_seconds = NaN is outside its domain: the limit is a number of seconds, zero or more".into(),
        ),
    ];
    for (target, plan, sentence) in cases {
        assert_eq!(refusal(target, &plan), sentence);
    }
}

#[test]
fn constants_of_a_family_outside_their_domain() {
    let degrees = "is outside its domain: a Student-t approximation needs a > 1: below that it has no covariance";
    let directions = "is outside its domain: a family is skewed in one, two or three directions of its own";
    let shape = "is outside its domain: the inverse-Gaussian shape is a positive number";
    let cases = [
        (Family::mog(0), "components = 0 is outside its domain: a mixture needs at least one component".to_owned()),
        (Family::student_t(1.0), format!("a = 1 {degrees}")),
        (Family::student_t(f64::NAN), format!("a = NaN {degrees}")),
        (Family::nig(0.0), format!("lambda = 0 {shape}")),
        (Family::snig(-1.0), format!("lambda = -1 {shape}")),
        (
            Family::rank_k(0),
            "rank = 0 is outside its domain: a factor covariance needs at least one column; use `gaussian`".to_owned(),
        ),
        (Family::skew_k(0), format!("directions = 0 {directions}")),
        (Family::emg_k(4), format!("directions = 4 {directions}")),
    ];
    for (family, sentence) in cases {
        for family in [family, family.diagonal()] {
            let error = elinvar::run::fit(&Banana::default(), family, &Plan::default()).unwrap_err();
            assert_eq!(error.to_string(), sentence);
        }
    }
}

/// A t likelihood term with the t prior that shares w, which only `student_t` can use.
struct SharedPrior;

impl Target for SharedPrior {
    fn about(&self) -> About {
        About { prior: Prior::student_t(1.0, 3.0, 2), ..About::new(2) }
    }

    fn evaluate(&self, ask: &Ask<'_>, out: &mut Answer) -> Result<(), TargetError> {
        for (s, z) in ask.draws.iter().enumerate() {
            out.log_p_mut()[s] = -0.5 * z.iter().map(|v| (v - 1.0) * (v - 1.0)).sum::<f64>();
            out.grad_mut(s).iter_mut().zip(z).for_each(|(g, v)| *g = 1.0 - v);
        }
        Ok(())
    }
}

#[test]
fn a_prior_that_the_family_cannot_share() {
    for family in every_kind() {
        let from = start(&no_hessian(), family, &Plan::default()).unwrap().approximation;
        let opened = Run::new(&SharedPrior, from, &Plan::default()).map(|_| ());
        if family.name() == "student_t" {
            opened.unwrap();
            continue;
        }
        let Err(error @ Error::Unsupported { .. }) = opened else { panic!("{family}: {opened:?}") };
        let wanted = format!(
            "a t prior that shares w with `{family}` is not available here; use `student_t`, or evaluate the prior as part \
             of the target"
        );
        assert_eq!(error.to_string(), wanted);
    }
}

/// The start of a family is found by a Gaussian fit, which must not stand in the way of a t prior.
#[test]
fn a_t_prior_can_be_fitted_by_its_family() {
    let posterior = elinvar::run::fit(&SharedPrior, Family::student_t(3.0), &Plan::default()).unwrap();
    let mean = posterior.approximation().mean();
    assert!(mean.iter().all(|m| (0.2..0.9).contains(m)), "{mean:?}");
}
