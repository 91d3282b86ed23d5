//! `elinvar fit`.

use std::io::{self, Write as _};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use elinvar::run::{Journal, Kept};
use elinvar_analysis::settings::OutputSettings;
use elinvar_analysis::{Analysis, Error, Job, RunFolder, shell};

use crate::checkpoints::Checkpoints;
use crate::error::Failure;
use crate::fit_args::FitArgs;
use crate::passes;
use crate::print::print;
use crate::progress::Progress;
use crate::screen;
use crate::signal::{Interrupt, send_after_round};
use crate::{Outcome, colour, flags};

/// Fits, keeps the fit if asked to, and prints it.
pub(crate) fn run(args: &FitArgs) -> Result<Outcome, Failure> {
    let settings = flags::settings(args)?;
    let output = &settings.output;
    let job = Job::new_watched(&settings, passes::shown(output.quiet || output.json))?;
    let out = output.out.as_ref().map(PathBuf::from);
    let run_folder = out.map(|out| RunFolder::create(&out, &job)).transpose()?;
    conclude(&job, run_folder, output, typed())
}

/// Fits, or goes on with a fit that was begun, and writes and prints what comes of it; `command` makes the same fit
/// again.
pub(crate) fn conclude(
    job: &Job,
    run_folder: Option<RunFolder>,
    output: &OutputSettings,
    command: String,
) -> Result<Outcome, Failure> {
    let quiet = output.quiet || output.json;
    let fitted = match fit(job, run_folder.as_ref(), quiet) {
        Err(Failure::Analysis(Error::Interrupted)) => {
            // What cannot be said is not worth an error.
            let _ = writeln!(io::stderr(), "{}", interrupted(run_folder.as_ref()));
            return Ok(Outcome::Interrupted);
        }
        Err(failure) => {
            // A fit that cannot be begun leaves nothing behind.
            run_folder.into_iter().for_each(RunFolder::discard);
            return Err(failure);
        }
        Ok(fitted) => fitted,
    };
    let (fitted, written) = match &run_folder {
        Some(run_folder) => {
            let mut fitted = fitted.in_folder(run_folder.path());
            let written = run_folder.write(job, &fitted, command);
            if written.is_err() {
                fitted.run_folder = None;
            }
            (fitted, written)
        }
        None => (fitted, Ok(())),
    };
    // A fit that could not be kept is still shown: it may have taken hours.
    show(job, &fitted, output)?;
    written?;
    Ok(outcome(&fitted))
}

/// Prints a fit as it was asked for.
pub(crate) fn show(job: &Job, fitted: &Analysis, output: &OutputSettings) -> Result<(), Failure> {
    if output.json {
        return print(&fitted.json());
    }
    // A file has lines as long as they are; a screen has an end.
    let page = screen::width().map_or_else(|| fitted.page(job), |width| fitted.page_of_width(job, width));
    print(&if colour::is_wanted() { colour::coloured(&page) } else { page })
}

/// What a fit says about itself to the shell.
pub(crate) fn outcome(fitted: &Analysis) -> Outcome {
    // Chains do not need a fit that has converged.
    let ended = fitted.posterior.converged() || fitted.posterior.corrected().is_some();
    Outcome::of(ended, fitted.judgement.verdict)
}

fn fit(job: &Job, run_folder: Option<&RunFolder>, quiet: bool) -> Result<Analysis, Failure> {
    let checkpoints = run_folder.map(|folder| folder.checkpoints(job)).transpose()?.map(Checkpoints::new);
    let asked = Interrupt::new(quiet);
    let interrupt = move || asked.is_asked();
    // Steps and chains are shown on the same line.
    let progress = Mutex::new(Progress::new(quiet, &job.plan().stop));
    let shown = || progress.lock().unwrap_or_else(PoisonError::into_inner);
    let rounds = AtomicU64::new(0);
    let watch = |round: &_| {
        shown().show_chains(round);
        send_after_round(rounds.fetch_add(1, Ordering::Relaxed) + 1);
    };
    let journal = checkpoints.as_ref().map(|kept| kept as &dyn Journal);
    let kept = Kept { journal, interrupt: Some(&interrupt), watch: Some(&watch), ..Kept::default() };
    let mut observe = |step: &_| {
        shown().show(step);
        ControlFlow::Continue(())
    };
    let fitted = job.fit(&mut observe, kept);
    shown().clear();
    Ok(fitted?)
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
