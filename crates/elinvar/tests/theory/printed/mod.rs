//! One step of the rule `printed` against its box, evaluated here: from the same random numbers, by plain dense algebra
//! and quadrature, with nothing of the library between the draws and the new parameters.

mod adam;
mod adam_mixture;
mod descent;
mod dirichlet;
mod leaving;
mod matrix;
mod mean_mixtures;
mod mixtures;
mod momentum;
mod options;
mod rows;
mod scale_mixtures;

use elinvar::Plan;
use elinvar::family::Approximation;
use elinvar::internals::random::NoiseSource;
use elinvar::internals::{Numbers as _, law::sample};
use elinvar::law::Law;
use elinvar::model::{DesignMatrix, LogisticRegression};
use elinvar::random::{Noise, Purpose};
use elinvar::run::Run;
use elinvar::target::{Prior, Target, WithPrior};

use crate::dense::{Matrix, difference, dot};

/// Relative to the largest entry: one step is some hundred additions of numbers of one size.
const STEP: f64 = 1e-12;
/// Precision of the Gaussian prior, N(0, I/δ).
const DELTA: f64 = 0.7;
/// β, and the number of draws S.
const BETA: f64 = 0.05;
const DRAWS: usize = 4;
const SEED: u64 = 11;
const DIM: usize = 3;
const ROWS: usize = 12;

/// A column of B and the direction in which the box moves it, before Σ⁺.
type Column = (Vec<f64>, Vec<f64>);

/// A logistic regression whose terms f_n are computed here.
struct Items {
    x: Vec<Vec<f64>>,
    y: Vec<f64>,
}

impl Items {
    fn new() -> Self {
        let entry = |i: usize, j: usize| if j == 0 { 1.0 } else { ((i * (j + 2) + j) as f64 * 1.7).sin() };
        let x = (0..ROWS).map(|i| (0..DIM).map(|j| entry(i, j)).collect()).collect();
        let y = (0..ROWS).map(|i| if i % 3 == 0 { -1.0 } else { 1.0 }).collect();
        Self { x, y }
    }

    /// The same as a target of the library, with a prior.
    fn target(&self, prior: Prior) -> WithPrior<LogisticRegression> {
        let names = (0..DIM).map(|j| format!("x{j}")).collect();
        let design = DesignMatrix::new(self.x.concat(), DIM, names).unwrap();
        WithPrior::new(LogisticRegression::new(design, self.y.clone(), 1.0).unwrap(), prior)
    }

    /// f_n, ∇f_n and ∇²f_n at a point, f_n = log(1 + exp(−y_n x_nᵀz)).
    fn term(&self, n: usize, z: &[f64]) -> (f64, Vec<f64>, Matrix) {
        let margin = self.y[n] * dot(&self.x[n], z);
        let wrong = 1.0 / (1.0 + margin.exp());
        let gradient = self.x[n].iter().map(|x| -self.y[n] * wrong * x).collect();
        let hessian = outer(&self.x[n], &self.x[n]).scaled(wrong * (1.0 - wrong));
        ((-margin).exp().ln_1p(), gradient, hessian)
    }

    /// The same of N/M times the sum over these items.
    fn sum(&self, items: &[usize], z: &[f64]) -> (f64, Vec<f64>, Matrix) {
        let factor = ROWS as f64 / items.len() as f64;
        let (mut f, mut g, mut h) = (0.0, vec![0.0; DIM], Matrix::zeros(DIM, DIM));
        for n in items {
            let (value, gradient, hessian) = self.term(*n, z);
            f += factor * value;
            g = plus(&g, factor, &gradient);
            h = h.plus(factor, &hessian);
        }
        (f, g, h)
    }

    fn all(&self, z: &[f64]) -> (f64, Vec<f64>, Matrix) {
        self.sum(&(0..ROWS).collect::<Vec<_>>(), z)
    }
}

fn gaussian_prior() -> Prior {
    Prior::Gaussian { precision: DELTA, leading: DIM }
}

fn plan() -> Plan {
    Plan { seed: SEED, ..Plan::printed(DRAWS, BETA, 1) }
}

/// x + c y.
fn plus(x: &[f64], c: f64, y: &[f64]) -> Vec<f64> {
    x.iter().zip(y).map(|(x, y)| x + c * y).collect()
}

