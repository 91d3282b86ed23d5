//! What a formula has learned of the table of a fit: how any table becomes a design matrix with the same columns.

use std::collections::HashMap;

use elinvar_data::{Columns, DesignColumn, Missing, Reading, RegressionData, Table};
use serde::{Deserialize, Serialize};

use super::arithmetic::{Arithmetic, index};
use super::mistake::{Mistake, Problem};
use super::poly::Orthogonal;

/// The columns of a design matrix, each with how it is made of a table.
///
/// It holds what was learned from the rows of the fit (levels, references, centres and scales, polynomials), so that
/// new rows need no others.
///
/// ```
/// use elinvar_analysis::formula::{Formula, Recipe};
/// use elinvar_data::{Categorical, Reading, Table};
///
/// let how = Reading { categorical: Categorical::Indicators, ..Reading::default() };
/// let table = Table::from_csv_with("t.csv", b"y,age,sex\n1,30,f\n2,40,m\n3,60,f\n", &how)?;
/// let recipe = Formula::parse("y ~ age * sex")?.learn(&table, None)?;
/// assert_eq!(recipe.names(), ["intercept", "age", "sex=m", "age:sex=m"]);
///
/// let new = Table::from_csv_with("new.csv", b"sex,age\nm,50\nm,51\n", &recipe.reading())?;
/// assert_eq!(recipe.apply(&new)?.features[..4], [1.0, 50.0, 1.0, 50.0]);
///
/// let recipe = Recipe::from_json(&recipe.to_json())?;
/// let other = Table::from_csv_with("other.csv", b"sex,age\nx,50\nm,51\n", &recipe.reading())?;
/// assert!(recipe.apply(&other).unwrap_err().to_string().contains("other.csv, line 2"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recipe {
    pub(super) format: String,
    /// The formula as it was written, if one was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub formula: Option<String>,
    /// What is explained.
    pub response: Response,
    /// Added up, the part of the linear predictor that has no coefficient.
    pub(super) offsets: Vec<Arithmetic>,
    /// The categories.
    pub categories: Vec<Category>,
    pub(super) parts: Vec<Part>,
    pub(super) columns: Vec<Column>,
}

/// What a recipe says of the left side of a formula.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Response {
    /// Its value in a row.
    pub of: Arithmetic,
    /// The levels in their order where it is a text; of two the second is the event.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub levels: Vec<String>,
    /// Trials of which so many were events.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub trials: Option<Arithmetic>,
    /// What the log density of a row is multiplied by.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub weights: Option<Arithmetic>,
}

/// A column with levels.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Category {
    /// Its name.
    pub column: String,
    /// Its levels in their order.
    pub levels: Vec<String>,
    /// The level that the others are compared with where one is left out, as a position.
    pub reference: usize,
}

/// A number for each row of a table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Part {
    Number {
        of: Arithmetic,
    },
    Scale {
        of: Arithmetic,
        centre: f64,
        scale: f64,
    },
    Poly {
        of: Arithmetic,
        degree: usize,
        basis: Orthogonal,
    },
    /// Whether the category with this position has this level.
    Level {
        category: usize,
        level: usize,
    },
}

/// A column of the design matrix: the product of some parts, and 1 for none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Column {
    pub(super) name: String,
    pub(super) parts: Vec<usize>,
    /// What is subtracted from it.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub(super) centre: f64,
}

fn is_zero(number: &f64) -> bool {
    *number == 0.0
}

/// A table as a model takes it.
#[derive(Clone, Debug, PartialEq)]
pub struct Design {
    /// The design matrix, row after row.
    pub features: Vec<f64>,
    /// What is added to the linear predictor of each row; empty if nothing is.
    pub offset: Vec<f64>,
}

/// What every recipe begins with.
pub(super) const FORMAT: &str = "elinvar-recipe 1";
/// Larger numbers overflow in what is computed from them.
const LARGEST: f64 = 1e100;

impl Recipe {
    /// That of columns which were taken as they are.
    pub fn of_columns(data: &RegressionData) -> Self {
        let mut categories: Vec<Category> = Vec::new();
        let mut parts = Vec::new();
        let mut columns = Vec::new();
        for (name, kind) in data.names.iter().zip(&data.kinds) {
            let part = match kind {
                DesignColumn::Intercept => None,
                DesignColumn::Number => Some(Part::Number { of: Arithmetic::Column(name.clone()) }),
                DesignColumn::Indicator { column, level, reference } => {
                    let known = categories.iter().position(|category| category.column == *column);
                    let category = known.unwrap_or_else(|| {
                        let (column, levels) = (column.clone(), reference.iter().cloned().collect());
                        categories.push(Category { column, levels, reference: 0 });
                        categories.len() - 1
                    });
                    let levels = &mut categories[category].levels;
                    levels.push(level.clone());
                    Some(Part::Level { category, level: levels.len() - 1 })
                }
            };
            let used = part.is_some().then_some(parts.len());
            parts.extend(part);
            columns.push(Column { name: name.clone(), parts: used.into_iter().collect(), centre: 0.0 });
        }
        let of = Arithmetic::Column(data.target.clone());
        let response = Response { of, levels: data.classes.clone(), trials: None, weights: None };
        Self { format: FORMAT.into(), formula: None, response, offsets: Vec::new(), categories, parts, columns }
    }

