//! The tasks, as lists of commands, and the loop that runs them.

use std::fmt;
use std::process::Command;
use std::time::Instant;

/// A thing that can be asked for.
pub(crate) struct Task {
    /// What is typed.
    pub(crate) name: &'static str,
    /// The argument, as the help shows it; in brackets if it can be left out.
    pub(crate) argument: Option<&'static str>,
    /// One line for the help.
    pub(crate) about: &'static str,
    /// The commands, in order, for the arguments that follow the name.
    pub(crate) commands: fn(&[String]) -> Vec<Call>,
}

impl Task {
    /// Says what is wrong with the arguments that follow the name, if anything is.
    pub(crate) fn check(&self, rest: &[String]) -> Result<(), String> {
        let words = || self.argument.into_iter().flat_map(|argument| argument.split(' '));
        if let Some(needed) = words().filter(|word| !word.starts_with('[')).nth(rest.len()) {
            return Err(format!("\"{}\" needs {needed}", self.name));
        }
        let allowed = words().count();
        match rest.get(allowed) {
            Some(extra) => Err(format!("\"{}\" does not take the argument \"{extra}\"", self.name)),
            None => Ok(()),
        }
    }
}

/// All tasks.
pub(crate) const TASKS: &[Task] = &[
    Task {
        name: "test",
        argument: Some("[--rust]"),
        about: "everything that must pass before a commit: format, lints, tests, docs, Python; --rust: without Python",
        commands: |_| [format_check(), lint(), vec![no_default_features()], tests(), docs()].concat(),
    },
    Task { name: "fmt", argument: None, about: "formats all sources", commands: |_| vec![format_sources("")] },
    Task { name: "lint", argument: None, about: "clippy with warnings as errors", commands: |_| lint() },
    Task { name: "docs", argument: None, about: "the documentation, private items included", commands: |_| docs() },
    Task {
        name: "bench",
        argument: Some("[name]"),
        about: "runs a benchmark program (default: step) with optimisation",
        commands: |rest| vec![bench(rest.first().map_or("step", String::as_str))],
    },
    Task {
        name: "bits",
        argument: Some("[name|--write]"),
        about: "whole fits (those with the name in theirs) bit for bit against the recording, or a new recording",
        commands: |rest| {
            // `cargo run` would build the linear algebra again, with the features of one package.
            let build = cargo("build --workspace --all-features --bin elinvar-checks");
            let mut bits = Call { program: Some("elinvar-checks"), ..cargo("bits") };
            bits.arguments.extend(rest.iter().cloned());
            vec![build, bits]
        },
    },
    Task {
        name: "accuracy",
        argument: None,
        about: "the slow statistical checks",
        commands: |_| {
            vec![Call {
                environment: Some(("ELINVAR_ACCURACY", "full".into())),
                ..cargo("test --release -p elinvar --all-features --test fits accuracy:: -- --nocapture")
            }]
        },
    },
    Task {
        name: "browser",
        argument: None,
        about: "reports in a real browser; needs node, npm and Chromium",
        commands: |_| {
            let of = |package: &str, program: &str| Call {
                environment: Some(("ELINVAR_BROWSER_TESTS", "1".into())),
                ..cargo(&format!("test -p {package} --all-features --test {program} browser:: -- --include-ignored"))
            };
            vec![of("elinvar-report", "pages"), of("elinvar-cli", "commands")]
        },
    },
    Task {
        name: "fuzz",
        argument: Some("READER AMOUNT [SEED] [--write]"),
        about: "damaged files for a reader, or for all, for so many seconds or 1000000x; --write: into docs/fuzz.md",
        commands: |rest| {
            let build = cargo("build --workspace --all-features --bin elinvar-fuzz");
            vec![build, Call { program: Some("elinvar-fuzz"), environment: None, arguments: rest.to_vec() }]
        },
    },
    Task {
        name: "kills",
        argument: Some("N"),
        about: "so many kills at random moments of fits, continuations, reports and samples; writes docs/kills.md",
        commands: |rest| {
            let count = rest.first().cloned().unwrap_or_default();
            let program = "test -p elinvar-cli --all-features --test commands";
            let tests = cargo(&format!("{program} kills:: -- --nocapture --test-threads 1"));
            vec![Call { environment: Some(("ELINVAR_KILLS", count)), ..tests }]
        },
    },
    Task {
        name: "package",
        argument: None,
        about: "the library as it would be published, built from the packaged files alone",
        commands: |_| vec![cargo("package -p elinvar --all-features --locked")],
    },
    Task {
        name: "hand-over",
        argument: None,
        about: "the example that hands a fit to nuts-rs; fails where the means differ or little is saved",
        commands: |_| vec![cargo("run --release --manifest-path examples/hand_over_to_nuts/Cargo.toml")],
    },
    Task {
        name: "posteriordb",
        argument: Some("DIR"),
        about: "default fits against the reference draws in DIR; writes docs/posteriordb.md",
        commands: |rest| {
            let folder: Vec<&str> = rest.iter().map(String::as_str).collect();
            vec![check("posteriordb", &folder)]
        },
    },
    Task {
        name: "references",
        argument: None,
        about: "default fits of tables against rstanarm and others; writes docs/references.md",
        commands: |_| {
            let tests = cargo("test -p elinvar-cli --all-features --test commands references:: -- --nocapture");
            vec![Call { environment: Some(("ELINVAR_REFERENCES", "all".into())), ..tests }]
        },
    },
    Task {
        name: "defaults",
        argument: Some("[means.csv]"),
        about: "the default plan on problems with a known KL divergence; writes docs/defaults.md",
        commands: |rest| {
            let means = rest.first().map(|path| ["--means", path.as_str()]);
            vec![check("defaults", means.as_ref().map_or(&[], |means| &means[..]))]
        },
    },
    Task {
        name: "answers",
        argument: Some("[DIR]"),
        about: "what `auto` gives and costs, corrected and not, on the posteriordb of DIR too; writes docs/answers.md",
        commands: |rest| {
            let folder = rest.first().map(|path| [path.as_str()]);
            vec![check("answers", folder.as_ref().map_or(&[], |folder| &folder[..]))]
        },
    },
    Task {
        name: "calibrate",
        argument: None,
        about: "the verdict of fits against the truth; writes docs/trust.md",
        commands: |_| vec![check("calibrate", &[])],
    },
    Task {
        name: "attack",
        argument: Some("[class]"),
        about: "problems that were made to deceive (those of the class alone); writes docs/calibration.md",
        commands: |rest| {
            let only = rest.first().map(|class| ["--only", class.as_str()]);
            vec![check("attack", only.as_ref().map_or(&[], |only| &only[..]))]
        },
    },
    Task {
        name: "chains",
        argument: Some("[D]"),
        about: "corrections by chains against the truth, regressions up to D coordinates (200); writes docs/chains.md",
        commands: |rest| {
            let large = rest.first().map(|d| ["--large", d.as_str()]);
            vec![check("chains", large.as_ref().map_or(&[], |large| &large[..]))]
        },
    },
    Task {
        name: "affine",
        argument: None,
        about: "fits in rescaled and rotated coordinates; writes docs/affine.md",
        commands: |_| vec![check("affine", &[])],
    },
    Task {
        name: "evaluations",
        argument: Some("[DIR] [TABLES]"),
        about: "what a Gaussian costs, on the posteriordb of DIR and the tables of TABLES too; writes docs/evaluations.md",
        commands: |rest| {
            let folders = ["--posteriordb", "--tables"].into_iter().zip(rest);
            let words: Vec<&str> = folders.flat_map(|(option, path)| [option, path.as_str()]).collect();
            vec![check("evaluations", &words)]
        },
    },
    Task {
        name: "scaling",
        argument: None,
        about: "how fits grow with N, d and K; writes docs/scaling.md",
        commands: |_| vec![check("scaling", &[])],
    },
    Task {
        name: "recover",
        argument: None,
        about: "every family on a member of itself, and against ordinary gradients; writes docs/families.md",
        commands: |_| vec![check("recover", &[])],
    },
    Task {
        name: "contains",
        argument: None,
        about: "families that contain the Gaussian against it; writes docs/containing.md",
        commands: |_| vec![check("contains", &[])],
    },
    Task {
        name: "directions",
        argument: None,
        about: "skewness in several directions against one; writes docs/directions.md",
        commands: |_| vec![check("directions", &[])],
    },
    Task {
        name: "remarks",
        argument: None,
        about: "the paper's remarks on which estimator works better, as printed fits; writes docs/remarks.md",
        commands: |_| vec![check("remarks", &[])],
    },
    Task {
        name: "reproduce",
        argument: Some("[name]"),
        about: "quick runs of the paper's experiments (default: all) against what is expected of them",
        commands: |rest| {
            let name = rest.first().map_or("all", String::as_str);
            vec![cargo(&format!("run -p elinvar-cli -- reproduce {name} --quick --out target/reproduced"))]
        },
    },
    Task {
        name: "paper",
        argument: Some("DIR"),
        about: "full runs of the paper's experiments with the covtype.parquet and boston.csv of DIR; writes docs/paper/",
        commands: |rest| {
            let program = "run --release -p elinvar-cli -- reproduce";
            let mut full = cargo(&format!("{program} all --out docs/paper --data"));
            full.arguments.extend(rest.iter().cloned());
            let names = "figure-beta-binomial figure-skew-2d";
            vec![full, cargo(&format!("{program} {names} --paper-settings --out docs/paper/authors"))]
        },
    },
];

