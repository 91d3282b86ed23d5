//! The models by name: a file each, and a line in [`REGISTRY`].
//!
//! A file has an [`Entry`], which says what the model needs of a table before there is one, and a [`Model`], which is
//! the model over its rows and says everything about itself that a page, a report or a file of settings shows.

mod around;
mod beside;
mod beta;
mod binomial;
mod categorical;
mod coefficients;
mod direction;
mod gamma;
mod glm;
mod linear;
mod logistic;
mod negative_binomial;
mod network;
mod ordinal;
mod over_columns;
mod own;
mod poisson;
mod proportion;
mod rate;
mod shares;
pub(crate) mod streamed;
mod student_t;
mod under_t;
mod with_tails;

use std::fmt;

use elinvar::family::Approximation;
use elinvar::random::Stream;
use elinvar::target::{DrawBuffer, Target};
use elinvar::{Family, Posterior};
use elinvar_data::{ColumnTransform, Outcome, RegressionData};
use serde::{Serialize, Serializer};

pub(crate) use own::{check_owners, check_priors};
pub(crate) use under_t::UnderT;

use crate::held_out::Scores;
use crate::response::Regression;
use crate::settings::{Dims, ModelSettings};

/// All models, in the order in which help lists them.
const REGISTRY: &[&Entry] = &[
    &logistic::ENTRY,
    &linear::ENTRY,
    &poisson::ENTRY,
    &negative_binomial::ENTRY,
    &student_t::ENTRY,
    &binomial::ENTRY,
    &gamma::ENTRY,
    &beta::ENTRY,
    &ordinal::ENTRY,
    &categorical::ENTRY,
    &network::ENTRY,
    &rate::ENTRY,
    &proportion::ENTRY,
    &shares::ENTRY,
    &direction::ENTRY,
];

/// Makes a model of its settings, its rows and what was done to their columns.
type Make = fn(&ModelSettings, RegressionData, &[ColumnTransform]) -> Result<Box<dyn Model>, elinvar::Error>;

/// What is known of a model before its table is read.
pub(crate) struct Entry {
    /// The word for it in commands and files.
    pub(crate) name: &'static str,
    /// What it is for, in the brackets behind its name.
    pub(crate) about: &'static str,
    pub(crate) columns: Columns,
    /// What the column to be explained may hold.
    pub(crate) outcome: fn(&ModelSettings) -> Outcome,
    /// Parameters beside the coefficients: names that no column may have.
    pub(crate) beside: &'static [&'static str],
    pub(crate) trials: Trials,
    /// Settings that mean something for this model alone.
    pub(crate) own: &'static [OwnSetting],
    pub(crate) usual_family: UsualFamily,
    /// The model over rows whose columns were transformed like this.
    pub(crate) make: Make,
}

/// What a model makes of the columns of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Columns {
    /// A coefficient for each, an intercept before them.
    Coefficients,
    /// Inputs of something that has its own constants.
    Inputs,
    /// There is but the one that is to be explained.
    Single,
}

/// Whether rows have numbers of trials.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trials {
    None,
    Needed,
}

/// What `auto` stands for, and where fits begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UsualFamily {
    /// The ladder of families on the real line, from a start that is searched for.
    Ladder,
    /// A mixture of these components, where parameters do not live on the real line.
    Mixture { component: &'static str },
    /// A Dirichlet distribution, or a mixture of several.
    Dirichlet,
    /// A diagonal Gaussian around a start of the model's own, which a ladder would not keep.
    OwnStart,
}

/// A setting that belongs to some models only.
pub(crate) struct OwnSetting {
    /// The flags for it, in words.
    pub(crate) flags: &'static str,
    pub(crate) is_given: fn(&ModelSettings) -> bool,
}

/// A model over its rows.
pub(crate) trait Model: Sync {
    /// What is fitted.
    fn target(&self) -> &dyn Target;

    /// Its settings with every choice made, but for its name.
    fn settings(&self) -> ModelSettings;

    /// Its name at the beginning of a sentence.
    fn title(&self) -> String;

    /// The law of the column `y`.
    fn formula(&self, y: &str) -> String;

    /// Its prior.
    fn prior(&self) -> PriorWords;

    /// What draws say about rows that were held out, where the model is no regression; one of a single column holds
    /// none out.
    fn test(&self, _rows: &RegressionData, _draws: &DrawBuffer) -> Result<Scores, elinvar::Error> {
        Ok(Scores::default())
    }

