//! What was typed.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use elinvar::Plan;
use elinvar::estimate::Curvature;
use elinvar::model::Activation;
use elinvar::rule::Rule;
use elinvar::target::Covariance;
use elinvar_data::{Categorical, Missing};

use crate::run_args::{self, CompareArgs, CompletionsArgs, DiagnoseArgs, InitsArgs, ManArgs, SampleArgs};
use crate::settings::{Components, Dims, Likelihood, ModelName, Shape};
use crate::value::{
    activation, at_least_one, categorical, component_name, components, constant, count, covariance, curvature,
    diagnostic_draws, dims, family_name, fraction, lambda, law_name, likelihood, missing, model_name, positive,
    precision, rule, scale, seed, shape, split_seed, standard_deviation,
};

/// The word for the ladder of families.
pub(crate) const AUTO: &str = "auto";

const TEMPLATE: &str = "{about}\n\n{before-help}{usage-heading} {usage}\n\n{all-args}{after-help}";

const EXAMPLES: &str = "\
Examples:
  elinvar fit                                              an embedded example, to see what a fit looks like
  elinvar data credit.csv                                  what is in your own table, and what stands in the way
  elinvar fit logistic credit.csv --target y --out run1    a model for it, kept in the folder run1
  elinvar sample run1 --draws 4000 --out draws.csv         draws from what was fitted";

const FIT_EXAMPLES: &str = "\
Examples:
  elinvar fit                                              an embedded example: logistic regression, 341 rows
  elinvar fit --family mog --components 4                  the same data, approximated by a mixture of four Gaussians
  elinvar fit logistic credit.csv --target y               your table; every other column is a feature
  elinvar fit linear houses.csv --target price --features area,rooms --prior-sd 10 --out run1
  elinvar fit poisson visits.csv --target n --json         one JSON object instead of a page

  elinvar fit logistic big.parquet --target y --standardize --test-fraction 0.2
  elinvar fit --config run1/config.toml --seed 2           the settings of a run, with another seed

The table is a CSV file with a header line (comma, semicolon or tab), LIBSVM, npy, npz or parquet; elinvar data FILE says how it
is read. An intercept column is put first, under the same prior as the other coefficients; no column is changed or scaled
unless you ask for it.";

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

