//! What is wrong with a formula, or between a formula and a table: data with a sentence, and a mark under the place.

use std::fmt;
use std::ops::Range;
use std::path::PathBuf;

use elinvar_data::Place;

use super::lexer::{FUNCTIONS, Token, TokenKind, tokens};
use crate::number::significant;

/// A problem, and where in the formula it is.
#[derive(Debug)]
pub struct Mistake {
    /// What is wrong.
    pub problem: Box<Problem>,
    /// The formula and the bytes of it that are meant; `None` where a table does not suit what was learned before.
    place: Option<(String, Range<usize>)>,
}

/// What can be wrong with a formula.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the sentence of each variant says what its fields are")]
pub enum Problem {
    /// Something that no formula has.
    #[error("{found:?} means nothing in a formula; {advice}")]
    Character { found: char, advice: &'static str },
    /// A quote or backtick that is not closed.
    #[error("the {what} that begins here is not closed; add {closing}")]
    Unclosed { what: &'static str, closing: char },
    /// A number that is none.
    #[error("{text} is not a number; write it as 2, 0.5 or 1e-3")]
    NotANumber { text: String },
    /// Something else than what must stand here.
    #[error("{found} stands where {expected} should be")]
    Unexpected { found: String, expected: &'static str },
    /// A formula without a tilde.
    #[error("a formula is written y ~ a + b: what is explained, ~, and what explains it")]
    NoTilde,
    /// Too many brackets within brackets.
    #[error("the brackets are nested more than {most} deep; write the formula in a simpler way")]
    TooDeep { most: usize },
    /// A formula of more characters than one has.
    #[error("a formula has at most {most} characters; use . for all columns of the table")]
    TooLong { most: usize },
    /// An expansion that has no end in sight.
    #[error("this makes more than {most} terms; leave interactions out")]
    TooManyTerms { most: usize },
    /// More columns than there is room for.
    #[error("this makes {n_columns} columns, and at most {most} fit into memory; leave interactions of categories out")]
    TooManyColumns { n_columns: usize, most: usize },
    /// An interaction of too many columns.
    #[error("an interaction has at most {most} columns; leave some out")]
    TooManyFactors { most: usize },
    /// A function that is not known.
    #[error("there is no function {name}; {}", known_functions(.similar.as_deref()))]
    Function { name: String, similar: Option<String> },
    /// A function in a place where it cannot be.
    #[error("{name}() is a term of its own and cannot stand within another function; {advice}")]
    NotANumberFunction { name: String, advice: &'static str },
    /// A number among the terms that is neither 0 nor 1.
    #[error("{text} is not a term; 1 is the intercept, 0 leaves it out, and arithmetic is written within I( )")]
    NumberAsTerm { text: String },
    /// A power that is not a small whole number.
    #[error("^ takes a whole number from 1 to {most} here; for powers of a column write I(x^2)")]
    Power { most: usize },
    /// A degree that is not a small whole number.
    #[error("poly(column, k) takes a whole number k from 1 to {most}")]
    Degree { most: usize },
    /// More degrees than a column has different values.
    #[error(
        "poly of degree {degree} needs more than {degree} different values, and there are {found}; take a smaller degree"
    )]
    TooFewValues { degree: usize, found: usize },
    /// A `.` where no columns are meant.
    #[error(". stands for all other columns and can only be a term")]
    DotInExpression,
    /// The response is among the terms.
    #[error("{column:?} is what the formula explains; take it out of the terms")]
    ResponseAsTerm { column: String },
    /// An offset where only a term can be.
    #[error("offset() is added to the linear predictor as it is: it cannot be part of an interaction or be taken out")]
    OffsetInTerm,
    /// Neither an intercept nor anything else.
    #[error("the formula has no columns; add one, or leave the intercept in")]
    NoColumns,
    /// Something behind the bar that is not known.
    #[error("behind | stand trials(column) and weights(column), joined by +")]
    BehindBar,
    /// The same thing twice behind the bar.
    #[error("{what}() is given twice; give it once")]
    Twice { what: &'static str },

    /// A column that the table does not have.
    #[error("{}: there is no column {name:?}; {}", file.display(), did_you_mean(.similar.as_deref(), .available))]
    NoSuchColumn { file: PathBuf, name: String, similar: Option<String>, available: Vec<String> },
    /// Texts where numbers are needed.
    #[error("{place}: {text:?} is a text and {expression} needs numbers; correct the cell, or use the column as it is")]
    Text { place: Place, text: String, expression: String },
    /// A function outside its domain, or an overflow.
    #[error("{place}: {expression} is {problem} for the value {}; {advice}", significant(*.value))]
    Undefined { place: Place, expression: String, problem: &'static str, value: f64, advice: String },
    /// A category of which every row has the same level.
    #[error(
        "{}, column {column:?}: every row has the level {level:?}, so that there is nothing to compare; leave it \
         out",
        file.display()
    )]
    OneLevel { file: PathBuf, column: String, level: String },
    /// A column of numbers with nearly as many values as rows.
    #[error(
        "{}, column {column:?}: {n_levels} different values in {n_rows} rows are too many for a category; use \
         the column as numbers",
        file.display()
    )]
    TooManyLevels { file: PathBuf, column: String, n_levels: usize, n_rows: usize },
    /// A reference that is not among the levels.
    #[error("{column:?} has no level {level:?}; {}", did_you_mean(.similar.as_deref(), .levels))]
    NoSuchLevel { column: String, level: String, similar: Option<String>, levels: Vec<String> },
    /// A level that the rows of the fit did not have.
    #[error(
        "{place}: {level:?} is not among the levels of the fit, which are {}; correct the cell or leave the row \
         out",
        listed(.levels)
    )]
    NewLevel { place: Place, level: String, levels: Vec<String> },
    /// A column that is the same in every row.
    #[error(
        "{}: {name} is {} in every row, which duplicates the intercept; leave it out, or the intercept by 0 \
         +",
        file.display(), significant(*.value)
    )]
    Constant { file: PathBuf, name: String, value: f64 },
    /// Two columns of one name.
    #[error("two columns of the design are called {name}; rename a column of the table")]
    SameName { name: String },
    /// A name that the program has for itself.
    #[error("the name {name} is taken by {by}; rename the column of the table")]
    NameTaken { name: String, by: &'static str },
    /// A target of more or fewer classes than two.
    #[error(
        "{}, column {column:?}: two classes are needed and there are {}; name another \
         column",
        file.display(), counted(.levels)
    )]
    NotTwoClasses { file: PathBuf, column: String, levels: Vec<String> },
    /// Too few or too many levels for classes.
    #[error(
        "{}, column {column:?}: classes of this model are 3 to 32, and there are {}; for two use logistic, for numbers linear",
        file.display(), counted(.levels)
    )]
    NumberOfClasses { file: PathBuf, column: String, levels: Vec<String> },
    /// Classes where numbers are needed.
    #[error(
        "{}, column {column:?}: this holds texts ({}) and the model needs \
         {needed}",
        file.display(), listed(.levels)
    )]
    TextResponse { file: PathBuf, column: String, levels: Vec<String>, needed: &'static str },
    /// A response that is computed where it cannot be.
    #[error("{column} is computed, and the model needs {needed}; name a column")]
    NeedsColumn { column: String, needed: &'static str },
    /// A model of trials without them.
    #[error(
        "the model {model} needs the number of trials of each row: elinvar fit {model} FILE \"events | trials(n) ~ x\""
    )]
    NoTrials { model: &'static str },
    /// A model that is asked for by a target alone.
    #[error("the model {model} is asked for by a formula: elinvar fit {model} FILE \"y ~ x\"")]
    NeedsFormula { model: &'static str },
    /// Trials or weights that the model does not have.
    #[error("the model {model} has no {what}; leave | {what}() out, or use {instead}")]
    NotOfThisModel { model: &'static str, what: &'static str, instead: &'static str },
    /// A number of trials or a weight that is none.
    #[error("{place}: {} is not {what}", significant(*.value))]
    NotAmong { place: Place, value: f64, what: &'static str },
    /// A recipe that no version has written.
    #[error("this is not a recipe that elinvar has written ({what})")]
    NotARecipe { what: String },
}

impl Mistake {
    /// A problem at these bytes of a formula.
    pub(super) fn at(text: &str, place: Range<usize>, problem: Problem) -> Self {
        let place = narrowed(text, place, problem.at_fault());
        Self { problem: Box::new(problem), place: Some((text.into(), place)) }
    }

    /// With a place in a formula, unless it has one.
    pub(super) fn or_at(self, text: &str, place: &Range<usize>) -> Self {
        match self.place {
            Some(_) => self,
            None => Self::at(text, place.clone(), *self.problem),
        }
    }
}

impl Problem {
    /// The word of the formula that is at fault, where it may be part of a larger one.
    fn at_fault(&self) -> Option<&str> {
        match self {
            Problem::NoSuchColumn { name, .. } => Some(name),
            Problem::NoSuchLevel { level, .. } => Some(level),
            Problem::OneLevel { column, .. } | Problem::TooManyLevels { column, .. } => Some(column),
            Problem::Text { place, .. } => Some(&place.column),
            _ => None,
        }
    }
}

/// The place of this word within a place, if it is there; a name before a bracket is a function.
fn narrowed(text: &str, place: Range<usize>, word: Option<&str>) -> Range<usize> {
    let Some(word) = word else { return place };
    let tokens = tokens(text).unwrap_or_default();
    let is_word = |(token, next): (&Token, Option<&Token>)| {
        let is_function = next.is_some_and(|next| next.kind == TokenKind::Symbol('('));
        let is_same = match &token.kind {
            TokenKind::Name(name) => name == word && !is_function,
            TokenKind::Quoted(name) | TokenKind::Text(name) => name == word,
            TokenKind::Number(_) => &text[token.span.clone()] == word,
            _ => false,
        };
        is_same && place.start <= token.span.start && token.span.end <= place.end
    };
    let followed = tokens.iter().enumerate().map(|(i, token)| (token, tokens.get(i + 1)));
    followed.clone().find(|pair| is_word(*pair)).map_or(place.clone(), |(token, _)| token.span.clone())
}

impl From<Problem> for Mistake {
    fn from(problem: Problem) -> Self {
        Self { problem: Box::new(problem), place: None }
    }
}

impl std::error::Error for Mistake {}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.problem.fmt(f)?;
        let Some((text, place)) = &self.place else { return Ok(()) };
        let (line, before, marked) = excerpt(text, place);
        write!(f, "\n  {line}\n  {}{}", " ".repeat(before), "^".repeat(marked.max(1)))
    }
}

/// The part of a formula around a place on one line, the characters before the place and those of it.
fn excerpt(text: &str, place: &Range<usize>) -> (String, usize, usize) {
    /// Characters shown on either side.
    const AROUND: usize = 60;
    let shown = |c: char| if c.is_control() { ' ' } else { c };
    let before: Vec<char> = text[..place.start].chars().map(shown).collect();
    let marked: Vec<char> = text[place.clone()].chars().map(shown).take(AROUND).collect();
    let after: Vec<char> = text[place.end..].chars().map(shown).take(AROUND).collect();
    let start = before.len().saturating_sub(AROUND);
    let lead = if start > 0 { "…" } else { "" };
    let line: String = lead.chars().chain(before[start..].iter().copied()).collect();
    let n_before = line.chars().count();
    let tail = if text[place.end..].chars().nth(AROUND).is_some() { "…" } else { "" };
    let rest: String = marked.iter().chain(&after).collect();
    (format!("{line}{rest}{tail}"), n_before, marked.len())
}

fn known_functions(similar: Option<&str>) -> String {
    match similar {
        Some(name) => format!("did you mean {name}?"),
        None => format!("the functions are {}", FUNCTIONS.join(", ")),
    }
}

fn did_you_mean(similar: Option<&str>, all: &[String]) -> String {
    match similar {
        Some(name) => format!("did you mean {name:?}?"),
        None => format!("there are {}", listed(all)),
    }
}

fn counted(levels: &[String]) -> String {
    if levels.is_empty() { "none".into() } else { format!("{} ({})", levels.len(), listed(levels)) }
}

/// The first of some words, quoted.
fn listed(words: &[String]) -> String {
    const SHOWN: usize = 8;
    let mut text = words.iter().take(SHOWN).map(|word| format!("{word:?}")).collect::<Vec<_>>().join(", ");
    if words.len() > SHOWN {
        text += &format!(", … ({} in all)", words.len());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mark_stands_under_the_place() {
        let mistake = Mistake::at("y ~ größe + agee", 14..18, Problem::NoColumns);
        let text = mistake.to_string();
        assert!(text.ends_with("\n  y ~ größe + agee\n              ^^^^"), "{text}");
        let long = format!("y ~ {} + b", "a + ".repeat(100));
        let at = long.len() - 1..long.len();
        let text = Mistake::at(&long, at, Problem::NoColumns).to_string();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[1].chars().count(), lines[2].chars().count(), "{text}");
        assert!(lines[1].starts_with("  …"));
    }
}
