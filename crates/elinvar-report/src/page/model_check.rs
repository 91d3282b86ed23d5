//! Whether the model could have made its responses.

use super::section::{Section, figure};
use crate::content::{Content, ModelCheck, Statistic};
use crate::figure::{calibration, residuals};
use elinvar_figure::{escape, number};

pub(super) fn section(content: &Content) -> Option<Section> {
    let check = content.model_check.as_ref()?;
    let rows: String = check.statistics.iter().map(row).collect();
    let table = format!(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Statistics of the responses\"><table class=\"plain\">\
         <thead><tr><th scope=\"col\">Statistic</th><th scope=\"col\" class=\"n\">Responses</th><th scope=\"col\" \
         class=\"n\">Drawn from the fit</th><th scope=\"col\" class=\"n\">p</th></tr></thead><tbody>{rows}</tbody></table></div>"
    );
    let picture = residuals::draw(&check.residuals)
        .map(|drawing| figure(&drawing, "residuals", "", ""))
        .or_else(|| calibration::draw(&check.calibration).map(|drawing| figure(&drawing, "fitted", "square", "")))
        .unwrap_or_default();
    Some(Section {
        id: "model",
        title: "Does the model fit?",
        short: "Model",
        lead: lead(check),
        body: format!("<div class=\"beside\">{picture}{table}</div>"),
    })
}

fn lead(check: &ModelCheck) -> String {
    let explained = check.r_squared.map_or(String::new(), |[median, low, high]| {
        let [median, low, high] = [median, low, high].map(|share| number::fixed(share, 2));
        format!(" R² is {median}, with 90 % from {low} to {high}.")
    });
    let dots = if check.residuals.is_empty() { "" } else { " Of 100 dots, 95 should lie between the outer lines." };
    format!(
        "Statistics of the responses beside those of {} tables drawn from the fit.{explained}{dots}",
        number::grouped(check.n_draws)
    )
}

fn row(statistic: &Statistic) -> String {
    let class = if statistic.fails { " class=\"kept\"" } else { "" };
    let [observed, expected] = [statistic.observed, statistic.expected].map(|value| number::significant(value, 4));
    format!(
        "<tr{class}><th scope=\"row\">{}</th><td class=\"n\">{observed}</td><td class=\"n\">{expected}</td><td \
         class=\"n\">{}</td></tr>",
        escape::text(&statistic.name),
        number::significant(statistic.p, 2)
    )
}
