//! Regressions on data, small and large, and the beta-binomial model.

use elinvar::model::{BetaBinomial, DesignMatrix, LinearRegression, LogisticRegression, PoissonRegression};
use elinvar::random::{Purpose, Stream};
use elinvar_data::{Columns, Intercept, Outcome, RegressionData, Selection, Table};
use serde::Serialize;

use super::grid::{moments_2d, moments_over};
use super::linear_map::dot;
use super::reference::{BREAST_CANCER, Reference, SONAR};
use super::{Moments, Problem};

const EMBEDDED: &str = "the embedded table is complete";

/// A logistic regression by its rows, labels −1 and 1, and the precision of its prior.
#[derive(Serialize)]
pub(crate) struct LogisticRows {
    pub(crate) x: Vec<f64>,
    pub(crate) y: Vec<f64>,
    #[serde(skip)]
    names: Vec<String>,
    pub(crate) prior_precision: f64,
}

impl LogisticRows {
    fn of(data: RegressionData, prior_precision: f64) -> Self {
        Self { x: data.features, y: data.y, names: data.names, prior_precision }
    }

    fn model(self) -> LogisticRegression {
        let x = DesignMatrix::new(self.x, self.names.len(), self.names).expect("the rows are complete");
        LogisticRegression::new(x, self.y, self.prior_precision).expect("labels −1 and 1")
    }
}

fn referenced(name: &str, target: LogisticRegression, reference: &Reference) -> Problem {
    let moments = Moments { mean: reference.mean.to_vec(), sd: reference.sd.to_vec() };
    Problem::known(name, target, reference.log_evidence, moments)
}

/// The embedded Breast-Cancer data: 341 rows, intercept first, prior precision 1.
pub(crate) fn breast_cancer_rows() -> LogisticRows {
    let selection = Selection::new("y", Outcome::Binary);
    LogisticRows::of(RegressionData::from_table(&elinvar_data::breast_cancer(), &selection).expect(EMBEDDED), 1.0)
}

/// The regression on [`breast_cancer_rows`].
pub(crate) fn breast_cancer_model() -> LogisticRegression {
    breast_cancer_rows().model()
}

/// [`breast_cancer_model`] with its reference.
pub(crate) fn breast_cancer() -> Problem {
    referenced("Breast-Cancer", breast_cancer_model(), &BREAST_CANCER)
}

/// 100 rows of the Sonar data, intercept first, prior precision 0.204.
pub(crate) fn sonar_rows() -> LogisticRows {
    let text = include_bytes!("../../data/sonar.csv");
    let table = Table::from_csv("sonar.csv", text, &Columns::All).expect(EMBEDDED);
    let rows: Vec<usize> =
        include_str!("../../data/sonar.train.idx").lines().filter_map(|row| row.parse().ok()).collect();
    let selection = Selection::new("y", Outcome::Binary);
    let data = RegressionData::from_table(&table, &selection).expect(EMBEDDED);
    let d = data.names.len();
    let features = rows.iter().flat_map(|row| data.features[row * d..(row + 1) * d].iter().copied()).collect();
    let y = rows.iter().map(|row| data.y[*row]).collect();
    LogisticRows { x: features, y, names: data.names, prior_precision: 0.204 }
}

/// The regression on [`sonar_rows`] with its reference.
pub(crate) fn sonar() -> Problem {
    referenced("Sonar", sonar_rows().model(), &SONAR)
}

/// Two well separated classes in the plane without an intercept, prior precision 0.01: a posterior that is skewed and
/// long.
pub(crate) fn murphy_toy() -> Problem {
    let text = include_bytes!("../../data/murphy_toy.csv");
    let table = Table::from_csv("murphy_toy.csv", text, &Columns::All).expect(EMBEDDED);
    let selection = Selection { intercept: Intercept::None, ..Selection::new("y", Outcome::Binary) };
    let target = LogisticRows::of(RegressionData::from_table(&table, &selection).expect(EMBEDDED), 0.01).model();
    let (log_normaliser, moments) = moments_2d(&target, [-15.0, -15.0], [70.0, 40.0], 401);
    Problem::known("murphy_toy", target, log_normaliser, moments)
}

