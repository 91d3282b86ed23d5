//! One panel: axes and what is drawn between them.

use super::axis::Axis;
use super::labels::spread;
use super::layer::{Drawn, Layer};
use crate::frame::{Frame, Margins};
use crate::palette::Colour;
use crate::scale::{Scale, text_width};
use crate::svg::{Anchor, Drawing, Marks};

/// Height of a line of small text.
const LINE: f64 = 14.0;

/// A panel of a figure.
#[derive(Clone, Debug, Default)]
pub struct Panel {
    title: String,
    x: Axis,
    y: Axis,
    layers: Vec<Layer>,
}

impl Panel {
    /// A panel with a title above it, which may be empty.
    pub fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), ..Self::default() }
    }

    /// With this horizontal axis.
    #[must_use]
    pub fn x(mut self, axis: Axis) -> Self {
        self.x = axis;
        self
    }

    /// With this vertical axis; its label stands above it.
    #[must_use]
    pub fn y(mut self, axis: Axis) -> Self {
        self.y = axis;
        self
    }

    /// With something more on top.
    #[must_use]
    #[allow(clippy::should_implement_trait, reason = "a layer is put onto a panel, and no sum is meant")]
    pub fn add(mut self, layer: impl Into<Layer>) -> Self {
        self.layers.push(layer.into());
        self
    }

    /// The layers with their colours.
    pub(crate) fn coloured(&self) -> impl Iterator<Item = (&dyn Drawn, Colour)> {
        let mut next = 0;
        self.layers.iter().map(move |Layer(layer)| {
            let own = layer.look().colour;
            let colour = own.unwrap_or_else(|| Colour::nth(next));
            next += usize::from(own.is_none() && layer.takes_colour());
            (layer.as_ref(), colour)
        })
    }

    fn scales(&self) -> (Scale, Scale) {
        let places: Vec<(f64, f64)> = self.layers.iter().flat_map(|Layer(layer)| layer.places()).collect();
        let rests = self.layers.iter().any(|Layer(layer)| layer.rests());
        let exact = self.layers.iter().any(|Layer(layer)| layer.fills());
        let room = |axis: &Axis, values: &dyn Fn(&(f64, f64)) -> f64, rests| {
            axis.scale(places.iter().map(values), rests, exact)
        };
        (room(&self.x, &|p| p.0, false), room(&self.y, &|p| p.1, rests))
    }

    fn y_ticks(&self) -> usize {
        self.y.ticks.unwrap_or(5)
    }

    /// The room that it needs around its frame.
    pub(crate) fn margins(&self) -> Margins {
        let numbers = self.scales().1.marks(self.y_ticks());
        let widest = numbers.iter().map(|(_, text)| text_width(text)).fold(0.0, f64::max);
        let lines = usize::from(!self.title.is_empty()) + usize::from(!self.y.label.is_empty());
        let labels = self.layers.iter().filter_map(|Layer(layer)| layer.look().label.as_deref());
        let named = labels.map(text_width).fold(0.0, f64::max);
        Margins {
            top: 10.0 + 17.0 * lines as f64,
            right: if named > 0.0 { named + 12.0 } else { 16.0 },
            bottom: if self.x.label.is_empty() { 24.0 } else { 40.0 }
                + if self.x.names.is_empty() { 0.0 } else { LINE },
            left: 12.0 + widest,
        }
    }

    pub(crate) fn draw(&self, size: (f64, f64), margins: Margins) -> Drawing {
        let (x, y) = self.scales();
        let frame = Frame::inside(size, margins, x, y);
        let mut marks = Marks::default();
        let mut above = frame.top - 10.0;
        if !self.y.label.is_empty() {
            marks.text("label strong", (1.0, above), Anchor::Start, &self.y.label);
            above -= 17.0;
        }
        if !self.title.is_empty() {
            marks.text("name", (1.0, above), Anchor::Start, &self.title);
        }
        frame.y_axis(&mut marks, self.y_ticks(), "");
        frame.clipped(&mut marks, |marks| {
            for (layer, colour) in self.coloured() {
                layer.draw(&frame, colour, marks);
            }
        });
        match self.x.names.as_slice() {
            [] => frame.x_axis(&mut marks, self.x.ticks.unwrap_or(5), &self.x.label),
            names => name_axis(names, &frame, &self.x.label, &mut marks),
        }
        for (layer, colour) in self.coloured() {
            layer.draw_over(&frame, colour, &mut marks);
        }
        self.name_ends(&frame, &mut marks);
        let (title, description) = (self.title.clone(), format!("{} against {}.", self.y.label, self.x.label));
        Drawing { width: size.0, height: size.1, title, description, attributes: String::new(), marks }
    }

    /// Names of lines right of the frame, joined to their ends where they had to move.
    fn name_ends(&self, frame: &Frame, marks: &mut Marks) {
        let named: Vec<(&str, Colour, (f64, f64))> = self
            .coloured()
            .filter_map(|(layer, colour)| {
                let (x, y) = layer.end()?;
                let (x, y) = frame.at(x, y);
                let inside = (x.min(frame.right()), y.clamp(frame.top, frame.bottom()));
                Some((layer.look().label.as_deref()?, colour, inside))
            })
            .collect();
        let wanted: Vec<f64> = named.iter().map(|(_, _, (_, y))| *y).collect();
        let places = spread(&wanted, LINE, (frame.top + 2.0, frame.bottom() - 2.0));
        for ((name, colour, (x, y)), place) in named.into_iter().zip(places) {
            let start = frame.right() + 2.0;
            if (place - y).abs() > 2.0 || start - x > 12.0 {
                marks.line(&format!("{}-stroke leader", colour.name()), (x + 2.0, y), (start + 5.0, place));
            }
            marks.text(&format!("{}-text", colour.name()), (start + 6.0, place + 4.0), Anchor::Start, name);
        }
    }
}

/// Names below the frame, in two rows where they would meet.
fn name_axis(names: &[String], frame: &Frame, label: &str, marks: &mut Marks) {
    let y = frame.bottom();
    let step = frame.x.at(1.0) - frame.x.at(0.0);
    let in_two_rows = names.windows(2).any(|w| 0.5 * (text_width(&w[0]) + text_width(&w[1])) + 6.0 > step);
    marks.line("base", (frame.left, y), (frame.right(), y));
    for (i, name) in names.iter().enumerate() {
        let row = if in_two_rows { (i % 2) as f64 } else { 0.0 };
        marks.text("tick", (frame.x.at(i as f64), y + 16.0 + LINE * row), Anchor::Middle, name);
    }
    if !label.is_empty() {
        marks.text("label", (frame.right(), y + 31.0 + LINE), Anchor::End, label);
    }
}