/// A check of `elinvar-checks` that writes its page of docs/.
fn check(name: &str, arguments: &[&str]) -> Call {
    let page = match name {
        "calibrate" => "trust",
        "recover" => "families",
        "contains" => "containing",
        "attack" => "calibration",
        name => name,
    };
    let mut command = cargo(&format!("run --release -p elinvar-checks -- {name} --write docs/{page}.md"));
    command.arguments.extend(arguments.iter().map(|argument| (*argument).to_string()));
    command
}

fn format_check() -> Vec<Call> {
    vec![format_sources(" --check")]
}

/// Modules that a list of the library makes are not found by following `mod` lines: those files are named.
fn format_sources(option: &str) -> Call {
    let mut command = cargo(&format!("fmt --all{option} --"));
    let folder = "crates/elinvar/src/component";
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../");
    let entries = std::fs::read_dir(format!("{root}{folder}")).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    let sources = names.iter().filter(|name| name.ends_with(".rs"));
    command.arguments.extend(sources.map(|name| format!("{folder}/{name}")));
    command
}

fn lint() -> Vec<Call> {
    vec![cargo("clippy --workspace --all-targets --all-features -- -D warnings")]
}

fn no_default_features() -> Call {
    cargo("check -p elinvar --no-default-features")
}

/// Without the examples, which the lints have checked already: each would be optimised and linked, and then not run.
fn tests() -> Vec<Call> {
    ["--tests", "--doc"].map(|kind| cargo(&format!("test --workspace --all-features {kind}"))).to_vec()
}

