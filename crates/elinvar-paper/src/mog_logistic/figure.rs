//! The drawings of the race and of the divergences.

use elinvar_figure::{Axis, Colour, Dash, Figure, Line, Panel, Points, Width};

use super::race::{Look, Mean};
use super::runner::Arm;
use super::{Fitted, Race};
use crate::findings::mean_and_range;

/// What stands on a horizontal axis, and how it is read off a look.
type Across = (&'static str, fn(&Look) -> f64);

fn look_of(arm: Arm) -> (Colour, Dash) {
    match arm {
        Arm::Elinvar => (Colour::Blue, Dash::Solid),
        Arm::Printed => (Colour::Green, Dash::Solid),
        Arm::WithHessian => (Colour::Vermilion, Dash::Dashed),
        Arm::Reparameterised => (Colour::Orange, Dash::Dotted),
    }
}

/// Divergence against iterations, evaluations and seconds, one row for each number of components.
pub(super) fn curves(name: &str, races: &[Race]) -> crate::Figure {
    let title = format!(
        "{name}: KL divergence from the posterior against iterations, evaluations and seconds for K components; mean and range over seeds"
    );
    let axes: [Across; 3] = [
        ("iterations", |look| look.steps),
        ("evaluations of the gradient", |look| look.evaluations),
        ("seconds", |look| look.seconds),
    ];
    let mut figure = Figure::new(&title).columns(3).panel_size(320.0, 220.0);
    for race in races {
        for (label, across) in axes {
            let mut panel = Panel::new(format!("K = {}", race.components))
                .x(Axis::log(label))
                .y(Axis::log("KL(q‖p), nats").range(0.005, 1_000.0));
            for ran in &race.default {
                let line = Line::new(ran.looks.iter().map(|look| (across(look), look.kl)));
                panel = panel.add(line.colour(Colour::Grey).width(Width::Thin).key("default plan, each seed"));
            }
            let line = |curve: &[Mean]| {
                Line::with_band(
                    curve.iter().map(|mean| (across(&mean.look), mean.look.kl, mean.low.max(1e-4), mean.high)),
                )
            };
            for raced in race.arms.iter().rev() {
                let (colour, dash) = look_of(raced.arm);
                panel = panel.add(line(&raced.curve).colour(colour).dash(dash).key(raced.arm.name()));
            }
            figure = figure.panel(panel);
        }
    }
    let stem = format!("race-{}", name.to_lowercase());
    crate::Figure { stem, title, svg: figure.svg() }
}

/// The divergence that the default plan reaches against the number of components.
pub(super) fn against_components(problems: &[(&str, Vec<Fitted>)]) -> crate::Figure {
    let title =
        "KL divergence that the default plan reaches against the number of components: mean and range over seeds";
    let mut panel =
        Panel::new("").x(Axis::linear("components K").range(0.5, 10.5).ticks(10)).y(Axis::log("KL(q‖p), nats"));
    for ((name, fits), colour) in problems.iter().zip([Colour::Blue, Colour::Vermilion]) {
        let points: Vec<(f64, f64, f64, f64)> = fits
            .iter()
            .map(|fit| {
                let (mean, low, high) = mean_and_range(&fit.kls);
                (fit.components as f64, mean, low, high)
            })
            .collect();
        panel = panel
            .add(Line::with_band(points.iter().copied()).colour(colour).label(*name))
            .add(Points::with_bars(points).colour(colour));
    }
    let figure = Figure::new(title).columns(1).panel_size(560.0, 320.0).panel(panel);
    crate::Figure { stem: "kl-against-k".into(), title: title.into(), svg: figure.svg() }
}
