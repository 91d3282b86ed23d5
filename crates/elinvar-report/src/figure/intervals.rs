//! Means and 90 % intervals of all parameters, below each other.

use super::marginal::shortened;
use crate::content::{Correction, Parameter, Summary};
use elinvar_figure::frame::{Frame, Margins};
use elinvar_figure::scale::{Scale, extent};
use elinvar_figure::svg::{Anchor, Drawing, Marks};

const WIDTH: f64 = 520.0;
const ROW: f64 = 19.0;
/// More would not fit a page.
const MOST: usize = 80;

/// `None` if there is no parameter.
pub(crate) fn draw(parameters: &[Parameter], correction: Correction) -> Option<Drawing> {
    let shown = &parameters[..parameters.len().min(MOST)];
    if shown.is_empty() {
        return None;
    }
    let height = 34.0 + ROW * shown.len() as f64 + 24.0;
    let longest = shown.iter().map(|p| p.name.chars().count()).max().unwrap_or(0).min(22);
    let left = 22.0 + 6.6 * longest as f64;
    let frame = Frame::inside(
        (WIDTH, height),
        Margins { top: 34.0, right: 12.0, bottom: 24.0, left },
        Scale::linear(range(shown), (0.0, 1.0)),
        Scale::linear((shown.len() as f64, 0.0), (0.0, 1.0)),
    );
    let mut marks = super::legend::of_draws(shown.iter().any(|p| p.corrected.is_some()).then_some(correction)).marks;
    if frame.x.domain.0 < 0.0 && frame.x.domain.1 > 0.0 {
        let zero = frame.x.at(0.0);
        marks.line("reference", (zero, frame.top), (zero, frame.bottom()));
    }
    for (i, parameter) in shown.iter().enumerate() {
        let y = frame.top + ROW * (i as f64 + 0.5);
        marks.text("strong", (frame.left - 10.0, y + 4.0), Anchor::End, &shortened(&parameter.name, 22));
        row(parameter, &frame.x, y, &mut marks);
    }
    frame.x_axis(&mut marks, 6, "");
    Some(Drawing {
        width: WIDTH,
        height,
        title: "Means and 90 % intervals".into(),
        description: format!("Mean and 5 % to 95 % interval of {} parameters.", shown.len()),
        attributes: String::new(),
        marks,
    })
}

/// The range that holds all intervals.
pub(crate) fn range(parameters: &[Parameter]) -> (f64, f64) {
    let ends = |s: &Summary| [s.q5, s.q95, s.mean];
    let all = parameters.iter().flat_map(|p| p.corrected.iter().chain([&p.summary]).flat_map(ends).collect::<Vec<_>>());
    extent(all, 0.04)
}

/// Whether intervals of all can be seen on one scale: their widths are within a factor of 20 of each other.
pub(crate) fn have_one_scale(parameters: &[Parameter]) -> bool {
    const FACTOR: f64 = 20.0;
    let sds = || parameters.iter().map(|p| p.summary.sd).filter(|sd| *sd > 0.0);
    sds().fold(0.0, f64::max) <= FACTOR * sds().fold(f64::INFINITY, f64::min)
}

/// The range that holds the intervals of one, and zero.
pub(crate) fn range_with_zero(parameter: &Parameter) -> (f64, f64) {
    let ends = |s: &Summary| [s.q5, s.q95, s.mean];
    let own = parameter.corrected.iter().chain([&parameter.summary]).flat_map(ends).collect::<Vec<_>>();
    extent(own.into_iter().chain([0.0]), 0.04)
}

/// The interval of q as a broad bar with a dot, that of the corrected draws as a thin one below it.
pub(crate) fn row(parameter: &Parameter, x: &Scale, y: f64, marks: &mut Marks) {
    let q = parameter.summary;
    let above = if parameter.corrected.is_some() { 1.5 } else { 0.0 };
    marks.line("thick", (x.at(q.q5), y - above), (x.at(q.q95), y - above));
    if let Some(p) = parameter.corrected {
        marks.line("p-thick", (x.at(p.q5), y + 3.0), (x.at(p.q95), y + 3.0));
    }
    marks.circle("q-dot", (x.at(q.mean), y - above), 2.8);
}
