//! What to type instead of a flag that is not there.
//!
//! The parser proposes flags that have a few letters in common (`--no-intercept` for `--iter`). Here a flag is proposed
//! that means what was typed, or that is spelled nearly so.

use clap::CommandFactory as _;
use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use elinvar_data::nearest;

use crate::args::Cli;

/// Words of other programs, and the flags that mean them.
const MEANT: [(&str, &str); 22] = [
    ("--iter", "--max-steps"),
    ("--iters", "--max-steps"),
    ("--iterations", "--max-steps"),
    ("--max-iter", "--max-steps"),
    ("--steps", "--max-steps"),
    ("--response", "--target"),
    ("--outcome", "--target"),
    ("--label", "--target"),
    ("--columns", "--features"),
    ("--predictors", "--features"),
    ("--drop", "--exclude"),
    ("--holdout", "--test-fraction"),
    ("--test-size", "--test-fraction"),
    ("--output", "--out"),
    ("--force", "--overwrite"),
    ("--draws", "--diagnostic-draws"),
    ("--samples", "--diagnostic-draws"),
    ("--learning-rate", "--step-size"),
    ("--batch-size", "--minibatch"),
    ("--diagonal", "--mean-field"),
    ("--standardise", "--standardize"),
    ("--random-state", "--seed"),
];

/// The error with a tip that makes sense, or without one.
pub(crate) fn mended(mut error: clap::Error) -> clap::Error {
    if error.kind() != ErrorKind::UnknownArgument {
        return error;
    }
    let Some(ContextValue::String(typed)) = error.get(ContextKind::InvalidArg).cloned() else { return error };
    let had_tip = error.remove(ContextKind::SuggestedArg).is_some();
    let tip = tip(&typed);
    if had_tip || tip.is_some() {
        // What goes with the parser's own tip: its advice, and a usage that names the flag.
        error.remove(ContextKind::Suggested);
        error.remove(ContextKind::Usage);
        if let Some(usage) = usage() {
            error.insert(ContextKind::Usage, ContextValue::StyledStr(usage));
        }
        if let Some(flag) = tip {
            error.insert(ContextKind::SuggestedArg, ContextValue::String(flag));
        }
    }
    error
}

/// How the command that was typed is used.
fn usage() -> Option<StyledStr> {
    let mut command = Cli::command();
    command.build();
    Some(command.find_subcommand_mut(typed_command())?.render_usage())
}

fn typed_command() -> String {
    std::env::args().nth(1).unwrap_or_default()
}

/// The flag that is meant, of those that the command has.
fn tip(typed: &str) -> Option<String> {
    let word = typed.split_once('=').map_or(typed, |(flag, _)| flag);
    let command = Cli::command();
    let flags: Vec<String> = command
        .find_subcommand(typed_command())
        .into_iter()
        .flat_map(|command| command.get_arguments().filter_map(|arg| arg.get_long()))
        .map(|flag| format!("--{flag}"))
        .collect();
    let meant = MEANT.iter().find(|(other, _)| *other == word).map(|(_, flag)| *flag);
    let has = |flag: &str| flags.iter().any(|known| known == flag);
    meant.filter(|flag| has(flag)).or_else(|| nearest(word, flags.iter().map(String::as_str))).map(str::to_owned)
}
