//! The figure.

use elinvar_figure as draw;
use elinvar_figure::{Axis, Colour, Dash, Line, Panel, Rule};

use super::Curves;
use super::network::Fitted;
use crate::Figure;

fn look(name: &str) -> (Colour, Dash) {
    match name {
        "joint, β = 0.1" => (Colour::Blue, Dash::Solid),
        "blockwise, β = 0.1" => (Colour::Sky, Dash::Dashed),
        "as printed, β = 0.1" => (Colour::Vermilion, Dash::Solid),
        "as printed, β = 0.01" => (Colour::Orange, Dash::Dashed),
        "as printed, β = 0.001" => (Colour::Purple, Dash::Dotted),
        _ => (Colour::Green, Dash::Solid),
    }
}

pub(super) fn draw(curves: &[Curves], best_diagonal: f64, layers: &[Fitted]) -> Figure {
    let figure = draw::Figure::new("Matrix-variate Gaussian: corrected and printed update, and a network")
        .columns(2)
        .panel_size(460.0, 320.0)
        .panel(known(curves, best_diagonal))
        .panel(network(layers));
    Figure {
        stem: "matrix".into(),
        title: "The corrected update reaches the known posterior; the printed one moves away from it".into(),
        svg: figure.svg(),
    }
}

fn known(curves: &[Curves], best_diagonal: f64) -> Panel {
    let mut panel = Panel::new("a known matrix-variate posterior")
        .x(Axis::log("steps"))
        .y(Axis::log("KL(q‖p), nats").range(1e-3, 1e4))
        .add(Rule::horizontal(best_diagonal, "best diagonal"));
    for curve in curves {
        let (colour, dash) = look(curve.name);
        let points = curve.mean().into_iter().skip(1).map(|(steps, kl, _)| (steps, kl));
        panel = panel.add(Line::new(points).colour(colour).dash(dash).key(curve.name));
    }
    panel
}

/// Looks at a trace are this factor apart; each is the mean since the last.
const GROWTH: f64 = 1.15;

fn thinned(trace: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let (mut thin, mut from, mut next) = (Vec::new(), 0, 1.0);
    for (i, (step, _)) in trace.iter().enumerate() {
        if *step >= next {
            let stretch = &trace[from..=i];
            thin.push((*step, stretch.iter().map(|(_, elbo)| elbo).sum::<f64>() / stretch.len() as f64));
            (from, next) = (i + 1, GROWTH * step);
        }
    }
    thin
}

fn network(layers: &[Fitted]) -> Panel {
    let mut panel = Panel::new("a network on Yacht").x(Axis::log("steps")).y(Axis::linear("ELBO, nats"));
    for (fit, colour) in layers.iter().zip([Colour::Blue, Colour::Green]) {
        panel = panel.add(Line::new(thinned(&fit.trace)).colour(colour).label(fit.name));
    }
    panel
}
