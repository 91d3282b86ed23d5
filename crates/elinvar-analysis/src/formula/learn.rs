//! From a formula and the table of a fit to a recipe.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use elinvar_data::{DRAWS_COLUMNS, Table, nearest, on_one_line};

use super::arithmetic::{Arithmetic, index};
use super::coding::{Coding, code};
use super::mistake::{Mistake, Problem};
use super::poly::Orthogonal;
use super::recipe::{Category, Column, FORMAT, Part, Recipe, Response};
use super::terms::Terms;
use super::tree::{Factor, Tree};

/// A column with more different numbers than this and more than half as many as there are rows is no category.
const MANY_LEVELS: usize = 50;

/// Columns of a design, at most, and numbers in it: 2 GiB.
const MOST_COLUMNS: usize = 1 << 16;
const MOST_NUMBERS: usize = 1 << 28;

/// What a formula makes of a table; constants are learned from `rows`, or from all.
pub(super) fn learn(
    text: &str,
    tree: &Tree,
    terms: &Terms,
    table: &Table,
    rows: Option<&[usize]>,
) -> Result<Recipe, Mistake> {
    let mut learning = Learning { table, rows, categories: Vec::new(), parts: Vec::new() };
    let mut choices = Vec::with_capacity(terms.factors.len());
    for (factor, span) in &terms.factors {
        choices.push(learning.choices(factor).map_err(|mistake| mistake.or_at(text, span))?);
    }
    let is_category: Vec<bool> = choices.iter().map(|choice| matches!(choice, Choices::Levels(_))).collect();
    let mut columns = Vec::new();
    if terms.intercept {
        columns.push(Column { name: "intercept".into(), parts: Vec::new(), centre: 0.0 });
    }
    // Without its intercept a model may have a constant column.
    let constants: Vec<Option<f64>> = if terms.intercept {
        choices.iter().map(|c| learning.constant(c)).collect()
    } else {
        vec![None; choices.len()]
    };
    for (term, products) in terms.terms.iter().zip(code(&terms.terms, terms.intercept, &is_category)) {
        let span = &terms.factors[term[0]].1;
        if let ([factor], Some(value)) = (term.as_slice(), constants[term[0]]) {
            let (name, file) = (terms.factors[*factor].0.name(), table.file().into());
            return Err(Mistake::at(text, span.clone(), Problem::Constant { file, name, value }));
        }
        for product in products {
            let lists: Vec<Vec<usize>> =
                product.iter().map(|(factor, coding)| choices[*factor].parts(*coding, &learning)).collect();
            let n_new = lists.iter().fold(1_usize, |n, list| n.saturating_mul(list.len()));
            let n_columns = n_new.saturating_add(columns.len());
            if n_columns > MOST_COLUMNS || n_columns.saturating_mul(table.n_rows()) > MOST_NUMBERS {
                let most = MOST_COLUMNS.min(MOST_NUMBERS / table.n_rows().max(1));
                return Err(Mistake::at(text, span.clone(), Problem::TooManyColumns { n_columns, most }));
            }
            for parts in combinations(&lists) {
                let name = parts.iter().map(|part| learning.parts[*part].0.as_str()).collect::<Vec<_>>().join(":");
                if let Some(by) = owner_of(&name) {
                    return Err(Mistake::at(text, span.clone(), Problem::NameTaken { name, by }));
                }
                columns.push(Column { name, parts, centre: 0.0 });
            }
        }
    }
    let mut seen = HashSet::new();
    if let Some(column) = columns.iter().find(|column| !seen.insert(&column.name)) {
        let problem = Problem::SameName { name: column.name.clone() };
        return Err(Mistake::at(text, tree.terms.span.clone(), problem));
    }
    let response = response(tree, table).map_err(|mistake| mistake.or_at(text, &tree.response.span))?;
    let Learning { categories, parts, .. } = learning;
    let recipe = Recipe {
        format: FORMAT.into(),
        formula: Some(text.into()),
        response,
        offsets: terms.offsets.iter().map(|(of, _)| of.clone()).collect(),
        categories,
        parts: parts.into_iter().map(|(_, part)| part).collect(),
        columns,
    };
    for (of, span) in &terms.offsets {
        of.values(table).map_err(|mistake| mistake.or_at(text, span))?;
    }
    Ok(recipe)
}

/// What else has this name.
fn owner_of(name: &str) -> Option<&'static str> {
    if name == "intercept" {
        return Some("the model's own intercept");
    }
    DRAWS_COLUMNS.contains(&name).then_some("a column of the draws")
}

/// The left side of the formula.
fn response(tree: &Tree, table: &Table) -> Result<Response, Mistake> {
    let left = &tree.response;
    let levels = match &left.of {
        Arithmetic::Column(name) => table.levels(index(table, name)?).unwrap_or_default().to_vec(),
        of => {
            of.values(table)?;
            Vec::new()
        }
    };
    let of = |part: &Option<(Arithmetic, Range<usize>)>| part.as_ref().map(|(of, _)| of.clone());
    Ok(Response { of: left.of.clone(), levels, trials: of(&left.trials), weights: of(&left.weights) })
}

/// What a factor can be in a column.
enum Choices {
    /// One of these parts.
    Parts(Vec<usize>),
    /// A level of this category.
    Levels(LevelParts),
}

/// The parts of the levels of a category, in their order.
struct LevelParts {
    first: usize,
    category: usize,
}

impl Choices {
    fn parts(&self, coding: Coding, learning: &Learning<'_>) -> Vec<usize> {
        match self {
            Choices::Parts(parts) => parts.clone(),
            Choices::Levels(LevelParts { first, category }) => {
                let Category { levels, reference, .. } = &learning.categories[*category];
                let is_kept = |level: &usize| coding == Coding::AllLevels || level != reference;
                (0..levels.len()).filter(is_kept).map(|level| first + level).collect()
            }
        }
    }
}

