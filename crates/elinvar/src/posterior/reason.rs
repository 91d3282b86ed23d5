//! The reason of a verdict, in words.

use super::verdict::{Assessment, Cause, Evidence, agreeing, limits};
use super::{Agreement, Diagnostics, Estimate, Scan, Shift, Verdict};

/// What decided, and then every number that was looked at.
pub(super) fn sentences(evidence: &Evidence<'_>, assessment: &Assessment) -> String {
    let mut text = decision(evidence, assessment.cause);
    text.push_str(". ");
    text += &numbers(evidence.diagnostics);
    text += &starts(evidence.agreement);
    if assessment.verdict == Verdict::Trust
        && let Some(scan) = evidence.scan
    {
        text += &looked_around(scan);
    }
    text.push('.');
    text
}

fn decision(evidence: &Evidence<'_>, cause: Cause) -> String {
    let Evidence { diagnostics, agreement, .. } = evidence;
    let name = |index: usize| &diagnostics.shifts[index].name;
    match cause {
        Cause::NotConverged => {
            format!("Not converged: {}{}", evidence.stop_reason.sentence(), left(evidence.remaining))
        }
        Cause::Fault => evidence.fault().map_or_else(String::new, |fault| beginning(&fault.to_string())),
        Cause::Unbounded => {
            "A search for modes went up without end: this log density has no maximum, and may have mass that no draw \
             reaches or no normaliser"
                .into()
        }
        Cause::Dropped => format!(
            "The log density is not finite at {} of the draws, more than {}: the approximation covers points where the \
             model does not exist",
            percent(diagnostics.dropped_share()),
            percent(limits::DROPPED)
        ),
        Cause::NotComparable => {
            "The log density is too large or varies too much to be compared with the approximation".into()
        }
        Cause::MissedMode { index, mass } => {
            let mode = &agreement.modes[index];
            let mass = match mode.log_mass {
                Some(_) => format!("about {} of the mass", percent(mass)),
                None => "unknown mass".into(),
            };
            let by = if mode.found_by == 1 { "one search".into() } else { format!("{} searches", mode.found_by) };
            format!("The approximation leaves out a mode with {mass} (log p = {:.2}, found by {by})", mode.log_p)
        }
        Cause::LonelyRestart => format!(
            "None of the other {} restarts came within {} nats of the best one: there may be better ones still",
            agreement.restarts.len() - 1,
            limits::LONELY_NATS
        ),
        Cause::TooFewDraws => format!("{} draws are too few for a verdict", grouped(diagnostics.n_draws)),
        Cause::FewEffectiveDraws => {
            let (effective, share) = diagnostics.effective_draws();
            format!(
                "Importance weights leave only {:.0} draws of {}: the approximation is far from the model",
                effective.max(1.0),
                grouped((effective / share).round() as usize)
            )
        }
        Cause::Means { index, shift } => format!("A mean may be off by {} sd ({})", shown(shift), name(index)),
        Cause::StandardDeviations { index, change } => {
            format!("The means hold, but an sd may be off by {} ({})", percent(change.min(10.0).exp_m1()), name(index))
        }
        Cause::FewForStandardDeviations => format!(
            "The means hold, but the sds are in doubt: importance weights leave only {} of the draws",
            percent(diagnostics.effective_draws().1)
        ),
        Cause::Weighed => "Importance weights give every mean within 0.1 sd and every sd within 15 %, though the \
                           approximation by itself has not"
            .into(),
        Cause::Nothing => "Converged, and importance weights confirm every mean and sd".into(),
    }
}

/// Where modes were looked for, and which of them nobody would have seen.
pub(super) fn looked_around(scan: &Scan) -> String {
    if scan.places == 0 {
        return "; its log density is concave, so that there is no other mode".into();
    }
    let (places, reach) = (grouped(scan.places), scan.reach);
    let unseen = match scan.finest {
        Some(finest) => format!("narrower than {} of its distance", shown(finest)),
        None => "narrower than the answer".into(),
    };
    format!(
        "; no other mode was seen from {places} places up to {reach:.0} sds away, but one that is {unseen} may be there"
    )
}

/// A sentence with a capital letter.
pub(super) fn beginning(sentence: &str) -> String {
    let mut rest = sentence.chars();
    let first = rest.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}", rest.as_str())
}