Files are CSV (comma, semicolon or tab), LIBSVM, npy, npz or parquet, told by their content.";

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
    /// Runs the experiments of the paper and holds their numbers against what is expected.
    #[command(help_template = TEMPLATE, before_help = REPRODUCE_EXAMPLES)]
    Reproduce(ReproduceArgs),
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
    /// Puts kept fits of one model beside each other.
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
pub(crate) struct FitArgs {
    /// logistic (target 0/1), linear (any number), poisson (counts) or network (a neural network); for one column rate
    /// (counts), proportion (0/1) or direction (angles in radians); without it, the embedded example
    #[arg(value_parser = model_name)]
    pub(crate) model: Option<ModelName>,
    /// The table: CSV, LIBSVM, npy, npz or parquet, told by its content
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// Take settings from this TOML file, such as the config.toml of a run; flags have the last word
    #[arg(long, value_name = "FILE.toml")]
    pub(crate) config: Option<PathBuf>,

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
    /// Rows with missing cells: refuse (an error that says where) or drop [default: refuse]
    #[arg(long, value_name = "WORD", value_parser = missing, help_heading = "Data")]
    pub(crate) missing: Option<Missing>,
    /// Columns of texts: refuse or indicators, one for each level but the first [default: refuse]
    #[arg(long, value_name = "WORD", value_parser = categorical, help_heading = "Data")]
    pub(crate) categorical: Option<Categorical>,
    /// Columns that are categories although they hold numbers
    #[arg(long, value_name = "A,B,…", value_delimiter = ',', help_heading = "Data")]
    pub(crate) category: Option<Vec<String>>,
    /// The array with the features, of an npz file that has several
    #[arg(long, value_name = "NAME", help_heading = "Data")]
    pub(crate) array: Option<String>,
    /// Bring columns of numbers to mean 0 and standard deviation 1; coefficients are reported in the units of the file
    #[arg(long, conflicts_with = "scale", help_heading = "Data")]
    pub(crate) standardize: bool,
    /// Divide columns of numbers by their largest absolute value; coefficients are reported in the units of the file
    #[arg(long, help_heading = "Data")]
    pub(crate) scale: bool,
    /// Hold out this part of the rows, chosen at random, and test the fit on them
    #[arg(
        long, value_name = "F", value_parser = fraction, allow_hyphen_values = true,
        conflicts_with_all = ["test_rows", "train_rows"], help_heading = "Data"
    )]
    pub(crate) test_fraction: Option<f64>,
    /// Seed of the choice of rows [default: 1]
    #[arg(long, value_name = "S", value_parser = split_seed, allow_negative_numbers = true, help_heading = "Data")]
    pub(crate) split_seed: Option<u32>,
    /// Hold out the rows whose numbers, counted from 0, are in this file
    #[arg(long, value_name = "FILE", conflicts_with = "train_rows", help_heading = "Data")]
    pub(crate) test_rows: Option<PathBuf>,
    /// Hold out all rows but those whose numbers are in this file
    #[arg(long, value_name = "FILE", help_heading = "Data")]
    pub(crate) train_rows: Option<PathBuf>,

    /// Column with the exposure (time, area, population) of each count, for rate
    #[arg(long, value_name = "COLUMN", help_heading = "Data")]
    pub(crate) exposure: Option<String>,
    /// Known concentration of the angles, for direction [default: 1]
    #[arg(long, value_name = "K", value_parser = scale, allow_hyphen_values = true, help_heading = "Model")]
    pub(crate) concentration: Option<f64>,
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
    /// Units of each hidden layer, for network [default: 50]
    #[arg(
        long, value_name = "N,N,…", value_delimiter = ',', value_parser = at_least_one, allow_negative_numbers = true,
        help_heading = "Model"
    )]
    pub(crate) hidden: Option<Vec<usize>>,
    /// What hidden units do, for network: relu or tanh [default: relu]
    #[arg(long, value_name = "WORD", value_parser = activation, help_heading = "Model")]
    pub(crate) activation: Option<Activation>,
    /// What a network says about its target: gaussian, binary (0/1) or multiclass (0, 1, 2, …) [default: gaussian]
    #[arg(long, value_name = "WORD", value_parser = likelihood, help_heading = "Model")]
    pub(crate) likelihood: Option<Likelihood>,

    /// auto (a Gaussian; where it cannot be trusted skew, student_t and then mog), gaussian, mog, student_t, skew, emg, nig,
    /// snig, rank_k, matrix, scale_mixture; for rate, proportion and direction ef_mixture or birnbaum_saunders [default: auto;
    /// for network a diagonal gaussian]
    #[arg(long, value_parser = family_name, help_heading = "Approximation")]
    pub(crate) family: Option<&'static str>,
    /// Number of components: for mog, or auto to find it [default: 3]; for ef_mixture and birnbaum_saunders [default: 1]
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
    /// Half the degrees of freedom, from 1.1 to 1e6, or learn, for student_t [default: 4]
    #[arg(
        long, value_name = "A", value_parser = shape, allow_hyphen_values = true,
        help_heading = "Approximation"
    )]
    pub(crate) shape: Option<Shape>,
    /// Shape of the mixing law, from 1e-3 to 1e3, for nig and snig; smaller is heavier-tailed [default: 2]
    #[arg(
        long, value_name = "L", value_parser = lambda, allow_hyphen_values = true,
        help_heading = "Approximation"
    )]
    pub(crate) lambda: Option<f64>,
    /// Kind of the components, for ef_mixture: gamma, log_normal, beta, … [default: by the model]
    #[arg(long, value_name = "WORD", value_parser = component_name, help_heading = "Approximation")]
    pub(crate) component: Option<&'static str>,
    /// Law of the scale, for scale_mixture: logistic, variance_gamma, … [default: logistic]
    #[arg(long, value_name = "WORD", value_parser = law_name, help_heading = "Approximation")]
    pub(crate) law: Option<&'static str>,
    /// Constant of a component or law, by name; may be given again for another
    #[arg(long, value_name = "NAME=X", value_parser = constant, help_heading = "Approximation")]
    pub(crate) constant: Vec<(String, f64)>,
    /// A scale of its own for each coordinate, for scale_mixture
    #[arg(long, help_heading = "Approximation")]
    pub(crate) product: bool,
    /// How the parameters are cut into matrices or tensors, for matrix
    #[arg(long, value_name = "3x4,2x2,…", value_parser = dims, help_heading = "Approximation")]
    pub(crate) dims: Option<Dims>,
    /// Scale matrix, full or diagonal [default: full; diagonal for rank_k and for network]
    #[arg(long, value_name = "WORD", value_parser = covariance, help_heading = "Approximation")]
    pub(crate) covariance: Option<Covariance>,

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
        help = or_default("Stop after about so many gradients, such as 5e6", Plan::default().stop.max_evaluations),
        long, value_name = "N", value_parser = count, allow_negative_numbers = true, help_heading = "Run")]
    pub(crate) max_evals: Option<u64>,
    /// Stop after about so many seconds; the one limit that depends on the machine
    #[arg(long, value_name = "T", value_parser = positive, allow_hyphen_values = true, help_heading = "Run")]
    pub(crate) max_seconds: Option<f64>,
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
    /// How a gradient becomes a step: retraction, natural_gradient, natural_momentum, adam_like or euclidean_adam
    #[arg(long, value_name = "WORD", value_parser = rule, help_heading = "Run")]
    pub(crate) rule: Option<Rule>,
    /// A fixed step size [default: found by the run]
    #[arg(long, value_name = "B", value_parser = positive, allow_hyphen_values = true, help_heading = "Run")]
    pub(crate) step_size: Option<f64>,
    /// Where second derivatives come from: hessian, gauss_newton, item_gradients, gradient_outer_product or stein
    /// [default: the best that the model has]
    #[arg(long, value_name = "WORD", value_parser = curvature, help_heading = "Run")]
    pub(crate) curvature: Option<Curvature>,
    /// Fresh draws for the table, the ELBO, k̂ and the verdict; up to 16 times as many where noise would decide
    /// [default: 10000]
    #[arg(
        long, value_name = "N", value_parser = diagnostic_draws, allow_negative_numbers = true, help_heading = "Run"
    )]
    pub(crate) diagnostic_draws: Option<usize>,

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
    /// Stop when less than this is left to gain; another tolerance makes other steps, and so the fit begins again [default: as
    /// before]
    #[arg(long, value_name = "NATS", value_parser = positive, allow_hyphen_values = true)]
    pub(crate) tolerance: Option<f64>,
    /// Print one JSON object and nothing else
    #[arg(long)]
    pub(crate) json: bool,
    /// Show no progress
    #[arg(long)]
    pub(crate) quiet: bool,
}

/// A line of help for a setting whose default is the plan's.
fn or_default(line: &str, default: impl std::fmt::Display) -> String {
    format!("{line} [default: {default}]")
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
