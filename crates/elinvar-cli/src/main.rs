//! The `elinvar` command: fits Bayesian models and samples what was fitted.

#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod args;
mod checkpoints;
mod choice;
mod colour;
mod compare;
mod completions;
mod data;
mod diagnose;
mod effects;
mod error;
mod figure_names;
mod fit;
mod fit_args;
mod flags;
mod inits;
mod loo;
mod man;
mod note;
mod passes;
mod predict;
mod print;
mod progress;
mod report;
mod reproduce;
mod resume;
mod run_args;
mod sample;
mod screen;
mod signal;
mod tip;

use std::io::Write as _;
use std::panic::{self, PanicHookInfo};
use std::process::ExitCode;

use clap::Parser as _;
use elinvar::posterior::Verdict;

use args::{Cli, Command};

/// How a command that did its work ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Done,
    NotConverged,
    NotTrusted,
    Interrupted,
}

impl Outcome {
    /// How a command ends that has judged a fit.
    fn of(converged: bool, verdict: Verdict) -> Self {
        match (converged, verdict) {
            (false, _) => Outcome::NotConverged,
            (true, Verdict::Trust) => Outcome::Done,
            (true, _) => Outcome::NotTrusted,
        }
    }
}

/// Exit codes; 1 is left to the system.
mod code {
    pub(crate) const USAGE: u8 = 2;
    pub(crate) const NOT_CONVERGED: u8 = 3;
    pub(crate) const NOT_TRUSTED: u8 = 4;
    pub(crate) const MODEL: u8 = 5;
    pub(crate) const FAULT: u8 = 70;
    /// What shells say of a program that Ctrl-C has ended.
    pub(crate) const INTERRUPTED: u8 = 130;
}

fn main() -> ExitCode {
    panic::set_hook(Box::new(|info| {
        // A damaged file that another's reader stumbles over is answered by a sentence of its own.
        if !elinvar_data::is_guarded() {
            say(&fault_sentence(info));
        }
    }));
    // Unwinding, not exiting from the hook: temporary folders are removed on the way.
    panic::catch_unwind(run).unwrap_or(ExitCode::from(code::FAULT))
}

fn run() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            let error = tip::mended(error);
            // Nothing can be said if the terminal is gone.
            let _ = error.print();
            return if error.use_stderr() { ExitCode::from(code::USAGE) } else { ExitCode::SUCCESS };
        }
    };
    let outcome = match &cli.command {
        Command::Fit(args) => fit::run(args),
        Command::Data(args) => data::run(args),
        Command::Resume(args) => resume::run(args),
        Command::Sample(args) => sample::run(args),
        Command::Report(args) => report::run(args),
        Command::Diagnose(args) => diagnose::run(args),
        Command::Compare(args) => compare::run(args),
        Command::Effects(args) => effects::run(args),
        Command::Predict(args) => predict::run(args),
        Command::Loo(args) => loo::run(args),
        Command::Inits(args) => inits::run(args),
        Command::Completions(args) => completions::run(args),
        Command::Man(args) => man::run(args),
        Command::Reproduce(args) => reproduce::run(args),
    };
    match outcome {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::NotConverged) => ExitCode::from(code::NOT_CONVERGED),
        Ok(Outcome::NotTrusted) => ExitCode::from(code::NOT_TRUSTED),
        Ok(Outcome::Interrupted) => ExitCode::from(code::INTERRUPTED),
        Err(failure) => {
            say(&failure.to_string());
            ExitCode::from(if failure.is_of_model() { code::MODEL } else { code::USAGE })
        }
    }
}

fn say(sentence: &str) {
    // A closed stderr is no reason to fail.
    let _ = writeln!(std::io::stderr(), "error: {sentence}");
}

fn fault_sentence(info: &PanicHookInfo<'_>) -> String {
    let payload = info.payload();
    let text = payload.downcast_ref::<&str>().copied().or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    let message = text.unwrap_or("no message");
    let place = info.location().map_or(String::new(), |at| format!(", {}:{}", at.file(), at.line()));
    format!(
        "elinvar made a mistake of its own and stopped; files are as they were, or whole, and a fit with --out can be \
         resumed. Please report the command and this: {message}{place}"
    )
}
