//! Whether the verdict of a fit agrees with the truth.

use elinvar::family::Kind;
use elinvar::internals::posterior::limits;
use elinvar::posterior::Verdict;
use elinvar::{Family, Plan};

use crate::arguments::{number, options};
use crate::families::label;
use crate::page::{Table, publish};
use crate::pairs::{Pairs, fresh, known};
use crate::problems::Problem;
use crate::threads;
use crate::truth::{Errors, GOOD_MEAN, GOOD_SD};

/// Draws that a verdict rests on at first.
const DRAWS: usize = 10_000;
/// First seeds of the pairs on which the rule was chosen and of the others.
const SEEDS: [u64; 2] = [1, 101];
/// How many fits that are not good may be trusted.
const MOST_VIOLATIONS: usize = 1;
/// The share of the good fits that must be trusted.
const LEAST_TRUSTED: f64 = 0.8;

/// What a fit says of itself, and what is true.
struct Fit {
    /// The family asked for and, for the ladder, the one it ended with.
    family: String,
    verdict: Verdict,
    reason: String,
    k_hat: Option<f64>,
    effective: f64,
    mean_shift: f64,
    sd_change: f64,
    gradients: u64,
    seconds: f64,
    /// `None` where there is no truth to be near to.
    errors: Option<Errors>,
}

impl Fit {
    fn good(&self) -> bool {
        self.errors.is_some_and(|errors| errors.good())
    }

    fn good_means(&self) -> bool {
        self.errors.is_some_and(|errors| errors.good_means())
    }
}

fn fit(problem: &Problem, family: Family, seed: u64) -> Result<Fit, String> {
    let plan = Plan { seed, ..Plan::default() };
    let target = problem.target.as_ref();
    let mut posterior = elinvar::run::fit(target, family, &plan).map_err(|e| e.to_string())?;
    let errors = problem.moments.as_ref().map(|truth| Errors::of(&posterior, truth));
    let judgement = posterior.judge(target, DRAWS, 7_000 + seed).map_err(|e| e.to_string())?;
    let diagnostics = posterior.diagnostics().ok_or("a judged fit has diagnostics")?;
    let wanted = label(family);
    Ok(Fit {
        family: if family == posterior.family() { wanted } else { format!("{wanted}: {}", label(posterior.family())) },
        verdict: judgement.verdict,
        reason: judgement.reason,
        k_hat: diagnostics.pareto_k,
        effective: diagnostics.effective_draws().1,
        mean_shift: diagnostics.worst_mean().map_or(0.0, |shift| shift.mean.value.abs()),
        sd_change: diagnostics.worst_sd().map_or(0.0, |shift| shift.log_sd.value.exp()),
        gradients: posterior.counts().gradient,
        seconds: posterior.seconds(),
        errors,
    })
}

/// Sums over the fits. A fit that ended with an error claims nothing.
#[derive(Default)]
struct Totals {
    name: &'static str,
    pairs: usize,
    fits: usize,
    good: usize,
    good_trusted: usize,
    /// Trusted and not good.
    violations: Vec<String>,
    /// Means trusted that are not good.
    wrong_means: Vec<String>,
    refused: usize,
}

impl Totals {
    fn add(&mut self, name: &str, fit: &Fit) {
        self.fits += 1;
        self.good += usize::from(fit.good());
        self.good_trusted += usize::from(fit.good() && fit.verdict == Verdict::Trust);
        if fit.verdict == Verdict::Trust && !fit.good() {
            self.violations.push(name.into());
        }
        if fit.verdict == Verdict::TrustMeansOnly && !fit.good_means() {
            self.wrong_means.push(name.into());
        }
    }

    fn trusted_share(&self) -> f64 {
        self.good_trusted as f64 / self.good.max(1) as f64
    }

    /// Adds the sums of another set.
    fn join(&mut self, other: &Totals) {
        self.pairs += other.pairs;
        self.fits += other.fits;
        self.good += other.good;
        self.good_trusted += other.good_trusted;
        self.violations.extend_from_slice(&other.violations);
        self.wrong_means.extend_from_slice(&other.wrong_means);
        self.refused += other.refused;
    }

    fn passed(&self) -> bool {
        self.violations.len() <= MOST_VIOLATIONS && (self.good == 0 || self.trusted_share() >= LEAST_TRUSTED)
    }

