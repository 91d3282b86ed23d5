//! A quantity of every step against steps, evaluations or seconds.

use super::marginal::shortened;
use crate::content::{Content, TraceRow};
use elinvar_figure::frame::{Frame, Margins};
use elinvar_figure::number;
use elinvar_figure::scale::{Scale, extent};
use elinvar_figure::series::{LONG, Point, running_median, thin};
use elinvar_figure::svg::{self, Anchor, Drawing, Marks};

const LARGE: (f64, f64) = (480.0, 290.0);
const SMALL: (f64, f64) = (290.0, 200.0);
/// At least this share of the height belongs to the later half of the ELBO; what lies below is cut off and said.
const LATER_SHARE: f64 = 0.4;

/// What is drawn upwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quantity {
    Elbo,
    StepSize,
    Kl,
    Components,
    Draws,
}

/// What is drawn to the right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Along {
    Steps,
    Evaluations,
    Seconds,
}

impl Quantity {
    pub(crate) fn key(self) -> &'static str {
        match self {
            Quantity::Elbo => "elbo",
            Quantity::StepSize => "step_size",
            Quantity::Kl => "kl",
            Quantity::Components => "components",
            Quantity::Draws => "n_draws",
        }
    }

    fn label(self) -> &'static str {
        match self {
            Quantity::Elbo => "ELBO in nats, ± 2 standard errors",
            Quantity::StepSize => "step size",
            Quantity::Kl => "KL of the step, nats",
            Quantity::Components => "components",
            Quantity::Draws => "draws per component",
        }
    }

    /// The value in a row, where it can be drawn.
    fn of(self, row: &TraceRow) -> Option<f64> {
        let value = match self {
            Quantity::Elbo => row.elbo,
            Quantity::StepSize => row.step_size,
            Quantity::Kl => row.kl,
            Quantity::Components => Some(row.components as f64),
            Quantity::Draws => Some(row.n_draws as f64),
        };
        value.filter(|v| v.is_finite() && (!self.is_log() || *v > 0.0))
    }

    fn is_log(self) -> bool {
        matches!(self, Quantity::StepSize | Quantity::Kl | Quantity::Draws)
    }

    fn is_stairs(self) -> bool {
        matches!(self, Quantity::Components | Quantity::Draws)
    }
}

impl Along {
    pub(crate) fn key(self) -> &'static str {
        match self {
            Along::Steps => "step",
            Along::Evaluations => "evaluations",
            Along::Seconds => "seconds",
        }
    }

    fn of(self, row: &TraceRow) -> f64 {
        match self {
            Along::Steps => row.step as f64,
            Along::Evaluations => row.evaluations as f64,
            Along::Seconds => row.seconds,
        }
    }
}

