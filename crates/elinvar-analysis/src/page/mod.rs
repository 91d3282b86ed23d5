//! The page that `elinvar fit` prints.

pub mod ending;
pub mod evidence;
pub mod ladder;
pub mod next;
mod parameters;

use elinvar::Family;

use crate::analysis::Report;
use crate::family::family_in_words;
use crate::held_out;
use crate::job::{About, Job};
use crate::number::{duration, grouped, significant, with_error};
use crate::prior::Priors;
use crate::settings::ModelName;

/// The whole page.
pub fn text(job: &Job, report: &Report) -> String {
    let Report { posterior, judgement, diagnostics, few_draws_dominate, parameters, test, seconds, run_folder, .. } =
        report;
    let counts = posterior.counts();
    let mut page = title(job, posterior.dim(), &posterior.family())
        + "\n\n"
        + &evidence::verdict(judgement)
        + "\n"
        + &report.warnings.iter().map(|warning| evidence::folded(warning) + "\n").collect::<String>()
        + &parameters::table(parameters)
        + "\n";
    if let Some(test) = test {
        page += &(held_out::table(test) + "\n");
    }
    if posterior.rungs().len() > 1 {
        page += &(ladder::table(posterior.rungs()) + "\n");
    }
    let mut line = |name: &str, value: String| page += &self::line(name, &value);
    if let Priors::ByData { .. } = job.about.priors {
        line("prior", job.about.priors.words(&job.about.kinds, &job.about.transforms));
    }
    line("ELBO", with_error(diagnostics.elbo.value, diagnostics.elbo.mcse) + " nats");
    line("Pareto k\u{302}", evidence::pareto(diagnostics, *few_draws_dominate));
    if let Some(tail) = posterior.tail_index() {
        let degrees = tail.standard_error.map_or_else(
            || significant(tail.degrees_of_freedom),
            |error| with_error(tail.degrees_of_freedom, 2.0 * error),
        );
        line("tail", format!("{degrees} degrees of freedom, learned"));
    }
    if let [_] = posterior.rungs() {
        line("ladder", evidence::only_rung(judgement).into());
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
    line("", format!("{} log density{gradients} more for the verdict", grouped(spent.log_density)));
    line("draws", format!("at most {} per step", grouped(posterior.peak_draws() as u64)));
    line("time", format!("fitting {}", duration(*seconds)));
    if let Some(path) = run_folder {
        line("kept in", path.display().to_string());
    }
    page + "\nNext: " + &next::next(job, report) + "\n"
}

/// A name and what there is to say about it.
pub fn line(name: &str, value: &str) -> String {
    // A combining accent takes a character and no room.
    let width = 13 + name.matches('\u{302}').count();
    format!("{name:<width$}{value}\n")
}

/// What is being fitted, in one line.
pub fn title(job: &Job, n_parameters: usize, family: &Family) -> String {
    let About { model, file, priors, sigma_scale, .. } = &job.about;
    let words = match model {
        ModelName::Logistic => "Logistic regression",
        ModelName::Linear => "Linear regression",
        ModelName::Poisson => "Poisson regression",
        ModelName::Network => &network(&job.about),
        ModelName::Rate => "Rate of counts",
        ModelName::Proportion => "Proportion",
        ModelName::Direction => "Mean direction",
    };
    let file = file.as_deref().unwrap_or("the embedded breast-cancer data");
    let prior = match model {
        ModelName::Rate => "log-normal(0, 10²)".into(),
        ModelName::Proportion => "logit-normal(0, 1.5²)".into(),
        ModelName::Direction => "uniform".into(),
        _ => priors.title(),
    };
    let sigma = sigma_scale.map_or(String::new(), |scale| format!(", sigma half-Cauchy({})", significant(scale)));
    let family = family_in_words(family);
    let parameters = if n_parameters == 1 { "parameter" } else { "parameters" };
    let rows = rows(&job.about);
    format!("{words} on {file}: {rows}, {n_parameters} {parameters}, prior {prior}{sigma}; {family}")
}

fn network(about: &About) -> String {
    let hidden = about.network.as_ref().map_or(&[][..], |network| &network.architecture.hidden);
    let units: Vec<String> = hidden.iter().map(usize::to_string).collect();
    format!("Neural network ({} hidden units)", units.join(" + "))
}

/// The number of rows, with those that were dropped or held out.
fn rows(about: &About) -> String {
    let others = [(about.n_read - about.n_rows, "held out"), (about.n_dropped, "dropped for missing cells")];
    let others: Vec<String> = others.iter().filter(|(n, _)| *n > 0).map(|(n, why)| format!("{n} {why}")).collect();
    let others = if others.is_empty() { String::new() } else { format!(" ({})", others.join(", ")) };
    let scaled = if about.is_scaled() && about.scaling_is_asked { ", columns scaled" } else { "" };
    format!("{} rows{others}{scaled}", about.n_rows)
}