    /// The same columns without the intercept and less their means over `rows`, or over all rows of the table: for a
    /// model whose own constants take up what an intercept would.
    ///
    /// # Errors
    /// Those of [`Recipe::apply`], and that no column is left.
    pub(crate) fn centred(mut self, table: &Table, rows: Option<&[usize]>) -> Result<Self, Mistake> {
        self.columns.retain(|column| !column.parts.is_empty());
        if self.columns.is_empty() {
            return Err(Problem::NoColumns.into());
        }
        let (features, width) = (self.apply(table)?.features, self.columns.len());
        let all: Vec<usize> = (0..table.n_rows()).collect();
        let rows = rows.unwrap_or(&all);
        for (j, column) in self.columns.iter_mut().enumerate() {
            column.centre = rows.iter().map(|i| features[i * width + j]).sum::<f64>() / rows.len() as f64;
        }
        Ok(self)
    }

    /// With the levels of the response, whether it holds texts or numbers.
    ///
    /// # Errors
    /// A response that is computed.
    pub(crate) fn with_levels(mut self, table: &Table) -> Result<Self, Mistake> {
        let Arithmetic::Column(name) = &self.response.of else {
            let (column, needed) = (self.response.of.to_string(), "classes as they are in the table");
            return Err(Problem::NeedsColumn { column, needed }.into());
        };
        self.response.levels = Category::levels_of(table, index(table, name)?);
        Ok(self)
    }

    /// Names of the columns of the design matrix.
    pub fn names(&self) -> Vec<String> {
        self.columns.iter().map(|column| column.name.clone()).collect()
    }

    /// What the columns of the design matrix are; a product of several factors counts as numbers.
    pub fn kinds(&self) -> Vec<DesignColumn> {
        let kind = |column: &Column| match column.parts.as_slice() {
            [] => DesignColumn::Intercept,
            [part] => match &self.parts[*part] {
                Part::Level { category, level } => {
                    let Category { column, levels, reference } = &self.categories[*category];
                    let of_reference = Part::Level { category: *category, level: *reference };
                    let has_reference = !self
                        .columns
                        .iter()
                        .any(|other| matches!(other.parts.as_slice(), [part] if self.parts[*part] == of_reference));
                    let reference = has_reference.then(|| levels[*reference].clone());
                    DesignColumn::Indicator { column: column.clone(), level: levels[*level].clone(), reference }
                }
                _ => DesignColumn::Number,
            },
            _ => DesignColumn::Number,
        };
        self.columns.iter().map(kind).collect()
    }

    /// How a table is read to which the recipe is to be applied: the columns it needs and no others.
    pub fn reading(&self) -> Reading {
        let mut names: Vec<String> = self.categories.iter().map(|category| category.column.clone()).collect();
        for part in &self.parts {
            match part {
                Part::Number { of } | Part::Scale { of, .. } | Part::Poly { of, .. } => of.add_columns(&mut names),
                Part::Level { .. } => {}
            }
        }
        self.offsets.iter().for_each(|of| of.add_columns(&mut names));
        self.reading_of(names)
    }

    /// The same with the columns of the response, of trials and weights.
    pub fn reading_with_response(&self) -> Reading {
        let Columns::Only(mut names) = self.reading().columns else { return self.reading() };
        let Response { of, trials, weights, .. } = &self.response;
        [Some(of), trials.as_ref(), weights.as_ref()].into_iter().flatten().for_each(|of| of.add_columns(&mut names));
        self.reading_of(names)
    }

    /// The same with the columns of trials alone.
    pub(crate) fn reading_with_trials(&self) -> Reading {
        let Columns::Only(mut names) = self.reading().columns else { return self.reading() };
        self.response.trials.iter().for_each(|of| of.add_columns(&mut names));
        self.reading_of(names)
    }

    fn reading_of(&self, names: Vec<String>) -> Reading {
        let mut texts: Vec<String> = self.categories.iter().map(|category| category.column.clone()).collect();
        if let (Arithmetic::Column(name), false) = (&self.response.of, self.response.levels.is_empty()) {
            texts.push(name.clone());
        }
        Reading { columns: Columns::Only(names), missing: Missing::Refuse, texts, ..Reading::default() }
    }