/// Cancer mortality in 20 cities; z = (logit η, log K).
pub(crate) fn beta_binomial() -> Problem {
    let target = BetaBinomial::cancer_mortality();
    let (log_normaliser, moments) = moments_2d(&target, [-11.0, 0.0], [-3.0, 31.0], 201);
    Problem::known("beta-binomial", target, log_normaliser, moments)
}

/// Generated features: an intercept and one standard normal number, or with `more` columns as many.
fn design(n: usize, columns: usize, seed: u64) -> (Vec<f64>, Vec<String>) {
    let mut stream = Stream::open(seed, Purpose::Sample, 1, 0);
    let mut x = Vec::with_capacity(n * columns);
    for _ in 0..n {
        x.push(1.0);
        x.extend((1..columns).map(|_| stream.normal()));
    }
    let names = (0..columns).map(|j| format!("x{j}")).collect();
    (x, names)
}

/// Generated rows with `columns` columns, the first of ones; the weights fall and alternate in sign.
pub(crate) fn generated_rows(n: usize, columns: usize, prior_precision: f64, seed: u64) -> LogisticRows {
    let (x, names) = design(n, columns, seed);
    let weights: Vec<f64> =
        (0..columns).map(|j| if j % 2 == 0 { 1.0 } else { -1.0 } / (1.0 + 0.25 * j as f64)).collect();
    let mut stream = Stream::open(seed, Purpose::Sample, 2, 0);
    let y = x
        .chunks_exact(columns)
        .map(|row| if stream.uniform() * (1.0 + (-dot(row, &weights)).exp()) < 1.0 { 1.0 } else { -1.0 });
    let y = y.collect();
    LogisticRows { x, y, names, prior_precision }
}

/// The regression on [`generated_rows`].
pub(crate) fn generated_logistic(n: usize, columns: usize, prior_precision: f64, seed: u64) -> LogisticRegression {
    generated_rows(n, columns, prior_precision, seed).model()
}

/// Intercept and slope of a logistic regression with `n` rows.
pub(crate) fn small_logistic(n: usize, prior_precision: f64) -> Problem {
    let target = generated_logistic(n, 2, prior_precision, 5);
    let reach = 9.0 / prior_precision.sqrt();
    let (log_normaliser, moments) = moments_2d(&target, [-reach; 2], [reach; 2], 501);
    Problem::known(format!("logistic d = 2, {n} rows, precision {prior_precision}"), target, log_normaliser, moments)
}

/// Generated Poisson regression with `columns` columns, the first of ones, and counts of the mean e^level at zero.
pub(crate) fn generated_poisson(n: usize, columns: usize, level: f64, seed: u64) -> PoissonRegression {
    let (x, names) = design(n, columns, seed);
    let mut stream = Stream::open(seed, Purpose::Sample, 2, 0);
    let slope = 0.4 / (columns as f64 - 1.0).sqrt();
    let rate = |row: &[f64]| (level + slope * row[1..].iter().sum::<f64>()).exp();
    let counts = x.chunks_exact(columns).map(|row| poisson(rate(row), &mut stream)).collect();
    let x = DesignMatrix::new(x, columns, names).expect("finite features");
    PoissonRegression::new(x, counts, 0.1).expect("whole numbers")
}

/// Intercept and slope of a Poisson regression with `n` rows whose counts have the mean e^level at x = 0.
pub(crate) fn small_poisson(n: usize, level: f64) -> Problem {
    let target = generated_poisson(n, 2, level, 6);
    let (log_normaliser, moments) = moments_2d(&target, [-25.0, -20.0], [10.0, 20.0], 601);
    Problem::known(format!("Poisson d = 2, {n} rows, level {level}"), target, log_normaliser, moments)
}

