//! The figure.

use elinvar_figure as draw;
use elinvar_figure::{Axis, Colour, Dash, Line, Panel};

use super::Ran;
use crate::Figure;

fn look(method: &str) -> (Colour, Dash) {
    match method {
        "skew, Adam-like" => (Colour::Blue, Dash::Solid),
        "gaussian, BBVI" => (Colour::Vermilion, Dash::Dashed),
        _ => (Colour::Green, Dash::Dotted),
    }
}

/// A panel per table, `n_methods` runs each.
pub(super) fn draw(runs: &[Ran], n_methods: usize) -> Figure {
    let mut figure =
        draw::Figure::new("Test RMSE of Bayesian networks against steps").columns(3).panel_size(330.0, 250.0);
    for of_table in runs.chunks(n_methods) {
        let mut panel =
            Panel::new(of_table[0].table.replace('_', " ")).x(Axis::log("steps of 32 rows")).y(Axis::log("test RMSE"));
        for ran in of_table {
            let (colour, dash) = look(ran.method);
            let curve = ran.curve(|look| look.rmse).into_iter().filter(|(steps, _, _)| *steps >= 1.0);
            panel = panel.add(Line::with_error(curve).colour(colour).dash(dash).key(ran.method));
        }
        figure = figure.panel(panel);
    }
    Figure {
        stem: "bnn".into(),
        title: "Test RMSE against steps: diagonal skew-Gaussian by the Adam-like rule and black-box gradients".into(),
        svg: figure.svg(),
    }
}
