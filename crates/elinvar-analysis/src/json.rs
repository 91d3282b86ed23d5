//! The fit as one JSON object; numbers that are not finite become `null`.

use elinvar::posterior::ParameterSummary;
use serde::Serialize;

use crate::analysis::Analysis;
use crate::held_out::Test;

#[derive(Serialize)]
struct Object<'a> {
    family: &'static str,
    converged: bool,
    stop_reason: &'static str,
    elbo: f64,
    elbo_se: f64,
    pareto_k: Option<f64>,
    verdict: &'static str,
    reason: &'a str,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    warnings: &'a [String],
    evaluations: Evaluations,
    seconds: f64,
    parameters: &'a [ParameterSummary],
    #[serde(skip_serializing_if = "Option::is_none")]
    test: Option<&'a Test>,
    run_dir: Option<String>,
}

#[derive(Serialize)]
struct Evaluations {
    log_density: u64,
    gradient: u64,
    hessian: u64,
}

/// One line with the object.
pub(crate) fn text(analysis: &Analysis) -> String {
    let Analysis { posterior, judgement, diagnostics, parameters, warnings, test, seconds, run_folder, .. } = analysis;
    let counts = posterior.counts();
    let object = Object {
        family: posterior.family().name(),
        converged: posterior.converged(),
        stop_reason: posterior.stop_reason().name(),
        elbo: diagnostics.elbo.value,
        elbo_se: diagnostics.elbo.mcse,
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
        parameters,
        test: test.as_ref(),
        run_dir: run_folder.as_ref().map(|path| path.display().to_string()),
    };
    let text = serde_json::to_string(&object).expect("numbers and strings are always JSON");
    text + "\n"
}
