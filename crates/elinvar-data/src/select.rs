//! What a regression model takes from a table.

use std::path::Path;

use crate::{Categorical, Columns, Error, Missing, Reading};

/// What the target must hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Any number.
    Real,
    /// Two classes, written 0 and 1, −1 and 1, or as two texts, of which the second in their order is the event; given
    /// out as −1 and 1.
    Binary,
    /// Whole numbers from 0.
    Count,
    /// Whole numbers from 0, which may all be 0: events of trials.
    Events,
    /// Numbers greater than 0.
    Positive,
    /// Numbers between 0 and 1, both excluded.
    Share,
    /// Classes in the order of their levels, numbers or texts.
    Levels,
    /// Classes without an order, numbers or texts; given out as positions among their levels.
    Classes,
}

/// Whether a column of ones stands before the features.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Intercept {
    /// A column of ones named `intercept` comes first; a constant feature is an error.
    #[default]
    First,
    /// The features alone.
    None,
}

/// What a regression model takes from a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    /// Name of the target column.
    pub target: String,
    /// What the target must hold.
    pub outcome: Outcome,
    /// The features; the target is none of them and may not be listed.
    pub features: Columns,
    /// Whether a column of ones stands before the features.
    pub intercept: Intercept,
    /// What becomes of rows with missing cells.
    pub missing: Missing,
    /// What becomes of columns that hold texts.
    pub categorical: Categorical,
    /// Features that are categories whatever they hold.
    pub as_category: Vec<String>,
    /// The array with the features in an npz file; needed where the file has several with two dimensions.
    pub array: Option<String>,
}

impl Selection {
    /// All columns but the target as features, after an intercept; missing cells and texts are refused.
    pub fn new(target: impl Into<String>, outcome: Outcome) -> Self {
        Selection {
            target: target.into(),
            outcome,
            features: Columns::All,
            intercept: Intercept::First,
            missing: Missing::Refuse,
            categorical: Categorical::Refuse,
            as_category: Vec::new(),
            array: None,
        }
    }

    /// How a file is read for this selection.
    pub(crate) fn reading(&self, file: &Path) -> Result<Reading, Error> {
        let of_classes = (self.outcome == Outcome::Classes).then_some(&self.target);
        Ok(Reading {
            columns: self.columns_to_read(file)?,
            missing: self.missing,
            categorical: self.categorical,
            as_category: self.as_category.iter().chain(of_classes).cloned().collect(),
            // Two labels are as good as 0 and 1.
            texts: if self.outcome == Outcome::Binary { vec![self.target.clone()] } else { Vec::new() },
            array: self.array.clone(),
        })
    }

    pub(crate) fn columns_to_read(&self, file: &Path) -> Result<Columns, Error> {
        match &self.features {
            Columns::All => Ok(Columns::All),
            Columns::Only(list) if list.contains(&self.target) => {
                Err(Error::TargetAmongFeatures { file: file.into(), name: self.target.clone() })
            }
            Columns::Only(list) => Ok(Columns::Only(list.iter().chain([&self.target]).cloned().collect())),
            Columns::Except(list) if list.contains(&self.target) => {
                Err(Error::TargetLeftOut { file: file.into(), name: self.target.clone() })
            }
            Columns::Except(list) => Ok(Columns::Except(list.clone())),
        }
    }
}