    /// The design matrix and the offset of a table.
    ///
    /// # Errors
    /// A column that is not there, a level that the rows of the fit did not have, a value that a function does not
    /// take: with file and line.
    pub fn apply(&self, table: &Table) -> Result<Design, Mistake> {
        let n = table.n_rows();
        let codes = self.categories.iter().map(|category| category.codes(table)).collect::<Result<Vec<_>, _>>()?;
        let mut numbers: Vec<Vec<f64>> = Vec::with_capacity(self.parts.len());
        for part in &self.parts {
            numbers.push(match part {
                Part::Level { .. } => Vec::new(),
                Part::Number { of } => of.values(table)?,
                Part::Scale { of, centre, scale } => of.values(table)?.iter().map(|x| (x - centre) / scale).collect(),
                Part::Poly { of, degree, basis } => basis.values(&of.values(table)?, *degree),
            });
        }
        let width = self.columns.len();
        let mut features = Vec::with_capacity(n * width);
        for i in 0..n {
            for column in &self.columns {
                let mut product = 1.0;
                for part in &column.parts {
                    product *= match &self.parts[*part] {
                        Part::Level { category, level } => f64::from(u8::from(codes[*category][i] == *level)),
                        _ => numbers[*part][i],
                    };
                }
                if product.is_nan() || product.abs() > LARGEST {
                    return Err(self.too_large(table, i, &column.name, product));
                }
                features.push(product - column.centre);
            }
        }
        Ok(Design { features, offset: self.offset(table)? })
    }

    fn too_large(&self, table: &Table, row: usize, expression: &str, value: f64) -> Mistake {
        let (place, problem) = (table.place(row, 0), "too large to compute with");
        let advice = "divide the column by a constant".into();
        Problem::Undefined { place, expression: expression.into(), problem, value, advice }.into()
    }

    fn offset(&self, table: &Table) -> Result<Vec<f64>, Mistake> {
        let mut total = Vec::new();
        for of in &self.offsets {
            let values = of.values(table)?;
            if total.is_empty() {
                total = values;
            } else {
                total.iter_mut().zip(values).for_each(|(total, value)| *total += value);
            }
        }
        match total.iter().position(|value: &f64| value.abs() > LARGEST) {
            Some(i) => Err(self.too_large(table, i, "the offset", total[i])),
            None => Ok(total),
        }
    }

    /// The recipe as a file has it.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("texts and finite numbers") + "\n"
    }

    /// Reads what [`Recipe::to_json`] has written.
    ///
    /// # Errors
    /// [`Problem::NotARecipe`].
    pub fn from_json(text: &str) -> Result<Self, Mistake> {
        let wrong = |what: String| Mistake::from(Problem::NotARecipe { what });
        let recipe: Self = serde_json::from_str(text).map_err(|e| wrong(e.to_string()))?;
        match recipe.fault() {
            Some(what) => Err(wrong(what.into())),
            None => Ok(recipe),
        }
    }

    /// What a file has that no recipe has.
    fn fault(&self) -> Option<&'static str> {
        let is_level = |category: usize, level: usize| {
            self.categories.get(category).is_some_and(|category| level < category.levels.len())
        };
        let is_part = |part: &Part| match part {
            Part::Number { .. } => true,
            Part::Scale { centre, scale, .. } => centre.is_finite() && scale.is_finite() && *scale > 0.0,
            Part::Poly { degree, basis, .. } => basis.has(*degree),
            Part::Level { category, level } => is_level(*category, *level),
        };
        if self.format != FORMAT {
            Some("its format is another")
        } else if !self.categories.iter().enumerate().all(|(i, category)| is_level(i, category.reference)) {
            Some("a category has no reference")
        } else if !self.parts.iter().all(is_part) {
            Some("a part has constants outside their domain")
        } else if self.columns.iter().flat_map(|column| &column.parts).any(|part| *part >= self.parts.len()) {
            Some("a column has a part that is not there")
        } else if self.columns.is_empty() || self.columns.iter().any(|column| !column.centre.is_finite()) {
            Some("there are no columns")
        } else {
            None
        }
    }
}

impl Category {
    /// The levels of a column of texts or numbers.
    pub(super) fn levels_of(table: &Table, j: usize) -> Vec<String> {
        if let Some(levels) = table.levels(j) {
            return levels.to_vec();
        }
        // Adding zero makes −0 the level 0.
        let mut distinct: Vec<f64> = table.column(j).map(|x| x + 0.0).collect();
        distinct.sort_unstable_by(f64::total_cmp);
        distinct.dedup();
        distinct.iter().map(f64::to_string).collect()
    }

    /// The level of each row, as a position.
    pub(super) fn codes(&self, table: &Table) -> Result<Vec<usize>, Mistake> {
        let j = index(table, &self.column)?;
        let here = Self::levels_of(table, j);
        let places: HashMap<&str, usize> =
            self.levels.iter().enumerate().map(|(i, level)| (level.as_str(), i)).collect();
        let known: Vec<Option<usize>> = here.iter().map(|level| places.get(level.as_str()).copied()).collect();
        let of_row: Vec<usize> = match table.levels(j) {
            Some(_) => table.column(j).map(|value| value as usize).collect(),
            None => {
                let numbers: Vec<f64> = here.iter().map(|level| level.parse().unwrap_or(f64::NAN)).collect();
                table.column(j).map(|x| numbers.partition_point(|level| *level < x)).collect()
            }
        };
        of_row
            .into_iter()
            .enumerate()
            .map(|(i, code)| {
                known[code].ok_or_else(|| {
                    let (place, level) = (table.place(i, j), here[code].clone());
                    Problem::NewLevel { place, level, levels: self.levels.clone() }.into()
                })
            })
            .collect()
    }
}
