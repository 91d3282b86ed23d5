//! What was predicted of each row, and how far off it was.

use crate::content::Residual;
use elinvar_figure::frame::{Frame, Margins};
use elinvar_figure::scale::{Scale, extent};
use elinvar_figure::svg::{Drawing, Marks};

const SIZE: (f64, f64) = (460.0, 310.0);
/// A normal residual is within these in 95 of 100 rows.
const USUAL: f64 = 1.96;

/// Residuals in units of their own sd against predicted means; `None` if there are none.
pub(crate) fn draw(residuals: &[Residual]) -> Option<Drawing> {
    let finite = || residuals.iter().filter(|row| row.predicted.is_finite() && row.residual.is_finite());
    if finite().count() < 2 {
        return None;
    }
    let x = Scale::linear(extent(finite().map(|row| row.predicted), 0.04), (0.0, 1.0));
    let reach = finite().map(|row| row.residual.abs()).fold(2.5, f64::max);
    let y = Scale::linear((-1.05 * reach, 1.05 * reach), (0.0, 1.0));
    let frame = Frame::inside(SIZE, Margins { top: 30.0, right: 12.0, bottom: 40.0, left: 42.0 }, x, y);
    let mut marks = Marks::default();
    frame.y_axis(&mut marks, 5, "residual, sds");
    for at in [-USUAL, 0.0, USUAL] {
        marks.line("reference", (frame.left, frame.y.at(at)), (frame.right(), frame.y.at(at)));
    }
    for row in finite() {
        marks.circle("row-dot", frame.at(row.predicted, row.residual), 2.0);
    }
    frame.x_axis(&mut marks, 5, "predicted mean");
    let outside = finite().filter(|row| row.residual.abs() > USUAL).count();
    Some(Drawing {
        width: SIZE.0,
        height: SIZE.1,
        title: "Residuals".into(),
        description: format!(
            "Residuals of {} rows, in units of their own sd, against the predicted mean; {outside} are beyond ±{USUAL}.",
            finite().count()
        ),
        attributes: String::new(),
        marks,
    })
}
