//! A figure with every kind of layer, on made-up numbers.

use elinvar_figure::{
    Anchor, Area, Axis, Bars, Colour, Contours, Dash, Figure, Line, Marker, Note, Panel, Points, Rule, Width,
};

/// Nine panels.
pub(crate) fn gallery() -> Figure {
    Figure::new("Every kind of layer")
        .columns(3)
        .panel_size(330.0, 240.0)
        .panel(bound())
        .panel(many_ends())
        .panel(marginal())
        .panel(pair())
        .panel(function())
        .panel(bars())
        .panel(points())
        .panel(stairs())
        .panel(strange())
}

/// About normal numbers without a generator: means of a quasi-random sequence.
fn normal(n: u32, seed: f64) -> Vec<f64> {
    let unit = |k: f64| (k * 0.618_033_988_75 + seed).fract();
    (0..n)
        .map(|i| (0..12).map(|j| unit(f64::from(i * 12 + j) * (1.0 + 0.37 * f64::from(j)))).sum::<f64>() - 6.0)
        .collect()
}

fn bound() -> Panel {
    let elbo = |rate: f64| {
        (1..=200).map(move |i| {
            let x = 40.0 * f64::from(i);
            (x, -34.3 - 60.0 * (-rate * f64::from(i)).exp() + 0.2 * (x * 1.7).sin(), 3.0 / f64::from(i).sqrt())
        })
    };
    Panel::new("(a) Breast Cancer, d = 11")
        .x(Axis::log("gradients"))
        .y(Axis::linear("ELBO, nats"))
        .add(Line::with_error(elbo(0.2)).label("natural"))
        .add(Line::with_error(elbo(0.03)).label("ordinary").dash(Dash::Dashed))
        .add(Rule::horizontal(-32.0, "log normaliser"))
}

fn many_ends() -> Panel {
    let families = ["Gaussian", "skew-Gaussian", "Student-t", "mixture, 3", "mixture, 10"];
    let panel =
        Panel::new("(b) Ends that meet").x(Axis::linear("seconds")).y(Axis::linear("test log-loss").include(0.0));
    families.iter().enumerate().fold(panel, |panel, (i, name)| {
        let end = 0.3 + 0.002 * i as f64;
        panel.add(Line::new((0..60).map(|t| (f64::from(t), end + (-0.1 * f64::from(t)).exp()))).label(*name))
    })
}

fn marginal() -> Panel {
    let draws = normal(800, 0.1);
    Panel::new("(c) Densities")
        .x(Axis::linear("x"))
        .y(Axis::linear("density"))
        .add(Area::density(&draws, &[]).key("approximation"))
        .add(Area::histogram(&draws, 24).colour(Colour::Grey).width(Width::Thin).key("histogram"))
        .add(
            Line::of_function((-4.0, 4.0), |x| (-0.5 * x * x).exp() / 2.5066)
                .colour(Colour::Vermilion)
                .key("posterior"),
        )
}

fn pair() -> Panel {
    let (x, z) = (normal(3000, 0.2), normal(3000, 0.7));
    let y: Vec<f64> = x.iter().zip(&z).map(|(x, z)| 0.4 * x * x + z).collect();
    Panel::new("(d) Draws")
        .x(Axis::linear("w₁"))
        .y(Axis::linear("w₂"))
        .add(Contours::of_draws(&x, &y, &[], [0.5, 0.9]).filled())
        .add(
            Points::new(x.iter().copied().zip(y.iter().copied()).take(300))
                .radius(1.2)
                .faint()
                .colour(Colour::Vermilion),
        )
}

fn function() -> Panel {
    let banana = |x: f64, y: f64| (-0.5 * x * x - 2.0 * (y - 0.5 * x * x).powi(2)).exp();
    Panel::new("(e) A function, cut at the edges")
        .x(Axis::linear("x"))
        .y(Axis::linear("y"))
        .add(Contours::of_density((-2.0, 2.5), (-1.0, 3.0), [0.2, 0.5, 0.8, 0.95], banana).colour(Colour::Green))
        .add(Points::new([(0.0, 0.0)]).marker(Marker::Cross).colour(Colour::Ink))
        .add(Note::new((0.15, 0.0), Anchor::Start, "mode"))
}

fn bars() -> Panel {
    Panel::new("(f) Bars")
        .x(Axis::names(["Gaussian", "skew-Gaussian", "Student-t", "mixture"]))
        .y(Axis::linear("RMSE"))
        .add(Bars::new([0.4, 0.35, 0.37, 0.29]).errors([0.03; 4]).beside(0, 2).key("train"))
        .add(Bars::new([0.5, 0.43, f64::NAN, 0.36]).errors([0.04; 4]).beside(1, 2).key("test"))
}

fn points() -> Panel {
    let at = |slope: f64, shift: f64| {
        (1..7).map(move |i| (f64::from(1 << (2 * i)), shift * f64::from(i).powf(slope), 0.3 * shift))
    };
    Panel::new("(g) Points with bars")
        .x(Axis::log("dimension"))
        .y(Axis::log("seconds"))
        .add(Points::with_error(at(1.5, 1.0)).label("dense"))
        .add(Points::with_error(at(1.0, 0.5)).marker(Marker::Square).label("rank 10"))
        .add(Points::new(at(0.2, 0.4).map(|(x, y, _)| (x, y))).marker(Marker::Circle).label("diagonal"))
        .add(Points::new(at(0.1, 0.2).map(|(x, y, _)| (x, y))).marker(Marker::Triangle).label("means"))
}

fn stairs() -> Panel {
    Panel::new("(h) Stairs")
        .x(Axis::linear("step"))
        .y(Axis::linear("components").include(0.0))
        .add(Line::new((0..12).map(|i| (50.0 * f64::from(i), f64::from(1 + i * i / 12)))).stairs())
        .add(Rule::vertical(420.0, "last birth"))
}

fn strange() -> Panel {
    let points = [(1.0, f64::NAN), (2.0, -4e7), (3.0, -2e7), (f64::INFINITY, 1.0), (5.0, -1e7), (6.0, -9e6)];
    Panel::new("(i) <Gaps & \"names\">")
        .x(Axis::linear("x"))
        .y(Axis::linear("y"))
        .add(Line::new(points).label("a < b"))
        .add(Line::new([]).label("nothing"))
        .add(Contours::of_draws(&[1.0], &[1.0], &[], [0.5]))
}
