//! What was typed.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use elinvar_analysis::settings::value::{at_least_one, count, positive, seed};

use crate::effects::{self, EffectsArgs};
use crate::fit_args::{FIT_EXAMPLES, FitArgs};
use crate::run_args::{
    self, CompareArgs, CompletionsArgs, DiagnoseArgs, InitsArgs, LooArgs, ManArgs, PredictArgs, SampleArgs,
};

const TEMPLATE: &str = "{about}\n\n{before-help}{usage-heading} {usage}\n\n{all-args}{after-help}";

const EXAMPLES: &str = "\
Examples:
  elinvar fit                                              an embedded example, to see what a fit looks like
  elinvar data credit.csv                                  what is in your own table, and what stands in the way
  elinvar fit logistic credit.csv --target y --out run1    a model for it, kept in the folder run1
  elinvar predict run1 new.csv                             what it says about new rows
  elinvar sample run1 --draws 4000 --out draws.csv         draws from what was fitted";

const REPRODUCE_EXAMPLES: &str = "\
Examples:
  elinvar reproduce --list                                 the experiments of the paper
  elinvar reproduce figure-skew-2d                         one of them: figure, numbers and a short page in reproduced/
  elinvar reproduce all --quick                            all of them in some minutes, with fewer repetitions

Each run is held against expected numbers and ends with code 4 if one of them is missed.";

const DATA_EXAMPLES: &str = "\
Examples:
  elinvar data credit.csv                                  every column: type, range, levels, missing cells
  elinvar data credit.csv --columns age,income --json      two of them, as JSON

Files are CSV (comma, semicolon or tab), LIBSVM, npy, npz or parquet, told by their content; text may be packed (.gz, .zst), and
- is the standard input.";

const RESUME_EXAMPLES: &str = "\
Examples:
  elinvar resume run1                                      goes on with a fit that was interrupted or killed
  elinvar resume run1 --max-evals 5e6                      goes on with one that a limit has ended, up to another limit

The result has the same bits as a fit that was never interrupted and had these limits from the beginning. A fit under way keeps
its state in the folder several times a second, as long as that takes less than a fiftieth of the time.";

const REPORT_EXAMPLES: &str = "\
Examples:
  elinvar report run1                                      makes run1/report.html again
  elinvar report run1 --html credit.html                   one file that needs nothing else, to send to a colleague
  elinvar report run1 --list                               which figures there are
  elinvar report run1 --svg elbo --out elbo.svg            one figure, for a paper
  elinvar report run1 --png pair:age:income                two parameters, as pixels

The data of the fit must be where they were: what importance weights say is computed from them.";

