//! Figures by what they show: panels, axes, and layers between them.

mod area;
mod axis;
mod bars;
mod contours;
mod labels;
mod layer;
mod line;
mod look;
mod panel;
mod points;
mod rule;

pub use area::Area;
pub use axis::Axis;
pub use bars::Bars;
pub use contours::Contours;
pub use layer::Layer;
pub use line::Line;
pub use look::{Dash, Width};
pub use panel::Panel;
pub use points::{Marker, Points};
pub use rule::{Note, Rule};

use layer::Drawn;

use crate::frame::Margins;
use crate::palette::Colour;
use crate::scale::text_width;
use crate::svg::{Anchor, Drawing, Legend, Marks};

/// Panels beside and below each other, and a key above them.
#[derive(Clone, Debug)]
pub struct Figure {
    title: String,
    description: String,
    panels: Vec<Panel>,
    columns: usize,
    size: (f64, f64),
}

impl Figure {
    /// A figure without panels; its title is not drawn, but read out to those who cannot see it.
    pub fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), description: String::new(), panels: Vec::new(), columns: 3, size: (320.0, 240.0) }
    }

    /// With words for those who cannot see it; without them, the names of the axes.
    #[must_use]
    pub fn describe(mut self, words: impl Into<String>) -> Self {
        self.description = words.into();
        self
    }

    /// With at most so many panels beside each other; three without it.
    #[must_use]
    pub fn columns(mut self, columns: usize) -> Self {
        self.columns = columns;
        self
    }

    /// With panels of this width and height in pixels, their axes and titles included; 320 × 240 without it.
    #[must_use]
    pub fn panel_size(mut self, width: f64, height: f64) -> Self {
        self.size = (width, height);
        self
    }

    /// With one panel more.
    #[must_use]
    pub fn panel(mut self, panel: Panel) -> Self {
        self.panels.push(panel);
        self
    }

    /// The marks, to be written alone or into a page.
    pub fn drawing(&self) -> Drawing {
        let columns = self.columns.clamp(1, self.panels.len().max(1));
        let needed: Vec<Margins> = self.panels.iter().map(Panel::margins).collect();
        // The same beside and below each other, so that axes stand in line.
        let most = |among: &dyn Fn(usize) -> bool, side: fn(&Margins) -> f64| {
            needed.iter().enumerate().filter(|(i, _)| among(*i)).map(|(_, margins)| side(margins)).fold(0.0, f64::max)
        };
        let margins = |i: usize| {
            let (in_row, in_column) = (|k: usize| k / columns == i / columns, |k: usize| k % columns == i % columns);
            Margins {
                top: most(&in_row, |m| m.top),
                right: most(&in_column, |m| m.right),
                bottom: most(&in_row, |m| m.bottom),
                left: most(&in_column, |m| m.left),
            }
        };
        let panels: Vec<Drawing> =
            self.panels.iter().enumerate().map(|(i, panel)| panel.draw(self.size, margins(i))).collect();
        let mut drawing = Drawing::grid(&self.title, &panels, columns, self.key(columns as f64 * self.size.0));
        if !self.description.is_empty() {
            drawing.description.clone_from(&self.description);
        }
        drawing
    }

    /// The figure as an SVG file in light colours.
    pub fn svg(&self) -> String {
        self.drawing().standalone()
    }

    /// The figure as a PNG file, `scale` pixels for each of its natural size.
    ///
    /// # Errors
    /// If `scale` is not positive or too large.
    #[cfg(feature = "png")]
    pub fn png(&self, scale: f32) -> Result<Vec<u8>, crate::png::PngError> {
        crate::png::png(&self.svg(), scale)
    }

    /// Every name once, in rows that are not wider than the figure.
    fn key(&self, most: f64) -> Option<Legend> {
        const ROW: f64 = 20.0;
        let mut entries: Vec<(&str, &dyn Drawn, Colour)> = Vec::new();
        for (layer, colour) in self.panels.iter().flat_map(Panel::coloured) {
            if let Some(name) = layer.look().key.as_deref()
                && !entries.iter().any(|(known, _, _)| *known == name)
            {
                entries.push((name, layer, colour));
            }
        }
        let mut marks = Marks::default();
        let (mut x, mut y, mut width) = (0.0, 10.0, 0.0_f64);
        for (name, layer, colour) in &entries {
            let wide = 24.0 + text_width(name);
            if x > 0.0 && x + wide > most {
                (x, y) = (0.0, y + ROW);
            }
            layer.symbol((x, y), *colour, &mut marks);
            marks.text(&format!("{}-text", colour.name()), (x + 24.0, y + 4.0), Anchor::Start, name);
            x += wide + 16.0;
            width = width.max(x - 16.0);
        }
        (!entries.is_empty()).then_some(Legend { width, height: y + ROW, marks })
    }
}
