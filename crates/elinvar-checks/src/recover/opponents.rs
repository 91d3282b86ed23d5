//! Natural gradients against ordinary ones: the same draws, the same targets, the same starts.

use elinvar::family::Approximation;
use elinvar::internals::law::Logistic;
use elinvar::target::Target;
use elinvar::{Error, Family, Plan};

use super::cases::Case;
use super::inside::plain;
use super::race::{Opponent, bounds, evaluations_to_reach};
use crate::page::Table;
use crate::problems::regressions::breast_cancer_model;
use crate::threads;

/// Gradients after which a run has not reached it.
const BUDGET: u64 = 100_000;
/// Times the evaluations of the natural gradient after which the baseline is given up.
const MOST_RATIO: u64 = 30;
const SEEDS: u64 = 3;

const INTRODUCTION: &str = "
## Against ordinary gradients

Gradients until the bound is within 0.01 nats of the family's optimum, median of three seeds. Both begin at the same plain state:
locations near zero and unit scale matrices, or standard components (our own start would leave nothing to compare). *Natural*: the
default plan, reviews included (the thorough one, where the default stops by itself too early). *Black box*: the rule `euclidean_adam`, that is pathwise (or implicit) gradients of the same bound in
unconstrained coordinates with Adam, 16 draws of the same noise, with the best of six learning rates from 1 to 0.003, constant or
decaying, and the target's Hessian in the gradient of the scale matrix where there is one: tuned for each row, while
the natural gradient is not tuned. A state is looked at whenever the evaluations have grown by 20 %, with
the same noise as the optimum; a baseline is given up after 100 000 gradients or thirty times as many as ours.

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
    best: Option<&Approximation>,
) -> Result<Row, String> {
    let say = |e: Error| e.to_string();
    let best = match best {
        Some(member) => bounds(member, target),
        None => {
            let plan = Plan { max_draws: 4_096, ..Plan::thorough() };
            bounds(elinvar::run::fit(target, family, &plan).map_err(say)?.approximation(), target)
        }
    };
    let best = best.map_err(say)?;
    let start = plain(family, target.dim())?;
    let natural = (1..=SEEDS).map(|seed| {
        let first = evaluations_to_reach(target, &start, &Plan { seed, ..Plan::default() }, best, BUDGET)?;
        match first {
            Some(n) => Ok(Some(n)),
            // The default plan stops within 0.01 nats by its own estimate, which need not be within 0.01 by ours.
            None => evaluations_to_reach(target, &start, &Plan { seed, ..Plan::thorough() }, best, BUDGET),
        }
    });
    let ours = median(natural.collect::<Result<_, _>>().map_err(say)?);
    let theirs = best_opponent(target, &start, best, ours).map_err(say)?;
    eprintln!("{problem} {name}: {ours:?} against {theirs:?}");
    Ok(Row { problem, family: name.to_string(), ours, theirs })
}

/// The best setting of the baseline, by the median of its seeds.
fn best_opponent(
    target: &dyn Target,
    start: &Approximation,
    best: [f64; 2],
    ours: Option<u64>,
) -> Result<Option<(u64, String)>, Error> {
    let budget = ours.map_or(BUDGET, |n| BUDGET.min(n.max(1_000).saturating_mul(MOST_RATIO)));
    let mut winner: Option<(u64, Opponent)> = None;
    for opponent in Opponent::all(target.about().offers.hessian) {
        // No need to carry on an opponent that is worse than another.
        let budget = winner.as_ref().map_or(budget, |(n, _)| *n);
        let mut runs = Vec::new();
        for seed in 1..=SEEDS {
            runs.push(evaluations_to_reach(target, start, &opponent.plan(seed), best, budget)?);
            // The median is beyond the budget when half of the seeds are.
            if 2 * runs.iter().filter(|run| run.is_none()).count() as u64 > SEEDS {
                break;
            }
        }
        runs.resize(SEEDS as usize, None);
        if let Some(n) = median(runs) {
            winner = Some((n, opponent));
        }
    }
    Ok(winner.map(|(n, opponent)| (n, opponent.to_string())))
}

/// The families that are compared on the logistic regression.
fn on_regression() -> Vec<Family> {
    vec![
        Family::gaussian(),
        Family::gaussian().diagonal(),
        Family::mog(3),
        Family::student_t(3.0),
        Family::student_t_learned(),
        Family::skew(),
        Family::emg(),
        Family::nig(2.0),
        Family::snig(2.0),
        Family::rank_k(2),
        Family::scale_mixture(Logistic),
        Family::scale_mixture(Logistic).product(),
    ]
}

/// The section of the page.
pub(super) fn section(cases: &[Case]) -> Result<String, String> {
    let regression = breast_cancer_model();
    let families = on_regression();
    // One law and a few components speak for the others, a full matrix for a diagonal one.
    let spoken_for =
        [" of 1 ", "diagonal", "student_t a = 4", "snig lambda", "variance_gamma", "generalised_hyperbolic"];
    let components = ["of 2 gamma", "of 2 beta", "of 2 von_mises", "of 2 birnbaum_saunders"];
    let told = |case: &&Case| {
        let name = &case.name;
        let mixture = name.contains(" of 2 ");
        !spoken_for.iter().any(|part| name.contains(part))
            && (!mixture || components.iter().any(|end| name.ends_with(end)))
    };
    let cases: Vec<&Case> = cases.iter().filter(told).collect();
    let rows = threads::for_each(families.len() + cases.len(), |i| match families.get(i) {
        Some(family) => row("Breast-Cancer", &crate::families::label(*family), &regression, *family, None),
        None => {
            let case = cases[i - families.len()];
            row("own member", &case.name, &case.target, case.family, Some(case.target.member()))
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
