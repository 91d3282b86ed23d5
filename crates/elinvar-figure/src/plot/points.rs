//! Points, with bars of their errors.

use super::layer::Drawn;
use super::look::{Look, looks};
use crate::frame::Frame;
use crate::palette::Colour;
use crate::svg::{self, Marks};

/// The shape of a point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Marker {
    /// A disc.
    #[default]
    Disc,
    /// A circle with paper inside.
    Circle,
    /// A square.
    Square,
    /// A triangle.
    Triangle,
    /// A cross.
    Cross,
}

/// Points that are not joined.
#[derive(Clone, Debug, PartialEq)]
pub struct Points {
    points: Vec<(f64, f64)>,
    bars: Vec<(f64, f64)>,
    marker: Marker,
    radius: f64,
    is_faint: bool,
    pub(crate) look: Look,
}

looks!(Points);

impl Points {
    /// At these places.
    pub fn new(points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        Self {
            points: points.into_iter().collect(),
            bars: Vec::new(),
            marker: Marker::Disc,
            radius: 3.2,
            is_faint: false,
            look: Look::default(),
        }
    }

    /// At (x, y) with vertical bars from y − error to y + error.
    pub fn with_error(points: impl IntoIterator<Item = (f64, f64, f64)>) -> Self {
        let points: Vec<_> = points.into_iter().collect();
        let bars = points.iter().map(|(_, y, e)| (y - e, y + e)).collect();
        Self { bars, ..Self::new(points.iter().map(|(x, y, _)| (*x, *y))) }
    }

    /// At (x, y) with vertical bars from the third number to the fourth.
    pub fn with_bars(points: impl IntoIterator<Item = (f64, f64, f64, f64)>) -> Self {
        let points: Vec<_> = points.into_iter().collect();
        let bars = points.iter().map(|(_, _, low, high)| (*low, *high)).collect();
        Self { bars, ..Self::new(points.iter().map(|(x, y, _, _)| (*x, *y))) }
    }

    /// In this shape.
    #[must_use]
    pub fn marker(mut self, marker: Marker) -> Self {
        self.marker = marker;
        self
    }

    /// So large: the radius in pixels, 3.2 without it.
    #[must_use]
    pub fn radius(mut self, radius: f64) -> Self {
        self.radius = radius;
        self
    }

    /// So that one sees through them, for clouds of many.
    #[must_use]
    pub fn faint(mut self) -> Self {
        self.is_faint = true;
        self
    }

    fn mark(&self, (x, y): (f64, f64), colour: Colour, marks: &mut Marks) {
        let r = self.radius;
        let name = colour.name();
        let fill = format!("{name}-fill{}", if self.is_faint { " faint" } else { "" });
        let around = |corners: &[(f64, f64)]| svg::path(corners.iter().map(|(dx, dy)| (x + r * dx, y + r * dy)), true);
        match self.marker {
            Marker::Disc => marks.circle(&fill, (x, y), r),
            Marker::Circle => {
                let (a, b, r) = (svg::place(x - r), svg::place(y), svg::place(r));
                let turn = svg::place(2.0 * self.radius);
                marks.path(
                    &format!("{name}-stroke open"),
                    &format!("M{a} {b}a{r} {r} 0 1 0 {turn} 0a{r} {r} 0 1 0 -{turn} 0Z"),
                );
            }
            Marker::Square => marks.path(&fill, &around(&[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)])),
            Marker::Triangle => marks.path(&fill, &around(&[(0.0, -1.2), (1.1, 0.8), (-1.1, 0.8)])),
            Marker::Cross => {
                let class = format!("{name}-stroke curve");
                marks.line(&class, (x - r, y - r), (x + r, y + r));
                marks.line(&class, (x - r, y + r), (x + r, y - r));
            }
        }
    }
}

impl Drawn for Points {
    fn look(&self) -> &Look {
        &self.look
    }

    fn places(&self) -> Vec<(f64, f64)> {
        let bars = self.points.iter().zip(&self.bars).flat_map(|((x, _), (low, high))| [(*x, *low), (*x, *high)]);
        self.points.iter().copied().chain(bars).collect()
    }

    fn draw(&self, frame: &Frame, colour: Colour, marks: &mut Marks) {
        for ((x, _), (low, high)) in self.points.iter().zip(&self.bars) {
            if x.is_finite() && low.is_finite() && high.is_finite() {
                let class = format!("{}-stroke whisker", colour.name());
                marks.line(&class, frame.at(*x, *low), frame.at(*x, *high));
            }
        }
        for (x, y) in &self.points {
            if frame.x.holds(*x) && frame.y.holds(*y) {
                self.mark(frame.at(*x, *y), colour, marks);
            }
        }
    }

    fn end(&self) -> Option<(f64, f64)> {
        self.points.last().copied().filter(|(x, y)| x.is_finite() && y.is_finite())
    }

    fn symbol(&self, (x, y): (f64, f64), colour: Colour, marks: &mut Marks) {
        if !self.bars.is_empty() {
            marks.line(&format!("{}-stroke whisker", colour.name()), (x + 9.0, y - 7.0), (x + 9.0, y + 7.0));
        }
        self.mark((x + 9.0, y), colour, marks);
    }
}