fn docs() -> Vec<Call> {
    let all = cargo("doc --workspace --no-deps --all-features --document-private-items");
    vec![Call { environment: Some(("RUSTDOCFLAGS", "-D warnings".into())), ..all }]
}

fn bench(name: &str) -> Call {
    cargo(&format!("bench -p elinvar --all-features --bench {name}"))
}

/// A call of cargo, or of a program that an earlier call has built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Call {
    /// The program, which is where this one is; `None` for cargo.
    program: Option<&'static str>,
    environment: Option<(&'static str, String)>,
    arguments: Vec<String>,
}

fn cargo(arguments: &str) -> Call {
    Call { program: None, environment: None, arguments: arguments.split(' ').map(str::to_string).collect() }
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((name, value)) = &self.environment {
            write!(f, "{name}=\"{value}\" ")?;
        }
        write!(f, "{} {}", self.program.unwrap_or("cargo"), self.arguments.join(" "))
    }
}

/// How a task ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Every command succeeded.
    Passed,
    /// A command failed, and the rest were not run.
    Failed,
}

/// Prints and runs the commands until one fails; ends with a line that says how it went and how long it took.
pub(crate) fn run(task: &str, commands: &[Call]) -> Outcome {
    let start = Instant::now();
    // Under cargo, CARGO is the very cargo that runs us, whatever toolchain that is.
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    for (index, command) in commands.iter().enumerate() {
        eprintln!("\n$ {command}");
        let mut process = match command.program {
            Some(name) => Command::new(std::env::current_exe().unwrap_or_default().with_file_name(name)),
            None => Command::new(&program),
        };
        process.args(&command.arguments).envs(command.environment.clone());
        let problem = match process.status() {
            Ok(status) if status.success() => continue,
            Ok(status) => status.to_string(),
            Err(error) => format!("it could not be started: {error}"),
        };
        let (step, total, seconds) = (index + 1, commands.len(), start.elapsed().as_secs_f64());
        eprintln!("\nxtask {task}: step {step} of {total} failed after {seconds:.1} s: {command} ({problem})");
        return Outcome::Failed;
    }
    let (total, seconds) = (commands.len(), start.elapsed().as_secs_f64());
    eprintln!("\nxtask {task}: all {total} steps passed in {seconds:.1} s");
    Outcome::Passed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_runs_the_gates_in_order() {
        let task = TASKS.iter().find(|task| task.name == "test").unwrap();
        let lines: Vec<String> = (task.commands)(&[]).iter().map(Call::to_string).collect();
        let listed = "crates/elinvar/src/component/von_mises.rs";
        assert!(
            lines[0].starts_with("cargo fmt --all --check -- crates/") && lines[0].contains(listed),
            "{}",
            lines[0]
        );
        assert_eq!(
            lines[1..],
            [
                "cargo clippy --workspace --all-targets --all-features -- -D warnings",
                "cargo check -p elinvar --no-default-features",
                "cargo test --workspace --all-features --tests",
                "cargo test --workspace --all-features --doc",
                "RUSTDOCFLAGS=\"-D warnings\" cargo doc --workspace --no-deps --all-features --document-private-items",
            ]
        );
    }

    #[test]
    fn checks_write_their_pages() {
        let line = |name: &str, rest: &[String]| {
            let task = TASKS.iter().find(|task| task.name == name).unwrap();
            (task.commands)(rest)[0].to_string()
        };
        let program = "cargo run --release -p elinvar-checks --";
        assert_eq!(line("calibrate", &[]), format!("{program} calibrate --write docs/trust.md"));
        let means = ["m.csv".to_string()];
        assert_eq!(line("defaults", &means), format!("{program} defaults --write docs/defaults.md --means m.csv"));
    }

    #[test]
    fn a_program_is_built_before_it_is_called() {
        let task = TASKS.iter().find(|task| task.name == "bits").unwrap();
        let lines: Vec<String> = (task.commands)(&["--write".into()]).iter().map(Call::to_string).collect();
        assert_eq!(
            lines,
            ["cargo build --workspace --all-features --bin elinvar-checks", "elinvar-checks bits --write"]
        );
    }

    #[test]
    fn experiments_are_run_by_name_or_all() {
        let task = TASKS.iter().find(|task| task.name == "reproduce").unwrap();
        let line = |rest: &[String]| (task.commands)(rest)[0].to_string();
        let program = "cargo run -p elinvar-cli -- reproduce";
        assert_eq!(line(&[]), format!("{program} all --quick --out target/reproduced"));
        assert_eq!(line(&["figure-bnn".into()]), format!("{program} figure-bnn --quick --out target/reproduced"));
        let task = TASKS.iter().find(|task| task.name == "paper").unwrap();
        assert!(task.check(&[]).unwrap_err().contains("DIR"));
        let full = &(task.commands)(&["my data".into()])[0];
        assert_eq!(full.arguments[full.arguments.len() - 2..], ["--data", "my data"]);
    }

    #[test]
    fn an_argument_that_a_task_needs_is_asked_for() {
        let task = TASKS.iter().find(|task| task.name == "posteriordb").unwrap();
        assert!(task.check(&[]).unwrap_err().contains("DIR"));
        let folder = ["a folder".to_string()];
        assert!(task.check(&folder).is_ok());
        assert_eq!((task.commands)(&folder)[0].arguments.last().unwrap(), "a folder");
    }

    #[test]
    fn arguments_that_a_task_does_not_take_are_refused() {
        for task in TASKS {
            let most = task.argument.map_or(0, |argument| argument.split(' ').count());
            let given = vec!["now".to_string(); most + 1];
            assert!(task.check(&given[..most]).is_ok() && task.check(&given).is_err(), "{}", task.name);
        }
    }
}
