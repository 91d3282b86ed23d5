//! Flags whose value is one of a few words: known to the parser, the help and the completions of a shell.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, TypedValueParser};
use clap::{Arg, Command};
use elinvar_data::nearest;

/// The words of a flag and what they mean.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Words<T: 'static> {
    /// What the words are, in the plural.
    pub(crate) what: &'static str,
    pub(crate) words: &'static [(&'static str, T)],
}

impl<T: Copy> Words<T> {
    fn find(&self, text: &str) -> Result<T, String> {
        if let Some((_, meaning)) = self.words.iter().find(|(word, _)| *word == text) {
            return Ok(*meaning);
        }
        let all: Vec<&str> = self.words.iter().map(|(word, _)| *word).collect();
        Err(match nearest(text, all.iter().copied()) {
            Some(word) => format!("did you mean {word}?"),
            None => format!("the {} are {}", self.what, all.join(", ")),
        })
    }
}

impl<T: Copy + Send + Sync + 'static> TypedValueParser for Words<T> {
    type Value = T;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<T, clap::Error> {
        let words = *self;
        TypedValueParser::parse_ref(&move |text: &str| words.find(text), command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(self.words.iter().map(|(word, _)| PossibleValue::new(*word))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_answered_with_the_word() {
        let words = Words { what: "formats", words: &[("csv", 1), ("parquet", 2)] };
        assert_eq!(words.find("parquet"), Ok(2));
        assert_eq!(words.find("Parqet"), Err("did you mean parquet?".into()));
        assert_eq!(words.find("xlsx"), Err("the formats are csv, parquet".into()));
    }
}