    /// Its rows with the law of their response, if it is a regression.
    fn regression(&self) -> Option<Regression<'_>> {
        None
    }

    /// Where prior and data contradict each other, in sentences.
    fn conflicts(&self, _posterior: &Posterior) -> Vec<String> {
        Vec::new()
    }

    /// Draws its parameters from their prior, as coordinates of the fit; false where that cannot be done.
    fn draw_prior(&self, _stream: &mut Stream, _z: &mut [f64]) -> bool {
        false
    }

    /// What to do where prior and data contradict each other.
    fn remedy(&self) -> &'static str {
        ""
    }

    /// How its parameters are cut into matrices, if they are.
    fn layers(&self) -> Option<Dims> {
        None
    }

    /// Where a fit begins, if not where a search leads.
    fn start(&self, _family: Family, _seed: u64) -> Result<Option<Approximation>, elinvar::Error> {
        Ok(None)
    }
}

/// A prior in words.
pub(crate) struct PriorWords {
    /// In a few words.
    pub(crate) short: String,
    /// With all numbers, where the few words do not have them.
    pub(crate) numbers: Option<String>,
    /// What it is the prior of, behind the few words; empty where that is clear.
    pub(crate) of: &'static str,
    /// That of a parameter beside the coefficients.
    pub(crate) beside: Option<String>,
}

impl PriorWords {
    fn plain(short: &str) -> Self {
        Self { short: short.into(), numbers: None, of: "", beside: None }
    }

    /// For the title of a page.
    pub(crate) fn in_short(&self) -> String {
        self.joined(&self.short, ", ")
    }

    /// For a line of its own.
    pub(crate) fn in_full(&self) -> String {
        let all = self.numbers.clone().unwrap_or_else(|| format!("{}{}", self.short, self.of));
        self.joined(&all, "; ")
    }

    fn joined(&self, text: &str, comma: &str) -> String {
        self.beside.as_ref().map_or(text.into(), |beside| format!("{text}{comma}{beside}"))
    }
}

/// A model that can be named.
#[derive(Clone, Copy)]
pub struct ModelName(&'static Entry);

impl ModelName {
    /// All of them, in the order in which help lists them.
    pub fn all() -> impl Iterator<Item = ModelName> {
        REGISTRY.iter().map(|entry| ModelName(entry))
    }

    /// That of a fit which names none.
    pub(crate) const DEFAULT: ModelName = ModelName(&logistic::ENTRY);

    /// The word for it in commands and files.
    pub fn name(self) -> &'static str {
        self.0.name
    }

    /// Whether the model has coefficients of columns, one each.
    pub fn has_coefficients(self) -> bool {
        self.0.columns == Columns::Coefficients
    }

    pub(crate) fn entry(self) -> &'static Entry {
        self.0
    }

    /// All models with what they are for, as a line of help.
    pub fn help() -> String {
        let of = |single: bool| {
            let chosen = REGISTRY.iter().filter(|entry| (entry.columns == Columns::Single) == single);
            in_a_row(chosen.map(|entry| format!("{} ({})", entry.name, entry.about)).collect(), "or")
        };
        format!("{}; for one column {}", of(false), of(true))
    }

    /// Their names as part of a sentence.
    pub(crate) fn list() -> String {
        in_a_row(REGISTRY.iter().map(|entry| entry.name.into()).collect(), "and")
    }
}

/// What to do where a model is no regression with coefficients, as the end of a sentence.
pub(crate) fn instead(model: &str) -> &'static str {
    if model == network::ENTRY.name {
        "; how it predicts is told by rows that are held out, --test-fraction 0.25"
    } else {
        ""
    }
}

/// `a, b and c`.
fn in_a_row(mut words: Vec<String>, last_word: &str) -> String {
    let last = words.pop().unwrap_or_default();
    if words.is_empty() { last } else { format!("{} {last_word} {last}", words.join(", ")) }
}

impl PartialEq for ModelName {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for ModelName {}

impl Serialize for ModelName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl fmt::Debug for ModelName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_different_words() {
        let mut names: Vec<&str> = ModelName::all().map(ModelName::name).collect();
        assert_eq!(
            ModelName::list(),
            "logistic, linear, poisson, negative_binomial, student_t, binomial, gamma, beta, ordinal, categorical, \
             network, rate, proportion, shares and direction"
        );
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), REGISTRY.len());
    }

    #[test]
    fn help_tells_one_column_from_many() {
        let help = ModelName::help();
        assert!(
            help.starts_with("logistic (two classes), linear (any number), poisson (counts), negative_binomial ("),
            "{help}"
        );
        assert!(
            help.contains("; for one column rate (counts), proportion (0/1), shares (categories) or direction ("),
            "{help}"
        );
    }
}
