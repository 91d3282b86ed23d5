//! Lines, with bands of their errors.

use super::layer::Drawn;
use super::look::{Look, looks};
use crate::frame::Frame;
use crate::palette::Colour;
use crate::series::{Point, thin};
use crate::svg::{self, Marks};

/// A line through points.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Line {
    points: Vec<Point>,
    is_stairs: bool,
    pub(crate) look: Look,
}

looks!(Line);

impl Line {
    /// Through these points, in their order; those that are not finite leave a gap.
    pub fn new(points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        let points = points.into_iter().map(|(x, y)| Point { x, y, low: y, high: y }).collect();
        Self { points, ..Self::default() }
    }

    /// Through (x, y) with a band from y − error to y + error.
    pub fn with_error(points: impl IntoIterator<Item = (f64, f64, f64)>) -> Self {
        let points = points.into_iter().map(|(x, y, e)| Point { x, y, low: y - e, high: y + e }).collect();
        Self { points, ..Self::default() }
    }

    /// Through (x, y) with a band from the third number to the fourth.
    pub fn with_band(points: impl IntoIterator<Item = (f64, f64, f64, f64)>) -> Self {
        let points = points.into_iter().map(|(x, y, low, high)| Point { x, y, low, high }).collect();
        Self { points, ..Self::default() }
    }

    /// A function at 201 equally spaced points.
    pub fn of_function((low, high): (f64, f64), f: impl Fn(f64) -> f64) -> Self {
        const POINTS: u32 = 201;
        let x = |i: u32| low + (high - low) * f64::from(i) / f64::from(POINTS - 1);
        Self::new((0..POINTS).map(|i| (x(i), f(x(i)))))
    }

    /// Horizontal until the next point, and then straight up or down.
    #[must_use]
    pub fn stairs(mut self) -> Self {
        self.is_stairs = true;
        self
    }

    /// Runs of points that can be drawn.
    fn runs(&self, frame: &Frame) -> Vec<Vec<Point>> {
        let drawn = |p: &Point| {
            p.x.is_finite() && p.y.is_finite() && !(frame.x.is_log && p.x <= 0.0) && !(frame.y.is_log && p.y <= 0.0)
        };
        let runs = self.points.chunk_by(|a, b| drawn(a) && drawn(b)).filter(|run| drawn(&run[0]));
        runs.map(|run| thin(run, frame)).collect()
    }
}

impl Drawn for Line {
    fn look(&self) -> &Look {
        &self.look
    }

    fn places(&self) -> Vec<(f64, f64)> {
        self.points.iter().flat_map(|p| [(p.x, p.y), (p.x, p.low), (p.x, p.high)]).collect()
    }

    fn draw(&self, frame: &Frame, colour: Colour, marks: &mut Marks) {
        for run in self.runs(frame) {
            let banded: Vec<&Point> = run.iter().filter(|p| p.low.is_finite() && p.high.is_finite()).collect();
            if banded.iter().any(|p| p.low < p.high) {
                let up = banded.iter().map(|p| frame.at(p.x, p.high));
                let down = banded.iter().rev().map(|p| frame.at(p.x, p.low));
                marks.path(&format!("{}-fill soft", colour.name()), &svg::path(up.chain(down), true));
            }
            let mut places = Vec::with_capacity(2 * run.len());
            for (i, p) in run.iter().enumerate() {
                if self.is_stairs && i > 0 {
                    places.push(frame.at(p.x, run[i - 1].y));
                }
                places.push(frame.at(p.x, p.y));
            }
            marks.path(&self.look.line(colour), &svg::path(places.into_iter(), false));
        }
    }

    fn end(&self) -> Option<(f64, f64)> {
        self.points.iter().rev().map(|p| (p.x, p.y)).find(|(x, y)| x.is_finite() && y.is_finite())
    }

    fn symbol(&self, (x, y): (f64, f64), colour: Colour, marks: &mut Marks) {
        if self.points.iter().any(|p| p.low < p.high) {
            marks.rect(&format!("{}-fill soft", colour.name()), (x, y - 5.0), (18.0, 10.0));
        }
        marks.line(&self.look.line(colour), (x, y), (x + 18.0, y));
    }
}
