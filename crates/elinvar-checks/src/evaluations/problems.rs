//! What is fitted, and how far a Gaussian is from the best one there.

use std::path::Path;

use elinvar::estimate::Curvature;
use elinvar::model::{Banana, DesignMatrix, EightSchools, Gaussian, LogisticRegression, Parametrisation};
use elinvar::random::{Purpose, Stream};
use elinvar::run::Stop;
use elinvar::target::Target;
use elinvar::{Family, Plan, Posterior};

use super::row_expectations::Rows;
use crate::posteriordb;
use crate::problems::regressions::{breast_cancer, murphy_toy, sonar};
use crate::problems::tables;

/// Draws behind an ELBO.
const N_DRAWS: usize = 400_000;

/// What is known about the best Gaussian.
pub(super) enum Best {
    /// Its ELBO.
    Elbo(f64),
    /// The target is a normalised Gaussian itself.
    Normalised,
    /// Expectations over rows are exact.
    Rows(Rows),
}

pub(super) struct Case {
    pub(super) name: String,
    pub(super) target: Box<dyn Target>,
    pub(super) best: Best,
    /// Whether a fit with Hessians is part of the table.
    pub(super) with_hessians: bool,
    /// Whether a few seeds must do.
    pub(super) is_slow: bool,
}

impl Case {
    fn new(name: impl Into<String>, target: Box<dyn Target>, best: Best) -> Self {
        Self { name: name.into(), target, best, with_hessians: true, is_slow: false }
    }

    /// A case whose best Gaussian is that of a long fit with Hessians and many draws.
    fn by_long_fit(name: &str, target: Box<dyn Target>) -> Result<Self, String> {
        let (_, best) = best_gaussian(target.as_ref())?;
        Ok(Self::new(name, target, Best::Elbo(best)))
    }

    /// Nats to the best Gaussian.
    pub(super) fn excess(&self, posterior: &Posterior) -> Result<f64, String> {
        match &self.best {
            Best::Elbo(best) => Ok(best - elbo(posterior, self.target.as_ref())?),
            Best::Normalised => Ok(-elbo(posterior, self.target.as_ref())?),
            Best::Rows(rows) => {
                let q = posterior.approximation();
                rows.excess(&q.mean(), &q.covariance()).ok_or_else(|| "a covariance is not positive definite".into())
            }
        }
    }
}

/// The better of two long fits with Hessians and many draws, and its ELBO.
pub(crate) fn best_gaussian(target: &dyn Target) -> Result<(Posterior, f64), String> {
    let stop = Stop { remaining_nats: 2e-4, max_seconds: Some(20.0), ..Stop::default() };
    // Averages of steps, which the fits of the table do not use, and what the table is about.
    let fitted = |curvature| {
        let plan = Plan { n_draws: 256, seed: 77, curvature, stop, ..Plan::default() };
        let fitted = elinvar::run::fit(target, Family::gaussian(), &plan).map_err(|e| e.to_string())?;
        let value = elbo(&fitted, target)?;
        Ok::<_, String>((fitted, value))
    };
    let (averaged, residual) = (fitted(Curvature::Hessian)?, fitted(Curvature::Auto)?);
    Ok(if averaged.1 > residual.1 { averaged } else { residual })
}

fn elbo(posterior: &Posterior, target: &dyn Target) -> Result<f64, String> {
    let n = if target.dim() > 100 { 2_000 } else { N_DRAWS };
    Ok(posterior.importance(target, n, 9).map_err(|e| e.to_string())?.diagnostics.elbo.value)
}

/// A logistic regression with N = 5 d rows and neighbouring columns correlated, prior precision 1.
fn logistic(d: usize) -> Case {
    let mut stream = Stream::open(d as u64, Purpose::Sample, 7, 0);
    let (mut x, mut y) = (Vec::with_capacity(5 * d * d), Vec::with_capacity(5 * d));
    let weights: Vec<f64> = (0..d).map(|_| 2.0 * stream.normal() / (d as f64).sqrt()).collect();
    for _ in 0..5 * d {
        let e: Vec<f64> = (0..d).map(|_| stream.normal()).collect();
        let row: Vec<f64> = (0..d).map(|j| if j == 0 { 1.0 } else { e[j] + 0.5 * e[j - 1] }).collect();
        let predictor = super::dense::dot(&row, &weights);
        y.push(if stream.uniform() * (1.0 + (-predictor).exp()) < 1.0 { 1.0 } else { -1.0 });
        x.extend(row);
    }
    let names = (0..d).map(|j| format!("x{j}")).collect();
    let design = DesignMatrix::new(x.clone(), d, names).expect("the numbers are finite");
    let model = LogisticRegression::new(design, y.clone(), 1.0).expect("the labels are −1 and 1");
    let rows = Rows { x, y, prior_precision: 1.0 };
    Case { is_slow: d > 100, ..Case::new(format!("logistic, N = 5 d ({d})"), Box::new(model), Best::Rows(rows)) }
}

