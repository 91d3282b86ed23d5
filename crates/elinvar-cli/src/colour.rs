//! A little colour for those who look at a screen: the verdicts, and what warns.

use std::io::IsTerminal as _;

const GREEN: &str = "32";
const YELLOW: &str = "33";
const RED: &str = "31";
const OFF: &str = "\u{1b}[0m";

/// What is coloured at the beginning of a line: the words before it, the words themselves and their colour. The longest
/// of those that begin alike come first.
const WORDS: &[(&str, &str, &str)] = &[
    ("Approximation: ", "trust means only", YELLOW),
    ("Approximation: ", "trust", GREEN),
    ("Approximation: ", "do not trust", RED),
    ("Model: ", "no misfit seen", GREEN),
    ("Model: ", "does not fit", YELLOW),
    ("", "Prior against data", YELLOW),
    ("", "Left to the prior", YELLOW),
];

/// Whether stdout is a screen that shows colours, and nobody has asked for none (<https://no-color.org>).
pub(crate) fn is_wanted() -> bool {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let is_dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
    std::io::stdout().is_terminal() && !is_set("NO_COLOR") && !is_dumb
}

/// A page with its verdicts and warnings in colour.
pub(crate) fn coloured(page: &str) -> String {
    page.split_inclusive('\n').map(line).collect()
}

fn line(line: &str) -> String {
    for (before, words, colour) in WORDS {
        if let Some(rest) = line.strip_prefix(before).and_then(|rest| rest.strip_prefix(words)) {
            return format!("{before}\u{1b}[1;{colour}m{words}{OFF}{rest}");
        }
    }
    line.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_and_warnings_have_colours_and_nothing_else() {
        let page = "Linear regression\n\nApproximation: trust. Yes.\nModel: does not fit. No.\ntrust  1\n";
        let shown = coloured(page);
        assert_eq!(
            shown,
            "Linear regression\n\nApproximation: \u{1b}[1;32mtrust\u{1b}[0m. Yes.\nModel: \u{1b}[1;33mdoes not \
             fit\u{1b}[0m. No.\ntrust  1\n"
        );
        let only = coloured("Approximation: trust means only. Sds are off.\n");
        assert!(only.contains("\u{1b}[1;33mtrust means only\u{1b}[0m."), "{only}");
        assert!(coloured("Prior against data: x\n").starts_with("\u{1b}[1;33mPrior against data\u{1b}[0m: x"));
    }
}
