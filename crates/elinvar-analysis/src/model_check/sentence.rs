//! What checks of a model say, in a sentence.

use super::Check;
use crate::models::ModelName;
use crate::number::significant;
use crate::response::Response;

/// Names in the order in which they are spoken of: the most telling first.
const ORDER: [&str; 9] = ["dispersion", "zeros", "tails", "calibration", "classes", "sd", "max", "min", "mean"];

/// The sentence, without the word in front of it.
pub(super) fn of(checks: &[Check], response: &dyn Response, n_draws: usize) -> String {
    let rank = |check: &&Check| ORDER.iter().position(|name| *name == check.name);
    match checks.iter().filter(|check| check.fails()).min_by_key(rank) {
        None => {
            let names: Vec<&str> = checks.iter().map(|check| word(check.name)).collect();
            let (last, others) = names.split_last().unwrap_or((&"", &[]));
            let listed =
                if others.is_empty() { (*last).to_owned() } else { format!("{} and {last}", others.join(", ")) };
            let smallest = checks.iter().map(|check| check.p).fold(1.0, f64::min);
            format!(
                "no misfit seen. The responses are like {n_draws} tables drawn from the fit in {listed} (smallest p \
                 {smallest:.2})."
            )
        }
        Some(check) => format!("does not fit. {}", accusation(check, response, n_draws)),
    }
}

fn word(name: &'static str) -> &'static str {
    match name {
        "zeros" => "share of zeros",
        "tails" => "tails of the residuals",
        "classes" => "counts of classes",
        name => name,
    }
}

/// What is wrong, and what to try.
fn accusation(check: &Check, response: &dyn Response, n_draws: usize) -> String {
    let Check { name, observed, expected, .. } = check;
    let p = p_value(check.p, n_draws);
    let (more, less) = (observed > expected, observed < expected);
    let numbers = format!("{}, where {} is expected ({p})", significant(*observed), significant(*expected));
    match *name {
        "dispersion" if more => {
            let factor = observed / expected;
            format!(
                "The responses vary {} times as much as a {} distribution allows (χ²/df = {}, {p}), so that sds of \
                 coefficients are about {} times too small; {}.",
                significant(round(factor)),
                law_in_words(response),
                significant(round(*observed)),
                significant(round(factor.sqrt())),
                try_wider(response)
            )
        }
        "dispersion" => format!(
            "The responses vary less than the model says (χ²/df = {numbers}), so that its intervals are too wide; look \
             for rows that repeat each other, or counts that are not independent."
        ),
        "zeros" if more => {
            format!("The share of zeros is {numbers}; {}.", try_wider(response))
        }
        "tails" => format!(
            "The residuals have heavier tails than the model says (kurtosis {numbers}): few rows may pull all \
             coefficients; {}.",
            try_model(
                "student_t",
                "look at the rows with the largest residuals, or take a likelihood with heavy tails"
            )
        ),
        "calibration" => format!(
            "Predicted probabilities are off: by bins of rows their squared errors are {} times what chance makes ({p}); \
             look for a curve (a square, a logarithm) or an interaction of columns that is missing.",
            significant(round(observed / expected))
        ),
        "classes" => {
            format!("The classes are not as frequent as the model says ({p}); look for a column that is missing.")
        }
        name => {
            let side = if less { "smaller" } else { "larger" };
            format!(
                "The {name} of the responses is {side} than the model says: {numbers}; look for a column or a curve that \
                 is missing, or another likelihood."
            )
        }
    }
}

fn law_in_words(response: &dyn Response) -> String {
    match response.name() {
        "poisson" => "Poisson".into(),
        name => name.replace('_', " "),
    }
}

/// What to try where responses vary more than the law allows.
fn try_wider(response: &dyn Response) -> String {
    match response.name() {
        "poisson" => try_model("negative_binomial", "a negative binomial likelihood lets counts vary more"),
        _ => "look for a column that is missing, or a likelihood that lets responses vary more".into(),
    }
}

/// To try a model if there is one of this name, otherwise what is said instead.
fn try_model(name: &str, otherwise: &str) -> String {
    if ModelName::all().any(|model| model.name() == name) { format!("try {name}") } else { otherwise.into() }
}

/// Three digits are enough for a factor.
fn round(value: f64) -> f64 {
    format!("{value:.2e}").parse().unwrap_or(value)
}

fn p_value(p: f64, n_draws: usize) -> String {
    let smallest = 2.0 / (n_draws as f64 + 1.0);
    // Rounded up: it is not smaller than what it is called.
    let smallest = (1e3 * smallest).ceil() / 1e3;
    if p <= smallest {
        format!("p < {}", significant(round(smallest)))
    } else {
        format!("p = {}", significant(round(p)))
    }
}