/// A normalised Gaussian whose precision has eigenvalues from 1 to `condition` in random directions.
fn gaussian(d: usize, condition: f64) -> Case {
    let mut stream = Stream::open(d as u64, Purpose::Sample, 8, 0);
    let eigenvalue = |i: usize| condition.powf(i as f64 / (d - 1) as f64);
    let mut precision = vec![0.0; d * d];
    (0..d).for_each(|i| precision[i * d + i] = eigenvalue(i));
    // Reflections on both sides turn the axes.
    for _ in 0..4 {
        let v: Vec<f64> = (0..d).map(|_| stream.normal()).collect();
        let square = super::dense::dot(&v, &v);
        for side in 0..2 {
            let at = |i: usize, j: usize| if side == 0 { j * d + i } else { i * d + j };
            for j in 0..d {
                let along: f64 = (0..d).map(|i| v[i] * precision[at(i, j)]).sum();
                (0..d).for_each(|i| precision[at(i, j)] -= 2.0 * along / square * v[i]);
            }
        }
    }
    for j in 0..d {
        for i in 0..j {
            let mean = 0.5 * (precision[i * d + j] + precision[j * d + i]);
            (precision[i * d + j], precision[j * d + i]) = (mean, mean);
        }
    }
    let mean = (0..d).map(|_| stream.normal()).collect();
    let target = Gaussian::new(mean, precision).expect("the eigenvalues are positive");
    let name = format!("Gaussian, condition {condition} ({d})");
    let case = Case::new(name, Box::new(target), Best::Normalised);
    Case { with_hessians: false, is_slow: true, ..case }
}

/// All cases; those of posteriordb if there is a folder with its data, and those on tables if there is one with them.
pub(super) fn cases(
    collection: Option<&Path>,
    folder: Option<&Path>,
    wanted: &dyn Fn(&str) -> bool,
) -> Result<Vec<Case>, String> {
    let mut cases = Vec::new();
    for (name, problem) in [("Breast-Cancer (10)", breast_cancer as fn() -> _), ("Sonar (61)", sonar)] {
        if wanted(name) {
            cases.push(Case::by_long_fit(name, problem().target)?);
        }
    }
    if wanted("murphy (2)") {
        cases.push(Case::by_long_fit("murphy (2)", murphy_toy().target)?);
    }
    if wanted("banana (2)") {
        cases.push(Case::by_long_fit("banana (2)", Box::new(Banana::default()))?);
    }
    if wanted("eight schools (10)") {
        let target = EightSchools::new(Parametrisation::NonCentred);
        cases.push(Case::by_long_fit("eight schools (10)", Box::new(target))?);
    }
    for name in posteriordb::POSTERIORS.iter().filter(|name| !name.starts_with("eight_schools") && wanted(name)) {
        if let Some(collection) = collection {
            let target = posteriordb::target(collection, name)?;
            let label = format!("{name} ({})", target.dim());
            cases.push(Case::by_long_fit(&label, target)?);
        }
    }
    for (name, target) in tables::NAMES {
        if let Some(folder) = folder.filter(|_| wanted(name)) {
            let target = target(folder)?;
            cases.push(Case::by_long_fit(&format!("{name} ({})", target.dim()), target)?);
        }
    }
    for (d, condition) in [(200, 1.0), (200, 1e4), (500, 1.0), (500, 1e4)] {
        if wanted(&format!("Gaussian, condition {condition} ({d})")) {
            cases.push(gaussian(d, condition));
        }
    }
    for d in [50, 200, 500, 1_000] {
        if wanted(&format!("logistic, N = 5 d ({d})")) {
            cases.push(logistic(d));
        }
    }
    Ok(cases)
}
