//! A formula as it is written, before it is expanded to terms.

use std::ops::Range;

use super::arithmetic::Arithmetic;
use super::lexer::written;

/// What is explained, and by what.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    pub(super) response: Response,
    pub(super) terms: Node,
}

/// The left side of a formula.
#[derive(Clone, Debug)]
pub(super) struct Response {
    pub(super) of: Arithmetic,
    pub(super) span: Range<usize>,
    pub(super) trials: Option<(Arithmetic, Range<usize>)>,
    pub(super) weights: Option<(Arithmetic, Range<usize>)>,
}

/// A part of the right side, and the bytes that it has.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) kind: NodeKind,
    pub(super) span: Range<usize>,
}

/// What a part of the right side is.
#[derive(Clone, Debug)]
pub(super) enum NodeKind {
    /// `1`, the intercept.
    One,
    /// `0`, no intercept.
    Zero,
    /// `.`, all other columns.
    Dot,
    Factor(Factor),
    Offset(Arithmetic),
    /// `a + b - c`: whether each is taken out.
    Sum(Vec<(bool, Node)>),
    /// `a * b`: each, and their interactions.
    Cross(Vec<Node>),
    /// `a:b`.
    Interaction(Vec<Node>),
    /// `(a + b)^n`: interactions of up to n of them.
    Power(Box<Node>, usize),
}

/// What a term is made of.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Factor {
    /// A column of numbers or texts.
    Column(String),
    /// `C(column, ref = level)`, a category whatever it holds.
    Category { column: String, reference: Option<String> },
    /// A function of numbers.
    Number(Arithmetic),
    /// `scale(x)`.
    Scale(Arithmetic),
    /// `poly(x, degree)`.
    Poly(Arithmetic, usize),
}

impl Factor {
    /// As a formula has it; two factors are the same if their names are.
    pub(super) fn name(&self) -> String {
        match self {
            Factor::Column(name) => written(name),
            Factor::Category { column, .. } => format!("C({})", written(column)),
            Factor::Number(of) => of.to_string(),
            Factor::Scale(of) => format!("scale({of})"),
            Factor::Poly(of, degree) => format!("poly({of}, {degree})"),
        }
    }

    /// Adds the names of its columns to a list, each once.
    pub(super) fn add_columns(&self, names: &mut Vec<String>) {
        match self {
            Factor::Column(name) | Factor::Category { column: name, .. } => {
                if !names.contains(name) {
                    names.push(name.clone());
                }
            }
            Factor::Number(of) | Factor::Scale(of) | Factor::Poly(of, _) => of.add_columns(names),
        }
    }
}
