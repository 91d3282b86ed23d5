//! Regressions whose rows are not in memory: sums over shards, and a sample of rows for what is said of the model.

use std::sync::Arc;

use elinvar::model::{DesignMatrix, LinearRegression, LogisticRegression, NoisePrior, PoissonRegression};
use elinvar::research::target::shards::{InProcess, SumOfShards};
use elinvar::target::{ColumnScale, Target};
use elinvar_data::{ColumnTransform, RegressionData};

use super::coefficients::Coefficients;
use super::over_columns::{self, Behind, OverColumns};
use super::{Model, ModelName};
use crate::error::Error;
use crate::prior::Prior;
use crate::response::{Bernoulli, Normal, Poisson, Regression, Response};
use crate::settings::ModelSettings;
use crate::stream::{MakePart, Refused, Stream, StreamedShards};

/// Models that take rows shard by shard.
pub(crate) const NAMES: [&str; 3] = ["logistic", "linear", "poisson"];

/// What is known of all rows, and some of them.
pub(crate) struct OfAll {
    pub(crate) n_rows: usize,
    /// Mean and standard deviation of the target.
    pub(crate) moments: (f64, f64),
    pub(crate) sample: (DesignMatrix, Vec<f64>),
    /// Megabytes that may be used.
    pub(crate) memory: usize,
}

struct Streamed {
    target: Box<dyn Target + Send>,
    noise: Option<NoisePrior>,
    words: Words,
    sample: (DesignMatrix, Vec<f64>),
}

/// What one regression differs by where it is shown.
#[derive(Clone, Copy)]
struct Words {
    title: &'static str,
    formula: fn(&str) -> String,
    response: &'static dyn Response,
}

/// The model of this name over the shards.
pub(crate) fn make(
    name: ModelName,
    given: &ModelSettings,
    header: &RegressionData,
    transforms: &[ColumnTransform],
    of_all: OfAll,
    stream: Arc<Stream>,
) -> Result<Box<dyn Model>, Error> {
    let OfAll { n_rows, moments: (mean, sd), sample, memory } = of_all;
    let is_linear = name.name() == "linear";
    let by_data = if is_linear { Prior::ByData { centre: mean, spread: sd } } else { Prior::WITHOUT_UNIT };
    let coefficients = Coefficients::new(given, header, transforms, by_data);
    let (declared, tails) = coefficients.declared();
    let precision = coefficients.priors.base.precision();
    let prior = if is_linear || coefficients.priors.has_own() {
        declared
    } else {
        elinvar::target::Prior::Gaussian { precision, leading: header.n_cols() }
    };
    let noise = is_linear.then(|| super::linear::noise(given, &coefficients, sd));
    let declared = prior.clone();
    let make: MakePart = match name.name() {
        "logistic" => Box::new(move |x, y| {
            Ok(Box::new(LogisticRegression::new(x, y, precision)?.with_coefficient_prior(prior.clone())?))
        }),
        "poisson" => Box::new(move |x, y| {
            Ok(Box::new(PoissonRegression::new(x, y, precision)?.with_coefficient_prior(prior.clone())?))
        }),
        _ => Box::new(move |x, y| Ok(Box::new(linear(x, y, precision, &prior, noise, n_rows)?))),
    };
    let words = match name.name() {
        "logistic" => Words {
            title: "Logistic regression",
            formula: |y| format!("P({y} = 1) = 1/(1 + exp(−η)), η linear in the columns"),
            response: &Bernoulli,
        },
        "poisson" => Words {
            title: "Poisson regression",
            formula: |y| format!("{y} ~ Poisson(exp(η)), η linear in the columns"),
            response: &Poisson,
        },
        _ => Words {
            title: "Linear regression",
            formula: |y| format!("{y} ~ N(η, sigma²), η linear in the columns"),
            response: &Normal,
        },
    };
    // What one row says of itself is what all say.
    let scale = |t: &ColumnTransform| ColumnScale { shift: t.shift, scale: t.scale };
    let scales: Vec<ColumnScale> = transforms.iter().map(scale).collect();
    let is_scaled = transforms.iter().any(ColumnTransform::changes);
    let (x, y) = &sample;
    let one = DesignMatrix::new(x.row(0).to_vec(), x.n_cols(), x.names().to_vec()).map_err(Error::of_fit)?;
    let one = if is_scaled { one.with_scales(scales).map_err(Error::of_fit)? } else { one };
    let about = make(one, vec![y[0]]).map_err(Error::of_fit)?.about();
    let target: Box<dyn Target + Send> = if is_linear {
        let parts = statistics(&stream, transforms, precision, &declared, noise, (n_rows, memory))?;
        Box::new(SumOfShards::new(InProcess::of(parts), about, n_rows))
    } else {
        Box::new(SumOfShards::new(StreamedShards { stream, make }, about, n_rows))
    };
    Ok(over_columns::model(Streamed { target, noise, words, sample }, coefficients, tails))
}

fn linear(
    x: DesignMatrix,
    y: Vec<f64>,
    precision: f64,
    prior: &elinvar::target::Prior,
    noise: Option<NoisePrior>,
    n_rows: usize,
) -> Result<LinearRegression, elinvar::Error> {
    let model = LinearRegression::new(x, y, precision)?.with_coefficient_prior(prior.clone())?;
    let model = if let Some(noise) = noise { model.with_noise_prior(noise)? } else { model };
    Ok(model.as_part_of(n_rows))
}

/// The sums of each shard that a linear regression is a function of: one pass, and no other is needed.
fn statistics(
    stream: &Stream,
    transforms: &[ColumnTransform],
    precision: f64,
    prior: &elinvar::target::Prior,
    noise: Option<NoisePrior>,
    (n_rows, memory): (usize, usize),
) -> Result<Vec<LinearRegression>, Error> {
    let needed = (8 * transforms.len() * transforms.len()).saturating_mul(stream.n_shards()).div_ceil(1 << 20);
    if needed > memory {
        return Err(Refused::Memory { memory, needed }.into());
    }
    let mut parts = Vec::with_capacity(stream.n_shards());
    let passed = stream.each(
        ("statistics", 0),
        |_, x, y| Ok(linear(x, y, precision, prior, noise, n_rows)?.without_rows()),
        |_, part| {
            parts.push(part);
            Ok(())
        },
    );
    passed.map_err(Error::of_stream)?;
    Ok(parts)
}

impl OverColumns for Streamed {
    fn target(&self) -> &dyn Target {
        &*self.target
    }

    fn title(&self) -> &'static str {
        self.words.title
    }

    fn formula(&self, y: &str) -> String {
        (self.words.formula)(y)
    }

    /// Those of the sample: what is said of rows is said of it.
    fn rows(&self) -> Regression<'_> {
        Regression::plain(self.words.response, &self.sample.0, &self.sample.1)
    }

    fn beside(&self) -> Behind {
        Behind::Positive(self.noise.map(|noise| ("sigma", noise)).into_iter().collect())
    }

    fn settings(&self, of_coefficients: ModelSettings) -> ModelSettings {
        match &self.noise {
            Some(noise) => super::linear::with_sigma(of_coefficients, noise),
            None => of_coefficients,
        }
    }
}
