//! Settings read from a file.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use elinvar_data::nearest;

use super::Settings;
use crate::error::Error;

/// Reads a file written by a fit or by hand.
///
/// # Errors
/// A sentence with the place of the first mistake.
pub fn read(path: &Path) -> Result<Settings, Error> {
    let text = fs::read_to_string(path).map_err(|source| match source.kind() {
        ErrorKind::NotFound => Error::NoSettings { path: path.into() },
        ErrorKind::InvalidData => Error::NotText { path: path.into() },
        _ => Error::Unreadable { path: path.into(), source },
    })?;
    let mistake = |(place, sentence)| Error::Settings { path: path.into(), place, sentence };
    let mut settings = parse(&text).map_err(mistake)?;
    settings.base = path.parent().map(Path::to_path_buf);
    Ok(settings)
}

/// The settings, or the place of a mistake and a sentence about it.
fn parse(text: &str) -> Result<Settings, (String, String)> {
    toml::from_str(text).map_err(|error| {
        let place = error.span().map_or(String::new(), |span| place(text, span.start));
        (place, sentence(error.message()))
    })
}

fn place(text: &str, at: usize) -> String {
    let before = &text[..at.min(text.len())];
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().map_or(0, |last| last.chars().count()) + 1;
    format!(", line {line}, column {column}")
}

/// What the reader says, with the nearest name for a key that does not exist.
fn sentence(message: &str) -> String {
    let message = message.trim_end_matches('\n').replace('\n', ", ");
    let Some(rest) = message.strip_prefix("unknown field ") else { return message };
    let mut names = rest.split('`').skip(1).step_by(2);
    let Some(unknown) = names.next() else { return message };
    let known: Vec<&str> = names.collect();
    match nearest(unknown, known.iter().copied()) {
        Some(name) => format!("there is no key \"{unknown}\" here; did you mean \"{name}\"?"),
        None => format!("there is no key \"{unknown}\" here; the keys are {}", known.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mistake(text: &str) -> String {
        let (place, sentence) = parse(text).unwrap_err();
        format!("{place}: {sentence}")
    }

    #[test]
    fn a_mistake_has_a_place_and_a_remedy() {
        assert_eq!(
            mistake("[model]\nprior_ds = 2"),
            ", line 2, column 1: there is no key \"prior_ds\" here; did you mean \"prior_sd\"?"
        );
        assert_eq!(
            mistake("[model]\nprior_sd = -2"),
            ", line 2, column 12: \"-2\" will not do: give a positive number"
        );
        assert_eq!(mistake("[family]\nname = \"mgo\""), ", line 2, column 8: \"mgo\" will not do: did you mean mog?");
        assert!(mistake("[family\nname = 1").starts_with(", line 1, column 8: "), "{}", mistake("[family\nname = 1"));
        assert!(mistake("zzz = 1").contains("there is no key \"zzz\" here; the keys are elinvar, "));
    }

    #[test]
    fn numbers_and_words_are_read_as_after_flags() {
        let settings = parse("[family]\nname = \"student_t\"\nshape = \"learn\"\n[plan]\nseed = 3").unwrap();
        assert_eq!(settings.family.shape, Some(super::super::Shape::Learn));
        assert_eq!(settings.plan.seed, 3);
        let settings = parse("[model]\nname = \"linear\"\nprior_sd = 10").unwrap();
        assert_eq!(settings.model.prior_sd, Some(10.0));
    }
}
