//! Points of a trace, made fewer and calmer.

use crate::frame::Frame;

/// A value with its band.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Where it stands.
    pub x: f64,
    /// The value.
    pub y: f64,
    /// Lower end of the band.
    pub low: f64,
    /// Upper end of the band.
    pub high: f64,
}

/// Longer traces are drawn as a running median; the page's script has the same number.
pub const LONG: usize = 300;
/// Windows of a long trace, side by side.
const WINDOWS: usize = 100;
/// More points than a page has pixels need not be smoothed one by one.
const MOST: usize = 4000;

/// The median over a hundredth of the trace around every point, which lags behind no rise; `None` if it is short.
pub fn running_median(points: &[Point]) -> Option<Vec<Point>> {
    if points.len() <= LONG {
        return None;
    }
    let stride = points.len().div_ceil(MOST);
    let points: Vec<Point> = points.iter().copied().step_by(stride).collect();
    let half = points.len() / (2 * WINDOWS);
    let median = |i: usize, of: fn(&Point) -> f64| {
        // As far to the left as to the right: a lopsided window would lag.
        let reach = half.min(i).min(points.len() - 1 - i);
        let mut window: Vec<f64> = points[i - reach..=i + reach].iter().map(of).collect();
        window.sort_by(f64::total_cmp);
        window[reach]
    };
    let smooth = |i: usize| Point {
        x: points[i].x,
        y: median(i, |p| p.y),
        low: median(i, |p| p.low),
        high: median(i, |p| p.high),
    };
    Some((0..points.len()).map(smooth).collect())
}

/// First, last, smallest and largest value of every column of pixels, in their order.
pub fn thin(points: &[Point], frame: &Frame) -> Vec<Point> {
    let column = |p: &Point| frame.x.at(p.x).floor();
    let mut kept = Vec::new();
    for run in points.chunk_by(|a, b| column(a) == column(b)) {
        if run.len() <= 4 {
            kept.extend_from_slice(run);
            continue;
        }
        let extreme = |better: fn(f64, f64) -> bool| {
            (0..run.len()).reduce(|best, i| if better(run[i].y, run[best].y) { i } else { best }).unwrap_or(0)
        };
        let mut chosen = [0, extreme(|a, b| a < b), extreme(|a, b| a > b), run.len() - 1];
        chosen.sort_unstable();
        kept.extend(chosen.iter().map(|i| run[*i]));
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::Margins;
    use crate::scale::Scale;

    fn points(n: u32, y: impl Fn(u32) -> f64) -> Vec<Point> {
        (0..n).map(|i| Point { x: f64::from(i), y: y(i), low: y(i), high: y(i) }).collect()
    }

    #[test]
    fn a_long_trace_is_thinned_and_keeps_its_extremes() {
        let points = points(50_000, |i| if i == 31_234 { 99.0 } else { f64::from(i % 7) });
        let x = Scale::linear((0.0, 49_999.0), (0.0, 1.0));
        let no_margins = Margins { top: 0.0, right: 0.0, bottom: 0.0, left: 0.0 };
        let frame = Frame::inside((480.0, 290.0), no_margins, x, x);
        let thinned = thin(&points, &frame);
        assert!(thinned.len() <= 4 * 481, "{}", thinned.len());
        assert!(thinned.iter().any(|p| p.y == 99.0));
        assert!(thinned.windows(2).all(|w| w[0].x <= w[1].x));
    }

    #[test]
    fn a_median_leaves_a_rise_as_it_is_and_takes_spikes_away() {
        let rise = points(1000, |i| -1e6 / f64::from(1 + i));
        assert_eq!(running_median(&rise), Some(rise));
        let spikes = points(1000, |i| if i % 50 == 20 { 1e9 } else { 1.0 });
        assert!(running_median(&spikes).is_some_and(|line| line.iter().all(|p| p.y == 1.0)));
        assert_eq!(running_median(&points(300, f64::from)), None);
    }
}
