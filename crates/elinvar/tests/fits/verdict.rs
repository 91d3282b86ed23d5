//! What fits of known targets are worth, and that the verdict says it.

use elinvar::internals::Recording;
use std::ops::ControlFlow;

use crate::state::{BlockState, State, Stated};
use elinvar::family::Approximation;
use elinvar::model::{BetaBinomial, DesignMatrix, Funnel, Gaussian, GaussianMixture, LogisticRegression};
use elinvar::posterior::{Agreement, Diagnostics, Estimate, ModeRecord, Rung, Verdict};
use elinvar::run::{Counts, Stop};
use elinvar::target::{Covariance, PointwiseTarget, Target, Transform, from_fn};
use elinvar::{Family, Plan, Posterior};
use elinvar_data::{Outcome, RegressionData, Selection};

fn breast_cancer() -> LogisticRegression {
    let data =
        RegressionData::from_table(&elinvar_data::breast_cancer(), &Selection::new("y", Outcome::Binary)).unwrap();
    let x = DesignMatrix::new(data.features, data.names.len(), data.names).unwrap();
    LogisticRegression::new(x, data.y, 1.0).unwrap()
}

/// N(mean, sd²) as a posterior, untouched by the target.
fn normal(target: &dyn Target, mean: f64, sd: f64) -> Posterior {
    let precision = 1.0 / (sd * sd);
    let block = BlockState { b: vec![mean], precision: vec![precision] };
    let state = State { family: Family::gaussian(), dim: 1, blocks: vec![block], log_weights: vec![0.0] };
    let plan = Plan { stop: Stop { max_steps: 0, ..Stop::default() }, ..Plan::default() };
    let start = Approximation::from_state(&state).unwrap();
    elinvar::run::fit_from(target, start, &plan, &mut |_| ControlFlow::Continue(())).unwrap()
}

#[test]
fn shifts_are_those_of_two_known_normals_and_their_errors_are_honest() {
    let (mean, sd) = (0.15f64, 1.1f64);
    let target = Gaussian::new(vec![mean], vec![1.0 / (sd * sd)]).unwrap();
    let posterior = normal(&target, 0.0, 1.0);
    let mut z = Vec::new();
    for seed in 0..200 {
        let shifts = posterior.importance(&target, 2_000, seed).unwrap().diagnostics.shifts;
        assert_eq!(shifts.len(), 1);
        z.push((shifts[0].mean.value - mean) / shifts[0].mean.mcse);
        z.push((shifts[0].log_sd.value - sd.ln()) / shifts[0].log_sd.mcse);
    }
    for (what, z) in [("mean", z.iter().step_by(2)), ("log sd", z[1..].iter().step_by(2))] {
        let z: Vec<f64> = z.copied().collect();
        let average = z.iter().sum::<f64>() / 200.0;
        let square = z.iter().map(|z| z * z).sum::<f64>() / 200.0;
        // The average has sd 0.07 (bias aside) and the mean square 0.1: false alarms below 1e-5.
        assert!(average.abs() < 0.35, "{what}: {average}");
        assert!((0.55..1.6).contains(&square), "{what}: {square}");
    }
}

/// x = e^z is log-normal under p and q: z and x move differently, and both are told.
#[test]
fn shifts_are_told_on_both_scales() {
    struct LogNormal;
    impl PointwiseTarget for LogNormal {
        fn dim(&self) -> usize {
            1
        }
        fn gradient(&self, z: &[f64], grad: &mut [f64]) -> Result<f64, elinvar::target::TargetError> {
            grad[0] = -(z[0] - 0.05) / 0.04;
            Ok(-0.5 * (z[0] - 0.05).powi(2) / 0.04)
        }
        fn names(&self) -> Vec<String> {
            vec!["log_x".into()]
        }
        fn transforms(&self) -> elinvar::target::Transforms {
            elinvar::target::Transforms::new(vec![Transform::Log]).unwrap()
        }
        fn constrained_names(&self) -> Vec<String> {
            vec!["x".into()]
        }
    }
    let target = elinvar::target::Pointwise(LogNormal);
    let diagnostics = normal(&target, 0.0, 0.2).importance(&target, 100_000, 1).unwrap().diagnostics;
    let [x, z] = &diagnostics.shifts[..] else { panic!("two shifts") };
    assert_eq!((x.name.as_str(), z.name.as_str()), ("x", "log_x"));
    // Means e^{m + s²/2}, sd = mean √(e^{s²} − 1): the ratio of means is e^{0.05}, and so is that of the sds.
    let expected = 0.05f64.exp_m1() / 0.04f64.exp_m1().sqrt();
    let near = |found: Estimate, expected: f64| (found.value - expected).abs() < 4.5 * found.mcse && found.mcse < 0.01;
    assert!(near(x.mean, expected) && near(x.log_sd, 0.05), "{x:?}");
    assert!(near(z.mean, 0.25) && near(z.log_sd, 0.0), "{z:?}");
    // A target without values of its own costs gradients.
    assert_eq!((diagnostics.counts.log_density, diagnostics.counts.gradient), (100_000, 100_000));
}

