//! Whether a family that contains the Gaussian ever ends above it, and what it costs to find that out.

use elinvar::estimate::Curvature;
use elinvar::run::StopReason;
use elinvar::target::Target;
use elinvar::{Family, Plan, Posterior};

use crate::arguments::{number, options};
use crate::families::label;
use crate::page::{Table, publish};
use crate::problems::mixed::{Law, mixed};
use crate::problems::regressions::{beta_binomial, breast_cancer_model, generated_logistic, sonar};
use crate::problems::shapes::banana;
use crate::threads;

/// Nats by which the divergence may exceed that of the Gaussian.
const MOST_EXCESS: f64 = 0.01;
/// Times the gradients of the Gaussian fit.
const MOST_RATIO: f64 = 20.0;
/// Draws that a bound is estimated from.
const DRAWS: usize = 100_000;

/// The first seed of targets on which rules were chosen, and of those held back.
const SEEDS: [u64; 2] = [1, 101];

/// A target, with its name.
struct Subject {
    name: String,
    target: Box<dyn Target>,
    /// Whether no rule was chosen on it.
    held_back: bool,
}

fn subjects() -> Vec<Subject> {
    let subject = |name: String, target: Box<dyn Target>| Subject { name, target, held_back: false };
    let regression = |rows, columns, precision, seed| {
        let name = format!("logistic, {rows} rows, {columns} weights");
        subject(name, Box::new(generated_logistic(rows, columns, precision, seed)))
    };
    let problem = |problem: crate::problems::Problem| subject(problem.name, problem.target);
    let chosen_on = vec![
        subject("Breast-Cancer, 11 weights".into(), Box::new(breast_cancer_model())),
        subject("Sonar, 61 weights".into(), sonar().target),
        regression(270, 13, 1.0, 31),
        regression(60, 13, 0.1, 32),
        regression(40, 4, 0.04, 33),
        problem(beta_binomial()),
        problem(banana(1.0, 0.3)),
        problem(mixed("log-gamma, d = 3", &[Law::LogGamma { a: 2.0 }, Law::Normal, Law::LogGamma { a: 0.8 }], 4.0)),
    ];
    let held_back = [
        regression(120, 6, 1.0, 141),
        regression(200, 20, 0.5, 142),
        regression(50, 8, 0.1, 143),
        regression(400, 5, 1.0, 144),
        regression(80, 12, 0.2, 145),
        problem(banana(1.5, 0.2)),
        problem(mixed("log-gamma, d = 2", &[Law::LogGamma { a: 1.2 }, Law::Normal], 3.0)),
        problem(mixed("log-gamma, d = 5", &[Law::LogGamma { a: 3.0 }; 5], 2.0)),
    ];
    let held_back = held_back.into_iter().map(|subject| Subject { held_back: true, ..subject });
    chosen_on.into_iter().chain(held_back).collect()
}

/// A family with the Gaussian that it contains.
#[derive(Clone, Copy)]
struct Pair {
    family: Family,
    gaussian: Family,
    /// Whether its cost and its end are judged, too.
    judged: bool,
}

fn families() -> Vec<Pair> {
    let full = Family::gaussian();
    let bent =
        [Family::skew(), Family::emg(), Family::student_t_learned(), Family::nig_learned(), Family::snig_learned()];
    bent.map(|family| Pair { family, gaussian: full, judged: true })
        .into_iter()
        .chain([
            Pair { family: Family::rank_k(2), gaussian: full.diagonal(), judged: false },
            Pair { family: Family::mog(3), gaussian: full, judged: false },
        ])
        .collect()
}

/// What one fit reached.
struct Reached {
    elbo: f64,
    mcse: f64,
    gradients: u64,
    reason: StopReason,
    constant: Option<f64>,
}

fn fit(target: &dyn Target, family: Family, seed: u64, draws: usize) -> Result<Reached, String> {
    // By the steps that the others take: residual scores would give a Gaussian for a fifth of the gradients.
    let curvature = if target.about().offers.hessian { Curvature::Hessian } else { Curvature::Auto };
    let plan = Plan { seed, curvature, ..Plan::default() };
    let fitted = |posterior: Posterior| -> Result<Reached, elinvar::Error> {
        let elbo = posterior.importance(target, draws, 1_000)?.diagnostics.elbo;
        Ok(Reached {
            elbo: elbo.value,
            mcse: elbo.mcse,
            gradients: posterior.counts().gradient,
            reason: posterior.stop_reason(),
            constant: posterior.approximation().law().parameter(),
        })
    };
    elinvar::run::fit(target, family, &plan).and_then(fitted).map_err(|e| e.to_string())
}

/// Whether the fit was cut off.
fn is_capped(reason: StopReason) -> bool {
    reason != StopReason::Converged
}

