use super::*;
use crate::posterior::{ModeRecord, Shift, WideDraws};

fn estimate(value: f64, mcse: f64) -> Estimate {
    Estimate { value, mcse }
}

/// A fit that is right and known to be.
fn good() -> Diagnostics {
    let shift = |name: &str, log_sd| Shift {
        name: name.into(),
        mean: estimate(0.01, 0.004),
        log_sd: estimate(log_sd, 0.01),
        instead: None,
    };
    Diagnostics {
        n_draws: 10_000,
        dropped: 0,
        elbo: estimate(-34.30, 0.003),
        log_normaliser: estimate(-34.24, 0.003),
        pareto_k: Some(0.4),
        pareto_k_threshold: 0.7,
        effective_sample_size: 8_800.0,
        shifts: vec![shift("a", -0.02), shift("b", 0.02)],
        wide: None,
        fault: None,
        counts: Default::default(),
    }
}

fn judge(evidence: &Evidence<'_>) -> Judgement {
    conclude(evidence, &assess(evidence))
}

fn with(change: impl FnOnce(&mut Diagnostics)) -> Diagnostics {
    let mut diagnostics = good();
    change(&mut diagnostics);
    diagnostics
}

fn evidence<'a>(diagnostics: &'a Diagnostics, agreement: &'a Agreement, log_q: &'a [f64]) -> Evidence<'a> {
    let stop_reason = StopReason::Converged;
    Evidence { diagnostics, stop_reason, remaining: None, agreement, log_q_at_modes: log_q, fault: None, scan: None }
}

#[track_caller]
fn check(diagnostics: &Diagnostics, expected: Verdict, undecided: bool, sentence: &str) {
    let agreement = Agreement::default();
    let evidence = evidence(diagnostics, &agreement, &[]);
    let judgement = judge(&evidence);
    assert_eq!(judgement.verdict, expected, "{}", judgement.reason);
    assert_eq!(assess(&evidence).undecided, undecided, "{}", judgement.reason);
    assert!(judgement.reason.starts_with(sentence), "{}", judgement.reason);
}

#[test]
fn a_right_fit_is_trusted_and_every_number_is_told() {
    check(&good(), Verdict::Trust, false, "Converged, and importance weights confirm every mean and sd. ");
    let (diagnostics, agreement) = (good(), Agreement::default());
    let reason = judge(&evidence(&diagnostics, &agreement, &[])).reason;
    assert_eq!(
        reason,
        "Converged, and importance weights confirm every mean and sd. k\u{302} is 0.40 (threshold 0.70 for 10,000 draws), the \
         ELBO -34.3000 ± 0.0030, 0.06 nats below the estimated log evidence -34.2400 ± 0.0030, and importance weights \
         move means by up to 0.01 ± 0.004 sd (b) and sds by up to +2.0 % ± 1.0 % (b)."
    );
}

#[test]
fn a_smaller_sd_has_a_sign_and_no_change_has_none() {
    for (log_sd, shown) in [(-0.1, "by up to −9.5 % ± 1.0 % (a)"), (0.0, "by up to 0.0 % ± 1.0 % (a)")] {
        let diagnostics = with(|d| {
            d.shifts.truncate(1);
            d.shifts[0].log_sd.value = log_sd;
        });
        let reason = judge(&evidence(&diagnostics, &Agreement::default(), &[])).reason;
        assert!(reason.contains(shown), "{reason}");
    }
}

#[test]
fn a_run_that_did_not_converge_is_not_trusted() {
    let (diagnostics, agreement) = (good(), Agreement::default());
    for (stop_reason, words) in [
        (StopReason::MaxSteps, "the limit of steps was reached"),
        (StopReason::MaxEvaluations, "the limit of evaluations was reached"),
        (StopReason::MaxSeconds, "the limit of time was reached"),
        (StopReason::Interrupted, "the run was interrupted"),
        (StopReason::BadEvaluations, "the log density was not finite at most draws of many steps in a row"),
        (StopReason::Stuck, "no step could be taken any more"),
        (StopReason::Stagnated, "the bound was no longer rising, and more draws did not help"),
        (StopReason::Diverged, "the approximation became wider or narrower without end"),
    ] {
        for (remaining, left) in [(None, ""), (Some(estimate(0.31, 0.04)), ", with 0.310 ± 0.040 nats left to gain")] {
            let evidence = Evidence { stop_reason, remaining, ..evidence(&diagnostics, &agreement, &[]) };
            let Judgement { verdict, reason } = judge(&evidence);
            assert_eq!(verdict, Verdict::DoNotTrust);
            assert!(reason.starts_with(&format!("Not converged: {words}{left}. ")), "{reason}");
        }
    }
}