const EXIT_CODES: &str = "\
Exit codes: 0 converged and trusted, 2 wrong command or input, 3 stopped without convergence, 4 converged but not (or not fully)
trusted, 5 the model could not be evaluated, 130 interrupted.";

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
    /// Describes a file as elinvar reads it: columns, what they hold, and what stands in the way of a model.
    #[command(help_template = TEMPLATE, before_help = DATA_EXAMPLES)]
    Data(DataArgs),
    /// Goes on with a fit of `elinvar fit --out` that was interrupted, killed, or ended by a limit.
    #[command(help_template = TEMPLATE, before_help = RESUME_EXAMPLES, after_help = EXIT_CODES)]
    Resume(ResumeArgs),
    /// Draws from a fit that was kept with `elinvar fit --out`.
    #[command(help_template = TEMPLATE, before_help = run_args::SAMPLE_EXAMPLES)]
    Sample(SampleArgs),
    /// Makes the page of a fit that was kept with `elinvar fit --out`, or one of its figures.
    #[command(help_template = TEMPLATE, before_help = REPORT_EXAMPLES)]
    Report(ReportArgs),
    /// Judges a kept fit again, with fresh draws.
    #[command(help_template = TEMPLATE, before_help = run_args::DIAGNOSE_EXAMPLES, after_help = EXIT_CODES)]
    Diagnose(DiagnoseArgs),
    /// Predicts the rows of a new table by a kept regression.
    #[command(help_template = TEMPLATE, before_help = run_args::PREDICT_EXAMPLES)]
    Predict(PredictArgs),
    /// Shows how the mean response of a kept regression changes with one column.
    #[command(help_template = TEMPLATE, before_help = effects::EXAMPLES)]
    Effects(EffectsArgs),
    /// Says how well a kept regression predicts rows that it has not seen, by leaving out each of its own.
    #[command(help_template = TEMPLATE, before_help = run_args::LOO_EXAMPLES)]
    Loo(LooArgs),
    /// Puts kept fits beside each other: of one model by their bounds, of different models by their predictions.
    #[command(help_template = TEMPLATE, before_help = run_args::COMPARE_EXAMPLES)]
    Compare(CompareArgs),
    /// Writes start points and an inverse metric for chains of Stan.
    #[command(help_template = TEMPLATE, before_help = run_args::INITS_EXAMPLES)]
    Inits(InitsArgs),
    /// Prints what a shell needs to complete commands and flags.
    #[command(help_template = TEMPLATE, before_help = run_args::COMPLETIONS_EXAMPLES)]
    Completions(CompletionsArgs),
    /// Prints or writes the manual pages.
    #[command(help_template = TEMPLATE, before_help = run_args::MAN_EXAMPLES)]
    Man(ManArgs),
    /// Runs the experiments of the paper and holds their numbers against what is expected.
    #[command(help_template = TEMPLATE, before_help = REPRODUCE_EXAMPLES)]
    Reproduce(ReproduceArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// Folder written by `elinvar fit --out`, or the fit file in it
    #[arg(value_name = "DIR")]
    pub(crate) run: PathBuf,
    /// Write the page to this new file [default: report.html in DIR, which is replaced]
    #[arg(long, value_name = "FILE.html", conflicts_with_all = ["svg", "png", "list"])]
    pub(crate) html: Option<PathBuf>,
    /// Make one figure as SVG
    #[arg(long, value_name = "FIGURE", conflicts_with_all = ["png", "list"])]
    pub(crate) svg: Option<String>,
    /// Make one figure as PNG, three pixels for each of its natural size
    #[arg(long, value_name = "FIGURE", conflicts_with = "list")]
    pub(crate) png: Option<String>,
    /// Write the figure to this new file [default: FIGURE.svg or FIGURE.png]
    #[arg(long, value_name = "FILE", conflicts_with_all = ["html", "list"])]
    pub(crate) out: Option<PathBuf>,
    /// List the figures that this fit has
    #[arg(long)]
    pub(crate) list: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ReproduceArgs {
    /// Names of experiments, or all
    #[arg(value_name = "NAME")]
    pub(crate) names: Vec<String>,
    /// List the experiments
    #[arg(long, conflicts_with = "names")]
    pub(crate) list: bool,
    /// Fewer repetitions and draws: half a minute each
    #[arg(long)]
    pub(crate) quick: bool,
    /// The settings of the authors' own program, where they are known
    #[arg(long)]
    pub(crate) paper_settings: bool,
    /// Folder with data that elinvar does not carry: covtype.parquet and the regression tables
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    /// Folder for the results; an earlier result of the same experiment is replaced
    #[arg(long, value_name = "DIR", default_value = "reproduced")]
    pub(crate) out: PathBuf,
    /// The first seed; repetitions count up from it
    #[arg(long, value_name = "S", default_value = "1", value_parser = seed, allow_negative_numbers = true)]
    pub(crate) seed: u64,
    /// Show no progress
    #[arg(long)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DataArgs {
    /// The table: CSV, LIBSVM, npy, npz or parquet, told by its content
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Columns to describe [default: all]
    #[arg(long, value_name = "A,B,…", value_delimiter = ',')]
    pub(crate) columns: Option<Vec<String>>,
    /// Columns that are categories although they hold numbers
    #[arg(long, value_name = "A,B,…", value_delimiter = ',')]
    pub(crate) category: Option<Vec<String>>,
    /// The array with the features, of an npz file that has several
    #[arg(long, value_name = "NAME")]
    pub(crate) array: Option<String>,
    /// Print one JSON object and nothing else
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ResumeArgs {
    /// Folder written by `elinvar fit --out`
    #[arg(value_name = "DIR")]
    pub(crate) run: PathBuf,
    /// Stop after so many steps, counted from the beginning [default: as before]
    #[arg(long, value_name = "N", value_parser = at_least_one, allow_negative_numbers = true)]
    pub(crate) max_steps: Option<usize>,
    /// Stop after about so many gradients, such as 5e6, counted from the beginning [default: as before]
    #[arg(long, value_name = "N", value_parser = count, allow_negative_numbers = true)]
    pub(crate) max_evals: Option<u64>,
    /// Stop after about so many seconds, counted from the beginning [default: as before]
    #[arg(long, value_name = "T", value_parser = positive, allow_hyphen_values = true)]
    pub(crate) max_seconds: Option<f64>,
    /// Stop when less than this is left to gain; another tolerance makes other steps, and so the fit begins again
    /// [default: as before]
    #[arg(long, value_name = "NATS", value_parser = positive, allow_hyphen_values = true)]
    pub(crate) tolerance: Option<f64>,
    /// Print one JSON object and nothing else
    #[arg(long)]
    pub(crate) json: bool,
    /// Show no progress
    #[arg(long)]
    pub(crate) quiet: bool,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
    }
}
