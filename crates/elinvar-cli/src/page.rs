//! The page that `elinvar fit` prints.

use elinvar::family::Kind;
use elinvar::posterior::{Diagnostics, Estimate, Judgement, ParameterSummary, Verdict};
use elinvar::run::StopReason;
use elinvar::target::Covariance;
use elinvar::{Family, Posterior};

use crate::family::family_in_words;
use crate::job::{About, Job};
use crate::number::{decimals, duration, fixed, grouped, significant, with_error};
use crate::report::Report;
use crate::settings::ModelName;
use crate::shell;
use crate::{held_out, ladder};

/// The whole page.
pub(crate) fn text(job: &Job, report: &Report) -> String {
    let Report { posterior, judgement, diagnostics, few_draws_dominate, parameters, test, seconds, run_dir } = report;
    let counts = posterior.counts();
    let mut page = title(job, posterior.dim(), &posterior.family())
        + "\n\n"
        + &verdict(judgement)
        + "\n"
        + &table(parameters)
        + "\n";
    if let Some(test) = test {
        page += &(held_out::table(test) + "\n");
    }
    if posterior.rungs().len() > 1 {
        page += &(ladder::table(posterior.rungs()) + "\n");
    }
    let mut line = |name: &str, value: String| {
        // A combining accent takes a character and no room.
        let width = 13 + name.matches('\u{302}').count();
        page += &format!("{name:<width$}{value}\n");
    };
    line("ELBO", with_error(diagnostics.elbo.value, diagnostics.elbo.mcse) + " nats");
    line("Pareto k\u{302}", pareto(diagnostics, *few_draws_dominate));
    if let Some(tail) = posterior.tail_index() {
        let degrees = tail.standard_error.map_or_else(
            || significant(tail.degrees_of_freedom),
            |error| with_error(tail.degrees_of_freedom, 2.0 * error),
        );
        line("tail", format!("{degrees} degrees of freedom, learned"));
    }
    if let [_] = posterior.rungs() {
        line("ladder", only_rung(judgement).into());
    }
    if !posterior.agreement().restarts.is_empty() {
        line("restarts", restarts(&posterior.agreement().restarts, job.plan.restarts));
    }
    line("stopped", Ending::of(posterior).sentence(job.plan.stop.remaining_nats));
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
    if let Some(path) = run_dir {
        line("kept in", path.display().to_string());
    }
    page + "\nNext: " + &next(job, report) + "\n"
}

/// The verdict and its reason, in lines that fit a terminal.
fn verdict(Judgement { verdict, reason }: &Judgement) -> String {
    const WIDTH: usize = 110;
    let mut lines = vec![format!("Verdict: {}.", verdict.name().replace('_', " "))];
    for word in reason.split(' ') {
        let last = lines.last_mut().expect("there is a first line");
        // A combining accent takes no room.
        if last.chars().filter(|c| *c != '\u{302}').count() + 1 + word.chars().count() > WIDTH {
            lines.push(word.into());
        } else {
            *last += &format!(" {word}");
        }
    }
    lines.join("\n") + "\n"
}

/// What is being fitted, in one line.
pub(crate) fn title(job: &Job, n_parameters: usize, family: &Family) -> String {
    let About { model, file, prior_precision, sigma_scale, .. } = &job.about;
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
        _ if *prior_precision == 1.0 => "N(0, 1)".into(),
        _ => format!("N(0, {}²)", significant(1.0 / prior_precision.sqrt())),
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
    let mut text = format!("{} rows", about.n_rows);
    let held_out = about.n_read - about.n_rows;
    if held_out > 0 {
        text += &format!(" ({held_out} held out)");
    }
    if about.n_dropped > 0 {
        text += &format!(" ({} dropped for missing cells)", about.n_dropped);
    }
    if about.is_scaled() { text + ", columns scaled" } else { text }
}

/// Columns aligned at the decimal points, the number of decimals following the standard deviation.
fn table(parameters: &[ParameterSummary]) -> String {
    /// Up to this many decimals, all rows have as many as the one that needs most.
    const UNIFORM: usize = 4;
    let most = parameters.iter().map(|p| decimals(p.sd)).max().unwrap_or(0);
    let mut columns = vec![Vec::new(); 4];
    for p in parameters {
        let decimals = if most <= UNIFORM { most } else { decimals(p.sd) };
        for (column, value) in columns.iter_mut().zip([p.mean, p.sd, p.q5, p.q95]) {
            column.push(fixed(value, decimals));
        }
    }
    for (column, name) in columns.iter_mut().zip(["mean", "sd", "q5", "q95"]) {
        align_points(column);
        let width = column.iter().map(String::len).max().unwrap_or(0).max(name.len());
        column.insert(0, format!("{name:>width$}"));
        column.iter_mut().for_each(|cell| *cell = format!("{cell:>width$}"));
    }
    let names: Vec<&str> = std::iter::once("parameter").chain(parameters.iter().map(|p| p.name.as_str())).collect();
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    for (i, name) in names.iter().enumerate() {
        let cells: Vec<&str> = columns.iter().map(|column| column[i].as_str()).collect();
        text += format!("{name:<width$}   {}", cells.join("   ")).trim_end();
        text.push('\n');
    }
    text
}