struct Learning<'a> {
    table: &'a Table,
    rows: Option<&'a [usize]>,
    categories: Vec<Category>,
    /// With their names.
    parts: Vec<(String, Part)>,
}

impl Learning<'_> {
    fn choices(&mut self, factor: &Factor) -> Result<Choices, Mistake> {
        let name = factor.name();
        match factor {
            Factor::Category { column, reference } => self.category(column, reference.as_deref()),
            Factor::Column(column) => {
                let j = index(self.table, column)?;
                if self.table.levels(j).is_some() {
                    return self.category(column, None);
                }
                let of = Arithmetic::Column(column.clone());
                Ok(self.one(column.clone(), Part::Number { of }))
            }
            Factor::Number(of) => {
                of.values(self.table)?;
                Ok(self.one(name, Part::Number { of: of.clone() }))
            }
            Factor::Scale(of) => {
                let values = self.of_rows(of)?;
                let n = values.len() as f64;
                let centre = values.iter().sum::<f64>() / n;
                let squares: f64 = values.iter().map(|x| (x - centre).powi(2)).sum();
                let scale = (squares / (n - 1.0).max(1.0)).sqrt();
                if scale.is_nan() || scale <= 1e-13 * centre.abs() {
                    return Err(Problem::Constant { file: self.table.file().into(), name, value: centre }.into());
                }
                Ok(self.one(name, Part::Scale { of: of.clone(), centre, scale }))
            }
            Factor::Poly(of, degree) => {
                let values = self.of_rows(of)?;
                let mut distinct = values.clone();
                distinct.sort_unstable_by(f64::total_cmp);
                distinct.dedup();
                let (degree, found) = (*degree, distinct.len());
                let basis = Orthogonal::of(&values, degree);
                if found <= degree || !basis.has(degree) {
                    return Err(Problem::TooFewValues { degree, found }.into());
                }
                let part = |degree| Part::Poly { of: of.clone(), degree, basis: basis.clone() };
                let first = self.parts.len();
                self.parts.extend((1..=degree).map(|k| (format!("{name}[{k}]"), part(k))));
                Ok(Choices::Parts((first..first + degree).collect()))
            }
        }
    }

    fn one(&mut self, name: String, part: Part) -> Choices {
        self.parts.push((name, part));
        Choices::Parts(vec![self.parts.len() - 1])
    }

    fn category(&mut self, column: &str, reference: Option<&str>) -> Result<Choices, Mistake> {
        let table = self.table;
        let (j, file) = (index(table, column)?, || table.file().into());
        let levels = Category::levels_of(table, j);
        if let [level] = levels.as_slice() {
            return Err(Problem::OneLevel { file: file(), column: column.into(), level: level.clone() }.into());
        }
        let (n_levels, n_rows) = (levels.len(), table.n_rows());
        if n_levels > MANY_LEVELS && 2 * n_levels > n_rows {
            return Err(Problem::TooManyLevels { file: file(), column: column.into(), n_levels, n_rows }.into());
        }
        let reference = match reference {
            None => 0,
            Some(wanted) => levels.iter().position(|level| level == wanted).ok_or_else(|| {
                let similar = nearest(wanted, levels.iter().map(String::as_str)).map(str::to_string);
                let (column, levels) = (column.into(), levels.clone());
                Problem::NoSuchLevel { column, level: wanted.into(), similar, levels }
            })?,
        };
        let (first, category) = (self.parts.len(), self.categories.len());
        let named = |(level, text): (usize, &String)| {
            (format!("{column}={}", on_one_line(text)), Part::Level { category, level })
        };
        self.parts.extend(levels.iter().enumerate().map(named));
        self.categories.push(Category { column: column.into(), levels, reference });
        Ok(Choices::Levels(LevelParts { first, category }))
    }

    /// The values in the rows that constants are learned from.
    fn of_rows(&self, of: &Arithmetic) -> Result<Vec<f64>, Mistake> {
        let values = of.values(self.table)?;
        Ok(match self.rows {
            Some(rows) => rows.iter().map(|i| values[*i]).collect(),
            None => values,
        })
    }

    /// The value of a factor of numbers that is the same in every row.
    fn constant(&self, choices: &Choices) -> Option<f64> {
        let Choices::Parts(parts) = choices else { return None };
        let [part] = parts.as_slice() else { return None };
        let Part::Number { of } = &self.parts[*part].1 else { return None };
        let values = of.values(self.table).ok()?;
        let first = *values.first()?;
        values.iter().all(|value| *value == first).then_some(first)
    }
}

/// One of each list, the first list varying fastest.
fn combinations(lists: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for list in lists {
        all = list
            .iter()
            .flat_map(|part| all.iter().map(|head: &Vec<usize>| [head.as_slice(), &[*part]].concat()))
            .collect();
    }
    all
}

/// Factors that some term has, in order; the others were taken out.
pub(super) fn in_use(terms: Terms) -> Terms {
    let used: HashSet<usize> = terms.terms.iter().flatten().copied().collect();
    let mut places = HashMap::new();
    let mut factors = Vec::new();
    for (i, factor) in terms.factors.into_iter().enumerate().filter(|(i, _)| used.contains(i)) {
        places.insert(i, factors.len());
        factors.push(factor);
    }
    let moved = |term: Vec<usize>| term.into_iter().map(|i| places[&i]).collect();
    Terms { factors, terms: terms.terms.into_iter().map(moved).collect(), ..terms }
}
