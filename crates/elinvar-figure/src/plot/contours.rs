//! Lines of equal height of a function of two variables, or around shares of draws.

use super::layer::Drawn;
use super::look::{Look, looks};
use crate::estimate::contour::contours;
use crate::estimate::plane::{Plane, widths};
use crate::estimate::sample::Sample;
use crate::frame::Frame;
use crate::palette::Colour;
use crate::svg::{self, Marks};

/// Contour lines on a grid.
#[derive(Clone, Debug, Default)]
pub struct Contours {
    plane: Option<Plane>,
    levels: Vec<f64>,
    is_filled: bool,
    has_lines: bool,
    pub(crate) look: Look,
}

looks!(Contours);

/// Points of the grid per side.
const GRID: usize = 121;

impl Contours {
    /// Of a function at these heights, on a grid of 121 × 121 points over the two ranges.
    pub fn of_function(
        x: (f64, f64),
        y: (f64, f64),
        levels: impl IntoIterator<Item = f64>,
        f: impl Fn(f64, f64) -> f64,
    ) -> Self {
        let plane = evaluated(x, y, f);
        Self { plane: Some(plane), levels: levels.into_iter().collect(), has_lines: true, ..Self::default() }
    }

    /// Of a density, up to a factor, around the smallest regions that hold these shares of what it has on the grid.
    pub fn of_density(
        x: (f64, f64),
        y: (f64, f64),
        shares: impl IntoIterator<Item = f64>,
        density: impl Fn(f64, f64) -> f64,
    ) -> Self {
        let plane = evaluated(x, y, density);
        let levels = shares.into_iter().map(|share| plane.level(share)).collect();
        Self { plane: Some(plane), levels, has_lines: true, ..Self::default() }
    }

    /// Around the densest regions that hold these shares of draws; weights are equal if there are none. Nothing is
    /// drawn of draws that do not differ.
    pub fn of_draws(x: &[f64], y: &[f64], weights: &[f64], shares: impl IntoIterator<Item = f64>) -> Self {
        let (Some(of_x), Some(of_y)) = (Sample::new(x, weights), Sample::new(y, weights)) else {
            return Self::default();
        };
        let h = widths(&of_x, &of_y);
        let around = |s: &Sample, h: f64| (s.range().0 - 3.0 * h, s.range().1 + 3.0 * h);
        let weight = |i: usize| if weights.len() == x.len() { weights[i] } else { 1.0 };
        let pairs = x.iter().zip(y).enumerate().map(|(i, (x, y))| (*x, *y, weight(i)));
        let plane = Plane::estimate(pairs, h, around(&of_x, h.0), around(&of_y, h.1), GRID);
        let levels = shares.into_iter().map(|share| plane.level(share)).collect();
        Self { plane: Some(plane), levels, has_lines: true, ..Self::default() }
    }

    /// With the regions filled, the higher the deeper.
    #[must_use]
    pub fn filled(mut self) -> Self {
        self.is_filled = true;
        self
    }

    /// With filled regions and without lines.
    #[must_use]
    pub fn fill_only(mut self) -> Self {
        (self.is_filled, self.has_lines) = (true, false);
        self
    }
}

fn evaluated(x: (f64, f64), y: (f64, f64), f: impl Fn(f64, f64) -> f64) -> Plane {
    let mut plane = Plane { len: GRID, x, y, values: Vec::new() };
    let at = |k: usize| {
        let (x, y) = plane.place(((k % GRID) as f64, (k / GRID) as f64));
        let value = f(x, y);
        if value.is_nan() { f64::NEG_INFINITY } else { value }
    };
    plane.values = (0..GRID * GRID).map(at).collect();
    plane
}

