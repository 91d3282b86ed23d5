//! Student-t and symmetric NIG against the Gaussian on a posterior with heavy tails.

mod figure;
mod plane;
mod target;

use elinvar::run::Stop;
use elinvar::target::PointwiseSecondOrder;
use elinvar::{Family, Plan, Posterior, family::Kind};

use crate::{Error, Experiment, Findings, Settings, Table};
use plane::Plane;
use target::RobustLine;

/// The experiment.
pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "figure-heavy-tails",
    title: "Heavy tails: Student-t and symmetric NIG against the Gaussian",
    about: "Robust regression with few rows; KL and tail quantiles of student_t (fixed and learned a), snig and gaussian.",
    has_paper_settings: false,
    needs: None,
    run,
    expected: include_str!("../../expected/figure-heavy-tails.toml"),
};

/// Rows of the regression.
const N_ROWS: usize = 6;
/// Where the line is predicted, as far beyond the rows as they are wide.
const BEYOND: f64 = 3.0;
/// a of the Student-t with a fixed shape, 2a degrees of freedom each.
const SHAPES: [f64; 6] = [1.25, 1.75, 2.5, 4.0, 7.0, 12.0];
/// λ of the symmetric NIG.
const LAMBDAS: [f64; 5] = [0.3, 0.6, 1.2, 3.0, 10.0];
const SHARES: [f64; 3] = [0.005, 0.5, 0.995];

/// One fit beside the exact posterior.
pub(super) struct Fitted {
    pub(super) name: String,
    pub(super) family: Family,
    pub(super) log_q: Vec<f64>,
    pub(super) kl: f64,
    pub(super) reverse_kl: f64,
    /// Quantiles of intercept, slope and the line beyond the rows.
    pub(super) quantiles: [Vec<f64>; 3],
    /// Largest error of a tail quantile, in units of the exact distance from the median.
    pub(super) tail_error: f64,
}

/// The linear functions of (intercept, slope) that are compared.
const FUNCTIONS: [(&str, [f64; 2]); 3] =
    [("intercept", [1.0, 0.0]), ("slope", [0.0, 1.0]), ("line at x = 3", [1.0, BEYOND])];

fn families() -> Vec<(String, Family)> {
    let mut families = vec![
        ("gaussian".to_owned(), Family::gaussian()),
        ("student_t, learned a".to_owned(), Family::student_t_learned()),
    ];
    families.extend(SHAPES.map(|a| (format!("student_t, a = {a}"), Family::student_t(a))));
    families.extend(LAMBDAS.map(|lambda| (format!("snig, λ = {lambda}"), Family::snig(lambda))));
    families
}

fn quantiles(plane: &Plane, log_density: &[f64]) -> [Vec<f64>; 3] {
    FUNCTIONS.map(|(_, c)| plane.quantiles(log_density, c, &SHARES))
}

fn run(settings: &Settings, progress: &mut dyn FnMut(&str)) -> Result<Findings, Error> {
    let target = PointwiseSecondOrder(RobustLine::generated(N_ROWS, settings.seed));
    let nats = if settings.quick { 1e-3 } else { 1e-4 };
    let plan = Plan { stop: Stop { remaining_nats: nats, ..Stop::default() }, seed: settings.seed, ..Plan::default() };
    let fits = families().into_iter().map(|(name, family)| {
        progress(&format!("fit {name}"));
        Ok((name, elinvar::run::fit(&target, family, &plan)?))
    });
    let fits: Vec<(String, Posterior)> = fits.collect::<Result<_, Error>>()?;
    progress("the exact posterior on a grid");
    let centre = fits[0].1.approximation().mean();
    let covariance = fits[0].1.approximation().covariance();
    let grid = figure::Grid { centre: [centre[0], centre[1]], scale: [covariance[0].sqrt(), covariance[3].sqrt()] };
    let n = if settings.quick { 301 } else { 801 };
    let plane = Plane::new(n, grid.centre, grid.scale, |z| target.0.log_density_at(z));
    let exact = quantiles(&plane, plane.log_p());
    let fitted: Vec<Fitted> = fits.iter().map(|(name, fit)| judge(&plane, &exact, name, fit)).collect();
    let mut findings = Findings::default();
    findings.put("log normaliser", plane.log_normaliser);
    for (j, (name, _)) in FUNCTIONS.iter().enumerate() {
        findings.put(format!("0.5 % quantile of the {name}, exact"), exact[j][0]);
        findings.put(format!("99.5 % quantile of the {name}, exact"), exact[j][2]);
    }
    fitted.iter().for_each(|fit| record(&mut findings, fit));
    summarise(&mut findings, &fitted);
    findings.tables = tables(&exact, &fitted);
    findings.figures.push(figure::draw(&target.0, &plane, &grid, &exact, &fitted));
    findings.page = page(&findings, settings);
    Ok(findings)
}

