//! What rows that were held out say.

use super::section::{Section, figure};
use crate::content::{Content, Metric};
use crate::figure::calibration;
use elinvar_figure::{escape, number};

pub(super) fn section(content: &Content) -> Option<Section> {
    let test = content.test.as_ref()?;
    let rows: String = test.metrics.iter().map(row).collect();
    let table = format!(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Metrics of held-out rows\"><table class=\"plain\"><thead><tr>\
         <th scope=\"col\">Metric</th><th scope=\"col\" class=\"n\">Value</th><th scope=\"col\">Meaning</th></tr></thead>\
         <tbody>{rows}</tbody></table></div>"
    );
    let picture = calibration::draw(&test.calibration)
        .map(|drawing| figure(&drawing, "calibration", "square", ""))
        .unwrap_or_default();
    let bars = if picture.is_empty() {
        ""
    } else {
        " On the dotted line, what was predicted happened as often; bars are 95 % intervals, larger dots are more rows."
    };
    Some(Section {
        id: "test",
        title: "Rows that were held out",
        short: "Test",
        lead: format!("{} rows took no part in the fit.{bars}", number::grouped(test.n_rows)),
        body: format!("<div class=\"beside\">{picture}{table}</div>"),
    })
}

fn row(metric: &Metric) -> String {
    let value = match metric.se {
        Some(se) => {
            let (value, error) = number::with_error(metric.value, se);
            format!("{value} <span class=\"error\">± {error}</span>")
        }
        None => number::significant(metric.value, 4),
    };
    format!(
        "<tr><th scope=\"row\">{}</th><td class=\"n\">{value}</td><td>{}</td></tr>",
        escape::text(&metric.name),
        escape::text(&metric.note)
    )
}
