//! Effects as a figure.

use elinvar_figure::{Axis, Colour, Figure, Line, Panel, Points};

use super::grid::Values;
use super::{Curve, Effects, Summary};
use crate::quantiles::percent;

impl Effects {
    /// A curve with its band for numbers, points with bars for categories and for few numbers.
    pub fn figure(&self) -> Figure {
        let by = &self.grid.by;
        let at = |place: f64, point: &Summary| (place, point.mean, point.low, point.high);
        let joined = |curve: &Curve, places: &[f64]| -> Vec<_> {
            places.iter().zip(&curve.points).map(|(place, point)| at(*place, point)).collect()
        };
        let mut panel = match &self.grid.values {
            // An axis of names has no name of its own.
            Values::Levels(levels) => Panel::new("")
                .x(Axis::names(levels.iter().cloned()))
                .y(Axis::linear(format!("{}, by {by}", self.label()))),
            Values::Range(_) | Values::Few(_) => Panel::new("").x(Axis::linear(by)).y(Axis::linear(self.label())),
        };
        let n_curves = self.curves.len();
        for (k, curve) in self.curves.iter().enumerate() {
            let colour = Colour::nth(k);
            let points = |places: &[f64]| {
                // Classes stand beside each other.
                let step = places.windows(2).map(|pair| pair[1] - pair[0]).fold(1.0, f64::min);
                let shift = 0.08 * step * (k as f64 - 0.5 * (n_curves as f64 - 1.0));
                let places: Vec<f64> = places.iter().map(|place| place + shift).collect();
                let points = Points::with_bars(joined(curve, &places)).colour(colour);
                if curve.name.is_empty() { points } else { points.key(&curve.name) }
            };
            panel = match &self.grid.values {
                Values::Range(numbers) => {
                    let line = Line::with_band(joined(curve, numbers)).colour(colour);
                    panel.add(if curve.name.is_empty() { line } else { line.key(&curve.name) })
                }
                Values::Few(numbers) => panel.add(points(numbers)),
                Values::Levels(levels) => {
                    let places: Vec<f64> = (0..levels.len()).map(|i| i as f64).collect();
                    panel.add(points(&places))
                }
            };
        }
        let interval = percent(self.interval);
        let held = self.held().unwrap_or_default();
        Figure::new(format!("Effect of {by} on {}", self.of))
            .describe(format!("{} over {by}, with {interval} % intervals. {held}", self.label()))
            .panel_size(480.0, 320.0)
            .panel(panel)
    }
}
