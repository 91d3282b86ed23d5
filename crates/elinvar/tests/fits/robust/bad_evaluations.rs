//! Targets that cannot be evaluated everywhere.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::state::Stated;
use elinvar::family::Family;
use elinvar::rule::StepSize;
use elinvar::run::{StopReason, fit_from};
use elinvar::target::{Pointwise, PointwiseHessian, PointwiseSecondOrder, PointwiseTarget, Target, TargetError};
use elinvar::{Error, Plan, Posterior};

use crate::subjects::{every_kind, families, label, standard};

/// How a target fails at a point.
#[derive(Clone, Copy, Debug)]
enum Failure {
    NanDensity,
    InfiniteDensity,
    MinusInfinity,
    NanGradient,
    InfiniteGradient,
    Recoverable,
    HessianOnly,
}

const FAILURES: [Failure; 7] = [
    Failure::NanDensity,
    Failure::InfiniteDensity,
    Failure::MinusInfinity,
    Failure::NanGradient,
    Failure::InfiniteGradient,
    Failure::Recoverable,
    Failure::HessianOnly,
];

/// The Gaussian N(`MEAN`, `COVARIANCE`) that fails at the points for which `bad` holds.
struct Failing<B> {
    failure: Failure,
    bad: B,
}

const MEAN: [f64; 2] = [1.5, -0.5];
const COVARIANCE: [f64; 4] = [1.5, 0.5, 0.5, 1.0];
/// Its inverse.
const PRECISION: [f64; 4] = [0.8, -0.4, -0.4, 1.2];

fn failing<B: Fn(&[f64]) -> bool + Sync>(failure: Failure, bad: B) -> Failing<B> {
    Failing { failure, bad }
}

impl<B: Fn(&[f64]) -> bool + Sync> PointwiseTarget for Failing<B> {
    fn dim(&self) -> usize {
        2
    }

    fn gradient(&self, z: &[f64], grad: &mut [f64]) -> Result<f64, TargetError> {
        let r = [z[0] - MEAN[0], z[1] - MEAN[1]];
        grad[0] = -PRECISION[0] * r[0] - PRECISION[1] * r[1];
        grad[1] = -PRECISION[2] * r[0] - PRECISION[3] * r[1];
        let log_p = 0.5 * (grad[0] * r[0] + grad[1] * r[1]);
        if !(self.bad)(z) {
            return Ok(log_p);
        }
        match self.failure {
            Failure::NanDensity => Ok(f64::NAN),
            Failure::InfiniteDensity => Ok(f64::INFINITY),
            Failure::MinusInfinity => Ok(f64::NEG_INFINITY),
            Failure::NanGradient => {
                grad[1] = f64::NAN;
                Ok(log_p)
            }
            Failure::InfiniteGradient => {
                grad[0] = f64::INFINITY;
                Ok(log_p)
            }
            Failure::Recoverable => Err(TargetError::recoverable("not here")),
            Failure::HessianOnly => Ok(log_p),
        }
    }
}

impl<B: Fn(&[f64]) -> bool + Sync> PointwiseHessian for Failing<B> {
    fn hessian(&self, z: &[f64], hessian: &mut [f64]) -> Result<(), TargetError> {
        if (self.bad)(z) {
            return Err(TargetError::recoverable("not here"));
        }
        hessian.iter_mut().zip(PRECISION).for_each(|(h, p)| *h = -p);
        Ok(())
    }
}

/// True for about a fifth of all points, without a pattern.
fn every_fifth(z: &[f64]) -> bool {
    let bits = z.iter().fold(0u64, |h, v| (h ^ v.to_bits()).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29));
    bits.wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 32 < (1 << 32) / 5
}

