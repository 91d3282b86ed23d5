//! What a verdict rests on, in words: the reason, k̂, the rungs and the restarts.

use elinvar::Posterior;
use elinvar::chains::CorrectedNumber;
use elinvar::posterior::{Diagnostics, Estimate, GivenBy, Judgement, Shift, TailIndex, Verdict};

use crate::model_check::ModelCheck;
use crate::number::{grouped, significant, with_error};
use crate::page::ladder;
use crate::table::{self, Align, Column, shown_len};

/// The verdict and what decided it.
pub(crate) fn verdict(Judgement { verdict, reason }: &Judgement) -> String {
    format!("Approximation: {}. {}", verdict.name().replace('_', " "), decision(reason))
}

/// What decided a verdict: its reason without the numbers that follow.
fn decision(reason: &str) -> &str {
    let of_weights = reason.find(" k\u{302} is ");
    let of_chains = || reason.find(" chains of ").and_then(|at| reason[..at].rfind(". ")).map(|at| at + 1);
    of_weights.or_else(of_chains).map_or(reason, |at| &reason[..at])
}

/// What the verdict rests on, as a small table: what was found and what is needed for trust.
pub(crate) fn table(posterior: &Posterior, diagnostics: &Diagnostics, width: Option<usize>) -> String {
    /// Bounds of restarts that are so close, in nats, agree.
    const AGREEING: f64 = 0.1;
    let mut rows: Vec<[String; 3]> = Vec::new();
    let (within_mean, within_sd) = ("within 0.1 sd, with 2 errors".to_owned(), "within 15 %, with 2 errors".to_owned());
    if let Some(corrected) = posterior.corrected() {
        let judged = || corrected.coordinates.iter().chain(&corrected.parameters).filter(|number| number.judged);
        let worst = |error: fn(&CorrectedNumber) -> f64| judged().map(error).fold(0.0, f64::max);
        let mean = worst(|number| number.mean.mcse / number.sd.value);
        let sd = worst(|number| number.sd.mcse / number.sd.value);
        rows.push(["error of a mean".into(), format!("up to {mean:.3} sd"), within_mean]);
        rows.push(["error of an sd".into(), format!("up to {:.1} %", 100.0 * sd), within_sd]);
    } else if diagnostics.elbo.mcse.is_finite() {
        let by_mean = |a: &&Shift, b: &&Shift| a.mean.value.abs().total_cmp(&b.mean.value.abs());
        let by_sd = |a: &&Shift, b: &&Shift| a.log_sd.value.abs().total_cmp(&b.log_sd.value.abs());
        let judged = || diagnostics.shifts.iter().filter(|shift| shift.instead.is_none());
        if let (Some(mean), Some(sd)) = (judged().max_by(by_mean), judged().max_by(by_sd)) {
            let by = with_error(mean.mean.value.abs(), mean.mean.mcse);
            rows.push(["weights move a mean".into(), format!("{by} sd ({})", mean.name), within_mean]);
            // The error of eˣ is eˣ times that of x.
            let factor = sd.log_sd.value.clamp(-10.0, 10.0).exp();
            let (change, error) = (100.0 * (factor - 1.0), 100.0 * factor * sd.log_sd.mcse);
            let sign = if change > 0.0 { "+" } else { "" };
            rows.push([
                "weights move an sd".into(),
                format!("{sign}{change:.1} ± {error:.1} % ({})", sd.name),
                within_sd,
            ]);
            let (effective, share) = diagnostics.effective_draws();
            let all = grouped((effective / share).round() as u64);
            rows.push([
                "weighted draws".into(),
                format!("worth {} of {all}", grouped(effective.round() as u64)),
                "10 % or more".into(),
            ]);
        }
        let gap = diagnostics.gap();
        if gap.mcse.is_finite() {
            rows.push(["log evidence − ELBO".into(), with_error(gap.value, gap.mcse) + " nats", String::new()]);
        }
    }
    for Shift { name, instead, .. } in &diagnostics.shifts {
        if let Some(coordinate) = instead {
            let decide = "few draws decide them".into();
            rows.push([format!("moments of {name}"), decide, format!("{coordinate} is judged instead")]);
        }
    }
    let agreement = posterior.agreement();
    if let Some(best) = agreement.restarts.iter().max_by(|a, b| a.value.total_cmp(&b.value)) {
        let is_near = |bound: &&Estimate| best.value - bound.value <= AGREEING + 3.0 * best.mcse.hypot(bound.mcse);
        let (near, all) = (agreement.restarts.iter().filter(is_near).count(), agreement.restarts.len());
        rows.push(["restarts that agree".into(), format!("{near} of {all} within {AGREEING} nats"), String::new()]);
    }
    if agreement.searches > 0 && !agreement.modes.is_empty() {
        let (searches, modes) = (agreement.searches, agreement.modes.len());
        rows.push(["searches for modes".into(), format!("{searches} found {modes}"), "none left out".into()]);
    }
    if posterior.scan().is_some_and(|scan| scan.places == 0) {
        rows.push(["other modes".into(), "none: the log density is concave".into(), String::new()]);
    } else if let Some(scan) = posterior.scan() {
        let unseen = scan.finest.map_or("the answer".into(), |share| format!("{} of its distance", two_digits(share)));
        rows.push([
            "looked around".into(),
            format!("{} places, up to {:.0} sds", grouped(scan.places as u64), scan.reach),
            format!("unseen: narrower than {unseen}"),
        ]);
    }
    if rows.is_empty() {
        return String::new();
    }
    let column = |k: usize, name: &str| Column::new(Align::Left, name, rows.iter().map(|row| row[k].clone()));
    let all = table::text(vec![column(0, "evidence"), column(1, "found"), column(2, "needed")]);
    if width.is_none_or(|width| all.lines().all(|line| shown_len(line) <= width)) {
        return all;
    }
    table::text(vec![column(0, "evidence"), column(1, "found")])
}

