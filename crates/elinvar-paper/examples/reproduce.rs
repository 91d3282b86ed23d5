//! `reproduce <name>|all [--quick] [--paper-settings] [--seed N] [--out DIR] [--data DIR]`: runs experiments and writes their folders.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use elinvar_paper::{EXPERIMENTS, Existing, Experiment, Settings, write};

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(4),
        Err(problem) => {
            eprintln!("error: {problem}");
            ExitCode::from(2)
        }
    }
}

/// Whether every expectation was met.
fn run() -> Result<bool, String> {
    let (mut settings, mut out, mut names) = (Settings::default(), PathBuf::from("reproduced"), Vec::new());
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("{argument} needs a value"));
        match argument.as_str() {
            "--quick" => settings.quick = true,
            "--paper-settings" => settings.paper_settings = true,
            "--seed" => settings.seed = value()?.parse().map_err(|e| format!("--seed: {e}"))?,
            "--out" => out = value()?.into(),
            "--data" => settings.data = Some(value()?.into()),
            _ => names.push(argument),
        }
    }
    let chosen = |experiment: &&Experiment| names.iter().any(|name| name == "all" || name == experiment.name);
    let chosen: Vec<&Experiment> = EXPERIMENTS.iter().filter(chosen).collect();
    if chosen.is_empty() {
        EXPERIMENTS.iter().for_each(|experiment| println!("{:<22} {}", experiment.name, experiment.about));
        return Err("name an experiment of this list, or all".into());
    }
    let mut met = true;
    for experiment in chosen {
        let settings =
            Settings { paper_settings: settings.paper_settings && experiment.has_paper_settings, ..settings.clone() };
        let clock = Instant::now();
        let findings = (experiment.run)(&settings, &mut |line| eprintln!("  {line}"))
            .map_err(|e| format!("{}: {e}", experiment.name))?;
        let comparison = experiment.compare(&settings, &findings).map_err(|e| e.to_string())?;
        write(&out.join(experiment.name), experiment, &settings, &findings, &comparison, Existing::ReplaceResult)
            .map_err(|e| e.to_string())?;
        println!("{} ({:.0} s)", experiment.name, clock.elapsed().as_secs_f64());
        comparison.lines.iter().for_each(|line| println!("  {line}"));
        met &= comparison.is_met();
    }
    Ok(met)
}
