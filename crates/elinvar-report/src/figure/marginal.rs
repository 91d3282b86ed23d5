//! The density of one parameter: q filled, what importance weights make of it as a line.

use crate::content::{Content, MarginalLaw, Parameter};
use elinvar_figure::estimate::bandwidth::bandwidth;
use elinvar_figure::estimate::density::{Density, density};
use elinvar_figure::estimate::sample::Sample;
use elinvar_figure::frame::{Frame, Margins};
use elinvar_figure::number;
use elinvar_figure::scale::{Scale, text_width};
use elinvar_figure::svg::{self, Anchor, Drawing, Marks};

/// Size of a panel among many.
const SMALL: (f64, f64) = (208.0, 132.0);
/// Size of a panel among few.
const LARGE: (f64, f64) = (340.0, 200.0);
/// Up to so many are few.
pub(crate) const FEW: usize = 4;
const POINTS: usize = 101;
/// Longer names are cut.
const NAME_CHARS: usize = 26;

/// The panel of parameter `index`; `None` if it has no draws that differ.
pub(crate) fn draw(content: &Content, index: usize) -> Option<Drawing> {
    let parameter = content.parameters.get(index)?;
    let q = content.draws.sample(index)?;
    let p = content.corrected_draws.as_ref().and_then(|draws| draws.sample(index));
    let bounds = (parameter.lower, parameter.upper);
    let width_q = bandwidth(&q);
    let range = shown_range(&q, p.as_ref(), width_q, bounds);
    let of_q = match parameter.law {
        Some(law) => exact(law, range),
        None => density(&q, width_q, range, bounds, POINTS),
    };
    let of_p = p.map(|p| {
        // Few effective draws, or draws that repeat, would make a narrow kernel and a line of spikes.
        let wider = width_q * (q.effective_len() / p.effective_len()).max(1.0).powf(0.2);
        density(&p, bandwidth(&p).max(wider), range, bounds, POINTS)
    });
    let peak = of_p.as_ref().map_or(0.0, Density::peak).max(of_q.peak());

    let size = if content.parameters.len() <= FEW { LARGE } else { SMALL };
    let margins = Margins { top: 24.0, right: 8.0, bottom: 22.0, left: 2.0 };
    let frame =
        Frame::inside(size, margins, Scale::linear(range, (0.0, 1.0)), Scale::linear((0.0, 1.06 * peak), (0.0, 1.0)));
    let mut marks = Marks::default();
    marks.text("name", (frame.left, 14.0), Anchor::Start, &shortened(&parameter.name, NAME_CHARS));
    if range.0 < 0.0 && range.1 > 0.0 {
        let zero = frame.x.at(0.0);
        marks.line("reference", (zero, frame.top), (zero, frame.bottom()));
    }
    let curve = |d: &Density| d.points().map(|(x, y)| frame.at(x, y)).collect::<Vec<_>>();
    let line = curve(&of_q);
    let ends = [(frame.right(), frame.bottom()), (frame.left, frame.bottom())];
    marks.path("q-area", &svg::path(line.iter().copied().chain(ends), true));
    marks.path("q-line", &svg::path(line.into_iter(), false));
    if let Some(of_p) = &of_p {
        marks.path("p-line", &svg::path(curve(of_p).into_iter(), false));
    }
    // The 90 % interval of the answer, on the axis.
    let of = parameter.corrected.unwrap_or(parameter.summary);
    let within = |x: f64| frame.x.at(x.max(range.0).min(range.1));
    let class = if parameter.corrected.is_some() { "p-thick" } else { "thick" };
    if of.q5 < of.q95 {
        marks.line(class, (within(of.q5), frame.bottom()), (within(of.q95), frame.bottom()));
    }
    axis(&frame, size.0, &mut marks);
    Some(Drawing {
        width: size.0,
        height: size.1,
        title: format!("Density of {}", parameter.name),
        description: description(parameter),
        attributes: String::new(),
        marks,
    })
}

/// A density that is known, on the same points.
fn exact(law: MarginalLaw, (low, high): (f64, f64)) -> Density {
    let step = (high - low) / (POINTS - 1) as f64;
    Density { low, high, values: (0..POINTS).map(|i| law.density(low + step * i as f64)).collect() }
}

