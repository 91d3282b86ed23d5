//! A figure as pixels.

use std::sync::Arc;

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::fontdb::Database;
use resvg::usvg::{Options, Tree};

/// The widest image that is made.
const MOST_PIXELS: f32 = 20_000.0;

/// Why there is no image.
#[derive(Debug, thiserror::Error)]
pub enum PngError {
    /// The size is not one of an image.
    #[error("an image {0} times as large as the figure cannot be made; 2 and 3 are good choices")]
    Scale(f32),
    /// The rasteriser failed.
    #[error("the figure could not be drawn as pixels: {0}")]
    Raster(String),
}

/// A figure's SVG text as a PNG file, `scale` pixels for each of its natural size (2 for a screen, 4 for paper).
///
/// Texts are set in DejaVu Sans, which is built in, so that the image is the same on every machine.
///
/// # Errors
/// [`PngError::Scale`] if `scale` is not positive or too large; [`PngError::Raster`] if the text is no SVG.
pub fn png(svg: &str, scale: f32) -> Result<Vec<u8>, PngError> {
    let raster = |error: &dyn std::fmt::Display| PngError::Raster(error.to_string());
    let tree = Tree::from_str(svg, &options()).map_err(|e| raster(&e))?;
    let (width, height) = (tree.size().width() * scale, tree.size().height() * scale);
    if !(scale > 0.0 && width <= MOST_PIXELS && height <= MOST_PIXELS) {
        return Err(PngError::Scale(scale));
    }
    let mut pixels = Pixmap::new(width.ceil() as u32, height.ceil() as u32).ok_or(PngError::Scale(scale))?;
    resvg::render(&tree, Transform::from_scale(scale, scale), &mut pixels.as_mut());
    pixels.encode_png().map_err(|e| raster(&e))
}

pub(crate) fn options() -> Options<'static> {
    const FAMILY: &str = "DejaVu Sans";
    let mut fonts = Database::new();
    fonts.load_font_data(dejavu::sans::regular().to_vec());
    fonts.load_font_data(dejavu::sans::bold().to_vec());
    fonts.set_sans_serif_family(FAMILY);
    Options { font_family: FAMILY.into(), fontdb: Arc::new(fonts), ..Options::default() }
}
