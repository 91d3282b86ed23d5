//! The words of a formula.

use std::ops::Range;

use super::mistake::{Mistake, Problem};

/// Bytes of a formula, at most.
const LONGEST: usize = 1 << 16;

/// Everything that can be called.
pub(super) const FUNCTIONS: [&str; 12] =
    ["I", "log", "exp", "sqrt", "log2", "log10", "log1p", "abs", "scale", "poly", "C", "offset"];

/// A word, and the bytes that it has.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) span: Range<usize>,
}

/// What a word is.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum TokenKind {
    /// The name of a column or function.
    Name(String),
    /// A name in backticks, which is never a function.
    Quoted(String),
    /// A text in quotes.
    Text(String),
    Number(f64),
    /// One of `+ - : * / ^ ( ) , ~ | = .`
    Symbol(char),
    End,
}

impl TokenKind {
    /// As a message shows it.
    pub(super) fn shown(&self) -> String {
        match self {
            TokenKind::Name(name) => format!("{name:?}"),
            TokenKind::Quoted(name) => format!("`{name}`"),
            TokenKind::Text(text) => format!("the text {text:?}"),
            TokenKind::Number(number) => format!("the number {number}"),
            TokenKind::Symbol(symbol) => format!("\"{symbol}\""),
            TokenKind::End => "the end".into(),
        }
    }
}

/// The words of `text` with an end behind them.
pub(super) fn tokens(text: &str) -> Result<Vec<Token>, Mistake> {
    if text.len() > LONGEST {
        return Err(Problem::TooLong { most: LONGEST }.into());
    }
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let start = at;
        at += first.len_utf8();
        let kind = match first {
            c if c.is_whitespace() => continue,
            '`' | '"' | '\'' => {
                let (content, end) = quoted(text, start, first)?;
                at = end;
                if first == '`' { TokenKind::Quoted(content) } else { TokenKind::Text(content) }
            }
            c if is_first_of_name(c, &text[at..]) => {
                at += text[at..].find(|c| !is_of_name(c)).unwrap_or(text.len() - at);
                TokenKind::Name(text[start..at].into())
            }
            c if c.is_ascii_digit() || (c == '.' && text[at..].starts_with(|c: char| c.is_ascii_digit())) => {
                at = end_of_number(text, start);
                let number = text[start..at].parse().ok().filter(|number: &f64| number.is_finite());
                let problem = || Problem::NotANumber { text: text[start..at].into() };
                TokenKind::Number(number.ok_or_else(|| Mistake::at(text, start..at, problem()))?)
            }
            '+' | '-' | ':' | '*' | '/' | '^' | '(' | ')' | ',' | '~' | '|' | '=' | '.' => TokenKind::Symbol(first),
            found => {
                let advice = match found {
                    '%' | '&' | '!' | '<' | '>' => "the operators are + - : * ^, and + - * / ^ within I( )",
                    _ => "a column with an odd name is written in backticks, `like this`",
                };
                return Err(Mistake::at(text, start..at, Problem::Character { found, advice }));
            }
        };
        tokens.push(Token { kind, span: start..at });
    }
    tokens.push(Token { kind: TokenKind::End, span: text.len()..text.len() });
    Ok(tokens)
}

fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '.'
}

/// Whether a name begins here; a point begins one only before a letter.
fn is_first_of_name(c: char, rest: &str) -> bool {
    c.is_alphabetic() || c == '_' || (c == '.' && rest.starts_with(|c: char| c.is_alphabetic() || c == '_'))
}

/// Digits, a point, digits, and an exponent if one follows.
fn end_of_number(text: &str, start: usize) -> usize {
    let bytes = text.as_bytes();
    let digits = |mut at: usize| {
        while bytes.get(at).is_some_and(u8::is_ascii_digit) {
            at += 1;
        }
        at
    };
    let mut at = digits(start);
    if bytes.get(at) == Some(&b'.') {
        at = digits(at + 1);
    }
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
        let end = digits(at + 1 + sign);
        if end > at + 1 + sign {
            at = end;
        }
    }
    at
}

/// The text between two marks, in which a backslash stands before a mark or a backslash, and where it ends.
fn quoted(text: &str, start: usize, mark: char) -> Result<(String, usize), Mistake> {
    let mut content = String::new();
    let mut characters = text[start + 1..].char_indices();
    while let Some((offset, c)) = characters.next() {
        match c {
            c if c == mark => return Ok((content, start + 1 + offset + 1)),
            '\\' => content.extend(characters.next().map(|(_, c)| c)),
            c => content.push(c),
        }
    }
    let what = if mark == '`' { "name" } else { "text" };
    Err(Mistake::at(text, start..text.len(), Problem::Unclosed { what, closing: mark }))
}

/// A name as a formula has it: in backticks where it is not a plain word.
pub(super) fn written(name: &str) -> String {
    let mut characters = name.chars();
    let first = characters.next();
    let is_plain = first.is_some_and(|c| is_first_of_name(c, characters.as_str()))
        && name.chars().all(is_of_name)
        && !FUNCTIONS.contains(&name);
    if is_plain { name.into() } else { format!("`{}`", name.replace('\\', "\\\\").replace('`', "\\`")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<TokenKind> {
        tokens(text).unwrap().into_iter().map(|token| token.kind).collect()
    }

    #[test]
    fn words_numbers_and_names() {
        let name = |text: &str| TokenKind::Name(text.into());
        let symbol = TokenKind::Symbol;
        assert_eq!(
            kinds("y~x.1+.5*größe^2e3"),
            [
                name("y"),
                symbol('~'),
                name("x.1"),
                symbol('+'),
                TokenKind::Number(0.5),
                symbol('*'),
                name("größe"),
                symbol('^'),
                TokenKind::Number(2000.0),
                TokenKind::End
            ]
        );
        assert_eq!(kinds(r"`a\`b\\`"), [TokenKind::Quoted(r"a`b\".into()), TokenKind::End]);
        assert_eq!(kinds("'it''s'")[..2], [TokenKind::Text("it".into()), TokenKind::Text("s".into())]);
        assert_eq!(kinds(". .x")[..2], [symbol('.'), name(".x")]);
        assert_eq!(kinds("2e")[..2], [TokenKind::Number(2.0), name("e")]);
    }

    #[test]
    fn odd_names_are_written_so_that_they_are_read() {
        for odd in ["size, m", "2nd", "a`b", "\\", "log", "", "x-y", "größe", "a.b_1", ".5", "."] {
            let read = kinds(&written(odd));
            assert!(read == [TokenKind::Quoted(odd.into()), TokenKind::End] || read[0] == TokenKind::Name(odd.into()));
        }
    }

    #[test]
    fn what_is_no_word_is_named() {
        assert!(tokens("y ~ a & b").unwrap_err().to_string().contains("'&' means nothing"));
        assert!(tokens("y ~ `a").unwrap_err().to_string().contains("add `"));
        assert!(tokens("1e999").is_err());
        assert!(tokens(&"a".repeat(LONGEST + 1)).is_err());
    }
}
