//! Numbers as people read them: a true minus sign, as many digits as the error allows.

/// Decimals that show `precision` with three significant digits.
pub fn decimals(precision: f64) -> usize {
    const MOST: i32 = 12;
    if !(precision > 0.0 && precision.is_finite()) {
        return 3;
    }
    // Rounding first: 0.09999 is shown as 0.100 and needs no fourth decimal.
    let exponent = format!("{precision:.2e}").split_once('e').and_then(|(_, e)| e.parse::<i32>().ok()).unwrap_or(0);
    (2 - exponent).clamp(0, MOST) as usize
}

/// `value` with so many decimals; as a power of ten where that would be long.
pub fn fixed(value: f64, decimals: usize) -> String {
    const LARGE: f64 = 1e9;
    const MANY_DECIMALS: usize = 8;
    if !value.is_finite() {
        return not_finite(value).into();
    }
    if value.abs() >= LARGE || (decimals > MANY_DECIMALS && value != 0.0) {
        return power_of_ten(value, 2);
    }
    let text = format!("{:.*}", decimals.min(MANY_DECIMALS), value.abs());
    let is_zero = text.bytes().all(|b| matches!(b, b'0' | b'.'));
    if value < 0.0 && !is_zero { format!("−{text}") } else { text }
}

/// About `digits` significant digits, for read-outs and labels.
pub fn significant(value: f64, digits: usize) -> String {
    if !value.is_finite() {
        return not_finite(value).into();
    }
    if value == 0.0 {
        return "0".into();
    }
    let exponent = value.abs().log10().floor() as i32;
    if !(-4..6).contains(&exponent) {
        return power_of_ten(value, digits.saturating_sub(1));
    }
    let text = fixed(value, (digits as i32 - 1 - exponent).max(0) as usize);
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').into(),
        false => text,
    }
}

/// `1.25 × 10⁶`, the mantissa without trailing zeros.
pub fn power_of_ten(value: f64, decimals: usize) -> String {
    let text = format!("{:.decimals$e}", value.abs());
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let mantissa = if mantissa.contains('.') { mantissa.trim_end_matches('0').trim_end_matches('.') } else { mantissa };
    let sign = if value < 0.0 { "−" } else { "" };
    let power = superscript(exponent);
    if mantissa == "1" { format!("{sign}10{power}") } else { format!("{sign}{mantissa} × 10{power}") }
}

fn superscript(digits: &str) -> String {
    const RAISED: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    digits
        .chars()
        .map(|c| match c.to_digit(10) {
            Some(d) => RAISED[d as usize],
            None => '⁻',
        })
        .collect()
}

fn not_finite(value: f64) -> &'static str {
    match value {
        v if v.is_nan() => "not known",
        v if v > 0.0 => "∞",
        _ => "−∞",
    }
}

/// `n` in groups of three digits.
pub fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// An estimate and its error, the error with two significant digits.
pub fn with_error(value: f64, error: f64) -> (String, String) {
    if !error.is_finite() || error >= f64::MAX {
        return (fixed(value, 2), "unknown".into());
    }
    let decimals = decimals(error).saturating_sub(1).max(2);
    (fixed(value, decimals), fixed(error, decimals))
}

/// A time from milliseconds to hours.
pub fn duration(seconds: f64) -> String {
    match seconds {
        s if !s.is_finite() => not_finite(s).into(),
        s if s < 1.0 => format!("{} ms", significant(1e3 * s, 3)),
        s if s < 120.0 => format!("{} s", significant(s, 3)),
        s if s < 7200.0 => format!("{:.1} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_follow_the_error() {
        assert_eq!(with_error(-34.29851, 0.0033), ("−34.2985".into(), "0.0033".into()));
        assert_eq!(with_error(-34567.8, 12.3), ("−34567.80".into(), "12.30".into()));
        assert_eq!(with_error(1.0, f64::INFINITY).1, "unknown");
    }

    #[test]
    fn three_digits_of_the_precision() {
        for (precision, expected) in [(0.45, 3), (1.2, 2), (0.0999999, 3), (12.0, 1), (4e5, 0), (1e-3, 5), (0.0, 3)] {
            assert_eq!(decimals(precision), expected, "{precision}");
        }
    }

    #[test]
    fn numbers_are_plain() {
        assert_eq!([fixed(-0.0001, 2), fixed(-1.5, 1), fixed(2e12, 1)], ["0.00", "−1.5", "2 × 10¹²"]);
        assert_eq!([significant(0.25, 3), significant(1234.6, 3), significant(-1e-7, 2)], ["0.25", "1235", "−10⁻⁷"]);
        assert_eq!([fixed(f64::NAN, 1), significant(f64::NEG_INFINITY, 1)], ["not known", "−∞"]);
        assert_eq!([grouped(0), grouped(999), grouped(1000), grouped(1234567)], ["0", "999", "1,000", "1,234,567"]);
        assert_eq!([duration(0.0369), duration(3.0), duration(600.0)], ["36.9 ms", "3 s", "10.0 min"]);
        assert_eq!(duration(f64::NAN), "not known");
    }
}
