//! Whether a family that contains the Gaussian ever ends above it, and what it costs to find that out.

use elinvar::estimate::Curvature;
use elinvar::run::StopReason;
use elinvar::target::Target;
use elinvar::{Family, Plan, Posterior};

use crate::arguments::{number, options};
use crate::families::label;
use crate::gradients_only::GradientsOnly;
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
const SEEDS: [u64; 2] = [1, 201];

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
        problem(banana(1.5, 0.2)),
        problem(mixed("log-gamma, d = 2", &[Law::LogGamma { a: 1.2 }, Law::Normal], 3.0)),
    ];
    let held_back = [
        regression(150, 7, 1.0, 241),
        regression(220, 18, 0.5, 242),
        regression(45, 6, 0.1, 243),
        regression(500, 9, 1.0, 244),
        regression(90, 10, 0.2, 245),
        problem(banana(1.2, 0.25)),
        problem(mixed(
            "log-gamma, d = 4",
            &[Law::LogGamma { a: 1.5 }, Law::LogGamma { a: 5.0 }, Law::Normal, Law::Normal],
            2.5,
        )),
        problem(mixed("log-gamma, d = 6", &[Law::LogGamma { a: 2.5 }; 6], 3.0)),
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
    /// Whether the family, not the Gaussian, is fitted without the Hessian.
    by_gradients: bool,
}

impl Pair {
    fn label(self) -> String {
        format!("{}{}", label(self.family), if self.by_gradients { ", gradients only" } else { "" })
    }
}

fn families() -> Vec<Pair> {
    let full = Family::gaussian();
    let bent =
        [Family::skew(), Family::emg(), Family::student_t_learned(), Family::nig_learned(), Family::snig_learned()];
    let mixture = Family::mog(3);
    bent.map(|family| Pair { family, gaussian: full, judged: true, by_gradients: false })
        .into_iter()
        .chain([
            Pair { family: Family::rank_k(2), gaussian: full.diagonal(), judged: false, by_gradients: false },
            Pair { family: mixture, gaussian: full, judged: false, by_gradients: false },
            Pair { family: mixture, gaussian: full, judged: true, by_gradients: true },
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

/// The curvature of the steps that the others take: residual scores would give a Gaussian for a fifth of the gradients.
fn plain(target: &dyn Target) -> Curvature {
    if target.about().offers.hessian { Curvature::Hessian } else { Curvature::Stein { control_variate: true } }
}

fn fit(target: &dyn Target, family: Family, curvature: Curvature, seed: u64, draws: usize) -> Result<Reached, String> {
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

/// A fit of a family beside two of the Gaussian in it.
struct Compared {
    own: Reached,
    /// By natural-gradient steps.
    plain: Reached,
    /// With the default plan.
    usual: Reached,
}

impl Compared {
    fn of(target: &dyn Target, pair: Pair, seed: u64, draws: usize) -> Result<Self, String> {
        let usual = fit(target, pair.gaussian, Curvature::Auto, seed, draws)?;
        let stripped = GradientsOnly(target);
        let own = fit(if pair.by_gradients { &stripped } else { target }, pair.family, Curvature::Auto, seed, draws)?;
        Ok(Self { own, plain: fit(target, pair.gaussian, plain(target), seed, draws)?, usual })
    }

    fn excess(&self) -> f64 {
        self.plain.elbo - self.own.elbo
    }

    fn mcse(&self) -> f64 {
        self.own.mcse.hypot(self.plain.mcse)
    }

    fn ratio(&self) -> f64 {
        self.own.gradients as f64 / self.plain.gradients as f64
    }

    fn usual_ratio(&self) -> f64 {
        self.own.gradients as f64 / self.usual.gradients as f64
    }
}

impl std::fmt::Display for Compared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { own, plain, usual } = self;
        write!(f, "excess {:.4} ± {:.4}, {} gradients", self.excess(), self.mcse(), own.gradients)?;
        write!(
            f,
            " ({:.1} times {}, {:.1} times {})",
            self.ratio(),
            plain.gradients,
            self.usual_ratio(),
            usual.gradients
        )?;
        write!(f, ", {:?}, constant {:?}", own.reason, own.constant)
    }
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
        "of the default Gaussian",
        "ratio",
        "converged",
        "",
    ]);
    let mut passed = true;
    for subject in subjects {
        let target = subject.target.as_ref();
        for pair in families {
            let first = SEEDS[usize::from(subject.held_back)];
            let fits = threads::for_each(seeds, |i| Compared::of(target, *pair, first + i as u64, draws));
            for fit in &fits {
                let said = fit.as_ref().map_or_else(Clone::clone, ToString::to_string);
                eprintln!("{} {}: {said}", subject.name, pair.label());
            }
            let good: Vec<&Compared> = fits.iter().filter_map(|fit| fit.as_ref().ok()).collect();
            let worst = |f: &dyn Fn(&Compared) -> f64| good.iter().map(|fit| f(fit)).fold(f64::MIN, f64::max);
            let converged = good.iter().filter(|fit| !is_capped(fit.own.reason)).count();
            let within = good.len() == seeds
                && worst(&Compared::excess) <= MOST_EXCESS
                && (!pair.judged || worst(&Compared::ratio) <= MOST_RATIO && converged == seeds);
            passed &= within;
            let range = |f: &dyn Fn(&Compared) -> u64| {
                let values = good.iter().map(|fit| f(fit));
                format!("{} – {}", values.clone().min().unwrap_or(0), values.max().unwrap_or(0))
            };
            table.push([
                format!("{}{}", subject.name, if subject.held_back { ", held back" } else { "" }),
                pair.label(),
                format!("{:.4} ± {:.4}", worst(&Compared::excess), worst(&Compared::mcse)),
                range(&|fit| fit.own.gradients),
                range(&|fit| fit.plain.gradients),
                format!("{:.1}", worst(&Compared::ratio)),
                range(&|fit| fit.usual.gradients),
                format!("{:.1}", worst(&Compared::usual_ratio)),
                format!("{converged} of {seeds}"),
                if within { "pass" } else { "FAIL" }.into(),
            ]);
        }
    }
    (table.markdown(), passed)
}

