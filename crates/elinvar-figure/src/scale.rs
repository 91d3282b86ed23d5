//! From numbers to places.

use crate::ticks;

/// An axis: its numbers, and the places of the first and the last.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    /// First and last number.
    pub domain: (f64, f64),
    /// Their places.
    pub places: (f64, f64),
    /// Whether equal distances are equal factors.
    pub is_log: bool,
}

impl Scale {
    /// A linear axis; an empty range is widened.
    pub fn linear((low, high): (f64, f64), places: (f64, f64)) -> Self {
        let domain = match low < high && (high - low).is_finite() {
            true => (low, high),
            false if low.is_finite() => (low - 0.5 * low.abs().max(1.0), low + 0.5 * low.abs().max(1.0)),
            false => (0.0, 1.0),
        };
        Self { domain, places, is_log: false }
    }

    /// A log axis over positive numbers.
    pub fn log((low, high): (f64, f64), places: (f64, f64)) -> Self {
        let low = if low > 0.0 && low.is_finite() { low } else { 1e-3 };
        let domain = if high > low * 1.001 && high.is_finite() { (low, high) } else { (low / 2.0, low * 2.0) };
        Self { domain, places, is_log: true }
    }

    /// The place of a number; beyond the ends it goes on.
    pub fn at(&self, value: f64) -> f64 {
        let (low, high) = self.domain;
        let share = match self.is_log {
            true => (value.max(f64::MIN_POSITIVE).ln() - low.ln()) / (high.ln() - low.ln()),
            false => (value - low) / (high - low),
        };
        self.places.0 + share * (self.places.1 - self.places.0)
    }

    /// Whether a number lies between the ends.
    pub fn holds(&self, value: f64) -> bool {
        value >= self.domain.0 && value <= self.domain.1
    }

    /// The marks of a horizontal axis, as many as have room for their labels.
    pub fn marks_with_room(&self, target: usize) -> Vec<(f64, String)> {
        const GAP: f64 = 10.0;
        let fits = |marks: &Vec<(f64, String)>| {
            let widest = marks.iter().map(|(_, text)| text_width(text)).fold(0.0, f64::max);
            let places: Vec<f64> = marks.iter().map(|(v, _)| self.at(*v)).collect();
            marks.len() < 2 || places.windows(2).all(|w| (w[1] - w[0]).abs() > widest + GAP)
        };
        (1..=target).rev().map(|target| self.marks(target)).find(fits).unwrap_or_else(|| self.marks(1))
    }

    /// The marks of the axis and their labels.
    pub fn marks(&self, target: usize) -> Vec<(f64, String)> {
        let (low, high) = self.domain;
        let (marks, labels) = if self.is_log {
            let marks = ticks::logarithmic(low, high, target);
            let labels = ticks::log_labels(&marks);
            (marks, labels)
        } else {
            let marks = ticks::linear(low, high, target);
            let labels = ticks::linear_labels(&marks);
            (marks, labels)
        };
        marks.into_iter().zip(labels).collect()
    }
}

/// About how wide a text is at most, in the small size of figures.
pub fn text_width(text: &str) -> f64 {
    const NARROW: &str = "iljftrI.,:;'|!()[] ";
    let of = |c: char| match c {
        c if NARROW.contains(c) => 4.2,
        'm' | 'w' | 'M' | 'W' | '%' | '@' | '…' | '—' => 10.4,
        c if c.is_uppercase() => 8.0,
        '−' | '±' | '×' | '=' | '+' | '<' | '>' | '≤' | '≥' => 9.2,
        '⁰'..='⁹' | '¹' | '²' | '³' | '⁻' => 4.9,
        _ => 7.0,
    };
    text.chars().map(of).sum()
}

/// Smallest and largest of the finite numbers, with a share of the span added at both ends.
pub fn extent(values: impl Iterator<Item = f64>, padding: f64) -> (f64, f64) {
    let (low, high) = values
        .filter(|v| v.is_finite())
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
    let pad = if high > low { padding * (high - low) } else { 0.0 };
    (low - pad, high + pad)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_go_to_ends() {
        let scale = Scale::linear((-1.0, 3.0), (100.0, 0.0));
        assert_eq!([scale.at(-1.0), scale.at(1.0), scale.at(3.0)], [100.0, 50.0, 0.0]);
        let log = Scale::log((1.0, 100.0), (0.0, 10.0));
        assert!((log.at(10.0) - 5.0).abs() < 1e-12);
        assert!(log.at(0.0).is_finite());
    }

    #[test]
    fn empty_ranges_are_widened() {
        assert_eq!(Scale::linear((2.0, 2.0), (0.0, 1.0)).domain, (1.0, 3.0));
        assert_eq!(Scale::linear(extent([f64::NAN].into_iter(), 0.1), (0.0, 1.0)).domain, (0.0, 1.0));
        assert_eq!(Scale::log((0.0, 0.0), (0.0, 1.0)).domain, (0.0005, 0.002));
    }
}
