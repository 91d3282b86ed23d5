//! What the approximation looks like: one parameter at a time, and two.

use super::section::{Section, figure, key};
use crate::content::Content;
use crate::figure::{PAIRED, least_gaussian_pairs, marginal, pair};
use crate::shape;
use elinvar_figure::number;

/// Up to so many parameters all marginals are shown at once.
const ALL_AT_ONCE: usize = 25;
/// Of more, so many are shown first.
const FIRST: usize = 10;
/// So many are drawn at most.
pub(super) const MOST: usize = 120;

pub(super) fn marginals(content: &Content) -> Option<Section> {
    let n = content.parameters.len();
    let ranked = shape::by_interest(content);
    let panel = |i: usize| {
        marginal::draw(content, i).map(|drawing| figure(&drawing, &format!("m{i}"), "marginal", "")).unwrap_or_default()
    };
    let class = if n <= marginal::FEW { "panels few" } else { "panels" };
    let grid = |panels: String| format!("<div class=\"{class}\">{panels}</div>");
    let (first, rest) = if n <= ALL_AT_ONCE {
        (0..n).partition::<Vec<_>, _>(|_| true)
    } else {
        let (first, rest) = ranked.split_at(FIRST.min(ranked.len()));
        let mut rest: Vec<usize> = rest.iter().copied().take(MOST - FIRST).collect();
        rest.sort_unstable();
        (first.to_vec(), rest)
    };
    let shown: String = first.into_iter().map(panel).collect();
    if shown.is_empty() {
        return None;
    }
    let further = if rest.is_empty() {
        String::new()
    } else {
        let complete = rest.len() + FIRST == n;
        let count = number::grouped(rest.len() as u64);
        let words = if complete { format!("The other {count}") } else { format!("{count} more") };
        let panels = grid(rest.into_iter().map(panel).collect());
        format!("<details><summary>{words}</summary>{panels}</details>")
    };
    let corrected = content.corrected_draws.is_some();
    let which = match n {
        n if n > ALL_AT_ONCE => format!(" First the {FIRST} that are least Gaussian or move most."),
        _ => String::new(),
    };
    let lead = match corrected {
        true => format!(
            "Where the line leaves the filled area, the approximation differs from the model as far as {} can tell.{which}",
            content.correction.words()
        ),
        false => format!("Densities of draws of the approximation.{which}"),
    };
    let lead = lead + " The bar on the axis is the interval from the 5 % to the 95 % quantile; zero is dotted.";
    Some(Section {
        id: "marginals",
        title: "Marginals",
        short: "Marginals",
        lead,
        body: key(content) + &grid(shown) + &further,
    })
}

pub(super) fn pairs(content: &Content) -> Option<Section> {
    let panels: String = least_gaussian_pairs(content, PAIRED)
        .into_iter()
        .filter_map(|(i, j)| {
            pair::draw(content, i, j).map(|drawing| figure(&drawing, &format!("pair-{i}-{j}"), "pair", ""))
        })
        .collect();
    let corrected = content.corrected_draws.is_some();
    let class = if content.parameters.len() == 2 { "pairs one" } else { "pairs" };
    let dots = if corrected { " Dots are corrected draws." } else { "" };
    (!panels.is_empty()).then(|| Section {
        id: "pairs",
        title: "Pairs of the least Gaussian parameters",
        short: "Pairs",
        lead: format!("Each outline holds 50 % or 90 % of the draws.{dots}"),
        body: key(content) + &format!("<div class=\"{class}\">{panels}</div>"),
    })
}
