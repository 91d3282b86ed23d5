//! Different models of the same rows, by what they expect of new ones.

use serde::Serialize;

use super::{Loo, Total};
use crate::error::Error;
use crate::job::Job;
use crate::kept::Kept;
use crate::number::{grouped, with_error};
use crate::table::{self, Align, Column};

/// Smaller differences, in standard errors, may be those of the rows.
const ERRORS: f64 = 2.0;

/// Models of the same rows, the best first.
pub struct ElpdRanking {
    /// The best first.
    models: Vec<Loo>,
    /// To the best.
    differences: Vec<Total>,
}

#[derive(Serialize)]
struct Object<'a> {
    by: &'static str,
    best: String,
    n_rows: usize,
    seed: u64,
    runs: Vec<RunObject<'a>>,
}

#[derive(Serialize)]
struct RunObject<'a> {
    run_dir: String,
    model: &'a str,
    elpd_loo: f64,
    elpd_loo_se: f64,
    /// To the best, which has 0.
    difference: f64,
    difference_se: f64,
    p_loo: f64,
    /// Rows with k̂ above the threshold.
    unreliable: usize,
    n_draws: usize,
}

impl ElpdRanking {
    /// Leaves out every row of every fit.
    ///
    /// # Errors
    /// [`Error::OtherResponses`] where fits are not of the same rows, [`Error::NoRegression`], and those of the models.
    pub fn new(kept: &[Kept], seed: u64) -> Result<Self, Error> {
        let jobs = kept.iter().map(Kept::job).collect::<Result<Vec<Job>, Error>>()?;
        // Before hours of work.
        for (job, other) in jobs.iter().zip(kept).skip(1) {
            if let Some(what) = difference(&jobs[0], job) {
                return Err(Error::OtherResponses { first: kept[0].path.clone(), other: other.path.clone(), what });
            }
        }
        let left_out = jobs.iter().zip(kept).map(|(job, kept)| Loo::of_job(job, kept, None, seed));
        let mut models = left_out.collect::<Result<Vec<Loo>, Error>>()?;
        for other in &models[1..] {
            let what = if other.kind != models[0].kind {
                "one has a density of numbers, the other probabilities of counts or classes"
            } else if other.responses != models[0].responses {
                "their rows have other responses"
            } else {
                continue;
            };
            let (first, other) = (models[0].path.clone(), other.path.clone());
            return Err(Error::OtherResponses { first, other, what: what.into() });
        }
        models.sort_by(|a, b| b.elpd().value.total_cmp(&a.elpd().value));
        let best = &models[0];
        // Row by row: most of the error of a sum is that of rows which are hard for every model.
        let pairs = |loo: &Loo| -> Vec<f64> { loo.rows.iter().zip(&best.rows).map(|(a, b)| a.elpd - b.elpd).collect() };
        let differences = models.iter().map(|loo| loo.total(pairs(loo).iter().copied())).collect();
        Ok(Self { models, differences })
    }

    /// A table and what follows from it.
    pub fn page(&self) -> String {
        let rows = || self.models.iter().zip(&self.differences).enumerate();
        let total = |total: Total| with_error(total.value, total.se);
        let table = table::text(vec![
            Column::new(Align::Left, "Run", self.models.iter().map(|loo| loo.path.display().to_string())),
            Column::new(Align::Left, "model", self.models.iter().map(|loo| loo.model.clone())),
            Column::new(Align::Estimate, "elpd, nats", self.models.iter().map(|loo| total(loo.elpd()))),
            Column::new(
                Align::Estimate,
                "difference, nats",
                rows().map(|(k, (_, difference))| if k == 0 { "best".into() } else { total(*difference) }),
            ),
            Column::new(Align::Right, "p_loo", self.models.iter().map(|loo| format!("{:.1}", loo.p_loo().value))),
            Column::new(
                Align::Right,
                "unreliable rows",
                self.models.iter().map(|loo| grouped(loo.unreliable().count() as u64)),
            ),
        ]);
        let n = grouped(self.models[0].n_rows as u64);
        format!(
            "These are different models of the same {n} rows: they are compared by what they expect of new rows\n(elpd, by \
             leaving out one row at a time).\n\n{table}\n{}\n± one standard error over rows, that of a difference for the \
             pair\n",
            self.conclusion()
        )
    }

    fn conclusion(&self) -> String {
        let name = |loo: &Loo| loo.path.display().to_string();
        let others = || self.models.iter().zip(&self.differences).skip(1);
        let near = others().filter(|(_, d)| d.value.abs() <= ERRORS * d.se).map(|(loo, _)| name(loo));
        let near: Vec<String> = near.collect();
        let best = name(&self.models[0]);
        if !near.is_empty() {
            return format!("{best} is ahead, but {} cannot be told from it.", near.join(" and "));
        }
        let next = self.differences[1];
        format!("{best} predicts best, by {} nats.", with_error(next.value.abs(), next.se))
    }

    /// One JSON object.
    pub fn json(&self, seed: u64) -> String {
        let runs = self.models.iter().zip(&self.differences).map(|(loo, difference)| RunObject {
            run_dir: loo.path.display().to_string(),
            model: &loo.model,
            elpd_loo: loo.elpd().value,
            elpd_loo_se: loo.elpd().se,
            difference: difference.value,
            difference_se: difference.se,
            p_loo: loo.p_loo().value,
            unreliable: loo.unreliable().count(),
            n_draws: loo.n_draws,
        });
        let (best, n_rows) = (self.models[0].path.display().to_string(), self.models[0].n_rows);
        let object = Object { by: "elpd_loo", best, n_rows, seed, runs: runs.collect() };
        serde_json::to_string(&object).expect("numbers and strings are always JSON") + "\n"
    }
}

/// In what two fits cannot be of the same rows.
fn difference(a: &Job, b: &Job) -> Option<String> {
    if a.rows.target != b.rows.target {
        return Some(format!("one explains {}, the other {}", a.rows.target, b.rows.target));
    }
    if a.rows.n_rows != b.rows.n_rows {
        return Some(format!(
            "one has {} rows, the other {}",
            grouped(a.rows.n_rows as u64),
            grouped(b.rows.n_rows as u64)
        ));
    }
    None
}