/// A closed line without the parts along the border of the grid, where it was only closed.
fn open_path(line: &[(f64, f64)], plane: &Plane, frame: &Frame) -> String {
    let last = (plane.len - 1) as f64;
    let on_border = |a: (f64, f64), b: (f64, f64)| {
        let both = |of: fn((f64, f64)) -> f64, at: f64| of(a) == at && of(b) == at;
        both(|p| p.0, 0.0) || both(|p| p.0, last) || both(|p| p.1, 0.0) || both(|p| p.1, last)
    };
    let n = line.len();
    let is_gap = |i: usize| on_border(line[i], line[(i + 1) % n]);
    let place = |i: usize| {
        let (x, y) = plane.place(line[i % n]);
        frame.at(x, y)
    };
    let Some(gap) = (0..n).find(|i| is_gap(*i)) else {
        return svg::path((0..n).map(place), true);
    };
    // From behind a gap round to it, cut at every other.
    let mut pieces = String::new();
    let mut piece = Vec::new();
    for i in (gap + 1)..=(gap + n) {
        piece.push(place(i));
        if is_gap(i % n) {
            if piece.len() > 1 {
                pieces += &svg::path(piece.iter().copied(), false);
            }
            piece.clear();
        }
    }
    pieces
}

impl Drawn for Contours {
    fn look(&self) -> &Look {
        &self.look
    }

    fn places(&self) -> Vec<(f64, f64)> {
        self.plane.iter().flat_map(|p| [(p.x.0, p.y.0), (p.x.1, p.y.1)]).collect()
    }

    fn fills(&self) -> bool {
        true
    }

    fn draw(&self, frame: &Frame, colour: Colour, marks: &mut Marks) {
        let Some(plane) = &self.plane else { return };
        let mut levels: Vec<f64> = self.levels.iter().copied().filter(|level| level.is_finite()).collect();
        levels.sort_by(f64::total_cmp);
        for level in levels {
            let lines = contours(&plane.values, plane.len, level);
            if self.is_filled {
                let place = |p: &(f64, f64)| {
                    let (x, y) = plane.place(*p);
                    frame.at(x, y)
                };
                let d: String = lines.iter().map(|line| svg::path(line.iter().map(place), true)).collect();
                marks.path(&format!("{}-fill soft", colour.name()), &d);
            }
            if self.has_lines {
                let d: String = lines.iter().map(|line| open_path(line, plane, frame)).collect();
                marks.path(&self.look.line(colour), &d);
            }
        }
    }

    fn end(&self) -> Option<(f64, f64)> {
        None
    }

    fn symbol(&self, (x, y): (f64, f64), colour: Colour, marks: &mut Marks) {
        if self.is_filled {
            marks.rect(&format!("{}-fill soft", colour.name()), (x, y - 6.0), (18.0, 12.0));
        }
        if self.has_lines {
            let corners = [(x, y - 6.0), (x + 18.0, y - 6.0), (x + 18.0, y + 6.0), (x, y + 6.0)];
            let d = if self.is_filled {
                svg::path(corners.into_iter(), true)
            } else {
                svg::path([(x, y), (x + 18.0, y)].into_iter(), false)
            };
            marks.path(&self.look.line(colour), &d);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::Margins;
    use crate::scale::Scale;

    #[test]
    fn lines_end_at_the_border_of_the_grid() {
        let unit = Scale::linear((0.0, 1.0), (0.0, 1.0));
        let margins = Margins { top: 0.0, right: 0.0, bottom: 0.0, left: 0.0 };
        let frame = Frame::inside((100.0, 100.0), margins, unit, unit);
        let path = |f: fn(f64, f64) -> f64| {
            let plane = evaluated((0.0, 1.0), (0.0, 1.0), f);
            contours(&plane.values, plane.len, 0.0)
                .iter()
                .map(|line| open_path(line, &plane, &frame))
                .collect::<String>()
        };
        // x > ½ is bounded by one vertical line, and by the border, which is not drawn.
        let half = path(|x, _| x - 0.5);
        assert_eq!(half.matches('M').count(), 1, "{half}");
        assert!(!half.contains('Z') && half.split(['M', 'L']).skip(1).all(|p| p.starts_with("50 ")), "{half}");
        let disc = path(|x, y| 0.1 - (x - 0.5).powi(2) - (y - 0.5).powi(2));
        assert!(disc.ends_with('Z') && disc.matches('M').count() == 1);
    }
}
