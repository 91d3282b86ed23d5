//! Pixels that marks are drawn on.

use zeno::{Fill, Mask, Stroke, Style as ZenoStyle, Transform};

use super::scene::Shape;
use super::style::Rgb;

/// White paper; three bytes for each pixel, row by row.
pub(super) struct Canvas {
    pub(super) width: usize,
    pub(super) pixels: Vec<u8>,
}

impl Canvas {
    pub(super) fn new(width: usize, height: usize) -> Self {
        Self { width, pixels: vec![255; 3 * width * height] }
    }

    /// Draws a mark, enlarged.
    pub(super) fn draw(&mut self, shape: &Shape, scale: f32) {
        let style = &shape.style;
        let fill = || style.fill.map(|colour| (ZenoStyle::Fill(Fill::NonZero), colour, style.fill_opacity));
        let mut line = Stroke::new(style.stroke_width);
        line.join(style.join).cap(style.cap).dash(&style.dashes, 0.0);
        let stroke = || style.stroke.map(|colour| (ZenoStyle::Stroke(line), colour, style.stroke_opacity));
        let layers = if style.stroke_first { [stroke(), fill()] } else { [fill(), stroke()] };
        for (kind, colour, opacity) in layers.into_iter().flatten() {
            self.paint(shape, kind, colour, opacity, scale);
        }
    }

    fn paint(&mut self, shape: &Shape, kind: ZenoStyle, colour: Rgb, opacity: f32, scale: f32) {
        let larger = Some(Transform::scale(scale, scale));
        let bounds = zeno::bounds(&shape.outline, kind, larger);
        let height = self.pixels.len() / (3 * self.width);
        let within = |place: f32, most: usize| place.clamp(0.0, most as f32) as usize;
        let clip = shape.clip;
        let left = within(bounds.min.x.floor().max((clip.left * scale).round()), self.width);
        let top = within(bounds.min.y.floor().max((clip.top * scale).round()), height);
        let right = within(bounds.max.x.ceil().min((clip.right * scale).round()), self.width);
        let bottom = within(bounds.max.y.ceil().min((clip.bottom * scale).round()), height);
        if left >= right || top >= bottom {
            return;
        }
        let (columns, rows) = (right - left, bottom - top);
        let mut mask = Mask::new(&shape.outline);
        mask.style(kind).transform(larger).offset((-(left as f32), -(top as f32))).size(columns as u32, rows as u32);
        let (cover, _) = mask.render();
        for (row, cover) in cover.chunks_exact(columns).enumerate() {
            let start = 3 * ((top + row) * self.width + left);
            let pixels = self.pixels[start..start + 3 * columns].chunks_exact_mut(3);
            for (pixel, &cover) in pixels.zip(cover).filter(|(_, cover)| **cover > 0) {
                let part = f32::from(cover) / 255.0 * opacity;
                for (old, new) in pixel.iter_mut().zip(colour) {
                    *old = (f32::from(*old) + part * (f32::from(new) - f32::from(*old))).round() as u8;
                }
            }
        }
    }
}
