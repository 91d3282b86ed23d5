//! Texts as outlines of the built-in font.

use std::sync::LazyLock;

use ttf_parser::{Face, GlyphId, OutlineBuilder};
use zeno::{Command, Point};

static REGULAR: LazyLock<Face<'static>> = LazyLock::new(|| face(dejavu::sans::regular()));
static BOLD: LazyLock<Face<'static>> = LazyLock::new(|| face(dejavu::sans::bold()));

fn face(bytes: &'static [u8]) -> Face<'static> {
    Face::parse(bytes, 0).expect("the font is built in")
}

/// A text on one line.
pub(super) struct Text {
    /// Its letters, from the place (0, 0) on the baseline to the right.
    pub(super) outline: Vec<Command>,
    /// The distance to where the next letter would stand.
    pub(super) width: f32,
}

/// Sets a text in letters of this size.
pub(super) fn set(text: &str, size: f32, is_bold: bool) -> Text {
    let face: &Face = if is_bold { &BOLD } else { &REGULAR };
    let scale = size / f32::from(face.units_per_em());
    let mut pen = Pen { outline: Vec::new(), x: 0.0, scale };
    let mut last = None;
    for letter in text.chars() {
        // Glyph 0 is the box for letters that the font does not have.
        let glyph = face.glyph_index(letter).unwrap_or_default();
        if let Some(last) = last {
            pen.x += scale * f32::from(kerning(face, last, glyph));
        }
        face.outline_glyph(glyph, &mut pen);
        pen.x += scale * f32::from(face.glyph_hor_advance(glyph).unwrap_or(0));
        last = Some(glyph);
    }
    Text { outline: pen.outline, width: pen.x }
}

fn kerning(face: &Face, left: GlyphId, right: GlyphId) -> i16 {
    let tables = face.tables().kern.iter().flat_map(|kern| kern.subtables);
    tables.filter(|table| table.horizontal && !table.variable).find_map(|t| t.glyphs_kerning(left, right)).unwrap_or(0)
}

/// Draws a glyph, whose y goes up, where y goes down.
struct Pen {
    outline: Vec<Command>,
    x: f32,
    scale: f32,
}

impl Pen {
    fn at(&self, x: f32, y: f32) -> Point {
        Point::new(self.x + self.scale * x, -self.scale * y)
    }
}

impl OutlineBuilder for Pen {
    fn move_to(&mut self, x: f32, y: f32) {
        self.outline.push(Command::MoveTo(self.at(x, y)));
    }

    fn line_to(&mut self, x: f32, y: f32) {
        self.outline.push(Command::LineTo(self.at(x, y)));
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        self.outline.push(Command::QuadTo(self.at(x1, y1), self.at(x, y)));
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        self.outline.push(Command::CurveTo(self.at(x1, y1), self.at(x2, y2), self.at(x, y)));
    }

    fn close(&mut self) {
        self.outline.push(Command::Close);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_stand_side_by_side() {
        let width = |text: &str| set(text, 10.0, false).width;
        assert!(width("mm") == 2.0 * width("m") && width("m") > 2.0 * width("i"));
        assert!(width("AV") < width("A") + width("V"), "kerned");
        assert!(set("mm", 10.0, true).width > width("mm"));
        let whole = zeno::bounds(&set("Äg", 10.0, false).outline, zeno::Fill::NonZero, None);
        assert!(whole.min.y < -8.0 && whole.max.y > 1.5, "{whole:?}");
        assert!(!set("漢", 10.0, false).outline.is_empty());
    }
}