fn align_points(cells: &mut [String]) {
    let after = |cell: &str| cell.find('.').map_or(0, |point| cell.len() - point);
    let longest = cells.iter().map(|cell| after(cell)).max().unwrap_or(0);
    for cell in cells {
        let padding = longest - after(cell);
        cell.push_str(&" ".repeat(padding));
    }
}

fn pareto(diagnostics: &Diagnostics, few_draws_dominate: bool) -> String {
    /// Weights of so large an effective share of the draws are nearly equal, whatever their tail.
    const NEARLY_ALL: f64 = 0.9;
    let threshold = diagnostics.pareto_k_threshold;
    let draws = grouped(diagnostics.n_draws as u64);
    match diagnostics.pareto_k {
        _ if !diagnostics.elbo.mcse.is_finite() => "not known: the log density is too large to be compared".into(),
        _ if few_draws_dominate => {
            "not known: very few draws outweigh all others; importance sampling from this fit is not reliable".into()
        }
        None => format!("not known: {draws} draws are too few to say; raise --diagnostic-draws"),
        Some(k) if k <= threshold => {
            format!("{k:.2}, below {threshold:.2} for {draws} draws: importance sampling from this fit is reliable")
        }
        Some(k) => {
            let is_doubtful = diagnostics.effective_sample_size > NEARLY_ALL * diagnostics.n_draws as f64;
            let doubt = if is_doubtful { "; more --diagnostic-draws would tell" } else { "" };
            format!(
                "{k:.2}, above {threshold:.2} for {draws} draws: importance sampling from this fit is not reliable{doubt}"
            )
        }
    }
}

/// What is said of a ladder that ended at its first rung.
fn only_rung(judgement: &Judgement) -> &'static str {
    match judgement.verdict {
        Verdict::Trust => "a Gaussian is enough; no other family was tried",
        _ => "no other family was tried",
    }
}

/// The bounds of the restarts that came to an end, of `asked` in all.
fn restarts(bounds: &[Estimate], asked: usize) -> String {
    /// So many are listed one by one.
    const LISTED: usize = 5;
    let mut text = format!("{asked}, bounds ");
    if bounds.len() <= LISTED {
        text += &bounds.iter().map(|bound| ladder::estimate(*bound)).collect::<Vec<_>>().join(", ");
    } else {
        let ordered = |a: &&Estimate, b: &&Estimate| a.value.total_cmp(&b.value);
        if let (Some(worst), Some(best)) = (bounds.iter().min_by(ordered), bounds.iter().max_by(ordered)) {
            text += &format!("from {} to {}", ladder::estimate(*worst), ladder::estimate(*best));
        }
    }
    let failed = asked.saturating_sub(bounds.len());
    if failed > 0 { text + &format!("; {failed} could not be fitted") } else { text }
}

/// How a fit ended.
struct Ending {
    reason: StopReason,
    n_steps: usize,
    n_rungs: usize,
    remaining: Option<(f64, f64)>,
}

impl Ending {
    fn of(posterior: &Posterior) -> Self {
        Self {
            reason: posterior.stop_reason(),
            n_steps: posterior.trace().len(),
            n_rungs: posterior.rungs().len(),
            remaining: remaining(posterior),
        }
    }

    fn sentence(&self, tolerance: f64) -> String {
        let left = self.remaining.map_or(String::new(), left_to_gain);
        let steps = match (self.n_steps, self.n_rungs) {
            (1, _) => "1 step".into(),
            (n, 0 | 1) => format!("{} steps", grouped(n as u64)),
            (n, rungs) => format!("{} steps of {rungs} families", grouped(n as u64)),
        };
        match self.reason {
            StopReason::Converged => {
                format!("converged after {steps}: less than {} nats are left to gain", significant(tolerance))
            }
            StopReason::MaxSteps => format!("not converged: the limit of steps was reached after {steps}{left}"),
            StopReason::MaxEvaluations => format!("not converged: the limit of evaluations was reached after {steps}"),
            StopReason::MaxSeconds => format!("not converged: the limit of time was reached after {steps}"),
            StopReason::Interrupted => format!("not converged: interrupted after {steps}"),
            StopReason::BadEvaluations => format!(
                "not converged: after {steps} the log density was not finite at most draws of many steps in a row"
            ),
            StopReason::Stuck => format!("not converged: after {steps} no step could be taken any more"),
            StopReason::Stagnated => {
                format!("not converged: after {steps} the bound no longer rose, and more draws did not help{left}")
            }
            StopReason::Diverged => format!(
                "not converged: after {steps} the approximation had become so wide or narrow that it was given up"
            ),
            other => format!("{other} after {steps}"),
        }
    }
}

