//! A family of your own: coordinates that are each skewed and tailed in their own way, which elinvar does not have.
//!
//! `cargo run --release -p elinvar --example own_family`

use elinvar::conformance;
use elinvar::prelude::*;
use elinvar::research::family::{Own, OwnFamily};

/// z_i = μ_i + σ_i sinh{(asinh ε_i + s_i)/t_i}: s bends a normal number ε to one side, t < 1 makes its tails heavier.
///
/// The parameters of a coordinate are μ, log σ, s and log t: four free numbers.
#[derive(Debug)]
struct SinhArcsinh;

/// What every function needs of a coordinate at ε.
struct At {
    /// z − μ, dz/dε and σ cosh a.
    offset: f64,
    stretch: f64,
    width: f64,
    /// a = (asinh ε + s)/t, and 1/t.
    a: f64,
    inverse: f64,
}

impl At {
    fn new(theta: &[f64], eps: f64) -> Self {
        let (sd, inverse) = (theta[1].exp(), (-theta[3]).exp());
        let a = (eps.asinh() + theta[2]) * inverse;
        let width = sd * a.cosh();
        Self { offset: sd * a.sinh(), stretch: width * inverse / eps.hypot(1.0), width, a, inverse }
    }

    /// log q(z) at the z of this ε.
    fn log_density(&self, eps: f64) -> f64 {
        -0.5 * (eps * eps + std::f64::consts::TAU.ln()) - self.stretch.ln()
    }

    /// d log q/dε.
    fn slope(&self, eps: f64) -> f64 {
        let square = 1.0 + eps * eps;
        -eps - self.a.tanh() * self.inverse / square.sqrt() + eps / square
    }

    /// ∂z/∂θ at fixed ε.
    fn path(&self) -> [f64; 4] {
        [1.0, self.offset, self.width * self.inverse, -self.width * self.a]
    }

    /// ∂log q(z)/∂θ at fixed z: what θ does at fixed ε, and what ε does that has to follow.
    fn score_of_parameters(&self, eps: f64) -> [f64; 4] {
        let tanh = self.a.tanh();
        let direct = [0.0, -1.0, -tanh * self.inverse, 1.0 + self.a * tanh];
        let (path, follow) = (self.path(), self.slope(eps) / self.stretch);
        std::array::from_fn(|k| direct[k] - follow * path[k])
    }
}

/// The ε of z.
fn normal_of(theta: &[f64], z: f64) -> f64 {
    (((z - theta[0]) * (-theta[1]).exp()).asinh() * theta[3].exp() - theta[2]).sinh()
}

/// E[f(ε)] of a standard normal ε, by the trapezoidal rule.
fn expectation<const N: usize>(f: impl Fn(f64) -> [f64; N]) -> [f64; N] {
    let (step, mut sums) = (0.125, [0.0; N]);
    for k in -72..=72 {
        let eps = f64::from(k) * step;
        let weight = step * (-0.5 * eps * eps).exp() / std::f64::consts::TAU.sqrt();
        sums.iter_mut().zip(f(eps)).for_each(|(sum, value)| *sum += weight * value);
    }
    sums
}

