//! The page that `elinvar fit` prints.

pub(crate) mod ending;
pub(crate) mod evidence;
pub(crate) mod given;
mod held_out;
pub(crate) mod ladder;
mod modes;
pub(crate) mod next;
mod parameters;

use crate::analysis::Analysis;
use crate::job::Job;
use crate::number::{duration, fixed, grouped, with_error};
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
        + &prose(
            model_check.as_ref().map_or_else(|| unchecked(job), |check| evidence::model(check, judgement.verdict)),
        )
        + "\n"
        + &analysis.warnings.iter().map(|warning| prose(warning.clone()) + "\n").collect::<String>()
        + &parameters(job, analysis, width)
        + "\n"
        + &modes::table(&posterior.modes(), width).map_or_else(String::new, |table| table + "\n")
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
        line("tail", evidence::tail(&tail));
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
    if let Some(passes) = &job.rows.passes {
        line("passes", passes.sentence());
    }
    line("time", format!("fitting {}", duration(*seconds)));
    if let Some(path) = run_folder {
        line("kept in", path.display().to_string());
    }
    page + "\nNext: " + &next::next(job, analysis) + "\n"
}

/// Why there is no check of the model.
fn unchecked(job: &Job) -> String {
    let why = match job.model.regression() {
        None => "checks are made of regressions with coefficients",
        Some(_) => "responses cannot be drawn, because a mean is too large",
    };
    format!("Model: not checked; {why}.")
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
        let indent = hanging(line);
        if shown_len(line) <= width || indent.is_none() {
            text += line;
            text.push('\n');
            continue;
        }
        let indent = indent.unwrap_or(0);
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

/// Places before what is said, in a line of a name and what is said about it, or of two columns; 0 in prose and `None`
/// in a line of a larger table, which cannot be folded.
fn hanging(line: &str) -> Option<usize> {
    /// Places between columns, at least.
    const GAP: &str = "   ";
    let places: Vec<char> = line.chars().filter(|c| *c != '\u{302}').collect();
    let is_named = places.get(NAME - 1) == Some(&' ') && places.get(NAME).is_some_and(|c| *c != ' ');
    let rest: String = places.iter().skip(NAME).collect();
    if is_named && !rest.contains(GAP) && (line.starts_with(GAP) || line.find(GAP).is_some_and(|at| at < NAME)) {
        return Some(NAME);
    }
    match line.trim_start().split(GAP).filter(|part| !part.trim().is_empty()).count() {
        0 | 1 => Some(if is_named && line.contains("  ") { NAME } else { 0 }),
        2 => line.rfind(GAP).map(|at| shown_len(&line[..at]) + GAP.len()),
        _ => None,
    }
}

/// Places of a name before what is said about it.
const NAME: usize = 13;

/// A name and what there is to say about it.
pub(crate) fn line(name: &str, value: &str) -> String {
    // A combining accent takes a character and no room.
    let width = NAME + name.matches('\u{302}').count();
    format!("{name:<width$}{value}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_hang_where_they_began_and_tables_stay() {
        let page = "prior        intercept N(0, 2.5²), all columns at their means; bill N(0, 0.09344²)\n\
                    stopped      converged after 2 steps: less than 0.01 nats are left\n\
                    weights move a mean   0.0174 ± 0.0025 sd (contract=two years)\n\
                    a   1.000000000   2.00000000   3.00000000\n\
                    A sentence of more words than there is room for on a line.\n";
        let expected = "prior        intercept N(0, 2.5²), all\n             columns at their means;\n             bill \
                        N(0, 0.09344²)\nstopped      converged after 2 steps:\n             less than 0.01 nats are\n\
                        \u{20}            left\nweights move a mean   0.0174 ± 0.0025 sd\n                      \
                        (contract=two\n                      years)\na   1.000000000   2.00000000   3.00000000\nA \
                        sentence of more words than there is\nroom for on a line.\n";
        assert_eq!(folded_to(page, 40), expected);
    }
}
