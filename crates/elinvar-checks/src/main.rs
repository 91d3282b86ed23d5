//! Slow checks against known answers; each prints its table and can write it to `docs/`.

mod affine;
mod answers;
mod arguments;
mod attack;
mod bits;
mod calibrate;
mod chains;
mod contains;
mod defaults;
mod directions;
mod evaluations;
mod families;
mod gradients_only;
mod models;
mod moved;
mod page;
mod pairs;
mod peers;
mod posteriordb;
mod problems;
mod recover;
mod remarks;
mod scaling;
mod threads;
mod truth;

use std::process::ExitCode;

/// A check: its name, one line about it, and what runs it.
struct Check {
    name: &'static str,
    about: &'static str,
    run: fn(&[String]) -> Result<(), String>,
}

const CHECKS: &[Check] = &[
    Check { name: "defaults", about: "the default plan on problems whose KL divergence is known", run: defaults::run },
    Check { name: "calibrate", about: "whether the verdict of a fit agrees with the truth", run: calibrate::run },
    Check {
        name: "attack",
        about: "problems that were made to deceive: [--only TEXT] [--size large] [--record FILE] [--write FILE]",
        run: attack::run,
    },
    Check {
        name: "chains",
        about: "corrections by chains against the truth: [--seeds N] [--only TEXT] [--large D] [--write FILE]",
        run: chains::run,
    },
    Check {
        name: "answers",
        about: "what `auto` gives and what it costs, corrected and not: [DIR of posteriordb] [--seeds N] [--only TEXT]",
        run: answers::run,
    },
    Check {
        name: "peers",
        about: "what peers are compared with: DIR of posteriordb, DIR of tables, FILE [--seeds N] [--only TEXT]",
        run: peers::run,
    },
    Check { name: "affine", about: "whether a fit depends on the coordinates of its target", run: affine::run },
    Check {
        name: "evaluations",
        about: "what a Gaussian costs with Hessians and with gradients only: [--posteriordb DIR] [--tables DIR]",
        run: evaluations::run,
    },
    Check {
        name: "scaling",
        about: "how a fit grows with the data, the dimension and the components",
        run: scaling::run,
    },
    Check {
        name: "recover",
        about: "every family on a member of itself, and against ordinary gradients",
        run: recover::run,
    },
    Check {
        name: "contains",
        about: "whether families that contain the Gaussian end above it, and what they cost",
        run: contains::run,
    },
    Check {
        name: "directions",
        about: "what skewness in several directions gains over one: [--seeds N] [--only TEXT] [--write FILE]",
        run: directions::run,
    },
    Check { name: "remarks", about: "which of two estimators works better, as printed", run: remarks::run },
    Check {
        name: "posteriordb",
        about: "default fits of twelve posteriors against reference draws: DIR [--write FILE] [--seeds N] [--family WORD]",
        run: posteriordb::run,
    },
    Check {
        name: "bits",
        about: "whole fits bit for bit against bits.txt: [--write | part of a name]",
        run: bits::run,
    },
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let name = arguments.first().map_or("help", String::as_str);
    let Some(check) = CHECKS.iter().find(|check| check.name == name) else {
        eprintln!("elinvar-checks <check> [arguments]\n");
        CHECKS.iter().for_each(|check| eprintln!("  {:<14} {}", check.name, check.about));
        return ExitCode::from(2);
    };
    match (check.run)(&arguments[1..]) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("{name}: {problem}");
            ExitCode::FAILURE
        }
    }
}
