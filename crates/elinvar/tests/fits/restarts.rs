//! Several starts of one fit: the best is kept, all are told of, and threads change nothing.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};

use elinvar::model::{Banana, BetaBinomial, GaussianMixture};
use elinvar::run::StopReason;
use elinvar::run::{fit, fit_observed};
use elinvar::target::{About, Answer, Ask, Target, TargetError, from_fn};
use elinvar::{Error, Family, Plan, Posterior};

fn plan(restarts: usize, seed: u64) -> Plan {
    Plan { restarts, seed, ..Plan::default() }
}

fn bound(posterior: &Posterior, target: &dyn Target) -> f64 {
    posterior.importance(target, 4_096, 99).unwrap().diagnostics.elbo.value
}

#[test]
fn the_best_bound_is_kept_and_all_are_told() {
    let target = BetaBinomial::cancer_mortality();
    for seed in 1..=3 {
        let posterior = fit(&target, Family::mog(2), &plan(3, seed)).unwrap();
        let restarts = &posterior.agreement().restarts;
        assert_eq!(restarts.len(), 3);
        assert!(restarts.iter().all(|bound| bound.value < -570.7086 + 4.5 * bound.mcse && bound.mcse > 0.0));
        let best = restarts.iter().map(|bound| bound.value).fold(f64::NEG_INFINITY, f64::max);
        let error = restarts[0].mcse;
        assert!((bound(&posterior, &target) - best).abs() < 6.0 * error, "{restarts:?}");
        // The first is the fit without restarts, judged on the same draws.
        let alone = fit(&target, Family::mog(2), &plan(1, seed)).unwrap();
        assert!(alone.agreement().restarts.is_empty());
        let first = alone.importance(&target, 4_096, seed).unwrap().diagnostics.elbo;
        assert_eq!(restarts[0], first);
        assert_ne!(restarts[0].value, restarts[1].value, "the seeds differ");
        if best == restarts[0].value {
            assert_eq!(posterior.approximation(), alone.approximation());
        }
        assert!(posterior.agreement().searches > alone.agreement().searches);
    }
}

/// Five restarts in as many threads as there are cores, twice.
#[test]
fn threads_do_not_change_a_bit() {
    for family in [Family::gaussian(), Family::skew(), Family::mog(2)] {
        let [one, two] = [(); 2].map(|()| fit(&Banana::default(), family, &plan(5, 3)).unwrap());
        assert_eq!(one.approximation(), two.approximation());
        assert_eq!(one.agreement(), two.agreement());
        assert_eq!(one.counts(), two.counts());
        // The first of five is the first of two.
        let fewer = fit(&Banana::default(), family, &plan(2, 3)).unwrap();
        assert_eq!(fewer.agreement().restarts[..], one.agreement().restarts[..2]);
    }
}

/// Counts its points.
struct Counting {
    points: AtomicU64,
}

impl Target for Counting {
    fn about(&self) -> About {
        About::new(2)
    }

    fn evaluate(&self, ask: &Ask<'_>, out: &mut Answer) -> Result<(), TargetError> {
        let draws = ask.draws;
        self.points.fetch_add(draws.len() as u64, Ordering::Relaxed);
        for (s, z) in draws.iter().enumerate() {
            out.log_p_mut()[s] = -z[0].cosh() - 0.5 * z[1] * z[1];
            out.grad_mut(s).copy_from_slice(&[-z[0].sinh(), -z[1]]);
        }
        Ok(())
    }
}

#[test]
fn every_evaluation_is_counted() {
    for (family, restarts) in
        [(Family::gaussian(), 1), (Family::gaussian(), 4), (Family::skew(), 3), (Family::auto(), 3)]
    {
        let target = Counting { points: AtomicU64::new(0) };
        let posterior = fit(&target, family, &plan(restarts, 7)).unwrap();
        assert_eq!(posterior.counts().log_density, target.points.into_inner(), "{family}, {restarts} restarts");
    }
}

#[test]
fn an_observer_ends_all() {
    let target = BetaBinomial::cancer_mortality();
    let whole = fit(&target, Family::mog(4), &plan(4, 1)).unwrap();
    let mut seen = 0;
    let posterior = fit_observed(&target, Family::mog(4), &plan(4, 1), &mut |step| {
        assert_eq!(step.index, seen, "only the first restart is shown");
        seen += 1;
        if step.index == 5 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })
    .unwrap();
    assert_eq!(seen, 6);
    assert_eq!(posterior.agreement().restarts.len(), 4);
    assert_eq!(posterior.stop_reason(), StopReason::Interrupted);
    assert!(posterior.counts().gradient < whole.counts().gradient);
}

#[test]
fn modes_of_all_restarts_are_joined() {
    let unit = [1.0, 0.0, 0.0, 1.0].repeat(2);
    let target = GaussianMixture::new(&[0.5, 0.5], vec![-4.0, 0.0, 4.0, 0.0], &unit).unwrap();
    let posterior = fit(&target, Family::gaussian(), &plan(3, 1)).unwrap();
    let agreement = posterior.agreement();
    assert_eq!(agreement.modes.len(), 2, "{:?}", agreement.modes);
    let found: usize = agreement.modes.iter().map(|mode| mode.found_by).sum();
    assert!(found <= agreement.searches);
}

#[test]
fn a_target_that_fails_everywhere_fails_every_restart() {
    let nowhere = from_fn(2, |_, grad| {
        grad.fill(f64::NAN);
        f64::NAN
    });
    let one = fit(&nowhere, Family::gaussian(), &plan(1, 1)).unwrap_err();
    let all = fit(&nowhere, Family::gaussian(), &plan(3, 1)).unwrap_err();
    assert_eq!(one.to_string(), all.to_string());
    let none = fit(&nowhere, Family::gaussian(), &plan(0, 1));
    assert!(none.is_err());
    assert!(matches!(
        fit(&Banana::default(), Family::gaussian(), &plan(0, 1)),
        Err(Error::Domain { parameter: "restarts", .. })
    ));
}
