//! Whether texts of a figure stand in each other's way, as the built-in font sets them.

use crate::png::PngError;
use crate::png::scene::{Edges, Scene};

/// A sentence for every text that leaves the figure and for every two that overlap; empty if all is well.
///
/// # Errors
/// If the text is no SVG.
pub fn overlaps(svg: &str) -> Result<Vec<String>, PngError> {
    let scene = Scene::parse(svg)?;
    let texts: Vec<(&str, Edges)> =
        scene.shapes.iter().filter_map(|shape| Some((shape.words.as_deref()?, shape.edges()))).collect();
    let leaves = |at: &Edges| at.left < 0.0 || at.top < 0.0 || at.right > scene.width || at.bottom > scene.height;
    let mut found: Vec<String> =
        texts.iter().filter(|(_, at)| leaves(at)).map(|(words, _)| format!("\"{words}\" leaves the figure")).collect();
    for (i, (words, a)) in texts.iter().enumerate() {
        for (others, b) in &texts[i + 1..] {
            if a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom {
                found.push(format!("\"{words}\" and \"{others}\" overlap"));
            }
        }
    }
    Ok(found)
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
