//! What a fit gives: by weights, by chains or as it is; with which errors, at what price, and who may end it.

use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use elinvar::chains::{Correction, Round};
use elinvar::model::{BetaBinomial, EightSchools, Funnel, Parametrisation};
use elinvar::posterior::{Answer, Estimate, GivenBy, Verdict};
use elinvar::run::fit;
use elinvar::run::{Correct, Counts, Kept, Stop, fit_journaled};
use elinvar::target::{About, Ask, Offers, Target, TargetError, from_fn};
use elinvar::{Error, Family, Plan, Posterior};

use crate::subjects::{heavy_tails, logistic};

/// A target that offers something else.
struct Offering<T>(T, Offers);

impl<T: Target> Target for Offering<T> {
    fn about(&self) -> About {
        About { offers: self.1, ..self.0.about() }
    }

    fn evaluate(&self, ask: &Ask<'_>, answer: &mut elinvar::target::Answer) -> Result<(), TargetError> {
        self.0.evaluate(ask, answer)
    }
}

fn auto(target: &dyn Target, correct: Correct) -> Posterior {
    fit(target, Family::auto(), &Plan { correct, ..Plan::default() }).unwrap()
}

/// What the rungs took, and the chains.
fn parts(posterior: &Posterior) -> Counts {
    let mut total = posterior.corrected().map(|corrected| corrected.counts).unwrap_or_default();
    posterior.rungs().iter().for_each(|rung| total += rung.counts);
    total
}

#[track_caller]
fn agree(a: Estimate, b: Estimate) {
    // False alarms: 7e-6.
    assert!((a.value - b.value).abs() < 4.5 * a.mcse.hypot(b.mcse), "{a:?} and {b:?}");
}

#[test]
fn weights_and_chains_give_the_same_answer_and_each_says_which_it_is() {
    let target = logistic(60, 4);
    let by_weights = auto(&target, Correct::WhereNeeded);
    let by_chains = auto(&target, Correct::Always);
    let bare = auto(&target, Correct::Never);
    let answers = [&by_weights, &by_chains, &bare].map(|posterior| posterior.summary(10_000, 1));
    let given = answers.each_ref().map(|answer| answer.given_by);
    assert_eq!(given, [GivenBy::Weights, GivenBy::Chains, GivenBy::Approximation]);
    assert_eq!(by_weights.approximation(), bare.approximation());
    for posterior in [&by_weights, &by_chains] {
        assert_eq!(posterior.verdict(), Some(Verdict::Trust), "{:?}", posterior.judgement());
        assert_eq!(parts(posterior), posterior.counts(), "every evaluation is counted once");
    }
    let [weights, chains, q] = &answers;
    for (a, b) in weights.parameters.iter().zip(&chains.parameters) {
        for (a, b) in [(a.mean, b.mean), (a.sd, b.sd), (a.q5, b.q5), (a.q50, b.q50), (a.q95, b.q95)] {
            agree(a, b);
        }
        assert!(a.mean.mcse < 0.02 * a.sd.value && b.mean.mcse < 0.05 * b.sd.value, "{a:?} {b:?}");
    }
    agree(weights.log_evidence.unwrap(), chains.log_evidence.unwrap());
    assert!(chains.log_evidence.unwrap().mcse < 0.05, "{:?}", chains.log_evidence);
    assert!(q.log_evidence.is_none() && q.effective_draws.is_none());
    // The stated error of the approximation covers its distance from what weights make of it.
    for (q, p) in q.parameters.iter().zip(&weights.parameters) {
        assert!((q.mean.value - p.mean.value).abs() < q.mean.mcse + 1e-12, "{q:?} {p:?}");
    }
}

/// Where log p alone costs a gradient, weights are not asked, and a regression takes few gradients.
#[test]
fn gradients_alone_go_straight_to_chains() {
    let target = logistic(60, 4);
    let posterior = auto(&Offering(logistic(60, 4), Offers::GRADIENT), Correct::WhereNeeded);
    assert_eq!((posterior.given_by(), posterior.verdict()), (GivenBy::Chains, Some(Verdict::Trust)));
    assert!(posterior.counts().gradient < 4_000 && posterior.counts().hessian == 0, "{:?}", posterior.counts());
    let reference = auto(&target, Correct::WhereNeeded).summary(2, 1);
    for (a, b) in posterior.summary(2, 1).coordinates.iter().zip(&reference.coordinates) {
        agree(a.mean, b.mean);
        agree(a.sd, b.sd);
    }
}

