//! The fit as one JSON object; numbers that are not finite become `null`.

use std::collections::BTreeMap;

use elinvar::Posterior;
use elinvar::chains::{Corrected, CorrectedMode, CorrectedNumber, Doubt};
use elinvar::posterior::{Estimate, GivenBy};
use serde::Serialize;

use crate::analysis::{Analysis, unbounded};
use crate::held_out::Test;
use crate::model_check::ModelCheck;
use crate::parameter_quantiles::ParameterQuantiles;
use crate::quantiles::percent;
use crate::stream::Purpose;

/// With what every object about a fit begins.
#[derive(Serialize)]
pub(crate) struct Head {
    family: &'static str,
    converged: bool,
    stop_reason: &'static str,
    elbo: f64,
    elbo_se: f64,
}

impl Head {
    pub(crate) fn new(posterior: &Posterior, elbo: Estimate) -> Self {
        Self {
            family: posterior.family().name(),
            converged: posterior.converged(),
            stop_reason: posterior.stop_reason().name(),
            elbo: elbo.value,
            elbo_se: elbo.mcse,
        }
    }
}

#[derive(Serialize)]
struct Object<'a> {
    #[serde(flatten)]
    head: Head,
    pareto_k: Option<f64>,
    verdict: &'static str,
    reason: &'a str,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    warnings: &'a [String],
    evaluations: Evaluations,
    seconds: f64,
    /// Where the parameters come from: `chains`, `weights` or `approximation`.
    given_by: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    effective_draws: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    log_evidence: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    log_evidence_se: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    correction: Option<Correction<'a>>,
    /// Where there are several, the one with the largest share first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    modes: Vec<Mode<'a>>,
    parameters: Vec<Parameter<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    model_check: Option<&'a ModelCheck>,
    #[serde(skip_serializing_if = "Option::is_none")]
    test: Option<&'a Test>,
    /// What each pass over rows that are not in memory was made for.
    #[serde(skip_serializing_if = "<[Purpose]>::is_empty")]
    passes: &'a [Purpose],
    run_dir: Option<String>,
}

/// A mode that chains were run on.
#[derive(Serialize)]
struct Mode<'a> {
    share: f64,
    share_se: f64,
    parameters: Vec<Parameter<'a>>,
}

impl<'a> Mode<'a> {
    fn of(mode: &'a CorrectedMode) -> Self {
        let parameters = mode.parameters.iter().map(|number| Parameter::of(number, true));
        Self { share: mode.share.value, share_se: unbounded(mode.share).mcse, parameters: parameters.collect() }
    }
}

/// A row of the table; errors where there are any.
#[derive(Serialize)]
struct Parameter<'a> {
    name: &'a str,
    mean: f64,
    sd: f64,
    q5: f64,
    q95: f64,
    #[serde(flatten)]
    errors: Option<Errors>,
    /// By their percentage.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    quantiles: BTreeMap<String, f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    p_positive: Option<f64>,
}

impl<'a> Parameter<'a> {
    fn of(number: &'a CorrectedNumber, has_errors: bool) -> Self {
        Self {
            name: &number.name,
            mean: number.mean.value,
            sd: number.sd.value,
            q5: number.q5.value,
            q95: number.q95.value,
            errors: has_errors.then(|| Errors::of(number)),
            quantiles: BTreeMap::new(),
            p_positive: None,
        }
    }
}

/// Standard errors of what chains or importance weights gave.
#[derive(Serialize)]
struct Errors {
    mean_se: f64,
    sd_se: f64,
    q5_se: f64,
    q50: f64,
    q50_se: f64,
    q95_se: f64,
}

impl Errors {
    fn of(number: &CorrectedNumber) -> Self {
        let error = |estimate| unbounded(estimate).mcse;
        Self {
            mean_se: error(number.mean),
            sd_se: error(number.sd),
            q5_se: error(number.q5),
            q50: number.q50.value,
            q50_se: error(number.q50),
            q95_se: error(number.q95),
        }
    }
}

/// What chains took, and what speaks against them.
#[derive(Serialize)]
struct Correction<'a> {
    trusted: bool,
    doubts: &'a [Doubt],
    chains: usize,
    steps: usize,
    effective_states: f64,
    acceptance: f64,
    gradients: u64,
    seconds: f64,
}

impl<'a> Correction<'a> {
    fn of(corrected: &'a Corrected) -> Self {
        Self {
            trusted: corrected.is_trusted(),
            doubts: &corrected.doubts,
            chains: corrected.chains,
            steps: corrected.steps,
            effective_states: corrected.effective_states,
            acceptance: corrected.acceptance,
            gradients: corrected.counts.gradient,
            seconds: corrected.seconds,
        }
    }
}

#[derive(Serialize)]
struct Evaluations {
    log_density: u64,
    gradient: u64,
    hessian: u64,
}

/// One line with the object.
pub(crate) fn text(analysis: &Analysis) -> String {
    let Analysis {
        posterior,
        judgement,
        diagnostics,
        answer,
        warnings,
        model_check,
        test,
        passes,
        seconds,
        run_folder,
        ..
    } = analysis;
    let (counts, corrected) = (posterior.counts(), posterior.corrected());
    let has_errors = answer.given_by != GivenBy::Approximation;
    let shown = analysis.quantiles.as_ref();
    let quantiles = |i: usize| -> BTreeMap<String, f64> {
        let of = |quantiles: &ParameterQuantiles| {
            let names = quantiles.probabilities.iter().map(|p| percent(*p));
            names.zip(quantiles.values[i].iter().copied()).collect()
        };
        shown.map(of).unwrap_or_default()
    };
    let rows = answer.parameters.iter().enumerate().map(|(i, number)| Parameter {
        quantiles: quantiles(i),
        p_positive: shown.map(|quantiles| quantiles.positive[i]),
        ..Parameter::of(number, has_errors)
    });
    let object = Object {
        head: Head::new(posterior, diagnostics.elbo),
        pareto_k: diagnostics.pareto_k,
        verdict: judgement.verdict.name(),
        reason: &judgement.reason,
        warnings,
        evaluations: Evaluations {
            log_density: counts.log_density,
            gradient: counts.gradient,
            hessian: counts.hessian,
        },
        seconds: *seconds,
        given_by: answer.given_by.name(),
        effective_draws: answer.effective_draws,
        log_evidence: answer.log_evidence.map(|evidence| unbounded(evidence).value),
        log_evidence_se: answer.log_evidence.map(|evidence| unbounded(evidence).mcse),
        correction: corrected.map(Correction::of),
        modes: posterior.modes().into_iter().map(Mode::of).collect(),
        parameters: rows.collect(),
        model_check: model_check.as_ref(),
        test: test.as_ref(),
        passes,
        run_dir: run_folder.as_ref().map(|path| path.display().to_string()),
    };
    let text = serde_json::to_string(&object).expect("numbers and strings are always JSON");
    text + "\n"
}
