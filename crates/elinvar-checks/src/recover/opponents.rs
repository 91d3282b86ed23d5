//! Natural gradients against ordinary ones: the same draws, the same targets, the same starts.

use elinvar::family::AnyApproximation;
use elinvar::target::Target;
use elinvar::{Error, Family, Plan};

use super::cases::Case;
use super::race::{Opponent, elbo_of, evaluations_to_reach};
use crate::page::Table;
use crate::problems::regressions::breast_cancer_model;
use crate::threads;

/// How close to the optimum of the family, in nats.
const WITHIN: f64 = 0.01;
/// Gradients after which a run has not reached it.
const BUDGET: u64 = 300_000;
/// Times the evaluations of the natural gradient after which the baseline is given up.
const MOST_RATIO: u64 = 100;
const SEEDS: u64 = 3;

const INTRODUCTION: &str = "
## Against ordinary gradients

Gradients until the bound is within 0.01 nats of the family's optimum, median of three seeds; the start is the same for both and not
counted. *Natural*: the default plan. *Black box*: the rule `euclidean_adam`, that is pathwise (or implicit) gradients of the same bound
in unconstrained coordinates with Adam, 16 draws of the same noise, with the best of five learning rates from 0.3 to 0.003, constant or
decaying, with and without the target's Hessian in the gradient of the scale matrix: tuned for each row, while the natural gradient is
not. The setting is chosen by the first seed. A state is looked at whenever the evaluations have grown by 20 %; a baseline is
given up after 300 000 gradients or a hundred times as many as ours.

";

struct Row {
    problem: &'static str,
    family: String,
    ours: Option<u64>,
    theirs: Option<(u64, String)>,
}

/// The middle of the seeds; `None`, which stands for more than the budget, is larger than every number.
fn median(mut values: Vec<Option<u64>>) -> Option<u64> {
    values.sort_by_key(|value| value.unwrap_or(u64::MAX));
    values[values.len() / 2]
}

fn row(
    problem: &'static str,
    name: &str,
    target: &dyn Target,
    family: Family,
    optimum: Option<f64>,
) -> Result<Row, String> {
    let say = |e: elinvar::Error| e.to_string();
    let optimum = match optimum {
        Some(value) => value,
        None => {
            let best = elinvar::fit(target, family, &Plan { max_draws: 4_096, ..Plan::thorough() }).map_err(say)?;
            elbo_of(best.approximation(), target, 100_000).map_err(say)?.0
        }
    };
    let goal = optimum - WITHIN;
    let start = elinvar::run::start(target, family, &Plan::default()).map_err(say)?.approximation;
    let natural = (1..=SEEDS).map(|seed| {
        let first = evaluations_to_reach(target, &start, &Plan { seed, ..Plan::default() }, goal, BUDGET)?;
        match first {
            Some(n) => Ok(Some(n)),
            // The default plan stops within 0.01 nats by its own estimate, which need not be within 0.01 by ours.
            None => evaluations_to_reach(target, &start, &Plan { seed, ..Plan::thorough() }, goal, BUDGET),
        }
    });
    let ours = median(natural.collect::<Result<_, _>>().map_err(say)?);
    let theirs = best_opponent(target, &start, goal, ours).map_err(say)?;
    eprintln!("{problem} {name}: {ours:?} against {theirs:?}");
    Ok(Row { problem, family: name.to_string(), ours, theirs })
}

/// The best setting of the baseline by its first seed, with the median of its seeds.
fn best_opponent(
    target: &dyn Target,
    start: &AnyApproximation,
    goal: f64,
    ours: Option<u64>,
) -> Result<Option<(u64, String)>, Error> {
    let budget = ours.map_or(BUDGET, |n| BUDGET.min(n.max(1_000).saturating_mul(MOST_RATIO)));
    let mut best: Option<(u64, Opponent)> = None;
    for opponent in Opponent::all(target.second_order().is_some()) {
        // No need to carry on an opponent that is worse than another.
        let budget = best.as_ref().map_or(budget, |(n, _)| *n);
        if let Some(n) = evaluations_to_reach(target, start, &opponent.plan(1), goal, budget)? {
            best = Some((n, opponent));
        }
    }
    let Some((first, opponent)) = best else { return Ok(None) };
    let others = (2..=SEEDS).map(|seed| evaluations_to_reach(target, start, &opponent.plan(seed), goal, BUDGET));
    let mut runs = others.collect::<Result<Vec<_>, _>>()?;
    runs.push(Some(first));
    Ok(median(runs).map(|n| (n, opponent.to_string())))
}

/// The families that are compared on the logistic regression.
fn on_regression() -> Vec<Family> {
    vec![
        Family::gaussian(),
        Family::gaussian().diagonal(),
        Family::mog(3),
        Family::student_t(3.0),
        Family::skew(),
        Family::emg(),
        Family::nig(2.0),
        Family::snig(2.0),
        Family::rank_k(2),
    ]
}

/// The section of the page.
pub(super) fn section(cases: &[Case]) -> Result<String, String> {
    let regression = breast_cancer_model();
    let families = on_regression();
    let rows = threads::for_each(families.len() + cases.len(), |i| match families.get(i) {
        Some(family) => row("Breast-Cancer", &crate::families::label(*family), &regression, *family, None),
        None => {
            let case = &cases[i - families.len()];
            row("own member", &case.name, &case.target, case.family, Some(0.0))
        }
    });
    let mut table = Table::new(["target", "family", "natural", "black box", "its best setting", "ratio"]);
    let mut ratios = Vec::new();
    for row in rows {
        let Row { problem, family, ours, theirs } = row?;
        let number = |n: Option<u64>| n.map_or("not reached".into(), |n| n.to_string());
        let ratio = match (ours, &theirs) {
            (Some(ours), Some((theirs, _))) if ours > 0 => {
                let ratio = *theirs as f64 / ours as f64;
                ratios.push(ratio);
                format!("{ratio:.1}")
            }
            (Some(ours), None) if ours > 0 => {
                let least = (BUDGET as f64 / ours as f64).min(MOST_RATIO as f64);
                ratios.push(least);
                format!("> {least:.0}")
            }
            _ => "–".into(),
        };
        let setting = theirs.as_ref().map_or("–".into(), |(_, setting)| setting.clone());
        table.push([problem.into(), family, number(ours), number(theirs.map(|(n, _)| n)), setting, ratio]);
    }
    ratios.sort_by(f64::total_cmp);
    let middle = ratios.get(ratios.len() / 2).copied().unwrap_or(f64::NAN);
    Ok(format!("{INTRODUCTION}{}\nThe median of the {} ratios is {middle:.1}.\n", table.markdown(), ratios.len()))
}
