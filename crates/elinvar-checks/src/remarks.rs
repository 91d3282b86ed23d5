//! The paper's remarks on which of two estimators works better, as printed fits that differ in nothing else.

use elinvar::component::ComponentKind;
use elinvar::estimate::{MixingWeights, ShapeEstimator};
use elinvar::model::PoissonRate;
use elinvar::rule::{BesselRatio, EntropyGradient, FisherMatrix, Printed, PriorTerm, Rule};
use elinvar::target::Target;
use elinvar::{Error, Family, Plan};

use crate::arguments::{number, options};
use crate::families::label;
use crate::page::{Table, publish};
use crate::problems::regressions::{breast_cancer_model, generated_logistic};
use crate::threads;

/// Draws of a step, its length, steps, and draws by which what was reached is judged.
const DRAWS: usize = 10;
const BETA: f64 = 0.02;
const STEPS: u64 = 500;
const JUDGES: usize = 4_000;

/// A remark: one family under two choices, the first of which the paper prefers or prints.
struct Remark {
    what: &'static str,
    family: Family,
    choices: [(&'static str, Plan); 2],
    on_rates: bool,
}

fn with(change: impl FnOnce(&mut Printed)) -> Plan {
    let mut printed = Printed::default();
    change(&mut printed);
    Plan { rule: Rule::Printed(printed), ..Plan::printed(DRAWS, BETA, STEPS) }
}

fn remarks() -> Result<Vec<Remark>, Error> {
    let entropy = |family| Remark {
        what: "gradient of the entropy (App. E, F)",
        family,
        choices: [
            ("exact", with(|_| {})),
            ("along the draws", with(|printed| printed.entropy = EntropyGradient::Reparameterised)),
        ],
        on_rates: false,
    };
    let bessel = |family| {
        let plan = |ratio| Plan { weights: MixingWeights::Marginal, ..with(|printed| printed.bessel = ratio) };
        let choices = [("exact", plan(BesselRatio::Exact)), ("mean of bounds", plan(BesselRatio::MeanOfBounds))];
        Remark { what: "ratio of Bessel functions (App. G, H)", family, choices, on_rates: false }
    };
    let prior = |family| Remark {
        what: "prior (App. B, G)",
        family,
        choices: [
            ("closed form", with(|printed| printed.prior = PriorTerm::ClosedForm)),
            ("at the draws", with(|printed| printed.prior = PriorTerm::Sampled)),
        ],
        on_rates: false,
    };
    let fisher = |family| Remark {
        what: "Fisher matrix (App. B.5)",
        family,
        choices: [
            ("sampled", with(|printed| printed.fisher = FisherMatrix::Sampled)),
            ("exact", with(|printed| printed.fisher = FisherMatrix::Exact)),
        ],
        on_rates: true,
    };
    let shape = |rival: &'static str, estimator| {
        let plan = |shape| Plan { shape, weights: MixingWeights::Marginal, ..with(|_| {}) };
        let choices = [("ratio of means", plan(ShapeEstimator::Ratio)), (rival, plan(estimator))];
        Remark { what: "slope in the shape a (App. D)", family: Family::student_t_learned(), choices, on_rates: false }
    };
    let gamma = ComponentKind::new("gamma", None)?;
    Ok(vec![
        entropy(Family::skew()),
        entropy(Family::emg()),
        bessel(Family::nig(2.0)),
        bessel(Family::snig(2.0)),
        prior(Family::gaussian()),
        prior(Family::nig(2.0)),
        prior(Family::mog(3)),
        fisher(Family::ef_mixture(ComponentKind::new("exponential", None)?, 2)),
        fisher(Family::ef_mixture(gamma, 1)),
        shape("exact information", ShapeEstimator::Exact),
        shape("one-draw factor, as printed", ShapeEstimator::PaperLiteral),
    ])
}

/// Mean, standard error over the seeds and number of the bounds that were reached, and how many runs left the domain.
struct Reached {
    mean: f64,
    error: f64,
    left: usize,
    n: usize,
}

fn reached(target: &dyn Target, family: Family, plan: &Plan, seeds: usize) -> Result<Reached, String> {
    let one = |i: usize| {
        let plan = Plan { seed: 1 + i as u64, ..plan.clone() };
        match elinvar::run::fit(target, family, &plan) {
            Ok(posterior) => {
                posterior.importance(target, JUDGES, 1_000).map(|found| Some(found.diagnostics.elbo.value))
            }
            Err(Error::LeftDomain { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    };
    let all: Result<Vec<Option<f64>>, Error> = threads::for_each(seeds, one).into_iter().collect();
    let all = all.map_err(|error| error.to_string())?;
    let good: Vec<f64> = all.iter().flatten().copied().collect();
    let n = good.len() as f64;
    let mean = good.iter().sum::<f64>() / n;
    let squares: f64 = good.iter().map(|elbo| (elbo - mean) * (elbo - mean)).sum();
    Ok(Reached { mean, error: (squares / (n * (n - 1.0))).sqrt(), left: seeds - good.len(), n: good.len() })
}

/// What the two say about each other, at three standard errors.
fn verdict(first: (&str, &Reached), second: (&str, &Reached)) -> String {
    let (difference, error) = (first.1.mean - second.1.mean, first.1.error.hypot(second.1.error));
    // Runs that left the domain may have been the worse ones: half of them must have a bound.
    if [first.1, second.1].iter().any(|reached| reached.n < 2 || reached.n < reached.left) {
        return "too few runs end".into();
    }
    let better = |name: &str| format!("{name}, by {:.4} ± {error:.4}", difference.abs());
    match difference {
        d if d > 3.0 * error => better(first.0),
        d if d < -3.0 * error => better(second.0),
        d => format!("neither ({d:.4} ± {error:.4})"),
    }
}

const INTRODUCTION: &str = "# Which estimator works better

The paper remarks in passing which of two estimators works better, or prints one and names another. Here each pair is run [as
printed](printed.md), with nothing else changed: ten independent draws, β = 0.02, 500 steps from N(0, I), twenty seeds. The numbers
are means over the seeds of the bound that was reached, each from 4 000 fresh draws, with their standard errors; the last column
names a choice if its bound is higher by three standard errors of the difference. Runs that left the domain are counted and have no
bound.

Written by `cargo xtask remarks`.

";

/// `remarks [--seeds N] [--write FILE]`
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    let [seeds, write] = options(arguments, ["--seeds", "--write"])?;
    let seeds = number("--seeds", seeds.as_ref(), 20)?;
    publish(&format!("{INTRODUCTION}{}", table(seeds)?), write.as_ref())
}

fn table(seeds: usize) -> Result<String, String> {
    let header = ["remark", "family", "target", "choice", "bound", "left", "other choice", "bound", "left", "better"];
    let mut table = Table::new(header);
    let regressions: [(&str, Box<dyn Target>); 2] = [
        ("logistic, 40 rows, 4 weights", Box::new(generated_logistic(40, 4, 0.3, 33))),
        ("Breast-Cancer, 11 weights", Box::new(breast_cancer_model())),
    ];
    let rate: Box<dyn Target> = Box::new(PoissonRate::new(vec![3.0, 5.0, 4.0, 2.0]).map_err(|e| e.to_string())?);
    let rates = [("rate of four counts", rate)];
    for remark in remarks().map_err(|error| error.to_string())? {
        for (name, target) in if remark.on_rates { &rates[..] } else { &regressions[..] } {
            let [(one, first), (two, second)] = &remark.choices;
            let first = reached(target.as_ref(), remark.family, first, seeds)?;
            let second = reached(target.as_ref(), remark.family, second, seeds)?;
            let bound = |found: &Reached| match found.n {
                0 => "none".into(),
                1 => format!("{:.4}", found.mean),
                _ => format!("{:.4} ± {:.4}", found.mean, found.error),
            };
            table.push([
                remark.what.into(),
                label(remark.family),
                (*name).into(),
                (*one).into(),
                bound(&first),
                first.left.to_string(),
                (*two).into(),
                bound(&second),
                second.left.to_string(),
                verdict((one, &first), (two, &second)),
            ]);
        }
    }
    Ok(table.markdown())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_is_named_from_three_errors_on() {
        let at = |mean: f64| Reached { mean, error: 0.003, left: 0, n: 20 };
        assert_eq!(verdict(("a", &at(1.0)), ("b", &at(0.9))), "a, by 0.1000 ± 0.0042");
        assert_eq!(verdict(("a", &at(0.9)), ("b", &at(1.0))), "b, by 0.1000 ± 0.0042");
        assert_eq!(verdict(("a", &at(1.0)), ("b", &at(0.99))), "neither (0.0100 ± 0.0042)");
        let few = Reached { left: 18, n: 2, ..at(2.0) };
        assert_eq!(verdict(("a", &at(1.0)), ("b", &few)), "too few runs end");
    }
}