const INTRODUCTION: &str = "# Families that contain the Gaussian

A family that contains the Gaussian should never end above it, nor cost much more to find out that there is nothing to gain.
`Plan::default()` and a seed, nothing else. The first number is KL(q‖p) less that of the Gaussian of the same seed, the worst of the
seeds, from 10⁵ fresh draws of each: a negative one is what the family gains at least. That Gaussian is fitted by the steps that the
family takes (curvature `hessian`, or `stein` where a target has no Hessians), and its gradients are those of the first ratio. The
*default Gaussian*, by residual scores, costs about a third. Starts are included. A row passes if the family is above by at most 0.01
nats, if no fit takes more than 20 times the gradients of the first Gaussian, and if every fit ends by convergence and not at a
limit. The rows of `rank_k`, which has a diagonal Σ and is held against the diagonal Gaussian, and of `mog` with Hessians are judged
by the divergence alone. A mixture of three components is then not believed before 400 steps of 48 draws ([design](design.md)), on any
target. *Gradients only*: the mixture, not the Gaussian, is fitted with the Hessian hidden, and goes by a pool of past evaluations.
The slope of the bound in the factors of `rank_k` is by draws, whose noise has to be averaged away.

The rules and constants of these fits were chosen on the first ten targets with seeds 1 to 5; targets that are *held back*, with
seeds 201 to 205, were looked at afterwards.

Written by `cargo xtask contains`.

";

/// `contains [--seeds N] [--draws N] [--only TEXT] [--family TEXT] [--write FILE]`
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    let [seeds, draws, only, family, write] =
        options(arguments, ["--seeds", "--draws", "--only", "--family", "--write"])?;
    let (seeds, draws) = (number("--seeds", seeds.as_ref(), 5)?, number("--draws", draws.as_ref(), DRAWS)?);
    let (mut subjects, mut families) = (subjects(), families());
    let has = |name: &str, text: &Option<String>| text.as_ref().is_none_or(|text| name.contains(text.as_str()));
    subjects.retain(|subject| has(&subject.name, &only));
    families.retain(|pair| has(&pair.label(), &family));
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
