//! What was typed after the name of a command that works on kept fits.

use std::path::{Path, PathBuf};

use clap::Args;
use clap_complete::Shell;
use elinvar_analysis::settings::value::{at_least_one, diagnostic_draws, percent, seed};

use crate::choice::Words;

pub(crate) const SAMPLE_EXAMPLES: &str = "\
Examples:
  elinvar sample run1                                      1000 draws as CSV on the screen
  elinvar sample run1 --draws 10000 --out draws.parquet    into a file; its name tells the format
  elinvar sample run1 --uncorrected --out draws.csv        of the approximation, not of the answer

Draws are those of the answer: states of the chains that gave it, draws chosen by importance weights where these gave it, otherwise
draws of the approximation. What they are is said on stderr.

The columns lp__, log_p__ and log_g__ come first, as in Stan's variational output: lp__ is 0, log_p__ is the log density of the
model and log_g__ that of the approximation, both of the unconstrained coordinates; log_p__ - log_g__ is a log importance ratio.
log_p__ needs the data of the fit, and is nan where they are gone. The parameters follow, on their own scale.";

pub(crate) const DIAGNOSE_EXAMPLES: &str = "\
Examples:
  elinvar diagnose run1                                    the verdict again, from fresh draws
  elinvar diagnose run1 --draws 100000                     with less noise
  elinvar diagnose run1 --json                             one JSON object instead of a page

A shift is what importance weights do to a parameter: how far its mean moves, in standard deviations, and by which factor its
standard deviation changes, when the draws are weighted towards the posterior. The exit code is that of the fit.";

pub(crate) const PREDICT_EXAMPLES: &str = "\
Examples:
  elinvar predict run1 new.csv                             mean, sd and a 95 % interval of each row, as CSV on the screen
  elinvar predict run1 new.csv -o predicted.csv            into a file
  elinvar predict run1 new.csv --expectation               of the mean response, without the scatter of single rows
  elinvar predict run1 new.csv --quantiles 5,25,50,75,95   other quantiles, in percent
  grep Oslo all.csv | elinvar predict run1 -               a table from another program

The new table needs the columns of the fit, under the same names and in any order; a level that the fit has not seen is refused
with its line. Two classes have p_0, p_1, and sd and quantiles of p_1. A response is drawn for every draw of the answer, so that
intervals hold new responses as often as they say, if the model is right. The data of the fit must be where they were.";

pub(crate) const LOO_EXAMPLES: &str = "\
Examples:
  elinvar loo run1                                         elpd_loo, p_loo and the rows that are not to be relied on
  elinvar loo run1 --rows rows.csv                         a line for each row: elpd, k\u{302}
  elinvar loo run1 --json                                  one JSON object instead of a page

elpd_loo is the sum over rows of log p(row | all other rows), by Pareto-smoothed importance sampling from draws of the answer: no
fit is made again. Rows are numbered as the file has them, the first below the header being 1. elinvar compare puts the elpd of
different models of the same rows beside each other.";

pub(crate) const COMPARE_EXAMPLES: &str = "\
Examples:
  elinvar compare run1 run2 run3                           fits of one model to one table, the best first
  elinvar compare run1 run2 --draws 100000 --json          with smaller errors, as one JSON object

A higher ELBO is a closer approximation. All bounds are estimated from the draws of all fits, each weighted by its density among
those of the others, so that fits near each other are compared at the same points and the noise of their difference cancels: the
error of a difference is that of the difference itself, not of two ELBOs.

Different models of the same rows (other columns, priors or likelihoods) are compared by elpd_loo, the log predictive density of
rows left out one at a time, with the error of the difference over rows; see elinvar loo. Fits of different rows are refused.";

pub(crate) const INITS_EXAMPLES: &str = "\
Examples:
  elinvar inits run1                                       four start points and an inverse metric, in run1/inits
  elinvar inits run1 --chains 8 --metric diag --out start  eight, and a diagonal metric, in the new folder start
  elinvar inits run1 --intercept alpha --vector beta       for a Stan program with a parameter alpha and a vector beta

Writes init_1.json, init_2.json, … with the parameters on their own scale, as Stan's JSON: the coefficients of a regression are
one vector, the intercept first unless it has a name of its own, and every other parameter has its name in the fit (sigma).
inverse_metric.json holds the covariance of the unconstrained parameters in the same order, in which the Stan program must
declare them, in the units of the table. What to type for CmdStan is printed.";