/// A Poisson number: arrivals before the time is up.
fn poisson(mean: f64, stream: &mut Stream) -> f64 {
    let mut time = -stream.uniform().ln();
    let mut count = 0.0;
    while time < mean {
        count += 1.0;
        time -= stream.uniform().ln();
    }
    count
}

/// Linear regression with unknown noise: z = (β, log σ). Given σ, β is Gaussian.
pub(crate) fn linear(n: usize, columns: usize) -> Problem {
    generated_linear(n, columns, 7)
}

/// [`linear`] with data of another seed.
pub(crate) fn generated_linear(n: usize, columns: usize, seed: u64) -> Problem {
    let (x, names) = design(n, columns, seed);
    let mut stream = Stream::open(seed, Purpose::Sample, 2, 0);
    let y: Vec<f64> =
        x.chunks_exact(columns).map(|row| 0.7 * row.iter().sum::<f64>() + 0.5 * stream.normal()).collect();
    let precision = 0.04;
    let (mut gram, mut xy) = (vec![0.0; columns * columns], vec![0.0; columns]);
    for (row, y) in x.chunks_exact(columns).zip(&y) {
        for j in 0..columns {
            xy[j] += row[j] * y;
            (0..columns).for_each(|i| gram[j * columns + i] += row[i] * row[j]);
        }
    }
    let yy = dot(&y, &y);
    let design = DesignMatrix::new(x, columns, names).expect("finite features");
    let target = LinearRegression::new(design, y, precision).expect("finite responses");
    // The scale of the half-Cauchy prior of σ that the model has by default.
    let scale = 2.5f64;
    let (low, high) = (-3.0, 6.0);
    let given = |t: f64, first: &mut [f64], second: &mut [f64]| {
        let weight = (-2.0 * t).exp();
        let mut prec: Vec<f64> = gram.iter().map(|g| weight * g).collect();
        prec.iter_mut().step_by(columns + 1).for_each(|p| *p += precision);
        let (cov, log_det) = inverse(columns, prec);
        for i in 0..columns {
            first[i] = weight * dot(&cov[i * columns..(i + 1) * columns], &xy);
            second[i] = first[i] * first[i] + cov[i * columns + i];
        }
        (first[columns], second[columns]) = (t, t * t);
        let fit = weight * dot(&xy, &first[..columns]);
        let noise = (2.0 / std::f64::consts::PI).ln() - scale.ln() - (t.exp() / scale).powi(2).ln_1p() + t;
        noise + 0.5 * (columns as f64 * precision.ln() - log_det + fit - weight * yy)
            - n as f64 * (t + 0.5 * std::f64::consts::TAU.ln())
    };
    let (log_normaliser, moments) = moments_over(columns + 1, low, high, 9_001, given);
    Problem::known(format!("linear regression, {n} rows, {columns} coefficients"), target, log_normaliser, moments)
}

/// Inverse and log determinant of a positive definite matrix by elimination without pivots.
fn inverse(dim: usize, mut a: Vec<f64>) -> (Vec<f64>, f64) {
    let mut out = vec![0.0; dim * dim];
    out.iter_mut().step_by(dim + 1).for_each(|v| *v = 1.0);
    let mut log_det = 0.0;
    for k in 0..dim {
        let pivot = a[k * dim + k];
        log_det += pivot.ln();
        for j in 0..dim {
            a[k * dim + j] /= pivot;
            out[k * dim + j] /= pivot;
        }
        for i in (0..dim).filter(|i| *i != k) {
            let factor = a[i * dim + k];
            for j in 0..dim {
                a[i * dim + j] -= factor * a[k * dim + j];
                out[i * dim + j] -= factor * out[k * dim + j];
            }
        }
    }
    (out, log_det)
}