/// `None` if fewer than two rows have the quantity.
pub(crate) fn draw(content: &Content, quantity: Quantity, along: Along) -> Option<Drawing> {
    let points: Vec<Point> = content.trace.iter().filter_map(|row| point(row, quantity, along)).collect();
    if points.len() < 2 {
        return None;
    }
    let size = if quantity == Quantity::Elbo { LARGE } else { SMALL };
    let x = Scale::linear(extent(points.iter().map(|p| p.x), 0.0), (0.0, 1.0));
    let y = y_scale(content, quantity, along, &points);
    let top = if content.stages.len() > 1 { 46.0 } else { 30.0 };
    let frame = Frame::inside(size, Margins { top, right: 14.0, bottom: 40.0, left: 56.0 }, x, y);

    let mut marks = Marks::default();
    frame.y_axis(&mut marks, if quantity.is_stairs() { 4 } else { 5 }, "");
    marks.text("label strong", (1.0, 13.0), Anchor::Start, quantity.label());
    stages(content, along, &frame, &mut marks);
    frame.clipped(&mut marks, |marks| {
        let smooth = if quantity.is_stairs() { None } else { running_median(&points) };
        let line = thin(smooth.as_deref().unwrap_or(&points), &frame);
        if points.iter().any(|p| p.low < p.high) {
            let up = line.iter().map(|p| frame.at(p.x, p.high));
            let down = line.iter().rev().map(|p| frame.at(p.x, p.low));
            marks.path("q-area band", &svg::path(up.chain(down), true));
        }
        if !quantity.is_stairs() {
            let raw = if smooth.is_some() { thin(&points, &frame) } else { Vec::new() };
            // Without marks it is empty, for a script to fill.
            let d = svg::path(raw.iter().map(|p| frame.at(p.x, p.y)), false);
            marks.push(&format!(r#"<path class="q-faint raw" d="{d}"/>"#));
        }
        marks.path("q-line line", &svg::path(stairs(&line, quantity, &frame).into_iter(), false));
        if quantity == Quantity::Elbo {
            references(content, &points, &frame, marks);
        }
    });
    if quantity == Quantity::Elbo {
        below(&points, &frame, &mut marks);
    }
    frame.x_axis(&mut marks, 5, along.key());
    let last = points.last().map_or(0.0, |p| p.y);
    Some(Drawing {
        width: size.0,
        height: size.1,
        title: format!("{} against {}", quantity.label(), along.key()),
        description: format!("{} points; the last is {}.", points.len(), number::significant(last, 5)),
        attributes: format!(
            r#"{} data-quantity="{}" data-along="{}" data-stairs="{}""#,
            frame.attributes(),
            quantity.key(),
            along.key(),
            u8::from(quantity.is_stairs())
        ),
        marks,
    })
}

/// Whether the trace is so long that its noise is drawn apart.
pub(crate) fn is_smoothed(content: &Content) -> bool {
    content.trace.len() > LONG
}

fn point(row: &TraceRow, quantity: Quantity, along: Along) -> Option<Point> {
    let y = quantity.of(row)?;
    let se = match quantity {
        Quantity::Elbo => row.elbo_se.filter(|se| se.is_finite()).unwrap_or(0.0),
        _ => 0.0,
    };
    let x = along.of(row);
    x.is_finite().then_some(Point { x, y, low: y - 2.0 * se, high: y + 2.0 * se })
}

fn y_scale(content: &Content, quantity: Quantity, along: Along, points: &[Point]) -> Scale {
    match quantity {
        Quantity::Elbo => {
            let near = settled(content, along, points);
            let references = [content.headline.elbo, content.headline.log_normaliser];
            let near = extent([near.0, near.1].into_iter().chain(references.iter().flatten().map(|e| e.value)), 0.0);
            let all = extent(points.iter().map(|p| p.low), 0.0).0;
            let low = all.max(near.1 - (near.1 - near.0) / LATER_SHARE);
            let pad = 0.05 * (near.1 - low);
            Scale::linear((low - pad, near.1 + 1.8 * pad), (0.0, 1.0))
        }
        Quantity::Components => {
            let (_, high) = extent(points.iter().map(|p| p.y), 0.0);
            Scale::linear((0.0, (1.1 * high).max(2.0)), (0.0, 1.0))
        }
        _ => {
            let (low, high) = extent(points.iter().map(|p| p.y), 0.0);
            Scale::log((low / 1.25, 1.25 * high), (0.0, 1.0))
        }
    }
}

/// Where the later half of the bounds of the family that was kept lies, but for a few of them, and as much as their
/// error around.
fn settled(content: &Content, along: Along, points: &[Point]) -> (f64, f64) {
    const FEW: f64 = 0.02;
    let kept = content.rungs.iter().position(|rung| rung.kept);
    let at = |stage: usize| {
        let step = content.stages.get(stage)?.first_step;
        content.trace.iter().find(|row| row.step >= step).map(|row| along.of(row))
    };
    let (first, end) = kept.map_or((None, None), |stage| (at(stage), at(stage + 1)));
    let from = points.partition_point(|p| first.is_some_and(|x| p.x < x));
    let until = points.partition_point(|p| end.is_none_or(|x| p.x < x));
    let own = if from < until { &points[from..until] } else { points };
    let later = &own[own.len() / 2..];
    let ordered = |of: fn(&Point) -> f64| {
        let mut values: Vec<f64> = later.iter().map(of).collect();
        values.sort_by(f64::total_cmp);
        values
    };
    let (values, errors) = (ordered(|p| p.y), ordered(|p| p.high - p.y));
    let at = |share: f64| (share * (values.len() - 1) as f64).round() as usize;
    let error = errors[at(0.5)];
    (values[at(FEW)] - error, values[at(1.0 - FEW)] + error)
}

fn stairs(points: &[Point], quantity: Quantity, frame: &Frame) -> Vec<(f64, f64)> {
    if !quantity.is_stairs() {
        return points.iter().map(|p| frame.at(p.x, p.y)).collect();
    }
    let mut places = Vec::with_capacity(2 * points.len());
    for (i, p) in points.iter().enumerate() {
        if i > 0 && points[i - 1].y != p.y {
            places.push(frame.at(p.x, points[i - 1].y));
        }
        if i == 0 || i + 1 == points.len() || points[i - 1].y != p.y || points[i + 1].y != p.y {
            places.push(frame.at(p.x, p.y));
        }
    }
    places
}

/// Final ELBO and log normaliser as lines with their names: above at the left, where a bound that rises has not been
/// yet, and below the end of the band at the right.
fn references(content: &Content, points: &[Point], frame: &Frame, marks: &mut Marks) {
    let left = frame.left + 5.0;
    if let Some(z) = content.headline.log_normaliser.filter(|z| frame.y.holds(z.value)) {
        let y = frame.y.at(z.value);
        marks.group("rule", &format!(r#" data-at="{}""#, z.value), |marks| {
            marks.line("p-thin", (frame.left, y), (frame.right(), y));
            marks.text("p-text halo", (left, y - 5.0), Anchor::Start, "estimated log evidence");
        });
    }
    if let Some(elbo) = content.headline.elbo.filter(|elbo| frame.y.holds(elbo.value)) {
        let y = frame.y.at(elbo.value);
        let (value, error) = number::with_error(elbo.value, elbo.mcse);
        let mut lows: Vec<f64> = points[points.len() * 2 / 3..].iter().map(|p| frame.y.at(p.low)).collect();
        lows.sort_by(f64::total_cmp);
        // Below the band, but not below every single spike.
        let end = lows[(lows.len() - 1) * 9 / 10].max(y);
        marks.group("rule", &format!(r#" data-at="{}""#, elbo.value), |marks| {
            marks.line("reference", (frame.left, y), (frame.right(), y));
            let at = (frame.right() - 4.0, end.min(frame.bottom() - 34.0) + 15.0);
            marks.text("q-text halo", at, Anchor::End, &format!("final {value} ± {error}"));
        });
    }
}

/// How many steps are cut off at the lower edge.
fn below(points: &[Point], frame: &Frame, marks: &mut Marks) {
    let cut = points.iter().filter(|p| p.y < frame.y.domain.0).count();
    if cut > 0 {
        let lowest = points.iter().map(|p| p.y).fold(f64::INFINITY, f64::min);
        let steps = if cut == 1 { "1 step is".into() } else { format!("{} steps are", number::grouped(cut as u64)) };
        let text = format!("{steps} lower, down to {}", number::significant(lowest, 3));
        marks.text("tick note halo", (frame.right() - 4.0, frame.bottom() - 7.0), Anchor::End, &text);
    }
}

/// A line where each family begins, with its name where there is room.
fn stages(content: &Content, along: Along, frame: &Frame, marks: &mut Marks) {
    if content.stages.len() < 2 {
        return;
    }
    let mut free_until = frame.right() + 14.0;
    for (i, stage) in content.stages.iter().enumerate().rev() {
        let Some(row) = content.trace.iter().find(|row| row.step >= stage.first_step) else { continue };
        let value = along.of(row);
        let x = frame.x.at(value);
        let name = shortened(&stage.name, 14);
        let room = 6.2 * name.chars().count() as f64;
        marks.group("stage-mark", &format!(r#" data-at="{value}""#), |marks| {
            if i > 0 {
                marks.line("stage", (x, frame.top - 12.0), (x, frame.bottom()));
            }
            if x + room < free_until {
                marks.text("tick", (x + 3.0, frame.top - 5.0), Anchor::Start, &name);
                free_until = x;
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::content::{Rung, Stage};

    fn content(n: u64, elbo: impl Fn(u64) -> f64) -> Content {
        let row = |step| TraceRow {
            step,
            evaluations: 10 * step,
            seconds: step as f64,
            elbo: Some(elbo(step)),
            elbo_se: Some(0.1),
            components: 1 + step / 10,
            n_draws: 8,
            ..TraceRow::default()
        };
        Content { trace: (0..n).map(row).collect(), ..Content::default() }
    }

    #[test]
    fn the_rise_from_far_below_does_not_hide_the_end() {
        let drawing = draw(&content(100, |s| if s < 5 { -1e6 } else { -3.0 }), Quantity::Elbo, Along::Steps);
        assert!(drawing.is_some_and(|d| d.standalone().contains("5 steps are lower, down to −10⁶")));
    }

    #[test]
    fn a_family_that_was_not_kept_does_not_hide_the_one_that_was() {
        let mut content = content(90, |s| if (30..60).contains(&s) { -500.0 } else { -3.0 - 0.001 * (s % 7) as f64 });
        let rung = |kept| Rung { kept, ..Rung::default() };
        content.rungs = vec![rung(false), rung(false), rung(true)];
        content.stages = [0, 30, 60].map(|first_step| Stage { first_step, name: "a".into() }).to_vec();
        let drawing = draw(&content, Quantity::Elbo, Along::Evaluations);
        assert!(drawing.is_some_and(|d| d.standalone().contains("30 steps are lower, down to −500")));
    }

    #[test]
    fn what_was_not_measured_is_not_drawn() {
        assert!(draw(&content(100, |_| f64::NAN), Quantity::Elbo, Along::Steps).is_none());
        assert!(draw(&content(100, |_| 0.0), Quantity::Kl, Along::Steps).is_none());
        assert!(draw(&content(100, |_| 0.0), Quantity::Components, Along::Steps).is_some());
        assert!(draw(&content(1, |_| 0.0), Quantity::Elbo, Along::Steps).is_none());
    }
}
