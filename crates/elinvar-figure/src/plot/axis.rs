//! The axes of a panel: what they are called and which numbers they hold.

use crate::scale::Scale;

/// An axis.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Axis {
    pub(crate) label: String,
    pub(crate) is_log: bool,
    pub(crate) names: Vec<String>,
    range: Option<(f64, f64)>,
    included: Vec<f64>,
    pub(crate) ticks: Option<usize>,
}

impl Axis {
    /// An axis on which equal distances are equal differences. Units belong into the label.
    pub fn linear(label: impl Into<String>) -> Self {
        Self { label: label.into(), ..Self::default() }
    }

    /// An axis on which equal distances are equal factors; what is not positive is not drawn.
    pub fn log(label: impl Into<String>) -> Self {
        Self { label: label.into(), is_log: true, ..Self::default() }
    }

    /// A horizontal axis of things with names, at 0, 1, 2, …, for bars and points.
    pub fn names<S: Into<String>>(names: impl IntoIterator<Item = S>) -> Self {
        Self { names: names.into_iter().map(Into::into).collect(), ..Self::default() }
    }

    /// From `low` to `high`, whatever is drawn; what lies beyond is cut off.
    #[must_use]
    pub fn range(mut self, low: f64, high: f64) -> Self {
        self.range = Some((low, high));
        self
    }

    /// With `value` on it, such as zero.
    #[must_use]
    pub fn include(mut self, value: f64) -> Self {
        self.included.push(value);
        self
    }

    /// With about so many numbers.
    #[must_use]
    pub fn ticks(mut self, n: usize) -> Self {
        self.ticks = Some(n);
        self
    }

    /// The scale for these numbers; `rests` if what is drawn stands on its lowest one,
    /// `exact` if no room is needed beyond them.
    pub(crate) fn scale(&self, values: impl Iterator<Item = f64>, rests: bool, exact: bool) -> Scale {
        const ROOM: f64 = 0.05;
        const PLACES: (f64, f64) = (0.0, 1.0);
        if !self.names.is_empty() {
            return Scale::linear((-0.5, self.names.len() as f64 - 0.5), PLACES);
        }
        if let Some(range) = self.range {
            return if self.is_log { Scale::log(range, PLACES) } else { Scale::linear(range, PLACES) };
        }
        let usable = |v: &f64| v.is_finite() && (!self.is_log || *v > 0.0);
        let all = values.chain(self.included.iter().copied()).filter(usable);
        let along = |v: f64| if self.is_log { v.ln() } else { v };
        let (low, high) =
            all.map(along).fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
        let pad = if high > low && !exact { ROOM * (high - low) } else { 0.0 };
        let low = if rests && !self.is_log && low == 0.0 { low } else { low - pad };
        match self.is_log {
            true => Scale::log((low.exp(), (high + pad).exp()), PLACES),
            false => Scale::linear((low, high + pad), PLACES),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_numbers_have_room() {
        let scale = Axis::linear("").include(0.0).scale([1.0, 4.0, f64::NAN].into_iter(), true, false);
        assert_eq!(scale.domain, (0.0, 4.2));
        let log = Axis::log("").scale([-1.0, 0.0, 1.0, 100.0].into_iter(), false, false);
        assert!(log.is_log && (log.domain.0 * log.domain.1 - 100.0).abs() < 1e-9, "{log:?}");
        assert_eq!(Axis::linear("").range(2.0, 3.0).scale([9.0].into_iter(), false, false).domain, (2.0, 3.0));
        assert_eq!(Axis::names(["a", "b"]).scale([9.0].into_iter(), false, false).domain, (-0.5, 1.5));
        assert_eq!(Axis::linear("").scale(std::iter::empty(), false, false).domain, (0.0, 1.0));
    }
}
