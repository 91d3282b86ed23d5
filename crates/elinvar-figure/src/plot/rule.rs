//! Reference lines and words inside a panel.

use super::layer::Drawn;
use super::look::{Look, looks};
use crate::frame::Frame;
use crate::palette::Colour;
use crate::svg::{Anchor, Marks};

/// A straight line across the panel, such as a known answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    at: f64,
    is_vertical: bool,
    words: String,
    pub(crate) look: Look,
}

looks!(Rule);

impl Rule {
    /// From left to right at height `y`, with words above it at the left; they may be empty.
    pub fn horizontal(y: f64, words: impl Into<String>) -> Self {
        Self { at: y, is_vertical: false, words: words.into(), look: dotted() }
    }

    /// From bottom to top at `x`, with words beside it at the top; they may be empty.
    pub fn vertical(x: f64, words: impl Into<String>) -> Self {
        Self { at: x, is_vertical: true, words: words.into(), look: dotted() }
    }
}

fn dotted() -> Look {
    Look { colour: Some(Colour::Grey), dash: super::Dash::Dotted, width: super::Width::Thin, ..Look::default() }
}

impl Drawn for Rule {
    fn look(&self) -> &Look {
        &self.look
    }

    fn places(&self) -> Vec<(f64, f64)> {
        vec![if self.is_vertical { (self.at, f64::NAN) } else { (f64::NAN, self.at) }]
    }

    fn takes_colour(&self) -> bool {
        false
    }

    fn draw(&self, frame: &Frame, colour: Colour, marks: &mut Marks) {
        let class = self.look.line(colour);
        match self.is_vertical {
            true => marks.line(&class, (frame.x.at(self.at), frame.top), (frame.x.at(self.at), frame.bottom())),
            false => marks.line(&class, (frame.left, frame.y.at(self.at)), (frame.right(), frame.y.at(self.at))),
        }
    }

    fn draw_over(&self, frame: &Frame, colour: Colour, marks: &mut Marks) {
        let class = format!("{}-text halo", colour.name());
        if self.is_vertical && frame.x.holds(self.at) && !self.words.is_empty() {
            let x = frame.x.at(self.at);
            let room = crate::scale::text_width(&self.words) + 5.0;
            let (x, anchor) = if x + room > frame.right() { (x - 4.0, Anchor::End) } else { (x + 4.0, Anchor::Start) };
            marks.text(&class, (x, frame.top + 10.0), anchor, &self.words);
        } else if !self.is_vertical && frame.y.holds(self.at) && !self.words.is_empty() {
            let y = frame.y.at(self.at);
            let y = if y - 14.0 < frame.top { y + 13.0 } else { y - 4.0 };
            marks.text(&class, (frame.left + 5.0, y), Anchor::Start, &self.words);
        }
    }

    fn end(&self) -> Option<(f64, f64)> {
        None
    }

    fn symbol(&self, (x, y): (f64, f64), colour: Colour, marks: &mut Marks) {
        marks.line(&self.look.line(colour), (x, y), (x + 18.0, y));
    }
}

/// Words at a place of the panel.
#[derive(Clone, Debug, PartialEq)]
pub struct Note {
    at: (f64, f64),
    words: String,
    anchor: Anchor,
    pub(crate) look: Look,
}

looks!(Note);

impl Note {
    /// Words whose left end, middle or right end is at a pair of numbers.
    pub fn new(at: (f64, f64), anchor: Anchor, words: impl Into<String>) -> Self {
        Self { at, words: words.into(), anchor, look: Look { colour: Some(Colour::Ink), ..Look::default() } }
    }
}

impl Drawn for Note {
    fn look(&self) -> &Look {
        &self.look
    }

    fn places(&self) -> Vec<(f64, f64)> {
        vec![self.at]
    }

    fn takes_colour(&self) -> bool {
        false
    }

    fn draw(&self, _: &Frame, _: Colour, _: &mut Marks) {}

    fn draw_over(&self, frame: &Frame, colour: Colour, marks: &mut Marks) {
        let (x, y) = frame.at(self.at.0, self.at.1);
        marks.text(&format!("{}-text halo", colour.name()), (x, y + 4.0), self.anchor, &self.words);
    }

    fn end(&self) -> Option<(f64, f64)> {
        None
    }

    fn symbol(&self, _: (f64, f64), _: Colour, _: &mut Marks) {}
}
