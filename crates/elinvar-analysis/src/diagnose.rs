//! A kept fit judged again, with fresh draws.

use std::path::PathBuf;

use elinvar::Posterior;
use elinvar::posterior::{Agreement, Diagnostics, Estimate, GivenBy, Judgement, Rung, Shift, WideDraws};
use serde::Serialize;

use crate::analysis::without_stand_ins;
use crate::error::Error;
use crate::job::Job;
use crate::json::Head;
use crate::kept::Kept;
use crate::number::{decimals, fixed, grouped, with_error};
use crate::page::ladder;
use crate::page::{self, ending, evidence, given};
use crate::size::check_draws;
use crate::table::{self, Align, Column};
use crate::words::{self, FileName};

/// So many parameters are listed, those that move most.
const LISTED: usize = 10;

/// Another seed than that of the fit, which has judged it already.
fn next_seed(seed: u64) -> u64 {
    if seed >= i64::MAX as u64 { 0 } else { seed + 1 }
}

/// A fit with a second opinion.
pub struct SecondOpinion {
    /// The fit.
    pub posterior: Posterior,
    /// What is said now.
    pub judgement: Judgement,
    diagnostics: Diagnostics,
    few_draws_dominate: bool,
    /// What was said when it was fitted.
    before: Option<Judgement>,
    elbo_before: Option<Estimate>,
    job: Job,
    path: PathBuf,
    seed: u64,
}

#[derive(Serialize)]
struct Object<'a> {
    #[serde(flatten)]
    head: Head,
    log_normaliser: f64,
    log_normaliser_se: f64,
    pareto_k: Option<f64>,
    pareto_k_threshold: f64,
    effective_sample_size: f64,
    verdict: &'static str,
    reason: &'a str,
    given_by: &'static str,
    n_draws: usize,
    dropped: usize,
    wide: Option<WideDraws>,
    shifts: &'a [Shift],
    agreement: &'a Agreement,
    rungs: &'a [Rung],
    seed: u64,
    run_dir: &'a str,
}

impl SecondOpinion {
    /// Judges a kept fit; as many draws as the fit took, and the next seed, unless others are given.
    ///
    /// # Errors
    /// Those of the model and its data.
    pub fn new(kept: Kept, draws: Option<usize>, seed: Option<u64>) -> Result<Self, Error> {
        let job = kept.job()?;
        let (draws, seed) = (draws.unwrap_or(job.diagnostic_draws), seed.unwrap_or(next_seed(job.plan.seed)));
        check_draws("--draws", draws, 1, kept.posterior.dim())?;
        let before = kept.posterior.judgement().cloned();
        let elbo_before = kept.posterior.diagnostics().map(|diagnostics| diagnostics.elbo);
        let Kept { mut posterior, path, .. } = kept;
        let judgement = posterior.judge(job.target(), draws, seed).map_err(Error::of_fit)?;
        let diagnostics = posterior.diagnostics().expect("a verdict comes with diagnostics").clone();
        let (diagnostics, few_draws_dominate) = without_stand_ins(diagnostics);
        Ok(Self { posterior, judgement, diagnostics, few_draws_dominate, before, elbo_before, job, path, seed })
    }

    /// One JSON object.
    pub fn json(&self) -> String {
        let d = &self.diagnostics;
        let object = Object {
            head: Head::new(&self.posterior, d.elbo),
            log_normaliser: d.log_normaliser.value,
            log_normaliser_se: d.log_normaliser.mcse,
            pareto_k: d.pareto_k,
            pareto_k_threshold: d.pareto_k_threshold,
            effective_sample_size: d.effective_sample_size,
            verdict: self.judgement.verdict.name(),
            reason: &self.judgement.reason,
            given_by: self.posterior.given_by().name(),
            n_draws: d.n_draws,
            dropped: d.dropped,
            wide: d.wide,
            shifts: &d.shifts,
            agreement: self.posterior.agreement(),
            rungs: self.posterior.rungs(),
            seed: self.seed,
            run_dir: &self.path.display().to_string(),
        };
        serde_json::to_string(&object).expect("numbers and strings are always JSON") + "\n"
    }

