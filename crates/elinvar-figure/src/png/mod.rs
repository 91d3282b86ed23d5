//! A figure as pixels.
//!
//! Figures have few kinds of marks, all written by [`crate::svg`], and this reads just those: a general renderer of SVG
//! would take longer to build than everything else in this crate.

mod canvas;
mod encode;
mod font;
pub(crate) mod scene;
mod style;

use canvas::Canvas;
use scene::Scene;

/// The widest image that is made.
const MOST_PIXELS: f32 = 20_000.0;

/// Why there is no image.
#[derive(Debug, thiserror::Error)]
pub enum PngError {
    /// The size is not one of an image.
    #[error("an image {0} times as large as the figure cannot be made; 2 and 3 are good choices")]
    Scale(f32),
    /// The text is not a figure.
    #[error("the figure could not be drawn as pixels: {0}")]
    Raster(String),
}

/// A figure's SVG text as a PNG file, `scale` pixels for each of its natural size (2 for a screen, 4 for paper).
///
/// Texts are set in DejaVu Sans, which is built in, so that the image is the same on every machine. Letters stand one
/// after the other from left to right, kerned but not joined: names in Arabic or Devanagari are better read from the
/// SVG.
///
/// # Errors
/// [`PngError::Scale`] if `scale` is not positive or too large; [`PngError::Raster`] if the text is no SVG as figures
/// of this crate are.
pub fn png(svg: &str, scale: f32) -> Result<Vec<u8>, PngError> {
    let scene = Scene::parse(svg)?;
    let (width, height) = (scene.width * scale, scene.height * scale);
    if !(scale > 0.0 && width > 0.0 && height > 0.0 && width <= MOST_PIXELS && height <= MOST_PIXELS) {
        return Err(PngError::Scale(scale));
    }
    let mut canvas = Canvas::new(width.ceil() as usize, height.ceil() as usize);
    for shape in &scene.shapes {
        canvas.draw(shape, scale);
    }
    Ok(encode::png(canvas.width, &canvas.pixels))
}

#[cfg(test)]
mod tests;