fn left_to_gain((gain, error): (f64, f64)) -> String {
    if is_noise((gain, error)) {
        let decimals = decimals(error).saturating_sub(1).max(2);
        return format!("; what is left to gain is hidden by noise (± {} nats)", fixed(error, decimals));
    }
    format!(", with {} nats left to gain", with_error(gain, error))
}

/// Whether an estimated gain cannot be told from none.
fn is_noise((gain, error): (f64, f64)) -> bool {
    gain < 2.0 * error || gain < 0.0
}

/// The last estimate of what is left to gain, with its error; not known if the last steps were those of a family that was not
/// kept.
fn remaining(posterior: &Posterior) -> Option<(f64, f64)> {
    let is_of_the_kept = posterior.rungs().last().is_none_or(|rung| rung.kept);
    posterior.trace().last().filter(|_| is_of_the_kept).and_then(|step| step.remaining)
}

/// A command that makes sense after this fit.
fn next(job: &Job, report: &Report) -> String {
    if matches!(report.posterior.stop_reason(), StopReason::BadEvaluations | StopReason::Stuck) {
        return "look for columns with very large values; divide them by a constant or leave them out with --exclude"
            .into();
    }
    if report.posterior.stop_reason() == StopReason::Diverged {
        return "a narrower prior, --prior-sd; if that does not help, divide columns of very large or small values by a constant"
            .into();
    }
    if !report.posterior.converged() {
        let left = remaining(&report.posterior);
        let stagnated = report.posterior.stop_reason() == StopReason::Stagnated;
        if let Some(rows) = job.plan.minibatch.filter(|_| stagnated || left.is_none_or(is_noise)) {
            return larger_minibatch(rows, job.about.n_rows);
        }
        if stagnated || left.is_some_and(is_noise) {
            // The run may have taken more by itself.
            let taken = report.posterior.trace().last().map_or(0, |step| step.n_draws);
            let more = 4 * taken.max(job.plan.n_draws);
            return format!("the same command with --draws-per-step {more}: noise hides what is left");
        }
        if job.family == Family::auto().diagonal() {
            return "the same command with --covariance full".into();
        }
        let more = report.posterior.trace().len().max(1_000) * 4;
        return format!("the same command with --max-steps {more}");
    }
    if report.judgement.verdict != Verdict::Trust {
        return match (job.family.covariance, job.family.kind) {
            (Covariance::Diagonal, _) => "the same command with --covariance full".into(),
            (_, Kind::Mog { .. }) => "the same command with --components auto".into(),
            (_, Kind::MogAuto | Kind::Auto) => {
                format!("the same command with --tolerance {}", significant(0.2 * job.plan.stop.remaining_nats))
            }
            _ => "the same command with --family auto".into(),
        };
    }
    if let Some(path) = &report.run_dir {
        return format!("elinvar sample {} --draws 4000 --out draws.csv", shell::word(path));
    }
    match &job.about.file {
        None if report.posterior.family().kind == Kind::Gaussian => {
            "elinvar fit --family mog --components 4    (a higher ELBO is a closer approximation)".into()
        }
        None => "elinvar fit logistic FILE.csv --target COLUMN --out run1    (your own table)".into(),
        Some(_) => "the same command with --out run1 keeps this fit; then elinvar sample run1".into(),
    }
}