impl OwnFamily for SinhArcsinh {
    fn name(&self) -> &'static str {
        "sinh_arcsinh"
    }

    fn n_parameters(&self, dim: usize) -> usize {
        4 * dim
    }

    /// Beyond these, draws leave the range of numbers.
    fn is_inside(&self, theta: &[f64]) -> bool {
        theta.chunks_exact(4).all(|t| t[1].abs() < 200.0 && t[2].abs() < 10.0 && t[3].abs() < 2.0)
    }

    fn near_gaussian(&self, mean: &[f64], covariance: &[f64]) -> Vec<f64> {
        let variances = covariance.iter().step_by(mean.len() + 1);
        mean.iter().zip(variances).flat_map(|(mean, variance)| [*mean, 0.5 * variance.ln(), 0.0, 0.0]).collect()
    }

    fn draw(&self, theta: &[f64], normals: &[f64], z: &mut [f64]) {
        for ((z, theta), eps) in z.iter_mut().zip(theta.chunks_exact(4)).zip(normals) {
            *z = theta[0] + At::new(theta, *eps).offset;
        }
    }

    fn pull_back(&self, theta: &[f64], normals: &[f64], slope: &[f64], out: &mut [f64]) {
        for (i, (theta, out)) in theta.chunks_exact(4).zip(out.chunks_exact_mut(4)).enumerate() {
            let path = At::new(theta, normals[i]).path();
            out.iter_mut().zip(path).for_each(|(out, path)| *out += slope[i] * path);
        }
    }

    fn log_density(&self, theta: &[f64], z: &[f64]) -> f64 {
        let of_coordinate = |(theta, z): (&[f64], &f64)| {
            let eps = normal_of(theta, *z);
            At::new(theta, eps).log_density(eps)
        };
        theta.chunks_exact(4).zip(z).map(of_coordinate).sum()
    }

    fn score(&self, theta: &[f64], z: &[f64], out: &mut [f64]) {
        for ((theta, z), out) in theta.chunks_exact(4).zip(z).zip(out) {
            let eps = normal_of(theta, *z);
            let at = At::new(theta, eps);
            *out = at.slope(eps) / at.stretch;
        }
    }

    /// A block of four rows and columns for each coordinate.
    fn fisher(&self, theta: &[f64], out: &mut [f64]) {
        let n = theta.len();
        for (i, theta) in theta.chunks_exact(4).enumerate() {
            let block: [f64; 16] = expectation(|eps| {
                let score = At::new(theta, eps).score_of_parameters(eps);
                std::array::from_fn(|k| score[k / 4] * score[k % 4])
            });
            for (k, entry) in block.into_iter().enumerate() {
                out[(4 * i + k / 4) * n + 4 * i + k % 4] = entry;
            }
        }
    }

    fn mean(&self, theta: &[f64], out: &mut [f64]) {
        for (theta, out) in theta.chunks_exact(4).zip(out) {
            *out = theta[0] + expectation(|eps| [At::new(theta, eps).offset])[0];
        }
    }

    fn covariance(&self, theta: &[f64], out: &mut [f64]) {
        let d = theta.len() / 4;
        for (i, theta) in theta.chunks_exact(4).enumerate() {
            let [mean, square] = expectation(|eps| {
                let offset = At::new(theta, eps).offset;
                [offset, offset * offset]
            });
            out[i * d + i] = square - mean * mean;
        }
    }
}

pub(crate) fn main() -> elinvar::Result {
    if let Err(broken) = conformance::family(&SinhArcsinh) {
        panic!("{broken}");
    }
    let family = Family::own(Own::register(SinhArcsinh)?);

    // The logarithms of two waiting times, of which two and five have been seen.
    let model = log_density(2, |x, gradient| {
        let (seen, total) = ([2.0, 5.0], [1.3, 9.0]);
        (0..2).for_each(|i| gradient[i] = seen[i] - total[i] * x[i].exp());
        (0..2).map(|i| seen[i] * x[i] - total[i] * x[i].exp()).sum()
    })
    .named(["log_rate_1", "log_rate_2"]);
    let posterior = Fit::new(&model).family(family).run()?;
    println!("{posterior}");
    let gaussian = Fit::new(&model).family(Family::gaussian().diagonal()).run()?;
    let bound = |fit: &Posterior| fit.diagnostics().map_or(f64::NAN, |known| known.elbo.value);
    println!("{:.4} nats above a Gaussian", bound(&posterior) - bound(&gaussian));

    // Step by step, from a standard normal law.
    let mut run = Fit::new(&model).family(family).start_around(Placement::default()).begin()?;
    (0..20).try_for_each(|_| run.step().map(|_| ()))?;
    println!("{:?}", run.q().own().map(|parameters| parameters.values()));

    // A file holds the name of the family, which has to be registered before the file is read.
    let path = std::env::temp_dir().join(format!("elinvar-own-family-{}.fit.json", std::process::id()));
    posterior.save(&path)?;
    assert_eq!(Posterior::load(&path)?.family(), family);
    std::fs::remove_file(&path).map_err(|source| Error::Io { path, source })
}