#[test]
fn diagnostics_ask_for_values_and_are_counted_apart_from_the_fit() {
    let target = breast_cancer();
    let mut posterior = elinvar::run::fit(&target, Family::gaussian(), &Plan::default()).unwrap();
    let before = posterior.counts();
    let diagnostics = posterior.diagnose(&target, 3_000, 1).unwrap();
    assert_eq!(diagnostics.counts, Counts { log_density: 3_000, ..Counts::default() });
    assert_eq!(posterior.counts(), before);
    let most = posterior.trace().iter().map(|step| step.n_draws).max().unwrap();
    assert_eq!(posterior.peak_draws(), most);
    assert!(diagnostics.gap().value > 0.0 && (diagnostics.gap().value - 0.055).abs() < 0.02, "{:?}", diagnostics.gap());
}

#[track_caller]
fn check(target: &dyn Target, family: Family, expected: Verdict, part: &str) -> Posterior {
    let mut posterior = elinvar::run::fit(target, family, &Plan::default()).unwrap();
    let judgement = posterior.judge(target, 10_000, 1).unwrap();
    assert_eq!(judgement.verdict, expected, "{}", judgement.reason);
    assert!(judgement.reason.contains(part), "{}", judgement.reason);
    assert_eq!((posterior.verdict(), posterior.judgement()), (Some(expected), Some(&judgement)));
    posterior
}

/// The best Gaussian is 0.053 nats from this posterior; its means are within 0.02 sd.
#[test]
fn a_gaussian_is_good_enough_for_an_ordinary_logistic_regression() {
    check(&breast_cancer(), Family::gaussian(), Verdict::Trust, "importance weights confirm every mean and sd");
}

/// The mean-field Gaussian understates an sd of this posterior by a factor of 2.4.
#[test]
fn a_mean_field_gaussian_is_not() {
    let family = Family::gaussian().with_covariance(Covariance::Diagonal);
    check(&breast_cancer(), family, Verdict::DoNotTrust, "");
}

/// The best Gaussian understates the sd of log K by 22 %, and the mean of η moves by 0.12 sd; K itself has no mean: it
/// is told and not judged.
#[test]
fn a_gaussian_is_not_trusted_with_a_heavy_tail() {
    let target = BetaBinomial::cancer_mortality();
    let posterior = check(&target, Family::gaussian(), Verdict::DoNotTrust, "A mean may be off by");
    assert!(posterior.judgement().unwrap().reason.contains("decide the moments of K, so report log_K"));
}

/// Draws of the best Gaussian say of a Student-t law with four degrees of freedom that its sds are within 10 %.
#[test]
fn tails_outside_the_approximation_are_seen() {
    let target = from_fn(3, |z, grad| {
        let spread = 4.0 + z.iter().map(|z| z * z).sum::<f64>();
        grad.iter_mut().zip(z).for_each(|(g, z)| *g = -7.0 * z / spread);
        -3.5 * spread.ln()
    });
    let posterior = check(&target, Family::gaussian(), Verdict::TrustMeansOnly, "an sd may be off by");
    let inside = posterior.importance(&target, 10_000, 1).unwrap().diagnostics;
    let (inside, seen) =
        (inside.worst_sd().unwrap().log_sd, posterior.diagnostics().unwrap().worst_sd().unwrap().log_sd);
    assert!(seen.value > inside.value + 3.0 * seen.mcse.hypot(inside.mcse), "{inside:?} {seen:?}");
}

#[test]
fn a_funnel_is_beyond_a_gaussian() {
    check(&Funnel::new(10).unwrap(), Family::gaussian(), Verdict::DoNotTrust, "");
    check(&Funnel::new(2).unwrap(), Family::gaussian(), Verdict::DoNotTrust, "");
}

