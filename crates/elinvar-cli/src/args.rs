//! What was typed.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use elinvar::{Family, Plan};
use elinvar_data::nearest;

/// The word for the ladder of families.
pub(crate) const AUTO: &str = "auto";

const TEMPLATE: &str = "{about}\n\n{before-help}{usage-heading} {usage}\n\n{all-args}{after-help}";

const EXAMPLES: &str = "\
Examples:
  elinvar fit                                              an embedded example, to see what a fit looks like
  elinvar fit logistic credit.csv --target y --out run1    a model for your own table, kept in the folder run1
  elinvar sample run1 --draws 4000 --out draws.csv         draws from what was fitted";

const FIT_EXAMPLES: &str = "\
Examples:
  elinvar fit                                              an embedded example: logistic regression, 341 rows
  elinvar fit --family mog --components 4                  the same data, approximated by a mixture of four Gaussians
  elinvar fit logistic credit.csv --target y               your table; every other column is a feature
  elinvar fit linear houses.csv --target price --features area,rooms --prior-sd 10 --out run1
  elinvar fit poisson visits.csv --target n --json         one JSON object instead of a page

The table is a CSV file (comma, semicolon or tab) with a header line and numbers only. An intercept column is put first,
under the same prior as the other coefficients; no column is changed or scaled.";

const SAMPLE_EXAMPLES: &str = "\
Examples:
  elinvar sample run1                                      1000 draws as CSV on the screen
  elinvar sample run1 --draws 10000 --out draws.csv        into a file

The columns lp__, log_p__ and log_g__ come first, as in Stan's variational output: lp__ is 0, log_g__ is the log density of
the approximation, log_p__ is that of the model and is nan here, since a fit does not hold its data. The parameters follow.";

const EXIT_CODES: &str = "\
Exit codes: 0 converged and trusted, 2 wrong command or input, 3 stopped without convergence, 4 converged but not (or not fully)
trusted, 5 the model could not be evaluated.";

/// Turns a model and a table into a posterior you can sample, evaluate and judge.
#[derive(Debug, Parser)]
#[command(name = "elinvar", version, help_template = TEMPLATE, before_help = EXAMPLES, after_help = EXIT_CODES)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Fits a model and prints what was found and how far to trust it.
    #[command(help_template = TEMPLATE, before_help = FIT_EXAMPLES, after_help = EXIT_CODES)]
    Fit(Box<FitArgs>),
    /// Draws from a fit that was kept with `elinvar fit --out`.
    #[command(help_template = TEMPLATE, before_help = SAMPLE_EXAMPLES)]
    Sample(SampleArgs),
}

/// A model that can be named.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ModelName {
    Logistic,
    Linear,
    Poisson,
}

impl ModelName {
    /// The word for it in commands and files.
    pub(crate) fn name(self) -> &'static str {
        match self {
            ModelName::Logistic => "logistic",
            ModelName::Linear => "linear",
            ModelName::Poisson => "poisson",
        }
    }
}

/// The shape of the scale matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CovarianceName {
    Full,
    Diagonal,
}

/// How many Gaussians a mixture has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Components {
    /// As many as the fit finds.
    Auto,
    Number(usize),
}

#[derive(Debug, Args)]
pub(crate) struct FitArgs {
    /// logistic (target 0/1), linear (any number) or poisson (counts); without it, the embedded example
    #[arg(value_parser = model_name)]
    pub(crate) model: Option<ModelName>,
    /// The table, a CSV file
    #[arg(value_name = "FILE.csv")]
    pub(crate) file: Option<PathBuf>,

    /// Column to be explained
    #[arg(long, value_name = "COLUMN", help_heading = "Data")]
    pub(crate) target: Option<String>,
    /// Columns to use, in this order [default: all but the target]
    #[arg(long, value_name = "A,B,…", value_delimiter = ',', conflicts_with = "exclude", help_heading = "Data")]
    pub(crate) features: Option<Vec<String>>,
    /// Columns to leave out; they may hold anything
    #[arg(long, value_name = "A,B,…", value_delimiter = ',', help_heading = "Data")]
    pub(crate) exclude: Option<Vec<String>>,
    /// Leave out the column of ones
    #[arg(long, help_heading = "Data")]
    pub(crate) no_intercept: bool,

