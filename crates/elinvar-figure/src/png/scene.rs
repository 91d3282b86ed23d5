//! The marks of a figure, read from its SVG.

use roxmltree::{Document, Node};
use zeno::{Command, PathBuilder, PathData, Transform};

use super::PngError;
use super::font;
use super::style::{Sheet, Style};

/// A rectangle by its edges.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Edges {
    pub(crate) left: f32,
    pub(crate) top: f32,
    pub(crate) right: f32,
    pub(crate) bottom: f32,
}

impl Edges {
    fn and(self, other: Edges) -> Self {
        Self {
            left: self.left.max(other.left),
            top: self.top.max(other.top),
            right: self.right.min(other.right),
            bottom: self.bottom.min(other.bottom),
        }
    }
}

/// A mark in the coordinates of the figure, whose upper left corner is (0, 0).
pub(crate) struct Shape {
    pub(super) outline: Vec<Command>,
    pub(super) style: Style,
    /// Where it is cut off.
    pub(super) clip: Edges,
    /// What a text says.
    pub(crate) words: Option<String>,
}

impl Shape {
    /// The rectangle around the mark, lines aside.
    pub(crate) fn edges(&self) -> Edges {
        let bounds = zeno::bounds(&self.outline, zeno::Fill::NonZero, None);
        Edges { left: bounds.min.x, top: bounds.min.y, right: bounds.max.x, bottom: bounds.max.y }
    }
}

/// A figure as marks, those in front last.
pub(crate) struct Scene {
    pub(crate) width: f32,
    pub(crate) height: f32,
    pub(crate) shapes: Vec<Shape>,
}

/// What holds for the marks inside an element.
#[derive(Clone)]
struct Around {
    style: Style,
    /// Where (0, 0) of the coordinates inside lies.
    origin: (f32, f32),
    clip: Edges,
}

impl Scene {
    /// Reads the elements that figures are made of.
    pub(crate) fn parse(svg: &str) -> Result<Self, PngError> {
        let refuse = |problem: &dyn std::fmt::Display| PngError::Raster(problem.to_string());
        let document = Document::parse(svg).map_err(|error| refuse(&error))?;
        let root = document.root_element();
        if root.tag_name().name() != "svg" {
            return Err(refuse(&"it is no SVG"));
        }
        let sheet = root.descendants().find(|node| node.tag_name().name() == "style");
        let sheet = Sheet::parse(sheet.and_then(|node| node.text()).unwrap_or_default());
        let (width, height) = (number(root, "width"), number(root, "height"));
        let mut scene = Self { width, height, shapes: Vec::new() };
        let clip = Edges { left: 0.0, top: 0.0, right: width, bottom: height };
        let mut around = Around { style: Style::default(), origin: (0.0, 0.0), clip };
        look(&mut around.style, &sheet, root);
        around.origin = origin((0.0, 0.0), root);
        scene.inside(root, &around, &sheet)?;
        Ok(scene)
    }

    fn inside(&mut self, parent: Node, around: &Around, sheet: &Sheet) -> Result<(), PngError> {
        for node in parent.children().filter(Node::is_element) {
            let mut around = around.clone();
            look(&mut around.style, sheet, node);
            let (x, y) = around.origin;
            let mut outline: Vec<Command> = Vec::new();
            let mut words = None;
            match node.tag_name().name() {
                "title" | "desc" | "style" => continue,
                "g" => {
                    self.inside(node, &around, sheet)?;
                    continue;
                }
                "svg" => {
                    let (left, top) = (x + number(node, "x"), y + number(node, "y"));
                    let (right, bottom) = (left + number(node, "width"), top + number(node, "height"));
                    around.clip = around.clip.and(Edges { left, top, right, bottom });
                    around.origin = origin((left, top), node);
                    self.inside(node, &around, sheet)?;
                    continue;
                }
                "line" => {
                    outline.move_to((x + number(node, "x1"), y + number(node, "y1")));
                    outline.line_to((x + number(node, "x2"), y + number(node, "y2")));
                }
                "circle" => {
                    outline.add_circle((x + number(node, "cx"), y + number(node, "cy")), number(node, "r"));
                }
                "rect" => {
                    let corner = (x + number(node, "x"), y + number(node, "y"));
                    outline.add_rect(corner, number(node, "width"), number(node, "height"));
                }
                "path" => {
                    let moved = Transform::translation(x, y);
                    outline.extend(node.attribute("d").unwrap_or("").commands().map(|step| step.transform(&moved)));
                }
                "text" => {
                    // Any white space counts as one space.
                    let said = node.text().unwrap_or("").split_whitespace().collect::<Vec<_>>().join(" ");
                    let text = font::set(&said, around.style.font_size, around.style.is_bold);
                    let before = match node.attribute("text-anchor") {
                        Some("middle") => text.width / 2.0,
                        Some("end") => text.width,
                        _ => 0.0,
                    };
                    let moved = Transform::translation(x + number(node, "x") - before, y + number(node, "y"));
                    outline.extend(text.outline.iter().map(|step| step.transform(&moved)));
                    words = Some(said);
                }
                other => return Err(PngError::Raster(format!("<{other}> is no mark of a figure"))),
            }
            self.shapes.push(Shape { outline, style: around.style, clip: around.clip, words });
        }
        Ok(())
    }
}

/// The number in an attribute, 0 without it.
fn number(node: Node, name: &str) -> f32 {
    node.attribute(name).and_then(|text| text.parse().ok()).unwrap_or(0.0)
}

/// Where the coordinates inside a drawing begin if its corner is here; figures are never stretched.
fn origin(corner: (f32, f32), node: Node) -> (f32, f32) {
    let mut begins = node.attribute("viewBox").unwrap_or("").split_whitespace().map(|text| text.parse().unwrap_or(0.0));
    (corner.0 - begins.next().unwrap_or(0.0), corner.1 - begins.next().unwrap_or(0.0))
}

fn look(style: &mut Style, sheet: &Sheet, node: Node) {
    node.attributes().for_each(|attribute| style.set(attribute.name(), attribute.value()));
    sheet.apply(style, node.tag_name().name(), node.attribute("class").unwrap_or(""));
}
