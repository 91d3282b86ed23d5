//! Whether a fit depends on the coordinates in which its target is written.

use elinvar::{Family, Plan, Posterior};

use crate::arguments::{number, options};
use crate::families::label;
use crate::moved::Moved;
use crate::page::{Table, publish};
use crate::problems::Problem;
use crate::problems::linear_map::{LinearMap, congruence};
use crate::problems::mixed::{Law, mixed};
use crate::problems::regressions::breast_cancer;
use crate::threads;
use crate::truth::kl;

/// Evaluations may not change by this factor.
const MOST_RATIO: f64 = 2.0;
/// A mean may not change by more standard deviations than this: a fit that stops δ = 0.01 nats below its optimum may
/// have a mean √(2δ) from that of the optimum, and here are two such fits.
const MOST_MEAN: f64 = 0.2;
/// Draws that a bound is estimated from.
const DRAWS: usize = 100_000;

/// A fit in the original coordinates.
struct Answer {
    mean: Vec<f64>,
    sd: Vec<f64>,
    kl: f64,
    mcse: f64,
    gradients: u64,
    converged: bool,
}

fn answer(problem: &Problem, family: Family, map: &LinearMap, seed: u64) -> Result<Answer, String> {
    let plan = Plan { seed, ..Plan::default() };
    let moved = Moved::new(problem.target.as_ref(), map);
    let posterior = elinvar::run::fit(&moved, family, &plan).map_err(|e| e.to_string())?;
    let log_normaliser = problem.log_normaliser.ok_or("the normaliser is not known")?;
    let (kl, mcse) = kl(&posterior, &moved, log_normaliser, DRAWS).map_err(|e| e.to_string())?;
    let (mean, sd) = original_moments(&posterior, map);
    Ok(Answer { mean, sd, kl, mcse, gradients: posterior.counts().gradient, converged: posterior.converged() })
}

/// Mean and standard deviations of z = A x.
fn original_moments(posterior: &Posterior, map: &LinearMap) -> (Vec<f64>, Vec<f64>) {
    let d = posterior.dim();
    let (x, cov) = (posterior.approximation().mean(), posterior.approximation().covariance());
    let mut mean = vec![0.0; d];
    map.apply(&x, &mut mean);
    let transposed: Vec<f64> = (0..d * d).map(|k| map.forward[k % d * d + k / d]).collect();
    let mut moved = vec![0.0; d * d];
    congruence(d, &transposed, &cov, &mut moved);
    (mean, (0..d).map(|i| moved[i * d + i].sqrt()).collect())
}

/// The problems, small enough for many fits.
fn problems() -> Vec<Problem> {
    let laws = [Law::SkewNormal { alpha: 4.0 }, Law::LogGamma { a: 2.0 }, Law::Normal, Law::Logistic];
    vec![breast_cancer(), mixed("skewed d = 4", &laws, 1.0)]
}

/// Condition numbers of A.
struct Conditions<'a> {
    scaled: &'a [f64],
    rotated: &'a [f64],
    /// Those whose Hessians have no digits left for the flattest direction: shown, not judged.
    beyond: &'a [f64],
}

const ALL: Conditions<'_> = Conditions { scaled: &[1e2, 1e4, 1e8], rotated: &[1.0, 1e2, 1e4, 1e6], beyond: &[1e8] };

/// The table and whether every row that is judged passed.
fn table(problems: &[Problem], families: &[Family], conditions: &Conditions, seeds: usize) -> (String, bool) {
    let mut table = Table::new([
        "problem",
        "family",
        "A",
        "gradients",
        "ratio",
        "KL",
        "change",
        "mean moves",
        "sd changes",
        "converged",
        "",
    ]);
    let mut passed = true;
    for (problem, family) in problems.iter().flat_map(|p| families.iter().map(move |f| (p, *f))) {
        let d = problem.target.dim();
        let fits = |map: &LinearMap| -> Result<Vec<Answer>, String> {
            threads::for_each(seeds, |i| answer(problem, family, map, 1 + i as u64)).into_iter().collect()
        };
        let plain = fits(&LinearMap::identity(d));
        let rotated =
            |condition: f64| (format!("rotated, {condition:.0e}"), LinearMap::with_condition(d, condition, 17));
        let scaled = |condition: f64| (format!("scaled, {condition:.0e}"), LinearMap::scaling(d, condition));
        // Where there are no digits, every rung of the ladder goes on to its limits.
        let beyond = if family == Family::auto() { &[] } else { conditions.beyond };
        let maps = (conditions.scaled.iter().map(|c| (scaled(*c), true)))
            .chain(conditions.rotated.iter().map(|c| (rotated(*c), true)))
            .chain(beyond.iter().map(|c| (rotated(*c), false)));
        for ((name, map), judged) in maps {
            let row = match (&plain, fits(&map)) {
                (Ok(plain), Ok(moved)) => {
                    let each = |fits: &[Answer]| fits.iter().map(|fit| fit.gradients).collect::<Vec<_>>();
                    eprintln!("gradients of each seed {:?}, of the original {:?}", each(&moved), each(plain));
                    compare(plain, &moved)
                }
                (Err(problem), _) => Err(problem.clone()),
                (_, Err(problem)) => Err(problem),
            };
            let (cells, within) = row.unwrap_or_else(|problem| {
                eprintln!("{problem}");
                (std::array::from_fn(|_| "–".into()), false)
            });
            passed &= within || !judged;
            let [gradients, ratio, kl, change, mean, sd, converged] = cells;
            let verdict = match (within, judged) {
                (true, _) => "pass",
                (false, true) => "FAIL",
                (false, false) => "beyond f64",
            };
            eprintln!("{} {} {name}: ratio {ratio}, {verdict}", problem.name, label(family));
            table.push([
                problem.name.clone(),
                label(family),
                name,
                gradients,
                ratio,
                kl,
                change,
                mean,
                sd,
                converged,
                verdict.into(),
            ]);
        }
    }
    (table.markdown(), passed)
}

