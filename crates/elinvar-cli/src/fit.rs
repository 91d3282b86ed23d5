//! `elinvar fit`.

use std::io::{self, Write as _};
use std::ops::ControlFlow;
use std::path::PathBuf;

use elinvar::posterior::WeightedDraws;
use elinvar::run::{fit_from_journaled, fit_journaled};
use elinvar_analysis::analysis::Report;
use elinvar_analysis::error::Failure;
use elinvar_analysis::job::Job;
use elinvar_analysis::run_folder::RunFolder;
use elinvar_analysis::settings::OutputSettings;
use elinvar_analysis::{json, page, report, shell};

use crate::checkpoints::Checkpoints;
use crate::fit_args::FitArgs;
use crate::print::print;
use crate::progress::Progress;
use crate::signal::Interrupt;
use crate::{Outcome, flags};

/// Fits, keeps the fit if asked to, and prints it.
pub(crate) fn run(args: &FitArgs) -> Result<Outcome, Failure> {
    let settings = flags::settings(args)?;
    let output = &settings.output;
    let job = Job::new(&settings)?;
    let out = output.out.as_ref().map(PathBuf::from);
    let run_folder = out.map(|out| RunFolder::create(&out, &job)).transpose()?;
    conclude(&job, run_folder, output, typed())
}

/// Fits, or goes on with a fit that was begun, and writes and prints what comes of it; `command` makes the same fit again.
pub(crate) fn conclude(
    job: &Job,
    run_folder: Option<RunFolder>,
    output: &OutputSettings,
    command: String,
) -> Result<Outcome, Failure> {
    let quiet = output.quiet || output.json;
    let (mut fitted, weighted) = match fit(job, run_folder.as_ref(), quiet) {
        Ok(Some(fitted)) => fitted,
        Ok(None) => return Ok(Outcome::Interrupted),
        Err(failure) => {
            // A fit that cannot be begun leaves nothing behind.
            run_folder.into_iter().for_each(RunFolder::discard);
            return Err(failure);
        }
    };
    let written = match &run_folder {
        Some(run_folder) => {
            fitted.run_folder = Some(run_folder.path().to_path_buf());
            let content = report::content(job, &fitted, &weighted, command)?;
            let written = run_folder.write(job, &fitted, &elinvar_report::html(&content));
            written.inspect_err(|_| fitted.run_folder = None)
        }
        None => Ok(()),
    };
    // A fit that could not be kept is still shown: it may have taken hours.
    show(job, &fitted, output)?;
    written?;
    Ok(outcome(&fitted))
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
fn fit(job: &Job, run_folder: Option<&RunFolder>, quiet: bool) -> Result<Option<(Report, WeightedDraws)>, Failure> {
    let folder = run_folder.map(RunFolder::checkpoints).transpose()?;
    let checkpoints = Checkpoints::new(folder, Interrupt::new(quiet));
    let mut progress = Progress::new(quiet, &job.plan.stop);
    let mut observe = |step: &_| {
        progress.show(step);
        ControlFlow::Continue(())
    };
    let (model, plan) = (&*job.model, &job.plan);
    let fitted = match &job.start {
        Some(start) => fit_from_journaled(model, start.clone(), plan, &mut observe, &checkpoints),
        None => fit_journaled(model, job.family, plan, &mut observe, &checkpoints),
    };
    progress.clear();
    let posterior = match fitted {
        Err(elinvar::Error::Interrupted) => {
            // What cannot be said is not worth an error.
            let _ = writeln!(io::stderr(), "{}", interrupted(run_folder));
            return Ok(None);
        }
        fitted => fitted.map_err(Failure::of_fit)?,
    };
    Report::judged(job, posterior).map(Some)
}

/// The command as it was typed.
fn typed() -> String {
    let words = std::env::args_os().skip(1).map(|word| shell::argument(&word.to_string_lossy()));
    std::iter::once("elinvar".into()).chain(words).collect::<Vec<_>>().join(" ")
}

fn interrupted(run_folder: Option<&RunFolder>) -> String {
    match run_folder {
        Some(run_folder) => {
            format!("interrupted; nothing is lost: elinvar resume {} continues", shell::word(run_folder.path()))
        }
        None => "interrupted; nothing was kept: with --out DIR a fit can be resumed".into(),
    }
}
