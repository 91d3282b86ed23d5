//! The page that `elinvar fit` prints.

pub(crate) mod ending;
pub(crate) mod evidence;
pub(crate) mod given;
mod held_out;
pub(crate) mod ladder;
pub(crate) mod next;
mod parameters;

use crate::analysis::Analysis;
use crate::job::Job;
use crate::number::{duration, fixed, grouped, significant, with_error};
use crate::response::Regression;
use crate::settings::PriorLaw;
use crate::table::shown_len;
use crate::words::{self, FileName};

/// The whole page.
pub(crate) fn text(job: &Job, analysis: &Analysis, width: Option<usize>) -> String {
    let Analysis { posterior, judgement, diagnostics, few_draws_dominate, answer, seconds, run_folder, .. } = analysis;
    let (test, model_check) = (&analysis.test, &analysis.model_check);
    let counts = posterior.counts();
    // What is folded to a screen later is not folded twice.
    let prose = |text: String| if width.is_some() { text + "\n" } else { evidence::folded(&text) };
    let mut page = words::title(job, posterior, FileName::Given)
        + "\n\n"
        + &prose(evidence::verdict(judgement))
        + "\n"
        + &model_check.as_ref().map_or(String::new(), |check| prose(evidence::model(check, judgement.verdict)) + "\n")
        + &analysis.warnings.iter().map(|warning| prose(warning.clone()) + "\n").collect::<String>()
        + &parameters(job, analysis, width)
        + "\n"
        + &evidence::table(posterior, diagnostics, width)
        + "\n";
    if let Some(test) = test {
        page += &(held_out::table(test) + "\n");
    }
    if posterior.rungs().len() > 1 {
        page += &(ladder::table(posterior.rungs()) + "\n");
    }
    let mut line = |name: &str, value: String| page += &self::line(name, &value);
    if let Some(numbers) = job.model.prior().numbers {
        line("prior", numbers);
    }
    for (name, sentence) in words::of_levels(job) {
        line(name, sentence);
    }
    line("given by", given::by(posterior, answer, diagnostics));
    if let Some(evidence) = answer.log_evidence {
        let stated = job.settings().model.priors.iter().flatten();
        let is_proper = stated.filter(|prior| prior.law == PriorLaw::Flat).count() == 0;
        let constant = if is_proper { "" } else { ", up to a constant: a flat prior has no integral" };
        line("log evidence", format!("{} nats{constant}", ladder::estimate(evidence)));
    }
    line("ELBO", with_error(diagnostics.elbo.value, diagnostics.elbo.mcse) + " nats");
    line("Pareto k\u{302}", evidence::pareto(diagnostics, *few_draws_dominate, answer.given_by));
    if let Some(r_squared) = model_check.as_ref().and_then(|check| check.r_squared) {
        let [median, q5, q95] = [r_squared.median, r_squared.q5, r_squared.q95].map(|share| fixed(share, 2));
        line("R²", format!("{median}, 90 % interval {q5} to {q95}"));
    }
    if let Some(tail) = posterior.tail_index() {
        let degrees = tail.standard_error.map_or_else(
            || significant(tail.degrees_of_freedom),
            |error| with_error(tail.degrees_of_freedom, 2.0 * error),
        );
        line("tail", format!("{degrees} degrees of freedom, learned"));
    }
    if let [_] = posterior.rungs() {
        line("ladder", evidence::only_rung(judgement, answer.given_by).into());
    }
    if !posterior.agreement().restarts.is_empty() {
        line("restarts", evidence::restarts(&posterior.agreement().restarts, job.plan.restarts));
    }
    line("stopped", ending::Ending::of(posterior).sentence(job.plan.stop.remaining_nats));
    let evaluations = format!(
        "{} log density, {} gradient, {} Hessian",
        grouped(counts.log_density),
        grouped(counts.gradient),
        grouped(counts.hessian)
    );
    let dropped = format!("; {} dropped because they were not finite", grouped(counts.dropped));
    line("evaluations", evaluations + if counts.dropped > 0 { &dropped } else { "" });
    let spent = diagnostics.counts;
    let gradients =
        if spent.gradient > 0 { format!(" and {} gradient", grouped(spent.gradient)) } else { String::new() };
    let these = if analysis.is_of_ladder() { "of these" } else { "more" };
    line("", format!("{} log density{gradients} {these} for the verdict", grouped(spent.log_density)));
    line(
        "draws",
        match posterior.peak_draws() {
            0 => "none: expectations were exact".to_string(),
            most => format!("at most {} per step", grouped(most as u64)),
        },
    );
    line("time", format!("fitting {}", duration(*seconds)));
    if let Some(path) = run_folder {
        line("kept in", path.display().to_string());
    }
    page + "\nNext: " + &next::next(job, analysis) + "\n"
}

/// The table of parameters, with the quantiles that were asked for.
fn parameters(job: &Job, analysis: &Analysis, width: Option<usize>) -> String {
    let Some(quantiles) = &analysis.quantiles else { return String::new() };
    let of_rows = |rows: Regression<'_>| rows.design.table_names().len() * rows.response.n_predictors();
    let n_coefficients = job.model.regression().map_or(0, of_rows);
    let ratio = job.ratio().filter(|_| job.shows_ratios);
    let worth = analysis.answer.effective_draws.unwrap_or(analysis.n_draws as f64);
    parameters::table(&analysis.answer, &parameters::Beside { quantiles, n_coefficients, ratio, worth }, width)
}

/// A page in lines of so many places: those of prose are folded, those of tables stay.
pub(crate) fn folded_to(page: &str, width: usize) -> String {
    /// A screen that is narrower is not written for.
    const NARROWEST: usize = 40;
    let width = width.max(NARROWEST);
    let mut text = String::new();
    for line in page.lines() {
        let is_table = line.trim_start().matches("   ").count() > 1;
        if shown_len(line) <= width || is_table {
            text += line;
            text.push('\n');
            continue;
        }
        // A name and what is said about it, or prose.
        let starts_late = line.starts_with(&" ".repeat(NAME)) || line.chars().nth(NAME - 1) == Some(' ');
        let indent = if starts_late && line.find("  ").is_some_and(|at| at < NAME) { NAME } else { 0 };
        let mut now = String::new();
        for word in line.split_inclusive(' ') {
            if shown_len(&now) + shown_len(word.trim_end()) > width && !now.trim().is_empty() {
                text += now.trim_end();
                text.push('\n');
                now = " ".repeat(indent);
            }
            now += word;
        }
        text += now.trim_end();
        text.push('\n');
    }
    text
}

/// Places of a name before what is said about it.
const NAME: usize = 13;

/// A name and what there is to say about it.
pub(crate) fn line(name: &str, value: &str) -> String {
    // A combining accent takes a character and no room.
    let width = NAME + name.matches('\u{302}').count();
    format!("{name:<width$}{value}\n")
}