/// log τ of the eight schools by quadrature: mean 0.80214, sd 1.17123. A Gaussian has its sd wrong by a third.
#[test]
fn a_hierarchy_is_answered_by_chains_for_a_fraction_of_what_families_cost() {
    let target = EightSchools::new(Parametrisation::NonCentred);
    let posterior = auto(&target, Correct::WhereNeeded);
    assert_eq!((posterior.given_by(), posterior.rungs().len()), (GivenBy::Chains, 1));
    assert_eq!(posterior.verdict(), Some(Verdict::Trust), "{:?}", posterior.judgement());
    assert!(posterior.counts().gradient < 60_000, "{:?}", posterior.counts());
    assert_eq!(parts(&posterior), posterior.counts());
    let log_tau = &posterior.summary(2, 1).coordinates[1];
    assert!((log_tau.mean.value - 0.802_14).abs() < 0.1 * 1.171_23, "{log_tau:?}");
    assert!((log_tau.sd.value / 1.171_23).ln().abs() < 0.14, "{log_tau:?}");
    let bare = posterior.summary_of_approximation(1_000, 1);
    assert!((bare.coordinates[1].sd.value / 1.171_23).ln() < -0.14, "{:?}", bare.coordinates[1]);
}

/// 2 % of the mass of one coordinate are twenty times as wide: draws of a Gaussian in ten dimensions hardly see it.
#[test]
fn a_tail_that_draws_do_not_see_is_not_trusted_by_weights() {
    let target = from_fn(10, |z, grad| {
        let (narrow, wide) = (0.98 * (-0.5 * z[0] * z[0]).exp(), 0.001 * (-z[0] * z[0] / 800.0).exp());
        grad.iter_mut().zip(z).for_each(|(g, z)| *g = -z);
        grad[0] = -z[0] * (narrow + wide / 400.0) / (narrow + wide);
        (narrow + wide).ln() - 0.5 * z[1..].iter().map(|z| z * z).sum::<f64>()
    });
    let target = Offering(target, Offers { values: true, ..Offers::GRADIENT });
    let posterior = auto(&target, Correct::WhereNeeded);
    let (found, truth) = (posterior.summary(2, 1).coordinates[0].sd.value, (0.98_f64 + 8.0).sqrt());
    let right = (found / truth).ln().abs() < 0.14;
    assert!(right || posterior.verdict() != Some(Verdict::Trust), "{found} {truth} {:?}", posterior.judgement());
}

#[test]
fn limits_hold_for_the_fit_and_its_chains_together() {
    let target = Funnel::new(10).unwrap();
    for max_evaluations in [200, 8_000, 30_000] {
        let stop = Stop { max_evaluations, ..Stop::default() };
        let posterior = fit(&target, Family::auto(), &Plan { stop, ..Plan::default() }).unwrap();
        let spent = posterior.counts().gradient;
        // A first round of chains, and what a step needs, may come on top.
        assert!(spent < max_evaluations + 8_000, "{spent} of {max_evaluations}");
        assert_ne!(posterior.verdict(), Some(Verdict::Trust), "{:?}", posterior.judgement());
    }
}

#[test]
fn rounds_are_shown_with_shrinking_errors_and_may_be_interrupted() {
    let target = heavy_tails(5.0, 10);
    let rounds: Mutex<Vec<Round>> = Mutex::new(Vec::new());
    let watch = |round: &Round| rounds.lock().unwrap().push(*round);
    let mut observe = |_: &_| ControlFlow::Continue(());
    let kept = Kept { watch: Some(&watch), ..Kept::default() };
    fit_journaled(&target, Family::auto(), &Plan::default(), &mut observe, kept).unwrap();
    let seen = rounds.lock().unwrap().clone();
    let (first, last) = (seen[0], seen[seen.len() - 1]);
    assert!(seen.len() > 1 && seen.windows(2).all(|pair| pair[1].gradients > pair[0].gradients), "{seen:?}");
    assert!(last.mean_error < first.mean_error && last.gradients < last.max_gradients, "{seen:?}");
    assert_eq!(last.max_gradients, Correction::default().max_gradients);

    // Raised once chains have begun.
    let n = AtomicU64::new(0);
    let counting = |_: &Round| {
        n.fetch_add(1, Ordering::Relaxed);
    };
    let interrupt = || n.load(Ordering::Relaxed) > 0;
    let kept = Kept { watch: Some(&counting), interrupt: Some(&interrupt), ..Kept::default() };
    let ended = fit_journaled(&target, Family::auto(), &Plan::default(), &mut observe, kept);
    assert!(matches!(ended, Err(Error::Interrupted)) && n.load(Ordering::Relaxed) == 1);
}

