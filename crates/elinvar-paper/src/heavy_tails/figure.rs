//! The figure.

use elinvar_figure as draw;
use elinvar_figure::{Axis, Colour, Contours, Dash, Line, Marker, Panel, Points, Rule};

use super::plane::Plane;
use super::target::RobustLine;
use super::{Fitted, LAMBDAS, SHAPES};
use crate::Figure;

/// Centre and scales of the grid.
pub(super) struct Grid {
    pub(super) centre: [f64; 2],
    pub(super) scale: [f64; 2],
}

/// Which of the fits are drawn in full, with their names and colours.
fn drawn(fitted: &[Fitted]) -> [(&Fitted, &'static str, Colour); 3] {
    let snig = fitted.iter().filter(|fit| fit.name.starts_with("snig")).min_by(|a, b| a.kl.total_cmp(&b.kl));
    [
        (&fitted[0], "gaussian", Colour::Vermilion),
        (&fitted[1], "student_t, learned a", Colour::Blue),
        (snig.unwrap_or(&fitted[0]), "snig, best λ", Colour::Green),
    ]
}

pub(super) fn draw(
    target: &RobustLine,
    plane: &Plane,
    grid: &Grid,
    exact: &[Vec<f64>; 3],
    fitted: &[Fitted],
) -> Figure {
    let figure = draw::Figure::new("Heavy tails: Student-t and symmetric NIG against the Gaussian")
        .describe(
            "Rows and line, density of the slope on a logarithmic scale, KL against the shape, and tail quantiles",
        )
        .columns(2)
        .panel_size(420.0, 290.0)
        .panel(plane_panel(target, grid))
        .panel(tails_panel(plane, grid, fitted))
        .panel(shape_panel(fitted))
        .panel(quantile_panel(exact, fitted));
    Figure {
        stem: "heavy-tails".into(),
        title: "Heavy tails: the t and the symmetric NIG have lower KL and better tail quantiles than the Gaussian"
            .into(),
        svg: figure.svg(),
    }
}

fn plane_panel(target: &RobustLine, grid: &Grid) -> Panel {
    let span = |j: usize| (grid.centre[j] - 6.0 * grid.scale[j], grid.centre[j] + 6.0 * grid.scale[j]);
    let peak = target.log_density_at(&grid.centre);
    let density = |x: f64, y: f64| (target.log_density_at(&[x, y]) - peak).exp();
    Panel::new("the exact posterior")
        .x(Axis::linear("intercept"))
        .y(Axis::linear("slope"))
        .add(Contours::of_density(span(0), span(1), [0.5, 0.9, 0.99], density).filled().colour(Colour::Grey))
}

fn tails_panel(plane: &Plane, grid: &Grid, fitted: &[Fitted]) -> Panel {
    let (scale, centre) = (grid.scale[1], grid.centre[1]);
    let reach = 12.0 * scale;
    let line = |log_density: &[f64]| {
        let marginal = plane.marginal(log_density, 1, scale, centre);
        Line::new(marginal.into_iter().filter(move |(x, p)| (x - centre).abs() < reach && *p > 1e-7))
    };
    let mut panel = Panel::new("density of the slope, logarithmic")
        .x(Axis::linear("slope"))
        .y(Axis::log("density").range(1e-6, 2.0))
        .add(line(plane.log_p()).colour(Colour::Ink).width(draw::Width::Thick).key("exact"));
    for (fit, name, colour) in drawn(fitted) {
        panel = panel.add(line(&fit.log_q).colour(colour).dash(dash(colour)).key(name));
    }
    panel
}

/// Lines that lie on each other are told apart by their kind as well.
fn dash(colour: Colour) -> Dash {
    if colour == Colour::Green { Dash::Dashed } else { Dash::Solid }
}

fn shape_panel(fitted: &[Fitted]) -> Panel {
    let of = |word: &str, shapes: &[f64]| -> Vec<(f64, f64)> {
        let fits = fitted.iter().filter(|fit| fit.name.starts_with(word) && !fit.name.contains("learned"));
        shapes.iter().copied().zip(fits.map(|fit| fit.kl)).collect()
    };
    let learned = fitted[1].family.law().ok().and_then(|law| law.parameter()).unwrap_or(f64::NAN);
    let (t, snig) = (of("student_t", &SHAPES), of("snig", &LAMBDAS));
    Panel::new("KL against the fixed shape")
        .x(Axis::log("a of student_t, λ of snig"))
        .y(Axis::linear("KL(q‖p), nats").include(0.0))
        .add(Rule::horizontal(fitted[0].kl, "gaussian"))
        .add(Line::new(t.clone()).colour(Colour::Blue).label("student_t"))
        .add(Points::new(t).colour(Colour::Blue))
        .add(Line::new(snig.clone()).colour(Colour::Green).dash(Dash::Dashed).label("snig"))
        .add(Points::new(snig).colour(Colour::Green).marker(Marker::Square))
        .add(
            Points::new([(learned, fitted[1].kl)])
                .colour(Colour::Blue)
                .marker(Marker::Circle)
                .radius(6.0)
                .key("learned a"),
        )
}

fn quantile_panel(exact: &[Vec<f64>; 3], fitted: &[Fitted]) -> Panel {
    let names = ["intercept", "slope", "line at x = 3"];
    let mut panel = Panel::new("0.5 % and 99.5 % quantiles")
        .x(Axis::names(names))
        .y(Axis::linear("distance from the median, exact = ±1").include(0.0))
        .add(Rule::horizontal(1.0, ""))
        .add(Rule::horizontal(-1.0, "exact"));
    for (i, (fit, name, colour)) in drawn(fitted).into_iter().enumerate() {
        let x = |j: usize| j as f64 + 0.2 * (i as f64 - 1.0);
        let relative = |j: usize, k: usize| {
            let sign = if k == 0 { -1.0 } else { 1.0 };
            sign * (fit.quantiles[j][k] - exact[j][1]) / (exact[j][k] - exact[j][1])
        };
        let places = (0..3).flat_map(|j| [0, 2].map(|k| (x(j), relative(j, k))));
        let marker = [Marker::Disc, Marker::Circle, Marker::Square][i];
        panel = panel.add(Points::new(places).colour(colour).marker(marker).radius(4.5).key(name));
    }
    panel
}
