//! `elinvar effects`: how the mean response of a kept regression changes with one column.

use std::io;
use std::path::PathBuf;

use clap::Args;
use elinvar_analysis::effects::{Asked, Effects};
use elinvar_analysis::place::Place;
use elinvar_analysis::settings::value::{at_least_one, percent, seed};
use elinvar_analysis::{Error, Kept};

use crate::Outcome;
use crate::error::Failure;
use crate::print::print;

pub(crate) const EXAMPLES: &str = "\
Examples:
  elinvar effects run1 --by age                            the mean response over the ages of the table, with 95 % intervals
  elinvar effects run1 --by age --png age.png              the same as a picture; --svg for papers, --csv for other programs
  elinvar effects run1 --by site --at age=50 --at sex=f    other columns held where you say

Columns of numbers are held at their mean and categories at their reference unless --at says otherwise. A column of numbers is
varied from its smallest to its largest value, or over its values if it has at most six; a category over its levels. Of more than
two classes the probability of each is shown; of trials the share of events. The data of the fit must be where they were.";

#[derive(Debug, Args)]
pub(crate) struct EffectsArgs {
    /// Folder written by `elinvar fit --out`
    #[arg(value_name = "DIR")]
    run: PathBuf,
    /// The column that is varied
    #[arg(long, value_name = "COLUMN")]
    by: String,
    /// Hold a column at this value; again for others
    #[arg(long, value_name = "COLUMN=VALUE", value_parser = held)]
    at: Vec<(String, String)>,
    /// Probability of the intervals, in percent
    #[arg(long, value_name = "P", default_value = "95", value_parser = percent, allow_hyphen_values = true)]
    interval: f64,
    /// Draws of the answer [default: 4000, or as many states as chains have kept]
    #[arg(long, value_name = "N", value_parser = at_least_one, allow_negative_numbers = true)]
    draws: Option<usize>,
    /// Seed of the draws
    #[arg(long, value_name = "S", default_value = "1", value_parser = seed, allow_negative_numbers = true)]
    seed: u64,
    /// Write a line for each value to this new CSV file
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Draw it into this new SVG file
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Draw it into this new PNG file, three pixels for each of its natural size
    #[arg(long, value_name = "FILE")]
    png: Option<PathBuf>,
    /// Print one JSON object and nothing else
    #[arg(long)]
    json: bool,
}

fn held(text: &str) -> Result<(String, String), String> {
    let pair = text.split_once('=').ok_or("a column is held by COLUMN=VALUE, such as age=50")?;
    Ok((pair.0.trim().into(), pair.1.trim().into()))
}

/// Computes, writes what was asked for, and prints.
pub(crate) fn run(args: &EffectsArgs) -> Result<Outcome, Failure> {
    let place = |path: &Option<PathBuf>, flag: &'static str| {
        let place = |path: &PathBuf| Place::named_by(path, Some(flag)).map(|place| (place, path.clone(), flag));
        path.as_ref().map(place).transpose()
    };
    // Before anything is computed.
    let (csv, svg, png) = (place(&args.csv, "--csv")?, place(&args.svg, "--svg")?, place(&args.png, "--png")?);
    let asked = Asked {
        by: args.by.clone(),
        at: args.at.clone(),
        interval: args.interval / 100.0,
        draws: args.draws,
        seed: args.seed,
    };
    let effects = Effects::new(&Kept::open(&args.run)?, &asked)?;
    let unwritable = |(path, flag): (&PathBuf, &'static str), e: &io::Error| Error::Unwritable {
        path: path.clone(),
        kind: e.kind(),
        flag,
    };
    if let Some((place, path, flag)) = &csv {
        place.write(|out| effects.write_csv(out)).map_err(|e| unwritable((path, flag), &e))?;
    }
    if let Some((place, path, flag)) = &svg {
        let bytes = effects.figure().svg().into_bytes();
        place.write(|out| out.write_all(&bytes)).map_err(|e| unwritable((path, flag), &e))?;
    }
    if let Some((place, path, flag)) = &png {
        let bytes = pixels(&effects)?;
        place.write(|out| out.write_all(&bytes)).map_err(|e| unwritable((path, flag), &e))?;
    }
    print(&if args.json { effects.json() } else { effects.page() })?;
    Ok(Outcome::Done)
}

#[cfg(feature = "png")]
fn pixels(effects: &Effects) -> Result<Vec<u8>, Failure> {
    /// Pixels for each of the figure's natural size.
    const SCALE: f32 = 3.0;
    effects.figure().png(SCALE).map_err(|e| Failure::input(e.to_string()))
}

#[cfg(not(feature = "png"))]
fn pixels(_: &Effects) -> Result<Vec<u8>, Failure> {
    Err(Failure::input("this program was built without PNG; use --svg, which papers take as well"))
}