    /// The page.
    pub fn page(&self) -> String {
        let (job, posterior, diagnostics) = (&self.job, &self.posterior, &self.diagnostics);
        let title = words::title(job, posterior, FileName::Given);
        let mut page = format!("{title}\n\n{}\n", evidence::folded(&evidence::verdict(&self.judgement)));
        page += &(shifts(&diagnostics.shifts) + "\n");
        if posterior.rungs().len() > 1 {
            page += &(ladder::table(posterior.rungs()) + "\n");
        }
        let mut line = |name: &str, value: String| page += &page::line(name, &value);
        line("ELBO", with_error(diagnostics.elbo.value, diagnostics.elbo.mcse) + " nats");
        if let Some(elbo) = self.elbo_before {
            let verdict = self.before.as_ref().map_or(String::new(), |judgement| {
                format!("; the verdict was: {}", judgement.verdict.name().replace('_', " "))
            });
            line("", format!("{} nats when it was fitted{verdict}", ladder::estimate(elbo)));
        }
        line("given by", given::word(posterior.given_by()).into());
        let (normaliser, gap) = (diagnostics.log_normaliser, diagnostics.gap());
        line(
            "log evidence",
            format!(
                "{} nats by importance sampling, {} nats above the ELBO",
                with_error(normaliser.value, normaliser.mcse),
                ladder::estimate(gap)
            ),
        );
        line("Pareto k\u{302}", evidence::pareto(diagnostics, self.few_draws_dominate, GivenBy::Approximation));
        let (effective, _) = diagnostics.effective_draws();
        let all = diagnostics.n_draws + diagnostics.wide.map_or(0, |wide| wide.n_draws);
        line(
            "draws",
            format!("{}, worth {} of the posterior itself", grouped(all as u64), grouped(effective.round() as u64)),
        );
        if diagnostics.dropped > 0 {
            line("", format!("{} dropped because the log density was not finite", grouped(diagnostics.dropped as u64)));
        }
        if !posterior.agreement().restarts.is_empty() {
            line("restarts", evidence::restarts(&posterior.agreement().restarts, job.plan.restarts));
        }
        let modes = posterior.agreement().modes.len();
        if posterior.agreement().searches > 1 {
            let found = if modes == 1 { "the same mode".into() } else { format!("{modes} modes") };
            line("starts", format!("{} searches ended at {found}", posterior.agreement().searches));
        }
        line("stopped", ending::Ending::of(posterior).sentence(job.plan.stop.remaining_nats));
        page
    }
}

/// How far weights towards the posterior move means and standard deviations, the farthest first.
fn shifts(shifts: &[Shift]) -> String {
    let size = |shift: &Shift| shift.mean.value.abs().max(shift.log_sd.value.abs());
    let mut worst: Vec<&Shift> = shifts.iter().collect();
    worst.sort_by(|a, b| size(b).total_cmp(&size(a)));
    let rest = worst.len().saturating_sub(LISTED);
    worst.truncate(LISTED);
    let estimate = |value: f64, error: f64| {
        if !error.is_finite() {
            return format!("{} ± unknown", fixed(value, 3));
        }
        let decimals = decimals(error).saturating_sub(1).clamp(3, 5);
        format!("{} ± {}", fixed(value, decimals), fixed(error, decimals))
    };
    let mut text = table::text(vec![
        Column::new(Align::Left, "Shifts", worst.iter().map(|shift| shift.name.clone())),
        Column::new(Align::Estimate, "mean, sd", worst.iter().map(|shift| estimate(shift.mean.value, shift.mean.mcse))),
        Column::new(
            Align::Estimate,
            "sd, factor",
            worst.iter().map(|shift| {
                // The error of eˣ is eˣ times that of x.
                let factor = shift.log_sd.value.exp();
                estimate(factor, factor * shift.log_sd.mcse)
            }),
        ),
        Column::new(
            Align::Left,
            "",
            worst.iter().map(|shift| match &shift.instead {
                Some(name) => format!("not judged: it may have no moments, {name} has"),
                None => String::new(),
            }),
        ),
    ]);
    if rest > 0 {
        text += &format!("and {} that move less\n", grouped(rest as u64));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_farthest_comes_first() {
        let shift = |name: &str, mean, log_sd| Shift {
            name: name.into(),
            mean: Estimate { value: mean, mcse: 0.002 },
            log_sd: Estimate { value: log_sd, mcse: 0.01 },
            instead: None,
        };
        let mut all = vec![shift("a", 0.01, 0.0), shift("b", -0.2, 0.05), shift("c", 0.0, 0.1)];
        let expected = "\
Shifts           mean, sd      sd, factor
b        -0.200 ± 0.0020   1.051 ± 0.011
c         0.000 ± 0.0020   1.105 ± 0.011
a         0.010 ± 0.0020   1.000 ± 0.010
";
        let squeezed = |text: &str| text.split_whitespace().map(String::from).collect::<Vec<_>>().join(" ");
        let numbers = |text: &str| squeezed(text).replace("0.0020", "0.002").replace("0.2000", "0.200");
        assert_eq!(numbers(&shifts(&all)).replace("0.0000", "0.000").replace("0.0100", "0.010"), numbers(expected));
        all.extend((0..12).map(|i| shift(&format!("z{i}"), 1e-4, 0.0)));
        assert!(shifts(&all).ends_with("\nand 5 that move less\n"));
        assert_eq!((next_seed(1), next_seed(i64::MAX as u64)), (2, 0));
    }
}