/// Correlation 0.6: the mean-field Gaussian has the right means and sds of 0.8 instead of 1.
#[test]
fn a_mean_field_gaussian_keeps_the_means_of_correlated_normals() {
    let (a, b) = (1.0 / 0.64, -0.6 / 0.64);
    let target = Gaussian::new(vec![1.0, -2.0], vec![a, b, b, a]).unwrap();
    let family = Family::gaussian().with_covariance(Covariance::Diagonal);
    check(&target, family, Verdict::TrustMeansOnly, "The means hold, but an sd may be off by ");
    check(&target, Family::gaussian(), Verdict::Trust, "");
}

#[test]
fn a_missed_mode_is_seen_by_the_searches_only() {
    // 200 sds apart: wide draws do not find the other one either.
    let target =
        GaussianMixture::new(&[0.5, 0.5], vec![-3.0, 0.0, 197.0, 0.0], &[1.0, 0.0, 0.0, 1.0].repeat(2)).unwrap();
    let mut posterior = elinvar::run::fit(&target, Family::gaussian(), &Plan::default()).unwrap();
    posterior.set_agreement(Agreement::default());
    let alone = posterior.judge(&target, 10_000, 1).unwrap();
    assert_eq!(alone.verdict, Verdict::Trust, "no draw comes near the other mode: {}", alone.reason);
    // Both have mass ½ and log p = −log 4π.
    let log_p = -(4.0 * std::f64::consts::PI).ln();
    let mode = |x: f64| ModeRecord { centre: vec![x, 0.0], log_p, log_mass: Some(0.5f64.ln()), found_by: 4 };
    let agreement = Agreement { searches: 8, modes: vec![mode(-3.0), mode(197.0)], ..Agreement::default() };
    posterior.set_agreement(agreement.clone());
    assert_eq!((posterior.verdict(), posterior.agreement()), (None, &agreement));
    let judgement = posterior.judge(&target, 10_000, 1).unwrap();
    assert_eq!(judgement.verdict, Verdict::DoNotTrust);
    assert!(judgement.reason.contains("leaves out a mode with about 50 % of the mass"), "{}", judgement.reason);
    let mut mixture = elinvar::run::fit(&target, Family::mog(2), &Plan::default()).unwrap();
    if mixture.log_density(&[197.0, 0.0]) > -4.0 && mixture.log_density(&[-3.0, 0.0]) > -4.0 {
        mixture.set_agreement(agreement);
        let judgement = mixture.judge(&target, 10_000, 1).unwrap();
        assert_eq!(judgement.verdict, Verdict::Trust, "{}", judgement.reason);
    }
}

#[test]
fn a_run_that_was_cut_short_is_not_trusted() {
    let target = breast_cancer();
    let plan = Plan { stop: Stop { max_steps: 1, ..Stop::default() }, ..Plan::default() };
    let mut posterior = elinvar::run::fit(&target, Family::gaussian(), &plan).unwrap();
    let judgement = posterior.judge(&target, 2_000, 1).unwrap();
    assert_eq!(judgement.verdict, Verdict::DoNotTrust);
    assert!(judgement.reason.starts_with("Not converged: the limit of steps was reached"), "{}", judgement.reason);
}

/// log p is NaN for z₁ < 0 and a standard normal elsewhere.
#[test]
fn a_density_that_exists_on_half_the_space_is_not_trusted() {
    let target = from_fn(2, |z, grad| {
        grad.iter_mut().zip(z).for_each(|(g, z)| *g = -z);
        if z[0] < 0.0 { f64::NAN } else { -0.5 * (z[0] * z[0] + z[1] * z[1]) }
    });
    match elinvar::run::fit(&target, Family::gaussian(), &Plan::default()) {
        Ok(mut posterior) => {
            let judgement = posterior.judge(&target, 10_000, 1).unwrap();
            assert_eq!(judgement.verdict, Verdict::DoNotTrust, "{}", judgement.reason);
        }
        Err(error) => assert!(matches!(error, elinvar::Error::BadStart { .. }), "{error}"),
    }
}

