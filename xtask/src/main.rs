//! `cargo xtask <name>`: one command for each thing a developer or CI needs.

mod commands;
#[cfg(test)]
mod documents;
#[cfg(test)]
mod house;
mod picture;
#[cfg(test)]
mod supply;
#[cfg(test)]
mod surface;
#[cfg(test)]
mod tree;

use std::env;
use std::process::ExitCode;

use commands::{Outcome, TASKS, run};

/// Exit code of a wrong command line, as in the `elinvar` program.
const USAGE: u8 = 2;

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let name = arguments.first().map_or("help", String::as_str);
    let rest = arguments.get(1..).unwrap_or_default();
    if matches!(name, "help" | "--help" | "-h") {
        eprint!("{}", help());
        return ExitCode::SUCCESS;
    }
    if name == "picture" && rest.is_empty() {
        return match picture::draw() {
            Ok(()) => ExitCode::SUCCESS,
            Err(problem) => {
                eprintln!("xtask picture: {problem}");
                ExitCode::FAILURE
            }
        };
    }
    let Some(task) = TASKS.iter().find(|task| task.name == name) else {
        eprint!("xtask: there is no task \"{name}\"; choose one of these:\n\n{}", help());
        return ExitCode::from(USAGE);
    };
    if let Err(problem) = task.check(rest) {
        eprint!("xtask: {problem}; see:\n\n{}", help());
        return ExitCode::from(USAGE);
    }
    match run(name, &(task.commands)(rest)) {
        Outcome::Passed => ExitCode::SUCCESS,
        Outcome::Failed => ExitCode::FAILURE,
    }
}

fn help() -> String {
    let mut text = String::from("cargo xtask <task>\n\n");
    for task in TASKS {
        text += &format!("  {:<16} {}\n", format!("{} {}", task.name, task.argument.unwrap_or_default()), task.about);
    }
    text += &format!("  {:<16} {}\n", "picture", "draws what `elinvar fit` prints into docs/fit.svg");
    text + &format!("  {:<16} {}\n", "help", "this list")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_lists_every_task_once() {
        let text = help();
        for task in TASKS {
            let lines = text.lines().filter(|line| line.split_whitespace().next() == Some(task.name));
            assert_eq!(lines.count(), 1, "{}", task.name);
        }
    }
}
