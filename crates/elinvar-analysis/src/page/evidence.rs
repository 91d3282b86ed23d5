//! What a verdict rests on, in words: the reason, k̂, the rungs and the restarts.

use elinvar::posterior::{Diagnostics, Estimate, GivenBy, Judgement, Verdict};

use crate::model_check::ModelCheck;
use crate::number::grouped;
use crate::page::ladder;
use crate::table::shown_len;

/// The verdict and its reason, in lines that fit a terminal.
pub(crate) fn verdict(Judgement { verdict, reason }: &Judgement) -> String {
    folded(&format!("Approximation: {}. {reason}", verdict.name().replace('_', " ")))
}

/// What checks of the model say, in lines that fit a terminal.
pub(crate) fn model(check: &ModelCheck, approximation: Verdict) -> String {
    let hedge =
        if approximation == Verdict::DoNotTrust { " (The approximation is in doubt, and so is this.)" } else { "" };
    folded(&format!("Model: {}{hedge}", check.reason))
}

/// A text in lines that fit a terminal.
pub(crate) fn folded(text: &str) -> String {
    const WIDTH: usize = 110;
    let mut words = text.split(' ');
    let mut lines = vec![words.next().unwrap_or_default().to_owned()];
    for word in words {
        let last = lines.last_mut().expect("there is a first line");
        if shown_len(last) + 1 + word.chars().count() > WIDTH {
            lines.push(word.into());
        } else {
            *last += &format!(" {word}");
        }
    }
    lines.join("\n") + "\n"
}

/// k̂ with its threshold and what follows from it.
pub(crate) fn pareto(diagnostics: &Diagnostics, few_draws_dominate: bool) -> String {
    /// Weights of so large an effective share of the draws are nearly equal, whatever their tail.
    const NEARLY_ALL: f64 = 0.9;
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
        Some(k) => {
            let is_doubtful = diagnostics.effective_sample_size > NEARLY_ALL * diagnostics.n_draws as f64;
            let doubt = if is_doubtful { "; more --diagnostic-draws would tell" } else { "" };
            format!(
                "{k:.2}, above {threshold:.2} for {draws} draws: importance sampling from this fit is not reliable{doubt}"
            )
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
        let text = verdict(&Judgement { verdict: Verdict::TrustMeansOnly, reason: words.clone() });
        assert!(text.lines().count() > 1 && text.ends_with('\n'));
        assert!(text.lines().all(|line| line.chars().filter(|c| *c != '\u{302}').count() <= 110), "{text}");
        assert_eq!(text.replace('\n', " ").trim_end(), format!("Approximation: trust means only. {words}"));
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
        assert_eq!(pareto(&diagnostics, false), plain);
        diagnostics.effective_sample_size = 950.0;
        assert_eq!(pareto(&diagnostics, false), format!("{plain}; more --diagnostic-draws would tell"));
        diagnostics.pareto_k = None;
        assert!(pareto(&diagnostics, false).starts_with("not known: 1,000 draws are too few"));
        assert!(pareto(&diagnostics, true).starts_with("not known: very few draws outweigh all others;"));
    }
}