/// The table and whether every row passed.
fn table(subjects: &[Subject], families: &[Pair], seeds: usize, draws: usize) -> (String, bool) {
    let mut table = Table::new([
        "target",
        "family",
        "KL above the Gaussian's",
        "gradients",
        "of the Gaussian",
        "ratio",
        "converged",
        "",
    ]);
    let mut passed = true;
    for subject in subjects {
        let target = subject.target.as_ref();
        for Pair { family, gaussian, judged } in families {
            let both = |i: usize| {
                let seed = SEEDS[usize::from(subject.held_back)] + i as u64;
                Ok::<_, String>((fit(target, *family, seed, draws)?, fit(target, *gaussian, seed, draws)?))
            };
            let fits = threads::for_each(seeds, both);
            for problem in fits.iter().filter_map(|fit| fit.as_ref().err()) {
                eprintln!("{} {}: {problem}", subject.name, label(*family));
            }
            let good: Vec<&(Reached, Reached)> = fits.iter().filter_map(|fit| fit.as_ref().ok()).collect();
            let excess = |(own, other): &(Reached, Reached)| other.elbo - own.elbo;
            let ratio = |(own, other): &(Reached, Reached)| own.gradients as f64 / other.gradients as f64;
            for pair in &good {
                let (own, other) = pair;
                eprintln!(
                    "{} {}: excess {:.4} ± {:.4}, {} gradients ({:.1} times {}), {:?}, constant {:?}",
                    subject.name,
                    label(*family),
                    excess(pair),
                    own.mcse.hypot(other.mcse),
                    own.gradients,
                    ratio(pair),
                    other.gradients,
                    own.reason,
                    own.constant,
                );
            }
            let worst =
                |f: &dyn Fn(&(Reached, Reached)) -> f64| good.iter().map(|pair| f(pair)).fold(f64::MIN, f64::max);
            let mcse = worst(&|(own, other)| own.mcse.hypot(other.mcse));
            let converged = good.iter().filter(|(own, _)| !is_capped(own.reason)).count();
            let within = good.len() == seeds
                && worst(&excess) <= MOST_EXCESS
                && (!judged || worst(&ratio) <= MOST_RATIO && converged == seeds);
            passed &= within;
            let range = |f: &dyn Fn(&(Reached, Reached)) -> u64| {
                let values = good.iter().map(|pair| f(pair));
                format!("{} – {}", values.clone().min().unwrap_or(0), values.max().unwrap_or(0))
            };
            table.push([
                format!("{}{}", subject.name, if subject.held_back { ", held back" } else { "" }),
                label(*family),
                format!("{:.4} ± {mcse:.4}", worst(&excess)),
                range(&|(own, _)| own.gradients),
                range(&|(_, other)| other.gradients),
                format!("{:.1}", worst(&ratio)),
                format!("{converged} of {seeds}"),
                if within { "pass" } else { "FAIL" }.into(),
            ]);
        }
    }
    (table.markdown(), passed)
}

const INTRODUCTION: &str = "# Families that contain the Gaussian

A family that contains the Gaussian should never end above it, nor cost much more to find out that there is nothing to gain.
`Plan::default()`, a seed and `curvature = hessian`, so that the Gaussian is fitted by the same steps as the others; by
residual scores, its default, it costs about a fifth. The first number is KL(q‖p) less that of the Gaussian fit of the same seed, the worst of
the seeds, from 10⁵ fresh draws of each: a negative one is what the family gains at least. A row passes if it is at most 0.01 nats,
if no fit takes more than 20 times the gradients of the Gaussian fit, starts included, and if every fit ends by convergence and not
at a limit. The rows of `rank_k`, which has a diagonal Σ and is held against the diagonal Gaussian, and of `mog` are judged by the
divergence alone: neither is a Gaussian mixed over a law, a mixture of three components is not believed before 400 steps of 48
draws, and two factors in 61 dimensions turn for long after they have gained what there is.

The rules and constants of these fits were chosen on the first eight targets with seeds 1 to 5; targets that are *held back*, with
seeds 101 to 105, were looked at afterwards.

Written by `cargo xtask contains`.

";

/// `contains [--seeds N] [--draws N] [--only TEXT] [--write FILE]`
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    let [seeds, draws, only, write] = options(arguments, ["--seeds", "--draws", "--only", "--write"])?;
    let (seeds, draws) = (number("--seeds", seeds.as_ref(), 5)?, number("--draws", draws.as_ref(), DRAWS)?);
    let (mut subjects, mut families) = (subjects(), families());
    if let Some(text) = only {
        // The words of a target, or of a family.
        let of_target = |subject: &Subject| subject.name.contains(&text);
        if subjects.iter().any(of_target) {
            subjects.retain(of_target);
        } else {
            families.retain(|pair| label(pair.family).contains(&text));
        }
    }
    let (table, passed) = table(&subjects, &families, seeds, draws);
    publish(&format!("{INTRODUCTION}{table}"), write.as_ref())?;
    if passed { Ok(()) } else { Err("not every family ends where it should".into()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The short form: one logistic regression of 13 weights, two seeds.
    #[test]
    fn no_family_ends_above_the_gaussian_that_it_contains() {
        let subjects: Vec<Subject> = subjects().into_iter().skip(2).take(1).collect();
        let (table, passed) = table(&subjects, &families(), 2, 50_000);
        assert!(passed, "{table}");
    }
}
