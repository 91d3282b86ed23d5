//! The pieces of which the sentences of errors are made.

use std::path::PathBuf;

use crate::error::Unit;

/// Longest piece of a file that a message repeats, in characters.
const EXCERPT_CHARS: usize = 40;

/// `text` with control characters escaped, cut after 40 characters.
pub(crate) fn shortened(text: &str) -> String {
    let mut short: String = text.chars().take(EXCERPT_CHARS).flat_map(char::escape_debug).collect();
    if text.chars().nth(EXCERPT_CHARS).is_some() {
        short.push('…');
    }
    short
}

/// [`shortened`] without escaped quotes, in double quotes.
pub(crate) fn quoted(text: &str) -> String {
    format!("\"{}\"", shortened(text).replace("\\\"", "\"").replace("\\'", "'"))
}

/// A piece of a file as messages show it.
pub(crate) fn excerpt(text: &str) -> String {
    quoted(text)
}

/// A number as it is, or with four digits in scientific notation where that would be long.
pub(crate) fn short(value: f64) -> String {
    const LONGEST: usize = 12;
    let plain = value.to_string();
    if plain.len() <= LONGEST {
        return plain;
    }
    let rounded: f64 = format!("{value:.3e}").parse().unwrap_or(value);
    format!("{rounded:e}")
}

pub(crate) fn name_it(number: usize) -> &'static str {
    if number == 1 { "name it, or save the table without its index" } else { "name it in the header or remove it" }
}

pub(crate) fn fields(n: usize) -> String {
    if n == 1 { "1 field".into() } else { format!("{n} fields") }
}

pub(crate) fn did_you_mean_file(similar: Option<&PathBuf>) -> String {
    similar.map_or("check the path".into(), |path| format!("did you mean {}?", path.display()))
}

pub(crate) fn for_example(example: Option<&PathBuf>) -> String {
    example.map_or(String::new(), |path| format!(", for example {}", path.display()))
}

pub(crate) fn did_you_mean_column(similar: Option<&String>, available: &[String]) -> String {
    const SHOWN: usize = 8;
    if let Some(name) = similar {
        return format!("did you mean {}?", quoted(name));
    }
    let shown: Vec<String> = available.iter().take(SHOWN).map(|name| quoted(name)).collect();
    let more = available.len().saturating_sub(SHOWN);
    let and_more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("the columns are {}{and_more}", shown.join(", "))
}

pub(crate) fn values_and_places(found: &[(f64, u64)], n_distinct: usize, unit: Unit) -> String {
    let unit = unit.word();
    let shown: Vec<String> = found.iter().map(|(value, at)| format!("{} ({unit} {at})", short(*value))).collect();
    let more = n_distinct - found.len();
    if more > 0 {
        return format!("{} and {more} more values", shown.join(", "));
    }
    match shown.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => shown.concat(),
    }
}

pub(crate) fn recode(found: &[(f64, u64)], n_distinct: usize) -> String {
    match found {
        [(a, _), (b, _)] if n_distinct == 2 => {
            format!("write 0 for {} and 1 for {}", short(a.min(*b)), short(a.max(*b)))
        }
        _ => "recode it to two classes or choose a model for such a target".into(),
    }
}

/// `1 row`, `2 rows`.
pub(crate) fn rows(n: usize) -> String {
    if n == 1 { "1 row".into() } else { format!("{n} rows") }
}

/// The first few of a list of texts in quotes.
pub(crate) fn some_of(texts: &[String], n: usize) -> String {
    let shown: Vec<String> = texts.iter().map(|text| quoted(text)).collect();
    let more = n.saturating_sub(texts.len());
    match shown.split_last() {
        _ if more > 0 => format!("{} and {more} more", shown.join(", ")),
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => shown.concat(),
    }
}

/// How two texts are written as classes, or what else to do with a text for a target.
pub(crate) fn recode_texts(texts: &[String], n: usize) -> String {
    match texts {
        [a, b] if n == 2 => format!("write 0 for {} and 1 for {}", quoted(a), quoted(b)),
        _ => "write numbers or name another target".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn excerpts_are_short_and_on_one_line() {
        assert_eq!(excerpt("a\nb\t\"c\" d'e"), "\"a\\nb\\t\"c\" d'e\"");
        let long = excerpt(&"é".repeat(1000));
        assert_eq!(long.chars().count(), EXCERPT_CHARS + 3);
        assert!(long.ends_with("…\""));
    }

    #[test]
    fn numbers_are_short() {
        let shown = [3.0, -0.5, 123456789.0, 1e300, -1.23456789e-20].map(short);
        assert_eq!(shown, ["3", "-0.5", "123456789", "1e300", "-1.235e-20"]);
    }
}
