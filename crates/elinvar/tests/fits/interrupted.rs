//! A fit that somebody ends gives the best that it has reached, whatever it was about: counted in batches.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};

use elinvar::model::{Banana, BetaBinomial, EightSchools, Parametrisation};
use elinvar::posterior::GivenBy;
use elinvar::run::{Correct, Kept, StopReason, fit_journaled};
use elinvar::target::Target;
use elinvar::{Error, Family, Plan, Posterior};

/// Ends the fit when it has been asked `at` times whether it should; how often it was asked.
fn ended_at(
    target: &dyn Target,
    (family, plan): (Family, &Plan),
    at: u64,
    gives_best: bool,
) -> (Result<Posterior, Error>, u64) {
    let asked = AtomicU64::new(0);
    let interrupt = || asked.fetch_add(1, Ordering::Relaxed) >= at;
    let kept = Kept { interrupt: Some(&interrupt), gives_best, ..Kept::default() };
    let ended = fit_journaled(target, family, plan, &mut |_| ControlFlow::Continue(()), kept);
    (ended, asked.into_inner())
}

/// Ends a fit at about `places` moments from its beginning to its end; what it gave at each, with the share of the whole
/// way. Once there was something, there is always something.
fn ended_everywhere(target: &dyn Target, family: Family, plan: &Plan, places: u64) -> Vec<(f64, Posterior)> {
    let (whole, last) = ended_at(target, (family, plan), u64::MAX, true);
    assert_ne!(whole.unwrap().stop_reason(), StopReason::Interrupted);
    let mut found = Vec::new();
    for k in 0..=places {
        let at = k * (last - 1) / places;
        match ended_at(target, (family, plan), at, true).0 {
            Ok(posterior) => {
                assert_eq!(posterior.stop_reason(), StopReason::Interrupted, "{at} of {last}");
                assert!(posterior.judgement().is_none(), "{at} of {last}");
                let summary = posterior.summary(100, 1);
                let is_number = |x: f64| x.is_finite();
                assert!(summary.coordinates.iter().all(|row| is_number(row.mean.value) && row.sd.value > 0.0));
                found.push((at as f64 / last as f64, posterior));
            }
            Err(Error::Interrupted) => assert!(found.is_empty(), "nothing at {at} of {last}, but before"),
            Err(error) => panic!("{error} at {at} of {last}"),
        }
        assert!(matches!(ended_at(target, (family, plan), at, false).0, Err(Error::Interrupted)), "{at} of {last}");
    }
    found
}

#[test]
fn a_fit_with_chains_gives_them_when_they_have_begun_and_its_gaussian_before() {
    let target = EightSchools::new(Parametrisation::NonCentred);
    let found = ended_everywhere(&target, Family::auto(), &Plan::default(), 30);
    let by = |given| found.iter().filter(|(_, posterior)| posterior.given_by() == given).count();
    assert!(
        by(GivenBy::Approximation) > 0 && by(GivenBy::Chains) > 5,
        "{} and {}",
        by(GivenBy::Approximation),
        by(GivenBy::Chains)
    );
    let whole = elinvar::run::fit(&target, Family::auto(), &Plan::default()).unwrap().summary(2, 1);
    let (_, last) = found.last().unwrap();
    for (row, known) in last.summary(2, 1).coordinates.iter().zip(&whole.coordinates) {
        assert!((row.mean.value - known.mean.value).abs() < 0.2 * known.sd.value, "{row:?}, {known:?}");
    }
}

#[test]
fn a_growing_mixture_gives_its_best_round() {
    let target = Banana::default();
    let plan = Plan { correct: Correct::Never, ..Plan::default() };
    let found = ended_everywhere(&target, Family::mog_auto(), &plan, 40);
    // The search asks for one point at a time, which is about a quarter of all that it and the steps ask.
    assert!(found[0].0 < 0.35, "first at {}", found[0].0);
}

#[test]
fn rungs_restarts_and_named_families_give_what_they_have() {
    let mixture = BetaBinomial::cancer_mortality();
    let bare = Plan { correct: Correct::Never, ..Plan::default() };
    let found = ended_everywhere(&Banana::default(), Family::auto(), &bare, 12);
    assert!(found.iter().any(|(_, posterior)| posterior.family() != Family::gaussian()));
    assert!(!ended_everywhere(&Banana::default(), Family::skew(), &Plan::default(), 12).is_empty());
    let chains = Plan { correct: Correct::Always, ..Plan::default() };
    assert!(!ended_everywhere(&Banana::default(), Family::gaussian(), &chains, 8).is_empty());
    // Threads decide which of several fits was where, but not that there is something.
    let several = Plan { restarts: 3, ..bare };
    let (_, last) = ended_at(&mixture, (Family::mog(2), &several), u64::MAX, true);
    let n = (1..8).filter(|k| {
        let (ended, _) = ended_at(&mixture, (Family::mog(2), &several), k * last / 8, true);
        ended.is_ok_and(|posterior| posterior.stop_reason() == StopReason::Interrupted)
    });
    assert!(n.count() >= 5);
}
