//! What was typed after `elinvar fit`.

use std::path::PathBuf;

use clap::Args;
use elinvar::Plan;
use elinvar::estimate::{Curvature, MixingWeights, Sampling, ShapeEstimator};
use elinvar::model::Activation;
use elinvar::random::Noise;
use elinvar::rule::{BiasCorrection, MatrixUpdate, Rule};
use elinvar::target::Covariance;
use elinvar_analysis::settings::value::{
    PriorFlag, StartAt, activation, at_least_one, bias_correction, categorical, component_name, components, constant,
    count, covariance, curvature, df, diagnostic_draws, dims, family_name, formula, fraction, lambda, law_name,
    likelihood, matrix_update, missing, model_name, momentum, noise, percent, positive, precision, printed_option,
    prior_df, prior_flag, prior_shape, rule, sampling, scale, seed, shape, shape_estimator, split_seed,
    standard_deviation, start_at, weights,
};
use elinvar_analysis::settings::{Components, Dims, Likelihood, ModelName, Shape};
use elinvar_data::{Categorical, Missing};

pub(crate) const FIT_EXAMPLES: &str = "\
Examples:
  elinvar fit                                              an embedded example: logistic regression, 341 rows
  elinvar fit --family mog --components 4                  the same data, approximated by a mixture of four Gaussians
  elinvar fit logistic credit.csv --target y               your table; every other column is a feature
  elinvar fit linear houses.csv --target price --features area,rooms --prior-sd 10 --out run1
  elinvar fit poisson visits.csv --target n --json         one JSON object instead of a page
  elinvar fit logistic trial.csv \"cured ~ age + log(dose) * sex\"           a formula; docs/formulas.md has the grammar

  elinvar fit logistic big.parquet --target y --standardize --test-fraction 0.2
  elinvar fit --config run1/config.toml --seed 2           the settings of a run, with another seed

The table is a CSV file with a header line (comma, semicolon or tab), LIBSVM, npy, npz or parquet, text also packed (.gz, .zst);
elinvar data FILE says how it is read. An intercept column is put first. Unless you give a prior, coefficients have weakly informative ones, scaled to the
data and printed in the units of the file; a given one holds for every coefficient, the intercept included.";

