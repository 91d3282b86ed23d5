//! The families that were tried and the ELBO that each reached.

use super::marginal::shortened;
use crate::content::Rung;
use elinvar_figure::frame::{Frame, Margins};
use elinvar_figure::number;
use elinvar_figure::scale::{Scale, extent};
use elinvar_figure::svg::{Anchor, Drawing, Marks};

const WIDTH: f64 = 440.0;
const ROW: f64 = 30.0;

/// `None` if there were fewer than two families.
pub(crate) fn draw(rungs: &[Rung]) -> Option<Drawing> {
    if rungs.len() < 2 {
        return None;
    }
    let ends = rungs.iter().flat_map(|r| {
        let error = if r.elbo.mcse.is_finite() { 2.0 * r.elbo.mcse } else { 0.0 };
        [r.elbo.value - error, r.elbo.value + error]
    });
    let height = 12.0 + ROW * rungs.len() as f64 + 40.0;
    let frame = Frame::inside(
        (WIDTH, height),
        Margins { top: 6.0, right: 66.0, bottom: 40.0, left: 132.0 },
        Scale::linear(extent(ends, 0.06), (0.0, 1.0)),
        Scale::linear((rungs.len() as f64, 0.0), (0.0, 1.0)),
    );
    let mut marks = Marks::default();
    for (i, rung) in rungs.iter().enumerate() {
        let y = frame.top + ROW * (i as f64 + 0.5);
        let x = frame.x.at(rung.elbo.value);
        marks.line("grid", (frame.left, y), (frame.right(), y));
        let class = if rung.kept { "strong" } else { "tick" };
        marks.text(class, (frame.left - 10.0, y + 4.0), Anchor::End, &shortened(&rung.family, 20));
        if rung.elbo.mcse.is_finite() {
            let half = frame.x.at(rung.elbo.value + 2.0 * rung.elbo.mcse) - x;
            marks.line("bar", (x - half, y), (x + half, y));
        }
        marks.circle(if rung.kept { "q-dot" } else { "hollow-muted" }, (x, y), 4.5);
        let words = match (rung.kept, rung.gain) {
            (true, _) => "kept".into(),
            (_, Some(gain)) if gain.value > 0.0 => format!("+{}", number::significant(gain.value, 2)),
            (_, Some(gain)) => number::significant(gain.value, 2),
            _ => String::new(),
        };
        marks.text(class, (frame.right() + 10.0, y + 4.0), Anchor::Start, &words);
    }
    frame.x_axis(&mut marks, 5, "ELBO in nats, ± 2 standard errors");
    let kept = rungs.iter().find(|rung| rung.kept).map_or("none", |rung| &rung.family);
    Some(Drawing {
        width: WIDTH,
        height,
        title: "The ladder of families".into(),
        description: format!("ELBO of {} families; kept: {kept}.", rungs.len()),
        attributes: String::new(),
        marks,
    })
}
