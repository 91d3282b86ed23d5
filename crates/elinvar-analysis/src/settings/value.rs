//! The values of flags and keys: what may be written, and what to say when it may not.
//!
//! Each function reads one kind of value; its error is advice in words.

use elinvar::Family;
use elinvar::component::ComponentKind;
use elinvar::law::Law;
use elinvar::model::Activation;
use elinvar::rule::MatrixUpdate;
use elinvar::target::Covariance;
use elinvar_data::{Categorical, Missing, Scaling, nearest};

pub use super::plan_value::{
    StartAt, bias_correction, curvature, max_kl, momentum, noise, printed_option, rule, sampling, shape_estimator,
    start_at, weights, with_option,
};
use super::{Components, Dims, EXAMPLE, Likelihood, ModelName, PriorLaw, PriorOf, PriorStatement, Shape};
use crate::family::AUTO;

/// The word for a t prior.
pub(crate) const STUDENT_T: &str = "student_t";

/// A model by its name.
pub fn model_name(text: &str) -> Result<ModelName, String> {
    if let Some(model) = ModelName::all().find(|model| model.name() == text) {
        return Ok(model);
    }
    let meant = nearest(text, ModelName::all().map(ModelName::name));
    Err(meant.map_or(format!("the models are {}; the file comes after the model", ModelName::list()), did_you_mean))
}

/// A family by its name, or auto.
pub fn family_name(text: &str) -> Result<&'static str, String> {
    one_of(text, "families", &[&[AUTO], &Family::NAMES[..]].concat())
}

