//! The command that makes sense after a fit.

use elinvar::Family;
use elinvar::family::Kind;
use elinvar::posterior::Verdict;
use elinvar::run::{Correct, StopReason};
use elinvar::target::Covariance;

use super::ending::{is_noise, remaining};
use crate::analysis::Analysis;
use crate::job::Job;
use crate::number::significant;
use crate::shell;

/// A command that makes sense after this fit.
pub(crate) fn next(job: &Job, analysis: &Analysis) -> String {
    if matches!(analysis.posterior.stop_reason(), StopReason::BadEvaluations | StopReason::Stuck) {
        return "look for columns with very large values; divide them by a constant or leave them out with --exclude"
            .into();
    }
    if analysis.posterior.stop_reason() == StopReason::Diverged {
        return "a narrower prior, --prior-sd; if that does not help, divide columns of very large or small values by a \
                constant"
            .into();
    }
    if let Some(corrected) = analysis.posterior.corrected()
        && !corrected.is_trusted()
    {
        return "the same command with --family mog --components auto: a mixture may hold what chains do not settle"
            .into();
    }
    if !analysis.posterior.converged() && analysis.posterior.corrected().is_none() {
        let left = remaining(&analysis.posterior);
        let stagnated = analysis.posterior.stop_reason() == StopReason::Stagnated;
        let at_limit = analysis.posterior.stop_reason() == StopReason::MaxSteps;
        if let Some(rows) = job.plan.minibatch.filter(|_| stagnated || at_limit || left.is_none_or(is_noise)) {
            return larger_minibatch(rows, job.rows.n_rows);
        }
        if stagnated || left.is_some_and(is_noise) {
            // The run may have taken more by itself.
            let taken = analysis.posterior.trace().last().map_or(0, |step| step.n_draws);
            let more = 4 * taken.max(job.plan.n_draws);
            return format!("the same command with --draws-per-step {more}: noise hides what is left");
        }
        if job.family == Family::auto().diagonal() {
            return "the same command with --covariance full".into();
        }
        return larger_limit(analysis);
    }
    if analysis.judgement.verdict != Verdict::Trust {
        let is_full = job.family.covariance == Covariance::Full;
        if is_full && job.plan.correct == Correct::Never && job.plan.rule.printed().is_none() {
            return "the same command without --uncorrected".into();
        }
        return match (job.family.covariance, job.family.kind) {
            (Covariance::Diagonal, _) => "the same command with --covariance full".into(),
            (_, Kind::Mog { .. }) => "the same command with --components auto".into(),
            (_, Kind::MogAuto | Kind::Auto) => {
                format!("the same command with --tolerance {}", significant(0.2 * job.plan.stop.remaining_nats))
            }
            _ => "the same command with --family auto".into(),
        };
    }
    if let Some(path) = &analysis.run_folder {
        return format!("elinvar sample {} --draws 4000 --out draws.csv", shell::word(path));
    }
    match &job.rows.file {
        None if analysis.posterior.family().kind == Kind::Gaussian => {
            "elinvar fit --family mog --components 4    (a higher ELBO is a closer approximation)".into()
        }
        None => "elinvar fit logistic FILE.csv --target COLUMN --out run1    (your own table)".into(),
        Some(_) => "the same command with --out run1 keeps this fit; then elinvar sample run1".into(),
    }
}

/// Goes on from a limit where there is something to go on from.
fn larger_limit(analysis: &Analysis) -> String {
    const FACTOR: usize = 4;
    let posterior = &analysis.posterior;
    let flag = match posterior.stop_reason() {
        StopReason::MaxEvaluations => format!("--max-evals {}", FACTOR as u64 * posterior.counts().gradient.max(1_000)),
        StopReason::MaxSeconds => format!("--max-seconds {}", (FACTOR as f64 * analysis.seconds).ceil().max(1.0)),
        _ => format!("--max-steps {}", FACTOR * posterior.trace().len().max(1_000)),
    };
    match &analysis.run_folder {
        Some(path) => format!("elinvar resume {} {flag}", shell::word(path)),
        None => format!("the same command with {flag}"),
    }
}

fn larger_minibatch(rows: usize, n_rows: usize) -> String {
    const FACTOR: usize = 4;
    let remedy = if rows < n_rows / FACTOR {
        format!("with --minibatch {}, or without", rows * FACTOR)
    } else {
        "without --minibatch".into()
    };
    format!("the same command {remedy}: the choice of rows hides what is left")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_of_rows_is_not_cured_by_draws() {
        let because = ": the choice of rows hides what is left";
        assert_eq!(larger_minibatch(10, 341), format!("the same command with --minibatch 40, or without{because}"));
        assert_eq!(larger_minibatch(300, 341), format!("the same command without --minibatch{because}"));
    }
}
