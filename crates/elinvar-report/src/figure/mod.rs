//! Figures as functions of their data, each usable alone.

pub(crate) mod calibration;
pub(crate) mod intervals;
pub(crate) mod ladder;
pub(crate) mod legend;
pub(crate) mod marginal;
mod name;
pub(crate) mod pair;
pub(crate) mod residuals;
pub(crate) mod tail;
pub(crate) mod trace;

pub use name::{FigureName, UnknownFigure};

use crate::content::Content;
use crate::shape;
use elinvar_figure::svg::Drawing;
use trace::{Along, Quantity};

/// Marginals in a figure of all of them.
const MOST_MARGINALS: usize = 48;
/// Coordinates whose pairs are drawn.
pub(crate) const PAIRED: usize = 4;

/// One figure as an SVG file in light colours; `None` if the content does not have what it shows.
///
/// ```
/// use elinvar_report::{Content, FigureName, TraceRow, figure};
///
/// let row = |step, elbo| TraceRow { step, evaluations: 100 * step, elbo: Some(elbo), ..TraceRow::default() };
/// let content = Content { trace: vec![row(0, -50.0), row(1, -40.0), row(2, -39.0)], ..Content::default() };
/// let svg = figure(&content, &FigureName::Elbo).expect("there is a trace");
/// assert!(svg.starts_with("<svg"));
/// assert!(figure(&content, &FigureName::Tail).is_none());
/// ```
pub fn figure(content: &Content, name: &FigureName) -> Option<String> {
    drawing(content, name).map(|drawing| drawing.standalone())
}

pub(crate) fn drawing(content: &Content, name: &FigureName) -> Option<Drawing> {
    let index = |name: &str| content.parameters.iter().position(|p| p.name == name);
    match name {
        FigureName::Marginals => {
            let shown = 0..content.parameters.len().min(MOST_MARGINALS);
            let panels: Vec<Drawing> = shown.filter_map(|i| marginal::draw(content, i)).collect();
            let columns = if panels.len() <= 4 { panels.len() } else { 4 };
            several("Marginal densities", panels, columns, content)
        }
        FigureName::Marginal(parameter) => marginal::draw(content, index(parameter)?),
        FigureName::Pairs => {
            let panels: Vec<Drawing> = least_gaussian_pairs(content, PAIRED)
                .into_iter()
                .filter_map(|(i, j)| pair::draw(content, i, j))
                .collect();
            let columns = if panels.len() <= 3 { panels.len() } else { 3 };
            several("Pairs of the least Gaussian parameters", panels, columns, content)
        }
        FigureName::Pair(x, y) => pair::draw(content, index(x)?, index(y)?),
        FigureName::Elbo => trace::draw(content, Quantity::Elbo, Along::Evaluations),
        FigureName::ElboSeconds => trace::draw(content, Quantity::Elbo, Along::Seconds),
        FigureName::StepSize => trace::draw(content, Quantity::StepSize, Along::Steps),
        FigureName::Kl => trace::draw(content, Quantity::Kl, Along::Steps),
        FigureName::Components => trace::draw(content, Quantity::Components, Along::Steps),
        FigureName::DrawsPerStep => trace::draw(content, Quantity::Draws, Along::Steps),
        FigureName::Tail => tail::draw(content.tail.as_ref()?, content.headline.pareto_k_threshold),
        FigureName::Ladder => ladder::draw(&content.rungs),
        FigureName::Calibration => calibration::draw(&content.test.as_ref()?.calibration),
        FigureName::Residuals => residuals::draw(&content.model_check.as_ref()?.residuals),
        FigureName::Intervals => intervals::draw(&content.parameters, content.correction),
    }
}

fn several(title: &str, panels: Vec<Drawing>, columns: usize, content: &Content) -> Option<Drawing> {
    let legend = legend::of_draws(content.corrected_draws.as_ref().map(|_| content.correction));
    (!panels.is_empty()).then(|| Drawing::grid(title, &panels, columns, Some(legend)))
}

/// All pairs of the `n` parameters that are least Gaussian or move most, in the order of the model.
pub(crate) fn least_gaussian_pairs(content: &Content, n: usize) -> Vec<(usize, usize)> {
    let mut chosen: Vec<usize> = shape::by_interest(content).into_iter().take(n).collect();
    chosen.sort_unstable();
    let pairs = |(k, i): (usize, &usize)| chosen[k + 1..].iter().map(|j| (*i, *j)).collect::<Vec<_>>();
    chosen.iter().enumerate().flat_map(pairs).collect()
}