/// Draws are added only while noise decides, and every evaluation is counted.
#[test]
fn draws_are_added_while_noise_decides() {
    let target = breast_cancer();
    let decided = check(&target, Family::gaussian(), Verdict::Trust, "");
    assert_eq!(decided.diagnostics().unwrap().n_draws, 10_000);
    let counts = decided.diagnostics().unwrap().counts;
    // Climbs ask for a value with every gradient.
    let places = decided.scan().unwrap().places as u64;
    assert_eq!(counts.log_density - counts.gradient - places, 20_000, "as many wide draws as draws of q");
    assert!(counts.gradient < 200, "{counts:?}");
    let mut posterior = elinvar::run::fit(&target, Family::gaussian(), &Plan::default()).unwrap();
    posterior.judge(&target, 40, 1).unwrap();
    let diagnostics = posterior.diagnostics().unwrap();
    assert!(diagnostics.n_draws > 40 && diagnostics.n_draws <= 640, "{}", diagnostics.n_draws);
    assert!(diagnostics.counts.log_density > diagnostics.n_draws as u64);
}

/// However many draws there were before, the verdict is that of all of them at once, and none is evaluated twice.
#[test]
fn draws_that_were_evaluated_are_not_evaluated_again() {
    let target = BetaBinomial::cancer_mortality();
    let uncounted = |diagnostics: &Diagnostics| Diagnostics { counts: Counts::default(), ..diagnostics.clone() };
    let at_once = |q: &Posterior, n| uncounted(&q.importance_widened(&target, n, 1).unwrap().diagnostics);
    // Noise decides, of 500 draws and of 2 000; of the latter one block of 1 024 is known.
    let mut posterior = elinvar::run::fit(&target, Family::gaussian(), &Plan::default()).unwrap();
    posterior.judge(&target, 500, 1).unwrap();
    let found = posterior.diagnostics().unwrap();
    assert_eq!((found.n_draws, found.counts.log_density), (8_000, 2 * (500 + 2_000 + 8_000 - 1_024)));
    assert_eq!(uncounted(found), at_once(&posterior, 8_000));

    posterior.judge_further(&target, 20_000, 2).unwrap();
    let found = posterior.diagnostics().unwrap();
    assert_eq!((found.n_draws, found.counts.log_density), (20_000, 2 * (20_000 - 7 * 1_024)));
    assert_eq!(uncounted(found), at_once(&posterior, 20_000));
    // A verdict that has to be made anew on the same draws asks for nothing.
    let judgement = posterior.judgement().cloned();
    posterior.set_agreement(posterior.agreement().clone());
    assert_eq!(posterior.judgement(), None);
    assert_eq!(Some(posterior.judge_further(&target, 100, 2).unwrap().0), judgement);
    assert_eq!(posterior.diagnostics().unwrap().counts, Counts::default());
}

#[test]
fn judgement_agreement_and_rungs_are_saved_and_older_files_are_read() {
    let target = BetaBinomial::cancer_mortality();
    let mut posterior = elinvar::run::fit(&target, Family::gaussian(), &Plan::default()).unwrap();
    posterior
        .set_agreement(Agreement { restarts: vec![Estimate { value: -571.0, mcse: 0.1 }], ..Agreement::default() });
    posterior.set_rungs(vec![Rung {
        family: Family::gaussian(),
        elbo: Estimate { value: -570.9, mcse: 0.01 },
        pareto_k: Some(0.7),
        gain: None,
        counts: posterior.counts(),
        seconds: 0.1,
        kept: true,
    }]);
    posterior.judge(&target, 500, 1).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("fit.json");
    posterior.save(&path).unwrap();
    let loaded = Posterior::load(&path).unwrap();
    assert_eq!(loaded.judgement(), posterior.judgement());
    assert_eq!((loaded.agreement(), loaded.rungs()), (posterior.agreement(), posterior.rungs()));
    assert_eq!(loaded.diagnostics(), posterior.diagnostics());

    let mut value: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    for key in ["judgement", "agreement", "rungs"] {
        value.as_object_mut().unwrap().remove(key).unwrap();
    }
    for key in ["shifts", "counts"] {
        value["diagnostics"].as_object_mut().unwrap().remove(key).unwrap();
    }
    value["schema"] = 1.into();
    std::fs::write(&path, value.to_string()).unwrap();
    let older = Posterior::load(&path).unwrap();
    assert_eq!((older.verdict(), older.rungs().len(), older.agreement()), (None, 0, &Agreement::default()));
    assert_eq!(older.diagnostics().unwrap().elbo, posterior.diagnostics().unwrap().elbo);
}
