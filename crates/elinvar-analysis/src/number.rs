//! Numbers as people read them.

pub use elinvar_figure::number::{decimals, grouped};

/// `value` with so many decimals; in scientific notation where that would be long.
pub fn fixed(value: f64, decimals: usize) -> String {
    const LARGE: f64 = 1e9;
    const MANY_DECIMALS: usize = 8;
    if value.abs() >= LARGE || decimals > MANY_DECIMALS {
        return format!("{value:.3e}");
    }
    let text = format!("{value:.decimals$}");
    let is_zero = text.bytes().all(|b| matches!(b, b'-' | b'0' | b'.'));
    if is_zero { text.trim_start_matches('-').into() } else { text }
}

/// Four significant digits, no trailing zeros.
pub fn significant(value: f64) -> String {
    let rounded: f64 = format!("{value:.3e}").parse().unwrap_or(value);
    let is_plain = rounded == 0.0 || (1e-4..1e6).contains(&rounded.abs());
    if is_plain { rounded.to_string() } else { format!("{rounded:e}") }
}

/// An estimate with its error, the error with two or three significant digits: `-34.301 ± 0.012`.
pub fn with_error(value: f64, error: f64) -> String {
    if !error.is_finite() {
        return format!("{} ± unknown", fixed(value, 2));
    }
    let decimals = decimals(error).saturating_sub(1).max(2);
    format!("{} ± {}", fixed(value, decimals), fixed(error, decimals))
}

/// A time from microseconds to hours.
pub fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 0.1 => format!("{:.1} ms", 1e3 * s),
        s if s < 120.0 => format!("{s:.2} s"),
        s if s < 7200.0 => format!("{:.1} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_plain() {
        assert_eq!(fixed(-0.0001, 2), "0.00");
        assert_eq!(fixed(-1.005e12, 2), "-1.005e12");
        assert_eq!(fixed(f64::NAN, 2), "NaN");
        assert_eq!(with_error(-34.30123, 0.01234), "-34.301 ± 0.012");
        assert_eq!(with_error(-1e200, f64::INFINITY), "-1.000e200 ± unknown");
        assert_eq!(with_error(-34567.8, 12.3), "-34567.80 ± 12.30");
        assert_eq!([duration(0.0042), duration(3.0), duration(600.0)], ["4.2 ms", "3.00 s", "10.0 min"]);
    }

    #[test]
    fn priors_are_short() {
        assert_eq!(significant(1.0 / 0.01f64.sqrt()), "10");
        assert_eq!(significant(1.0 / 3f64.sqrt()), "0.5774");
        assert_eq!(significant(1e-8), "1e-8");
        assert_eq!(significant(1e300), "1e300");
    }
}
