//! `family = auto` where nothing is corrected, and several modes: which rungs are tried, which is kept, and what the
//! record of them says.

use std::ops::ControlFlow;

use elinvar::model::{BetaBinomial, Gaussian, GaussianMixture};
use elinvar::posterior::{Rung, Verdict};
use elinvar::run::{Correct, Counts, Step, Stop, StopReason};
use elinvar::run::{fit, fit_observed};
use elinvar::target::{About, Answer, Ask, Covariance, Prior, Target, TargetError};
use elinvar::{Family, Plan, Posterior};

fn names(posterior: &Posterior) -> Vec<&'static str> {
    posterior.rungs().iter().map(|rung| rung.family.name()).collect()
}

/// The plan that gives the approximation as it is, so that other families are tried.
fn bare() -> Plan {
    Plan { correct: Correct::Never, ..Plan::default() }
}

fn kept(posterior: &Posterior) -> &Rung {
    let kept: Vec<&Rung> = posterior.rungs().iter().filter(|rung| rung.kept).collect();
    assert_eq!(kept.len(), 1);
    kept[0]
}

/// Two normals, 0.7 of the mass at the origin and 0.3 eight standard deviations away.
fn two_modes() -> GaussianMixture {
    let unit = [1.0, 0.0, 0.0, 1.0].repeat(2);
    GaussianMixture::new(&[0.7, 0.3], vec![0.0, 0.0, 8.0, 0.0], &unit).unwrap()
}

/// What every record must satisfy.
#[track_caller]
fn check_record(posterior: &Posterior) {
    let rungs = posterior.rungs();
    let best = kept(posterior);
    assert_eq!(best.family, posterior.family());
    assert_eq!(rungs[0].gain, None);
    let mut total = Counts::default();
    let mut best_so_far = &rungs[0];
    for rung in rungs {
        total += rung.counts;
        // A first look decides where chains may follow.
        let least = if posterior.plan().correct == Correct::Never { 8_192 } else { 2_048 };
        assert!(rung.counts.log_density >= least, "its judgement is part of the cost: {rung:?}");
        if let Some(gain) = rung.gain {
            let difference = rung.elbo.value - best_so_far.elbo.value;
            assert!((gain.value - difference).abs() < 1e-12 && gain.mcse > 0.0, "{gain:?} and {difference}");
            assert!(gain.mcse >= rung.elbo.mcse);
            if gain.value > 2.0 * gain.mcse {
                best_so_far = rung;
            }
        }
    }
    assert_eq!(best_so_far.family, best.family);
    assert!(rungs.iter().all(|rung| rung.elbo.value <= best.elbo.value + 2.0 * rung.elbo.mcse.hypot(best.elbo.mcse)));
    let chains = posterior.corrected();
    total += chains.map_or_else(Counts::default, |corrected| corrected.counts);
    assert_eq!(total, posterior.counts(), "every evaluation belongs to a rung or to chains");
    let seconds: f64 = rungs.iter().map(|rung| rung.seconds).sum();
    assert!(chains.is_some() || (seconds - posterior.seconds()).abs() < 1e-9);
    for (i, pair) in posterior.trace().windows(2).enumerate() {
        assert_eq!(pair[0].index, i as u64);
        assert!(pair[1].counts.gradient >= pair[0].counts.gradient && pair[1].seconds >= pair[0].seconds);
    }
}

#[test]
fn a_gaussian_needs_one_rung() {
    let target = Gaussian::new(vec![3.0, -1.0], vec![2.0, 0.7, 0.7, 5.0]).unwrap();
    let posterior = fit(&target, Family::auto(), &Plan::default()).unwrap();
    assert_eq!(names(&posterior), ["gaussian"]);
    check_record(&posterior);
    assert!(posterior.converged());
    assert_eq!(posterior.verdict(), Some(Verdict::Trust));
}

/// The Gaussian, the skew-Gaussian and a mixture on the beta-binomial: 0.17, 0.08 and less than 0.01 nats from log Z =
/// −570.7086.
#[test]
fn a_skewed_target_is_climbed_to_the_top() {
    let target = BetaBinomial::cancer_mortality();
    let posterior = fit(&target, Family::auto(), &bare()).unwrap();
    check_record(&posterior);
    assert_eq!(names(&posterior)[..2], ["gaussian", "skew"]);
    assert!(kept(&posterior).gain.is_some_and(|gain| gain.value > 2.0 * gain.mcse));
    assert_eq!(kept(&posterior).family.name(), "mog", "{:#?}", posterior.rungs());
    for rung in posterior.rungs() {
        assert!(rung.elbo.value < -570.7086 + 4.5 * rung.elbo.mcse, "a bound above log Z: {rung:?}");
    }
    let gap = -570.7086 - kept(&posterior).elbo.value;
    assert!(gap < 0.05, "{gap} nats are left");
}

#[test]
fn a_fit_by_the_ladder_repeats_to_the_bit() {
    let target = BetaBinomial::cancer_mortality();
    let both = [4, 4, 5].map(|seed| fit(&target, Family::auto(), &Plan { seed, ..bare() }).unwrap());
    let [one, two, other] = &both;
    assert_eq!(one.approximation(), two.approximation());
    assert_eq!(one.counts(), two.counts());
    let bits = |p: &Posterior| p.rungs().iter().map(|r| r.elbo.value.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(one), bits(two));
    assert_ne!(bits(one), bits(other));
}