    fn sentences(&self) -> String {
        let list = |names: &[String]| if names.is_empty() { String::new() } else { format!(": {}", names.join("; ")) };
        format!(
            "**{}**: {} pairs, {} fits that ended, {} that ended with an error.\n\n\
             - Trusted and not good: {}{}.\n\
             - Good and trusted: {} of {}, {:.0} %.\n\
             - Means trusted, and only they, and not good: {}{}.\n\n",
            self.name,
            self.pairs,
            self.fits,
            self.refused,
            self.violations.len(),
            list(&self.violations),
            self.good_trusted,
            self.good,
            100.0 * self.trusted_share(),
            self.wrong_means.len(),
            list(&self.wrong_means),
        )
    }
}

/// The fits of a set of pairs: a table, and totals of the pairs with a family and of those of the ladder.
fn calibrate(all: &[Pairs], seeds: usize, first: u64, totals: &mut [Totals; 2]) -> String {
    let mut table = Table::new([
        "problem",
        "family",
        "seed",
        "verdict",
        "k̂",
        "ESS",
        "mean shift",
        "sd shift",
        "true mean error",
        "true sd ratio",
        "good",
        "agrees",
        "gradients",
        "seconds",
    ]);
    for Pairs { problem, families } in all {
        for family in families {
            let totals = &mut totals[usize::from(family.kind == Kind::Auto)];
            totals.pairs += 1;
            let fits = threads::for_each(seeds, |i| fit(problem, *family, first + i as u64));
            for (seed, fit) in (first..).zip(&fits) {
                let name = format!("{}, {}, seed {seed}", problem.name, label(*family));
                match fit {
                    Ok(fit) => {
                        totals.add(&name, fit);
                        eprintln!("{name}: {}: {}", fit.verdict, fit.reason);
                        table.push(row(problem, seed, fit));
                    }
                    Err(problem_text) => {
                        totals.refused += 1;
                        eprintln!("{name}: error: {problem_text}");
                        let mut cells: [String; 14] = std::array::from_fn(|_| "–".into());
                        cells[0] = problem.name.clone();
                        cells[1] = label(*family);
                        cells[2] = seed.to_string();
                        cells[3] = "(error)".into();
                        table.push(cells);
                    }
                }
            }
        }
    }
    table.markdown()
}

fn row(problem: &Problem, seed: u64, fit: &Fit) -> [String; 14] {
    let (mean, sd) = fit.errors.map_or(("none".into(), "none".into()), |errors| {
        (format!("{:.3}", errors.mean), format!("{:.3}", errors.sd_ratio))
    });
    let agrees = match fit.verdict {
        Verdict::Trust => fit.good(),
        Verdict::TrustMeansOnly => fit.good_means() && !fit.good(),
        Verdict::DoNotTrust => !fit.good(),
    };
    [
        problem.name.clone(),
        fit.family.clone(),
        seed.to_string(),
        fit.verdict.to_string(),
        fit.k_hat.map_or("–".into(), |k| format!("{k:.2}")),
        format!("{:.1} %", 100.0 * fit.effective),
        format!("{:.3}", fit.mean_shift),
        format!("{:.3}", fit.sd_change),
        mean,
        sd,
        if fit.good() { "yes" } else { "no" }.into(),
        if agrees { "yes" } else { "NO" }.into(),
        fit.gradients.to_string(),
        format!("{:.2}", fit.seconds),
    ]
}

fn introduction() -> String {
    format!(
        "# The verdict and the truth

A fit ends with one of three verdicts. `trust`: every mean is within {GOOD_MEAN} standard deviations and every standard deviation
within {:.0} %, as far as can be seen. `trust_means_only`: the means are, the standard deviations may not be. `do_not_trust`:
neither. The rule is the function `judge` of `crates/elinvar/src/posterior/verdict.rs`, and its constants are:

| constant | value |
|---|---|
| a mean is right within, in standard deviations | {} |
| a standard deviation is right if its logarithm is within | {} |
| estimates stay within the limits by so many standard errors | {} |
| share of draws at which the log density may fail | {} |
| effective draws below which nothing is believed | {} |
| effective share of the draws from which means are believed | {} |
| effective share of the draws from which standard deviations are believed | {} |
| share of a second moment that one draw may have, for a transformed parameter to be judged | {} |
| share of the mass that a missed mode may have | {} |

What is looked at are shifts: how far importance weights move a mean, in standard deviations, and by what factor they change a
standard deviation. Half of the draws are of the approximation q itself, and a quarter each of two multivariate t laws with two
degrees of freedom around it, as wide as q and three times as wide; their weights are p / (½ q + ¼ t₁ + ¼ t₃). Draws of q alone
miss what lies outside of it: with them Gaussian fits of Student-t laws and a mixture fitted to a Cauchy law passed. Modes that
no draw reaches are known from the searches for modes.

The tables below are the evidence for the rule: targets whose means and standard deviations are known, each fitted by the families named
with the default plan and judged with {DRAWS} draws of q and as many others (more where noise decides). A fit is *good* if it
satisfies what `trust` claims; where a target has no moments or no normaliser, no fit is good. A verdict *agrees* if it
claims no more and no less than is true. Over all fits, at most {MOST_VIOLATIONS} may be trusted that is not good, and at least
{:.0} % of the good ones must be trusted. The constants were chosen on the first set of pairs; the families of the ladder (`auto`)
and the second set were added afterwards.

Written by `cargo xtask calibrate`.

",
        100.0 * GOOD_SD,
        limits::MEAN,
        limits::LOG_SD,
        limits::ERRORS,
        limits::DROPPED,
        limits::EFFECTIVE_DRAWS,
        limits::EFFECTIVE_SHARE_MEANS,
        limits::EFFECTIVE_SHARE,
        limits::LARGEST_DRAW,
        limits::MISSED_MODE_MASS,
        100.0 * LEAST_TRUSTED,
    )
}

