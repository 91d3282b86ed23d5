//! The table of parameters: plain without a script, sortable and searchable with one.

use super::draws;
use super::section::Section;
use crate::content::{Content, Correction, Parameter, Summary};
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
        is_answer: content.correction != Correction::Hint,
        by: content.correction.words(),
    };
    let most = shown.iter().map(|p| number::decimals(p.summary.sd)).max().unwrap_or(0);
    let places = (4.0, PICTURE.0 - 4.0);
    let common = Scale::linear(intervals::range(shown), places);
    let is_common = intervals::have_one_scale(shown);
    let mut rows = String::new();
    for (i, parameter) in shown.iter().enumerate() {
        let decimals = if most <= UNIFORM_DECIMALS { most } else { number::decimals(parameter.summary.sd) };
        let own = Scale::linear(intervals::range_with_zero(parameter), places);
        let scale = if is_common { &common } else { &own };
        rows.push_str(&columns.row(i, parameter, decimals, scale, has_panel(content, i)));
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
        lead: format!(
            "On the scale of the model. The picture shows the mean and the range from the 5 % to the 95 % quantile, {}.",
            if is_common { "all rows on one scale" } else { "each row on a scale of its own that holds zero, dotted" }
        ),
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
    /// Whether the corrected numbers are the answer: they come first, with their errors.
    is_answer: bool,
    by: &'static str,
}

impl Columns {
    fn header(self) -> String {
        let column = |name: &str, title: &str| {
            format!("<th scope=\"col\" class=\"n\" data-kind=\"number\" title=\"{title}\">{name}</th>")
        };
        let group = |class: &str, columns: usize, words: &str| {
            format!("<th scope=\"colgroup\" colspan=\"{columns}\" class=\"group {class}\">{words}</th>")
        };
        let mut of_q = column("mean", "mean");
        if self.mcse.is_some() {
            of_q += &column("mcse", "Monte Carlo standard error of the mean");
        }
        of_q += &column("sd", "standard deviation");
        of_q += &column("q5", "5 % quantile");
        of_q += &column("q95", "95 % quantile");
        let of_q = (group("q", if self.mcse.is_some() { 5 } else { 4 }, "approximation q"), of_q);
        let shift = column("shift", "change of the mean in sds of q; sorted by its size");
        let of_p = if self.is_answer {
            let numbers =
                [("mean", "mean"), ("sd", "standard deviation"), ("q5", "5 % quantile"), ("q95", "95 % quantile")];
            let both = numbers.map(|(name, title)| column(name, &format!("{title} ± standard error")));
            (group("p", 5, &format!("answer by {}", self.by)), both.concat() + &shift)
        } else {
            let mean = column("mean", &format!("mean after {}", self.by));
            let sd = column("sd", &format!("standard deviation after {}", self.by));
            (group("p", 3, &format!("corrected by {}", self.by)), mean + &sd + &shift)
        };
        let (groups, names) = match (self.corrected, self.is_answer) {
            // What the approximation says by itself is in the marginals: both would not fit a screen.
            (true, true) => of_p,
            (true, false) => (of_q.0 + &of_p.0, of_q.1 + &of_p.1),
            (false, _) => of_q,
        };
        format!(
            "<thead><tr class=\"groups\"><td></td>{groups}<td></td></tr><tr><th scope=\"col\" \
             data-kind=\"text\">parameter</th>{names}<th scope=\"col\" class=\"picture\">mean and 90 % \
             interval</th></tr></thead>"
        )
    }

    fn row(self, index: usize, parameter: &Parameter, decimals: usize, scale: &Scale, has_panel: bool) -> String {
        let name = escape::text(&parameter.name);
        let label = if has_panel { format!("<a href=\"#m{index}\">{name}</a>") } else { name };
        let (of_q, of_p) = (self.of_q(parameter, decimals), self.of_p(parameter, decimals));
        let cells = if self.corrected && self.is_answer { of_p } else { of_q + &of_p };
        format!(
            "<tr><th scope=\"row\">{label}</th>{cells}<td class=\"picture\">{}</td></tr>\n",
            picture(parameter, scale)
        )
    }

    fn of_q(self, parameter: &Parameter, decimals: usize) -> String {
        let q = parameter.summary;
        let mut cells = cell(Some(q.mean), decimals, Some(q.mean));
        if let Some(decimals) = self.mcse {
            cells += &cell(parameter.mcse, decimals, parameter.mcse);
        }
        cells + &[q.sd, q.q5, q.q95].map(|value| cell(Some(value), decimals, Some(value))).concat()
    }

    fn of_p(self, parameter: &Parameter, decimals: usize) -> String {
        if !self.corrected {
            return String::new();
        }
        let shift = cell(parameter.shift(), 2, parameter.shift().map(f64::abs));
        let p = parameter.corrected;
        let plain = |value: Option<f64>| cell(value, decimals, value);
        if !self.is_answer {
            return plain(p.map(|p| p.mean)) + &plain(p.map(|p| p.sd)) + &shift;
        }
        let errors = parameter.errors;
        let both = |of: fn(Summary) -> f64| with_error(p.map(of), errors.map(of), decimals);
        both(|s| s.mean) + &both(|s| s.sd) + &both(|s| s.q5) + &both(|s| s.q95) + &shift
    }
}

/// A number with its error, and what it is sorted by.
fn with_error(value: Option<f64>, error: Option<f64>, decimals: usize) -> String {
    let (Some(value), Some(error)) = (value, error.filter(|error| error.is_finite())) else {
        return cell(value, decimals, value);
    };
    // One digit of the error, and of the number as many decimals.
    let decimals = if error > 0.0 { ((-error.log10()).ceil().max(0.0) as usize).min(decimals + 1) } else { decimals };
    let [text, error] = [value, error].map(|x| number::fixed(x, decimals));
    format!("<td class=\"n\" data-v=\"{value}\">{text} <span class=\"error\">± {error}</span></td>")
}

/// A number, or a dash, and what it is sorted by.
fn cell(value: Option<f64>, decimals: usize, key: Option<f64>) -> String {
    let text = value.map_or("–".into(), |v| number::fixed(v, decimals));
    let key = key.filter(|v| v.is_finite()).map_or(String::new(), |v| format!(" data-v=\"{v}\""));
    format!("<td class=\"n\"{key}>{text}</td>")
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
