//! What a Gaussian costs: evaluations and processor time of default fits, with Hessians and with gradients only.

mod bars;
mod dense;
mod measured;
pub(crate) mod problems;
mod row_expectations;

use std::path::Path;

use elinvar::internals::GradientsOnly;
use elinvar::run::Stop;
use elinvar::{Family, Plan};

use crate::arguments::{number, options};
use crate::page::{Table, publish};
use crate::posteriordb;
use measured::{Measured, Spread, processor_seconds, read, write};
use problems::{Case, cases};

/// Seeds of a slow case.
const FEW_SEEDS: u64 = 2;

fn measure(case: &Case, hessians: bool, seeds: u64, limit: f64) -> Result<Measured, String> {
    let stripped = GradientsOnly(case.target.as_ref());
    let target = if hessians { case.target.as_ref() } else { &stripped };
    let mut fits = Vec::new();
    for seed in 1..=seeds {
        let stop = Stop { max_seconds: Some(limit), ..Stop::default() };
        let plan = Plan { seed, stop, ..Plan::default() };
        let before = processor_seconds();
        let posterior =
            elinvar::run::fit(target, Family::gaussian(), &plan).map_err(|e| format!("{}: {e}", case.name))?;
        let seconds = processor_seconds() - before;
        let (counts, excess) = (posterior.counts(), case.excess(&posterior)?);
        eprintln!(
            "{} {} seed {seed}: {} gradients, {} Hessians, {seconds:.2} s, {excess:.4} nats, {}",
            case.name,
            if hessians { "Hessians" } else { "gradients" },
            counts.gradient,
            counts.hessian,
            posterior.stop_reason()
        );
        fits.push([counts.log_density as f64, counts.gradient as f64, counts.hessian as f64, seconds, excess]);
    }
    let spread = |j: usize| Spread::of(fits.iter().map(|fit| fit[j]).collect());
    let name = format!("{}, {}", case.name, if hessians { "with Hessians" } else { "gradients only" });
    Ok(Measured { name, values: std::array::from_fn(spread) })
}

fn table(now: &[Measured], before: &[Measured]) -> String {
    let mut table = Table::new([
        "problem (d)",
        "log densities",
        "gradients",
        "Hessians",
        "thread seconds",
        "nats to the best",
        "bar",
        "gradients before",
        "seconds before",
        "nats before",
    ]);
    for row in now {
        let earlier = before.iter().find(|other| other.name == row.name);
        let then = |j: usize| earlier.map_or("–".into(), |other| other.shown(j));
        let [a, b, c, d, e] = std::array::from_fn(|j| row.shown(j));
        let bar = bars::shown(&row.name, row.values[1].median);
        table.push([row.name.clone(), a, b, c, d, e, bar, then(1), then(3), then(4)]);
    }
    table.markdown()
}

const INTRODUCTION: &str = "# What a Gaussian costs

`fit(target, Family::gaussian(), &Plan { seed, stop: Stop { max_seconds: 30, .. }, .. })`: median and, in brackets, worst of five seeds
(two for Gaussians and for logistic regressions with d > 100), the search for a start included. A target without Hessians is the same one with
its Hessian hidden. *Nats to the best*: how far the ELBO is below that of the best Gaussian. For logistic regressions with N = 5 d rows
it is ½|Cᵀg|² + ¼‖CᵀHC + I‖² with exact expectations over rows (V = CCᵀ, g = E∇log p, H = E∇²log p), otherwise a difference of two ELBOs
on 400 000 draws, the best Gaussian being the better of two long fits from 256 draws per step, by averages of steps and by residual
scores: differences of 0.002 are noise, and a little below zero is possible. An exact expectation of a regression counts as the gradients
that its work comes to, and as one Hessian. *Bar*: what was aimed at, in gradients of the median seed, and whether it is
met. *Before* is the library without residual scores (contracted Hessians or the Stein estimator,
with windows and reviews).

Written by `cargo xtask evaluations [DIR] [TABLES]`, DIR being a folder with the data of posteriordb, TABLES one with its
regressions sblrc and diamonds as tables; rows that were not asked for are left out.

";

/// `evaluations [--posteriordb DIR] [--tables DIR] [--seeds N] [--limit SECONDS] [--only TEXT] [--record FILE]
/// [--write FILE]`
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    let [collection, tables, seeds, limit, only, record, page] =
        options(arguments, ["--posteriordb", "--tables", "--seeds", "--limit", "--only", "--record", "--write"])?;
    let (seeds, limit) = (number("--seeds", seeds.as_ref(), 5)?, number("--limit", limit.as_ref(), 30.0)?);
    // Rows that were recorded are not measured again: a page can be made in several goes.
    let recorded = record.as_ref().filter(|path| Path::new(path).exists());
    let mut now = match recorded {
        Some(path) => read(&std::fs::read_to_string(path).map_err(|e| format!("{path}: {e}"))?)?,
        None => Vec::new(),
    };
    let is_known: Vec<String> = now.iter().map(|row: &Measured| row.name.clone()).collect();
    let wanted = |name: &str| {
        only.as_ref().is_none_or(|text| name.contains(text.as_str()))
            && !is_known.iter().any(|known| known.starts_with(name))
    };
    for case in cases(collection.as_ref().map(Path::new), tables.as_ref().map(Path::new), &wanted)? {
        let seeds = if case.is_slow { FEW_SEEDS.min(seeds) } else { seeds };
        for hessians in [true, false] {
            if !hessians || case.with_hessians {
                now.push(measure(&case, hessians, seeds, limit)?);
            }
        }
        if let Some(path) = &record {
            write(Path::new(path), &now)?;
        }
    }
    let before = read(include_str!("../../data/evaluations-before.csv"))?;
    let text =
        format!("{INTRODUCTION}{}\n{}", table(&now, &before), bars::of_collection(&now, &posteriordb::POSTERIORS));
    publish(&text, page.as_ref())
}
