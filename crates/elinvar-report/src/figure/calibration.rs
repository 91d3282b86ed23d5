//! How often what was predicted happened.

use crate::content::CalibrationBin;
use elinvar_figure::frame::{Frame, Margins};
use elinvar_figure::scale::Scale;
use elinvar_figure::svg::{Drawing, Marks};

const SIZE: (f64, f64) = (320.0, 310.0);

/// `None` if there is no bin with rows.
pub(crate) fn draw(bins: &[CalibrationBin]) -> Option<Drawing> {
    let most = bins.iter().map(|bin| bin.n).max().filter(|n| *n > 0)?;
    let unit = Scale::linear((0.0, 1.0), (0.0, 1.0));
    let frame = Frame::inside(SIZE, Margins { top: 30.0, right: 12.0, bottom: 40.0, left: 38.0 }, unit, unit);
    let mut marks = Marks::default();
    frame.y_axis(&mut marks, 5, "observed share");
    marks.line("reference", frame.at(0.0, 0.0), frame.at(1.0, 1.0));
    for bin in bins.iter().filter(|bin| bin.n > 0) {
        let (low, high) = wilson(bin.observed, bin.n as f64);
        marks.line("bar", frame.at(bin.predicted, low), frame.at(bin.predicted, high));
        let radius = 2.5 + 3.5 * (bin.n as f64 / most as f64).sqrt();
        marks.circle("q-dot", frame.at(bin.predicted, bin.observed), radius);
    }
    frame.x_axis(&mut marks, 5, "predicted probability");
    let outside = bins.iter().filter(|bin| bin.n > 0).filter(|bin| {
        let (low, high) = wilson(bin.observed, bin.n as f64);
        !(low..=high).contains(&bin.predicted)
    });
    Some(Drawing {
        width: SIZE.0,
        height: SIZE.1,
        title: "Calibration".into(),
        description: format!(
            "Observed share against predicted probability in {} bins, with 95 % intervals; {} of them exclude the \
             prediction.",
            bins.len(),
            outside.count()
        ),
        attributes: String::new(),
        marks,
    })
}

/// E. B. Wilson's 95 % interval of a share.
fn wilson(share: f64, n: f64) -> (f64, f64) {
    const Z: f64 = 1.959_963_985;
    let centre = (share + Z * Z / (2.0 * n)) / (1.0 + Z * Z / n);
    let half = Z / (1.0 + Z * Z / n) * (share * (1.0 - share) / n + Z * Z / (4.0 * n * n)).max(0.0).sqrt();
    (centre - half, centre + half)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_have_their_known_ends() {
        // Published example: 81 of 263.
        let (low, high) = wilson(81.0 / 263.0, 263.0);
        assert!((low - 0.2553).abs() < 1e-4 && (high - 0.3662).abs() < 1e-4, "{low} {high}");
        let (low, high) = wilson(0.0, 20.0);
        assert!(low.abs() < 1e-12 && (high - 0.1611).abs() < 1e-4, "{low} {high}");
    }
}
