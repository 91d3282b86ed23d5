//! The steps of the fit.

use elinvar::posterior::Rung;
use elinvar::run::{Counts, Step};
use elinvar_report::{Stage, TraceRow};

pub(super) fn rows(trace: &[Step]) -> Vec<TraceRow> {
    // Models without derivatives are asked for log p alone.
    let by_gradient = trace.last().is_none_or(|step| step.counts.gradient > 0);
    let row = |step: &Step| TraceRow {
        step: step.index,
        evaluations: if by_gradient { step.counts.gradient } else { step.counts.log_density },
        seconds: step.seconds,
        elbo: step.elbo,
        elbo_se: step.elbo_se,
        step_size: Some(step.taken).filter(|taken| *taken > 0.0),
        kl: step.kl.filter(|kl| *kl > 0.0),
        components: step.components as u64,
        n_draws: step.n_draws as u64,
    };
    trace.iter().map(row).collect()
}

/// Where each family of a ladder begins: behind the evaluations of those before it.
pub(super) fn stages(trace: &[Step], rungs: &[Rung]) -> Vec<Stage> {
    if rungs.len() < 2 {
        return Vec::new();
    }
    let total = |counts: Counts| counts.log_density + counts.gradient;
    let mut before = 0;
    let mut stages = Vec::new();
    for rung in rungs {
        if let Some(first) = trace.iter().find(|step| total(step.counts) > before) {
            stages.push(Stage { first_step: first.index, name: super::short(&rung.family) });
        }
        before += total(rung.counts);
    }
    stages
}