/// One of `words`, or the nearest one as advice.
pub(super) fn one_of(text: &str, what: &str, words: &[&'static str]) -> Result<&'static str, String> {
    if let Some(name) = words.iter().find(|name| **name == text) {
        return Ok(name);
    }
    let all = || format!("the {what} are {}", words.join(", "));
    Err(nearest(text, words.iter().copied()).map_or_else(all, did_you_mean))
}

/// The meaning of one of some words, or the nearest one as advice.
pub(super) fn meaning<T: Copy>(text: &str, what: &str, words: &[(&'static str, T)]) -> Result<T, String> {
    let names: Vec<&str> = words.iter().map(|(name, _)| *name).collect();
    let word = one_of(text, what, &names)?;
    words.iter().find(|(name, _)| *name == word).map(|(_, meaning)| *meaning).ok_or_else(String::new)
}

/// An embedded table by its name.
pub fn example(text: &str) -> Result<&'static str, String> {
    one_of(text, "embedded tables", &[EXAMPLE])
}

/// The probability of a quantile, in percent.
pub fn percent(text: &str) -> Result<f64, String> {
    let within = |p: &f64| 0.0 < *p && *p < 100.0;
    let advice = "a quantile is a percentage between 0 and 100, such as 2.5";
    text.trim().parse().ok().filter(within).ok_or_else(|| advice.into())
}

/// What becomes of rows with missing cells.
pub fn missing(text: &str) -> Result<Missing, String> {
    meaning(text, "choices", &[("refuse", Missing::Refuse), ("drop", Missing::Drop)])
}

/// What becomes of columns of texts.
pub fn categorical(text: &str) -> Result<Categorical, String> {
    meaning(text, "choices", &[("refuse", Categorical::Refuse), ("indicators", Categorical::Indicators)])
}

/// What is done to columns of numbers.
pub fn scaling(text: &str) -> Result<Scaling, String> {
    let words = [("none", Scaling::None), ("standardize", Scaling::Standardize), ("scale", Scaling::Scale)];
    meaning(text, "choices", &words)
}

/// The shape of scale matrices.
pub fn covariance(text: &str) -> Result<Covariance, String> {
    meaning(text, "choices", &[("full", Covariance::Full), ("diagonal", Covariance::Diagonal)])
}

/// What hidden units do.
pub fn activation(text: &str) -> Result<Activation, String> {
    meaning(text, "activations", &[("relu", Activation::Relu), ("tanh", Activation::Tanh)])
}

/// What a network says about its target.
pub fn likelihood(text: &str) -> Result<Likelihood, String> {
    meaning(text, "likelihoods", &Likelihood::ALL.map(|likelihood| (likelihood.name(), likelihood)))
}

/// What `--prior` takes: a kind for all coefficients, or a statement about some.
#[derive(Clone, Debug, PartialEq)]
pub enum PriorFlag {
    /// normal or student_t.
    Kind(&'static str),
    /// Statements.
    Statements(Vec<PriorStatement>),
}

/// A kind of prior, flat, or a statement such as `b ~ normal(0, 2.5)`.
pub fn prior_flag(text: &str) -> Result<PriorFlag, String> {
    if text == "flat" {
        let flat = |of| PriorStatement { of, law: PriorLaw::Flat };
        return Ok(PriorFlag::Statements(vec![flat(PriorOf::Slopes), flat(PriorOf::Intercept)]));
    }
    if text.contains(['~', '(']) {
        return Ok(PriorFlag::Statements(vec![PriorStatement::parse(text)?]));
    }
    Ok(PriorFlag::Kind(prior(text)?))
}

/// A formula, which is read when its table is.
pub fn formula(text: &str) -> Result<String, String> {
    if text.contains('~') { Ok(text.into()) } else { Err("a formula is written y ~ a + b".into()) }
}

/// A component by its name.
pub fn component_name(text: &str) -> Result<&'static str, String> {
    one_of(text, "components", ComponentKind::NAMES)
}

/// A law of a random scale by its name.
pub fn law_name(text: &str) -> Result<&'static str, String> {
    // Known, but outside the theory: the library says why.
    if text == "laplace" {
        return Ok("laplace");
    }
    one_of(text, "laws", &Law::scale_names().collect::<Vec<_>>())
}

/// A name and a number.
pub fn constant(text: &str) -> Result<(String, f64), String> {
    let parts = text.split_once('=').and_then(|(name, value)| Some((name.trim(), value.trim().parse().ok()?)));
    match parts {
        Some((name, value)) if !name.is_empty() && f64::is_finite(value) => Ok((name.into(), value)),
        _ => Err("give a name and a number, such as shape=2".into()),
    }
}

/// Lengths such as `3x4,2x2`.
pub fn dims(text: &str) -> Result<Dims, String> {
    let length = |part: &str| part.trim().parse().ok().filter(|n| *n > 0);
    let group = |part: &str| part.split('x').map(length).collect::<Option<Vec<usize>>>();
    let groups = text.split(',').map(group).collect::<Option<Vec<_>>>();
    groups.map(Dims).ok_or("give lengths such as 3x4, and a comma between groups".into())
}

/// How the factors of a matrix move.
pub fn matrix_update(text: &str) -> Result<MatrixUpdate, String> {
    meaning(text, "updates of a matrix", &MatrixUpdate::ALL.map(|update| (update.name(), update)))
}

fn did_you_mean(name: &str) -> String {
    format!("did you mean {name}?")
}

/// A positive number.
pub fn positive(text: &str) -> Result<f64, String> {
    number_above(text, 0.0).ok_or("give a positive number".into())
}

/// A positive number in a range beyond which a prior says nothing or everything.
fn within(text: &str, least: f64, most: f64) -> Result<f64, String> {
    let value = positive(text)?;
    if (least..=most).contains(&value) {
        return Ok(value);
    }
    Err(format!("this is too extreme; give a number from {least:e} to {most:e}"))
}

/// A kind of prior.
pub fn prior(text: &str) -> Result<&'static str, String> {
    one_of(text, "priors", &["normal", STUDENT_T])
}

/// Half the degrees of freedom of a t prior.
pub fn prior_shape(text: &str) -> Result<f64, String> {
    within(text, 0.1, 1e6)
}

/// Degrees of freedom of a t prior.
pub fn prior_df(text: &str) -> Result<f64, String> {
    within(text, 0.2, 2e6)
}

/// A precision of a prior.
pub fn precision(text: &str) -> Result<f64, String> {
    within(text, 1e-12, 1e12)
}

/// A standard deviation of a prior.
pub fn standard_deviation(text: &str) -> Result<f64, String> {
    within(text, 1e-6, 1e6)
}

/// A scale of a prior.
pub fn scale(text: &str) -> Result<f64, String> {
    within(text, 1e-12, 1e12)
}

/// Half the degrees of freedom of a Student-t, or learn.
pub fn shape(text: &str) -> Result<Shape, String> {
    if text == "learn" {
        return Ok(Shape::Learn);
    }
    let above_one = number_above(text, 1.0);
    let value = above_one.ok_or("give a number above 1: at 1 or below, a Student-t has no covariance")?;
    if (1.1..=1e6).contains(&value) {
        return Ok(Shape::Number(value));
    }
    Err("give a number from 1.1 to 1e6: near 1 the variance of the scale is so large that estimates never settle, \
         and above 1e6 the law is a Gaussian"
        .into())
}

/// The degrees of freedom of a Student-t, as its shape, or learn.
pub fn df(text: &str) -> Result<Shape, String> {
    if text == "learn" {
        return Ok(Shape::Learn);
    }
    within(text, 2.2, 2e6).map(|df| Shape::Number(0.5 * df))
}

/// The shape of a mixing law, or learn.
pub fn lambda(text: &str) -> Result<Shape, String> {
    if text == "learn" {
        return Ok(Shape::Learn);
    }
    let value = positive(text)?;
    if (1e-3..=1e3).contains(&value) {
        return Ok(Shape::Number(value));
    }
    Err("give a number from 1e-3 to 1e3: below, the variance of the scale is so large that estimates never settle, \
         and above, the law is a Gaussian"
        .into())
}

/// A part of a whole.
pub fn fraction(text: &str) -> Result<f64, String> {
    let inside = text.parse().ok().filter(|part: &f64| *part > 0.0 && *part < 1.0);
    inside.ok_or("give a part of the rows, a number between 0 and 1".into())
}

fn number_above(text: &str, bound: f64) -> Option<f64> {
    text.parse().ok().filter(|value: &f64| value.is_finite() && *value > bound)
}

/// A whole number, at least 1.
pub fn at_least_one(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|n| *n > 0).ok_or("give a whole number, at least 1".into())
}

