//! Ten short fits against committed traces: the same call keeps giving the same numbers.
//!
//! `ELINVAR_REGENERATE_GOLDEN=1 cargo test -p elinvar --all-features --test numbers golden::` writes the traces anew; a commit
//! that changes them says why the numbers are other ones.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::PathBuf;

use crate::state::{State, Stated};
use elinvar::estimate::{Curvature, MixingWeights, Sampling};
use elinvar::model::{Banana, EightSchools, Parametrisation};
use elinvar::random::Noise;
use elinvar::rule::Rule;
use elinvar::run::Run;
use elinvar::target::Target;
use elinvar::{Family, Plan};
use serde::{Deserialize, Serialize};

use crate::subjects::{logistic, standard};

const STEPS: u64 = 30;

/// Machines with and without fused multiplication differ in the last places of each operation; thirty steps keep that far
/// below this.
const TOLERANCE: f64 = 1e-9;

/// What is kept of a run.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Golden {
    /// The ELBO of every tenth step.
    elbo: Vec<f64>,
    /// The estimated remaining gain at the end.
    remaining: f64,
    state: State,
}

struct Case {
    name: &'static str,
    target: Box<dyn Target>,
    family: Family,
    plan: Plan,
}

fn cases() -> Vec<Case> {
    let regression = || Box::new(logistic(60, 4)) as Box<dyn Target>;
    let banana = || Box::new(Banana::default()) as Box<dyn Target>;
    let schools = || Box::new(EightSchools::new(Parametrisation::NonCentred)) as Box<dyn Target>;
    let stein = Curvature::Stein { control_variate: true };
    let retraction = Plan { n_draws: 8, ..Plan::default() };
    let plain = Plan { rule: Rule::NaturalGradient, ..retraction.clone() };
    let case = |name, target, family, plan| Case { name, target, family, plan };
    vec![
        case("gaussian_plain_hessian", regression(), Family::gaussian(), plain.clone()),
        case(
            "gaussian_diagonal_outer_product",
            regression(),
            Family::gaussian().diagonal(),
            Plan { curvature: Curvature::GradientOuterProduct, ..retraction.clone() },
        ),
        case(
            "gaussian_minibatch",
            regression(),
            Family::gaussian(),
            Plan { minibatch: Some(20), ..retraction.clone() },
        ),
        case("mog_own_draws", banana(), Family::mog(3), retraction.clone()),
        case(
            "mog_stratified_stein",
            banana(),
            Family::mog(2).diagonal(),
            Plan { sampling: Sampling::Stratified, curvature: stein, ..plain.clone() },
        ),
        case(
            "student_t_independent",
            regression(),
            Family::student_t(4.0),
            Plan { noise: Noise::Independent, ..retraction.clone() },
        ),
        case(
            "skew_marginal",
            banana(),
            Family::skew(),
            Plan { weights: MixingWeights::Marginal, ..retraction.clone() },
        ),
        case(
            "emg_sampled_stein",
            schools(),
            Family::emg(),
            Plan { weights: MixingWeights::Sampled, curvature: stein, ..retraction.clone() },
        ),
        case("nig_plain", regression(), Family::nig(2.0), Plan { noise: Noise::Antithetic, ..plain.clone() }),
        case("rank_k_diagonal", schools(), Family::rank_k(2), Plan { max_kl: Some(0.2), ..retraction.clone() }),
    ]
}

fn run(case: &Case) -> Golden {
    let start = standard(case.family, case.target.dim());
    let mut run = Run::new(&*case.target, start, &case.plan).unwrap();
    run.fit(&mut |step| if step.index + 1 < STEPS { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
        .unwrap();
    let steps = run.trace();
    let remaining = steps.iter().rev().find_map(|step| step.remaining).map_or(0.0, |(mean, _)| mean);
    Golden {
        elbo: steps.iter().step_by(10).map(|step| step.elbo.unwrap()).collect(),
        remaining,
        state: run.q().state(),
    }
}

fn folder() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden"))
}

/// The largest difference, relative to the largest number of the group.
fn difference(found: &[f64], wanted: &[f64]) -> f64 {
    assert_eq!(found.len(), wanted.len());
    let size = wanted.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    found.iter().zip(wanted).map(|(a, b)| (a - b).abs() / size).fold(0.0, f64::max)
}

#[test]
fn traces_are_what_they_were() {
    let regenerate = std::env::var("ELINVAR_REGENERATE_GOLDEN").is_ok_and(|v| v == "1");
    for case in cases() {
        let path = folder().join(format!("{}.json", case.name));
        let found = run(&case);
        if regenerate {
            std::fs::create_dir_all(folder()).unwrap();
            std::fs::write(&path, serde_json::to_string_pretty(&found).unwrap() + "\n").unwrap();
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let wanted: Golden = serde_json::from_str(&text).unwrap();
        let mut groups = vec![("elbo", difference(&found.elbo, &wanted.elbo))];
        groups.push(("remaining", difference(&[found.remaining], &[wanted.remaining])));
        assert_eq!(found.state.blocks.len(), wanted.state.blocks.len());
        for (found, wanted) in found.state.blocks.iter().zip(&wanted.state.blocks) {
            groups.push(("locations", difference(&found.b, &wanted.b)));
            groups.push(("precision", difference(&found.precision, &wanted.precision)));
        }
        let weights = |state: &State| state.log_weights.iter().map(|log| log.exp()).collect::<Vec<_>>();
        groups.push(("weights", difference(&weights(&found.state), &weights(&wanted.state))));
        let worst = groups.iter().fold(0.0f64, |m, (_, d)| m.max(*d));
        println!("{}: {worst:.1e}", case.name);
        for (what, difference) in groups {
            assert!(difference < TOLERANCE, "{}: {what} differ by {difference:.1e}", case.name);
        }
    }
    let names: BTreeSet<String> = cases().iter().map(|case| format!("{}.json", case.name)).collect();
    let files = std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert_eq!(names, files.collect(), "the traces are those of the cases");
}