fn judge(plane: &Plane, exact: &[Vec<f64>; 3], name: &str, fit: &Posterior) -> Fitted {
    let log_q = plane.log_q(fit);
    let quantiles = quantiles(plane, &log_q);
    let error = |(exact, found): (&Vec<f64>, &Vec<f64>)| {
        let off = |k: usize| ((found[k] - exact[k]) / (exact[k] - exact[1])).abs();
        off(0).max(off(2))
    };
    Fitted {
        name: name.to_owned(),
        family: fit.approximation().family(),
        kl: plane.divergence(&log_q, plane.log_p()) - plane.mass(&log_q).ln(),
        reverse_kl: plane.divergence(plane.log_p(), &log_q),
        tail_error: exact.iter().zip(&quantiles).map(error).fold(0.0, f64::max),
        quantiles,
        log_q,
    }
}

fn record(findings: &mut Findings, fit: &Fitted) {
    findings.put(format!("kl of {}", fit.name), fit.kl);
    findings.put(format!("kl from the posterior of {}", fit.name), fit.reverse_kl);
    findings.put(format!("tail error of {}", fit.name), fit.tail_error);
    if let Kind::Mixed { law } = fit.family.kind
        && law.is_learned()
        && let Some(a) = law.parameter()
    {
        findings.put("learned a", a);
    }
}

/// What is wanted of it, as ratios to the Gaussian.
fn summarise(findings: &mut Findings, fitted: &[Fitted]) {
    let gaussian = &fitted[0];
    let learned = &fitted[1];
    let best = |word: &str| {
        let of = fitted.iter().filter(|fit| fit.name.starts_with(word) && !fit.name.contains("learned"));
        of.min_by(|a, b| a.kl.total_cmp(&b.kl)).unwrap_or(gaussian)
    };
    for (name, fit) in [("learned t", learned), ("best fixed t", best("student_t")), ("best snig", best("snig"))] {
        findings.put(format!("kl of {name} over that of the gaussian"), fit.kl / gaussian.kl);
        findings.put(format!("tail error of {name} over that of the gaussian"), fit.tail_error / gaussian.tail_error);
    }
    findings.put("kl of learned t minus that of best fixed t", learned.kl - best("student_t").kl);
}

fn tables(exact: &[Vec<f64>; 3], fitted: &[Fitted]) -> Vec<Table> {
    let mut table =
        Table::new("fits", ["family", "KL(q‖p)", "KL(p‖q)", "worst tail quantile, relative error", "slope, 99.5 %"]);
    table.push(["exact".into(), "0".into(), "0".into(), "0".into(), format!("{:.3}", exact[1][2])]);
    for fit in fitted {
        table.push([
            fit.name.clone(),
            format!("{:.4}", fit.kl),
            format!("{:.4}", fit.reverse_kl),
            format!("{:.3}", fit.tail_error),
            format!("{:.3}", fit.quantiles[1][2]),
        ]);
    }
    let mut quantiles = Table::new("quantiles", ["family", "of", "0.5 %", "50 %", "99.5 %"]);
    let rows = fitted.iter().map(|fit| (fit.name.as_str(), &fit.quantiles));
    for (name, found) in std::iter::once(("exact", exact)).chain(rows) {
        for ((of, _), q) in FUNCTIONS.iter().zip(found) {
            let [low, middle, high] = [0, 1, 2].map(|k| format!("{:.4}", q[k]));
            quantiles.push([name.into(), (*of).into(), low, middle, high]);
        }
    }
    vec![table, quantiles]
}

fn page(findings: &Findings, settings: &Settings) -> String {
    let get = |name: &str| findings.get(name).unwrap_or(f64::NAN);
    format!(
        "A line through {N_ROWS} generated rows (seed {}), one of them far off, with t₄ noise whose scale is integrated out: the \
         posterior of intercept and slope has the tails of a t with {} degrees of freedom. The exact posterior is a sum over a grid \
         that reaches 1490 standard deviations, and so are all divergences and quantiles.\n\n\
         The learned t has a = {:.2} ({:.1} degrees of freedom); its KL(q‖p) is {:.2} of the Gaussian's and its worst 0.5 % or 99.5 % \
         quantile is off by {:.2} of the distance to the median, the Gaussian's by {:.2}.\n\n{}",
        settings.seed,
        N_ROWS - 1,
        get("learned a"),
        2.0 * get("learned a"),
        get("kl of learned t over that of the gaussian"),
        get("tail error of student_t, learned a"),
        get("tail error of gaussian"),
        findings.tables[0].markdown()
    )
}
