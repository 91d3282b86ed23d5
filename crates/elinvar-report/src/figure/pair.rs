//! Two parameters: regions that hold 50 % and 90 % of q, and the same of the corrected draws as lines.

use super::marginal::{shortened, shown_range};
use crate::content::{Content, Draws};
use elinvar_figure::estimate::contour::contours;
use elinvar_figure::estimate::plane::{Plane, widths};
use elinvar_figure::estimate::sample::Sample;
use elinvar_figure::frame::{Frame, Margins};
use elinvar_figure::scale::Scale;
use elinvar_figure::svg::{self, Drawing, Marks};

const SIZE: (f64, f64) = (300.0, 290.0);
const GRID: usize = 72;
/// Shares of the mass that are outlined.
const SHARES: [f64; 2] = [0.9, 0.5];
/// Draws that are shown as dots.
const DOTS: usize = 200;

/// Parameter `j` against parameter `i`; `None` if one has no draws that differ.
pub(crate) fn draw(content: &Content, i: usize, j: usize) -> Option<Drawing> {
    let (x, y) = (content.parameters.get(i)?, content.parameters.get(j)?);
    let q = (content.draws.sample(i)?, content.draws.sample(j)?);
    let corrected = content.corrected_draws.as_ref();
    let p = corrected.and_then(|draws| Some((draws, draws.sample(i)?, draws.sample(j)?)));
    let h_q = widths(&q.0, &q.1);
    let range = |q: &Sample, p: Option<&Sample>, h: f64, bounds| shown_range(q, p, h, bounds);
    let x_range = range(&q.0, p.as_ref().map(|p| &p.1), h_q.0, (x.lower, x.upper));
    let y_range = range(&q.1, p.as_ref().map(|p| &p.2), h_q.1, (y.lower, y.upper));

    let margins = Margins { top: 24.0, right: 10.0, bottom: 38.0, left: 46.0 };
    let frame = Frame::inside(SIZE, margins, Scale::linear(x_range, (0.0, 1.0)), Scale::linear(y_range, (0.0, 1.0)));
    let mut marks = Marks::default();
    frame.y_axis(&mut marks, 4, &shortened(&y.name, 30));
    let of_q = Plane::estimate(pairs(&content.draws, i, j), h_q, x_range, y_range, GRID);
    frame.clipped(&mut marks, |marks| {
        for (share, class) in SHARES.into_iter().zip(["q-area", "q-deep"]) {
            let d = outline(&of_q, share, &frame);
            marks.path(class, &d);
            marks.path("q-line", &d);
        }
        if let Some((draws, p_x, p_y)) = &p {
            let h = widths(p_x, p_y);
            let few = (q.0.effective_len() / p_x.effective_len()).max(1.0).powf(1.0 / 6.0);
            let h = (h.0.max(few * h_q.0), h.1.max(few * h_q.1));
            dots(draws, i, j, &frame, marks);
            let of_p = Plane::estimate(pairs(draws, i, j), h, x_range, y_range, GRID);
            for share in SHARES {
                marks.path("p-line", &outline(&of_p, share, &frame));
            }
        }
    });
    frame.x_axis(&mut marks, 4, &shortened(&x.name, 34));
    Some(Drawing {
        width: SIZE.0,
        height: SIZE.1,
        title: format!("{} against {}", y.name, x.name),
        description: format!(
            "Regions that hold 50 % and 90 % of the draws of {} and {}: filled for the approximation, lines after \
             importance weights.",
            x.name, y.name
        ),
        attributes: String::new(),
        marks,
    })
}

fn pairs(draws: &Draws, i: usize, j: usize) -> impl Iterator<Item = (f64, f64, f64)> {
    let weighted = draws.weights.len() == draws.columns[i].len();
    let both = draws.columns[i].iter().zip(&draws.columns[j]).enumerate();
    both.map(move |(k, (x, y))| (*x, *y, if weighted { draws.weights[k] } else { 1.0 }))
}

/// The lines around the densest region of a share, as one path.
fn outline(plane: &Plane, share: f64, frame: &Frame) -> String {
    let lines = contours(&plane.values, plane.len, plane.level(share));
    let place = |point: &(f64, f64)| {
        let (x, y) = plane.place(*point);
        frame.at(x, y)
    };
    lines.iter().map(|line| svg::path(line.iter().map(place), true)).collect()
}

/// Draws that stand for equal shares of the weight.
fn dots(draws: &Draws, i: usize, j: usize, frame: &Frame, marks: &mut Marks) {
    let total: f64 = pairs(draws, i, j).map(|(_, _, weight)| weight).sum();
    let share = total / DOTS as f64;
    let (mut sum, mut next) = (0.0, 0.5 * share);
    for (x, y, weight) in pairs(draws, i, j) {
        sum += weight;
        if sum < next {
            continue;
        }
        // A draw that stands for several shares is one dot.
        next += share * (1.0 + ((sum - next) / share).floor());
        if frame.x.holds(x) && frame.y.holds(y) {
            marks.circle("p-dot", frame.at(x, y), 1.1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::content::Parameter;

    /// Two blobs, the second of which has no weight after correction.
    fn content(weights: Vec<f64>) -> Content {
        let blob = |centre: f64| (0..200).map(move |k| centre + (f64::from(k) * 0.7).sin());
        let columns: Vec<Vec<f64>> = (0..2).map(|_| blob(0.0).chain(blob(20.0)).collect()).collect();
        Content {
            parameters: vec![Parameter { name: "a".into(), ..Parameter::default() }, Parameter::default()],
            draws: Draws { columns: columns.clone(), weights: Vec::new() },
            corrected_draws: Some(Draws { columns, weights }),
            ..Content::default()
        }
    }

    #[test]
    fn draws_without_weight_are_not_seen() {
        let dots = |content: &Content| draw(content, 0, 1).map(|d| d.standalone().matches("\"p-dot\"").count());
        assert_eq!(dots(&content(Vec::new())), Some(200));
        let weights: Vec<f64> = (0..400).map(|k| if k < 200 { 1.0 } else { 0.0 }).collect();
        assert_eq!(dots(&content(weights)), Some(200));
        let single: Vec<f64> = (0..400).map(|k| if k == 7 || k == 8 { 1.0 } else { 1e-9 }).collect();
        assert_eq!(dots(&content(single)), Some(2));
    }
}
