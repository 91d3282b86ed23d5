//! From words to a tree, in one pass with one word of foresight.
//!
//! Among terms `^` binds tighter than `:`, that tighter than `*`, and that tighter than `+` and `-`, as in R; within a
//! function the operators are those of arithmetic.

use std::ops::Range;

use elinvar_data::nearest;

use super::arithmetic::{Arithmetic, Function, Sign, Way};
use super::lexer::{FUNCTIONS, Token, TokenKind, tokens};
use super::mistake::{Mistake, Problem};
use super::tree::{Factor, Node, NodeKind, Response, Tree};

/// Brackets within brackets, at most: each takes part of the stack.
const DEEPEST: usize = 64;
/// Columns of an interaction, and exponents of `^`, at most.
pub(super) const MOST_FACTORS: usize = 8;
/// Degree of a polynomial, at most.
const MOST_DEGREE: usize = 20;

/// Reads a formula.
pub(super) fn formula(text: &str) -> Result<Tree, Mistake> {
    let mut parser = Parser::new(text)?;
    if !parser.tokens.iter().any(|token| token.kind == TokenKind::Symbol('~')) {
        return Err(parser.mistake(0..text.len(), Problem::NoTilde));
    }
    let response = parser.response()?;
    parser.expect('~', "~, between what is explained and what explains it,")?;
    let terms = parser.sum(0)?;
    parser.end("an operator, such as +,")?;
    Ok(Tree { response, terms })
}

