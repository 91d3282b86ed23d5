//! The page: what a person looks at first stands first.

mod configuration;
mod draws;
mod head;
mod held_out;
mod model_check;
mod run;
mod script;
mod script_json;
mod section;
mod table;
mod tiles;
mod trace_data;
mod verdict;
mod weights;

use crate::content::Content;
use section::Section;

/// The whole report as one HTML file that needs nothing else: no network, no font, no other file.
///
/// It reads without scripts, on a phone, in dark mode and on paper; with scripts, traces can be read out and zoomed and
/// the table sorted and searched.
pub fn html(content: &Content) -> String {
    let sections: Vec<Section> = [
        table::section(content),
        model_check::section(content),
        held_out::section(content),
        draws::marginals(content),
        draws::pairs(content),
        run::ladder(content),
        weights::section(content),
        run::bound(content),
        run::steps(content),
        configuration::section(content),
    ]
    .into_iter()
    .flatten()
    .collect();
    let contents: String = sections.iter().map(Section::link).collect();
    let body: String = sections.iter().map(Section::html).collect();
    format!(
        "<!doctype html>\n<html lang=\"en\">\n{head}\n<body>\n<a class=\"skip\" href=\"#content\">Skip to the figures</a>\n\
         {top}{verdict}\n{tiles}\n<nav aria-label=\"Sections\"><ul>{contents}</ul></nav>\n<main id=\"content\">\n{body}</main>\n\
         {foot}\n{data}\n<script>{script}</script>\n</body>\n</html>\n",
        head = head::html(content),
        top = verdict::header(content),
        verdict = verdict::html(content),
        tiles = tiles::html(content),
        foot = verdict::footer(content),
        data = trace_data::html(&content.trace),
        script = script::TEXT,
    )
}
