//! Kept fits of one model beside each other.

use elinvar::Family;
use elinvar::family::Kind;
use elinvar::posterior::{Comparison, Diagnostics, Estimate, GivenBy, compare, log_density_at};
use elinvar::target::Covariance;
use serde::Serialize;

use crate::analysis::without_stand_ins;
use crate::error::Error;
use crate::job::Job;
use crate::kept::Kept;
use crate::number::{duration, grouped, with_error};
use crate::page::{given, ladder};
use crate::size::check_draws;
use crate::table::{self, Align, Column};

/// Fits of one model, the best first.
pub struct Ranking {
    rows: Vec<Row>,
    n_draws: usize,
    seed: u64,
}

impl Ranking {
    /// Compares on `n_draws` draws of each fit.
    ///
    /// # Errors
    /// [`Error::DifferentModels`], or what stands in the way of a model.
    pub fn new(kept: &[Kept], n_draws: usize, seed: u64) -> Result<Self, Error> {
        let job = common_model(kept)?;
        check_draws("--draws", n_draws, 1, job.target().dim())?;
        let posteriors: Vec<_> = kept.iter().map(|kept| &kept.posterior).collect();
        let found = compare(job.target(), &posteriors, n_draws, seed).map_err(Error::of_fit)?;
        let mut rows: Vec<Row> = (0..kept.len()).map(|k| Row::new(&kept[k], &found, k)).collect();
        rows.sort_by(|a, b| {
            let is_best = |row: &Row| row.difference.is_none();
            is_best(b).cmp(&is_best(a)).then(b.elbo.value.total_cmp(&a.elbo.value))
        });
        Ok(Self { rows, n_draws, seed })
    }

    /// A table and what follows from it.
    pub fn page(&self) -> String {
        let rows = &self.rows;
        let column = |align, name: &str, cell: &dyn Fn(&Row) -> String| Column::new(align, name, rows.iter().map(cell));
        let table = table::text(vec![
            column(Align::Left, "Run", &|row| row.run.clone()),
            column(Align::Left, "family", &|row| row.family.clone()),
            column(Align::Estimate, "ELBO, nats", &|row| ladder::estimate(row.elbo)),
            column(Align::Estimate, "difference, nats", &|row| row.difference.map_or("best".into(), ladder::estimate)),
            column(Align::Right, "k\u{302}", &Row::k),
            column(Align::Right, "gradients", &|row| grouped(row.gradients)),
            column(Align::Right, "time", &|row| duration(row.seconds)),
            column(Align::Left, "given by", &|row| given::word(row.given_by).into()),
            column(Align::Left, "verdict", &Row::verdict),
        ]);
        format!(
            "{table}\n{}\n± one standard error, that of a difference for the pair; k\u{302} below {:.2} is good; {} draws of \
             each fit\n",
            conclusion(rows),
            rows[0].diagnostics.pareto_k_threshold,
            grouped(self.n_draws as u64)
        )
    }

    /// One JSON object.
    pub fn json(&self) -> String {
        let rows = &self.rows;
        let endless = |x: f64| if x >= f64::MAX { f64::INFINITY } else { x };
        let runs = rows.iter().map(|row| {
            let difference = row.difference.unwrap_or(Estimate { value: 0.0, mcse: 0.0 });
            RunObject {
                run_dir: &row.run,
                family: row.family_name,
                elbo: row.elbo.value,
                elbo_se: endless(row.elbo.mcse),
                difference: difference.value,
                difference_se: endless(difference.mcse),
                pareto_k: row.diagnostics.pareto_k,
                evaluations: Evaluations {
                    log_density: row.log_densities,
                    gradient: row.gradients,
                    hessian: row.hessians,
                },
                seconds: row.seconds,
                converged: row.converged,
                given_by: row.given_by.name(),
                verdict: row.verdict,
            }
        });
        let object = Object { best: &rows[0].run, n_draws: self.n_draws, seed: self.seed, runs: runs.collect() };
        serde_json::to_string(&object).expect("numbers and strings are always JSON") + "\n"
    }
}

/// The model of the first fit, after a look at those of the others: each must be the same function of the same
/// parameters.
fn common_model(kept: &[Kept]) -> Result<Job, Error> {
    let first = kept[0].job()?;
    for other in &kept[1..] {
        let job = other.job()?;
        let difference = settings_difference(&first, &job).or_else(|| density_difference(&first, &job, &kept[0]));
        if let Some(what) = difference {
            return Err(Error::DifferentModels { first: kept[0].path.clone(), other: other.path.clone(), what });
        }
    }
    Ok(first)
}

