//! From a finished fit to the content of its report.

mod draws;
mod parameters;
mod tail;
mod trace;

use elinvar::Family;
use elinvar::family::Kind;
use elinvar::posterior::{GivenBy, Verdict, WeightedDraws};
use elinvar_report::{CalibrationBin, Content, Correction, Estimate, Headline, Metric, Rung, Statistic, Test};

use crate::analysis::{Analysis, is_endless, unbounded};
use crate::error::Error;
use crate::family::family_in_words;
use crate::held_out;
use crate::job::Job;
use crate::page::{ending::Ending, evidence, next::next};
use crate::words::{self, FileName};

/// What a report says besides the fit itself.
pub(crate) struct Frame {
    pub(crate) title: String,
    pub(crate) next: Option<String>,
    /// Settings or plan, as a file that makes the same fit.
    pub(crate) config: String,
    /// What makes the same fit again.
    pub(crate) command: String,
    /// The model part by part.
    pub(crate) model: Vec<(String, String)>,
}

impl Frame {
    /// That of a fit over a table.
    pub(crate) fn of_job(job: &Job, analysis: &Analysis, command: String) -> Result<Self, Error> {
        Ok(Self {
            title: words::title(job, &analysis.posterior, FileName::Bare),
            next: Some(next(job, analysis)),
            config: job.settings().text()?,
            command,
            model: words::parts(job),
        })
    }
}

/// All that the report of a fit shows.
pub(crate) fn content(frame: Frame, analysis: &Analysis, weighted: &WeightedDraws) -> Content {
    let posterior = &analysis.posterior;
    let seed = posterior.plan().seed;
    let (draws, corrected_draws) = draws::both(posterior, weighted);
    Content {
        title: frame.title,
        made: format!("elinvar {}, seed {seed}", env!("CARGO_PKG_VERSION")),
        verdict: match analysis.judgement.verdict {
            Verdict::Trust => elinvar_report::Verdict::Trust,
            Verdict::TrustMeansOnly => elinvar_report::Verdict::TrustMeansOnly,
            Verdict::DoNotTrust => elinvar_report::Verdict::DoNotTrust,
        },
        reason: analysis.judgement.reason.clone(),
        next: frame.next,
        headline: headline(analysis),
        parameters: parameters::list(analysis, seed),
        draws,
        corrected_draws,
        correction: match analysis.answer.given_by {
            GivenBy::Chains => Correction::Chains,
            GivenBy::Weights => Correction::Weights,
            _ => Correction::Hint,
        },
        trace: trace::rows(posterior.trace()),
        stages: trace::stages(posterior.trace(), posterior.rungs()),
        tail: tail::of(weighted),
        rungs: posterior.rungs().iter().map(rung).collect(),
        model_check: analysis.model_check.as_ref().map(model_check),
        test: analysis.test.as_ref().map(test),
        config: frame.config,
        command: frame.command,
        model: frame.model,
    }
}

fn headline(analysis: &Analysis) -> Headline {
    let (posterior, diagnostics) = (&analysis.posterior, &analysis.diagnostics);
    let counts = posterior.counts();
    let evaluations = [("log density", counts.log_density), ("gradient", counts.gradient), ("Hessian", counts.hessian)];
    let reliable = diagnostics.pareto_k.is_some_and(|k| k <= diagnostics.pareto_k_threshold);
    Headline {
        family: family_in_words(&posterior.family()),
        elbo: Some(estimate(diagnostics.elbo)),
        log_normaliser: reliable.then(|| estimate(diagnostics.log_normaliser)),
        pareto_k: diagnostics.pareto_k,
        pareto_k_threshold: diagnostics.pareto_k_threshold,
        few_draws_dominate: analysis.few_draws_dominate,
        effective_draws: Some(analysis.answer.effective_draws.unwrap_or(diagnostics.effective_sample_size)),
        effective_of: match (posterior.corrected(), analysis.answer.given_by) {
            (Some(corrected), _) => corrected.n_states() as u64,
            (None, GivenBy::Weights) => (diagnostics.n_draws + diagnostics.wide.map_or(0, |wide| wide.n_draws)) as u64,
            _ => diagnostics.n_draws as u64,
        },
        nearly_equal: evidence::are_nearly_equal(diagnostics),
        n_draws: diagnostics.n_draws as u64,
        converged: posterior.converged(),
        stopped: Ending::of(posterior).sentence(posterior.plan().stop.remaining_nats),
        steps: posterior.trace().len() as u64,
        evaluations: evaluations.into_iter().filter(|(_, n)| *n > 0).map(|(what, n)| (what.into(), n)).collect(),
        seconds: analysis.seconds,
    }
}

/// An estimate as reports have it.
fn estimate(estimate: elinvar::posterior::Estimate) -> Estimate {
    let elinvar::posterior::Estimate { value, mcse } = unbounded(estimate);
    Estimate { value, mcse }
}

fn rung(rung: &elinvar::posterior::Rung) -> Rung {
    Rung {
        family: short(&rung.family),
        elbo: estimate(rung.elbo),
        pareto_k: rung.pareto_k.map(|k| if is_endless(k) { f64::INFINITY } else { k }),
        gain: rung.gain.map(estimate),
        gradients: rung.counts.gradient,
        seconds: rung.seconds,
        kept: rung.kept,
    }
}

/// A family in few words; its scale matrix is that of all rungs.
fn short(family: &Family) -> String {
    match family.kind {
        Kind::Gaussian => "Gaussian".into(),
        Kind::Mixed { law } => law.family_in_words().into(),
        Kind::Mog { components } => format!("mixture of {components}"),
        _ => family.name().replace('_', " "),
    }
}

/// What checks of the model say, as reports have it.
fn model_check(check: &crate::model_check::ModelCheck) -> elinvar_report::ModelCheck {
    let statistic = |check: &crate::model_check::Check| Statistic {
        name: check.name.into(),
        observed: check.observed,
        expected: check.expected,
        p: check.p,
        fails: check.fails(),
    };
    elinvar_report::ModelCheck {
        fits: check.fits,
        reason: check.reason.clone(),
        n_draws: check.n_draws as u64,
        statistics: check.checks.iter().map(statistic).collect(),
        r_squared: check.r_squared.map(|share| [share.median, share.q5, share.q95]),
        residuals: check.rows.residuals(),
        calibration: check.rows.calibration().iter().map(bin).collect(),
    }
}

fn bin(bin: &elinvar_data::CalibrationBin) -> CalibrationBin {
    CalibrationBin { predicted: bin.predicted, observed: bin.observed, n: bin.n_rows as u64 }
}

fn test(test: &held_out::Test) -> Test {
    let metric = |metric: &held_out::Metric| {
        let (name, note) = match metric.name {
            "log_loss" => ("log-loss", "nats per row of the predicted probability; lower is better"),
            "accuracy" => ("accuracy", "share of rows whose likelier class was right"),
            "brier" => ("Brier score", "mean squared error of the probability; lower is better"),
            "calibration_error" => ("calibration error", "mean distance of the dots from the dotted line"),
            "rmse" => ("RMSE", "root mean squared error of the mean prediction, in units of the target"),
            "log_predictive_density" => ("log predictive density", "nats per row; higher is better"),
            other => (other, metric.unit),
        };
        Metric { name: name.into(), value: metric.value, se: metric.se, note: note.into() }
    };
    Test {
        n_rows: test.n_rows as u64,
        metrics: test.scores.metrics.iter().map(metric).collect(),
        calibration: test.scores.calibration.iter().map(bin).collect(),
    }
}