#[test]
fn draws_without_a_density_are_no_more_than_one_in_a_hundred() {
    check(&with(|d| d.dropped = 100), Verdict::Trust, false, "Converged");
    check(
        &with(|d| d.dropped = 101),
        Verdict::DoNotTrust,
        false,
        "The log density is not finite at 1.0 % of the draws",
    );
}

#[test]
fn what_cannot_be_compared_or_is_too_little_is_not_trusted() {
    let too_large = with(|d| d.elbo.mcse = f64::MAX);
    check(&too_large, Verdict::DoNotTrust, false, "The log density is too large or varies too much");
    check(&with(|d| d.pareto_k = None), Verdict::DoNotTrust, false, "10,000 draws are too few for a verdict. ");
}

#[test]
fn few_effective_draws_say_little() {
    let few = |n_draws: usize, effective_sample_size: f64| {
        with(|d| (d.n_draws, d.effective_sample_size) = (n_draws, effective_sample_size))
    };
    let sentence = "Importance weights leave only 99 draws of 500: ";
    check(&few(500, 99.0), Verdict::DoNotTrust, true, sentence);
    check(&few(500, 101.0), Verdict::Trust, false, "Converged");
    check(&few(10_000, 199.0), Verdict::DoNotTrust, false, "Importance weights leave only 199 draws of 10,000: ");
    let sentence = "The means hold, but the sds are in doubt: importance weights leave only 2.0 % of the draws. ";
    check(&few(10_000, 201.0), Verdict::TrustMeansOnly, false, sentence);
    check(&few(10_000, 999.0), Verdict::TrustMeansOnly, false, "The means hold, but the sds are in doubt");
    check(&few(10_000, 1_001.0), Verdict::Trust, false, "Converged");
    // The wide draws count, where there are any.
    let wide = |effective_sample_size| with(|d| d.wide = Some(WideDraws { n_draws: d.n_draws, effective_sample_size }));
    check(&wide(399.0), Verdict::DoNotTrust, false, "Importance weights leave only 399 draws of 20,000: ");
    check(&wide(2_001.0), Verdict::Trust, false, "Converged");
}

/// A parameter without moments is told and not judged.
#[test]
fn a_parameter_that_a_few_draws_decide_is_not_judged() {
    let dominated = |instead: Option<String>| {
        with(|d| {
            (d.shifts[0].mean.value, d.shifts[0].log_sd.value) = (0.5, 2.0);
            d.shifts[0].instead = instead;
        })
    };
    check(&dominated(None), Verdict::DoNotTrust, false, "A mean may be off by 0.51 sd (a). ");
    let diagnostics = dominated(Some("log_a".into()));
    check(&diagnostics, Verdict::Trust, false, "Converged");
    let reason = judge(&evidence(&diagnostics, &Agreement::default(), &[])).reason;
    assert!(reason.ends_with("; a few draws decide the moments of a, so report log_a, which is judged."), "{reason}");
    assert!(reason.contains("move means by up to 0.01 ± 0.004 sd (b)"), "{reason}");
}

#[test]
fn means_and_standard_deviations_must_hold_two_errors_further() {
    let mean = |value, mcse| with(|d| d.shifts[1].mean = estimate(value, mcse));
    check(&mean(-0.06, 0.0199), Verdict::Trust, false, "Converged");
    check(&mean(-0.06, 0.0201), Verdict::DoNotTrust, true, "A mean may be off by 0.10 sd (b). ");
    check(&mean(0.3, 0.05), Verdict::DoNotTrust, false, "A mean may be off by 0.40 sd (b). ");
    // In units of the smaller standard deviation.
    let narrower = with(|d| (d.shifts[0].mean.value, d.shifts[0].log_sd.value) = (0.09, -0.12));
    check(&narrower, Verdict::DoNotTrust, true, "A mean may be off by 0.11 sd (a). ");
    let log_sd = |value, mcse| with(|d| d.shifts[0].log_sd = estimate(value, mcse));
    check(&log_sd(0.1, 0.019), Verdict::Trust, false, "Converged");
    check(&log_sd(0.1, 0.021), Verdict::TrustMeansOnly, true, "The means hold, but an sd may be off by 15 % (a). ");
    check(&log_sd(0.6, 0.05), Verdict::TrustMeansOnly, false, "The means hold, but an sd may be off by 101 % (a). ");
}

