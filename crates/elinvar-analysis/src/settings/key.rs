//! Keys of a file, read as the flags of the same name are.

use std::fmt;

use elinvar::model::Activation;
use elinvar::rule::MatrixUpdate;
use elinvar::target::Covariance;
use elinvar_data::{Categorical, Missing, Scaling};
use serde::de::{Deserialize, Deserializer, Error as _};

use super::value::{self, StartAt};
use super::{Components, Dims, Likelihood, ModelName, Shape};

/// A value as it would be typed after a flag.
#[derive(serde::Deserialize)]
#[serde(untagged)]
enum Typed {
    Whole(i64),
    Number(f64),
    Word(String),
}

impl fmt::Display for Typed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Typed::Whole(n) => write!(f, "{n}"),
            Typed::Number(x) => write!(f, "{x:?}"),
            Typed::Word(word) => f.write_str(word),
        }
    }
}

macro_rules! keys {
    ($($name:ident: $type:ty;)*) => {$(
        pub(super) fn $name<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<$type>, D::Error> {
            let typed = Typed::deserialize(deserializer).map_err(|_| D::Error::custom("give a number or a word"))?;
            let text = typed.to_string();
            value::$name(&text).map(Some).map_err(|advice| D::Error::custom(format!("{text:?} will not do: {advice}")))
        }
    )*};
}

keys! {
    activation: Activation;
    at_least_one: usize;
    categorical: Categorical;
    component_name: &'static str;
    components: Components;
    covariance: Covariance;
    diagnostic_draws: usize;
    dims: Dims;
    example: &'static str;
    family_name: &'static str;
    fraction: f64;
    lambda: Shape;
    law_name: &'static str;
    likelihood: Likelihood;
    matrix_update: MatrixUpdate;
    missing: Missing;
    model_name: ModelName;
    precision: f64;
    prior: &'static str;
    prior_shape: f64;
    scale: f64;
    scaling: Scaling;
    shape: Shape;
    split_seed: u32;
    start_at: StartAt;
    standard_deviation: f64;
}

/// A list of percentages.
pub(super) fn percents<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<f64>>, D::Error> {
    let typed = Vec::<Typed>::deserialize(deserializer).map_err(|_| D::Error::custom("give a list of percentages"))?;
    let read = |typed: Typed| {
        let text = typed.to_string();
        value::percent(&text).map_err(|advice| D::Error::custom(format!("{text:?} will not do: {advice}")))
    };
    typed.into_iter().map(read).collect::<Result<Vec<f64>, _>>().map(Some)
}
