//! What a fit has found, as the page, the JSON object and the run directory show it.

use std::path::PathBuf;

use elinvar::Posterior;
use elinvar::posterior::{Diagnostics, Estimate, Judgement, ParameterSummary, WeightedDraws};

use crate::error::Failure;
use crate::held_out::Test;
use crate::job::Job;

/// A finished fit.
pub struct Report {
    pub posterior: Posterior,
    /// How far to trust it, and why.
    pub judgement: Judgement,
    /// Its k̂ is `None` where it is not known, not finite or without meaning.
    pub diagnostics: Diagnostics,
    /// Whether k̂ is not finite: the weights of very few draws exceed all others by far.
    pub few_draws_dominate: bool,
    pub parameters: Vec<ParameterSummary>,
    /// What a reader should know before the table.
    pub warnings: Vec<String>,
    /// What rows say that were held out.
    pub test: Option<Test>,
    /// Seconds from the search for a start to the last step.
    pub seconds: f64,
    /// Where the fit was kept.
    pub run_folder: Option<PathBuf>,
}

impl Report {
    /// A fit, judged on fresh draws; also the draws that the verdict rests on.
    pub fn judged(job: &Job, mut posterior: Posterior) -> Result<(Self, WeightedDraws), Failure> {
        let judged = posterior.judge_with_draws(&*job.model, job.diagnostic_draws, job.plan.seed);
        let (judgement, weighted) = judged.map_err(Failure::of_fit)?;
        Ok((Self::new(job, posterior, judgement)?, weighted))
    }

    /// A fit that was kept with its judgement, or is judged now.
    pub fn of_kept(job: &Job, posterior: Posterior) -> Result<Self, Failure> {
        match posterior.judgement().cloned().filter(|_| posterior.diagnostics().is_some()) {
            Some(judgement) => Self::new(job, posterior, judgement),
            None => Self::judged(job, posterior).map(|(report, _)| report),
        }
    }

    fn new(job: &Job, posterior: Posterior, judgement: Judgement) -> Result<Self, Failure> {
        let (n, seed) = (job.diagnostic_draws, job.plan.seed);
        let diagnostics = posterior.diagnostics().expect("a verdict comes with diagnostics").clone();
        let (diagnostics, few_draws_dominate) = without_stand_ins(diagnostics);
        let parameters = posterior.summary(n, seed);
        let test = job.held_out.as_ref().map(|rows| rows.test(&posterior, seed)).transpose()?;
        let seconds = posterior.seconds();
        let about = &job.about;
        let warnings = if about.model.is_linear() {
            about.priors.conflicts(&posterior, &about.kinds, about.sd_of_y)
        } else {
            Vec::new()
        };
        let run_folder = None;
        Ok(Self {
            posterior,
            judgement,
            diagnostics,
            few_draws_dominate,
            parameters,
            warnings,
            test,
            seconds,
            run_folder,
        })
    }
}

/// The diagnostics without the finite numbers by which the library's files stand in for infinity, and whether k̂ was one.
pub fn without_stand_ins(mut diagnostics: Diagnostics) -> (Diagnostics, bool) {
    const ENDLESS_K: f64 = 99.0;
    let endless = |x: f64| if x.abs() >= f64::MAX { f64::INFINITY.copysign(x) } else { x };
    let shifts = diagnostics.shifts.iter_mut().flat_map(|shift| [&mut shift.mean, &mut shift.log_sd]);
    for Estimate { value, mcse } in [&mut diagnostics.elbo, &mut diagnostics.log_normaliser].into_iter().chain(shifts) {
        (*value, *mcse) = (endless(*value), endless(*mcse));
    }
    let few_draws_dominate = diagnostics.pareto_k.is_some_and(|k| k >= ENDLESS_K);
    // Ratios of densities that cannot be compared have a tail without meaning.
    let comparable = diagnostics.elbo.mcse.is_finite();
    diagnostics.pareto_k = diagnostics.pareto_k.filter(|_| comparable && !few_draws_dominate);
    (diagnostics, few_draws_dominate)
}
