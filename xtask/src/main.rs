//! `cargo xtask <name>`: one command for each thing a developer or CI needs.

mod commands;
mod compile_time;
#[cfg(test)]
mod documents;
#[cfg(test)]
mod house;
mod lines;
mod picture;
mod processors;
mod python;
mod reproducible;
#[cfg(test)]
mod supply;
#[cfg(test)]
mod surface;
mod tree;

use std::env;
use std::process::{Command, ExitCode};

use commands::{Outcome, TASKS, run};

/// Exit code of a wrong command line, as in the `elinvar` program.
const USAGE: u8 = 2;

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    if let Some(code) = compile_time::wrap(&arguments) {
        return code;
    }
    let name = arguments.first().map_or("help", String::as_str);
    let rest = arguments.get(1..).unwrap_or_default();
    if matches!(name, "help" | "--help" | "-h") {
        eprint!("{}", help());
        return ExitCode::SUCCESS;
    }
    if name == "lines" && rest.is_empty() {
        return ended("lines", lines::write());
    }
    if name == "picture" && rest.is_empty() {
        return ended("picture", picture::draw());
    }
    if name == "compile-time" && rest.iter().all(|argument| argument == "--page") {
        return ended(name, if rest.is_empty() { compile_time::measure() } else { compile_time::page() });
    }
    if name == "reproducible" && rest.is_empty() {
        return ended("reproducible", reproducible::check());
    }
    if name == "release" && rest.is_empty() {
        let built = reproducible::build(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..").as_path(), "dist");
        return ended("release", built.map(|path| eprintln!("{}", path.display())));
    }
    if let ("processors", [qemu]) = (name, rest) {
        return ended("processors", processors::compare(qemu));
    }
    if let ("semver", [revision]) = (name, rest) {
        return ended("semver", semver(revision));
    }
    if name == "python" && rest.iter().all(|argument| argument == "--all") {
        return test_python(!rest.is_empty(), true);
    }
    if name == "bench" && rest.first().is_some_and(|of| of == "python") && rest[1..].iter().all(|all| all == "--all") {
        return ended("bench python", python::bench(rest.len() > 1));
    }
    if name == "gallery" && rest.is_empty() {
        return ended("gallery", python::gallery());
    }
    if let ("peers", [collection, tables]) = (name, rest) {
        return ended("peers", python::peers(collection, tables));
    }
    if name == "scale" && rest.iter().all(|argument| argument == "--short") {
        return ended("scale", python::scale(!rest.is_empty()));
    }
    let Some(task) = TASKS.iter().find(|task| task.name == name) else {
        eprint!("xtask: there is no task \"{name}\"; choose one of these:\n\n{}", help());
        return ExitCode::from(USAGE);
    };
    let unknown = rest.first().filter(|argument| name == "test" && *argument != "--rust");
    let refused = unknown.map(|argument| format!("\"test\" does not take the argument \"{argument}\""));
    if let Some(problem) = task.check(rest).err().or(refused) {
        eprint!("xtask: {problem}; see:\n\n{}", help());
        return ExitCode::from(USAGE);
    }
    match run(name, &(task.commands)(rest)) {
        Outcome::Passed if name == "test" && rest.is_empty() => test_python(false, env::var_os("CI").is_some()),
        Outcome::Passed => ExitCode::SUCCESS,
        Outcome::Failed => ExitCode::FAILURE,
    }
}

/// The tests of the Python package; where there is no Python they fail if it is needed.
fn test_python(all: bool, needed: bool) -> ExitCode {
    match python::test(all) {
        Ok(python::Tested::NoPython) if !needed => {
            eprintln!("\nxtask python: not run, because {}", python::MISSING);
            ExitCode::SUCCESS
        }
        Ok(python::Tested::NoPython) => ended("python", Err(python::MISSING.to_string())),
        Ok(python::Tested::Passed) => ended("python", Ok(())),
        Err(problem) => ended("python", Err(problem)),
    }
}

/// Signatures of the library against those of a commit, by a program that has to be installed.
fn semver(revision: &str) -> Result<(), String> {
    let cargo = |arguments: &[&str]| {
        let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        command.arg("semver-checks").args(arguments);
        command
    };
    if !cargo(&["--version"]).output().is_ok_and(|output| output.status.success()) {
        return Err("it needs cargo-semver-checks: `cargo install cargo-semver-checks --locked`".into());
    }
    let checked = cargo(&["-p", "elinvar", "--all-features", "--baseline-rev", revision]).status();
    match checked {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err(format!("what the library promised at {revision} is not kept; say so in CHANGELOG.md")),
        Err(problem) => Err(problem.to_string()),
    }
}

/// Says how a task ended that is not a list of commands.
fn ended(task: &str, result: Result<(), String>) -> ExitCode {
    match result {
        Ok(()) => {
            eprintln!("\nxtask {task}: passed");
            ExitCode::SUCCESS
        }
        Err(problem) => {
            eprintln!("\nxtask {task}: failed: {problem}");
            ExitCode::FAILURE
        }
    }
}

fn help() -> String {
    let mut text = String::from("cargo xtask <task>\n\n");
    for task in TASKS {
        text += &format!("  {:<16} {}\n", format!("{} {}", task.name, task.argument.unwrap_or_default()), task.about);
    }
    text +=
        &format!("  {:<16} {}\n", "python [--all]", "the Python package: wheel and tests; --all: with every front end");
    text += &format!("  {:<16} {}\n", "gallery", "models of PyMC's, NumPyro's and Stan's galleries; docs/gallery.md");
    let about = "gradients of elinvar and of its peers, on posteriordb and tables; docs/peers.md";
    text += &format!("  {:<16} {about}\n", "peers DIR TABLES");
    let about = "rows beyond memory and one machine, against reading and products; docs/scale.md; --short: few rows";
    text += &format!("  {:<16} {about}\n", "scale [--short]");
    text += &format!("  {:<16} {}\n", "lines", "how many lines each module and crate has; docs/lines.md");
    text += &format!("  {:<16} {}\n", "picture", "draws what `elinvar fit` prints into docs/fit.svg");
    text +=
        &format!("  {:<16} {}\n", "release", "the program as it is given to others, without the paths of its folders");
    text += &format!("  {:<16} {}\n", "reproducible", "the last commit built in two folders: the same bits");
    let about = "processor seconds of compiling a program that depends on the library; docs/compile-time.md";
    text += &format!("  {:<16} {about}\n", "compile-time");
    let about = "signatures of the library against those of a commit; needs cargo-semver-checks";
    text += &format!("  {:<16} {about}\n", "semver REV");
    let about = "fits on other processors, played by QEMU; writes docs/processors.md";
    text += &format!("  {:<16} {about}\n", "processors QEMU");
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
