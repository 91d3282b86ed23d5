//! A plan as files have it: keys that are left out take the values of the preset that the rule belongs to.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::{MapAccessDeserializer, StrDeserializer};
use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use serde::{Serialize, Serializer};

use super::{Correct, Plan, Stop};
use crate::estimate::{Curvature, MixingWeights, Sampling, ShapeEstimator};
use crate::random::Noise;
use crate::rule::{AdamLike, EuclideanAdam, Printed, Rule, StepSize};

/// Draws of a step of the preset `printed` where no number is given: that of most of the paper's experiments.
const PRINTED_DRAWS: usize = 10;
/// What takes the place of a bound that there is not.
const NONE: &str = "none";

#[derive(serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
#[derive(Default)]
struct Keys {
    n_draws: Option<usize>,
    max_draws: Option<usize>,
    noise: Option<Noise>,
    sampling: Option<Sampling>,
    minibatch: Option<usize>,
    #[serde(deserialize_with = "curvature")]
    curvature: Option<Curvature>,
    weights: Option<MixingWeights>,
    shape: Option<ShapeEstimator>,
    #[serde(deserialize_with = "rule")]
    rule: Option<Rule>,
    #[serde(deserialize_with = "step_size")]
    step_size: Option<StepSize>,
    #[serde(deserialize_with = "step_size")]
    mixing_step_size: Option<StepSize>,
    #[serde(deserialize_with = "max_kl")]
    max_kl: Option<Option<f64>>,
    average: Option<bool>,
    restarts: Option<usize>,
    correct: Option<Correct>,
    stop: Option<Stop>,
    seed: Option<u64>,
}

impl<'de> Deserialize<'de> for Plan {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let keys = Keys::deserialize(deserializer)?;
        let preset = match keys.rule {
            Some(Rule::Printed(_)) => Plan::default().as_printed(),
            _ => Plan::default(),
        };
        let n_draws = keys.n_draws.unwrap_or(preset.n_draws);
        let is_printed = preset.rule.printed().is_some();
        Ok(Self {
            n_draws,
            max_draws: keys.max_draws.unwrap_or(if is_printed { n_draws } else { preset.max_draws }),
            noise: keys.noise.unwrap_or(preset.noise),
            sampling: keys.sampling.unwrap_or(preset.sampling),
            minibatch: keys.minibatch,
            curvature: keys.curvature.unwrap_or(preset.curvature),
            weights: keys.weights.unwrap_or(preset.weights),
            shape: keys.shape.unwrap_or(preset.shape),
            rule: keys.rule.unwrap_or(preset.rule),
            step_size: keys.step_size.unwrap_or(preset.step_size),
            mixing_step_size: keys.mixing_step_size.unwrap_or(preset.mixing_step_size),
            max_kl: keys.max_kl.unwrap_or(preset.max_kl),
            average: keys.average.unwrap_or(preset.average),
            restarts: keys.restarts.unwrap_or(preset.restarts),
            correct: keys.correct.unwrap_or(preset.correct),
            stop: keys.stop.unwrap_or(preset.stop),
            seed: keys.seed.unwrap_or(preset.seed),
        })
    }
}

impl Plan {
    /// This plan with what the preset [`Plan::printed`] says in the place of its own choices; seed, mini-batch,
    /// restarts, curvature and limits stay.
    #[must_use]
    pub fn as_printed(&self) -> Self {
        Self {
            seed: self.seed,
            minibatch: self.minibatch,
            curvature: self.curvature,
            restarts: self.restarts,
            step_size: StepSize::Auto,
            mixing_step_size: StepSize::Auto,
            stop: Stop { max_evaluations: u64::MAX >> 11, ..self.stop },
            ..Self::printed(PRINTED_DRAWS, 1.0, self.stop.max_steps)
        }
    }
}

impl Rule {
    /// The rule of this name with its usual constants.
    pub fn by_name(name: &str) -> Option<Self> {
        let rules = [
            Rule::Retraction,
            Rule::NaturalGradient,
            Rule::NaturalMomentum { gamma: 0.5 },
            Rule::AdamLike(AdamLike::default()),
            Rule::EuclideanAdam(EuclideanAdam::default()),
            Rule::GradientDescent,
            Rule::Printed(Printed::default()),
        ];
        rules.into_iter().find(|rule| rule.to_string() == name)
    }
}

