//! The figures.

use elinvar_figure as draw;
use elinvar_figure::{Axis, Bars, Colour, Dash, Line, Panel};

use super::method::{Look, METHODS, Method, Mover};
use super::race::{FROM, Loss, Ran, mean_and_error};
use crate::Figure;

fn look(method: Method) -> (Colour, Dash) {
    match (method.mover, method.skew) {
        (Mover::AdamLike, _) => (Colour::Blue, Dash::Solid),
        (Mover::SquaredMean, _) => (Colour::Grey, Dash::Solid),
        (Mover::BlackBox, false) => (Colour::Vermilion, Dash::Dashed),
        (Mover::BlackBox, true) => (Colour::Green, Dash::Dotted),
    }
}

pub(super) fn title(table: &str) -> String {
    let mut words = if table == "wine_red" { "red wine".to_owned() } else { table.replace('_', " ") };
    words[..1].make_ascii_uppercase();
    words
}

/// A panel per table and one with the lead over each black box.
fn panels(
    runs: &[Ran],
    loss: Loss,
    of: fn(&Look) -> f64,
    y: impl Fn() -> Axis,
    lead: &str,
    heading: &str,
) -> draw::Figure {
    let mut figure = draw::Figure::new(heading).columns(3).panel_size(330.0, 250.0);
    let tables: Vec<&[Ran]> = runs.chunks_exact(METHODS.len()).collect();
    for of_table in &tables {
        let mut panel = Panel::new(title(of_table[0].table)).x(Axis::log("steps of 32 rows")).y(y());
        for ran in *of_table {
            let (colour, dash) = look(ran.method);
            let curve = ran.curve(of).into_iter().filter(|(steps, _, _)| *steps >= FROM[0]);
            panel = panel.add(Line::with_error(curve).colour(colour).dash(dash).key(ran.method.name));
        }
        figure = figure.panel(panel);
    }
    let names = tables.iter().map(|of_table| title(of_table[0].table));
    let mut panel = Panel::new("Lead of the Adam-like rule").x(Axis::names(names)).y(Axis::linear(lead).include(0.0));
    let black_boxes: Vec<usize> = (0..METHODS.len()).filter(|i| METHODS[*i].mover == Mover::BlackBox).collect();
    for (place, i) in black_boxes.iter().enumerate() {
        let leads = tables.iter().map(|of_table| mean_and_error(&of_table[*i].lead_of(&of_table[0], loss, FROM[1])));
        let (means, errors): (Vec<f64>, Vec<f64>) = leads.unzip();
        let bars = Bars::new(means).errors(errors).beside(place, black_boxes.len());
        panel = panel.add(bars.colour(look(METHODS[*i]).0).key(format!("lead over {}", METHODS[*i].name)));
    }
    figure.panel(panel)
}

/// Test RMSE.
pub(super) fn rmse(runs: &[Ran]) -> Figure {
    let heading = "Test RMSE of Bayesian networks against steps: mean and standard error over the splits";
    let lead = "log ratio of RMSE, mean over log steps from 100";
    let figure = panels(runs, Loss::LogRmse, |look| look.rmse, || Axis::log("test RMSE"), lead, heading);
    Figure {
        stem: "bnn".into(),
        title: "Test RMSE against steps: diagonal skew-Gaussian by the Adam-like rule and black-box gradients".into(),
        svg: figure.svg(),
    }
}

/// Test log-likelihood.
pub(super) fn log_likelihood(runs: &[Ran]) -> Figure {
    let heading = "Test log-likelihood of Bayesian networks against steps: mean and standard error over the splits";
    let y = || Axis::linear("test log-likelihood, nats per row");
    let lead = "nats per row, mean over log steps from 100";
    let figure = panels(runs, Loss::Likelihood, |look| look.log_likelihood, y, lead, heading);
    Figure {
        stem: "bnn-log-likelihood".into(),
        title: "Test log-likelihood against steps, of the same runs".into(),
        svg: figure.svg(),
    }
}
