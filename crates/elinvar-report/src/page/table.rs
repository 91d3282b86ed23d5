//! The table of parameters: plain without a script, sortable and searchable with one.

use std::fmt::Write;

use super::draws;
use super::section::Section;
use crate::content::{Content, Parameter};
use crate::figure::intervals;
use elinvar_figure::scale::Scale;
use elinvar_figure::svg::{Drawing, Marks};
use elinvar_figure::{escape, number};

/// More rows would make the page slow; the files of a run have them all.
const MOST_ROWS: usize = 1500;
/// Up to this many decimals, all rows have as many as the one that needs most.
const UNIFORM_DECIMALS: usize = 4;
const PICTURE: (f64, f64) = (170.0, 18.0);

pub(super) fn section(content: &Content) -> Option<Section> {
    let n = content.parameters.len();
    if n == 0 {
        return None;
    }
    let shown = &content.parameters[..n.min(MOST_ROWS)];
    let mcse_decimals = shown.iter().filter_map(|p| p.mcse).map(|e| number::decimals(e).saturating_sub(1)).max();
    let columns = Columns {
        mcse: mcse_decimals.map(|decimals| decimals.min(UNIFORM_DECIMALS)),
        corrected: shown.iter().any(|p| p.corrected.is_some()),
    };
    let most = shown.iter().map(|p| number::decimals(p.summary.sd)).max().unwrap_or(0);
    let scale = Scale::linear(intervals::range(shown), (4.0, PICTURE.0 - 4.0));
    let mut rows = String::new();
    for (i, parameter) in shown.iter().enumerate() {
        let decimals = if most <= UNIFORM_DECIMALS { most } else { number::decimals(parameter.summary.sd) };
        rows.push_str(&columns.row(i, parameter, decimals, &scale, has_panel(content, i)));
    }
    let left_out = match n - shown.len() {
        0 => String::new(),
        more => format!("<p class=\"small\">{} more are in the files of the run.</p>", number::grouped(more as u64)),
    };
    let body = format!(
        "<div class=\"tools with-script\"><label for=\"search\">Search</label> <input id=\"search\" type=\"search\" \
         autocomplete=\"off\" spellcheck=\"false\" placeholder=\"name\"> <output id=\"found\" for=\"search\" \
         aria-live=\"polite\">{n} parameters</output></div>\n\
         <div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Table of parameters\">\
         <table id=\"parameters-table\">{}<tbody>{rows}</tbody></table></div>{left_out}",
        columns.header()
    );
    Some(Section {
        id: "parameters",
        title: "Parameters",
        short: "Parameters",
        lead: "On the scale of the model. The picture shows the mean and the range from the 5 % to the 95 % quantile, \
               all rows on one scale."
            .into(),
        body,
    })
}

/// Whether the marginal of a parameter is in the page, so that its name can lead there.
fn has_panel(content: &Content, i: usize) -> bool {
    let differs = |column: &Vec<f64>| column.iter().any(|v| v.is_finite() && *v != column[0]);
    content.parameters.len() <= draws::MOST && content.draws.columns.get(i).is_some_and(differs)
}

#[derive(Clone, Copy)]
struct Columns {
    /// Decimals of the column, if there is one.
    mcse: Option<usize>,
    corrected: bool,
}

impl Columns {
    fn header(self) -> String {
        let q_columns = if self.mcse.is_some() { 5 } else { 4 };
        let mut groups =
            format!("<td></td><th scope=\"colgroup\" colspan=\"{q_columns}\" class=\"group q\">approximation q</th>");
        let column = |name: &str, title: &str| {
            format!("<th scope=\"col\" class=\"n\" data-kind=\"number\" title=\"{title}\">{name}</th>")
        };
        let mut names = String::from("<th scope=\"col\" data-kind=\"text\">parameter</th>");
        names += &column("mean", "mean");
        if self.mcse.is_some() {
            names += &column("mcse", "Monte Carlo standard error of the mean");
        }
        names += &column("sd", "standard deviation");
        names += &column("q5", "5 % quantile");
        names += &column("q95", "95 % quantile");
        if self.corrected {
            groups += "<th scope=\"colgroup\" colspan=\"3\" class=\"group p\">corrected by importance weights</th>";
            names += &column("mean", "mean after importance weights");
            names += &column("sd", "standard deviation after importance weights");
            names += &column("shift", "change of the mean in sds of q; sorted by its size");
        }
        groups += "<td></td>";
        names += "<th scope=\"col\" class=\"picture\">mean and 90 % interval</th>";
        format!("<thead><tr class=\"groups\">{groups}</tr><tr>{names}</tr></thead>")
    }

    fn row(self, index: usize, parameter: &Parameter, decimals: usize, scale: &Scale, has_panel: bool) -> String {
        let q = parameter.summary;
        let name = escape::text(&parameter.name);
        let label = if has_panel { format!("<a href=\"#m{index}\">{name}</a>") } else { name };
        let mut row = format!("<tr><th scope=\"row\">{label}</th>");
        let mut cell = |value: Option<f64>, decimals: usize, key: Option<f64>| {
            let text = value.map_or("–".into(), |v| number::fixed(v, decimals));
            let key = key.filter(|v| v.is_finite()).map_or(String::new(), |v| format!(" data-v=\"{v}\""));
            let _ = write!(row, "<td class=\"n\"{key}>{text}</td>");
        };
        cell(Some(q.mean), decimals, Some(q.mean));
        if let Some(decimals) = self.mcse {
            cell(parameter.mcse, decimals, parameter.mcse);
        }
        for value in [q.sd, q.q5, q.q95] {
            cell(Some(value), decimals, Some(value));
        }
        if self.corrected {
            let p = parameter.corrected;
            cell(p.map(|p| p.mean), decimals, p.map(|p| p.mean));
            cell(p.map(|p| p.sd), decimals, p.map(|p| p.sd));
            cell(parameter.shift(), 2, parameter.shift().map(f64::abs));
        }
        row + &format!("<td class=\"picture\">{}</td></tr>\n", picture(parameter, scale))
    }
}

/// The interval as a small picture; the cells beside it say the same to those who cannot see it.
fn picture(parameter: &Parameter, scale: &Scale) -> String {
    let mut marks = Marks::default();
    if scale.holds(0.0) {
        marks.line("reference", (scale.at(0.0), 0.0), (scale.at(0.0), PICTURE.1));
    }
    intervals::row(parameter, scale, PICTURE.1 / 2.0, &mut marks);
    Drawing::picture(PICTURE, &marks)
}