/// Reads what may stand within `I()`.
pub(super) fn arithmetic(text: &str) -> Result<Arithmetic, Mistake> {
    let mut parser = Parser::new(text)?;
    let read = parser.arithmetic(0)?;
    parser.end("an operator")?;
    Ok(read)
}

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    at: usize,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str) -> Result<Self, Mistake> {
        Ok(Self { text, tokens: tokens(text)?, at: 0 })
    }

    fn peek(&self) -> &Token {
        &self.tokens[self.at]
    }

    /// The next word; the end is never passed.
    fn next(&mut self) -> Token {
        let token = self.tokens[self.at].clone();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    fn is(&self, symbol: char) -> bool {
        self.peek().kind == TokenKind::Symbol(symbol)
    }

    /// Takes a symbol if it is next.
    fn take(&mut self, symbol: char) -> bool {
        let is_next = self.is(symbol);
        if is_next {
            self.next();
        }
        is_next
    }

    fn mistake(&self, span: Range<usize>, problem: Problem) -> Mistake {
        Mistake::at(self.text, span, problem)
    }

    fn unexpected(&self, expected: &'static str) -> Mistake {
        let token = self.peek();
        self.mistake(token.span.clone(), Problem::Unexpected { found: token.kind.shown(), expected })
    }

    fn expect(&mut self, symbol: char, expected: &'static str) -> Result<(), Mistake> {
        if self.take(symbol) { Ok(()) } else { Err(self.unexpected(expected)) }
    }

    fn end(&self, expected: &'static str) -> Result<(), Mistake> {
        if self.peek().kind == TokenKind::End { Ok(()) } else { Err(self.unexpected(expected)) }
    }

    fn check_depth(&self, depth: usize) -> Result<(), Mistake> {
        if depth <= DEEPEST {
            return Ok(());
        }
        Err(self.mistake(self.peek().span.clone(), Problem::TooDeep { most: DEEPEST }))
    }

    /// Bytes from `start` to the last word taken.
    fn since(&self, start: usize) -> Range<usize> {
        start..self.tokens[self.at.saturating_sub(1)].span.end.max(start)
    }

    fn response(&mut self) -> Result<Response, Mistake> {
        let start = self.peek().span.start;
        let of = self.arithmetic(0)?;
        let mut response = Response { of, span: self.since(start), trials: None, weights: None };
        if !self.take('|') {
            return Ok(response);
        }
        loop {
            let token = self.next();
            let (place, what) = match &token.kind {
                TokenKind::Name(name) if name == "trials" => (&mut response.trials, "trials"),
                TokenKind::Name(name) if name == "weights" => (&mut response.weights, "weights"),
                _ => return Err(self.mistake(token.span, Problem::BehindBar)),
            };
            if place.is_some() {
                return Err(self.mistake(token.span, Problem::Twice { what }));
            }
            self.expect('(', "( and a column")?;
            let of = self.arithmetic(0)?;
            self.expect(')', ")")?;
            *place = Some((of, self.since(token.span.start)));
            if !self.take('+') {
                return Ok(response);
            }
        }
    }

    fn sum(&mut self, depth: usize) -> Result<Node, Mistake> {
        self.check_depth(depth)?;
        let start = self.peek().span.start;
        let is_taken_out = !self.take('+') && self.take('-');
        let mut parts = vec![(is_taken_out, self.product(depth)?)];
        loop {
            if self.take('+') {
                parts.push((false, self.product(depth)?));
            } else if self.take('-') {
                parts.push((true, self.product(depth)?));
            } else {
                let span = self.since(start);
                let is_alone = parts.len() == 1 && !parts[0].0;
                return match parts.pop() {
                    Some((_, node)) if is_alone => Ok(node),
                    last => Ok(Node { kind: NodeKind::Sum(parts.into_iter().chain(last).collect()), span }),
                };
            }
        }
    }

    fn product(&mut self, depth: usize) -> Result<Node, Mistake> {
        self.joined('*', depth, Self::interaction, NodeKind::Cross)
    }

    fn interaction(&mut self, depth: usize) -> Result<Node, Mistake> {
        self.joined(':', depth, Self::power, NodeKind::Interaction)
    }

    /// Parts joined by a symbol; a single one stays what it is.
    fn joined(
        &mut self,
        symbol: char,
        depth: usize,
        part: fn(&mut Self, usize) -> Result<Node, Mistake>,
        kind: fn(Vec<Node>) -> NodeKind,
    ) -> Result<Node, Mistake> {
        let start = self.peek().span.start;
        let first = part(self, depth)?;
        if !self.is(symbol) {
            return Ok(first);
        }
        let mut parts = vec![first];
        while self.take(symbol) {
            parts.push(part(self, depth)?);
        }
        if parts.len() > MOST_FACTORS {
            return Err(self.mistake(self.since(start), Problem::TooManyFactors { most: MOST_FACTORS }));
        }
        Ok(Node { kind: kind(parts), span: self.since(start) })
    }

    fn power(&mut self, depth: usize) -> Result<Node, Mistake> {
        let start = self.peek().span.start;
        let base = self.atom(depth)?;
        if !self.take('^') {
            return Ok(base);
        }
        let token = self.next();
        let power = match token.kind {
            TokenKind::Number(number) => whole(number, MOST_FACTORS),
            _ => None,
        };
        let Some(power) = power else {
            return Err(self.mistake(token.span, Problem::Power { most: MOST_FACTORS }));
        };
        Ok(Node { kind: NodeKind::Power(Box::new(base), power), span: self.since(start) })
    }

    fn atom(&mut self, depth: usize) -> Result<Node, Mistake> {
        let Token { kind, span } = self.peek().clone();
        let kind = match kind {
            TokenKind::Symbol('(') => {
                self.next();
                let inner = self.sum(depth + 1)?;
                self.expect(')', "an operator, such as +, or )")?;
                inner.kind
            }
            TokenKind::Symbol('.') => {
                self.next();
                NodeKind::Dot
            }
            TokenKind::Number(number) => {
                self.next();
                match number {
                    0.0 => NodeKind::Zero,
                    1.0 => NodeKind::One,
                    _ => {
                        let text = self.text[span.clone()].into();
                        return Err(self.mistake(span, Problem::NumberAsTerm { text }));
                    }
                }
            }
            TokenKind::Quoted(name) => {
                self.next();
                NodeKind::Factor(Factor::Column(name))
            }
            TokenKind::Name(name) => {
                self.next();
                if self.is('(') { self.call(&name, &span, depth)? } else { NodeKind::Factor(Factor::Column(name)) }
            }
            _ => return Err(self.unexpected("a column")),
        };
        Ok(Node { kind, span: self.since(span.start) })
    }

    /// What stands behind the name of a function among terms.
    fn call(&mut self, name: &str, span: &Range<usize>, depth: usize) -> Result<NodeKind, Mistake> {
        let depth = depth + 1;
        self.check_depth(depth)?;
        let known = FUNCTIONS.contains(&name);
        if !known {
            return Err(self.unknown_function(name, span));
        }
        self.expect('(', "(")?;
        if name == "C" {
            return self.category();
        }
        let of = self.arithmetic(depth)?;
        let kind = match name {
            "offset" => NodeKind::Offset(of),
            "scale" => NodeKind::Factor(Factor::Scale(of)),
            "poly" => {
                self.expect(',', "a comma and a degree, as in poly(x, 2),")?;
                let token = self.next();
                let degree = match token.kind {
                    TokenKind::Number(number) => whole(number, MOST_DEGREE),
                    _ => None,
                };
                let degree = degree.ok_or_else(|| self.mistake(token.span, Problem::Degree { most: MOST_DEGREE }))?;
                NodeKind::Factor(Factor::Poly(of, degree))
            }
            _ => {
                let function = Function::by_name(name).unwrap_or(Function::Identity);
                let plain = matches!(of, Arithmetic::Column(_)) && function == Function::Identity;
                NodeKind::Factor(Factor::Number(if plain { of } else { Arithmetic::Call(function, Box::new(of)) }))
            }
        };
        self.expect(')', "an operator or )")?;
        Ok(kind)
    }

    /// `column)` or `column, ref = level)`.
    fn category(&mut self) -> Result<NodeKind, Mistake> {
        let (TokenKind::Name(column) | TokenKind::Quoted(column)) = self.peek().kind.clone() else {
            return Err(self.unexpected("the name of a column"));
        };
        self.next();
        let mut reference = None;
        if self.take(',') {
            if self.peek().kind != TokenKind::Name("ref".into()) {
                return Err(self.unexpected("ref = and a level"));
            }
            self.next();
            self.expect('=', "= and a level")?;
            let sign = if self.take('-') { "-" } else { "" };
            let token = self.peek().clone();
            reference = match token.kind {
                TokenKind::Text(level) | TokenKind::Name(level) | TokenKind::Quoted(level) if sign.is_empty() => {
                    Some(level)
                }
                TokenKind::Number(_) => Some(format!("{sign}{}", &self.text[token.span])),
                _ => return Err(self.unexpected("a level, such as ref = 'low',")),
            };
            self.next();
        }
        self.expect(')', "a comma and ref = …, or )")?;
        Ok(NodeKind::Factor(Factor::Category { column, reference }))
    }

    fn unknown_function(&self, name: &str, span: &Range<usize>) -> Mistake {
        let similar = nearest(name, FUNCTIONS).map(str::to_string);
        self.mistake(span.clone(), Problem::Function { name: name.into(), similar })
    }

    fn arithmetic(&mut self, depth: usize) -> Result<Arithmetic, Mistake> {
        self.check_depth(depth)?;
        let first = if self.take('-') { Sign::Minus } else { Sign::Plus };
        let mut terms = vec![(first, self.multiplied(depth)?)];
        loop {
            if self.take('+') {
                terms.push((Sign::Plus, self.multiplied(depth)?));
            } else if self.take('-') {
                terms.push((Sign::Minus, self.multiplied(depth)?));
            } else {
                return Ok(match terms.pop() {
                    Some((Sign::Plus, term)) if terms.is_empty() => term,
                    last => Arithmetic::Sum(terms.into_iter().chain(last).collect()),
                });
            }
        }
    }

    fn multiplied(&mut self, depth: usize) -> Result<Arithmetic, Mistake> {
        let mut factors = vec![(Way::Times, self.raised(depth)?)];
        loop {
            if self.take('*') {
                factors.push((Way::Times, self.raised(depth)?));
            } else if self.take('/') {
                factors.push((Way::Over, self.raised(depth)?));
            } else {
                return Ok(match factors.pop() {
                    Some((_, factor)) if factors.is_empty() => factor,
                    last => Arithmetic::Product(factors.into_iter().chain(last).collect()),
                });
            }
        }
    }

    /// A power, whose exponent may be negative; `2^3^x` is `2^(3^x)`.
    fn raised(&mut self, depth: usize) -> Result<Arithmetic, Mistake> {
        self.check_depth(depth)?;
        if self.take('-') {
            return Ok(Arithmetic::Sum(vec![(Sign::Minus, self.raised(depth + 1)?)]));
        }
        let base = self.number(depth)?;
        if !self.take('^') {
            return Ok(base);
        }
        Ok(Arithmetic::Power(Box::new(base), Box::new(self.raised(depth + 1)?)))
    }

    fn number(&mut self, depth: usize) -> Result<Arithmetic, Mistake> {
        let Token { kind, span } = self.peek().clone();
        match kind {
            TokenKind::Number(number) => {
                self.next();
                Ok(Arithmetic::Number(number))
            }
            TokenKind::Quoted(name) => {
                self.next();
                Ok(Arithmetic::Column(name))
            }
            TokenKind::Symbol('(') => {
                self.next();
                let inner = self.arithmetic(depth + 1)?;
                self.expect(')', "an operator or )")?;
                Ok(inner)
            }
            TokenKind::Symbol('.') => Err(self.mistake(span, Problem::DotInExpression)),
            TokenKind::Name(name) => {
                self.next();
                if !self.is('(') {
                    return Ok(Arithmetic::Column(name));
                }
                let Some(function) = Function::by_name(&name) else {
                    let advice = "make it a term, or write out the arithmetic";
                    let problem = Problem::NotANumberFunction { name: name.clone(), advice };
                    let is_known = FUNCTIONS.contains(&name.as_str());
                    return Err(if is_known {
                        self.mistake(span, problem)
                    } else {
                        self.unknown_function(&name, &span)
                    });
                };
                self.next();
                let of = self.arithmetic(depth + 1)?;
                self.expect(')', "an operator or )")?;
                Ok(if function == Function::Identity { of } else { Arithmetic::Call(function, Box::new(of)) })
            }
            _ => Err(self.unexpected("a column or a number")),
        }
    }
}

/// A whole number from 1 to `most`.
fn whole(number: f64, most: usize) -> Option<usize> {
    (1..=most).find(|n| *n as f64 == number)
}
