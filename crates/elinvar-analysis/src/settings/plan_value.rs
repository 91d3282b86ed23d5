//! The values of flags and keys of a plan and of a start: what may be written, and what to say when it may not.

use std::fmt;

use elinvar::estimate::{Curvature, MixingWeights, Sampling, ShapeEstimator};
use elinvar::random::Noise;
use elinvar::rule::{BiasCorrection, Printed, PrintedStep, Rule};
use serde::{Serialize, Serializer};

use super::value::{meaning, one_of, positive};

/// A rule of updating by its name.
pub fn rule(text: &str) -> Result<Rule, String> {
    let words = [
        "retraction",
        "natural_gradient",
        "natural_momentum",
        "adam_like",
        "euclidean_adam",
        "gradient_descent",
        "printed",
    ];
    Rule::by_name(one_of(text, "rules", &words)?).ok_or_else(String::new)
}

/// Where second derivatives come from.
pub fn curvature(text: &str) -> Result<Curvature, String> {
    let words = [
        "hessian",
        "gauss_newton",
        "item_gradients",
        "squared_mean",
        "gradient_outer_product",
        "least_change",
        "pooled",
        "stein",
        "stein_plain",
    ];
    Curvature::by_name(one_of(text, "kinds of curvature", &words)?).ok_or_else(String::new)
}

/// Which function of (w, z) weighs a draw.
pub fn weights(text: &str) -> Result<MixingWeights, String> {
    let kinds = [MixingWeights::Sampled, MixingWeights::Marginal, MixingWeights::Conditional];
    meaning(text, "weights", &kinds.map(|kind| (word_of(&WEIGHTS, &kind), kind)))
}

const WEIGHTS: [&str; 3] = ["sampled", "marginal", "conditional"];
const SAMPLINGS: [&str; 4] = ["mixture", "whole", "stratified", "own_draws"];
const SHAPES: [&str; 3] = ["exact", "ratio", "paper_literal"];

/// The word among `words` by which a choice is shown.
fn word_of(words: &[&'static str], choice: &impl fmt::Display) -> &'static str {
    let shown = choice.to_string();
    words.iter().find(|word| **word == shown).copied().unwrap_or_default()
}

/// How the draws of a step depend on each other.
pub fn noise(text: &str) -> Result<Noise, String> {
    meaning(text, "kinds of noise", &Noise::ALL.map(|noise| (noise.name(), noise)))
}

/// Where the draws of a mixture come from.
pub fn sampling(text: &str) -> Result<Sampling, String> {
    let kinds = [Sampling::Mixture, Sampling::Whole, Sampling::Implicit, Sampling::Stratified, Sampling::OwnDraws];
    meaning(text, "ways to draw", &kinds.map(|kind| (word_of(&SAMPLINGS, &kind), kind)))
}

/// How the slope in a learned shape is estimated.
pub fn shape_estimator(text: &str) -> Result<ShapeEstimator, String> {
    let kinds = [ShapeEstimator::Exact, ShapeEstimator::Ratio, ShapeEstimator::PaperLiteral];
    meaning(text, "estimators", &kinds.map(|kind| (word_of(&SHAPES, &kind), kind)))
}

/// A bound on the divergence of a step, or none.
pub fn max_kl(text: &str) -> Result<Option<f64>, String> {
    if text == "none" {
        return Ok(None);
    }
    positive(text).map(Some).map_err(|advice| advice + ", or none")
}

/// The share of the last step that momentum takes.
pub fn momentum(text: &str) -> Result<f64, String> {
    let inside = text.parse().ok().filter(|gamma: &f64| (0.0..1.0).contains(gamma));
    inside.ok_or("give a number from 0 to 1, which is excluded: from 1 on momentum explodes".into())
}

/// Which running means of the Adam-like rule are divided by their bias.
pub fn bias_correction(text: &str) -> Result<BiasCorrection, String> {
    let kinds = [
        ("both", BiasCorrection::Both),
        ("data_only", BiasCorrection::DataOnly),
        ("momentum_only", BiasCorrection::MomentumOnly),
        ("none", BiasCorrection::None),
    ];
    meaning(text, "corrections", &kinds)
}

/// An option of the rule `printed`: its name and its word.
pub fn printed_option(text: &str) -> Result<(String, String), String> {
    let Some((name, word)) = text.split_once('=') else {
        return Err("give a name and a word, such as on_leaving=halve".into());
    };
    let pair = (name.trim().to_string(), word.trim().to_string());
    with_option(Printed::default(), &pair).map(|_| pair)
}

/// The options with one of them changed.
pub fn with_option(options: Printed, (name, word): &(String, String)) -> Result<Printed, String> {
    if name == "step" {
        let step = PrintedStep::by_name(word).ok_or("the steps are natural, momentum and adam_like")?;
        return Ok(Printed { step, ..options });
    }
    let mut table = serde_json::to_value(options).map_err(|error| error.to_string())?;
    table[name] = word.as_str().into();
    // "unknown variant `x`, expected `a` or `b`" says what there is.
    serde_json::from_value(table).map_err(|error| error.to_string())
}

/// Where a fit begins, if not where a search leads.
#[derive(Clone, Debug, PartialEq)]
pub enum StartAt {
    /// Each entry of each location drawn from N(mean, sd²).
    Normal {
        /// The mean.
        mean: f64,
        /// The standard deviation; 0 puts all on the mean.
        sd: f64,
    },
    /// A member of a family that a file holds.
    File(String),
}

impl fmt::Display for StartAt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StartAt::Normal { mean, sd } => write!(f, "normal({mean}, {sd})"),
            StartAt::File(path) => f.write_str(path),
        }
    }
}

