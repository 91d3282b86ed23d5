//! Matrix-variate Gaussians: on a regression with a known posterior, and on the layers of a network.

mod figure;
mod kfac;
mod network;
mod race;
mod regression;

use crate::findings::mean_and_sd;
use crate::{Error, Experiment, Findings, Settings, Table};
use race::{Curves, How, JOINT, LOOKS, N_DRAWS, ONE_NAT, Way, matrix, race, ways};
use regression::{FEATURES, MatrixRegression, RESPONSES, SHARED};

/// The experiment.
pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "figure-matrix",
    title: "Matrix-variate Gaussian: a known posterior and the layers of a network",
    about: "KL of the matrix-variate Gaussian by the printed update with its two step sizes and by elinvar's, and a network with one per layer.",
    has_paper_settings: false,
    needs: None,
    run,
    expected: include_str!("../../expected/figure-matrix.toml"),
};

fn run(settings: &Settings, progress: &mut dyn FnMut(&str)) -> Result<Findings, Error> {
    let regression = MatrixRegression::generated(settings.seed, SHARED)?;
    let repetitions = if settings.quick { 2 } else { 5 };
    let seeds = settings.seed..settings.seed + repetitions;
    let mut findings = Findings::default();
    let best_diagonal = regression.diagonal_optimum();
    findings.put("kl of the best diagonal", best_diagonal);
    let mut curves = Vec::new();
    for way in ways(settings.quick)? {
        let curve = race(&way, seeds.clone())?;
        progress(&format!("{}: KL {:.4} after {} steps", way.name, mean_and_sd(&curve.last()).0, way.steps));
        curve.record(&mut findings);
        curves.push(curve);
    }
    let start = |drawn: bool| curves.iter().find(|curve| curve.is_drawn == drawn).map_or(f64::NAN, Curves::start);
    findings.put("kl of the start", start(true));
    findings.put("kl of the start, independent features", start(false));
    let last = |name: &str| findings.get(&format!("last kl, {name}")).unwrap_or(f64::NAN);
    let ratio = best_diagonal / last(JOINT);
    findings.put("kl of the best diagonal over that of the matrix", ratio);
    let grid = grid(settings)?;
    let (layers, tries) = network::run(settings, progress)?;
    network::record(&mut findings, &layers);
    findings.tables = vec![ends(&curves), network::table(&layers), grid, tries, traces(&curves)];
    findings.figures.push(figure::draw(&curves, best_diagonal, &layers));
    findings.page = page(&findings, repetitions);
    Ok(findings)
}

/// How the runs of each way went.
fn ends(curves: &[Curves]) -> Table {
    let header = ["update", "KL after 100 steps", "1 000", "10 000", "30 000", "100 000", "smallest", "steps to 1 nat"];
    let mut table = Table::new("known-posterior", header);
    for curve in curves {
        let after = |n: u64| curve.after(n).map_or("–".into(), |kl| shown(mean_and_sd(&kl).0));
        let smallest = shown(mean_and_sd(&curve.smallest()).0);
        let to_one = curve.steps_to(ONE_NAT).map_or("not reached".into(), |steps| format!("{steps:.0}"));
        let [a, b, c, d, e] = LOOKS.map(after);
        table.push([curve.name.into(), a, b, c, d, e, smallest, to_one]);
    }
    table
}

/// Three figures.
fn shown(kl: f64) -> String {
    match kl {
        kl if kl >= 100.0 => format!("{kl:.0}"),
        kl if kl >= 10.0 => format!("{kl:.1}"),
        kl if kl >= 1.0 => format!("{kl:.2}"),
        kl => format!("{kl:.4}"),
    }
}

/// KL against steps.
fn traces(curves: &[Curves]) -> Table {
    let mut table = Table::new("kl", ["update", "steps", "KL, nats", "smallest", "largest"]);
    for curve in curves {
        for (steps, mean, low, high) in curve.mean() {
            let [mean, low, high] = [mean, low, high].map(|kl| format!("{kl:.6}"));
            table.push([curve.name.into(), format!("{steps}"), mean, low, high]);
        }
    }
    table
}

/// The printed update over step sizes, one run each, on the regression of the race and on one with independent
/// features.
fn grid(settings: &Settings) -> Result<Table, Error> {
    let steps = if settings.quick { 1_000 } else { 30_000 };
    let header = ["features", "β₁", "β₂", "KL after 100 steps", "1 000", "10 000", "30 000"];
    let mut table = Table::new("printed-grid", header);
    for (features, shared) in [("correlated", SHARED), ("independent", 0.0)] {
        for beta_1 in [1e-4, 3e-4, 1e-3] {
            for beta_2 in [beta_1, 1e-5, 1e-6, 1e-7, 1e-8] {
                let how = How::Printed { beta_1, beta_2, n_draws: N_DRAWS };
                let way = Way { name: "one of the grid", family: matrix()?, how, shared, steps };
                let curve = race(&way, settings.seed..settings.seed + 1)?;
                let after = |n: u64| curve.after(n).map_or("–".into(), |kl| shown(kl[0]));
                let [a, b, c, d, _] = LOOKS.map(after);
                table.push([features.into(), format!("{beta_1:e}"), format!("{beta_2:e}"), a, b, c, d]);
            }
        }
    }
    Ok(table)
}

fn page(findings: &Findings, repetitions: u64) -> String {
    let get = |name: &str| findings.get(name).unwrap_or(f64::NAN);
    format!(
        "**A known posterior.** {FEATURES} × {RESPONSES} coefficients of a regression of four correlated responses: the posterior is a \
         matrix-variate Gaussian, so the family can reach KL = 0 and a diagonal Gaussian no less than {:.3} nats. All runs begin at \
         N(0, I), which has {:.0}; means of {repetitions} repetitions. The features share a normal variable and so are correlated by 0.64; the \
         last rows are of a regression with independent features, whose largest eigenvalue is smaller and which bears longer steps (KL of the \
         start {:.0}).\n\n\
         *As printed*: the box (29)–(31) with constant steps β₁ for W and β₂ for the precisions, independent draws ({N_DRAWS} of a step, or \
         one), no bound on a step, no average. *elinvar*: the corrected update (joint or blockwise) with {N_DRAWS} draws of a Sobol sequence, \
         β_t = 0.1(1 + t/200)^−0.75, every step bounded by 1 nat.\n\n{}\n\
         The printed update adds positive semi-definite matrices to the precisions, so they can only grow. With W in its place they climb to \
         those of the posterior and stop there (mathematics §6.3). With β₂ = β₁ the first gradients, large because W is far away, go into the \
         precisions; W freezes on its way, and there is no way back.\n\n\
         **Over step sizes**, one run each:\n\n{}\n\
         **Layers of a network.** One matrix-variate Gaussian per layer against one variance per weight, both by elinvar's update; against the \
         box as printed (10 draws, all rows, constant β₁ and β₂, by the outer product of the gradient); and against the factors of K-FAC as the \
         precisions of the layers, N(A ⊗ G) with running means of the second moments of inputs and of gradients under the model's own \
         responses, the prior as damping, and Newton steps of the means by them with the same β_t; on the first {} of the twenty splits of \
         Yacht, the noise learned (mean ± sd of the splits).\n\n{}\nThe step sizes of the box, on another split:\n\n{}",
        get("kl of the best diagonal"),
        get("kl of the start"),
        get("kl of the start, independent features"),
        findings.tables[0].markdown(),
        findings.tables[2].markdown(),
        repetitions,
        findings.tables[1].markdown(),
        findings.tables[3].markdown(),
    )
}