/// k̂ is told, and does not decide.
#[test]
fn a_large_k_is_no_veto() {
    let diagnostics = with(|d| d.pareto_k = Some(1.2));
    check(
        &diagnostics,
        Verdict::Trust,
        false,
        "Converged, and importance weights confirm every mean and sd. k\u{302} is 1.20",
    );
}

fn mode(log_p: f64, log_mass: Option<f64>) -> ModeRecord {
    ModeRecord { centre: vec![0.0; 4], log_p, log_mass, found_by: 3 }
}

#[track_caller]
fn check_starts(agreement: &Agreement, log_q: &[f64], expected: Verdict, part: &str) {
    let diagnostics = good();
    let Judgement { verdict, reason } = judge(&evidence(&diagnostics, agreement, log_q));
    assert_eq!(verdict, expected, "{reason}");
    assert!(reason.contains(part), "{reason}");
}

#[test]
fn a_mode_that_is_left_out_and_has_mass_is_told() {
    let log_z = good().log_normaliser.value;
    let covered = mode(-32.0, Some(log_z));
    let agreement = |other| Agreement { searches: 8, modes: vec![covered.clone(), other], ..Agreement::default() };
    // log p − log Z − log q is 0.24 at the first.
    let log_q = |other: f64| [2.0, other];
    let equal = mode(-32.0, Some(log_z));
    check_starts(&agreement(equal.clone()), &log_q(2.0), Verdict::Trust, "; 8 searches found 2 modes.");
    check_starts(&agreement(equal.clone()), &log_q(-2.9), Verdict::Trust, "");
    let words = "leaves out a mode with about 50 % of the mass (log p = -32.00, found by 3 searches)";
    check_starts(&agreement(equal), &log_q(-3.1), Verdict::DoNotTrust, words);
    check_starts(&agreement(mode(-32.0, Some(log_z - 4.7))), &log_q(-40.0), Verdict::Trust, "");
    check_starts(&agreement(mode(-32.0, Some(log_z - 4.5))), &log_q(-40.0), Verdict::DoNotTrust, "1.1 % of the mass");
    check_starts(&agreement(mode(-32.0, None)), &log_q(-40.0), Verdict::DoNotTrust, "a mode with unknown mass");
    // The only mode that is known, far from q.
    let alone = Agreement { searches: 1, modes: vec![covered], ..Agreement::default() };
    check_starts(&alone, &[-40.0], Verdict::DoNotTrust, "; 1 search found 1 mode.");
    check_starts(&alone, &[-4.0], Verdict::Trust, "");
}

#[test]
fn restarts_and_endless_searches_are_heard() {
    let restarts = |values: &[f64]| Agreement {
        restarts: values.iter().map(|v| estimate(*v, 0.01)).collect(),
        ..Agreement::default()
    };
    check_starts(&restarts(&[-34.3, -34.33, -36.0]), &[], Verdict::Trust, "; 2 of 3 restarts agree within 0.1 nats.");
    check_starts(&restarts(&[-36.0, -34.3]), &[], Verdict::Trust, "; 1 of 2 restarts agree");
    check_starts(
        &restarts(&[-40.0, -36.0, -34.3]),
        &[],
        Verdict::DoNotTrust,
        "None of the other 2 restarts came within 1 nats",
    );
    let unbounded = Agreement { unbounded: true, ..Agreement::default() };
    check_starts(&unbounded, &[], Verdict::DoNotTrust, "A search for modes went up without end");
}

#[test]
fn the_words_are_the_same_everywhere() {
    for verdict in [Verdict::Trust, Verdict::TrustMeansOnly, Verdict::DoNotTrust] {
        assert_eq!(serde_json::to_value(verdict).unwrap(), verdict.name());
        assert_eq!(verdict.to_string(), verdict.name());
    }
    assert!((limits::LOG_SD - 1.15f64.ln()).abs() < 1e-6);
}