fn larger_minibatch(rows: usize, n_rows: usize) -> String {
    const FACTOR: usize = 4;
    let remedy = if rows < n_rows / FACTOR {
        format!("with --minibatch {}, or without", rows * FACTOR)
    } else {
        "without --minibatch".into()
    };
    format!("the same command {remedy}: the choice of rows hides what is left")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, mean: f64, sd: f64) -> ParameterSummary {
        ParameterSummary { name: name.into(), mean, sd, q5: mean - sd, q95: mean + sd }
    }

    #[test]
    fn points_stand_below_each_other() {
        let text = table(&[row("a", -1.0, 0.25), row("länge", 123.5, 2.0)]);
        let expected = "parameter      mean      sd        q5       q95
a            -1.000   0.250    -1.250    -0.750
länge       123.500   2.000   121.500   125.500
";
        assert_eq!(text, expected);
        let text = table(&[row("a", 1e-5, 2e-6), row("b", 123456.0, 2e3)]);
        let points: Vec<_> = text.lines().filter_map(|line| line.find('.')).collect();
        assert_eq!(points.len(), 1, "{text}");
        assert!(text.contains("123456") && text.contains("0.00001000"), "{text}");
    }

    #[test]
    fn a_reason_is_broken_into_lines_between_words() {
        let words = vec!["k\u{302}".to_owned(); 100].join(" ");
        let text = verdict(&Judgement { verdict: Verdict::TrustMeansOnly, reason: words.clone() });
        assert!(text.lines().count() > 1 && text.ends_with('\n'));
        assert!(text.lines().all(|line| line.chars().filter(|c| *c != '\u{302}').count() <= 110), "{text}");
        assert_eq!(text.replace('\n', " ").trim_end(), format!("Verdict: trust means only. {words}"));
    }

    #[test]
    fn a_gain_is_never_negative() {
        assert_eq!(left_to_gain((-0.3, 0.01)), "; what is left to gain is hidden by noise (± 0.010 nats)");
        assert_eq!(left_to_gain((0.3, 0.25)), "; what is left to gain is hidden by noise (± 0.25 nats)");
        assert_eq!(left_to_gain((0.3, 0.01)), ", with 0.300 ± 0.010 nats left to gain");
    }

    #[test]
    fn noise_of_rows_is_not_cured_by_draws() {
        let because = ": the choice of rows hides what is left";
        assert_eq!(larger_minibatch(10, 341), format!("the same command with --minibatch 40, or without{because}"));
        assert_eq!(larger_minibatch(300, 341), format!("the same command without --minibatch{because}"));
    }

    #[test]
    fn every_ending_has_a_sentence() {
        let ending = |reason, n_rungs| Ending { reason, n_steps: 1200, n_rungs, remaining: Some((0.3, 0.01)) };
        let said = |reason| ending(reason, 0).sentence(0.01);
        assert_eq!(said(StopReason::Converged), "converged after 1,200 steps: less than 0.01 nats are left to gain");
        assert_eq!(
            said(StopReason::Stagnated),
            "not converged: after 1,200 steps the bound no longer rose, and more draws did not help, with 0.300 ± 0.010 nats \
             left to gain"
        );
        assert!(
            said(StopReason::Diverged).starts_with("not converged: after 1,200 steps the approximation had become")
        );
        let of_three = ending(StopReason::MaxSteps, 3).sentence(0.01);
        assert!(
            of_three.starts_with("not converged: the limit of steps was reached after 1,200 steps of 3 families, with")
        );
        for reason in
            [StopReason::MaxEvaluations, StopReason::MaxSeconds, StopReason::BadEvaluations, StopReason::Stuck]
        {
            assert!(said(reason).starts_with("not converged: ") && !said(reason).contains(reason.name()));
        }
    }

    #[test]
    fn bounds_of_restarts_are_listed_or_bracketed() {
        let bounds: Vec<Estimate> = (0..7).map(|i| Estimate { value: -3.0 - f64::from(i), mcse: 0.1 }).collect();
        assert_eq!(restarts(&bounds[..2], 2), "2, bounds -3.00 ± 0.10, -4.00 ± 0.10");
        assert_eq!(restarts(&bounds[..2], 3), "3, bounds -3.00 ± 0.10, -4.00 ± 0.10; 1 could not be fitted");
        assert_eq!(restarts(&bounds, 7), "7, bounds from -9.00 ± 0.10 to -3.00 ± 0.10");
    }

    #[test]
    fn what_is_said_of_k() {
        let elbo = Estimate { value: -3.0, mcse: 0.1 };
        let mut diagnostics = Diagnostics {
            n_draws: 1000,
            dropped: 0,
            elbo,
            log_normaliser: elbo,
            pareto_k: Some(0.8),
            pareto_k_threshold: 0.67,
            effective_sample_size: 500.0,
            shifts: Vec::new(),
            wide: None,
            counts: Default::default(),
        };
        let plain = "0.80, above 0.67 for 1,000 draws: importance sampling from this fit is not reliable";
        assert_eq!(pareto(&diagnostics, false), plain);
        diagnostics.effective_sample_size = 950.0;
        assert_eq!(pareto(&diagnostics, false), format!("{plain}; more --diagnostic-draws would tell"));
        diagnostics.pareto_k = None;
        assert!(pareto(&diagnostics, false).starts_with("not known: 1,000 draws are too few"));
        assert!(pareto(&diagnostics, true).starts_with("not known: very few draws outweigh all others;"));
    }
}
