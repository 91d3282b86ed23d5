//! `elinvar reproduce`: the paper's experiments, each against numbers that can fail.

use std::io::{IsTerminal as _, Write as _};
use std::time::Instant;

use crate::error::Failure;
use elinvar_analysis::number::duration;
use elinvar_data::nearest;
use elinvar_paper::{EXPERIMENTS, Existing, Experiment, Settings, experiment, write};

use crate::Outcome;
use crate::args::ReproduceArgs;
use crate::print::print;

/// The word for every experiment.
const ALL: &str = "all";

/// Runs the experiments that are named.
pub(crate) fn run(args: &ReproduceArgs) -> Result<Outcome, Failure> {
    if args.list {
        print(&list())?;
        return Ok(Outcome::Done);
    }
    let chosen = chosen(&args.names)?;
    if args.paper_settings
        && let Some(other) = chosen.iter().find(|experiment| !experiment.has_paper_settings)
        && args.names.iter().all(|name| name != ALL)
    {
        return Err(Failure::input(format!(
            "{}: this experiment has no separate run with the authors' settings; leave --paper-settings out",
            other.name
        )));
    }
    // What would be refused at the end is refused before hours of work.
    for experiment in &chosen {
        experiment.check(&settings(experiment, args)).map_err(|e| failure(experiment, &e))?;
        let folder = args.out.join(experiment.name);
        if folder.exists() && !folder.join("numbers.json").is_file() {
            return Err(Failure::input(format!(
                "{}: this folder holds something else; name another place with --out",
                folder.display()
            )));
        }
    }
    let mut missed = 0;
    for experiment in &chosen {
        missed += one(experiment, args)?;
    }
    if chosen.len() > 1 {
        let verdict = match missed {
            0 => "every number is as expected".into(),
            n => format!("{n} numbers are not as expected"),
        };
        print(&format!("{} experiments: {verdict}\n", chosen.len()))?;
    }
    Ok(if missed == 0 { Outcome::Done } else { Outcome::NotTrusted })
}

fn settings(experiment: &Experiment, args: &ReproduceArgs) -> Settings {
    Settings {
        quick: args.quick,
        paper_settings: args.paper_settings && experiment.has_paper_settings,
        data: args.data.clone(),
        seed: args.seed,
    }
}

fn failure(experiment: &Experiment, error: &elinvar_paper::Error) -> Failure {
    Failure::input(format!("{}: {error}", experiment.name))
}

/// The number of expectations that were missed.
fn one(experiment: &Experiment, args: &ReproduceArgs) -> Result<usize, Failure> {
    let settings = settings(experiment, args);
    let failure = |e: elinvar_paper::Error| failure(experiment, &e);
    let clock = Instant::now();
    let shows = !args.quiet;
    let mut tell = |line: &str| {
        if shows {
            // What cannot be shown is not worth an error.
            let _ = writeln!(std::io::stderr(), "  {line}");
        }
    };
    if shows && std::io::stderr().is_terminal() {
        tell(experiment.title);
    }
    let findings = (experiment.run)(&settings, &mut tell).map_err(failure)?;
    let comparison = experiment.compare(&settings, &findings).map_err(failure)?;
    let folder = args.out.join(experiment.name);
    write(&folder, experiment, &settings, &findings, &comparison, Existing::ReplaceResult).map_err(failure)?;
    let mut text = format!("{} ({})\n", experiment.name, duration(clock.elapsed().as_secs_f64()));
    for line in &comparison.lines {
        text += &format!("  {line}\n");
    }
    text += &format!("  kept in {}\n", folder.display());
    print(&text)?;
    Ok(if comparison.lines.is_empty() { 1 } else { comparison.missed() })
}

fn chosen(names: &[String]) -> Result<Vec<&'static Experiment>, Failure> {
    if names.iter().any(|name| name == ALL) {
        return Ok(EXPERIMENTS.iter().collect());
    }
    if names.is_empty() {
        return Err(Failure::input(format!("name an experiment, or all:\n\n{}", list().trim_end())));
    }
    names.iter().map(|name| experiment(name).ok_or_else(|| unknown(name))).collect()
}

fn unknown(name: &str) -> Failure {
    let known = EXPERIMENTS.iter().map(|experiment| experiment.name);
    match nearest(name, known.clone()) {
        Some(meant) => Failure::input(format!("there is no experiment \"{name}\"; did you mean {meant}?")),
        None => {
            let names: Vec<&str> = known.collect();
            Failure::input(format!("there is no experiment \"{name}\"; they are {}", names.join(", ")))
        }
    }
}

fn list() -> String {
    let width = EXPERIMENTS.iter().map(|experiment| experiment.name.len()).max().unwrap_or(0);
    EXPERIMENTS.iter().map(|experiment| format!("{:<width$}   {}\n", experiment.name, experiment.about)).collect()
}
