//! Whether texts of a figure stand in each other's way, as the built-in font sets them.

use resvg::usvg::{Group, Node, Tree};

use crate::png::{PngError, options};

/// A text and the rectangle that it takes.
#[derive(Clone, Debug, PartialEq)]
struct Text {
    words: String,
    left: f32,
    top: f32,
    right: f32,
    bottom: f32,
}

/// A sentence for every text that leaves the figure and for every two that overlap; empty if all is well.
///
/// # Errors
/// If the text is no SVG.
pub fn overlaps(svg: &str) -> Result<Vec<String>, PngError> {
    let tree = Tree::from_str(svg, &options()).map_err(|e| PngError::Raster(e.to_string()))?;
    let mut texts = Vec::new();
    collect(tree.root(), &mut texts);
    let (width, height) = (tree.size().width(), tree.size().height());
    let leaves = |t: &Text| t.left < 0.0 || t.top < 0.0 || t.right > width || t.bottom > height;
    let mut found: Vec<String> =
        texts.iter().filter(|t| leaves(t)).map(|t| format!("\"{}\" leaves the figure", t.words)).collect();
    for (i, a) in texts.iter().enumerate() {
        for b in &texts[i + 1..] {
            if a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom {
                found.push(format!("\"{}\" and \"{}\" overlap", a.words, b.words));
            }
        }
    }
    Ok(found)
}

fn collect(group: &Group, texts: &mut Vec<Text>) {
    for node in group.children() {
        match node {
            Node::Group(group) => collect(group, texts),
            Node::Text(text) => {
                let at = text.flattened().abs_bounding_box();
                texts.push(Text {
                    words: text.chunks().iter().map(|chunk| chunk.text()).collect(),
                    left: at.left(),
                    top: at.top(),
                    right: at.right(),
                    bottom: at.bottom(),
                });
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_in_each_others_way_are_found() {
        let svg = |x: f64, y: f64| {
            format!(
                r#"<svg xmlns="http://www.w3.org/2000/svg" width="200" height="60"><text x="10" y="30" font-size="11">first</text><text x="{x}" y="{y}" font-size="11">second</text></svg>"#
            )
        };
        assert_eq!(overlaps(&svg(60.0, 30.0)).unwrap(), [] as [String; 0]);
        assert_eq!(overlaps(&svg(20.0, 34.0)).unwrap(), ["\"first\" and \"second\" overlap"]);
        assert_eq!(overlaps(&svg(180.0, 30.0)).unwrap(), ["\"second\" leaves the figure"]);
        assert!(overlaps("no svg").is_err());
    }
}
