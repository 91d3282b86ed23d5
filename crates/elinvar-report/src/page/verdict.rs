//! The top of the page: what was fitted, how far it can be trusted, and why.

use crate::content::{Content, Verdict};
use elinvar_figure::escape;

pub(super) fn header(content: &Content) -> String {
    let title = escape::text(&content.title);
    format!("<header><p class=\"brand\">elinvar report</p><h1>{title}</h1></header>\n")
}

pub(super) fn html(content: &Content) -> String {
    let class = match content.verdict {
        Verdict::Trust => "trust",
        Verdict::TrustMeansOnly => "means",
        Verdict::DoNotTrust => "doubt",
    };
    let words = content.verdict.words();
    let icon = icon(content.verdict);
    let reason = with_true_minus(&content.reason);
    let (first, rest) = first_sentence(&reason);
    let rest = if rest.is_empty() { String::new() } else { format!("<p class=\"numbers\">{}</p>", escape::text(rest)) };
    let model = content.model_check.as_ref().map_or(String::new(), |check| {
        let class = if check.fits { "reason model" } else { "reason model misfit" };
        let said = escape::text(&sentence_case(&check.reason));
        format!("<p class=\"{class}\"><span class=\"of\">Model</span> {said} <a href=\"#model\">More</a></p>")
    });
    let next = content
        .next
        .as_ref()
        .map_or(String::new(), |next| format!("<p class=\"next\"><span>Next</span> {}</p>", escape::text(next)));
    format!(
        "<section class=\"verdict {class}\" aria-labelledby=\"verdict\">{icon}<div><h2 id=\"verdict\">{words}</h2>\
         <p class=\"reason\"><span class=\"of\">Approximation</span> {}</p>{rest}{model}{next}</div></section>",
        escape::text(first)
    )
}

pub(super) fn footer(content: &Content) -> String {
    format!("<footer>{}</footer>", escape::text(&content.made))
}

/// What decided, and the numbers behind it.
fn first_sentence(reason: &str) -> (&str, &str) {
    match reason.find(". ") {
        Some(end) => (&reason[..=end], reason[end + 2..].trim()),
        None => (reason, ""),
    }
}

/// With a capital letter.
fn sentence_case(text: &str) -> String {
    let mut rest = text.chars();
    rest.next().map_or(String::new(), |first| first.to_uppercase().to_string() + rest.as_str())
}

/// A hyphen before a digit and after a space is a minus sign.
fn with_true_minus(text: &str) -> String {
    let mut words = String::with_capacity(text.len());
    let mut before = ' ';
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let is_minus = c == '-' && matches!(before, ' ' | '(') && rest.peek().is_some_and(char::is_ascii_digit);
        words.push(if is_minus { '−' } else { c });
        before = c;
    }
    words
}

/// A shape for each verdict, so that colour is not needed: a tick, half a disc, a cross.
fn icon(verdict: Verdict) -> String {
    let shape = match verdict {
        Verdict::Trust => r#"<path d="M12 20.5l5.5 5.5L28.5 14.5"/>"#,
        Verdict::TrustMeansOnly => r#"<path d="M20 9a11 11 0 0 1 0 22z" class="solid"/>"#,
        Verdict::DoNotTrust => r#"<path d="M13.5 13.5l13 13M26.5 13.5l-13 13"/>"#,
    };
    format!(
        r#"<svg class="icon" width="40" height="40" viewBox="0 0 40 40" aria-hidden="true" focusable="false"><circle cx="20" cy="20" r="17.5"/>{shape}</svg>"#
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_is_cut_after_its_first_sentence() {
        assert_eq!(first_sentence("Converged. k̂ is 0.45. More."), ("Converged.", "k̂ is 0.45. More."));
        assert_eq!(first_sentence("k̂ is 0.45"), ("k̂ is 0.45", ""));
    }

    #[test]
    fn a_minus_is_told_from_a_hyphen() {
        assert_eq!(with_true_minus("ELBO -34.3 of x-1 (-2), -x"), "ELBO −34.3 of x-1 (−2), -x");
    }
}
