//! What a fit is told, as plain data: every flag has a key in a file, and a run keeps all of them.

mod key;
mod plan_value;
mod prior_statement;
mod read;
mod resolve;
pub mod value;
mod words;

pub(crate) use prior_statement::positive_in_words;
pub use prior_statement::{PriorLaw, PriorOf, PriorStatement};
pub use read::read;
pub(crate) use value::STUDENT_T;
pub use words::{Components, Dims, Likelihood, Shape};

pub use crate::models::ModelName;

use std::collections::BTreeMap;
use std::path::PathBuf;

use elinvar::Plan;
use elinvar::model::{Activation, NoisePrior};
use elinvar::posterior::affordable_draws;
use elinvar::rule::MatrixUpdate;
use elinvar::target::{Covariance, Target};
use elinvar_data::{Categorical, Missing, Scaling};
use serde::{Deserialize, Serialize};

/// One of a fixed list of words.
type Word = &'static str;

/// The embedded table of `elinvar fit` without a model.
pub const EXAMPLE: &str = "breast_cancer";

/// Draws for the diagnostics unless their number is given.
pub(crate) const DIAGNOSTIC_DRAWS: usize = 10_000;

/// The settings of a fit; what is `None` is left to its default.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// The version that wrote the file.
    pub elinvar: Option<String>,
    /// Draws that the verdict rests on, at least.
    #[serde(deserialize_with = "key::diagnostic_draws")]
    pub diagnostic_draws: Option<usize>,
    /// Which rows and columns of which table.
    pub data: DataSettings,
    /// The model and its prior.
    pub model: ModelSettings,
    /// The family and its constants.
    pub family: FamilySettings,
    /// How it is fitted.
    pub plan: Plan,
    /// Where it begins.
    #[serde(skip_serializing_if = "StartSettings::is_searched_for")]
    pub start: StartSettings,
    /// Where the result goes.
    #[serde(skip_serializing_if = "OutputSettings::is_plain")]
    pub output: OutputSettings,
    /// The folder of the file that was read: where files are looked for that are not in the current folder.
    #[serde(skip)]
    pub base: Option<PathBuf>,
}

impl Settings {
    /// Makes these settings those of the embedded example, a logistic regression.
    pub fn set_example(&mut self) {
        self.data.example = Some(EXAMPLE);
        self.model.name = Some(ModelName::DEFAULT);
        if !self.model.has_prior() {
            self.model.prior_precision = Some(1.0);
        }
    }

    /// Draws that the verdict on this target rests on, at least: those asked for, or the usual number, or fewer where
    /// each of them is dear.
    pub(crate) fn diagnostic_draws_for(&self, target: &dyn Target) -> usize {
        self.diagnostic_draws.unwrap_or_else(|| affordable_draws(&target.about(), DIAGNOSTIC_DRAWS))
    }

    /// Draws that the verdict rests on, at least: those asked for, or the usual number.
    pub fn diagnostic_draws(&self) -> usize {
        self.diagnostic_draws.unwrap_or(DIAGNOSTIC_DRAWS)
    }
}

/// Which rows and columns of which table.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DataSettings {
    /// An embedded table in place of a file.
    #[serde(deserialize_with = "key::example")]
    pub example: Option<Word>,
    /// The table.
    pub file: Option<String>,
    /// Whether rows are read piece by piece, and never all in memory.
    pub stream: Option<bool>,
    /// Megabytes that pieces may take.
    #[serde(deserialize_with = "key::at_least_one")]
    pub memory: Option<usize>,
    /// Folder for what was decoded.
    pub cache: Option<String>,
    /// The array with the features, of an npz file that has several.
    pub array: Option<String>,
    /// What is explained by what, in place of a target and columns.
    pub formula: Option<String>,
    /// The column to be explained.
    pub target: Option<String>,
    /// Columns to use, in this order.
    pub features: Option<Vec<String>>,
    /// Columns to leave out.
    pub exclude: Option<Vec<String>>,
    /// Whether a column of ones comes first.
    pub intercept: Option<bool>,
    /// What becomes of rows with missing cells.
    #[serde(deserialize_with = "key::missing")]
    pub missing: Option<Missing>,
    /// What becomes of columns of texts.
    #[serde(deserialize_with = "key::categorical")]
    pub categorical: Option<Categorical>,
    /// Columns that are categories although they hold numbers.
    pub category: Option<Vec<String>>,
    /// What is done to columns of numbers.
    #[serde(deserialize_with = "key::scaling")]
    pub scaling: Option<Scaling>,
    /// Part of the rows to hold out, chosen at random.
    #[serde(deserialize_with = "key::fraction")]
    pub test_fraction: Option<f64>,
    /// Seed of that choice.
    #[serde(deserialize_with = "key::split_seed")]
    pub split_seed: Option<u32>,
    /// File with the numbers of the rows to hold out.
    pub test_rows: Option<String>,
    /// File with the numbers of the rows to fit.
    pub train_rows: Option<String>,
    /// Rows that were read, training and test rows together; written, not asked for.
    pub rows: Option<usize>,
    /// By which the data are recognised.
    pub fingerprint: Option<String>,
}

