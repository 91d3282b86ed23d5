//! Matrix-variate Gaussians: on a regression with a known posterior, and on the layers of a network.

mod figure;
mod network;
mod regression;

use std::ops::ControlFlow;

use elinvar::estimate::Curvature;
use elinvar::family::{Approximation, Kind, MatrixUpdate};
use elinvar::rule::{Rule, StepSize};
use elinvar::run::Stop;
use elinvar::{Family, Plan};

use crate::watch::{Watch, watch};
use crate::{Error, Experiment, Findings, Settings, Table};
use regression::{FEATURES, MatrixRegression, RESPONSES};

/// The experiment.
pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "figure-matrix",
    title: "Matrix-variate Gaussian: a known posterior and the layers of a network",
    about: "KL of the matrix-variate Gaussian under the corrected and the printed update, and a network with one per layer.",
    has_paper_settings: false,
    needs: None,
    run,
    expected: include_str!("../../expected/figure-matrix.toml"),
};

/// Draws of a step.
const N_DRAWS: usize = 10;

/// A way to fit the regression.
struct Way {
    name: &'static str,
    family: Family,
    rule: Rule,
    beta: f64,
}

/// KL against steps, one curve per repetition.
pub(super) struct Curves {
    pub(super) name: &'static str,
    pub(super) runs: Vec<Vec<(u64, f64)>>,
}

impl Curves {
    /// The last KL of each repetition.
    fn last(&self) -> Vec<f64> {
        self.runs.iter().map(|run| run.last().map_or(f64::NAN, |(_, kl)| *kl)).collect()
    }

    /// The smallest KL on the way, averaged over repetitions.
    fn smallest(&self) -> Vec<f64> {
        self.runs.iter().map(|run| run.iter().map(|(_, kl)| *kl).fold(f64::INFINITY, f64::min)).collect()
    }

    /// Steps, and the mean, the smallest and the largest KL of the repetitions at each look.
    pub(super) fn mean(&self) -> Vec<(f64, f64, f64, f64)> {
        let at = |i: usize| {
            let values: Vec<f64> = self.runs.iter().filter_map(|run| run.get(i).map(|(_, kl)| *kl)).collect();
            let (mean, low, high) = crate::findings::mean_and_range(&values);
            (self.runs[0][i].0 as f64, mean, low, high)
        };
        (0..self.runs[0].len()).map(at).collect()
    }
}

fn ways() -> Result<[Way; 6], Error> {
    let matrix = Family::matrix(FEATURES, RESPONSES)?;
    let paper = matrix.with_update(MatrixUpdate::PaperLiteral);
    let plain = Rule::NaturalGradient;
    Ok([
        Way { name: "joint, β = 0.1", family: matrix, rule: Rule::Retraction, beta: 0.1 },
        Way {
            name: "blockwise, β = 0.1",
            family: matrix.with_update(MatrixUpdate::Blockwise),
            rule: Rule::Retraction,
            beta: 0.1,
        },
        Way { name: "as printed, β = 0.1", family: paper, rule: plain, beta: 0.1 },
        Way { name: "as printed, β = 0.01", family: paper, rule: plain, beta: 0.01 },
        Way { name: "as printed, β = 0.001", family: paper, rule: plain, beta: 0.001 },
        Way { name: "diagonal, β = 0.1", family: Family::gaussian().diagonal(), rule: Rule::Retraction, beta: 0.1 },
    ])
}

/// N(0, I) in the family.
fn standard(family: Family) -> Result<Approximation, Error> {
    let (d, p) = (FEATURES, RESPONSES);
    let identity = |n: usize| (0..n * n).map(move |k| if k % (n + 1) == 0 { 1.0 } else { 0.0 });
    let precision = match family.kind {
        Kind::Matrix { .. } => identity(d).chain(identity(p)).collect(),
        _ => vec![1.0; d * p],
    };
    let blocks = vec![(vec![0.0; d * p], precision)];
    Ok(Approximation::from_parts(family, d * p, blocks, vec![0.0])?)
}