/// The first setting of model or data that two jobs do not share.
fn settings_difference(a: &Job, b: &Job) -> Option<String> {
    /// The same table may lie elsewhere.
    const PLACE: &str = "file";
    if a.rows.fingerprint != b.rows.fingerprint {
        let [a, b] = [a, b].map(|job| job.rows.file.as_deref().unwrap_or("the embedded table"));
        return Some(if a == b {
            "they were made from other columns or rows".into()
        } else {
            format!("one has the data of {a}, the other those of {b}")
        });
    }
    let table = |job: &Job| {
        let of = |value: Result<toml::Value, toml::ser::Error>| {
            value.ok().and_then(|v| v.as_table().cloned()).unwrap_or_default()
        };
        let (model, data) = (toml::Value::try_from(&job.settings().model), toml::Value::try_from(&job.settings().data));
        of(model).into_iter().chain(of(data).into_iter().filter(|(key, _)| key != PLACE)).collect::<toml::Table>()
    };
    let (a, b) = (table(a), table(b));
    let key = a.keys().chain(b.keys()).find(|key| a.get(*key) != b.get(*key))?;
    let shown = |table: &toml::Table| table.get(key).map_or("not set".into(), ToString::to_string);
    Some(format!("{key} is {} in one and {} in the other", shown(&a), shown(&b)))
}

/// Whether two models with the same settings have different densities at draws of a fit.
fn density_difference(a: &Job, b: &Job, kept: &Kept) -> Option<String> {
    /// Sums over rows in another order differ by rounding.
    const ROUNDING: f64 = 1e-9;
    let draws = kept.posterior.sample_z(2, 1);
    let [a, b] = [a, b].map(|job| log_density_at(job.target(), &draws).map(|(log_p, _)| log_p).unwrap_or_default());
    let differ = |(a, b): (&f64, &f64)| (a - b).abs() > ROUNDING * (1.0 + a.abs());
    (a.len() != b.len() || a.iter().zip(&b).any(differ)).then(|| "their log densities differ at the same point".into())
}

/// What is shown of a fit.
struct Row {
    run: String,
    family: String,
    family_name: &'static str,
    elbo: Estimate,
    /// `None` for the best.
    difference: Option<Estimate>,
    diagnostics: Diagnostics,
    few_draws_dominate: bool,
    gradients: u64,
    log_densities: u64,
    hessians: u64,
    seconds: f64,
    converged: bool,
    given_by: GivenBy,
    verdict: Option<&'static str>,
}

impl Row {
    fn new(kept: &Kept, found: &Comparison, k: usize) -> Self {
        let posterior = &kept.posterior;
        let (diagnostics, few_draws_dominate) = without_stand_ins(found.diagnostics[k].clone());
        let counts = posterior.counts();
        Self {
            run: kept.path.display().to_string(),
            family: family(&posterior.family()),
            family_name: posterior.family().name(),
            elbo: found.elbo[k],
            difference: Some(found.difference[k]).filter(|_| k != found.best),
            diagnostics,
            few_draws_dominate,
            gradients: counts.gradient,
            log_densities: counts.log_density,
            hessians: counts.hessian,
            seconds: posterior.seconds(),
            converged: posterior.converged(),
            given_by: posterior.given_by(),
            verdict: posterior.verdict().map(|verdict| verdict.name()),
        }
    }

    fn k(&self) -> String {
        match self.diagnostics.pareto_k {
            Some(k) => ladder::k(k),
            None if self.few_draws_dominate => "endless".into(),
            None => "not known".into(),
        }
    }

    fn verdict(&self) -> String {
        let words = self.verdict.map_or("not judged".into(), |verdict| verdict.replace('_', " "));
        // Chains do not need a fit that has converged.
        if self.converged || self.given_by == GivenBy::Chains { words } else { words + ", not converged" }
    }
}

/// The family, and its scale matrix where it is not the usual one.
fn family(family: &Family) -> String {
    let usual = if matches!(family.kind, Kind::RankK { .. }) { Covariance::Diagonal } else { Covariance::Full };
    let covariance = family.covariance;
    let matrix = if covariance == usual { String::new() } else { format!(", {covariance}") };
    ladder::family(family) + &matrix
}

/// Which fits can be told from the best.
fn conclusion(rows: &[Row]) -> String {
    /// Smaller differences, in standard errors, may be noise.
    const ERRORS: f64 = 2.0;
    let near = |row: &&Row| row.difference.is_some_and(|d| d.value.abs() <= ERRORS * d.mcse);
    let near: Vec<&str> = rows.iter().filter(near).map(|row| row.run.as_str()).collect();
    let best = &rows[0].run;
    if near.is_empty() {
        let next = rows.get(1).and_then(|row| row.difference);
        let by = next.map_or(String::new(), |d| format!(" by {} nats", with_error(d.value.abs(), d.mcse)));
        return format!("{best} is the closest to the posterior{by}.");
    }
    format!("{best} has the highest bound, but {} cannot be told from it.", near.join(" and "))
}

#[derive(Serialize)]
struct Object<'a> {
    best: &'a str,
    n_draws: usize,
    seed: u64,
    runs: Vec<RunObject<'a>>,
}

#[derive(Serialize)]
struct RunObject<'a> {
    run_dir: &'a str,
    family: &'static str,
    elbo: f64,
    elbo_se: f64,
    /// To the best, which has 0.
    difference: f64,
    difference_se: f64,
    pareto_k: Option<f64>,
    evaluations: Evaluations,
    seconds: f64,
    converged: bool,
    given_by: &'static str,
    verdict: Option<&'static str>,
}

#[derive(Serialize)]
struct Evaluations {
    log_density: u64,
    gradient: u64,
    hessian: u64,
}