/// The model and its prior.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ModelSettings {
    /// Which model.
    #[serde(deserialize_with = "key::model_name")]
    pub name: Option<ModelName>,
    /// Kind of the prior of the coefficients or weights: normal or student_t.
    #[serde(deserialize_with = "key::prior")]
    pub prior: Option<Word>,
    /// Priors of single coefficients, of classes of them, and of parameters beside them.
    pub priors: Option<Vec<PriorStatement>>,
    /// Half the degrees of freedom of a t prior.
    #[serde(deserialize_with = "key::prior_shape")]
    pub prior_shape: Option<f64>,
    /// Precision of the normal prior of every coefficient or weight.
    #[serde(deserialize_with = "key::precision")]
    pub prior_precision: Option<f64>,
    /// The same prior by its standard deviation.
    #[serde(deserialize_with = "key::standard_deviation")]
    pub prior_sd: Option<f64>,
    /// Scale of the half-Cauchy prior of sigma.
    #[serde(deserialize_with = "key::scale")]
    pub sigma_scale: Option<f64>,
    /// Known precision 1/σ² of the noise of a network's target.
    #[serde(deserialize_with = "key::precision")]
    pub noise_precision: Option<f64>,
    /// Column with the exposure of each count.
    pub exposure: Option<String>,
    /// Known concentration of angles.
    #[serde(deserialize_with = "key::scale")]
    pub concentration: Option<f64>,
    /// Units of each hidden layer.
    pub hidden: Option<Vec<usize>>,
    /// What hidden units do.
    #[serde(deserialize_with = "key::activation")]
    pub activation: Option<Activation>,
    /// What a network says about its target.
    #[serde(deserialize_with = "key::likelihood")]
    pub likelihood: Option<Likelihood>,
}

impl ModelSettings {
    /// The precision of the prior of the coefficients, if it is given in one way or the other.
    pub fn precision(&self) -> Option<f64> {
        self.prior_sd.map(|sd| 1.0 / (sd * sd)).or(self.prior_precision)
    }

    /// The prior that a parameter beside the coefficients is given.
    pub(crate) fn beside(&self, name: &str) -> Option<NoisePrior> {
        let stated = self.priors.iter().flatten().rev().find(|s| matches!(&s.of, PriorOf::Beside(of) if of == name));
        stated.map(|statement| match statement.law {
            PriorLaw::Positive(law) => law,
            _ => NoisePrior::Flat,
        })
    }

    /// Whether the prior of the coefficients is given.
    pub fn has_prior(&self) -> bool {
        self.prior_precision.is_some() || self.prior_sd.is_some()
    }
}

/// The family and its constants.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FamilySettings {
    /// Which family, or auto.
    #[serde(deserialize_with = "key::family_name")]
    pub name: Option<Word>,
    /// The shape of scale matrices.
    #[serde(deserialize_with = "key::covariance")]
    pub covariance: Option<Covariance>,
    /// Number of components.
    #[serde(deserialize_with = "key::components")]
    pub components: Option<Components>,
    /// Number of factors of the covariance.
    #[serde(deserialize_with = "key::at_least_one")]
    pub rank: Option<usize>,
    /// Number of directions of skewness.
    #[serde(deserialize_with = "key::at_least_one")]
    pub directions: Option<usize>,
    /// Half the degrees of freedom, or learn.
    #[serde(deserialize_with = "key::shape")]
    pub shape: Option<Shape>,
    /// Shape of a mixing law, or learn.
    #[serde(deserialize_with = "key::lambda")]
    pub lambda: Option<Shape>,
    /// Kind of the components.
    #[serde(deserialize_with = "key::component_name")]
    pub component: Option<Word>,
    /// Kind of every second component.
    #[serde(deserialize_with = "key::component_name")]
    pub other_component: Option<Word>,
    /// Law of a random scale.
    #[serde(deserialize_with = "key::law_name")]
    pub law: Option<Word>,
    /// Whether each coordinate has a scale of its own.
    pub product: Option<bool>,
    /// How parameters are cut into matrices or tensors.
    #[serde(deserialize_with = "key::dims")]
    pub dims: Option<Dims>,
    /// How the factors of a matrix move.
    #[serde(deserialize_with = "key::matrix_update")]
    pub update: Option<MatrixUpdate>,
    /// Constants of a component or law, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub constant: BTreeMap<String, f64>,
}

/// Where a fit begins; without a word about it a start is searched for, but under the rule `printed`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StartSettings {
    /// A law of the locations, a number, or a file with a fit.
    #[serde(deserialize_with = "key::start_at")]
    pub at: Option<value::StartAt>,
    /// The variance in Σ = variance · I.
    #[serde(deserialize_with = "key::scale")]
    pub covariance: Option<f64>,
    /// Whether a start is searched for.
    pub search: Option<bool>,
}

impl StartSettings {
    fn is_searched_for(&self) -> bool {
        *self == Self::default()
    }
}

/// Where the result goes; not part of what makes its bits, and so not kept with a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct OutputSettings {
    /// The folder in which the fit is kept.
    pub out: Option<String>,
    /// Whether one JSON object is printed.
    pub json: bool,
    /// Whether nothing is said while it runs.
    pub quiet: bool,
    /// Quantiles that are shown, in percent.
    #[serde(deserialize_with = "key::percents")]
    pub quantiles: Option<Vec<f64>>,
    /// Whether the page shows odds ratios or rate ratios.
    pub ratios: bool,
    /// Whether an earlier fit in the folder is replaced.
    pub overwrite: bool,
}

impl OutputSettings {
    fn is_plain(&self) -> bool {
        *self == Self::default()
    }
}
