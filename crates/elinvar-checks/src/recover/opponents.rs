//! Natural gradients against ordinary ones: the same draws, the same targets, the same starts.

use elinvar::target::Target;
use elinvar::{Family, Plan};

use super::cases::Case;
use super::race::{Opponent, elbo_of, evaluations_to_reach};
use crate::page::Table;
use crate::problems::regressions::breast_cancer_model;
use crate::threads;

/// How close to the optimum of the family, in nats.
const WITHIN: f64 = 0.01;
/// Gradients after which a run has not reached it.
const BUDGET: u64 = 1_000_000;
const SEEDS: u64 = 3;

const INTRODUCTION: &str = "
## Against ordinary gradients

Gradients until the bound is within 0.01 nats of the family's optimum, median of three seeds; the start is the same for both and not
counted. *Natural*: the default plan. *Black box*: the rule `euclidean_adam`, that is pathwise (or implicit) gradients of the same bound
in unconstrained coordinates with Adam, 16 draws of the same noise, with the best of five learning rates from 0.3 to 0.003, constant or
decaying, with and without the target's Hessian in the gradient of the scale matrix: tuned for each row, while the natural gradient is
not. A state is looked at whenever the evaluations have grown by 15 %.

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
            elbo_of(best.approximation(), target, 400_000).map_err(say)?.0
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
    let mut theirs: Option<(u64, String)> = None;
    for opponent in Opponent::all(target.second_order().is_some()) {
        // No need to carry on an opponent that is worse than another.
        let budget = theirs.as_ref().map_or(BUDGET, |(n, _)| *n);
        let runs = (1..=SEEDS).map(|seed| evaluations_to_reach(target, &start, &opponent.plan(seed), goal, budget));
        if let Some(n) = median(runs.collect::<Result<_, _>>().map_err(say)?)
            && theirs.as_ref().is_none_or(|(best, _)| n < *best)
        {
            theirs = Some((n, opponent.to_string()));
        }
    }
    eprintln!("{problem} {name}: {ours:?} against {theirs:?}");
    Ok(Row { problem, family: name.to_string(), ours, theirs })
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
        let number = |n: Option<u64>| n.map_or(format!("> {BUDGET}"), |n| n.to_string());
        let ratio = match (ours, &theirs) {
            (Some(ours), Some((theirs, _))) if ours > 0 => {
                let ratio = *theirs as f64 / ours as f64;
                ratios.push(ratio);
                format!("{ratio:.1}")
            }
            (Some(ours), None) if ours > 0 => format!("> {:.0}", BUDGET as f64 / ours as f64),
            _ => "–".into(),
        };
        let setting = theirs.as_ref().map_or("–".into(), |(_, setting)| setting.clone());
        table.push([problem.into(), family, number(ours), number(theirs.map(|(n, _)| n)), setting, ratio]);
    }
    ratios.sort_by(f64::total_cmp);
    let middle = ratios.get(ratios.len() / 2).copied().unwrap_or(f64::NAN);
    Ok(format!("{INTRODUCTION}{}\nThe median of the {} ratios is {middle:.1}.\n", table.markdown(), ratios.len()))
}
