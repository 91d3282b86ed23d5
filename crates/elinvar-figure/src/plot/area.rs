//! Filled densities and histograms.

use super::layer::Drawn;
use super::look::{Look, looks};
use crate::estimate::bandwidth::bandwidth;
use crate::estimate::density::density;
use crate::estimate::sample::Sample;
use crate::frame::Frame;
use crate::palette::Colour;
use crate::svg::{self, Marks};

/// The area between zero and a line.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Area {
    points: Vec<(f64, f64)>,
    pub(crate) look: Look,
}

looks!(Area);

impl Area {
    /// Below these points, from left to right.
    pub fn under(points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        Self { points: points.into_iter().filter(|(x, y)| x.is_finite() && y.is_finite()).collect(), ..Self::default() }
    }

    /// The density of draws by a Gaussian kernel, whose width is chosen for them; weights are equal if there are none.
    /// Nothing is drawn of fewer than two different draws.
    pub fn density(draws: &[f64], weights: &[f64]) -> Self {
        const POINTS: usize = 201;
        let Some(sample) = Sample::new(draws, weights) else { return Self::default() };
        let h = bandwidth(&sample);
        let (low, high) = sample.range();
        let estimate = density(&sample, h, (low - 3.0 * h, high + 3.0 * h), (None, None), POINTS);
        Self::under(estimate.points())
    }

    /// A histogram of draws with so many equal bins, as a density: its area is one.
    pub fn histogram(draws: &[f64], bins: usize) -> Self {
        let finite: Vec<f64> = draws.iter().copied().filter(|v| v.is_finite()).collect();
        let (low, high) = crate::scale::extent(finite.iter().copied(), 0.0);
        if bins == 0 || low >= high {
            return Self::default();
        }
        let width = (high - low) / bins as f64;
        let mut counts = vec![0.0; bins];
        for v in &finite {
            counts[(((v - low) / width) as usize).min(bins - 1)] += 1.0 / (finite.len() as f64 * width);
        }
        let edge = |i: usize| low + width * i as f64;
        Self::under(counts.iter().enumerate().flat_map(|(i, y)| [(edge(i), *y), (edge(i + 1), *y)]))
    }

    /// The largest value.
    pub fn peak(&self) -> f64 {
        self.points.iter().map(|(_, y)| *y).fold(0.0, f64::max)
    }
}

impl Drawn for Area {
    fn look(&self) -> &Look {
        &self.look
    }

    fn places(&self) -> Vec<(f64, f64)> {
        self.points.iter().copied().chain([(f64::NAN, 0.0)]).collect()
    }

    fn rests(&self) -> bool {
        true
    }

    fn draw(&self, frame: &Frame, colour: Colour, marks: &mut Marks) {
        let (Some(first), Some(last)) = (self.points.first(), self.points.last()) else { return };
        let base = if frame.y.is_log { frame.bottom() } else { frame.y.at(0.0) };
        let line: Vec<(f64, f64)> = self.points.iter().map(|(x, y)| frame.at(*x, *y)).collect();
        let ends = [(frame.x.at(last.0), base), (frame.x.at(first.0), base)];
        marks.path(&format!("{}-fill soft", colour.name()), &svg::path(line.iter().copied().chain(ends), true));
        marks.path(&self.look.line(colour), &svg::path(line.into_iter(), false));
    }

    fn end(&self) -> Option<(f64, f64)> {
        self.points.last().copied()
    }

    fn symbol(&self, (x, y): (f64, f64), colour: Colour, marks: &mut Marks) {
        marks.rect(&format!("{}-fill soft", colour.name()), (x, y - 5.0), (18.0, 11.0));
        marks.line(&self.look.line(colour), (x, y - 5.0), (x + 18.0, y - 5.0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn areas_are_one() {
        let area = |shape: &Area| -> f64 {
            shape.points.windows(2).map(|w| 0.5 * (w[1].0 - w[0].0) * (w[0].1 + w[1].1)).sum()
        };
        let draws: Vec<f64> = (0..500).map(|i| (f64::from(i) * 0.37).sin() + 0.01 * f64::from(i % 50)).collect();
        assert!((area(&Area::density(&draws, &[])) - 1.0).abs() < 1e-2);
        assert!((area(&Area::histogram(&draws, 20)) - 1.0).abs() < 1e-9);
        assert_eq!(Area::histogram(&[1.0, 1.0], 5), Area::default());
        assert_eq!(Area::density(&[f64::NAN], &[]), Area::default());
    }
}
