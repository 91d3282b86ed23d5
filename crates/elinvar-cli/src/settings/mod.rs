//! What a fit is told, as plain data: every flag has a key in a file, and a run keeps all of them.

mod flags;
mod key;
mod read;
mod resolve;
mod words;

pub(crate) use flags::EXAMPLE;
pub(crate) use read::read;
pub(crate) use words::{Components, Dims, Likelihood, ModelName, Shape};

use std::collections::BTreeMap;
use std::path::PathBuf;

use elinvar::Plan;
use elinvar::model::Activation;
use elinvar::target::Covariance;
use elinvar_data::{Categorical, Missing, Scaling};
use serde::{Deserialize, Serialize};

/// One of a fixed list of words.
type Word = &'static str;

/// Draws for the diagnostics unless their number is given.
const DIAGNOSTIC_DRAWS: usize = 10_000;

/// The settings of a fit; what is `None` is left to its default.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Settings {
    /// The version that wrote the file.
    pub(crate) elinvar: Option<String>,
    #[serde(deserialize_with = "key::diagnostic_draws")]
    pub(crate) diagnostic_draws: Option<usize>,
    pub(crate) data: DataSettings,
    pub(crate) model: ModelSettings,
    pub(crate) family: FamilySettings,
    pub(crate) plan: Plan,
    #[serde(skip_serializing_if = "OutputSettings::is_plain")]
    pub(crate) output: OutputSettings,
    /// The folder of the file that was read: where files are looked for that are not in the current folder.
    #[serde(skip)]
    pub(crate) base: Option<PathBuf>,
}

impl Settings {
    pub(crate) fn diagnostic_draws(&self) -> usize {
        self.diagnostic_draws.unwrap_or(DIAGNOSTIC_DRAWS)
    }
}

/// Which rows and columns of which table.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct DataSettings {
    /// An embedded table in place of a file.
    #[serde(deserialize_with = "key::example")]
    pub(crate) example: Option<Word>,
    pub(crate) file: Option<String>,
    pub(crate) array: Option<String>,
    pub(crate) target: Option<String>,
    pub(crate) features: Option<Vec<String>>,
    pub(crate) exclude: Option<Vec<String>>,
    pub(crate) intercept: Option<bool>,
    #[serde(deserialize_with = "key::missing")]
    pub(crate) missing: Option<Missing>,
    #[serde(deserialize_with = "key::categorical")]
    pub(crate) categorical: Option<Categorical>,
    pub(crate) category: Option<Vec<String>>,
    #[serde(deserialize_with = "key::scaling")]
    pub(crate) scaling: Option<Scaling>,
    #[serde(deserialize_with = "key::fraction")]
    pub(crate) test_fraction: Option<f64>,
    #[serde(deserialize_with = "key::split_seed")]
    pub(crate) split_seed: Option<u32>,
    pub(crate) test_rows: Option<String>,
    pub(crate) train_rows: Option<String>,
    /// Rows that were read, training and test rows together; written, not asked for.
    pub(crate) rows: Option<usize>,
    /// By which the data are recognised.
    pub(crate) fingerprint: Option<String>,
}

/// The model and its prior.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ModelSettings {
    #[serde(deserialize_with = "key::model_name")]
    pub(crate) name: Option<ModelName>,
    #[serde(deserialize_with = "key::precision")]
    pub(crate) prior_precision: Option<f64>,
    #[serde(deserialize_with = "key::standard_deviation")]
    pub(crate) prior_sd: Option<f64>,
    #[serde(deserialize_with = "key::scale")]
    pub(crate) sigma_scale: Option<f64>,
    pub(crate) exposure: Option<String>,
    #[serde(deserialize_with = "key::scale")]
    pub(crate) concentration: Option<f64>,
    pub(crate) hidden: Option<Vec<usize>>,
    #[serde(deserialize_with = "key::activation")]
    pub(crate) activation: Option<Activation>,
    #[serde(deserialize_with = "key::likelihood")]
    pub(crate) likelihood: Option<Likelihood>,
}

impl ModelSettings {
    /// Whether the prior of the coefficients is given.
    pub(crate) fn has_prior(&self) -> bool {
        self.prior_precision.is_some() || self.prior_sd.is_some()
    }
}

/// The family and its constants.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct FamilySettings {
    #[serde(deserialize_with = "key::family_name")]
    pub(crate) name: Option<Word>,
    #[serde(deserialize_with = "key::covariance")]
    pub(crate) covariance: Option<Covariance>,
    #[serde(deserialize_with = "key::components")]
    pub(crate) components: Option<Components>,
    #[serde(deserialize_with = "key::at_least_one")]
    pub(crate) rank: Option<usize>,
    #[serde(deserialize_with = "key::shape")]
    pub(crate) shape: Option<Shape>,
    #[serde(deserialize_with = "key::lambda")]
    pub(crate) lambda: Option<f64>,
    #[serde(deserialize_with = "key::component_name")]
    pub(crate) component: Option<Word>,
    #[serde(deserialize_with = "key::law_name")]
    pub(crate) law: Option<Word>,
    pub(crate) product: Option<bool>,
    #[serde(deserialize_with = "key::dims")]
    pub(crate) dims: Option<Dims>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) constant: BTreeMap<String, f64>,
}

/// Where the result goes; not part of what makes its bits, and so not kept with a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct OutputSettings {
    pub(crate) out: Option<String>,
    pub(crate) json: bool,
    pub(crate) quiet: bool,
}

impl OutputSettings {
    fn is_plain(&self) -> bool {
        *self == Self::default()
    }
}
