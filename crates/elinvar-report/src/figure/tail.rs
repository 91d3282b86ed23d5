//! The upper tail of the importance ratios on log axes, where a Pareto tail is a straight line of slope −1/k.

use crate::content::{ParetoFit, Tail};
use elinvar_figure::frame::{Frame, Margins};
use elinvar_figure::number;
use elinvar_figure::scale::Scale;
use elinvar_figure::svg::{self, Anchor, Drawing, Marks};

const SIZE: (f64, f64) = (440.0, 270.0);
/// Ratios that are drawn one by one; of more, fewer and fewer towards the many small ones.
const DOTS: usize = 240;
/// Log of the smallest ratio that is shown.
const LOWEST: f64 = -600.0;

/// `None` if there are too few ratios to draw.
pub(crate) fn draw(tail: &Tail, threshold: f64) -> Option<Drawing> {
    let ratios: Vec<f64> = tail.log_ratios.iter().copied().filter(|r| r.is_finite()).collect();
    if ratios.len() < 3 || tail.n_draws == 0 {
        return None;
    }
    let n = tail.n_draws as f64;
    // Far below the largest, ratios would leave the range of numbers.
    let lowest = ratios[ratios.len() - 1].max(LOWEST);
    let x = Scale::log((lowest.exp(), (-0.06 * lowest.min(-0.1)).exp()), (0.0, 1.0));
    let y = Scale::log((0.35 / n, 1.6 * ratios.len() as f64 / n), (0.0, 1.0));
    let frame = Frame::inside(SIZE, Margins { top: 30.0, right: 14.0, bottom: 40.0, left: 52.0 }, x, y);

    let mut marks = Marks::default();
    frame.y_axis(&mut marks, 5, "share of draws with a larger ratio");
    frame.clipped(&mut marks, |marks| {
        if let Some(fit) = tail.fit {
            let cutoff = frame.x.at(fit.log_cutoff.exp());
            marks.line("reference", (cutoff, frame.top), (cutoff, frame.bottom()));
            marks.path("p-line", &svg::path(fitted(&fit, n, &frame), false));
        }
        for rank in shown_ranks(ratios.len()) {
            marks.circle("q-dot", frame.at(ratios[rank].max(LOWEST).exp(), (rank as f64 + 0.5) / n), 2.0);
        }
    });
    frame.x_axis(&mut marks, 5, "importance ratio p/q, relative to the largest");
    let words = match tail.fit {
        Some(fit) => {
            let words = verdict(fit.shape, threshold);
            marks.text("p-text", (frame.right() - 4.0, frame.top + 10.0), Anchor::End, &words);
            words
        }
        None => "No distribution could be fitted.".into(),
    };
    Some(Drawing {
        width: SIZE.0,
        height: SIZE.1,
        title: "The largest importance ratios".into(),
        description: format!(
            "Share of draws whose importance ratio is larger, for the {} largest of {}, and a fitted generalised Pareto \
             distribution. {words}",
            number::grouped(ratios.len() as u64),
            number::grouped(tail.n_draws)
        ),
        attributes: String::new(),
        marks,
    })
}

fn verdict(shape: f64, threshold: f64) -> String {
    let side = if shape <= threshold { "below" } else { "above" };
    format!("fitted tail: k̂ = {}, {side} {}", number::fixed(shape, 2), number::fixed(threshold, 2))
}

/// The places of the fitted share above each ratio.
fn fitted(fit: &ParetoFit, n: f64, frame: &Frame) -> impl Iterator<Item = (f64, f64)> {
    const STEPS: usize = 80;
    let (start, end) = (fit.log_cutoff.max(LOWEST), frame.x.domain.1.ln());
    let (fit, frame) = (*fit, *frame);
    (0..=STEPS).map_while(move |i| {
        let at = start + (end - start) * i as f64 / STEPS as f64;
        let excess = at.exp() - fit.log_cutoff.exp();
        let share = fit.len as f64 / n * survival(excess, fit.shape, fit.scale);
        (share > 0.0).then(|| frame.at(at.exp(), share))
    })
}

/// P(X > x) of a generalised Pareto distribution.
fn survival(x: f64, shape: f64, scale: f64) -> f64 {
    if shape.abs() < 1e-9 {
        return (-x / scale).exp();
    }
    (1.0 + shape * x / scale).max(0.0).powf(-1.0 / shape)
}

/// All ranks, or of many those that are about equally far from each other on a log scale.
fn shown_ranks(n: usize) -> Vec<usize> {
    let mut ranks: Vec<usize> =
        (0..DOTS).map(|i| (((n as f64).ln() * i as f64 / (DOTS - 1) as f64).exp() - 1.0).round() as usize).collect();
    ranks.dedup();
    ranks.retain(|rank| *rank < n);
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_distribution_has_its_known_values() {
        assert!((survival(1.0, 1.0, 1.0) - 0.5).abs() < 1e-12);
        assert!((survival(2.0, 0.0, 2.0) - (-1.0f64).exp()).abs() < 1e-12);
        assert!((survival(2.0, 1e-7, 2.0) - (-1.0f64).exp()).abs() < 1e-6);
        assert_eq!(survival(3.0, -0.5, 1.0), 0.0);
    }

    #[test]
    fn the_largest_ratios_are_all_shown() {
        let ranks = shown_ranks(5000);
        assert!(ranks.len() <= DOTS && ranks.starts_with(&[0, 1, 2, 3]) && ranks.ends_with(&[4999]));
        assert_eq!(shown_ranks(3), [0, 1, 2]);
    }

    #[test]
    fn few_ratios_make_no_figure() {
        assert!(draw(&Tail { log_ratios: vec![0.0, -1.0], n_draws: 100, fit: None }, 0.7).is_none());
        let tail = Tail { log_ratios: vec![0.0, -1.0, -2000.0], n_draws: 100, fit: None };
        assert!(draw(&tail, 0.7).is_some_and(|d| !d.standalone().contains("NaN")));
    }
}
