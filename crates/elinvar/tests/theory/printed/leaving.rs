//! What the paper leaves open: a step out of the domain; and what the preset does without.

use elinvar::Error;
use elinvar::block::{Location, LogWeights, Scale};
use elinvar::family::Approximation;
use elinvar::rule::{OnLeaving, StepSize};
use elinvar::run::StopReason;
use elinvar::run::fit_from;
use elinvar::target::{PointwiseHessian, PointwiseSecondOrder, PointwiseTarget, Shape, TargetError};

use super::*;

/// log p = ½ zᵀCz with C = diag(3, −1): the first direction is convex, and no Gaussian fits it.
struct Saddle;

impl PointwiseTarget for Saddle {
    fn dim(&self) -> usize {
        2
    }
    fn gradient(&self, z: &[f64], grad: &mut [f64]) -> Result<f64, TargetError> {
        grad.copy_from_slice(&[3.0 * z[0], -z[1]]);
        Ok(1.5 * z[0] * z[0] - 0.5 * z[1] * z[1])
    }
}

impl PointwiseHessian for Saddle {
    fn hessian(&self, _z: &[f64], hessian: &mut [f64]) -> Result<(), TargetError> {
        hessian.copy_from_slice(&[3.0, 0.0, 0.0, -1.0]);
        Ok(())
    }
}

fn start(shape: Shape, entries: Vec<f64>) -> Approximation {
    let scale = Scale::from_precision(shape, entries).unwrap();
    Approximation::single(elinvar::Family::gaussian(), Location::new(vec![0.1, 0.2], scale).unwrap()).unwrap()
}

/// P⁺ = (1 − β)P − βC: with P = I and β = ½ the eigenvalues are ½ − 3/2 and ½ + ½.
#[test]
fn a_run_that_leaves_the_domain_names_the_step_and_the_eigenvalue() {
    let full = start(Shape::Full(2), vec![1.0, 0.0, 0.0, 1.0]);
    for q in [full, start(Shape::Diagonal(2), vec![1.0, 1.0])] {
        let plan = Plan::printed(2, 0.5, 10);
        let ended = fit_from(&PointwiseSecondOrder(Saddle), q, &plan, &mut |_| std::ops::ControlFlow::Continue(()));
        let error = ended.unwrap_err();
        let Error::LeftDomain { step: 0, ref what, value } = error else { panic!("{error}") };
        assert!(what == "the smallest eigenvalue of the precision" && (value + 1.0).abs() < 1e-12, "{error}");
        assert_eq!(
            error.to_string(),
            "step 0 leaves the domain: the smallest eigenvalue of the precision would be -1.00000e0; take shorter steps \
             or more draws, or have such steps halved (on_leaving = halve)"
        );
    }
}

/// A mixture says which component, and nothing of the step is taken.
#[test]
fn a_mixture_names_the_component_and_stays_as_it_was() {
    let block = |p: f64| {
        let scale = Scale::from_precision(Shape::Diagonal(2), vec![p, 1.0]).unwrap();
        Location::new(vec![p, 0.0], scale).unwrap()
    };
    let weights = LogWeights::uniform(2);
    let q = Approximation::mixture(weights, vec![block(40.0), block(1.0)]).unwrap();
    let plan = Plan::printed(20, 0.5, 10);
    let target = PointwiseSecondOrder(Saddle);
    let mut run = Run::new(&target, q.clone(), &plan).unwrap();
    let said = run.step().unwrap_err().to_string();
    assert!(said.contains("the smallest eigenvalue of the precision of component "), "{said}");
    assert_eq!(*run.q(), q);
}

/// Halved until inside: with β = ½ the first length that leaves P positive is 1/8, where (1 − β) − 3β = ½.
#[test]
fn on_request_the_step_is_halved_until_it_stays() {
    let plan = super::options::with(|options| options.on_leaving = OnLeaving::Halve);
    let plan = Plan { step_size: StepSize::Constant(0.5), mixing_step_size: StepSize::Auto, ..plan };
    let target = PointwiseSecondOrder(Saddle);
    let mut run = Run::new(&target, start(Shape::Full(2), vec![1.0, 0.0, 0.0, 1.0]), &plan).unwrap();
    assert_eq!(run.step().unwrap().taken, 0.125);
    let p = run.q().locations()[0].scale().precision().to_vec();
    assert!((p[0] - 0.5).abs() < 1e-12 && (p[3] - 1.0).abs() < 1e-12, "{p:?}");
}

/// T steps of S draws cost T·S gradients: there is no search, no review and no second look; the result is the last
/// state, and a run of one more step begins there.
#[test]
fn a_run_takes_its_steps_and_returns_the_last_state() {
    let items = Items::new();
    let target = items.target(gaussian_prior());
    let scale = Scale::from_precision(Shape::Full(DIM), precision(0).entries).unwrap();
    let q = Approximation::single(elinvar::Family::gaussian(), Location::new(location(0), scale).unwrap()).unwrap();
    let plan = Plan { seed: SEED, ..Plan::printed(3, BETA, 40) };
    let last = fit_from(&target, q.clone(), &plan, &mut |_| std::ops::ControlFlow::Continue(())).unwrap();
    assert_eq!((last.trace().len(), last.counts().gradient, last.counts().hessian), (40, 120, 120));
    assert!(last.trace().iter().all(|step| step.n_draws == 3 && step.taken == BETA && step.remaining.is_none()));
    let mut run = Run::new(&target, q, &plan).unwrap();
    for _ in 0..40 {
        run.step().unwrap();
    }
    assert_eq!(run.q(), last.approximation());
    assert_eq!(last.stop_reason(), StopReason::MaxSteps);
}