    /// Precision (1/variance) of the Gaussian prior of every coefficient [default: 1]
    #[arg(long, value_name = "P", value_parser = precision, allow_hyphen_values = true, help_heading = "Model")]
    pub(crate) prior_precision: Option<f64>,
    /// The same prior by its standard deviation
    #[arg(
        long, value_name = "S", value_parser = standard_deviation, allow_hyphen_values = true,
        conflicts_with = "prior_precision", help_heading = "Model"
    )]
    pub(crate) prior_sd: Option<f64>,
    /// Scale of the half-Cauchy prior of sigma, for linear [default: 2.5]
    #[arg(long, value_name = "S", value_parser = scale, allow_hyphen_values = true, help_heading = "Model")]
    pub(crate) sigma_scale: Option<f64>,

    /// auto (a Gaussian; where it cannot be trusted skew, student_t and then mog), gaussian, mog, student_t, skew, emg, nig,
    /// snig or rank_k
    #[arg(long, default_value = AUTO, value_parser = family_name, help_heading = "Approximation")]
    pub(crate) family: &'static str,
    /// Number of Gaussians in the mixture, or auto to find it, for mog [default: 3]
    #[arg(
        long, value_name = "K", value_parser = components, allow_negative_numbers = true,
        help_heading = "Approximation"
    )]
    pub(crate) components: Option<Components>,
    /// Number of factors of the covariance, for rank_k [default: 1]
    #[arg(
        long, value_name = "K", value_parser = at_least_one, allow_negative_numbers = true,
        help_heading = "Approximation"
    )]
    pub(crate) rank: Option<usize>,
    /// Half the degrees of freedom, from 1.1 to 1e6, for student_t [default: 4]
    #[arg(
        long, value_name = "A", value_parser = shape, allow_hyphen_values = true,
        help_heading = "Approximation"
    )]
    pub(crate) shape: Option<f64>,
    /// Shape of the mixing law, from 1e-3 to 1e3, for nig and snig; smaller is heavier-tailed [default: 2]
    #[arg(
        long, value_name = "L", value_parser = lambda, allow_hyphen_values = true,
        help_heading = "Approximation"
    )]
    pub(crate) lambda: Option<f64>,
    /// Scale matrix [default: full; diagonal for rank_k]
    #[arg(long, value_enum, help_heading = "Approximation")]
    pub(crate) covariance: Option<CovarianceName>,

    #[arg(
        help = or_default("Seed of every random number; the same seed gives the same result", Plan::default().seed),
        long, value_name = "S", value_parser = seed, allow_negative_numbers = true,
        help_heading = "Run"
    )]
    pub(crate) seed: Option<u64>,
    #[arg(
        help = or_default(
            "Draws of each step (and component) to begin with; more where noise hides the gain",
            Plan::default().n_draws
        ),
        long, value_name = "N", value_parser = at_least_one, allow_negative_numbers = true, help_heading = "Run")]
    pub(crate) draws_per_step: Option<usize>,
    #[arg(
        help = or_default("Stop after so many steps", Plan::default().stop.max_steps),
        long, value_name = "N", value_parser = at_least_one, allow_negative_numbers = true, help_heading = "Run")]
    pub(crate) max_steps: Option<usize>,
    #[arg(
        help = or_default("Stop when less than this is left to gain", Plan::default().stop.remaining_nats),
        long, value_name = "NATS", value_parser = positive, allow_hyphen_values = true, help_heading = "Run")]
    pub(crate) tolerance: Option<f64>,
    #[arg(
        help = or_default("Fits from starts of their own, of which the best is kept", Plan::default().restarts),
        long, value_name = "N", value_parser = at_least_one, allow_negative_numbers = true, help_heading = "Run")]
    pub(crate) restarts: Option<usize>,
    /// Rows of each step [default: all]
    #[arg(long, value_name = "M", value_parser = at_least_one, allow_negative_numbers = true, help_heading = "Run")]
    pub(crate) minibatch: Option<usize>,
    /// Fresh draws for the table, the ELBO, k̂ and the verdict; up to 16 times as many where noise would decide
    #[arg(
        long, value_name = "N", default_value = "10000", value_parser = diagnostic_draws,
        allow_negative_numbers = true, help_heading = "Run"
    )]
    pub(crate) diagnostic_draws: usize,

    /// Keep the fit in this new folder
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    pub(crate) out: Option<PathBuf>,
    /// Print one JSON object and nothing else
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,
    /// Show no progress
    #[arg(long, help_heading = "Output")]
    pub(crate) quiet: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SampleArgs {
    /// Folder written by `elinvar fit --out`, or the fit file in it
    #[arg(value_name = "DIR")]
    pub(crate) run: PathBuf,
    /// Number of draws
    #[arg(long, value_name = "N", default_value = "1000", value_parser = at_least_one, allow_negative_numbers = true)]
    pub(crate) draws: usize,
    /// Seed of the draws
    #[arg(long, value_name = "S", default_value = "1", value_parser = seed, allow_negative_numbers = true)]
    pub(crate) seed: u64,
    /// Write to this new file instead of the screen
    #[arg(long, value_name = "FILE.csv")]
    pub(crate) out: Option<PathBuf>,
}