fn largest_error(found: &[f64], wanted: &[f64]) -> f64 {
    found.iter().zip(wanted).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

/// Failures that have nothing to do with where a point lies cost draws, not the answer.
///
/// 128 draws of which a fifth is lost, and steps that end near 0.014: a covariance entry without Hessians has a
/// standard error of about 0.01.
#[test]
fn random_failures_are_dropped_and_counted() {
    let step_size = StepSize::Power { initial: 0.7, delay: 20.0, exponent: 0.9 };
    let plan = Plan { n_draws: 128, step_size, seed: 4, ..Plan::thorough() };
    for family in [Family::gaussian(), Family::mog(1), Family::rank_k(1).with_covariance(Family::gaussian().covariance)]
    {
        for failure in FAILURES {
            for second_order in [true, false] {
                if matches!(failure, Failure::HessianOnly) && !second_order {
                    continue;
                }
                let (first, second) = (Pointwise(failing(failure, every_fifth)), failing(failure, every_fifth));
                let second = PointwiseSecondOrder(second);
                let target: &dyn Target = if second_order { &second } else { &first };
                let posterior = elinvar::run::fit(target, family, &plan).unwrap();
                let at = format!("{family}, {failure:?}, Hessian: {second_order}");
                let counts = posterior.counts();
                let share = counts.dropped as f64 / counts.log_density as f64;
                assert!((0.05..0.25).contains(&share), "{at}: {share} of the points dropped, {counts:?}");
                assert_eq!(posterior.trace().last().map(|s| s.counts), Some(counts), "{at}");
                let q = posterior.approximation();
                let error = largest_error(&q.mean(), &MEAN).max(largest_error(&q.covariance(), &COVARIANCE));
                assert!(error < 0.05, "{at}: error {error}, {:?}", posterior.stop_reason());
            }
        }
    }
}

/// A density that lives on z₁ > −1 only: z₁ − 1 is standard Gumbel without the 0.06 % below −2, so that z₁ has mean
/// 1.577 and standard deviation 1.28, independent of z₂ ~ N(0, 1). The best Gaussian has mean 1.5 and standard
/// deviation 1.
struct HalfPlane;

impl PointwiseTarget for HalfPlane {
    fn dim(&self) -> usize {
        2
    }

    fn gradient(&self, z: &[f64], grad: &mut [f64]) -> Result<f64, TargetError> {
        if z[0] < -1.0 {
            return Ok(f64::NAN);
        }
        let falling = (1.0 - z[0]).exp();
        grad[0] = falling - 1.0;
        grad[1] = -z[1];
        Ok(-z[0] - falling - 0.5 * z[1] * z[1])
    }
}

impl PointwiseHessian for HalfPlane {
    fn hessian(&self, z: &[f64], hessian: &mut [f64]) -> Result<(), TargetError> {
        hessian.copy_from_slice(&[-(1.0 - z[0]).exp(), 0.0, 0.0, -1.0]);
        Ok(())
    }
}

/// Every family ends near the truth, though some of its mass lies where nothing exists. The mode, where fits start, is
/// at 1.
#[test]
fn a_density_on_half_of_the_space_is_fitted() {
    for family in families() {
        let posterior = elinvar::run::fit(&PointwiseSecondOrder(HalfPlane), family, &Plan::default()).unwrap();
        let (mean, covariance) = (posterior.approximation().mean(), posterior.approximation().covariance());
        let sd = [covariance[0].sqrt(), covariance[3].sqrt()];
        assert!((mean[0] - 1.577).abs() < 0.3 && mean[1].abs() < 0.2, "{}: mean {mean:?}", label(family));
        assert!((0.8..1.5).contains(&sd[0]) && (sd[1] - 1.0).abs() < 0.2, "{}: {sd:?}", label(family));
        assert!(posterior.counts().dropped > 0, "{}", label(family));
    }
}

#[test]
fn a_start_where_most_draws_are_bad_is_refused_with_an_example() {
    for family in every_kind() {
        let start = standard(family, 2);
        let edge = start.mean()[0] + 0.7;
        let target = Pointwise(failing(Failure::NanDensity, move |z| z[0] < edge));
        let error = fit_from(&target, start, &Plan::default(), &mut |_| ControlFlow::Continue(())).unwrap_err();
        let Error::BadStart { bad, total, .. } = error else { panic!("{family}: {error}") };
        assert!(2 * bad > total && bad < total, "{family}: {bad} of {total}");
        let sentence = error.to_string();
        assert!(sentence.starts_with(&format!("the log density is not finite at {bad} of the {total} first draws, ")));
        assert!(sentence.ends_with("; start elsewhere or narrower, or check the model"), "{sentence}");
        let example = sentence.split(['(', ')']).nth(1).unwrap();
        let z: Vec<f64> = example.split(", ").map(|v| v.parse().unwrap()).collect();
        assert!(z.len() == 2 && z[0] < edge, "{sentence}");
    }
}

#[test]
fn a_target_that_stops_working_ends_the_run_with_a_reason() {
    for family in families() {
        for failure in [Failure::NanDensity, Failure::Recoverable, Failure::NanGradient] {
            let calls = AtomicUsize::new(0);
            // A Gaussian by itself asks for no more than some hundred, and goes on by what it has.
            let working = if family == Family::gaussian() { 300 } else { 60_000 };
            let target = Pointwise(failing(failure, |_| calls.fetch_add(1, Ordering::Relaxed) >= working));
            let mut plan = Plan::default();
            plan.stop.remaining_nats = 0.0;
            let posterior: Posterior = elinvar::run::fit(&target, family, &plan).unwrap();
            assert_eq!(posterior.stop_reason(), StopReason::BadEvaluations, "{}", label(family));
            assert!(!posterior.converged() && posterior.counts().dropped > 0);
            assert_eq!(super::problem(&posterior.approximation().state()), None);
            let bad_steps = posterior.trace().iter().rev().take_while(|step| step.elbo.is_none()).count();
            assert_eq!(bad_steps, 25, "{}", label(family));
        }
    }
}

/// N(0, I), with a fatal error at the hundredth point.
struct Fatal(AtomicUsize);

impl PointwiseTarget for Fatal {
    fn dim(&self) -> usize {
        2
    }

    fn gradient(&self, z: &[f64], grad: &mut [f64]) -> Result<f64, TargetError> {
        if self.0.fetch_add(1, Ordering::Relaxed) == 99 {
            return Err(TargetError::fatal("the licence of the solver has expired"));
        }
        grad.iter_mut().zip(z).for_each(|(g, z)| *g = -z);
        Ok(-0.5 * (z[0] * z[0] + z[1] * z[1]))
    }
}

#[test]
fn a_fatal_error_ends_the_fit_with_its_sentence() {
    for family in every_kind() {
        let error = elinvar::run::fit(&Pointwise(Fatal(AtomicUsize::new(0))), family, &Plan::default()).unwrap_err();
        assert!(matches!(&error, Error::Target { source, .. } if !source.recoverable), "{error:?}");
        let sentence = error.to_string();
        let beginning = "the model could not be evaluated: the licence of the solver has expired, at z = (";
        assert!(sentence.starts_with(beginning), "{sentence}");
    }
}
