//! The figure.

use elinvar_figure as draw;
use elinvar_figure::{Axis, Colour, Dash, Line, Panel, Rule};

use super::network::Fitted;
use super::race::Curves;
use crate::Figure;
use crate::findings::mean_and_range;

fn look(name: &str) -> (Colour, Dash) {
    match name {
        "elinvar, joint" => (Colour::Blue, Dash::Solid),
        "elinvar, blockwise" => (Colour::Sky, Dash::Dashed),
        "as printed, β₁ = 3e-4, β₂ = 1e-6" => (Colour::Vermilion, Dash::Solid),
        "as printed, β₁ = 3e-4, β₂ = 1e-6, one draw" => (Colour::Orange, Dash::Dashed),
        "as printed, β₁ = 3e-4, β₂ = 1e-5" => (Colour::Purple, Dash::Dashed),
        "as printed, β₁ = β₂ = 3e-4" => (Colour::Purple, Dash::Dotted),
        _ => (Colour::Green, Dash::Solid),
    }
}

pub(super) fn draw(curves: &[Curves], best_diagonal: f64, layers: &[Fitted]) -> Figure {
    let figure = draw::Figure::new("Matrix-variate Gaussian: the update as printed and elinvar's, and a network")
        .columns(2)
        .panel_size(460.0, 320.0)
        .panel(known(curves, best_diagonal))
        .panel(network(layers));
    Figure {
        stem: "matrix".into(),
        title: "With two step sizes the printed update climbs to the known posterior, slowly; with one it stays far away; elinvar's is there in twenty steps".into(),
        svg: figure.svg(),
    }
}

fn known(curves: &[Curves], best_diagonal: f64) -> Panel {
    let mut panel = Panel::new("a known matrix-variate posterior")
        .x(Axis::log("steps"))
        .y(Axis::log("KL(q‖p), nats").range(1e-3, 1e4))
        .add(Rule::horizontal(best_diagonal, "best diagonal"));
    for curve in curves.iter().filter(|curve| curve.is_drawn) {
        let (colour, dash) = look(curve.name);
        let points = curve.mean().into_iter().skip(1);
        panel = panel.add(Line::with_band(points).colour(colour).dash(dash).key(curve.name));
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

/// Mean, smallest and largest over the splits.
fn bands(fitted: &Fitted) -> Vec<(f64, f64, f64, f64)> {
    let traces: Vec<Vec<(f64, f64)>> = fitted.fits.iter().map(|fit| thinned(&fit.trace)).collect();
    let n = traces.iter().map(Vec::len).min().unwrap_or(0);
    let at = |i: usize| {
        let values: Vec<f64> = traces.iter().map(|trace| trace[i].1).collect();
        let (mean, low, high) = mean_and_range(&values);
        (traces[0][i].0, mean, low, high)
    };
    (0..n).map(at).collect()
}

fn network(layers: &[Fitted]) -> Panel {
    let mut panel = Panel::new("a network on Yacht").x(Axis::log("steps")).y(Axis::linear("ELBO, nats"));
    for (fitted, colour) in layers.iter().zip([Colour::Blue, Colour::Green, Colour::Vermilion, Colour::Purple]) {
        panel = panel.add(Line::with_band(bands(fitted)).colour(colour).label(fitted.name));
    }
    panel
}
