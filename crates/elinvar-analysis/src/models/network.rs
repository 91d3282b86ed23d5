//! A neural network, for numbers or classes.

use elinvar::Family;
use elinvar::family::Approximation;
use elinvar::model::{Architecture, DesignMatrix, NetworkNoise, NeuralNetwork};
use elinvar::run::start_at_guess;
use elinvar::target::{DrawBuffer, Target};
use elinvar_data::{ColumnTransform, Outcome, RegressionData, rmse};

use super::{Columns, Entry, Model, OwnSetting, PriorWords, Trials, UsualFamily};
use crate::held_out::{Metric, Scores};
use crate::number::significant;
use crate::prior::Prior;
use crate::settings::{Dims, Likelihood, ModelSettings};

pub(super) const ENTRY: Entry = Entry {
    name: "network",
    about: "a neural network",
    columns: Columns::Inputs,
    outcome: |given| match given.likelihood.unwrap_or_default() {
        Likelihood::Gaussian => Outcome::Real,
        Likelihood::Binary => Outcome::Binary,
        Likelihood::Multiclass => Outcome::Count,
    },
    beside: &[],
    trials: Trials::None,
    own: &[OwnSetting {
        flags: "--hidden, --activation, --likelihood or --noise-precision",
        is_given: |given| {
            given.hidden.is_some()
                || given.activation.is_some()
                || given.likelihood.is_some()
                || given.noise_precision.is_some()
        },
    }],
    usual_family: UsualFamily::OwnStart,
    make,
};

/// Precision of the prior of a weight.
const PRIOR_PRECISION: f64 = 1.0;

struct Network {
    target: NeuralNetwork,
    architecture: Architecture,
    likelihood: Likelihood,
    precision: f64,
    noise_precision: Option<f64>,
}

fn make(
    given: &ModelSettings,
    rows: RegressionData,
    // Weights of a network are nobody's units.
    _: &[ColumnTransform],
) -> Result<Box<dyn Model>, elinvar::Error> {
    let standard = Architecture::default();
    let architecture = Architecture {
        hidden: given.hidden.clone().unwrap_or(standard.hidden),
        activation: given.activation.unwrap_or(standard.activation),
    };
    let likelihood = given.likelihood.unwrap_or_default();
    let precision = given.precision().unwrap_or(PRIOR_PRECISION);
    let n_cols = rows.n_cols();
    let (x, y) = (DesignMatrix::new(rows.features, n_cols, rows.names)?, rows.y);
    let layers = architecture.clone();
    let mut target = match likelihood {
        Likelihood::Gaussian => NeuralNetwork::regression(x, y, layers, precision),
        Likelihood::Binary => NeuralNetwork::binary(x, classes(&y), layers, precision),
        Likelihood::Multiclass => {
            let n_classes = y.iter().fold(0.0_f64, |most, label| most.max(*label)) as usize + 1;
            NeuralNetwork::multiclass(x, y, n_classes, layers, precision)
        }
    }?;
    if let Some(precision) = given.noise_precision {
        if likelihood != Likelihood::Gaussian {
            return Err(elinvar::Error::Unsupported {
                wanted: "--noise-precision for a network of classes".into(),
                instead: "leave it out; only a gaussian likelihood has noise".into(),
            });
        }
        target = target.with_noise(NetworkNoise::Fixed { precision })?;
    }
    Ok(Box::new(Network { target, architecture, likelihood, precision, noise_precision: given.noise_precision }))
}

/// Classes −1 and 1 as 0 and 1.
fn classes(y: &[f64]) -> Vec<f64> {
    y.iter().map(|label| label.max(0.0)).collect()
}

impl Network {
    fn hidden(&self, between: &str) -> String {
        self.architecture.hidden.iter().map(usize::to_string).collect::<Vec<_>>().join(between)
    }
}

impl Model for Network {
    fn target(&self) -> &dyn Target {
        &self.target
    }

    fn settings(&self) -> ModelSettings {
        ModelSettings {
            prior_precision: Some(self.precision),
            hidden: Some(self.architecture.hidden.clone()),
            activation: Some(self.architecture.activation),
            likelihood: Some(self.likelihood),
            noise_precision: self.noise_precision,
            ..ModelSettings::default()
        }
    }

    fn title(&self) -> String {
        format!("Neural network ({} hidden units)", self.hidden(" + "))
    }

    fn formula(&self, y: &str) -> String {
        let layers = match self.architecture.hidden.as_slice() {
            [] => "no hidden layer".into(),
            _ => format!("hidden layers {}", self.hidden(", ")),
        };
        let outcome = match self.likelihood {
            Likelihood::Gaussian => match self.noise_precision {
                None => "a normal distribution with learned sigma".into(),
                Some(precision) => format!("a normal distribution with sigma {}", significant(precision.powf(-0.5))),
            },
            Likelihood::Binary => "two classes".to_string(),
            Likelihood::Multiclass => "several classes".into(),
        };
        format!("neural network for {y}: {layers}; {outcome}")
    }

    fn prior(&self) -> PriorWords {
        let short = Prior::Given { precision: self.precision }.title();
        PriorWords { short, numbers: None, of: " on every weight", beside: None }
    }

    fn test(&self, rows: &RegressionData, draws: &DrawBuffer) -> Result<Scores, elinvar::Error> {
        let x = DesignMatrix::new(rows.features.clone(), rows.n_cols(), rows.names.clone())?;
        let predictions = self.target.predict(draws.view(), &x)?;
        let (y, mean) = (&rows.y, predictions.mean());
        Ok(match self.likelihood {
            Likelihood::Binary => Scores::of_two_classes(&classes(y), &mean),
            Likelihood::Multiclass => {
                let n_classes = mean.len() / y.len();
                let best = |p: &[f64]| p.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1)).map_or(0, |(k, _)| k);
                let right = mean.chunks_exact(n_classes).zip(y).filter(|(p, y)| best(p) == **y as usize).count();
                let share = right as f64 / y.len() as f64;
                let loss = predictions.log_loss(y)?;
                Scores::of(vec![Metric::plain("log_loss", loss, "nats"), Metric::plain("accuracy", share, "")])
            }
            Likelihood::Gaussian => {
                let density = Metric::plain("log_predictive_density", predictions.log_likelihood(y)?, "nats");
                Scores::of(vec![density, Metric::new("rmse", rmse(y, &mean), "")])
            }
        })
    }

    fn layers(&self) -> Option<Dims> {
        Some(Dims(self.target.layout().iter().map(|layer| layer.to_vec()).collect()))
    }

    fn start(&self, family: Family, seed: u64) -> Result<Option<Approximation>, elinvar::Error> {
        start_at_guess(&self.target, family, seed).map(Some)
    }
}
