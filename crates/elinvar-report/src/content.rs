//! What a report is made of: plain data, on the constrained scale of the model.
//!
//! Everything but the verdict, the parameters and the words may be missing; what is missing is left out of the page.

use elinvar_figure::estimate::sample::Sample;
use serde::{Deserialize, Serialize};

/// All that a report shows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Content {
    /// What was fitted, in one line: model, data, prior, family.
    pub title: String,
    /// When, by which version: a line in small print.
    pub made: String,
    /// How far the fit can be trusted.
    pub verdict: Verdict,
    /// Why, in sentences with the numbers in them.
    pub reason: String,
    /// A command or advice that makes sense next.
    pub next: Option<String>,
    /// The numbers that stand at the top.
    pub headline: Headline,
    /// The parameters, in the order of the model.
    pub parameters: Vec<Parameter>,
    /// Draws of the approximation q.
    pub draws: Draws,
    /// Draws that stand for the model's posterior: states of chains, or weighted.
    pub corrected_draws: Option<Draws>,
    /// What corrects draws and parameters.
    pub correction: Correction,
    /// The steps of the run.
    pub trace: Vec<TraceRow>,
    /// Where in the trace another family begins; empty if there was one.
    pub stages: Vec<Stage>,
    /// The largest importance ratios.
    pub tail: Option<Tail>,
    /// The families that were tried.
    pub rungs: Vec<Rung>,
    /// Whether the model could have made its responses.
    pub model_check: Option<ModelCheck>,
    /// What rows that were held out say.
    pub test: Option<Test>,
    /// The resolved configuration, as a file that makes the same run.
    pub config: String,
    /// The exact command.
    pub command: String,
    /// The model in words: its parts, one pair of a name and a description each.
    pub model: Vec<(String, String)>,
}

/// What corrects an approximation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Correction {
    /// Importance weights, as far as they can tell; the answer is the approximation.
    #[default]
    Hint,
    /// Importance weights, which give the answer.
    Weights,
    /// Chains on the model, which give the answer.
    Chains,
}

impl Correction {
    /// What corrects, in words.
    pub fn words(self) -> &'static str {
        match self {
            Correction::Hint | Correction::Weights => "importance weights",
            Correction::Chains => "chains on the model",
        }
    }
}

/// How far a fit can be trusted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Means and standard deviations.
    Trust,
    /// The means, not the standard deviations.
    TrustMeansOnly,
    /// Neither.
    #[default]
    DoNotTrust,
}

impl Verdict {
    /// The verdict as it is read.
    pub fn words(self) -> &'static str {
        match self {
            Verdict::Trust => "Trust",
            Verdict::TrustMeansOnly => "Trust means only",
            Verdict::DoNotTrust => "Do not trust",
        }
    }
}

/// A Monte Carlo estimate with its standard error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The estimate.
    pub value: f64,
    /// Its Monte Carlo standard error; not finite if it is not known.
    pub mcse: f64,
}

/// The numbers that stand at the top.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Headline {
    /// The family that was kept, in words.
    pub family: String,
    /// The evidence lower bound, from fresh draws.
    pub elbo: Option<Estimate>,
    /// Importance-sampling estimate of the log normaliser.
    pub log_normaliser: Option<Estimate>,
    /// Pareto k̂ of the importance ratios.
    pub pareto_k: Option<f64>,
    /// Whether k̂ is not finite: very few draws outweigh all others.
    pub few_draws_dominate: bool,
    /// Above this k̂, importance weights are not to be trusted.
    pub pareto_k_threshold: f64,
    /// Independent draws that the answer is worth.
    pub effective_draws: Option<f64>,
    /// Draws, or states of chains, that it rests on.
    pub effective_of: u64,
    /// Whether weights are nearly equal, so that k̂ means nothing.
    pub nearly_equal: bool,
    /// Number of draws behind the diagnostics.
    pub n_draws: u64,
    /// Whether the run converged.
    pub converged: bool,
    /// Why it stopped, in a sentence.
    pub stopped: String,
    /// Steps taken.
    pub steps: u64,
    /// Evaluations of the fit by what was asked for: log density, gradient, Hessian.
    pub evaluations: Vec<(String, u64)>,
    /// Seconds of the fit.
    pub seconds: f64,
}

/// One parameter.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// Mean, standard deviation and quantiles under q.
    #[serde(flatten)]
    pub summary: Summary,
    /// Monte Carlo standard error of the mean, where it comes from draws.
    pub mcse: Option<f64>,
    /// The same as corrected by weights or chains.
    pub corrected: Option<Summary>,
    /// Standard errors of these, where the corrected numbers are the answer.
    pub errors: Option<Summary>,
    /// A bound that the parameter does not cross from above.
    pub lower: Option<f64>,
    /// A bound that the parameter does not cross from below.
    pub upper: Option<f64>,
    /// Its law under q, where that has a formula; otherwise its density is estimated from draws.
    pub law: Option<MarginalLaw>,
}

/// A law of one parameter whose density is known.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MarginalLaw {
    /// N(mean, sd²).
    Normal {
        /// Mean.
        mean: f64,
        /// Standard deviation.
        sd: f64,
    },
    /// Its logarithm is N(mean, sd²).
    LogNormal {
        /// Mean of the logarithm.
        mean: f64,
        /// Standard deviation of the logarithm.
        sd: f64,
    },
}