/// The tail of a learned Student-t.
pub(crate) fn tail(tail: &TailIndex) -> String {
    /// With more degrees of freedom a t is a Gaussian to every eye.
    const GAUSSIAN: f64 = 1_000.0;
    let degrees = match tail.standard_error {
        _ if tail.degrees_of_freedom > GAUSSIAN => {
            format!("that of a Gaussian: more than {}", grouped(GAUSSIAN as u64))
        }
        // The shape is half of them, and so is its error.
        Some(error) => with_error(tail.degrees_of_freedom, 2.0 * error),
        None => significant(tail.degrees_of_freedom),
    };
    format!("{degrees} degrees of freedom, learned")
}

/// Two significant digits: a share that was searched for is not known better.
fn two_digits(share: f64) -> String {
    significant(format!("{share:.1e}").parse().unwrap_or(share))
}

/// What checks of the model say.
pub(crate) fn model(check: &ModelCheck, approximation: Verdict) -> String {
    let hedge =
        if approximation == Verdict::DoNotTrust { " (The approximation is in doubt, and so is this.)" } else { "" };
    format!("Model: {}{hedge}", check.reason)
}

/// A text in lines that fit a terminal.
pub(crate) fn folded(text: &str) -> String {
    const WIDTH: usize = 110;
    folded_at(text, WIDTH)
}

/// A text in lines of so many places.
pub(crate) fn folded_at(text: &str, width: usize) -> String {
    let mut words = text.split(' ');
    let mut lines = vec![words.next().unwrap_or_default().to_owned()];
    for word in words {
        let last = lines.last_mut().expect("there is a first line");
        if shown_len(last) + 1 + word.chars().count() > width {
            lines.push(word.into());
        } else {
            *last += &format!(" {word}");
        }
    }
    lines.join("\n") + "\n"
}

/// Whether weights have so large an effective share of the draws that they are nearly equal, whatever their tail.
pub(crate) fn are_nearly_equal(diagnostics: &Diagnostics) -> bool {
    const NEARLY_ALL: f64 = 0.9;
    diagnostics.effective_sample_size > NEARLY_ALL * diagnostics.n_draws as f64
}

/// k̂ with its threshold and what follows from it, for what is given.
pub(crate) fn pareto(diagnostics: &Diagnostics, few_draws_dominate: bool, given_by: GivenBy) -> String {
    let threshold = diagnostics.pareto_k_threshold;
    let draws = grouped(diagnostics.n_draws as u64);
    match diagnostics.pareto_k {
        _ if !diagnostics.elbo.mcse.is_finite() => "not known: the log density is too large to be compared".into(),
        _ if few_draws_dominate => {
            "not known: very few draws outweigh all others; importance sampling from this fit is not reliable".into()
        }
        None => format!("not known: {draws} draws are too few to say; raise --diagnostic-draws"),
        Some(k) if k <= threshold => {
            format!("{k:.2}, below {threshold:.2} for {draws} draws: importance sampling from this fit is reliable")
        }
        // A tail of nearly equal weights has any shape.
        Some(_) if are_nearly_equal(diagnostics) => format!(
            "without meaning here: the weights of {draws} draws are nearly equal, worth {}",
            grouped(diagnostics.effective_sample_size.round() as u64)
        ),
        // k̂ is that of draws of the fit, and not all that was weighed.
        Some(k) if given_by == GivenBy::Weights && diagnostics.wide.is_some() => format!(
            "{k:.2}, above {threshold:.2} for {draws} draws of the fit alone; the answer weighs wider ones with them"
        ),
        Some(k) => {
            format!("{k:.2}, above {threshold:.2} for {draws} draws: importance sampling from this fit is not reliable")
        }
    }
}

