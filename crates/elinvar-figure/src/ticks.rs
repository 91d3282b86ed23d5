//! Where an axis is marked, and how the marks read.

use crate::number;

/// Round numbers that divide a range into about `target` parts.
pub fn linear(low: f64, high: f64, target: usize) -> Vec<f64> {
    let span = high - low;
    if !(span > 0.0 && span.is_finite()) {
        return vec![low];
    }
    let step = nice_step(span / target.max(1) as f64);
    let slack = 1e-9 * step;
    let (first, last) = (((low - slack) / step).ceil() as i64, ((high + slack) / step).floor() as i64);
    // Divided by a whole number, 35 hundredths are 0.35 and not 0.35000000000000003.
    let whole = (1.0 / step).round();
    (first..=last).map(|i| if step < 1.0 && whole < 1e15 { i as f64 / whole } else { i as f64 * step }).collect()
}

/// The number 1, 2 or 5 times a power of ten nearest to `rough` on a log scale.
fn nice_step(rough: f64) -> f64 {
    let power = 10f64.powf(rough.log10().floor());
    let factor = match rough / power {
        f if f < 1.5 => 1.0,
        f if f < 3.5 => 2.0,
        f if f < 7.5 => 5.0,
        _ => 10.0,
    };
    factor * power
}

/// Powers of ten in a range; 1, 2 and 5 times them where there are few, and every other or fewer where there are many.
pub fn logarithmic(low: f64, high: f64, target: usize) -> Vec<f64> {
    if !(low > 0.0 && high > low) {
        return vec![low];
    }
    let (first, last) = (low.log10().floor() as i32, high.log10().ceil() as i32);
    let inside = |v: &f64| *v >= low * (1.0 - 1e-9) && *v <= high * (1.0 + 1e-9);
    let marks = |factors: &[f64], every: i32| -> Vec<f64> {
        (first..=last)
            .filter(|e| e.rem_euclid(every) == 0)
            .flat_map(|e| factors.iter().map(move |f| f * 10f64.powi(e)))
            .filter(inside)
            .collect()
    };
    let decades = marks(&[1.0], 1);
    match decades.len() {
        0 | 1 => match marks(&[1.0, 2.0, 5.0], 1) {
            few if few.len() < 2 => linear(low, high, 2),
            found => found,
        },
        2 if target >= 4 => marks(&[1.0, 2.0, 5.0], 1),
        n if n <= target => decades,
        n => marks(&[1.0], n.div_ceil(target.max(1)) as i32),
    }
}

/// Labels of equally spaced marks: the same decimals for all, thousands and millions shortened.
pub fn linear_labels(marks: &[f64]) -> Vec<String> {
    let largest = marks.iter().map(|v| v.abs()).fold(0.0, f64::max);
    let step = marks.windows(2).map(|w| w[1] - w[0]).fold(f64::INFINITY, f64::min);
    let step = if step.is_finite() { step } else { largest.max(1.0) };
    if largest > 0.0 && largest < 1e-4 {
        return marks.iter().map(|v| number::significant(*v, 2)).collect();
    }
    let (unit, suffix) = match largest {
        m if m >= 1e12 => return marks.iter().map(|v| number::significant(*v, 3)).collect(),
        m if m >= 1e9 && step >= 1e6 => (1e9, " G"),
        m if m >= 1e6 && step >= 1e4 => (1e6, " M"),
        m if m >= 1e4 && step >= 100.0 => (1e3, " k"),
        _ => (1.0, ""),
    };
    let decimals = (0..9).find(|d| is_whole(step / unit * 10f64.powi(*d))).unwrap_or(9) as usize;
    let label = |v: &f64| match *v / unit {
        0.0 => "0".into(),
        scaled => number::fixed(scaled, decimals) + suffix,
    };
    marks.iter().map(label).collect()
}

fn is_whole(v: f64) -> bool {
    (v - v.round()).abs() < 1e-6 * v.abs().max(1e-3)
}

/// Labels of marks on a log axis.
pub fn log_labels(marks: &[f64]) -> Vec<String> {
    let plain = marks.iter().all(|v| (1e-3..1e4).contains(&v.abs()));
    let label = |v: &f64| if plain { number::significant(*v, 3) } else { number::power_of_ten(*v, 0) };
    marks.iter().map(label).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_round_and_inside() {
        assert_eq!(linear(0.0, 10.0, 5), [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]);
        assert_eq!(linear(-1.3, 1.2, 4), [-1.0, -0.5, 0.0, 0.5, 1.0]);
        assert_eq!(linear(-34.6, -34.2, 4).len(), 5);
        assert_eq!(linear(3.0, 3.0, 4), [3.0]);
        for (low, high) in [(1e-9, 3e-9), (-5e7, 2e8), (0.1, 0.100001)] {
            let marks = linear(low, high, 4);
            assert!((2..=9).contains(&marks.len()), "{low} {high}: {marks:?}");
            assert!(
                marks.iter().all(|v| *v >= low - 1e-9 * (high - low) && *v <= high + 1e-9 * (high - low)),
                "{marks:?}"
            );
        }
    }

    #[test]
    fn log_marks_are_decades_where_there_are_enough() {
        assert_eq!(logarithmic(0.5, 2000.0, 5), [1.0, 10.0, 100.0, 1000.0]);
        assert_eq!(logarithmic(0.15, 0.9, 4), [0.2, 0.5]);
        assert_eq!(logarithmic(1e-12, 1.0, 4).len(), 4);
        assert_eq!(logarithmic(0.31, 0.42, 4), [0.35, 0.4]);
    }

    #[test]
    fn labels_share_their_decimals() {
        assert_eq!(linear_labels(&[-0.5, 0.0, 0.5]), ["−0.5", "0", "0.5"]);
        assert_eq!(linear_labels(&[0.0, 5e4, 1e5]), ["0", "50 k", "100 k"]);
        assert_eq!(linear_labels(&[-34.6, -34.4, -34.2]), ["−34.6", "−34.4", "−34.2"]);
        assert_eq!(linear_labels(&[1e6, 1.5e6]), ["1.0 M", "1.5 M"]);
        assert_eq!(log_labels(&[0.1, 1.0]), ["0.1", "1"]);
        assert_eq!(log_labels(&[1e-5, 1.0]), ["10⁻⁵", "10⁰"]);
    }
}
