//! Why natural gradients do not use their components on Sonar in the race: the same runs with more draws for each
//! component, with slow weights, or from the start of a default fit.

use std::ops::ControlFlow;

use elinvar::family::Approximation;
use elinvar::rule::StepSize;
use elinvar::target::Target;
use elinvar::{Family, Plan};

use super::runner::own_draws;
use crate::authors::scattered_start;
use crate::bound::bound;
use crate::findings::mean_and_sd;
use crate::watch::{Watch, watch};
use crate::{Error, Findings, Table, threads};

/// β of all of them; falling as in the race.
const BETA: f64 = 0.1;
/// Draws of a divergence.
const KL_DRAWS: usize = 50_000;

/// What is different from the race.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Change {
    name: &'static str,
    /// Draws of all components together, or of each.
    draws: Draws,
    /// The step of the weights in units of β.
    weights: f64,
    from_default_start: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Draws {
    InAll(usize),
    Each(usize),
}

const RACE: Change =
    Change { name: "as in the race", draws: Draws::InAll(20), weights: 1.0, from_default_start: false };

const CHANGES: [Change; 5] = [
    RACE,
    Change { name: "20 draws for each component", draws: Draws::Each(20), ..RACE },
    Change { name: "weights a hundred times slower", weights: 0.01, ..RACE },
    Change { name: "from the default start", from_default_start: true, ..RACE },
    Change { name: "20 for each, slow weights", draws: Draws::Each(20), weights: 0.01, ..RACE },
];

/// How much is done.
pub(super) struct Size {
    pub(super) components: &'static [usize],
    pub(super) changes: usize,
    pub(super) seeds: u64,
    pub(super) steps: u64,
}

/// The last divergence and exp of the entropy of the weights.
fn run(target: &dyn Target, k: usize, change: Change, seed: u64, steps: u64, evidence: f64) -> Result<[f64; 2], Error> {
    let start: Approximation = match change.from_default_start {
        true => elinvar::run::start(target, Family::mog(k), &Plan { seed, ..Plan::default() })?.approximation,
        false => scattered_start(target.dim(), k, 1.0, 1.0, seed)?,
    };
    let n_draws = match change.draws {
        Draws::InAll(n) => (n as f64 / k as f64).round().max(1.0) as usize,
        Draws::Each(n) => n,
    };
    let plan = own_draws(n_draws, BETA, true, seed);
    let mixing_step_size = StepSize::Power { initial: change.weights * BETA, delay: 100.0, exponent: 0.6 };
    let mut last = start.clone();
    let settings = Watch { growth: 1e9, reviews: false, steps };
    watch(target, &start, &Plan { mixing_step_size, ..plan }, settings, &mut |seen, _| {
        last.clone_from(&seen.state);
        Ok(ControlFlow::Continue(()))
    })?;
    let entropy: f64 = -last.weights().log().iter().map(|log| log.exp() * log).sum::<f64>();
    Ok([evidence - bound(&last, target, KL_DRAWS, 99)?.elbo, entropy.exp()])
}

/// All changes, put down and as a table.
pub(super) fn explain(
    target: &dyn Target,
    size: &Size,
    seed: u64,
    evidence: f64,
    findings: &mut Findings,
    say: &mut dyn FnMut(&str),
) -> Result<Table, Error> {
    let header = ["K", "run", "KL, mean", "sd over seeds", "components by the entropy of the weights"];
    let mut table = Table::new("draws-of-a-component", header);
    for k in size.components {
        for change in &CHANGES[..size.changes] {
            let ends = threads::for_each(size.seeds as usize, |i| {
                run(target, *k, *change, seed + i as u64, size.steps, evidence)
            });
            let ends: Vec<[f64; 2]> = ends.into_iter().collect::<Result<_, _>>()?;
            let [kls, used] = [0, 1].map(|j| ends.iter().map(|end| end[j]).collect::<Vec<f64>>());
            let name = change.name;
            findings.put_mean(format!("kl on Sonar, K = {k}, {name}"), &kls);
            findings.put_mean(format!("components in use on Sonar, K = {k}, {name}"), &used);
            let ((kl, sd), (used, _)) = (mean_and_sd(&kls), mean_and_sd(&used));
            say(&format!("Sonar, K = {k}, {name}: KL {kl:.4}, {used:.1} components in use"));
            let sd = format!("{:.4}", sd.unwrap_or(0.0));
            table.push([k.to_string(), name.into(), format!("{kl:.4}"), sd, format!("{used:.1}")]);
        }
    }
    Ok(table)
}