impl MarginalLaw {
    /// Its density.
    pub(crate) fn density(&self, x: f64) -> f64 {
        let normal = |u: f64, sd: f64| (-0.5 * u * u).exp() / (sd * (2.0 * std::f64::consts::PI).sqrt());
        match *self {
            MarginalLaw::Normal { mean, sd } => normal((x - mean) / sd, sd),
            MarginalLaw::LogNormal { mean, sd } if x > 0.0 => normal((x.ln() - mean) / sd, sd) / x,
            MarginalLaw::LogNormal { .. } => 0.0,
        }
    }
}

impl Parameter {
    /// How far the correction moves the mean, in standard deviations of q.
    pub fn shift(&self) -> Option<f64> {
        self.corrected.map(|p| (p.mean - self.summary.mean) / self.summary.sd).filter(|shift| shift.is_finite())
    }
}

/// Mean, standard deviation and two quantiles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Mean.
    pub mean: f64,
    /// Standard deviation.
    pub sd: f64,
    /// 5 % quantile.
    pub q5: f64,
    /// 95 % quantile.
    pub q95: f64,
}

/// Draws, by parameter.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Draws {
    /// One column per parameter, all of the same length; columns may be left out at the end.
    pub columns: Vec<Vec<f64>>,
    /// Weights of the draws; empty if they are equal.
    pub weights: Vec<f64>,
}

impl Draws {
    /// The draws of one parameter; `None` if fewer than two different ones are finite.
    pub(crate) fn sample(&self, parameter: usize) -> Option<Sample> {
        Sample::new(self.columns.get(parameter)?, &self.weights)
    }
}

/// One step of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TraceRow {
    /// Index of the step.
    pub step: u64,
    /// Evaluations so far.
    pub evaluations: u64,
    /// Seconds so far.
    pub seconds: f64,
    /// The ELBO, estimated from the draws of the step.
    pub elbo: Option<f64>,
    /// Its standard error.
    pub elbo_se: Option<f64>,
    /// The step size that was taken.
    pub step_size: Option<f64>,
    /// The KL divergence of the step, in nats.
    pub kl: Option<f64>,
    /// Components of the approximation.
    pub components: u64,
    /// Draws of the step, per component.
    pub n_draws: u64,
}

/// A part of the trace that belongs to one family.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Stage {
    /// The first step of it.
    pub first_step: u64,
    /// The family.
    pub name: String,
}

/// The upper tail of the importance ratios.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Tail {
    /// The largest values of log p − log q, largest first, less the largest of all: the first is 0.
    pub log_ratios: Vec<f64>,
    /// Number of draws in all.
    pub n_draws: u64,
    /// The fitted distribution, where there is one.
    pub fit: Option<ParetoFit>,
}

/// A generalised Pareto distribution of what ratios exceed a cutoff by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ParetoFit {
    /// Its shape k̂.
    pub shape: f64,
    /// Its scale, in ratios relative to the largest.
    pub scale: f64,
    /// Log of the cutoff, relative to the largest ratio.
    pub log_cutoff: f64,
    /// Number of ratios above the cutoff.
    pub len: u64,
}

/// A family of the ladder.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Rung {
    /// The family, in words.
    pub family: String,
    /// Its ELBO.
    pub elbo: Estimate,
    /// Its k̂.
    pub pareto_k: Option<f64>,
    /// What it gained over the best before it, in nats.
    pub gain: Option<Estimate>,
    /// Gradients it took.
    pub gradients: u64,
    /// Seconds it took.
    pub seconds: f64,
    /// Whether it is the one that was kept.
    pub kept: bool,
}

/// Whether a model could have made its responses.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ModelCheck {
    /// Whether nothing speaks against it.
    pub fits: bool,
    /// What was found, in a sentence.
    pub reason: String,
    /// Tables that were drawn from the fit.
    pub n_draws: u64,
    /// What was compared.
    pub statistics: Vec<Statistic>,
    /// The share of the variance that is explained: median, 5 % and 95 % quantile.
    pub r_squared: Option<[f64; 3]>,
    /// Rows of numbers or counts.
    pub residuals: Vec<Residual>,
    /// Rows of two classes, in bins.
    pub calibration: Vec<CalibrationBin>,
}

/// A statistic of responses.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Statistic {
    /// Its name.
    pub name: String,
    /// Of the responses.
    pub observed: f64,
    /// The average over tables drawn from the fit.
    pub expected: f64,
    /// The share of drawn tables that are as extreme.
    pub p: f64,
    /// Whether it speaks against the model.
    pub fails: bool,
}

/// A row beside what was predicted of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Residual {
    /// The predicted mean.
    pub predicted: f64,
    /// The response minus that, in units of its predicted sd.
    pub residual: f64,
}

/// What rows that were held out say.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Test {
    /// Number of rows.
    pub n_rows: u64,
    /// Numbers such as log-loss and accuracy.
    pub metrics: Vec<Metric>,
    /// Observed against predicted, in bins.
    pub calibration: Vec<CalibrationBin>,
}

/// A number about rows that were held out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Metric {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: f64,
    /// Its standard error over rows.
    pub se: Option<f64>,
    /// What it means, in a few words.
    pub note: String,
}

/// Rows whose predictions are alike.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CalibrationBin {
    /// Their mean predicted probability.
    pub predicted: f64,
    /// The share of them that were positive.
    pub observed: f64,
    /// Number of rows.
    pub n: u64,
}
