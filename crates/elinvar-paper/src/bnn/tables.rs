//! The tables of the experiment.

use crate::Table;

use super::method::METHODS;
use super::published;
use super::race::{FROM, Loss, Ran, mean_and_error, steps_to_goal};
use super::tune::Try;

/// The word for what is followed, in names of numbers.
pub(super) fn word(loss: Loss) -> &'static str {
    match loss {
        Loss::LogRmse => "rmse",
        Loss::Likelihood => "log-likelihood",
    }
}

pub(super) fn with_error(values: &[f64], digits: usize) -> String {
    let (mean, error) = mean_and_error(values);
    format!("{mean:.digits$} ± {error:.digits$}").replace('-', "−")
}

/// Where the runs end, beside what others found.
pub(super) fn ends(runs: &[Ran]) -> Table {
    let header = ["table", "method", "β", "test RMSE", "published", "test log-likelihood", "published log-likelihood"];
    let mut table = Table::new("ends", header);
    for ran in runs {
        let published = published::of(ran.table);
        table.push([
            ran.table.into(),
            ran.method.name.into(),
            ran.beta.to_string(),
            with_error(&ran.last(|look| look.rmse), 3),
            published.map_or(String::new(), |each| published::range(&each.rmse, true)),
            with_error(&ran.last(|look| look.log_likelihood), 3),
            published.map_or(String::new(), |each| published::range(&each.log_likelihood, false)),
        ]);
    }
    table
}

/// How soon the runs are where the best of them ends.
pub(super) fn speeds(runs: &[Ran]) -> Table {
    let header = [
        "table",
        "method",
        "steps, RMSE",
        "evaluations",
        "seconds",
        "steps, log-likelihood",
        "evaluations to it",
        "seconds to it",
    ];
    let mut table = Table::new("speeds", header);
    for of_table in runs.chunks_exact(METHODS.len()) {
        let [rmse, likelihood] = [Loss::LogRmse, Loss::Likelihood].map(|loss| steps_to_goal(of_table, loss));
        for ((ran, rmse), likelihood) in of_table.iter().zip(rmse).zip(likelihood) {
            let cells = |steps: Option<f64>| {
                let Some(steps) = steps else { return ["not reached".into(), "–".into(), "–".into()] };
                let (evaluations, seconds) = (steps * ran.evaluations_per_step(), steps * ran.seconds_per_step);
                [format!("{steps:.0}"), format!("{evaluations:.0}"), format!("{seconds:.2}")]
            };
            let ([a, b, c], [d, e, f]) = (cells(rmse), cells(likelihood));
            table.push([ran.table.into(), ran.method.name.into(), a, b, c, d, e, f]);
        }
    }
    table
}

/// How far ours is ahead of each other method.
pub(super) fn leads(runs: &[Ran]) -> Table {
    let header =
        ["table", "over", "RMSE, from step 10", "RMSE, from step 100", "likelihood, from 10", "likelihood, from 100"];
    let mut table = Table::new("leads", header);
    for of_table in runs.chunks_exact(METHODS.len()) {
        for ran in &of_table[1..] {
            let lead = |loss| FROM.map(|from| with_error(&ran.lead_of(&of_table[0], loss, from), 3));
            let ([a, b], [c, d]) = (lead(Loss::LogRmse), lead(Loss::Likelihood));
            table.push([ran.table.into(), ran.method.name.into(), a, b, c, d]);
        }
    }
    table
}

/// The curves of the figures.
pub(super) fn curves(runs: &[Ran]) -> Table {
    let header =
        ["table", "method", "steps", "test RMSE", "its standard error", "test log-likelihood", "standard error of it"];
    let mut table = Table::new("curves", header);
    for ran in runs {
        let (rmse, likelihood) = (ran.curve(|look| look.rmse), ran.curve(|look| look.log_likelihood));
        for (rmse, likelihood) in rmse.into_iter().zip(likelihood) {
            let [a, b, c, d] = [rmse.1, rmse.2, likelihood.1, likelihood.2].map(|value| format!("{value:.4}"));
            table.push([ran.table.into(), ran.method.name.into(), rmse.0.to_string(), a, b, c, d]);
        }
    }
    table
}

/// The tries of the tuning.
pub(super) fn tries(tries: &[Try]) -> Table {
    let mut table =
        Table::new("tries", ["table", "method", "β", "log RMSE of validation rows, mean over log steps from 100"]);
    for each in tries {
        let score = if each.score.is_finite() { format!("{:.4}", each.score) } else { "broke down".into() };
        table.push([each.table.into(), each.method.name.into(), each.beta.to_string(), score]);
    }
    table
}