fn race(regression: &MatrixRegression, way: &Way, steps: u64, seeds: std::ops::Range<u64>) -> Result<Curves, Error> {
    let mut runs = Vec::new();
    for seed in seeds {
        let plan = Plan {
            n_draws: N_DRAWS,
            rule: way.rule,
            curvature: Curvature::Stein { control_variate: true },
            step_size: StepSize::Power { initial: way.beta, delay: 200.0, exponent: 0.75 },
            max_kl: Some(1.0),
            stop: Stop { max_steps: u64::MAX, ..Stop::default() },
            seed,
            ..Plan::default()
        };
        let mut run = Vec::new();
        let settings = Watch { growth: 1.25, reviews: false, steps };
        watch(&regression.posterior, &standard(way.family)?, &plan, settings, &mut |seen, moment| {
            run.push((moment.steps, regression.divergence(&seen.state)));
            Ok(ControlFlow::Continue(()))
        })?;
        runs.push(run);
    }
    Ok(Curves { name: way.name, runs })
}

fn run(settings: &Settings, progress: &mut dyn FnMut(&str)) -> Result<Findings, Error> {
    let regression = MatrixRegression::generated(settings.seed)?;
    let (steps, repetitions) = if settings.quick { (1_000, 2) } else { (3_000, 5) };
    let mut findings = Findings::default();
    let best_diagonal = regression.diagonal_optimum();
    findings.put("kl of the best diagonal", best_diagonal);
    let mut curves = Vec::new();
    for way in ways()? {
        let curve = race(&regression, &way, steps, settings.seed..settings.seed + repetitions)?;
        progress(&format!("{}: KL {:.4}", way.name, crate::findings::mean_and_sd(&curve.last()).0));
        findings.put_mean(format!("last kl, {}", way.name), &curve.last());
        findings.put_mean(format!("smallest kl on the way, {}", way.name), &curve.smallest());
        curves.push(curve);
    }
    let get = |findings: &Findings, name: &str| findings.get(name).unwrap_or(f64::NAN);
    let corrected = get(&findings, "last kl, joint, β = 0.1");
    let printed = curves.iter().filter(|curve| curve.name.starts_with("as printed"));
    let printed = printed.map(|curve| crate::findings::mean_and_sd(&curve.last()).0).fold(f64::INFINITY, f64::min);
    findings.put("kl of the best diagonal over that of the matrix", best_diagonal / corrected);
    findings.put("last kl of the best printed update over the corrected one", printed / corrected);
    let layers = network::run(settings, progress)?;
    network::record(&mut findings, &layers);
    findings.tables = tables(&curves, &layers);
    findings.figures.push(figure::draw(&curves, best_diagonal, &layers));
    findings.page = page(&findings, repetitions);
    Ok(findings)
}

fn tables(curves: &[Curves], layers: &[network::Fitted; 2]) -> Vec<Table> {
    let mut ends = Table::new("known-posterior", ["update", "last KL, nats", "smallest KL on the way"]);
    for curve in curves {
        let [last, smallest] = [curve.last(), curve.smallest()].map(|v| crate::findings::mean_and_sd(&v).0);
        ends.push([curve.name.into(), format!("{last:.4}"), format!("{smallest:.4}")]);
    }
    let mut trace = Table::new("kl", ["update", "steps", "KL, nats", "smallest", "largest"]);
    for curve in curves {
        for (steps, mean, low, high) in curve.mean() {
            let [mean, low, high] = [mean, low, high].map(|kl| format!("{kl:.6}"));
            trace.push([curve.name.into(), format!("{steps}"), mean, low, high]);
        }
    }
    vec![ends, network::table(layers), trace]
}

fn page(findings: &Findings, repetitions: u64) -> String {
    let get = |name: &str| findings.get(name).unwrap_or(f64::NAN);
    format!(
        "**A known posterior.** {FEATURES} × {RESPONSES} coefficients of a regression of four correlated responses: the posterior is a \
         matrix-variate Gaussian, so the family can reach KL = 0 and a diagonal Gaussian no less than {:.3} nats. All runs begin at \
         N(0, I) with {N_DRAWS} draws a step and β_t = β(1 + t/200)^−0.75, every step bounded by 1 nat; means of {repetitions} repetitions.\n\n{}\n\
         The update as printed, here with one step size for the mean and the precisions, adds positive semi-definite matrices to the precisions, so they can only grow (mathematics §6.3): the mean stops on its way and the KL, after a first fall, rises.\n\n\
         **Layers of a network.** One matrix-variate Gaussian per layer against one variance per weight, on the first {} of the twenty splits of Yacht (mean ± sd of the splits).\n\n{}",
        get("kl of the best diagonal"),
        findings.tables[0].markdown(),
        repetitions,
        findings.tables[1].markdown(),
    )
}
