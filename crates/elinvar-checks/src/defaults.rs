//! The default plan, without a single setting, on problems whose KL divergence can be measured.

use std::path::Path;

use elinvar::{Family, Plan, Posterior};

use crate::arguments::{number, options};
use crate::families::label;
use crate::page::{Table, publish};
use crate::problems::Problem;
use crate::problems::mixtures::{read_means, toy, toy_means};
use crate::problems::regressions::{beta_binomial, breast_cancer, murphy_toy, sonar};
use crate::threads;
use crate::truth::kl;

/// What a fit must reach.
struct Row {
    problem: Problem,
    family: Family,
    most_kl: f64,
    most_gradients: Option<u64>,
    /// Centres of unit Gaussians that must all be found.
    modes: Option<Vec<f64>>,
}

/// The rows of the table; the centres of the toy mixture come from a file if there is one.
fn rows(means: Option<&String>) -> Result<Vec<Row>, String> {
    let (dim, centres) = match means {
        Some(path) => read_means(Path::new(path))?,
        None => (20, toy_means()),
    };
    let row = |problem: Problem, family: Family, most_kl: f64, most_gradients: Option<u64>| Row {
        problem,
        family,
        most_kl,
        most_gradients,
        modes: None,
    };
    Ok(vec![
        row(breast_cancer(), Family::gaussian(), 0.056, Some(3_000)),
        row(breast_cancer(), Family::mog(10), 0.012, Some(60_000)),
        row(sonar(), Family::gaussian(), 0.085, Some(8_000)),
        row(sonar(), Family::mog(3), 0.0799, Some(60_000)),
        row(beta_binomial(), Family::mog(3), 0.014, Some(40_000)),
        row(beta_binomial(), Family::mog(5), 0.005, Some(40_000)),
        row(beta_binomial(), Family::mog(8), 0.002, Some(40_000)),
        Row { modes: Some(centres.clone()), ..row(toy(dim, centres)?, Family::mog_auto(), 0.05, None) },
        row(murphy_toy(), Family::gaussian(), 0.65, None),
        row(murphy_toy(), Family::skew(), 0.45, None),
        row(murphy_toy(), Family::mog_auto(), 0.05, None),
    ])
}

/// What one fit reached.
struct Reached {
    kl: f64,
    mcse: f64,
    gradients: u64,
    hessians: u64,
    seconds: f64,
    converged: bool,
    components: usize,
    modes_missed: usize,
}

fn fit(row: &Row, seed: u64, n_draws: usize) -> Result<Reached, String> {
    let plan = Plan { seed, ..Plan::default() };
    let target = row.problem.target.as_ref();
    let posterior = elinvar::run::fit(target, row.family, &plan).map_err(|e| e.to_string())?;
    let log_normaliser = row.problem.log_normaliser.ok_or("the normaliser is not known")?;
    let (kl, mcse) = kl(&posterior, target, log_normaliser, n_draws).map_err(|e| e.to_string())?;
    let counts = posterior.counts();
    Ok(Reached {
        kl,
        mcse,
        gradients: counts.gradient,
        hessians: counts.hessian,
        seconds: posterior.seconds(),
        converged: posterior.converged(),
        components: posterior.family().n_components(),
        modes_missed: row.modes.as_ref().map_or(0, |centres| modes_missed(&posterior, centres)),
    })
}

/// How many of equally weighted unit Gaussians have less than half of their share of the draws around them.
fn modes_missed(posterior: &Posterior, centres: &[f64]) -> usize {
    const N: usize = 20_000;
    let d = posterior.dim();
    let n_modes = centres.len() / d;
    // The squared distance has mean d and standard deviation √(2d).
    let radius = d as f64 + 5.0 * (2.0 * d as f64).sqrt();
    let mut near = vec![0; n_modes];
    for z in posterior.sample_z(N, 3).view().iter() {
        for (count, centre) in near.iter_mut().zip(centres.chunks_exact(d)) {
            let square: f64 = z.iter().zip(centre).map(|(z, u)| (z - u) * (z - u)).sum();
            *count += usize::from(square < radius);
        }
    }
    near.iter().filter(|count| 2 * **count < N / n_modes).count()
}

/// The largest of the values, where one that is no number counts as the largest.
fn worst(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(f64::NEG_INFINITY, |a, b| if a.is_nan() || b.is_nan() { f64::NAN } else { a.max(b) })
}

/// The smallest and the largest of the values.
fn range(values: impl Iterator<Item = usize> + Clone) -> String {
    match (values.clone().min(), values.max()) {
        (Some(low), Some(high)) if low < high => format!("{low}–{high}"),
        (Some(low), _) => low.to_string(),
        _ => "–".into(),
    }
}

