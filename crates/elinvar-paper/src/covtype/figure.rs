//! The figure.

use elinvar_figure as draw;
use elinvar_figure::{Axis, Bars, Colour, Dash, Line, Panel, Rule};

use super::products::Bare;
use super::race::{Look, Method, Ran};
use crate::Figure;

fn colour(ran: &Ran) -> Colour {
    match (ran.entry.family.name(), ran.entry.method) {
        (_, Method::Printed { .. }) if ran.entry.is_fixed_t() => Colour::Grey,
        ("student_t", Method::Printed { .. }) => Colour::Green,
        (_, Method::Printed { .. }) => Colour::Purple,
        ("student_t", Method::Natural) => Colour::Blue,
        ("student_t", _) => Colour::Sky,
        (_, Method::Natural) => Colour::Vermilion,
        _ => Colour::Orange,
    }
}

pub(super) fn draw(runs: &[Ran], reference: f64, bare: &Bare, quick: bool) -> Figure {
    let which = if quick { "a stand-in of covtype" } else { "covtype" };
    let figure = draw::Figure::new(format!("Log-loss on {which} by natural gradients and by BBVI"))
        .columns(3)
        .panel_size(380.0, 300.0)
        .panel(losses(runs, reference, "epochs", |look| look.epochs))
        .panel(losses(runs, reference, "seconds, one thread", |look| look.seconds))
        .panel(costs(runs, bare));
    Figure {
        stem: "covtype".into(),
        title: format!(
            "Test log-loss on {which} against epochs and seconds, and the cost of an epoch beside its bare products"
        ),
        svg: figure.svg(),
    }
}

fn losses(runs: &[Ran], reference: f64, label: &str, along: impl Fn(&Look) -> f64) -> Panel {
    let mut panel = Panel::new("test log-loss")
        .x(Axis::log(label))
        .y(Axis::linear("nats").range(reference - 0.02, reference + 0.3))
        .add(Rule::horizontal(reference, "Gaussian of all data"));
    for ran in runs {
        let points = ran.curve().into_iter().skip(1).map(|(look, low, high)| (along(&look), look.loss, low, high));
        let dash = match ran.entry.method {
            Method::Natural => Dash::Solid,
            Method::Printed { .. } => Dash::Dotted,
            Method::Adam { .. } => Dash::Dashed,
        };
        panel = panel.add(Line::with_band(points).colour(colour(ran)).dash(dash).key(ran.entry.name()));
    }
    panel
}

fn costs(runs: &[Ran], bare: &Bare) -> Panel {
    let mut names: Vec<&str> = vec!["read", "XZ+XᵀR", "+XᵀX", "gathered"];
    let mut heights = vec![bare.read, bare.gradient, bare.hessian, bare.gathered];
    for (family, name) in [("student_t", ["t", "t, BB"]), ("skew", ["skew", "skew, BB"])] {
        let is_drawn = |ran: &&Ran| !matches!(ran.entry.method, Method::Printed { .. });
        for ran in runs.iter().filter(|ran| ran.entry.family.name() == family).filter(is_drawn) {
            names.push(name[usize::from(ran.entry.method != Method::Natural)]);
            heights.push(ran.seconds_per_epoch);
        }
    }
    Panel::new("seconds per pass over the rows")
        .x(Axis::names(names))
        .y(Axis::linear("seconds, one thread").include(0.0))
        .add(Bars::new(heights).colour(Colour::Green))
        .add(Rule::horizontal(bare.gathered, "bare products"))
}
