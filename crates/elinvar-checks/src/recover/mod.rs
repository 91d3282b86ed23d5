//! Whether each family finds a target that lies inside it, and how natural gradients compare with ordinary ones on the
//! way.

mod cases;
mod inside;
mod opponents;
mod race;

use elinvar::Plan;

use crate::arguments::{number, options};
use crate::page::{Table, publish};
use crate::threads;
use crate::truth::kl;
use cases::Case;

/// What every fit must reach, in nats.
const MOST_KL: f64 = 0.005;

/// What one fit reached.
struct Reached {
    kl: f64,
    mcse: f64,
    gradients: u64,
    steps: usize,
    converged: bool,
    shape: Option<(f64, f64)>,
}

fn fit(case: &Case, seed: u64, n_draws: usize) -> Result<Reached, String> {
    let plan = Plan { seed, ..Plan::thorough() };
    let posterior = elinvar::run::fit(&case.target, case.family, &plan).map_err(|e| e.to_string())?;
    let (kl, mcse) = kl(&posterior, &case.target, 0.0, n_draws).map_err(|e| e.to_string())?;
    Ok(Reached {
        kl,
        mcse,
        gradients: posterior.counts().gradient,
        steps: posterior.trace().len(),
        converged: posterior.converged(),
        shape: posterior.tail_index().map(|tail| (tail.a, tail.standard_error.unwrap_or(0.0))),
    })
}

/// The table and whether every row passed.
fn table(cases: &[Case], seeds: usize, n_draws: usize) -> (String, bool) {
    let mut table = Table::new(["family", "d", "worst KL", "gradients", "steps", "converged", "shape found", ""]);
    let mut passed = true;
    for case in cases {
        let fits = threads::for_each(seeds, |i| fit(case, 1 + i as u64, n_draws));
        for problem in fits.iter().filter_map(|fit| fit.as_ref().err()) {
            eprintln!("{}: {problem}", case.name);
        }
        let good: Vec<&Reached> = fits.iter().filter_map(|fit| fit.as_ref().ok()).collect();
        let worst = good.iter().max_by(|a, b| a.kl.total_cmp(&b.kl));
        // A learned shape counts as found within four of its own errors.
        let shapes = good.iter().all(|fit| match (case.shape, fit.shape) {
            (Some(truth), Some((found, error))) => (found - truth).abs() <= 4.0 * error,
            (Some(_), None) => false,
            (None, _) => true,
        });
        let within = good.len() == seeds && shapes && worst.is_some_and(|fit| fit.kl < MOST_KL);
        passed &= within;
        let span = |values: Vec<u64>| match (values.iter().min(), values.iter().max()) {
            (Some(low), Some(high)) => format!("{low} – {high}"),
            _ => "–".into(),
        };
        let (kl, mcse) = worst.map_or((f64::NAN, f64::NAN), |fit| (fit.kl, fit.mcse));
        eprintln!("{}: KL {kl:.5}", case.name);
        let shape = good.iter().filter_map(|fit| fit.shape).map(|(value, error)| format!("{value:.2} ± {error:.2}"));
        let shape: Vec<String> = shape.collect();
        table.push([
            case.name.clone(),
            elinvar::target::Target::dim(&case.target).to_string(),
            // Less than nothing is noise.
            format!("{:.5} ± {mcse:.5}", kl.max(0.0)),
            span(good.iter().map(|fit| fit.gradients).collect()),
            span(good.iter().map(|fit| fit.steps as u64).collect()),
            format!("{} of {seeds}", good.iter().filter(|fit| fit.converged).count()),
            if shape.is_empty() { "–".into() } else { shape.join(", ") },
            if within { "pass" } else { "FAIL" }.into(),
        ]);
    }
    (table.markdown(), passed)
}

const INTRODUCTION: &str = "# Every family on a target that lies inside it

Each family is fitted to a random member of itself by `Plan::thorough()` and a seed, nothing else: KL(q‖p), the worst of the seeds,
must stay below 0.005 nats. The divergence is the mean of log q − log p over fresh draws of q; gradients are those of the whole fit,
its search for a start included.

Written by `cargo xtask recover`.

";

/// `recover [--seeds N] [--draws N] [--only TEXT] [--race yes|no] [--write FILE]`
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    let [seeds, draws, only, race, write] = options(arguments, ["--seeds", "--draws", "--only", "--race", "--write"])?;
    let (seeds, draws) = (number("--seeds", seeds.as_ref(), 5)?, number("--draws", draws.as_ref(), 200_000)?);
    let mut cases = cases::cases()?;
    if let Some(text) = only {
        cases.retain(|case| case.name.contains(&text));
    }
    let (found, passed) = table(&cases, seeds, draws);
    let mut page = format!("{INTRODUCTION}{found}");
    if race.as_deref() != Some("no") {
        page.push_str(&opponents::section(&cases)?);
    }
    publish(&page, write.as_ref())?;
    if passed { Ok(()) } else { Err("not every family found its target".into()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The short form: every family once, with one seed.
    #[test]
    fn every_family_finds_a_member_of_itself() {
        let (table, passed) = table(&cases::cases().unwrap(), 1, 20_000);
        assert!(passed, "{table}");
    }
}
