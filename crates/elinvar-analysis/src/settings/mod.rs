//! What a fit is told, as plain data: every flag has a key in a file, and a run keeps all of them.

mod key;
mod read;
mod resolve;
pub mod value;
mod words;

pub use read::read;
pub use words::{Components, Dims, Likelihood, Shape};

pub use crate::models::ModelName;

use std::collections::BTreeMap;
use std::path::PathBuf;

use elinvar::Plan;
use elinvar::model::Activation;
use elinvar::target::Covariance;
use elinvar_data::{Categorical, Missing, Scaling};
use serde::{Deserialize, Serialize};

/// One of a fixed list of words.
type Word = &'static str;

/// The embedded table of `elinvar fit` without a model.
pub const EXAMPLE: &str = "breast_cancer";

/// Draws for the diagnostics unless their number is given.
const DIAGNOSTIC_DRAWS: usize = 10_000;

/// The settings of a fit; what is `None` is left to its default.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// The version that wrote the file.
    pub elinvar: Option<String>,
    #[serde(deserialize_with = "key::diagnostic_draws")]
    pub diagnostic_draws: Option<usize>,
    pub data: DataSettings,
    pub model: ModelSettings,
    pub family: FamilySettings,
    pub plan: Plan,
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
    pub file: Option<String>,
    pub array: Option<String>,
    pub target: Option<String>,
    pub features: Option<Vec<String>>,
    pub exclude: Option<Vec<String>>,
    pub intercept: Option<bool>,
    #[serde(deserialize_with = "key::missing")]
    pub missing: Option<Missing>,
    #[serde(deserialize_with = "key::categorical")]
    pub categorical: Option<Categorical>,
    pub category: Option<Vec<String>>,
    #[serde(deserialize_with = "key::scaling")]
    pub scaling: Option<Scaling>,
    #[serde(deserialize_with = "key::fraction")]
    pub test_fraction: Option<f64>,
    #[serde(deserialize_with = "key::split_seed")]
    pub split_seed: Option<u32>,
    pub test_rows: Option<String>,
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
    #[serde(deserialize_with = "key::model_name")]
    pub name: Option<ModelName>,
    #[serde(deserialize_with = "key::precision")]
    pub prior_precision: Option<f64>,
    #[serde(deserialize_with = "key::standard_deviation")]
    pub prior_sd: Option<f64>,
    #[serde(deserialize_with = "key::scale")]
    pub sigma_scale: Option<f64>,
    pub exposure: Option<String>,
    #[serde(deserialize_with = "key::scale")]
    pub concentration: Option<f64>,
    pub hidden: Option<Vec<usize>>,
    #[serde(deserialize_with = "key::activation")]
    pub activation: Option<Activation>,
    #[serde(deserialize_with = "key::likelihood")]
    pub likelihood: Option<Likelihood>,
}

impl ModelSettings {
    /// The precision of the prior of the coefficients, if it is given in one way or the other.
    pub fn precision(&self) -> Option<f64> {
        self.prior_sd.map(|sd| 1.0 / (sd * sd)).or(self.prior_precision)
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
    #[serde(deserialize_with = "key::family_name")]
    pub name: Option<Word>,
    #[serde(deserialize_with = "key::covariance")]
    pub covariance: Option<Covariance>,
    #[serde(deserialize_with = "key::components")]
    pub components: Option<Components>,
    #[serde(deserialize_with = "key::at_least_one")]
    pub rank: Option<usize>,
    #[serde(deserialize_with = "key::shape")]
    pub shape: Option<Shape>,
    #[serde(deserialize_with = "key::lambda")]
    pub lambda: Option<f64>,
    #[serde(deserialize_with = "key::component_name")]
    pub component: Option<Word>,
    #[serde(deserialize_with = "key::law_name")]
    pub law: Option<Word>,
    pub product: Option<bool>,
    #[serde(deserialize_with = "key::dims")]
    pub dims: Option<Dims>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub constant: BTreeMap<String, f64>,
}

/// Where the result goes; not part of what makes its bits, and so not kept with a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct OutputSettings {
    pub out: Option<String>,
    pub json: bool,
    pub quiet: bool,
}

impl OutputSettings {
    fn is_plain(&self) -> bool {
        *self == Self::default()
    }
}
