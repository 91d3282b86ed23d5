//! How the fit went.

use super::section::{Section, figure};
use crate::content::{Content, Estimate, Rung};
use crate::figure::ladder as ladder_figure;
use crate::figure::trace::{self, Along, Quantity};
use elinvar_figure::{escape, number};

pub(super) fn bound(content: &Content) -> Option<Section> {
    let panels: String = [Along::Evaluations, Along::Seconds]
        .into_iter()
        .filter_map(|along| trace::draw(content, Quantity::Elbo, along).map(|drawing| (along, drawing)))
        .map(|(along, drawing)| figure(&drawing, &format!("elbo-{}", along.key()), "trace", ""))
        .collect();
    let calm = if trace::is_smoothed(content) { " The strong line is a running median of the faint one." } else { "" };
    (!panels.is_empty()).then(|| Section {
        id: "bound",
        title: "The bound while it was fitted",
        short: "ELBO",
        lead: format!(
            "The ELBO is a lower bound of the log evidence; the band is ± 2 standard errors of each step’s own \
               draws.{calm}\
               <span class=\"with-script by-mouse\"> Drag across a figure to zoom, double-click to go back.</span>"
        ),
        body: format!("<div class=\"traces\">{panels}</div>"),
    })
}

pub(super) fn steps(content: &Content) -> Option<Section> {
    let quantities = [Quantity::StepSize, Quantity::Kl, Quantity::Components, Quantity::Draws];
    let panels: String = quantities
        .into_iter()
        .filter(|quantity| *quantity != Quantity::Components || content.trace.iter().any(|row| row.components > 1))
        .filter_map(|quantity| trace::draw(content, quantity, Along::Steps).map(|drawing| (quantity, drawing)))
        .map(|(quantity, drawing)| figure(&drawing, &format!("trace-{}", quantity.key()), "trace", ""))
        .collect();
    (!panels.is_empty()).then(|| Section {
        id: "steps",
        title: "Steps",
        short: "Steps",
        lead: "What each step took. Unless a step size was given, the run finds it by itself.".into(),
        body: format!("<div class=\"small-traces\">{panels}</div>"),
    })
}

pub(super) fn ladder(content: &Content) -> Option<Section> {
    let drawing = ladder_figure::draw(&content.rungs)?;
    let rows: String = content.rungs.iter().map(rung).collect();
    let table = format!(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Ladder, as a table\"><table class=\"plain\"><thead><tr>\
         <th scope=\"col\">Family</th><th scope=\"col\" class=\"n\">ELBO, nats</th><th scope=\"col\" class=\"n\">Gain</th>\
         <th scope=\"col\" class=\"n\">k̂</th><th scope=\"col\" class=\"n\">Gradients</th><th scope=\"col\" class=\"n\">Time</th>\
         </tr></thead><tbody>{rows}</tbody></table></div>"
    );
    Some(Section {
        id: "ladder",
        title: "What each family bought",
        short: "Ladder",
        lead: "The gain is over the best family before; a family is kept only if it pays.".into(),
        body: format!("<div class=\"beside rungs\">{}{table}</div>", figure(&drawing, "ladder-figure", "", "")),
    })
}

fn rung(rung: &Rung) -> String {
    let estimate = |e: Estimate| {
        let (value, error) = number::with_error(e.value, e.mcse);
        format!("{value} <span class=\"error\">± {error}</span>")
    };
    let k = rung.pareto_k.map_or("–".into(), |k| number::fixed(k, 2));
    let class = if rung.kept { " class=\"kept\"" } else { "" };
    let kept = if rung.kept { " <span class=\"tag\">kept</span>" } else { "" };
    format!(
        "<tr{class}><th scope=\"row\">{}{kept}</th><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{k}</td>\
         <td class=\"n\">{}</td><td class=\"n\">{}</td></tr>",
        escape::text(&rung.family),
        estimate(rung.elbo),
        rung.gain.map_or("–".into(), estimate),
        number::grouped(rung.gradients),
        number::duration(rung.seconds)
    )
}