/// The cells of a row: the seeds taken together for the evaluations, the worst of them for the answers.
fn compare(plain: &[Answer], moved: &[Answer]) -> Result<([String; 7], bool), String> {
    let total = |fits: &[Answer]| fits.iter().map(|fit| fit.gradients).sum::<u64>() as f64;
    let ratio = total(moved) / total(plain);
    let (mut change, mut allowed_left, mut mean, mut sd, mut worst_kl) =
        (0.0f64, f64::INFINITY, 0.0f64, 0.0f64, 0.0f64);
    for (a, b) in plain.iter().zip(moved) {
        let difference = (a.kl - b.kl).abs();
        // Both fits may end as far below their optimum as the plan allows.
        let allowed = Plan::default().stop.remaining_nats + 3.0 * a.mcse.hypot(b.mcse);
        change = change.max(difference);
        allowed_left = allowed_left.min(allowed - difference);
        worst_kl = worst_kl.max(b.kl);
        for i in 0..a.mean.len() {
            mean = mean.max((a.mean[i] - b.mean[i]).abs() / a.sd[i]);
            sd = sd.max((b.sd[i] / a.sd[i] - 1.0).abs());
        }
    }
    let same_cost = ratio < MOST_RATIO && ratio > 1.0 / MOST_RATIO;
    let within = same_cost && allowed_left >= 0.0 && mean <= MOST_MEAN;
    let cells = [
        format!("{:.0}", total(moved) / moved.len() as f64),
        format!("{ratio:.2}"),
        format!("{worst_kl:.4}"),
        format!("{change:.4}"),
        format!("{mean:.3}"),
        format!("{:.1} %", 100.0 * sd),
        format!("{} of {}", moved.iter().filter(|fit| fit.converged).count(), moved.len()),
    ];
    Ok((cells, within))
}

const INTRODUCTION: &str = "# Fits in other coordinates

Each problem is fitted as it is and after z = A x, where A is a diagonal matrix with the given condition number (scaled) or such a
matrix between two random rotations (rotated). Gradients per fit, and their ratio to those of the original; KL(q‖p) by 10⁵ draws and
its largest change; the largest move of a mean, in standard deviations, and the largest change of a standard deviation, both in the
original coordinates; the worst of the seeds. A row passes if the ratio lies between 1/2 and 2, the KL changes by no more than the
δ = 0.01 nats at which the plan stops and three standard errors, and no mean moves by more than the 2√δ = 0.2 standard deviations
that two such fits may differ by.

What a condition number of 10⁸ can mean: the Hessian of log p in x is Aᵀ H A, and its condition number is about the square of that
of A. Scaling is harmless at any condition number, because rounding, Cholesky factors and steps all commute with it. After a rotation the
entries of Aᵀ H A are sums of large and small parts. With A of condition 10⁴ the covariance of x has the condition number 10⁸; with
10⁶ it has 10¹², and four digits are left for the flattest direction: both must pass. With 10⁸ it has 10¹⁶, and the flattest direction
lies below the last digit of every entry of the Hessian before elinvar sees it: those rows show what is left, and are not judged.

Written by `cargo xtask affine`.

";

/// `affine [--seeds N] [--only TEXT] [--write FILE]`
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    let [seeds, only, write] = options(arguments, ["--seeds", "--only", "--write"])?;
    let seeds = number("--seeds", seeds.as_ref(), 3)?;
    let mut problems = problems();
    problems.retain(|problem| only.as_ref().is_none_or(|text| problem.name.contains(text)));
    let (table, passed) = table(&problems, &[Family::gaussian(), Family::mog(3), Family::auto()], &ALL, seeds);
    publish(&format!("{INTRODUCTION}{table}"), write.as_ref())?;
    if passed { Ok(()) } else { Err("a fit depends on the coordinates".into()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rotated_and_rescaled_regression_is_fitted_alike() {
        let conditions = Conditions { scaled: &[1e8], rotated: &[1e4], beyond: &[] };
        let (table, passed) = table(&[breast_cancer()], &[Family::gaussian()], &conditions, 1);
        assert!(passed, "{table}");
    }

    #[test]
    fn a_fit_that_changes_is_noticed() {
        let problem = breast_cancer();
        let map = LinearMap::identity(problem.target.dim());
        let fit = || vec![answer(&problem, Family::gaussian(), &map, 1).unwrap()];
        assert!(compare(&fit(), &fit()).unwrap().1);
        let spoilt: [fn(&mut Answer); 3] =
            [|fit| fit.gradients *= 3, |fit| fit.kl += 0.05, |fit| fit.mean[2] += 0.5 * fit.sd[2]];
        for spoil in spoilt {
            let mut other = fit();
            spoil(&mut other[0]);
            assert!(!compare(&fit(), &other).unwrap().1);
        }
    }
}