fn outer(x: &[f64], y: &[f64]) -> Matrix {
    Matrix::from_columns(x.len(), &y.iter().flat_map(|y| x.iter().map(move |x| x * y)).collect::<Vec<_>>())
}

fn quadratic(x: &[f64], m: &Matrix, y: &[f64]) -> f64 {
    dot(x, &m.times_vector(y))
}

/// Whether two lists of numbers agree relative to the largest of the expected ones.
fn same(what: &str, found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len(), "{what}");
    let size = expected.iter().fold(0.0, |size: f64, v| size.max(v.abs()));
    let error = difference(found, expected).iter().fold(0.0, |error: f64, v| error.max(v.abs()));
    assert!(error <= STEP * size, "{what}: off by {:e} of {size:e}\n{found:?}\n{expected:?}", error / size);
}

/// A positive definite matrix.
fn precision(c: usize) -> Matrix {
    let entry = |i: usize, j: usize| if i == j { 1.5 + 0.3 * (i + c) as f64 } else { 0.2 / (1 + i + j + c) as f64 };
    Matrix::from_columns(DIM, &(0..DIM * DIM).map(|k| entry(k % DIM, k / DIM)).collect::<Vec<_>>())
}

fn location(c: usize) -> Vec<f64> {
    (0..DIM).map(|i| 0.4 * ((i + 2 * c) as f64 + 0.3).cos()).collect()
}

fn shift() -> Vec<f64> {
    (0..DIM).map(|i| 0.5 * (i as f64 + 0.8).sin()).collect()
}

/// The member after one step.
fn one_step(target: &dyn Target, start: &Approximation, plan: &Plan) -> Approximation {
    let mut run = Run::new(target, start.clone(), plan).unwrap();
    run.step().unwrap();
    run.q().clone()
}

/// The w and ε of the first batch of a family with one component.
fn noise(law: Law, n: usize) -> (Vec<f64>, Vec<Vec<f64>>) {
    noise_of_step(law, n, 0)
}

/// The same of a later batch.
fn noise_of_step(law: Law, n: usize, step: u64) -> (Vec<f64>, Vec<Vec<f64>>) {
    let mut source = NoiseSource::new(Noise::Independent, DIM, n);
    source.begin(SEED, Purpose::Draws, step, 0);
    let mut eps = vec![0.0; DIM * n];
    source.fill_eps(&mut eps);
    let w = (0..n).map(|s| if law.mixes() { sample(&law, &mut source.mixing(s)) } else { 0.0 }).collect();
    (w, eps.chunks_exact(DIM).map(<[f64]>::to_vec).collect())
}

/// L⁻ᵀε with P = LLᵀ.
fn unwhitened(p: &Matrix, eps: &[f64]) -> Vec<f64> {
    let upper = p.cholesky().unwrap().transposed();
    let mut x = eps.to_vec();
    for i in (0..x.len()).rev() {
        for j in i + 1..x.len() {
            x[i] -= upper.at(i, j) * x[j];
        }
        x[i] /= upper.at(i, i);
    }
    x
}

/// P⁺ and B⁺ of the library against the box: P⁺ = `precision`, B⁺ = B + βΣ⁺ `directions`.
fn check_location(what: &str, after: &Approximation, precision: &Matrix, columns: &[Column]) {
    let block = &after.locations()[0];
    same(&format!("{what}: P"), block.scale().precision(), &precision.entries);
    let sigma = precision.inverse();
    for (j, (from, direction)) in columns.iter().enumerate() {
        let moved = plus(from, BETA, &sigma.times_vector(direction));
        same(&format!("{what}: column {j} of B"), block.column(j), &moved);
    }
}

/// log Φ(x).
fn log_phi(x: f64) -> f64 {
    (0.5 * libm::erfc(-x / 2f64.sqrt())).ln()
}

/// φ(x)/Φ(x).
fn mills(x: f64) -> f64 {
    let density = (-0.5 * x * x).exp() / std::f64::consts::TAU.sqrt();
    density / (0.5 * libm::erfc(-x / 2f64.sqrt()))
}

/// E[g(ε)], ε ~ N(0, 1), by the trapezoid rule.
fn normal_mean(g: impl Fn(f64) -> f64) -> f64 {
    let h = 1.0 / 16.0;
    let density = |x: f64| (-0.5 * x * x).exp() / std::f64::consts::TAU.sqrt();
    (-144..=144).map(|k| f64::from(k) * h).map(|x| h * density(x) * g(x)).sum()
}