pub(crate) const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  elinvar completions bash > ~/.local/share/bash-completion/completions/elinvar
  elinvar completions zsh > ~/.zfunc/_elinvar              with fpath+=~/.zfunc before compinit in ~/.zshrc
  elinvar completions fish > ~/.config/fish/completions/elinvar.fish";

pub(crate) const MAN_EXAMPLES: &str = "\
Examples:
  elinvar man | man -l -                                   the page of elinvar, here and now
  elinvar man --out ~/.local/share/man/man1                a file for elinvar and for each command";

/// How draws are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Csv,
    Parquet,
}

const FORMATS: Words<Format> = Words { what: "formats", words: &[("csv", Format::Csv), ("parquet", Format::Parquet)] };

/// What is done to draws before they are handed out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Resampling {
    None,
    /// By Pareto-smoothed importance weights.
    Psis,
}

const RESAMPLINGS: Words<Resampling> =
    Words { what: "ways to resample", words: &[("none", Resampling::None), ("psis", Resampling::Psis)] };

/// The shape of an inverse metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Metric {
    Dense,
    Diagonal,
}

const METRICS: Words<Metric> =
    Words { what: "metrics", words: &[("dense", Metric::Dense), ("diag", Metric::Diagonal)] };

#[derive(Debug, Args)]
pub(crate) struct SampleArgs {
    /// Folder written by `elinvar fit --out`, or the fit file in it
    #[arg(value_name = "DIR")]
    pub(crate) run: PathBuf,
    /// Number of draws
    #[arg(long, value_name = "N", default_value = "1000", value_parser = at_least_one, allow_negative_numbers = true)]
    pub(crate) draws: usize,
    /// none (draws of the approximation) or psis (drawn again, with replacement, from four times as many by
    /// Pareto-smoothed importance weights; needs the data of the fit) [default: as the answer was given]
    #[arg(long, value_name = "WORD", value_parser = RESAMPLINGS, hide_possible_values = true)]
    pub(crate) resample: Option<Resampling>,
    /// Seed of the draws
    #[arg(long, value_name = "S", default_value = "1", value_parser = seed, allow_negative_numbers = true)]
    pub(crate) seed: u64,
    /// Do not look for the data: log_p__ is nan
    #[arg(long)]
    pub(crate) no_model: bool,
    /// Draws of the approximation as it is, like --resample none
    #[arg(long, conflicts_with = "resample")]
    pub(crate) uncorrected: bool,
    /// Write to this new file instead of the screen
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// csv or parquet [default: by the name of the file, else csv]
    #[arg(long, value_name = "WORD", value_parser = FORMATS, hide_possible_values = true)]
    pub(crate) format: Option<Format>,
}

impl SampleArgs {
    /// The format that was asked for, or that the name of the file has.
    pub(crate) fn format(&self) -> Format {
        let is_parquet = |path: &Path| path.extension().is_some_and(|end| end.eq_ignore_ascii_case("parquet"));
        let by_name = if self.out.as_deref().is_some_and(is_parquet) { Format::Parquet } else { Format::Csv };
        self.format.unwrap_or(by_name)
    }
}

