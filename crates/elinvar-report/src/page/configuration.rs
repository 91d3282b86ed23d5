//! How to make the same fit again.

use super::section::Section;
use crate::content::Content;
use elinvar_figure::escape;

pub(super) fn section(content: &Content) -> Option<Section> {
    let command = block("command", "Command", &content.command, false);
    let config = block("config", "Resolved configuration", &content.config, true);
    let words: String = content
        .model
        .iter()
        .map(|(term, text)| format!("<dt>{}</dt><dd>{}</dd>", escape::text(term), escape::text(text)))
        .collect();
    let words = if words.is_empty() { words } else { format!("<dl class=\"notes\">{words}</dl>") };
    let body = words + &command + &config;
    (!body.is_empty()).then(|| Section {
        id: "configuration",
        title: "How it was made",
        short: "Configuration",
        lead: String::new(),
        body,
    })
}

fn block(id: &str, title: &str, text: &str, may_be_long: bool) -> String {
    if text.is_empty() {
        return String::new();
    }
    let copy = format!("<button type=\"button\" class=\"copy with-script\" data-copy=\"{id}\">Copy</button>");
    let pre =
        format!("<pre id=\"{id}\" tabindex=\"0\" aria-label=\"{title}\"><code>{}</code></pre>", escape::text(text));
    match may_be_long {
        true => format!(
            "<details class=\"code\"><summary>{title}</summary><div class=\"block\">{copy}{pre}</div></details>"
        ),
        false => format!("<h3>{title}</h3><div class=\"block\">{copy}{pre}</div>"),
    }
}
