//! The rectangle that data is drawn in, with its axes.

use crate::scale::Scale;
use crate::svg::{Anchor, Marks};

/// A rectangle and the scales of its sides.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    /// Left edge.
    pub left: f64,
    /// Upper edge.
    pub top: f64,
    /// Width.
    pub width: f64,
    /// Height.
    pub height: f64,
    /// Scale along the lower edge.
    pub x: Scale,
    /// Scale along the left edge.
    pub y: Scale,
}

/// Room around a frame.
#[derive(Clone, Copy, Debug)]
pub struct Margins {
    /// Above.
    pub top: f64,
    /// To the right.
    pub right: f64,
    /// Below.
    pub bottom: f64,
    /// To the left.
    pub left: f64,
}

impl Frame {
    /// A frame inside a drawing of this size; the scales' places are set here.
    pub fn inside((width, height): (f64, f64), margins: Margins, mut x: Scale, mut y: Scale) -> Self {
        let Margins { top, right, bottom, left } = margins;
        x.places = (left, width - right);
        y.places = (height - bottom, top);
        Self { left, top, width: width - left - right, height: height - top - bottom, x, y }
    }

    /// The place of a pair of numbers.
    pub fn at(&self, x: f64, y: f64) -> (f64, f64) {
        (self.x.at(x), self.y.at(y))
    }

    /// The lower edge.
    pub fn bottom(&self) -> f64 {
        self.top + self.height
    }

    /// The right edge.
    pub fn right(&self) -> f64 {
        self.left + self.width
    }

    /// The axis along the lower edge.
    pub fn x_axis(&self, marks: &mut Marks, target: usize, label: &str) {
        let y = self.bottom();
        marks.group("axis-x", "", |marks| {
            marks.line("base", (self.left, y), (self.right(), y));
            for (value, text) in self.x.marks_with_room(target) {
                let x = self.x.at(value);
                marks.line("base", (x, y), (x, y + 4.0));
                marks.text("tick", (x, y + 16.0), Anchor::Middle, &text);
            }
        });
        if !label.is_empty() {
            marks.text("label", (self.right(), y + 31.0), Anchor::End, label);
        }
    }

    /// Horizontal lines with their numbers at the left, and the label above them.
    pub fn y_axis(&self, marks: &mut Marks, target: usize, label: &str) {
        marks.group("axis-y", "", |marks| {
            for (value, text) in self.y.marks(target) {
                let y = self.y.at(value);
                marks.line("grid", (self.left, y), (self.right(), y));
                marks.text("tick", (self.left - 7.0, y + 4.0), Anchor::End, &text);
            }
        });
        if !label.is_empty() {
            marks.text("label strong", (1.0, self.top - 10.0), Anchor::Start, label);
        }
    }

    /// Marks that are cut off at the edges.
    pub fn clipped(&self, marks: &mut Marks, inside: impl FnOnce(&mut Marks)) {
        marks.clipped("plot", (self.left, self.top), (self.width, self.height), inside);
    }

    /// Attributes from which a script can draw the data again.
    pub fn attributes(&self) -> String {
        let Self { left, top, width, height, x, y } = self;
        let kind = |scale: &Scale| if scale.is_log { "log" } else { "linear" };
        format!(
            r#" data-frame="{left} {top} {width} {height}" data-x="{} {} {}" data-y="{} {} {}""#,
            kind(x),
            x.domain.0,
            x.domain.1,
            kind(y),
            y.domain.0,
            y.domain.1
        )
    }
}