/// `calibrate [--seeds N] [--only TEXT] [--write FILE]`
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    let [seeds, only, write] = options(arguments, ["--seeds", "--only", "--write"])?;
    let seeds = number("--seeds", seeds.as_ref(), 2)?;
    let named = |name| Totals { name, ..Totals::default() };
    let mut totals =
        [[named("First set"), named("First set, ladder")], [named("Second set"), named("Second set, ladder")]];
    let mut tables = String::new();
    for ((mut pairs, totals), first) in [known(), fresh()].into_iter().zip(&mut totals).zip(SEEDS) {
        pairs.retain(|pairs| only.as_ref().is_none_or(|text| pairs.problem.name.contains(text)));
        let table = calibrate(&pairs, seeds, first, totals);
        tables += &format!("\n## {}\n\n{table}", totals[0].name);
    }
    let mut sum = named("All");
    totals.iter().flatten().for_each(|part| sum.join(part));
    let sums: String = totals.iter().flatten().chain([&sum]).map(Totals::sentences).collect();
    publish(&format!("{}{sums}{tables}", introduction()), write.as_ref())?;
    if sum.passed() { Ok(()) } else { Err("the verdict is not calibrated".into()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problems::elliptical::{equicorrelated, gaussian, student_t};
    use crate::problems::pathological::unbounded;
    use crate::problems::regressions::breast_cancer;
    use crate::problems::shapes::{banana, funnel};

    fn verdict(problem: &Problem, family: Family) -> (Verdict, String, bool) {
        let fit = fit(problem, family, 1).unwrap();
        (fit.verdict, fit.reason.clone(), fit.good())
    }

    #[test]
    fn good_fits_are_trusted() {
        let cases = [
            (gaussian(10, 1e4), Family::gaussian()),
            (breast_cancer(), Family::gaussian()),
            (equicorrelated(5, 0.15), Family::gaussian().diagonal()),
            (banana(1.0, 0.1), Family::skew()),
        ];
        for (problem, family) in cases {
            let (verdict, reason, good) = verdict(&problem, family);
            assert!(good && verdict == Verdict::Trust, "{}: {verdict}: {reason}", problem.name);
        }
    }

    #[test]
    fn bad_fits_are_not_trusted() {
        let cases = [
            (equicorrelated(20, 0.7), Family::gaussian().diagonal()),
            (banana(2.0, 0.5), Family::gaussian()),
            (funnel(10), Family::gaussian()),
            (unbounded(3), Family::gaussian()),
            (student_t(3, 1.0, 10.0), Family::student_t(1.5)),
        ];
        for (problem, family) in cases {
            let (verdict, reason, good) = verdict(&problem, family);
            assert!(!good && verdict != Verdict::Trust, "{}: {verdict}: {reason}", problem.name);
        }
    }

    #[test]
    fn violations_are_counted() {
        let mut totals = Totals::default();
        let mut wrong = fit(&gaussian(2, 10.0), Family::gaussian(), 1).unwrap();
        totals.add("right", &wrong);
        assert!(totals.passed() && totals.good == 1);
        wrong.errors = None;
        totals.add("wrong", &wrong);
        totals.add("wrong", &wrong);
        assert!(!totals.passed() && totals.violations.len() == 2);
    }
}
