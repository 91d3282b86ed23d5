//! `elinvar resume`.

use std::io::Write as _;

use crate::error::Failure;
use elinvar::run::{Stop, StopReason};
use elinvar_analysis::Analysis;
use elinvar_analysis::Job;
use elinvar_analysis::Kept;
use elinvar_analysis::RunFolder;
use elinvar_analysis::settings::OutputSettings;
use elinvar_analysis::shell;

use crate::Outcome;
use crate::args::ResumeArgs;
use crate::fit::{conclude, outcome, show};
use crate::passes;
use crate::report::by_config;

/// Continues a fit that was interrupted, or that a limit has ended; shows one that is finished.
pub(crate) fn run(args: &ResumeArgs) -> Result<Outcome, Failure> {
    let run_folder = RunFolder::open(&args.run)?;
    let mut settings = run_folder.settings()?;
    let before = settings.plan.stop;
    settings.plan.stop = limits(before, args);
    let job = Job::new_watched(&settings, passes::shown(args.quiet || args.json))?;
    let output = OutputSettings { json: args.json, quiet: args.quiet, ..OutputSettings::default() };
    if run_folder.is_finished() && settings.plan.stop == before {
        return show_again(args, &run_folder, &job, &output);
    }
    run_folder.begin(&job)?;
    let command = by_config(&args.run);
    conclude(&job, Some(run_folder), &output, command)
}

fn limits(before: Stop, args: &ResumeArgs) -> Stop {
    Stop {
        max_steps: args.max_steps.map_or(before.max_steps, |n| n as u64),
        max_evaluations: args.max_evals.unwrap_or(before.max_evaluations),
        max_seconds: args.max_seconds.or(before.max_seconds),
        remaining_nats: args.tolerance.unwrap_or(before.remaining_nats),
        ..before
    }
}

/// Says that there is nothing to be done, and prints the fit again.
fn show_again(args: &ResumeArgs, folder: &RunFolder, job: &Job, output: &OutputSettings) -> Result<Outcome, Failure> {
    let posterior = Kept::open(&args.run)?.posterior;
    // The fit may have been killed after its results were written, and before it had cleared up.
    folder.tidy(&posterior);
    let fitted = Analysis::of_kept(job, posterior)?.in_folder(&args.run);
    if !output.quiet && !output.json {
        let shown = args.run.display();
        let command = format!("elinvar resume {}", shell::word(&args.run));
        let sentence = match fitted.posterior.stop_reason() {
            StopReason::MaxSteps => format!("a limit has ended this fit: {command} --max-steps N continues it"),
            StopReason::MaxEvaluations => format!("a limit has ended this fit: {command} --max-evals N continues it"),
            StopReason::MaxSeconds => format!("a limit has ended this fit: {command} --max-seconds T continues it"),
            _ => "this fit is finished; here it is again".into(),
        };
        // What cannot be said is not worth an error.
        let _ = writeln!(std::io::stderr(), "{shown}: {sentence}");
    }
    show(job, &fitted, output)?;
    Ok(outcome(&fitted))
}