impl Curvature {
    /// The curvature of this name.
    pub fn by_name(name: &str) -> Option<Self> {
        let kinds = [
            Curvature::Auto,
            Curvature::Hessian,
            Curvature::GaussNewton,
            Curvature::ItemGradients,
            Curvature::SquaredMean,
            Curvature::GradientOuterProduct,
            Curvature::Stein { control_variate: true },
            Curvature::Stein { control_variate: false },
            Curvature::GradientFree,
            Curvature::LeastChange,
            Curvature::Pooled,
        ];
        kinds.into_iter().find(|kind| kind.to_string() == name)
    }
}

/// Reads a word, a number or what the type itself reads.
struct Short<T> {
    word: fn(&str) -> Option<T>,
    number: fn(f64) -> Option<T>,
    kind: PhantomData<T>,
}

impl<'de, T: Deserialize<'de>> Visitor<'de> for Short<T> {
    type Value = Option<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a word, a number or a table")
    }

    fn visit_str<E: Error>(self, word: &str) -> Result<Self::Value, E> {
        match (self.word)(word) {
            Some(value) => Ok(Some(value)),
            None => T::deserialize(StrDeserializer::<E>::new(word)).map(Some),
        }
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Self::Value, E> {
        (self.number)(number).map(Some).ok_or_else(|| E::custom("a number will not do here"))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Self::Value, E> {
        self.visit_f64(number as f64)
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Self::Value, E> {
        self.visit_f64(number as f64)
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        self.visit_str(NONE)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(Some)
    }
}

fn rule<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Rule>, D::Error> {
    deserializer.deserialize_any(Short { word: Rule::by_name, number: |_| None, kind: PhantomData })
}

fn curvature<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Curvature>, D::Error> {
    deserializer.deserialize_any(Short { word: Curvature::by_name, number: |_| None, kind: PhantomData })
}

fn step_size<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<StepSize>, D::Error> {
    let number = |beta| Some(StepSize::Constant(beta));
    deserializer.deserialize_any(Short { word: |_| None, number, kind: PhantomData })
}

fn max_kl<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Option<f64>>, D::Error> {
    let word = |word: &str| (word == NONE).then_some(None);
    deserializer.deserialize_any(Short { word, number: |bound| Some(Some(bound)), kind: PhantomData })
}

/// Writes a bound, or the word for none.
pub(super) fn write_max_kl<S: Serializer>(bound: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
    match bound {
        Some(bound) => bound.serialize(serializer),
        None => serializer.serialize_str(NONE),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::OnLeaving;

    fn read(text: &str) -> Plan {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn plans_are_read_back_as_they_were_written() {
        let none = Plan { max_kl: None, ..Plan::default() };
        let stein = Plan { curvature: Curvature::Stein { control_variate: false }, ..Plan::default() };
        for plan in [Plan::default(), none, stein, Plan::printed(3, 0.2, 7), Plan::default().as_printed()] {
            let text = serde_json::to_string(&plan).unwrap();
            assert_eq!(read(&text), plan, "{text}");
        }
    }

    #[test]
    fn words_and_numbers_stand_for_what_they_mean() {
        let plan = read(r#"{"rule": "adam_like", "max_kl": "none", "step_size": 0.5, "curvature": "stein_plain"}"#);
        assert_eq!(plan.rule, Rule::AdamLike(AdamLike::default()));
        assert_eq!((plan.max_kl, plan.step_size), (None, StepSize::Constant(0.5)));
        assert_eq!(plan.curvature, Curvature::Stein { control_variate: false });
        assert_eq!(read(r#"{"max_kl": null}"#).max_kl, None);
        assert_eq!(read(r#"{"max_kl": 2}"#).max_kl, Some(2.0));
        assert!(serde_json::from_str::<Plan>(r#"{"rule": "newton"}"#).is_err());
        assert!(serde_json::from_str::<Plan>(r#"{"rules": "retraction"}"#).is_err());
    }

    #[test]
    fn the_word_printed_brings_its_preset_and_keys_have_the_last_word() {
        let plan = read(r#"{"rule": "printed", "n_draws": 4, "weights": "marginal"}"#);
        assert_eq!((plan.n_draws, plan.max_draws, plan.max_kl, plan.average), (4, 4, None, false));
        assert_eq!((plan.noise, plan.sampling), (Noise::Independent, Sampling::Whole));
        assert_eq!((plan.weights, plan.shape), (MixingWeights::Marginal, ShapeEstimator::PaperLiteral));
        let halving = read(r#"{"rule": {"printed": {"on_leaving": "halve"}}}"#);
        assert_eq!(halving.rule.printed().map(|options| options.on_leaving), Some(OnLeaving::Halve));
        assert_eq!(halving.n_draws, PRINTED_DRAWS);
    }
}