#[derive(Debug, Args)]
pub(crate) struct FitArgs {
    #[arg(help = ModelName::help() + "; without it, the embedded example", value_parser = model_name)]
    pub(crate) model: Option<ModelName>,
    /// The table: CSV, LIBSVM, npy, npz or parquet, told by its content; - for the standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// What explains what, such as "y ~ age + log(dose) * sex"; texts are categories
    #[arg(value_name = "FORMULA", value_parser = formula, conflicts_with_all = ["target", "features", "exclude", "no_intercept"])]
    pub(crate) formula: Option<String>,
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
    /// Read the rows piece by piece and never hold all of them, for tables that do not fit into memory: parquet or CSV,
    /// one file, a folder of them, or a pattern in quotes such as 'part-*.parquet'
    #[arg(long, help_heading = "Data")]
    pub(crate) stream: bool,
    /// Megabytes that these pieces may take, besides the fit itself [default: 512]
    #[arg(long, value_name = "MB", value_parser = at_least_one, requires = "stream", help_heading = "Data")]
    pub(crate) memory: Option<usize>,
    /// Folder for what was decoded once, so that later passes are faster [default: the system's folder for such files]
    #[arg(long, value_name = "DIR", requires = "stream", help_heading = "Data")]
    pub(crate) cache: Option<PathBuf>,
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
    /// A prior, such as 'b ~ normal(0, 2.5)', 'b[age] ~ student_t(4, 0, 1)', 'intercept ~ normal(0, 10)' or 'sigma ~
    /// exponential(1)', again for others; flat; or for all normal or student_t, which shares its scale with a Student-t
    /// approximation [default: normal, scaled to the data]
    #[arg(long, value_name = "PRIOR", value_parser = prior_flag, help_heading = "Model")]
    pub(crate) prior: Vec<PriorFlag>,
    /// Degrees of freedom of a t prior, from 0.2 to 2e6 [default: 5]
    #[arg(
        long, value_name = "NU", value_parser = prior_df, allow_hyphen_values = true, help_heading = "Model",
        conflicts_with = "prior_shape"
    )]
    pub(crate) prior_df: Option<f64>,
    /// The same as --prior-df, halved: a of InverseGamma(a, a)
    #[arg(long, value_name = "A", value_parser = prior_shape, allow_hyphen_values = true, help_heading = "Model")]
    pub(crate) prior_shape: Option<f64>,
    /// Precision (1/variance) of the Gaussian prior of every coefficient [default: scaled to the data; 1
    /// for network]
    #[arg(long, value_name = "P", value_parser = precision, allow_hyphen_values = true, help_heading = "Model")]
    pub(crate) prior_precision: Option<f64>,
    /// The same prior by its standard deviation
    #[arg(
        long, value_name = "S", value_parser = standard_deviation, allow_hyphen_values = true,
        conflicts_with = "prior_precision", help_heading = "Model"
    )]
    pub(crate) prior_sd: Option<f64>,
    /// Scale of a half-Cauchy prior of sigma, for linear [default: an exponential prior with the standard deviation of
    /// the target as its mean; 2.5 beside --prior-sd or --prior-precision]
    #[arg(long, value_name = "S", value_parser = scale, allow_hyphen_values = true, help_heading = "Model")]
    pub(crate) sigma_scale: Option<f64>,
    /// Known precision (1/variance) of the noise, for network [default: learned]
    #[arg(long, value_name = "P", value_parser = precision, allow_hyphen_values = true, help_heading = "Model")]
    pub(crate) noise_precision: Option<f64>,
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

    /// auto (a Gaussian; where it cannot be trusted skew, student_t and then mog), gaussian, mog, student_t, skew, emg,
    /// nig, snig, rank_k, skew_k, emg_k, matrix, scale_mixture; for rate, proportion and direction ef_mixture or
    /// birnbaum_saunders, for shares dirichlet [default: auto; for network a diagonal gaussian]
    #[arg(long, value_parser = family_name, help_heading = "Approximation")]
    pub(crate) family: Option<&'static str>,
    /// Number of components: for mog, or auto to find it [default: 3]; for ef_mixture, birnbaum_saunders and
    /// dirichlet [default: 1]
    #[arg(
        long, value_name = "K", value_parser = components, allow_negative_numbers = true,
        help_heading = "Approximation"
    )]
    pub(crate) components: Option<Components>,
    /// Number of factors of the covariance, for rank_k [default: 1]
    #[arg(
        long, value_name = "K", value_parser = at_least_one, allow_negative_numbers = true,
        help_heading = "Advanced: families"
    )]
    pub(crate) rank: Option<usize>,
    /// Number of directions of skewness, one to three, for skew_k and emg_k [default: 2]
    #[arg(
        long, value_name = "K", value_parser = at_least_one, allow_negative_numbers = true,
        help_heading = "Advanced: families"
    )]
    pub(crate) directions: Option<usize>,
    /// Degrees of freedom, from 2.2 to 2e6, or learn, for student_t [default: learn]
    #[arg(
        long, value_name = "NU", value_parser = df, allow_hyphen_values = true, help_heading = "Advanced: families",
        conflicts_with = "shape"
    )]
    pub(crate) df: Option<Shape>,
    /// The same as --df, halved: a of InverseGamma(a, a)
    #[arg(
        long, value_name = "A", value_parser = shape, allow_hyphen_values = true,
        help_heading = "Advanced: families"
    )]
    pub(crate) shape: Option<Shape>,
    /// Shape of the mixing law, from 1e-3 to 1e3, or learn, for nig and snig; smaller is heavier-tailed [default:
    /// learn]
    #[arg(
        long, value_name = "L", value_parser = lambda, allow_hyphen_values = true,
        help_heading = "Advanced: families"
    )]
    pub(crate) lambda: Option<Shape>,
    /// Kind of the components, for ef_mixture: gamma, log_normal, beta, … [default: by the model]
    #[arg(long, value_name = "WORD", value_parser = component_name, help_heading = "Advanced: families")]
    pub(crate) component: Option<&'static str>,
    /// Kind of every second component, for ef_mixture [default: that of all]
    #[arg(long, value_name = "WORD", value_parser = component_name, help_heading = "Advanced: families")]
    pub(crate) other_component: Option<&'static str>,
    /// Law of the scale, for scale_mixture: logistic, variance_gamma, … [default: logistic]
    #[arg(long, value_name = "WORD", value_parser = law_name, help_heading = "Advanced: families")]
    pub(crate) law: Option<&'static str>,
    /// Constant of a component or law, by name; may be given again for another
    #[arg(long, value_name = "NAME=X", value_parser = constant, help_heading = "Advanced: families")]
    pub(crate) constant: Vec<(String, f64)>,
    /// A scale of its own for each coordinate, for scale_mixture
    #[arg(long, help_heading = "Advanced: families")]
    pub(crate) product: bool,
    /// How the parameters are cut into matrices or tensors, for matrix
    #[arg(long, value_name = "3x4,2x2,…", value_parser = dims, help_heading = "Advanced: families")]
    pub(crate) dims: Option<Dims>,
    /// How the precisions of a matrix move: joint, blockwise, or paper_literal with --mixing-step-size [default: joint]
    #[arg(long, value_name = "WORD", value_parser = matrix_update, help_heading = "Advanced: families")]
    pub(crate) update: Option<MatrixUpdate>,
    /// A diagonal scale matrix, like --covariance diagonal
    #[arg(long, conflicts_with = "covariance", help_heading = "Approximation")]
    pub(crate) mean_field: bool,
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
        long, value_name = "N", value_parser = at_least_one, allow_negative_numbers = true, help_heading = "Advanced: steps")]
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
    /// Chains until every mean is within so many standard deviations, such as 0.02; 0.1 is what a verdict asks for
    #[arg(long, value_name = "SD", value_parser = positive, allow_hyphen_values = true, help_heading = "Run")]
    pub(crate) mean_within: Option<f64>,
    #[arg(
        help = or_default("Fits from starts of their own, of which the best is kept", Plan::default().restarts),
        long, value_name = "N", value_parser = at_least_one, allow_negative_numbers = true, help_heading = "Run")]
    pub(crate) restarts: Option<usize>,
    /// Rows of each step [default: all]
    #[arg(long, value_name = "M", value_parser = at_least_one, allow_negative_numbers = true, help_heading = "Advanced: steps")]
    pub(crate) minibatch: Option<usize>,
    /// How a gradient becomes a step: retraction, natural_gradient, natural_momentum, adam_like, euclidean_adam or
    /// gradient_descent; or printed, the updates as the paper prints them, with its plain draws, constant steps and no
    /// search (docs/printed.md)
    #[arg(long, value_name = "WORD", value_parser = rule, help_heading = "Advanced: steps")]
    pub(crate) rule: Option<Rule>,
    /// Option of --rule printed, such as on_leaving=halve; may be given again for another
    #[arg(long, value_name = "NAME=WORD", value_parser = printed_option, help_heading = "Advanced: steps")]
    pub(crate) printed: Vec<(String, String)>,
    /// Share γ of the last step that natural_momentum takes [default: 0.5]
    #[arg(long, value_name = "G", value_parser = momentum, allow_hyphen_values = true, help_heading = "Advanced: steps")]
    pub(crate) momentum: Option<f64>,
    /// Running means of adam_like that are divided by their bias: both (s starts from the prior), data_only,
    /// momentum_only (s starts from the start) or none [default: both; momentum_only where a parameter has no Gaussian
    /// prior]
    #[arg(long, value_name = "WORD", value_parser = bias_correction, help_heading = "Advanced: steps")]
    pub(crate) bias_correction: Option<BiasCorrection>,
    /// A fixed step size [default: found by the run]
    #[arg(long, value_name = "B", value_parser = positive, allow_hyphen_values = true, help_heading = "Advanced: steps")]
    pub(crate) step_size: Option<f64>,
    /// Another for the weights of a mixture, a learned shape, or the precisions of a matrix by paper_literal [default:
    /// that of --step-size]
    #[arg(long, value_name = "B", value_parser = positive, allow_hyphen_values = true, help_heading = "Advanced: steps")]
    pub(crate) mixing_step_size: Option<f64>,
    /// Bound on the KL divergence of a step, or none [default: learned, 1 at first; none for printed]
    #[arg(long, value_name = "NATS", value_parser = max_kl, allow_hyphen_values = true, help_heading = "Advanced: steps")]
    pub(crate) max_kl: Option<Bound>,
    /// The last state, not the average of the last steps
    #[arg(long, help_heading = "Advanced: steps")]
    pub(crate) no_average: bool,
    /// Where second derivatives come from: hessian, gauss_newton, item_gradients, squared_mean, gradient_outer_product,
    /// least_change, pooled, stein or stein_plain [default: the best that the model has]
    #[arg(long, value_name = "WORD", value_parser = curvature, help_heading = "Advanced: steps")]
    pub(crate) curvature: Option<Curvature>,
    /// What weighs the gradient of a draw: sampled (option I), marginal (II) or conditional (III) [default:
    /// conditional; sampled for printed]
    #[arg(long, value_name = "WORD", value_parser = weights, help_heading = "Advanced: steps")]
    pub(crate) weights: Option<MixingWeights>,
    /// How the draws of a step depend on each other: independent, antithetic or quasi_monte_carlo [default:
    /// quasi_monte_carlo; independent for printed]
    #[arg(long, value_name = "WORD", value_parser = noise, help_heading = "Advanced: steps")]
    pub(crate) noise: Option<Noise>,
    /// Where the draws of a mixture come from: mixture, whole (the mixture, so many in all), stratified or own_draws
    /// [default: own_draws; whole for printed]
    #[arg(long, value_name = "WORD", value_parser = sampling, help_heading = "Advanced: steps")]
    pub(crate) sampling: Option<Sampling>,
    /// How the slope in a learned shape is estimated: exact, ratio or paper_literal [default: exact; paper_literal for
    /// printed]
    #[arg(long, value_name = "WORD", value_parser = shape_estimator, help_heading = "Advanced: steps")]
    pub(crate) shape_estimator: Option<ShapeEstimator>,
    /// Start where this says, without a search: normal(m, s) for locations drawn from N(m, s²), a number for all of
    /// them, or a run folder, fit file or file with a state
    #[arg(long, value_name = "WHERE", value_parser = start_at, allow_hyphen_values = true, help_heading = "Advanced: steps")]
    pub(crate) start: Option<StartAt>,
    /// Start with this variance in every direction, without a search [default: 1]
    #[arg(long, value_name = "V", value_parser = scale, allow_hyphen_values = true, help_heading = "Advanced: steps")]
    pub(crate) start_covariance: Option<f64>,
    /// Start at N(0, I), or at the guess of a network, without a search
    #[arg(long, help_heading = "Advanced: steps")]
    pub(crate) no_search: bool,
    /// Fresh draws for the table, the ELBO, k̂ and the verdict; up to 16 times as many where noise would decide
    /// [default: 10000]
    #[arg(
        long, value_name = "N", value_parser = diagnostic_draws, allow_negative_numbers = true, help_heading = "Run"
    )]
    pub(crate) diagnostic_draws: Option<usize>,

    /// Have chains on the model give the answer, whatever importance weights say and whichever family was named
    #[arg(long, help_heading = "Run", conflicts_with = "uncorrected")]
    pub(crate) correct: bool,
    /// Give the approximation as it is, without chains and without importance weights
    #[arg(long, help_heading = "Run")]
    pub(crate) uncorrected: bool,

    /// Keep the fit in this new folder
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    pub(crate) out: Option<PathBuf>,
    /// Replace an earlier fit in that folder
    #[arg(long, help_heading = "Output")]
    pub(crate) overwrite: bool,
    /// Quantiles of the parameters to show, in percent [default: 2.5,50,97.5]
    #[arg(
        long, value_name = "P,P,…", value_delimiter = ',', value_parser = percent, allow_hyphen_values = true,
        help_heading = "Output"
    )]
    pub(crate) quantiles: Option<Vec<f64>>,
    /// Show odds ratios (logistic) or rate ratios (poisson), with the outermost of the quantiles
    #[arg(long, help_heading = "Output")]
    pub(crate) ratios: bool,
    /// Print one JSON object and nothing else
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,
    /// Show no progress
    #[arg(long, help_heading = "Output")]
    pub(crate) quiet: bool,
}

/// A bound on a step, or none: an option of its own for the parser, which reads two nested ones otherwise.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bound(pub(crate) Option<f64>);

fn max_kl(text: &str) -> Result<Bound, String> {
    elinvar_analysis::settings::value::max_kl(text).map(Bound)
}

/// A line of help for a setting whose default is the plan's.
fn or_default(line: &str, default: impl std::fmt::Display) -> String {
    format!("{line} [default: {default}]")
}