fn left(remaining: Option<Estimate>) -> String {
    match remaining {
        Some(gain) => format!(", with {} nats left to gain", with_error(gain)),
        None => String::new(),
    }
}

fn numbers(diagnostics: &Diagnostics) -> String {
    let Diagnostics { elbo, log_normaliser, pareto_k_threshold: threshold, .. } = diagnostics;
    let draws = grouped(diagnostics.n_draws);
    let mut text = match diagnostics.pareto_k {
        Some(k) if k > 10.0 => format!("k\u{302} is above 10 (threshold {threshold:.2} for {draws} draws)"),
        Some(k) => format!("k\u{302} is {k:.2} (threshold {threshold:.2} for {draws} draws)"),
        None => format!("k\u{302} is not known ({draws} draws)"),
    };
    let known = elbo.is_known() && log_normaliser.is_known();
    let gap = match diagnostics.gap().value {
        _ if !known => String::new(),
        // Dropped draws are left out of the ELBO alone, which may then be the larger one.
        gap if gap < 0.0 && diagnostics.dropped > 0 => {
            format!(
                " without the draws that were dropped, the estimated log normaliser {}",
                with_error(*log_normaliser)
            )
        }
        gap => format!(", {} nats below the estimated log normaliser {}", shown(gap), with_error(*log_normaliser)),
    };
    text += &format!(", the ELBO {}{gap}", with_error(*elbo));
    if let (Some(mean), Some(sd)) = (diagnostics.worst_mean(), diagnostics.worst_sd()) {
        text += &format!(
            ", and importance weights move means by up to {} ± {} sd ({}) and sds by up to {} ± {} ({})",
            shown(mean.mean.value.abs()),
            shown(mean.mean.mcse),
            mean.name,
            signed_percent(sd.log_sd.value.clamp(-10.0, 10.0).exp_m1()),
            percent(sd.log_sd.mcse),
            sd.name
        );
    }
    for Shift { name, instead, .. } in &diagnostics.shifts {
        if let Some(coordinate) = instead {
            text += &format!("; a few draws decide the moments of {name}, so report {coordinate}, which is judged");
        }
    }
    text
}

fn starts(agreement: &Agreement) -> String {
    let mut text = String::new();
    let total = agreement.restarts.len();
    if total > 1 {
        let close = agreeing(&agreement.restarts, limits::AGREEING_NATS);
        text += &format!("; {close} of {total} restarts agree within {} nats", limits::AGREEING_NATS);
    }
    if agreement.searches > 0 && !agreement.modes.is_empty() {
        let (searches, modes) = (agreement.searches, agreement.modes.len());
        text += &format!(
            "; {searches} search{} found {modes} mode{}",
            if searches == 1 { "" } else { "es" },
            if modes == 1 { "" } else { "s" }
        );
    }
    text
}

/// An estimate, its error with two digits: `-34.300 ± 0.0033` becomes `-34.3000 ± 0.0033`.
fn with_error(Estimate { value, mcse }: Estimate) -> String {
    if mcse >= f64::MAX {
        return format!("{value:.3e} ± unknown");
    }
    if value.abs() >= 1e9 || mcse >= 1e9 {
        return format!("{value:.3e} ± {mcse:.1e}");
    }
    let decimals = if mcse > 0.0 { (1.0 - mcse.log10().floor()).clamp(2.0, 6.0) as usize } else { 3 };
    format!("{value:.decimals$} ± {mcse:.decimals$}")
}

/// Two or three digits.
fn shown(value: f64) -> String {
    match value {
        v if v >= 1e6 => format!("{v:.1e}"),
        v if v >= 10.0 => format!("{v:.0}"),
        v if v >= 1.0 => format!("{v:.1}"),
        v if v >= 0.01 => format!("{v:.2}"),
        v => format!("{v:.3}"),
    }
}

fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    if percent >= 1e6 {
        "many times".into()
    } else if percent < 9.95 {
        format!("{percent:.1} %")
    } else {
        format!("{percent:.0} %")
    }
}

fn signed_percent(share: f64) -> String {
    let text = percent(share.abs());
    if text.starts_with("0.0 ") {
        return text;
    }
    format!("{}{text}", if share > 0.0 { '+' } else { '−' })
}

/// `n` in groups of three digits.
pub(super) fn grouped(n: usize) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