/// The axis of a small panel: marks whose labels would leave it are pulled in.
fn axis(frame: &Frame, width: f64, marks: &mut Marks) {
    let y = frame.bottom();
    marks.line("base", (frame.left, y), (frame.right(), y));
    for (value, text) in frame.x.marks_with_room(4) {
        let x = frame.x.at(value);
        let half = 0.5 * text_width(&text);
        let anchor = match x {
            x if x - half < 0.0 => Anchor::Start,
            x if x + half > width => Anchor::End,
            _ => Anchor::Middle,
        };
        let at = match anchor {
            Anchor::Start => frame.left - 2.0,
            Anchor::End => width,
            Anchor::Middle => x,
        };
        marks.line("base", (x, y), (x, y + 4.0));
        marks.text("tick", (at, y + 16.0), anchor, &text);
    }
}

/// The central part of both samples, a little widened, within the bounds.
pub(crate) fn shown_range(
    q: &Sample,
    p: Option<&Sample>,
    bandwidth: f64,
    (lower, upper): (Option<f64>, Option<f64>),
) -> (f64, f64) {
    const TAIL: f64 = 0.002;
    let ends = |s: &Sample| (s.quantile(TAIL), s.quantile(1.0 - TAIL));
    let (mut low, mut high) = ends(q);
    if let Some((p_low, p_high)) = p.map(ends) {
        (low, high) = (low.min(p_low), high.max(p_high));
    }
    if low >= high {
        (low, high) = q.range();
    }
    let pad = (2.0 * bandwidth).min(0.15 * (high - low));
    (lower.map_or(low - pad, |bound| bound.max(low - pad)), upper.map_or(high + pad, |bound| bound.min(high + pad)))
}

/// A name that fits, its end marked if something is left out.
pub(crate) fn shortened(name: &str, most: usize) -> String {
    match name.chars().count() {
        n if n > most => name.chars().take(most - 1).chain(['…']).collect(),
        _ => name.into(),
    }
}

fn description(parameter: &Parameter) -> String {
    let q = parameter.summary;
    let decimals = number::decimals(q.sd);
    let [mean, sd, q5, q95] = [q.mean, q.sd, q.q5, q.q95].map(|v| number::fixed(v, decimals));
    let weights = parameter.corrected.map_or(String::new(), |p| {
        let [mean, sd] = [p.mean, p.sd].map(|v| number::fixed(v, decimals));
        format!(" Corrected: mean {mean}, sd {sd}.")
    });
    format!("{}: mean {mean}, sd {sd}, 90 % between {q5} and {q95}.{weights}", parameter.name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::content::{Draws, Summary};

    #[test]
    fn a_name_with_markup_stays_text_and_a_constant_has_no_panel() {
        let parameter =
            |name: &str| Parameter { name: name.into(), summary: Summary::default(), ..Parameter::default() };
        let content = Content {
            parameters: vec![parameter("</text><script>"), parameter("constant")],
            draws: Draws {
                columns: vec![(0..200).map(|i| f64::from(i % 17)).collect(), vec![1.0; 200]],
                weights: Vec::new(),
            },
            ..Content::default()
        };
        let svg = draw(&content, 0).unwrap().standalone();
        assert!(!svg.contains("<script") && svg.contains("&lt;script&gt;"));
        assert!(draw(&content, 1).is_none());
        assert!(draw(&content, 2).is_none());
    }

    #[test]
    fn known_densities_have_mass_one_and_no_bumps() {
        let laws = [MarginalLaw::Normal { mean: 2.0, sd: 0.5 }, MarginalLaw::LogNormal { mean: 0.3, sd: 0.4 }];
        for (law, range) in laws.into_iter().zip([(-2.0, 6.0), (0.0, 12.0)]) {
            let found = exact(law, range);
            let step = (range.1 - range.0) / (POINTS - 1) as f64;
            let mass: f64 = found.values.iter().sum::<f64>() * step;
            assert!((mass - 1.0).abs() < 2e-3, "{law:?} {mass}");
            let turns = found.values.windows(3).filter(|w| (w[1] - w[0]) * (w[2] - w[1]) < 0.0).count();
            assert_eq!(turns, 1, "{law:?}");
        }
    }

    #[test]
    fn long_names_are_cut() {
        assert_eq!(shortened("abcdef", 4), "abc…");
        assert_eq!(shortened("äöü", 3), "äöü");
    }
}