/// The table and whether every row passed.
fn table(rows: &[Row], seeds: usize, n_draws: usize) -> (String, bool) {
    let mut table = Table::new([
        "problem",
        "family",
        "worst KL",
        "required",
        "worst gradients",
        "allowed",
        "worst Hessians",
        "components",
        "modes missed",
        "converged",
        "worst seconds",
        "",
    ]);
    let mut passed = true;
    for row in rows {
        let fits = threads::for_each(seeds, |i| fit(row, 1 + i as u64, n_draws));
        let good: Vec<&Reached> = fits.iter().filter_map(|fit| fit.as_ref().ok()).collect();
        let kl = if good.len() < seeds { f64::NAN } else { worst(good.iter().map(|fit| fit.kl)) };
        let mcse = worst(good.iter().map(|fit| fit.mcse));
        let gradients = good.iter().map(|fit| fit.gradients).max().unwrap_or(0);
        let missed = good.iter().map(|fit| fit.modes_missed).max().unwrap_or(0);
        let within = kl <= row.most_kl && missed == 0 && row.most_gradients.is_none_or(|most| gradients <= most);
        passed &= within;
        eprintln!("{} {}: KL {kl:.4}, modes missed {missed}", row.problem.name, label(row.family));
        for problem in fits.iter().filter_map(|fit| fit.as_ref().err()) {
            eprintln!("{} {}: {problem}", row.problem.name, label(row.family));
        }
        table.push([
            row.problem.name.clone(),
            label(row.family),
            format!("{kl:.4} ± {mcse:.4}"),
            row.most_kl.to_string(),
            gradients.to_string(),
            row.most_gradients.map_or("–".into(), |most| most.to_string()),
            good.iter().map(|fit| fit.hessians).max().unwrap_or(0).to_string(),
            range(good.iter().map(|fit| fit.components)),
            row.modes.as_ref().map_or("–".into(), |_| missed.to_string()),
            format!("{} of {seeds}", good.iter().filter(|fit| fit.converged).count()),
            format!("{:.2}", worst(good.iter().map(|fit| fit.seconds))),
            if within { "pass" } else { "FAIL" }.into(),
        ]);
    }
    (table.markdown(), passed)
}

const INTRODUCTION: &str = "# The default plan against known answers

`Plan::default()` and a seed, nothing else. KL(q‖p) is the known log normaliser less the ELBO of 10⁶ fresh draws; the worst of the
seeds counts. Gradients, Hessians and seconds are those of the fit, its search for a start included. Two fits run at a time on two
cores, so that the seconds are an upper limit.

Written by `cargo xtask defaults`.

";

/// `defaults [--means CSV] [--seeds N] [--draws N] [--only TEXT] [--write FILE]`
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    let [means, seeds, draws, only, write] =
        options(arguments, ["--means", "--seeds", "--draws", "--only", "--write"])?;
    let (seeds, draws) = (number("--seeds", seeds.as_ref(), 5)?, number("--draws", draws.as_ref(), 1_000_000)?);
    let mut rows = rows(means.as_ref())?;
    if let Some(text) = only {
        rows.retain(|row| format!("{} {}", row.problem.name, label(row.family)).contains(&text));
    }
    let (table, passed) = table(&rows, seeds, draws);
    publish(&format!("{INTRODUCTION}{table}"), write.as_ref())?;
    if passed { Ok(()) } else { Err("not every row reached what it must".into()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_passes_by_its_divergence_and_its_gradients() {
        let mut rows = rows(None).unwrap();
        rows.retain(|row| row.problem.name == "Breast-Cancer" && row.family == Family::gaussian());
        let (table, passed) = table(&rows, 1, 100_000);
        assert!(passed, "{table}");
        // The best Gaussian is 0.0526 nats away.
        rows[0].most_kl = 0.05;
        assert!(!super::table(&rows, 1, 100_000).1);
        (rows[0].most_kl, rows[0].most_gradients) = (0.056, Some(10));
        assert!(!super::table(&rows, 1, 100_000).1);
    }

    #[test]
    fn a_mode_that_is_missing_is_noticed() {
        let centres = vec![0.0, 0.0, 30.0, 0.0];
        let problem = toy(2, centres.clone()).unwrap();
        let posterior = elinvar::run::fit(problem.target.as_ref(), Family::gaussian(), &Plan::default()).unwrap();
        assert!(modes_missed(&posterior, &centres) > 0);
        let one = toy(2, vec![4.0, 1.0]).unwrap();
        let posterior = elinvar::run::fit(one.target.as_ref(), Family::gaussian(), &Plan::default()).unwrap();
        assert_eq!(modes_missed(&posterior, &[4.0, 1.0]), 0);
    }
}
