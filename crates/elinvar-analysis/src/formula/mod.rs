//! Formulas: `y ~ age + log(dose) * sex`.
//!
//! [`Formula::parse`] reads words (`lexer`) into a tree (`parser`, `tree`, `arithmetic`). With the names of a table's
//! columns the tree is expanded to terms (`terms`), and with the table itself to a [`Recipe`] (`coding`, `learn`),
//! which makes the design matrix of this and of every other table with such columns.

mod arithmetic;
mod coding;
mod learn;
mod left;
mod lexer;
mod mistake;
mod parser;
mod poly;
mod recipe;
mod terms;
#[cfg(test)]
mod tests;
mod tree;

use std::path::Path;

use elinvar_data::{Columns, Missing, Reading, Table, nearest};

pub use arithmetic::{Arithmetic, Function, Sign, Way};
pub use left::Left;
pub(crate) use left::check_number;
pub use mistake::{Mistake, Problem};
pub use recipe::{Category, Design, Recipe, Response};

use crate::error::Error;
use terms::Terms;
use tree::{Factor, Tree};

/// What is explained by what, as it was written.
#[derive(Clone, Debug)]
pub struct Formula {
    text: String,
    tree: Tree,
}

impl Formula {
    /// Reads a formula.
    ///
    /// # Errors
    /// A sentence about the first thing that is wrong, with a mark under the place.
    pub fn parse(text: &str) -> Result<Self, Mistake> {
        Ok(Self { text: text.into(), tree: parser::formula(text)? })
    }

    /// As it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What is explained, as it was written.
    pub fn response(&self) -> String {
        match &self.tree.response.of {
            Arithmetic::Column(name) => name.clone(),
            of => of.to_string(),
        }
    }

    /// How a file with these columns is read for the formula.
    ///
    /// # Errors
    /// A column that is not there, or an expansion without end.
    pub fn reading(&self, file: &Path, available: &[String], missing: Missing) -> Result<Reading, Mistake> {
        let terms = self.terms(available)?;
        let mut names = Vec::new();
        let check = |names: &mut Vec<String>, before: usize, span: &std::ops::Range<usize>| match names[before..]
            .iter()
            .find(|name| !available.contains(name))
        {
            Some(name) => {
                let similar = nearest(name, available.iter().map(String::as_str)).map(str::to_string);
                let (name, available) = (name.clone(), available.to_vec());
                let problem = Problem::NoSuchColumn { file: file.into(), name, similar, available };
                Err(Mistake::at(&self.text, span.clone(), problem))
            }
            None => Ok(()),
        };
        let left = &self.tree.response;
        let beside = left.trials.iter().chain(&left.weights).chain(&terms.offsets);
        for (of, span) in std::iter::once((&left.of, &left.span)).chain(beside.map(|(of, span)| (of, span))) {
            let before = names.len();
            of.add_columns(&mut names);
            check(&mut names, before, span)?;
        }
        let mut texts = Vec::new();
        if let Arithmetic::Column(name) = &left.of {
            texts.push(name.clone());
        }
        for (factor, span) in &terms.factors {
            let before = names.len();
            factor.add_columns(&mut names);
            check(&mut names, before, span)?;
            if let Factor::Column(name) | Factor::Category { column: name, .. } = factor {
                texts.push(name.clone());
            }
        }
        Ok(Reading { columns: Columns::Only(names), missing, texts, ..Reading::default() })
    }

    /// What is said of a table that was not read for the formula: a text where it needs a number has its mark.
    pub(crate) fn blamed(&self, error: elinvar_data::Error) -> Error {
        match error {
            elinvar_data::Error::NotANumber { place, text, .. } => {
                let (expression, text) = (self.needing(&place.column), text.trim_matches('"').to_string());
                Mistake::at(&self.text, 0..self.text.len(), Problem::Text { place, text, expression }).into()
            }
            error => error.into(),
        }
    }

    /// The first factor that computes with this column.
    fn needing(&self, column: &str) -> String {
        let terms = self.terms(&[]).map(|terms| terms.factors).unwrap_or_default();
        let computes = |factor: &&Factor| {
            let mut names = Vec::new();
            factor.add_columns(&mut names);
            !matches!(factor, Factor::Column(_)) && names.iter().any(|name| name == column)
        };
        terms.iter().map(|(factor, _)| factor).find(computes).map_or("the formula".into(), Factor::name)
    }

    /// The recipe that the formula makes of the table of a fit; constants are learned from `rows`, or from all.
    ///
    /// # Errors
    /// What the table does not have or cannot be, with a mark under the place in the formula.
    pub fn learn(&self, table: &Table, rows: Option<&[usize]>) -> Result<Recipe, Mistake> {
        let terms = self.terms(table.names())?;
        learn::learn(&self.text, &self.tree, &terms, table, rows)
    }

    /// The terms in use, where the table has these columns.
    fn terms(&self, available: &[String]) -> Result<Terms, Mistake> {
        let left = &self.tree.response;
        let mut taken = Vec::new();
        left.of.add_columns(&mut taken);
        left.trials.iter().chain(&left.weights).for_each(|(of, _)| of.add_columns(&mut taken));
        let others: Vec<String> = available.iter().filter(|name| !taken.contains(name)).cloned().collect();
        let terms = learn::in_use(terms::expand(&self.text, &self.tree.terms, &others)?);
        if let Arithmetic::Column(name) = &left.of {
            let is_response = |factor: &Factor| *factor == Factor::Column(name.clone());
            if let Some((_, span)) = terms.factors.iter().find(|(factor, _)| is_response(factor)) {
                return Err(Mistake::at(&self.text, span.clone(), Problem::ResponseAsTerm { column: name.clone() }));
            }
        }
        Ok(terms)
    }
}