/// A line of help for a setting whose default is the plan's.
fn or_default(line: &str, default: impl std::fmt::Display) -> String {
    format!("{line} [default: {default}]")
}

fn model_name(text: &str) -> Result<ModelName, String> {
    let names = ModelName::value_variants();
    if let Some(model) = names.iter().find(|model| model.name() == text) {
        return Ok(*model);
    }
    let meant = nearest(text, names.iter().map(|model| model.name()));
    Err(meant
        .map_or("the models are logistic, linear and poisson; the file comes after the model".into(), did_you_mean))
}

fn family_name(text: &str) -> Result<&'static str, String> {
    let words = [&[AUTO], &Family::NAMES[..]].concat();
    if let Some(name) = words.iter().find(|name| **name == text) {
        return Ok(name);
    }
    Err(nearest(text, words.iter().copied()).map_or(format!("the families are {}", words.join(", ")), did_you_mean))
}

fn did_you_mean(name: &str) -> String {
    format!("did you mean {name}?")
}

fn positive(text: &str) -> Result<f64, String> {
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

fn precision(text: &str) -> Result<f64, String> {
    within(text, 1e-12, 1e12)
}

fn standard_deviation(text: &str) -> Result<f64, String> {
    within(text, 1e-6, 1e6)
}

fn scale(text: &str) -> Result<f64, String> {
    within(text, 1e-12, 1e12)
}

fn shape(text: &str) -> Result<f64, String> {
    let above_one = number_above(text, 1.0);
    let value = above_one.ok_or("give a number above 1: at 1 or below, a Student-t has no covariance")?;
    if (1.1..=1e6).contains(&value) {
        return Ok(value);
    }
    Err("give a number from 1.1 to 1e6: near 1 the variance of the scale is so large that estimates never settle, \
         and above 1e6 the law is a Gaussian"
        .into())
}

fn lambda(text: &str) -> Result<f64, String> {
    let value = positive(text)?;
    if (1e-3..=1e3).contains(&value) {
        return Ok(value);
    }
    Err("give a number from 1e-3 to 1e3: below, the variance of the scale is so large that estimates never settle, \
         and above, the law is a Gaussian"
        .into())
}

fn number_above(text: &str, bound: f64) -> Option<f64> {
    text.parse().ok().filter(|value: &f64| value.is_finite() && *value > bound)
}

fn at_least_one(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|n| *n > 0).ok_or("give a whole number, at least 1".into())
}

fn components(text: &str) -> Result<Components, String> {
    if text == "auto" {
        return Ok(Components::Auto);
    }
    let number = at_least_one(text).map_err(|advice| advice + ", or auto")?;
    Ok(Components::Number(number))
}

fn diagnostic_draws(text: &str) -> Result<usize, String> {
    /// With fewer, neither the quantiles nor the error of the ELBO mean anything.
    const FEWEST: usize = 100;
    text.parse().ok().filter(|n| *n >= FEWEST).ok_or(format!("give a whole number, at least {FEWEST}"))
}

fn seed(text: &str) -> Result<u64, String> {
    // Larger numbers have no place in a TOML file.
    let largest = i64::MAX as u64;
    text.parse().ok().filter(|seed| *seed <= largest).ok_or(format!("give a whole number from 0 to {largest}"))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
    }

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
        assert!(precision("1e-12").is_ok() && precision("1e13").is_err() && scale("1e-13").is_err());
        assert!(standard_deviation("1e-6").is_ok() && standard_deviation("2e6").is_err());
        assert!(at_least_one("0").is_err() && at_least_one("1.5").is_err() && at_least_one("7") == Ok(7));
        assert!(components("0").is_err() && components("many").is_err());
        assert!(components("auto") == Ok(Components::Auto) && components("4") == Ok(Components::Number(4)));
        assert!(seed("9223372036854775808").is_err() && seed("0") == Ok(0));
    }
}
