//! Where the numbers of a page come from, in words.

use elinvar::Posterior;
use elinvar::posterior::{Answer, Diagnostics, GivenBy};

use crate::number::{duration, grouped};

/// What gave the answer, and what it is worth.
pub(crate) fn by(posterior: &Posterior, answer: &Answer, diagnostics: &Diagnostics) -> String {
    let worth = answer.effective_draws.map_or(String::new(), |n| {
        format!("worth {} independent {}", grouped(n.round() as u64), if n.round() == 1.0 { "draw" } else { "draws" })
    });
    match (answer.given_by, posterior.corrected()) {
        (GivenBy::Chains, Some(corrected)) => format!(
            "{} chains of {} steps on the model, {worth}; {} gradients in {}",
            corrected.chains,
            grouped(corrected.steps as u64),
            grouped(corrected.counts.gradient),
            duration(corrected.seconds)
        ),
        (GivenBy::Weights, _) => {
            let n = diagnostics.n_draws + diagnostics.wide.map_or(0, |wide| wide.n_draws);
            format!("importance weights of {} draws, {worth}", grouped(n as u64))
        }
        _ => "the approximation as it is".into(),
    }
}

/// The same in a word or two, for tables.
pub(crate) fn word(given_by: GivenBy) -> &'static str {
    match given_by {
        GivenBy::Chains => "chains",
        GivenBy::Weights => "importance weights",
        _ => "approximation",
    }
}
