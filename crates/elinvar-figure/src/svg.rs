//! A small writer of SVG.

use std::fmt::Write;

use crate::escape;
use crate::style;

/// The side of a text at which its place lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// Its left end.
    Start,
    /// Its middle.
    Middle,
    /// Its right end.
    End,
}

/// Marks, written one after the other. Classes say what a mark is; the style sheet says how that looks.
#[derive(Clone, Debug, Default)]
pub struct Marks(String);

impl Marks {
    /// A straight line.
    pub fn line(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        let [x1, y1, x2, y2] = [from.0, from.1, to.0, to.1].map(place);
        self.push(&format!(r#"<line class="{class}" x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}"/>"#));
    }

    /// A disc.
    pub fn circle(&mut self, class: &str, (x, y): (f64, f64), radius: f64) {
        let [x, y, radius] = [x, y, radius].map(place);
        self.push(&format!(r#"<circle class="{class}" cx="{x}" cy="{y}" r="{radius}"/>"#));
    }

    /// A rectangle by its upper left corner and its size.
    pub fn rect(&mut self, class: &str, (x, y): (f64, f64), (width, height): (f64, f64)) {
        let [x, y, width, height] = [x, y, width.max(0.0), height.max(0.0)].map(place);
        self.push(&format!(r#"<rect class="{class}" x="{x}" y="{y}" width="{width}" height="{height}"/>"#));
    }

    /// A path, if it is not empty.
    pub fn path(&mut self, class: &str, d: &str) {
        if !d.is_empty() {
            self.push(&format!(r#"<path class="{class}" d="{d}"/>"#));
        }
    }

    /// Text on one line, escaped.
    pub fn text(&mut self, class: &str, (x, y): (f64, f64), anchor: Anchor, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => r#" text-anchor="middle""#,
            Anchor::End => r#" text-anchor="end""#,
        };
        let [x, y] = [x, y].map(place);
        self.push(&format!(r#"<text class="{class}" x="{x}" y="{y}"{anchor}>{}</text>"#, escape::text(text)));
    }

    /// A group around marks, with further attributes that are already escaped.
    pub fn group(&mut self, class: &str, attributes: &str, inside: impl FnOnce(&mut Marks)) {
        self.push(&format!(r#"<g class="{class}"{attributes}>"#));
        inside(self);
        self.push("</g>");
    }

    /// Marks that are cut off at a rectangle: a drawing of its own, which needs no name as a clip path would.
    pub fn clipped(
        &mut self,
        class: &str,
        (x, y): (f64, f64),
        (width, height): (f64, f64),
        inside: impl FnOnce(&mut Marks),
    ) {
        let [x, y, width, height] = [x, y, width, height].map(place);
        self.push(&format!(
            r#"<svg class="{class}" x="{x}" y="{y}" width="{width}" height="{height}" viewBox="{x} {y} {width} {height}">"#
        ));
        inside(self);
        self.push("</svg>");
    }

    /// Adds text that is SVG already.
    pub fn push(&mut self, svg: &str) {
        self.0.push_str(svg);
    }
}

/// A finished figure.
#[derive(Clone, Debug)]
pub struct Drawing {
    /// Width in pixels at its natural size.
    pub width: f64,
    /// Height in pixels at its natural size.
    pub height: f64,
    /// What it is.
    pub title: String,
    /// What can be seen in it, for those who cannot see it.
    pub description: String,
    /// Further attributes of the root, escaped, with a leading space.
    pub attributes: String,
    /// What is drawn.
    pub marks: Marks,
}

impl Drawing {
    /// Room around a figure that stands alone.
    const EDGE: f64 = 8.0;

    /// Inside a page that has the style sheet; `id` is unique in it.
    pub fn inline(&self, id: &str) -> String {
        let id = escape::text(id);
        self.write(&format!(r#" role="img" aria-labelledby="{id}-t {id}-d"{}"#, self.attributes), &id, "", 0.0)
    }

    /// As a file of its own, in light colours.
    pub fn standalone(&self) -> String {
        let [width, height] = [self.width + 2.0 * Self::EDGE, self.height + 2.0 * Self::EDGE].map(place);
        let edge = place(-Self::EDGE);
        let paper = format!(r#"<rect class="paper" x="{edge}" y="{edge}" width="{width}" height="{height}"/>"#);
        let before = format!("<style>{}</style>{paper}", style::resolved());
        let namespace = r#" xmlns="http://www.w3.org/2000/svg" role="img" aria-labelledby="figure-t figure-d""#;
        self.write(namespace, "figure", &before, Self::EDGE) + "\n"
    }

    fn write(&self, attributes: &str, id: &str, before: &str, edge: f64) -> String {
        let [width, height] = [self.width + 2.0 * edge, self.height + 2.0 * edge].map(place);
        let (title, description) = (escape::text(&self.title), escape::text(&self.description));
        let start = place(-edge);
        let size = format!(r#"width="{width}" height="{height}" viewBox="{start} {start} {width} {height}""#);
        let body = &self.marks.0;
        format!(
            r#"<svg class="fig" {size}{attributes}><title id="{id}-t">{title}</title><desc id="{id}-d">{description}</desc>{before}{body}</svg>"#
        )
    }

    /// A small picture that says nothing that is not beside it.
    pub fn picture((width, height): (f64, f64), marks: &Marks) -> String {
        let [width, height] = [width, height].map(place);
        let size = format!(r#"width="{width}" height="{height}" viewBox="0 0 {width} {height}""#);
        format!(r#"<svg class="fig" {size} aria-hidden="true" focusable="false">{}</svg>"#, marks.0)
    }

    /// Several drawings as one, in rows of `columns`, below a legend.
    pub fn grid(title: &str, panels: &[Drawing], columns: usize, legend: Option<Legend>) -> Self {
        const GAP: f64 = 14.0;
        let Legend { width: least, height: top, mut marks } = legend.unwrap_or_default();
        let cell = panels.iter().fold((0.0, 0.0), |(w, h): (f64, f64), p| (w.max(p.width), h.max(p.height)));
        let columns = columns.clamp(1, panels.len().max(1));
        for (i, panel) in panels.iter().enumerate() {
            let x = (i % columns) as f64 * (cell.0 + GAP);
            let y = top + (i / columns) as f64 * (cell.1 + GAP);
            let [x, y] = [x, y].map(place);
            let [width, height] = [panel.width, panel.height].map(place);
            let _ = write!(
                marks.0,
                r#"<svg x="{x}" y="{y}" width="{width}" height="{height}" viewBox="0 0 {width} {height}">{}</svg>"#,
                panel.marks.0
            );
        }
        let rows = panels.len().div_ceil(columns).max(1) as f64;
        let description = panels.iter().map(|p| p.description.as_str()).collect::<Vec<_>>().join(" ");
        Self {
            width: (columns as f64 * (cell.0 + GAP) - GAP).max(least),
            height: top + rows * (cell.1 + GAP) - GAP,
            title: title.into(),
            description,
            attributes: String::new(),
            marks,
        }
    }
}

/// A key above several panels.
#[derive(Clone, Debug, Default)]
pub struct Legend {
    /// The width that it needs.
    pub width: f64,
    /// The height that it needs, with room below it.
    pub height: f64,
    /// What is drawn.
    pub marks: Marks,
}

/// A coordinate with two decimals and no trailing zeros.
pub fn place(v: f64) -> String {
    const FAR: f64 = 1e5;
    let v = if v.is_finite() { v.clamp(-FAR, FAR) } else { 0.0 };
    let text = format!("{v:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".into() } else { text.into() }
}

/// A line through places, closed if asked for.
pub fn path(places: impl Iterator<Item = (f64, f64)>, closed: bool) -> String {
    let mut d = String::new();
    for (i, (x, y)) in places.enumerate() {
        d.push(if i == 0 { 'M' } else { 'L' });
        let _ = write!(d, "{} {}", tenth(x), tenth(y));
    }
    if closed && !d.is_empty() {
        d.push('Z');
    }
    d
}

/// A tenth of a pixel is enough inside a path.
fn tenth(v: f64) -> String {
    place((v * 10.0).round() / 10.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_escaped_everywhere() {
        let mut marks = Marks::default();
        marks.text("name", (1.0, 2.0), Anchor::End, "<x&\"");
        let drawing = Drawing {
            width: 10.0,
            height: 20.5,
            title: "a < b".into(),
            description: "</desc>".into(),
            attributes: String::new(),
            marks,
        };
        let svg = drawing.standalone();
        assert!(svg.contains("&lt;x&amp;&quot;") && svg.contains("a &lt; b") && svg.contains("&lt;/desc&gt;"));
        assert!(svg.contains(r#"width="26" height="36.5" viewBox="-8 -8 26 36.5""#));
        assert!(drawing.inline("a").contains(r#"width="10" height="20.5" viewBox="0 0 10 20.5""#));
    }

    #[test]
    fn places_are_short_and_finite() {
        assert_eq!([place(1.0), place(-0.001), place(1.256), place(f64::NAN)], ["1", "0", "1.26", "0"]);
        assert_eq!(path([(0.0, 1.04), (2.0, 3.0)].into_iter(), true), "M0 1L2 3Z");
    }
}
