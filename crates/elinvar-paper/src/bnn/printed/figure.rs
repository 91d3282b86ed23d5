//! The figures.

use elinvar_figure as draw;
use elinvar_figure::{Axis, Colour, Dash, Line, Panel};

use super::super::figure::title;
use super::super::race::{FROM, curve};
use super::runs::Ran;
use crate::Figure;

const LOOKS: [(Colour, Dash); 8] = [
    (Colour::Blue, Dash::Solid),
    (Colour::Vermilion, Dash::Solid),
    (Colour::Grey, Dash::Solid),
    (Colour::Green, Dash::Solid),
    (Colour::Blue, Dash::Dashed),
    (Colour::Vermilion, Dash::Dashed),
    (Colour::Grey, Dash::Dashed),
    (Colour::Green, Dash::Dashed),
];

/// RMSE against steps, a panel for each part of the runs.
fn panels(heading: &str, parts: &[(String, Vec<&Ran>)]) -> draw::Figure {
    let mut figure = draw::Figure::new(heading).columns(parts.len().min(3)).panel_size(330.0, 250.0);
    for (name, runs) in parts {
        let mut panel = Panel::new(name.clone()).x(Axis::log("steps of 32 rows")).y(Axis::log("test RMSE"));
        for (ran, (colour, dash)) in runs.iter().zip(LOOKS) {
            let points = curve(&ran.splits, |look| look.rmse).into_iter().filter(|(steps, _, _)| *steps >= FROM[0]);
            panel = panel.add(Line::with_error(points).colour(colour).dash(dash).key(ran.name.clone()));
        }
        figure = figure.panel(panel);
    }
    figure
}

fn by_table(runs: &[Ran]) -> Vec<(String, Vec<&Ran>)> {
    let mut parts: Vec<(String, Vec<&Ran>)> = Vec::new();
    for ran in runs {
        let name = title(ran.table);
        match parts.iter_mut().find(|(table, _)| *table == name) {
            Some((_, part)) => part.push(ran),
            None => parts.push((name, vec![ran])),
        }
    }
    parts
}

/// The boxes beside elinvar's form.
pub(super) fn race(runs: &[Ran]) -> Figure {
    let figure = panels("Networks by the printed boxes and by elinvar's form of them", &by_table(runs));
    Figure {
        stem: "printed".into(),
        title: "Test RMSE against steps: the boxes of App. J as printed, and elinvar's Adam-like rule; mean and standard error over \
                the splits"
            .into(),
        svg: figure.svg(),
    }
}

/// The cells of the ablation.
pub(super) fn ablation(runs: &[Ran]) -> Figure {
    let figure = panels("What each choice does", &by_table(runs));
    Figure {
        stem: "ablation".into(),
        title:
            "Test RMSE against steps with σ learned or fixed, from a narrow start or from the prior, by both curvatures"
                .into(),
        svg: figure.svg(),
    }
}

/// One to three hidden layers, a panel each.
pub(super) fn depth(runs: &[(usize, Vec<Ran>)]) -> Figure {
    let name = |layers: usize| if layers == 1 { "one hidden layer".into() } else { format!("{layers} hidden layers") };
    let parts: Vec<(String, Vec<&Ran>)> =
        runs.iter().map(|(layers, runs)| (name(*layers), runs.iter().collect())).collect();
    Figure {
        stem: "depth".into(),
        title: "Test RMSE on Yacht against steps with one, two and three hidden layers".into(),
        svg: panels("More hidden layers, on Yacht", &parts).svg(),
    }
}
