//! `elinvar resume`.

use std::io::Write as _;

use elinvar::run::{Stop, StopReason};

use crate::Outcome;
use crate::args::ResumeArgs;
use crate::error::Failure;
use crate::fit::{conclude, outcome, show};
use crate::job::Job;
use crate::kept::Kept;
use crate::report::Report;
use crate::report_page;
use crate::run_dir::RunDir;
use crate::settings::OutputSettings;
use crate::shell;

/// Continues a fit that was interrupted, or that a limit has ended; shows one that is finished.
pub(crate) fn run(args: &ResumeArgs) -> Result<Outcome, Failure> {
    let run_dir = RunDir::open(&args.run)?;
    let mut settings = run_dir.settings()?;
    let before = settings.plan.stop;
    settings.plan.stop = limits(before, args);
    let job = Job::new(&settings)?;
    let output = OutputSettings { out: None, json: args.json, quiet: args.quiet };
    if run_dir.is_finished() && settings.plan.stop == before {
        return show_again(args, &job, &output);
    }
    run_dir.begin(&job)?;
    let command = report_page::by_config(&args.run);
    conclude(&job, Some(run_dir), &output, command)
}

fn limits(before: Stop, args: &ResumeArgs) -> Stop {
    Stop {
        max_steps: args.max_steps.map_or(before.max_steps, |n| n as u64),
        max_evaluations: args.max_evals.unwrap_or(before.max_evaluations),
        max_seconds: args.max_seconds.or(before.max_seconds),
        remaining_nats: args.tolerance.unwrap_or(before.remaining_nats),
    }
}

/// Says that there is nothing to be done, and prints the fit again.
fn show_again(args: &ResumeArgs, job: &Job, output: &OutputSettings) -> Result<Outcome, Failure> {
    let posterior = Kept::open(&args.run)?.posterior;
    let mut report = Report::of_kept(job, posterior)?;
    report.run_dir = Some(args.run.clone());
    if !output.quiet && !output.json {
        let shown = args.run.display();
        let command = format!("elinvar resume {}", shell::word(&args.run));
        let sentence = match report.posterior.stop_reason() {
            StopReason::MaxSteps => format!("a limit has ended this fit: {command} --max-steps N continues it"),
            StopReason::MaxEvaluations => format!("a limit has ended this fit: {command} --max-evals N continues it"),
            StopReason::MaxSeconds => format!("a limit has ended this fit: {command} --max-seconds T continues it"),
            _ => "this fit is finished; here it is again".into(),
        };
        // What cannot be said is not worth an error.
        let _ = writeln!(std::io::stderr(), "{shown}: {sentence}");
    }
    show(job, &report, output)?;
    Ok(outcome(&report))
}
