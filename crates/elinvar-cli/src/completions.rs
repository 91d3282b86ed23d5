//! `elinvar completions`: what a shell needs to complete commands and flags.

use crate::error::Failure;
use clap::CommandFactory as _;

use crate::Outcome;
use crate::args::Cli;
use crate::print::print_with;
use crate::run_args::CompletionsArgs;

/// Prints the script.
pub(crate) fn run(args: &CompletionsArgs) -> Result<Outcome, Failure> {
    // Into memory first: the generator does not expect a pipe to close.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "elinvar", &mut script);
    print_with(|out| out.write_all(&script))?;
    Ok(Outcome::Done)
}