/// What is said of a ladder that ended at its first rung.
pub(crate) fn only_rung(judgement: &Judgement, given_by: GivenBy) -> &'static str {
    match (judgement.verdict, given_by) {
        (Verdict::Trust, GivenBy::Chains) => "a Gaussian, from which the chains start; no other family was tried",
        (Verdict::Trust, _) => "a Gaussian is enough; no other family was tried",
        _ => "no other family was tried",
    }
}

/// The bounds of the restarts that came to an end, of `asked` in all.
pub(crate) fn restarts(bounds: &[Estimate], asked: usize) -> String {
    /// So many are listed one by one.
    const LISTED: usize = 5;
    let mut text = format!("{asked}, bounds ");
    if bounds.len() <= LISTED {
        text += &bounds.iter().map(|bound| ladder::estimate(*bound)).collect::<Vec<_>>().join(", ");
    } else {
        let ordered = |a: &&Estimate, b: &&Estimate| a.value.total_cmp(&b.value);
        if let (Some(worst), Some(best)) = (bounds.iter().min_by(ordered), bounds.iter().max_by(ordered)) {
            text += &format!("from {} to {}", ladder::estimate(*worst), ladder::estimate(*best));
        }
    }
    let failed = asked.saturating_sub(bounds.len());
    if failed > 0 { text + &format!("; {failed} could not be fitted") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_broken_into_lines_between_words() {
        let words = vec!["k\u{302}".to_owned(); 100].join(" ");
        let text = folded(&verdict(&Judgement { verdict: Verdict::TrustMeansOnly, reason: words.clone() }));
        assert!(text.lines().count() > 1 && text.ends_with('\n'));
        assert!(text.lines().all(|line| line.chars().filter(|c| *c != '\u{302}').count() <= 110), "{text}");
        assert_eq!(text.replace('\n', " ").trim_end(), format!("Approximation: trust means only. {words}"));
    }

    #[test]
    fn what_decided_stands_before_the_numbers() {
        for (reason, decided) in [
            ("Converged. k\u{302} is 0.43 (threshold 0.70), the ELBO -3.", "Converged."),
            (
                "Every mean is right, by chains on the target. 32 chains of 21 steps; more.",
                "Every mean is right, by chains on the target.",
            ),
            ("Something is wrong.", "Something is wrong."),
        ] {
            assert_eq!(decision(reason), decided);
        }
    }

    #[test]
    fn bounds_of_restarts_are_listed_or_bracketed() {
        let bounds: Vec<Estimate> = (0..7).map(|i| Estimate { value: -3.0 - f64::from(i), mcse: 0.1 }).collect();
        assert_eq!(restarts(&bounds[..2], 2), "2, bounds -3.00 ± 0.10, -4.00 ± 0.10");
        assert_eq!(restarts(&bounds[..2], 3), "3, bounds -3.00 ± 0.10, -4.00 ± 0.10; 1 could not be fitted");
        assert_eq!(restarts(&bounds, 7), "7, bounds from -9.00 ± 0.10 to -3.00 ± 0.10");
    }

    #[test]
    fn what_is_said_of_k() {
        let elbo = Estimate { value: -3.0, mcse: 0.1 };
        let mut diagnostics = Diagnostics {
            n_draws: 1000,
            dropped: 0,
            elbo,
            log_normaliser: elbo,
            pareto_k: Some(0.8),
            pareto_k_threshold: 0.67,
            effective_sample_size: 500.0,
            shifts: Vec::new(),
            wide: None,
            fault: None,
            counts: Default::default(),
        };
        let plain = "0.80, above 0.67 for 1,000 draws: importance sampling from this fit is not reliable";
        assert_eq!(pareto(&diagnostics, false, GivenBy::Approximation), plain);
        // Without wider draws nothing else was weighed.
        assert_eq!(pareto(&diagnostics, false, GivenBy::Weights), plain);
        diagnostics.wide = serde_json::from_str(r#"{"n_draws": 1000, "effective_sample_size": 1200.0}"#).unwrap();
        let widened = "0.80, above 0.67 for 1,000 draws of the fit alone; the answer weighs wider ones with them";
        assert_eq!(pareto(&diagnostics, false, GivenBy::Weights), widened);
        assert_eq!(pareto(&diagnostics, false, GivenBy::Approximation), plain);
        diagnostics.effective_sample_size = 950.0;
        let equal = "without meaning here: the weights of 1,000 draws are nearly equal, worth 950";
        assert_eq!(pareto(&diagnostics, false, GivenBy::Approximation), equal);
        diagnostics.pareto_k = None;
        assert!(pareto(&diagnostics, false, GivenBy::Approximation).starts_with("not known: 1,000 draws are too few"));
        assert!(
            pareto(&diagnostics, true, GivenBy::Approximation)
                .starts_with("not known: very few draws outweigh all others;")
        );
    }
}
