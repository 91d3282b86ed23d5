//! `elinvar fit`.

use std::io::{self, Write as _};
use std::ops::ControlFlow;
use std::path::PathBuf;

use elinvar::posterior::WeightedDraws;
use elinvar::run::{Journal, Kept, fit_from_journaled, fit_journaled};

use crate::Outcome;
use crate::checkpoints::Checkpoints;
use crate::error::Failure;
use crate::fit_args::FitArgs;
use crate::job::Job;
use crate::print::print;
use crate::progress::Progress;
use crate::report::Report;
use crate::run_dir::RunDir;
use crate::settings::{OutputSettings, Settings};
use crate::signal::Interrupt;
use crate::{json, page, report_page, shell};

/// Fits, keeps the fit if asked to, and prints it.
pub(crate) fn run(args: &FitArgs) -> Result<Outcome, Failure> {
    let settings = Settings::of_flags(args)?;
    let output = &settings.output;
    let job = Job::new(&settings)?;
    let out = output.out.as_ref().map(PathBuf::from);
    let run_dir = out.map(|out| RunDir::create(&out, &job)).transpose()?;
    conclude(&job, run_dir, output, report_page::typed())
}

/// Fits, or goes on with a fit that was begun, and writes and prints what comes of it; `command` makes the same fit again.
pub(crate) fn conclude(
    job: &Job,
    run_dir: Option<RunDir>,
    output: &OutputSettings,
    command: String,
) -> Result<Outcome, Failure> {
    let quiet = output.quiet || output.json;
    let (mut report, weighted) = match fit(job, run_dir.as_ref(), quiet) {
        Ok(Some(fitted)) => fitted,
        Ok(None) => return Ok(Outcome::Interrupted),
        Err(failure) => {
            // A fit that cannot be begun leaves nothing behind.
            run_dir.into_iter().for_each(RunDir::discard);
            return Err(failure);
        }
    };
    let written = match &run_dir {
        Some(run_dir) => {
            report.run_dir = Some(run_dir.path().to_path_buf());
            let content = report_page::content(job, &report, &weighted, command)?;
            let written = run_dir.write(job, &report, &elinvar_report::html(&content));
            written.inspect_err(|_| report.run_dir = None)
        }
        None => Ok(()),
    };
    // A fit that could not be kept is still shown: it may have taken hours.
    show(job, &report, output)?;
    written?;
    Ok(outcome(&report))
}

/// Prints a fit as it was asked for.
pub(crate) fn show(job: &Job, report: &Report, output: &OutputSettings) -> Result<(), Failure> {
    print(&if output.json { json::text(report) } else { page::text(job, report) })
}

/// What a fit says about itself to the shell.
pub(crate) fn outcome(report: &Report) -> Outcome {
    Outcome::of(report.posterior.converged(), report.judgement.verdict)
}

/// The fit, unless the user has ended it.
fn fit(job: &Job, run_dir: Option<&RunDir>, quiet: bool) -> Result<Option<(Report, WeightedDraws)>, Failure> {
    let checkpoints = run_dir.map(RunDir::checkpoints).transpose()?.map(Checkpoints::new);
    let asked = Interrupt::new(quiet);
    let interrupt = move || asked.is_asked();
    let kept = Kept { journal: checkpoints.as_ref().map(|kept| kept as &dyn Journal), interrupt: Some(&interrupt) };
    let mut progress = Progress::new(quiet, &job.plan.stop);
    let mut observe = |step: &_| {
        progress.show(step);
        ControlFlow::Continue(())
    };
    let (model, plan) = (&*job.model, &job.plan);
    let fitted = match &job.start {
        Some(start) => fit_from_journaled(model, start.clone(), plan, &mut observe, kept),
        None => fit_journaled(model, job.family, plan, &mut observe, kept),
    };
    progress.clear();
    let posterior = match fitted {
        Err(elinvar::Error::Interrupted) => {
            // What cannot be said is not worth an error.
            let _ = writeln!(io::stderr(), "{}", interrupted(run_dir));
            return Ok(None);
        }
        fitted => fitted.map_err(Failure::of_fit)?,
    };
    Report::judged(job, posterior).map(Some)
}

fn interrupted(run_dir: Option<&RunDir>) -> String {
    match run_dir {
        Some(run_dir) => {
            format!("interrupted; nothing is lost: elinvar resume {} continues", shell::word(run_dir.path()))
        }
        None => "interrupted; nothing was kept: with --out DIR a fit can be resumed".into(),
    }
}