#[test]
fn files_keep_what_weights_gave_and_refuse_another_size() {
    let posterior = auto(&logistic(60, 4), Correct::WhereNeeded);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("fit.json");
    posterior.save(&path).unwrap();
    let text = |answer: &Answer| format!("{answer:?}");
    let again = Posterior::load(&path).unwrap();
    assert_eq!(text(&again.summary(2, 1)), text(&posterior.summary(2, 1)));
    assert_eq!(again.given_by(), GivenBy::Weights);
    let mut file: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    file["weighed"]["coordinates"].as_array_mut().unwrap().pop();
    std::fs::write(&path, crate::files::sealed(file)).unwrap();
    assert!(Posterior::load(&path).unwrap_err().to_string().contains("importance weights"));
}

/// A named family is fitted and judged, and corrected where that is asked for.
#[test]
fn a_named_family_is_corrected_only_where_that_is_asked_for() {
    let target = EightSchools::new(Parametrisation::NonCentred);
    let mut plain = fit(&target, Family::gaussian(), &Plan::default()).unwrap();
    assert_eq!((plain.given_by(), plain.verdict()), (GivenBy::Approximation, None));
    assert_ne!(plain.judge(&target, 4_096, 1).unwrap().verdict, Verdict::Trust);
    let always = Plan { correct: Correct::Always, ..Plan::default() };
    let corrected = fit(&target, Family::gaussian(), &always).unwrap();
    assert_eq!((corrected.given_by(), corrected.verdict()), (GivenBy::Chains, Some(Verdict::Trust)));
    let three = Plan { restarts: 3, ..always };
    let best = fit(&target, Family::gaussian(), &three).unwrap();
    assert_eq!((best.given_by(), best.agreement().restarts.len()), (GivenBy::Chains, 3));
}

/// Means that are asked for more sharply cost more and are; a plan that does not ask is written as it always was.
#[test]
fn means_are_as_sharp_as_they_are_asked_for() {
    let target = BetaBinomial::cancer_mortality();
    let worst = |posterior: &Posterior| {
        let numbers = &posterior.corrected().unwrap().coordinates;
        numbers.iter().map(|number| number.mean.mcse / number.sd.value).fold(0.0, f64::max)
    };
    let sharp = |mean_within: f64| Plan { stop: Stop { mean_within, ..Stop::default() }, ..Plan::default() };
    let usual = auto(&target, Correct::WhereNeeded);
    let by = fit(&target, Family::auto(), &sharp(0.02)).unwrap();
    assert_eq!((by.given_by(), by.verdict()), (GivenBy::Chains, Some(Verdict::Trust)), "{:?}", by.judgement());
    // An expected fortieth of a mean is further off than 0.02 sd: 2.24 errors, if all were alike.
    assert!(worst(&by) < 0.02 / 2.24 && worst(&usual) > 0.02 / 2.24, "{} {}", worst(&by), worst(&usual));
    assert!(2 * by.counts().gradient > 3 * usual.counts().gradient, "{:?} {:?}", by.counts(), usual.counts());
    assert!(by.corrected().unwrap().draws(20_000).view().iter().count() > 4_096);
    // Where weights would do there are chains, for a named family too, and for the best of several once.
    for (family, restarts) in [(Family::auto(), 1), (Family::gaussian(), 1), (Family::gaussian(), 2)] {
        let plan = Plan { restarts, ..sharp(0.03) };
        assert_eq!(fit(&logistic(60, 4), family, &plan).unwrap().given_by(), GivenBy::Chains);
    }
    assert!(!serde_json::to_string(&Plan::default()).unwrap().contains("mean_within"));
    assert!(serde_json::to_string(&sharp(0.02)).unwrap().contains("\"mean_within\":0.02"));
    let plan = Plan { correct: Correct::Never, ..sharp(0.02) };
    assert!(fit(&target, Family::auto(), &plan).unwrap_err().to_string().contains("chains sharpen means"));
    assert!(fit(&target, Family::auto(), &sharp(0.2)).unwrap_err().to_string().contains("0.001 to 0.1"));
}
