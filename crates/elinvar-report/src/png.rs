//! A figure as pixels.

use elinvar_figure::png as pixels;

use crate::content::Content;
use crate::figure::{FigureName, figure};

/// Why there is no image.
#[derive(Debug, thiserror::Error)]
pub enum PngError {
    /// The content does not have what the figure shows.
    #[error("there is nothing to draw in the figure \"{0}\"")]
    Nothing(FigureName),
    /// The figure cannot be made into pixels.
    #[error(transparent)]
    Pixels(#[from] pixels::PngError),
}

/// One figure as a PNG file, `scale` pixels for each of its natural size (2 for a screen, 4 for paper).
///
/// Texts are set in DejaVu Sans, which is built in, so that the image is the same on every machine.
///
/// # Errors
/// [`PngError::Nothing`] if the content does not have what the figure shows; [`PngError::Pixels`] if `scale` is not
/// positive or too large.
pub fn png(content: &Content, name: &FigureName, scale: f32) -> Result<Vec<u8>, PngError> {
    let svg = figure(content, name).ok_or_else(|| PngError::Nothing(name.clone()))?;
    Ok(pixels::png(&svg, scale)?)
}