#[derive(Debug, Args)]
pub(crate) struct DiagnoseArgs {
    /// Folder written by `elinvar fit --out`
    #[arg(value_name = "DIR")]
    pub(crate) run: PathBuf,
    /// Fresh draws; up to 16 times as many where noise would decide [default: as many as the fit took]
    #[arg(long, value_name = "N", value_parser = diagnostic_draws, allow_negative_numbers = true)]
    pub(crate) draws: Option<usize>,
    /// Seed of the draws [default: one more than that of the fit]
    #[arg(long, value_name = "S", value_parser = seed, allow_negative_numbers = true)]
    pub(crate) seed: Option<u64>,
    /// Print one JSON object and nothing else
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct PredictArgs {
    /// Folder written by `elinvar fit --out`
    #[arg(value_name = "DIR")]
    pub(crate) run: PathBuf,
    /// The new table, of any kind that elinvar reads; - for the standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Quantiles to write, in percent
    #[arg(
        long, value_name = "P,P,…", value_delimiter = ',', default_value = "2.5,50,97.5", value_parser = percent,
        allow_hyphen_values = true
    )]
    pub(crate) quantiles: Vec<f64>,
    /// Predict the linear predictor
    #[arg(long, conflicts_with = "expectation")]
    pub(crate) link: bool,
    /// Predict the expectation of a response, not a single one
    #[arg(long)]
    pub(crate) expectation: bool,
    /// Draws of the answer [default: 4000, or as many states as chains have kept]
    #[arg(long, value_name = "N", value_parser = at_least_one, allow_negative_numbers = true)]
    pub(crate) draws: Option<usize>,
    /// Seed of the draws
    #[arg(long, value_name = "S", default_value = "1", value_parser = seed, allow_negative_numbers = true)]
    pub(crate) seed: u64,
    /// Write to this new file instead of the screen
    #[arg(long, short, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct LooArgs {
    /// Folder written by `elinvar fit --out`
    #[arg(value_name = "DIR")]
    pub(crate) run: PathBuf,
    /// Draws of the answer [default: 4000, or as many states as chains have kept]
    #[arg(long, value_name = "N", value_parser = diagnostic_draws, allow_negative_numbers = true)]
    pub(crate) draws: Option<usize>,
    /// Seed of the draws
    #[arg(long, value_name = "S", default_value = "1", value_parser = seed, allow_negative_numbers = true)]
    pub(crate) seed: u64,
    /// Write a line for each row to this new CSV file
    #[arg(long, value_name = "FILE")]
    pub(crate) rows: Option<PathBuf>,
    /// Print one JSON object and nothing else
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CompareArgs {
    /// Folders written by `elinvar fit --out`, at least two
    #[arg(value_name = "DIR", required = true, num_args = 1..)]
    pub(crate) runs: Vec<PathBuf>,
    /// Draws of each fit, where bounds are compared
    #[arg(
        long, value_name = "N", default_value = "10000", value_parser = diagnostic_draws, allow_negative_numbers = true
    )]
    pub(crate) draws: usize,
    /// Seed of the draws
    #[arg(long, value_name = "S", default_value = "1", value_parser = seed, allow_negative_numbers = true)]
    pub(crate) seed: u64,
    /// Print one JSON object and nothing else
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct InitsArgs {
    /// Folder written by `elinvar fit --out`, or the fit file in it
    #[arg(value_name = "DIR")]
    pub(crate) run: PathBuf,
    /// Number of start points
    #[arg(long, value_name = "N", default_value = "4", value_parser = at_least_one, allow_negative_numbers = true)]
    pub(crate) chains: usize,
    /// none (draws of the approximation) or psis (different ones of many, by Pareto-smoothed importance weights; needs
    /// the data of the fit) [default: as the answer was given]
    #[arg(long, value_name = "WORD", value_parser = RESAMPLINGS, hide_possible_values = true)]
    pub(crate) resample: Option<Resampling>,
    /// dense (a matrix, for metric=dense_e) or diag (a vector of variances, for metric=diag_e)
    #[arg(long, value_name = "WORD", default_value = "dense", value_parser = METRICS, hide_possible_values = true)]
    pub(crate) metric: Metric,
    /// Name of the vector of coefficients of a regression
    #[arg(long, value_name = "NAME", default_value = "beta", value_parser = stan_name)]
    pub(crate) vector: String,
    /// Name of the intercept, which is then no part of the vector
    #[arg(long, value_name = "NAME", value_parser = stan_name, conflicts_with = "by_name")]
    pub(crate) intercept: Option<String>,
    /// Write every coefficient under its own name, with no vector
    #[arg(long)]
    pub(crate) by_name: bool,
    /// Seed of the start points
    #[arg(long, value_name = "S", default_value = "1", value_parser = seed, allow_negative_numbers = true)]
    pub(crate) seed: u64,
    /// Write into this new folder [default: inits in the folder of the fit]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// bash, elvish, fish, powershell or zsh
    #[arg(value_name = "SHELL", value_parser = SHELLS, hide_possible_values = true)]
    pub(crate) shell: Shell,
}

const SHELLS: Words<Shell> = Words {
    what: "shells",
    words: &[
        ("bash", Shell::Bash),
        ("elvish", Shell::Elvish),
        ("fish", Shell::Fish),
        ("powershell", Shell::PowerShell),
        ("zsh", Shell::Zsh),
    ],
};

#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// Write the pages of elinvar and of each command into this folder
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
}

/// Whether Stan takes this as the name of a parameter.
pub(crate) fn is_stan_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !text.ends_with("__")
}

fn stan_name(text: &str) -> Result<String, String> {
    is_stan_name(text)
        .then(|| text.into())
        .ok_or("a name in Stan has letters, digits and _, and begins with a letter".into())
}
