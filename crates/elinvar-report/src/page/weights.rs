//! How far importance weights can be believed.

use super::section::{Section, figure};
use crate::content::Content;
use crate::figure::tail;
use elinvar_figure::{escape, number};

pub(super) fn section(content: &Content) -> Option<Section> {
    let headline = &content.headline;
    let drawing = tail::draw(content.tail.as_ref()?, headline.pareto_k_threshold)?;
    let threshold = number::fixed(headline.pareto_k_threshold, 2);
    let meaning = match headline.pareto_k {
        Some(k) if k <= headline.pareto_k_threshold => format!(
            "k̂ is {}, below {threshold}: the largest weights are tame, so what they correct in means, sds and quantiles \
             can be used.",
            number::fixed(k, 2)
        ),
        Some(k) => format!(
            "k̂ is {}, above {threshold}: a few draws outweigh the rest, so corrected values on this page are hints, not \
             estimates.",
            number::fixed(k, 2)
        ),
        None => "k̂ is not known.".into(),
    };
    let notes = [
        ("Dots", "the largest importance ratios p/q of fresh draws, against the share of draws above them"),
        ("Line", "the generalised Pareto distribution fitted to them, right of the dotted cutoff"),
        ("Slope", "a shallow line is a heavy tail: its slope is −1/k̂"),
    ];
    let notes: String = notes.iter().map(|(term, text)| format!("<dt>{term}</dt><dd>{text}</dd>")).collect();
    Some(Section {
        id: "weights",
        title: "Importance ratios",
        short: "Weights",
        lead: escape::text(&meaning),
        body: format!(
            "<div class=\"beside\">{}<dl class=\"notes\">{notes}</dl></div>",
            figure(&drawing, "tail", "", "")
        ),
    })
}