#[test]
fn a_diagonal_ladder_stays_diagonal() {
    let target = BetaBinomial::cancer_mortality();
    let posterior = fit(&target, Family::auto().diagonal(), &bare()).unwrap();
    check_record(&posterior);
    assert!(posterior.rungs().len() > 1);
    assert!(posterior.rungs().iter().all(|rung| rung.family.covariance == Covariance::Diagonal));
}

#[test]
fn several_modes_call_for_a_mixture_at_once() {
    for seed in 1..=3 {
        let posterior = fit(&two_modes(), Family::auto(), &Plan { seed, ..Plan::default() }).unwrap();
        check_record(&posterior);
        assert_eq!(names(&posterior), ["gaussian", "mog"]);
        assert_eq!(kept(&posterior).family.name(), "mog");
        // The modes are known: between the Gaussian and the first step of the mixture nothing is searched for.
        let first = posterior.trace().iter().find(|step| step.components > 1).unwrap();
        let before = posterior.rungs()[0].counts.gradient;
        assert_eq!(first.counts.gradient - before, (first.n_draws * first.components) as u64);
        // The second normal alone has log 0.3 − log 2π = −3.04 at its mode; a Gaussian on the first has −34.
        let found = [posterior.log_density(&[0.0, 0.0]), posterior.log_density(&[8.0, 0.0])];
        let expected = [0.7f64, 0.3].map(|weight| (weight / std::f64::consts::TAU).ln());
        for (found, expected) in found.into_iter().zip(expected) {
            assert!((found - expected).abs() < 0.1, "seed {seed}: {found} and {expected}");
        }
        assert_eq!(posterior.verdict(), Some(Verdict::Trust), "{:?}", posterior.judgement());
        assert!(kept(&posterior).elbo.value.abs() < 0.02, "log Z = 0");
    }
}

#[test]
fn limits_hold_for_all_rungs_together() {
    let target = BetaBinomial::cancer_mortality();
    let free = fit(&target, Family::auto(), &bare()).unwrap();
    let first = free.rungs()[0].counts.gradient;
    for max_evaluations in [first / 2, first + 500, 4 * first] {
        let stop = Stop { max_evaluations, ..Stop::default() };
        let posterior = fit(&target, Family::auto(), &Plan { stop, ..bare() }).unwrap();
        check_record(&posterior);
        let spent = posterior.counts().gradient;
        assert!(spent < free.counts().gradient && posterior.rungs().len() <= free.rungs().len());
        // The start of a rung, one step and the review after the last may come on top.
        assert!(spent < max_evaluations + 5_000, "{spent} gradients, allowed {max_evaluations}");
    }
    let stop = Stop { max_steps: 40, ..Stop::default() };
    let posterior = fit(&target, Family::auto(), &Plan { stop, ..bare() }).unwrap();
    assert!(posterior.trace().len() <= 40);
    check_record(&posterior);
}

#[test]
fn an_observer_ends_all_rungs() {
    let target = BetaBinomial::cancer_mortality();
    let free = fit(&target, Family::auto(), &bare()).unwrap();
    for last in [3, 60] {
        let mut seen: Vec<Step> = Vec::new();
        let posterior = fit_observed(&target, Family::auto(), &bare(), &mut |step| {
            seen.push(*step);
            if step.index == last { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })
        .unwrap();
        assert_eq!(seen.len() as u64, last + 1);
        assert!(seen.iter().enumerate().all(|(i, step)| step.index == i as u64));
        assert_eq!(posterior.trace().len() as u64, last + 1);
        assert!(posterior.rungs().len() <= free.rungs().len());
        if last == 3 {
            assert_eq!(names(&posterior), ["gaussian"]);
            assert_eq!(posterior.stop_reason(), StopReason::Interrupted);
            assert_ne!(posterior.verdict(), Some(Verdict::Trust));
        }
        check_record(&posterior);
    }
}

/// Observations with a t prior on the coefficients, which only a Student-t of the same w shares.
struct WithTPrior;

impl Target for WithTPrior {
    fn about(&self) -> About {
        About { prior: Prior::student_t(1.0, 3.0, 2), ..About::new(2) }
    }

    fn evaluate(&self, ask: &Ask<'_>, out: &mut Answer) -> Result<(), TargetError> {
        for (s, z) in ask.draws.iter().enumerate() {
            out.log_p_mut()[s] = -0.5 * ((z[0] - 1.0).powi(2) + (z[1] + 2.0).powi(2));
            out.grad_mut(s).copy_from_slice(&[1.0 - z[0], -2.0 - z[1]]);
        }
        Ok(())
    }
}

#[test]
fn a_t_prior_leaves_no_ladder() {
    match fit(&WithTPrior, Family::auto(), &Plan::default()) {
        Ok(posterior) => assert_eq!(posterior.rungs().len(), 1, "{:?}", names(&posterior)),
        Err(error) => assert!(error.to_string().contains("use `student_t`"), "{error}"),
    }
}
