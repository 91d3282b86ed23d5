//! Bars over names.

use super::layer::Drawn;
use super::look::{Look, looks};
use crate::frame::Frame;
use crate::palette::Colour;
use crate::svg::Marks;

/// Bars that stand on zero, at 0, 1, 2, … of an axis of names.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bars {
    heights: Vec<f64>,
    errors: Vec<f64>,
    place: usize,
    of: usize,
    pub(crate) look: Look,
}

looks!(Bars);

impl Bars {
    /// With these heights, one for each name; what is not finite has no bar.
    pub fn new(heights: impl IntoIterator<Item = f64>) -> Self {
        Self { heights: heights.into_iter().collect(), of: 1, ..Self::default() }
    }

    /// With a line from height − error to height + error.
    #[must_use]
    pub fn errors(mut self, errors: impl IntoIterator<Item = f64>) -> Self {
        self.errors = errors.into_iter().collect();
        self
    }

    /// Number `place`, from 0, of `of` bars side by side at every name.
    #[must_use]
    pub fn beside(mut self, place: usize, of: usize) -> Self {
        (self.place, self.of) = (place, of.max(1));
        self
    }

    /// Left end and width of bar `i`, in names.
    fn span(&self, i: usize) -> (f64, f64) {
        const SHARE: f64 = 0.72;
        let width = SHARE / self.of as f64;
        (i as f64 - 0.5 * SHARE + width * self.place as f64, width)
    }
}

impl Drawn for Bars {
    fn look(&self) -> &Look {
        &self.look
    }

    fn places(&self) -> Vec<(f64, f64)> {
        let error = |i: usize| self.errors.get(i).copied().filter(|e| e.is_finite()).unwrap_or(0.0);
        let ends = |(i, h): (usize, &f64)| {
            let (left, width) = self.span(i);
            [(left, *h - error(i)), (left + width, *h + error(i)), (f64::NAN, 0.0)]
        };
        self.heights.iter().enumerate().flat_map(ends).collect()
    }

    fn rests(&self) -> bool {
        true
    }

    fn draw(&self, frame: &Frame, colour: Colour, marks: &mut Marks) {
        for (i, height) in self.heights.iter().enumerate().filter(|(_, h)| h.is_finite()) {
            let (left, width) = self.span(i);
            let base = if frame.y.is_log { frame.bottom() } else { frame.y.at(0.0) };
            let (x, y) = frame.at(left, *height);
            let gap = if self.of > 1 { 1.0 } else { 0.0 };
            let size = (frame.x.at(left + width) - x - gap, (base - y).abs());
            marks.rect(&format!("{}-fill", colour.name()), (x, y.min(base)), size);
            if let Some(error) = self.errors.get(i).filter(|e| e.is_finite()) {
                let middle = left + 0.5 * width;
                let class = "ink-stroke whisker";
                marks.line(class, frame.at(middle, height - error), frame.at(middle, height + error));
            }
        }
    }

    fn end(&self) -> Option<(f64, f64)> {
        Some(((self.heights.len() as f64 - 1.0).max(0.0), self.heights.last().copied().filter(|h| h.is_finite())?))
    }

    fn symbol(&self, (x, y): (f64, f64), colour: Colour, marks: &mut Marks) {
        marks.rect(&format!("{}-fill", colour.name()), (x + 3.0, y - 6.0), (12.0, 12.0));
    }
}
