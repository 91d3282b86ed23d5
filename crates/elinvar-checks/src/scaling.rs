//! How evaluations and time grow with the data, the dimension and the number of components.

use elinvar::target::Target;
use elinvar::{Family, Plan};

use crate::arguments::{number, options};
use crate::page::{Table, publish};
use crate::problems::regressions::generated_logistic;

/// What grows, with the sizes it takes.
struct Series {
    what: &'static str,
    about: &'static str,
    sizes: Vec<usize>,
    problem: fn(usize) -> (Box<dyn Target>, Family),
}

fn doubling(first: usize, n: u32) -> Vec<usize> {
    (0..n).map(|i| first << i).collect()
}

fn all() -> Vec<Series> {
    vec![
        Series {
            what: "N",
            about: "rows, with d = 10 and a Gaussian",
            sizes: doubling(500, 6),
            problem: |n| (Box::new(generated_logistic(n, 10, 1.0, 11)), Family::gaussian()),
        },
        Series {
            what: "d",
            about: "coefficients, with N = 2000 and a Gaussian",
            sizes: doubling(5, 6),
            problem: |d| (Box::new(generated_logistic(2_000, d, 1.0, 12)), Family::gaussian()),
        },
        Series {
            what: "K",
            about: "components of a mixture, with N = 500 and d = 5",
            sizes: doubling(1, 6),
            problem: |k| (Box::new(generated_logistic(500, 5, 1.0, 13)), Family::mog(k)),
        },
    ]
}

/// Medians over the seeds.
#[derive(Clone, Copy, Debug)]
struct Cost {
    gradients: f64,
    hessians: f64,
    seconds: f64,
}

fn cost(target: &dyn Target, family: Family, seeds: u64) -> Result<Cost, String> {
    let mut fits = Vec::new();
    for seed in 1..=seeds {
        let plan = Plan { seed, ..Plan::default() };
        let posterior = elinvar::run::fit(target, family, &plan).map_err(|e| e.to_string())?;
        let counts = posterior.counts();
        fits.push([counts.gradient as f64, counts.hessian as f64, posterior.seconds()]);
    }
    let median = |j: usize| {
        let mut values: Vec<f64> = fits.iter().map(|fit| fit[j]).collect();
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    };
    Ok(Cost { gradients: median(0), hessians: median(1), seconds: median(2) })
}

/// The slope of log y against log x by least squares.
fn exponent(points: &[(f64, f64)]) -> f64 {
    let n = points.len() as f64;
    let (x, y) = points.iter().fold((0.0, 0.0), |sum, (x, y)| (sum.0 + x.ln() / n, sum.1 + y.ln() / n));
    let covariance: f64 = points.iter().map(|p| (p.0.ln() - x) * (p.1.ln() - y)).sum();
    covariance / points.iter().map(|p| (p.0.ln() - x).powi(2)).sum::<f64>()
}

/// The tables of one series: every size, and the exponents.
fn section(series: &Series, seeds: u64) -> Result<String, String> {
    let mut table = Table::new([series.what, "gradients", "Hessians", "seconds", "microseconds per gradient"]);
    let mut costs = Vec::new();
    for size in &series.sizes {
        let (target, family) = (series.problem)(*size);
        let cost = cost(target.as_ref(), family, seeds)?;
        eprintln!("{} = {size}: {cost:?}", series.what);
        table.push([
            size.to_string(),
            format!("{:.0}", cost.gradients),
            format!("{:.0}", cost.hessians),
            format!("{:.4}", cost.seconds),
            format!("{:.2}", 1e6 * cost.seconds / cost.gradients),
        ]);
        costs.push((*size as f64, cost));
    }
    let slope = |choose: fn(&Cost) -> f64| exponent(&costs.iter().map(|(x, c)| (*x, choose(c))).collect::<Vec<_>>());
    Ok(format!(
        "## {}: {}\n\n{}\nExponents: gradients {:.2}, Hessians {:.2}, seconds {:.2}.\n\n",
        series.what,
        series.about,
        table.markdown(),
        slope(|c| c.gradients),
        slope(|c| c.hessians),
        slope(|c| c.seconds)
    ))
}

const INTRODUCTION: &str = "# How a fit grows

Logistic regressions on generated data, default plan; medians over the seeds, one fit after the other. An exponent is the slope of the
logarithm of a column against that of the size, by least squares over all rows: 1 means twice as much for twice the size.

Written by `cargo xtask scaling`.

";

/// `scaling [--seeds N] [--only N|d|K] [--write FILE]`
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    let [seeds, only, write] = options(arguments, ["--seeds", "--only", "--write"])?;
    let seeds = number("--seeds", seeds.as_ref(), 3)?;
    let mut page = String::from(INTRODUCTION);
    for series in all().iter().filter(|series| only.as_ref().is_none_or(|what| what == series.what)) {
        page += &section(series, seeds)?;
    }
    publish(&format!("{}\n", page.trim_end()), write.as_ref())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponents_are_those_of_powers() {
        let points: Vec<(f64, f64)> = [1.0f64, 2.0, 4.0, 8.0].iter().map(|x| (*x, 3.0 * x.powf(1.5))).collect();
        assert!((exponent(&points) - 1.5).abs() < 1e-12);
    }

    /// Four times the data may not need more than twice the evaluations.
    #[test]
    fn evaluations_do_not_grow_with_the_data() {
        let gradients = |n: usize| cost(&generated_logistic(n, 5, 1.0, 11), Family::gaussian(), 1).unwrap().gradients;
        let (small, large) = (gradients(500), gradients(2_000));
        assert!(large < 2.0 * small, "{small} gradients for 500 rows, {large} for 2000");
    }
}