impl Serialize for StartAt {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A law of locations, a number, or a file.
pub fn start_at(text: &str) -> Result<StartAt, String> {
    if let Ok(mean) = text.parse::<f64>() {
        return Ok(StartAt::Normal { mean, sd: 0.0 });
    }
    let Some(inside) = text.strip_prefix("normal(").and_then(|rest| rest.strip_suffix(')')) else {
        return Ok(StartAt::File(text.into()));
    };
    let parts: Vec<f64> = inside.split(',').filter_map(|part| part.trim().parse().ok()).collect();
    match parts[..] {
        [mean, sd] if mean.is_finite() && sd >= 0.0 && sd.is_finite() => Ok(StartAt::Normal { mean, sd }),
        _ => Err("give mean and standard deviation, such as normal(0, 10)".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_has_its_meaning() {
        for word in WEIGHTS {
            assert_eq!(weights(word).unwrap().to_string(), word);
        }
        for word in SAMPLINGS {
            assert_eq!(sampling(word).unwrap().to_string(), word);
        }
        for word in SHAPES {
            assert_eq!(shape_estimator(word).unwrap().to_string(), word);
        }
        assert_eq!(max_kl("none"), Ok(None));
        assert_eq!(max_kl("2"), Ok(Some(2.0)));
        assert!(max_kl("0").is_err() && momentum("1").is_err() && momentum("0") == Ok(0.0));
        assert_eq!(rule("printd"), Err("did you mean printed?".into()));
    }

    #[test]
    fn options_and_starts() {
        assert!(printed_option("on_leaving=halve").is_ok() && printed_option("step=adam_like").is_ok());
        assert!(printed_option("step=adam").unwrap_err().contains("adam_like"));
        assert!(printed_option("on_leaving=hlave").unwrap_err().contains("`end`"));
        assert!(printed_option("leaving=halve").unwrap_err().contains("`on_leaving`"));
        assert_eq!(start_at("normal(0, 10)"), Ok(StartAt::Normal { mean: 0.0, sd: 10.0 }));
        assert_eq!(start_at("-2.5"), Ok(StartAt::Normal { mean: -2.5, sd: 0.0 }));
        assert_eq!(start_at("run1"), Ok(StartAt::File("run1".into())));
        assert!(start_at("normal(0)").is_err() && start_at("normal(0, -1)").is_err());
        for at in ["normal(0.5, 10)", "run1/fit.json"] {
            assert_eq!(start_at(at).unwrap().to_string(), at);
        }
    }
}