/// A whole number that may be written as 5e6.
pub fn count(text: &str) -> Result<u64, String> {
    /// From here on not every whole number is an `f64`.
    const LARGEST: f64 = 9_007_199_254_740_992.0;
    let whole = text.parse().ok().filter(|n: &f64| (1.0..=LARGEST).contains(n) && n.fract() == 0.0);
    whole.map(|n| n as u64).ok_or("give a whole number from 1 to 9e15, such as 5e6".into())
}

/// A number of components, or auto.
pub fn components(text: &str) -> Result<Components, String> {
    if text == "auto" {
        return Ok(Components::Auto);
    }
    let number = at_least_one(text).map_err(|advice| advice + ", or auto")?;
    Ok(Components::Number(number))
}

/// A number of draws that a verdict can rest on.
pub fn diagnostic_draws(text: &str) -> Result<usize, String> {
    /// With fewer, neither the quantiles nor the error of the ELBO mean anything.
    const FEWEST: usize = 100;
    text.parse().ok().filter(|n| *n >= FEWEST).ok_or(format!("give a whole number, at least {FEWEST}"))
}

/// A seed that a file can hold.
pub fn seed(text: &str) -> Result<u64, String> {
    // Larger numbers have no place in a TOML file.
    let largest = i64::MAX as u64;
    text.parse().ok().filter(|seed| *seed <= largest).ok_or(format!("give a whole number from 0 to {largest}"))
}

/// A seed of the choice of test rows.
pub fn split_seed(text: &str) -> Result<u32, String> {
    text.parse().map_err(|_| format!("give a whole number from 0 to {}", u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_library() {
        for name in [AUTO].into_iter().chain(Family::NAMES) {
            assert_eq!(family_name(name), Ok(name));
        }
        assert_eq!(family_name("Auto"), Err("did you mean auto?".into()));
        assert_eq!(family_name("student-t"), Err("did you mean student_t?".into()));
        assert_eq!(model_name("Logistc"), Err("did you mean logistic?".into()));
    }

    #[test]
    fn numbers_have_domains() {
        for text in ["0", "-1", "nan", "inf", "one", ""] {
            assert!(positive(text).is_err(), "{text}");
        }
        assert!(shape("1").is_err() && shape("1.09").is_err() && shape("1.1").is_ok() && shape("1.1e6").is_err());
        assert!(lambda("9e-4").is_err() && lambda("1e-3").is_ok() && lambda("1e3").is_ok() && lambda("1001").is_err());
        assert!(lambda("learn") == Ok(Shape::Learn) && lambda("learned").is_err());
        assert!(precision("1e-12").is_ok() && precision("1e13").is_err() && scale("1e-13").is_err());
        assert!(standard_deviation("1e-6").is_ok() && standard_deviation("2e6").is_err());
        assert!(at_least_one("0").is_err() && at_least_one("1.5").is_err() && at_least_one("7") == Ok(7));
        assert!(components("0").is_err() && components("many").is_err());
        assert!(components("auto") == Ok(Components::Auto) && components("4") == Ok(Components::Number(4)));
        assert!(count("5e6") == Ok(5_000_000) && count("0").is_err() && count("1.5").is_err());
        assert!(fraction("0.25") == Ok(0.25) && fraction("1").is_err() && fraction("0").is_err());
        assert!(seed("9223372036854775808").is_err() && seed("0") == Ok(0));
    }
}
