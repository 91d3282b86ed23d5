//! What a family is held to.

use super::{Broken, broken};
use crate::family::OwnFamily;
use crate::linalg::cholesky::{Workspace, factor};
use crate::linalg::{axpy, dot};
use crate::random::{Purpose, Stream};
use crate::special::normal::HALF_LOG_TWO_PI;

/// Numbers of coordinates that are tried.
const DIMENSIONS: [usize; 3] = [1, 2, 3];
/// Draws from which averages are taken, and those at which derivatives are looked at.
const DRAWS: usize = 4000;
const POINTS: usize = 20;
/// Largest relative difference between a derivative and a quotient of differences.
const BY_DIFFERENCES: f64 = 1e-4;
/// Largest distance of an average from its expectation, in standard errors: about once in 500 million.
const ERRORS: f64 = 6.0;
/// Steps of differences: of the central quotient the best is ∛ε.
const STEP: f64 = 6e-6;

/// Whether the functions of a family belong together, in one, two and three coordinates, at a member near a Gaussian
/// and at others around it.
///
/// # Errors
/// [`Broken`], with the first rule that is not kept: scores and pulled-back slopes are derivatives of the density and
/// of the draws, draws have the density, and the Fisher matrix, mean, covariance, and what else the family says of
/// itself are those of the draws. The latter are averages over 4 000 draws: an error of a few per cent passes.
pub fn family(family: &dyn OwnFamily) -> Result<(), Broken> {
    let name = family.name();
    if name.is_empty() || name.trim() != name {
        return broken("a family has a name without blanks around it", format!("{name:?}"));
    }
    if let Some(dim) = (1..8).find(|dim| family.n_parameters(*dim) >= family.n_parameters(dim + 1)) {
        let found =
            format!("{} for {dim} and for {} {}", family.n_parameters(dim), dim + 1, family.n_parameters(dim + 1));
        return broken("the number of parameters rises with that of coordinates", found);
    }
    for dim in DIMENSIONS {
        let mean: Vec<f64> = (0..dim).map(|i| 0.5 - 0.8 * i as f64).collect();
        let mut covariance = vec![0.3; dim * dim];
        covariance.iter_mut().step_by(dim + 1).enumerate().for_each(|(i, v)| *v = 1.5 + 0.5 * i as f64);
        let first = family.near_gaussian(&mean, &covariance);
        let n = family.n_parameters(dim);
        if first.len() != n {
            return broken("a member has its number of parameters", format!("{} instead of {n}", first.len()));
        }
        if !(first.iter().all(|v| v.is_finite()) && family.is_inside(&first)) {
            return broken("there is a member near every Gaussian", format!("none for the parameters {first:?}"));
        }
        let mut stream = Stream::open(1, Purpose::Start, 0, dim as u32);
        let moved = || first.iter().map(|v| v + 0.05 * (1.0 + v.abs()) * stream.normal()).collect::<Vec<f64>>();
        let others: Vec<Vec<f64>> = std::iter::repeat_with(moved).take(2).filter(|t| family.is_inside(t)).collect();
        for theta in std::iter::once(&first).chain(&others) {
            Tried { family, theta, dim, at: format!("at θ = {theta:?}") }.hold()?;
        }
    }
    Ok(())
}

/// A member that is looked at.
struct Tried<'f> {
    family: &'f dyn OwnFamily,
    theta: &'f [f64],
    dim: usize,
    at: String,
}

/// Mean and standard error of numbers that are added one by one.
#[derive(Clone, Copy, Default)]
struct Average {
    n: f64,
    mean: f64,
    squares: f64,
}

impl Average {
    fn add(&mut self, value: f64) {
        self.n += 1.0;
        let delta = value - self.mean;
        self.mean += delta / self.n;
        self.squares += delta * (value - self.mean);
    }

    /// Whether a number is farther from the mean than chance takes it; rounding is allowed for.
    fn is_far_from(&self, value: f64) -> bool {
        let error = (self.squares / (self.n * (self.n - 1.0))).sqrt();
        let distance = (self.mean - value).abs();
        distance > ERRORS * error + 1e-6 * (value.abs() + self.mean.abs()) + 1e-9 || distance.is_nan()
    }
}

impl Tried<'_> {
    fn hold(&self) -> Result<(), Broken> {
        let d = self.dim;
        let mut stream = Stream::open(2, Purpose::Draws, 0, 0);
        let mut normals = vec![0.0; DRAWS * self.family.n_normals(d)];
        stream.fill_normal(&mut normals);
        let normals: Vec<&[f64]> = normals.chunks_exact(self.family.n_normals(d)).collect();
        let draws: Vec<Vec<f64>> = normals.iter().map(|eps| self.drawn(self.theta, eps)).collect();
        for z in &draws {
            let log_q = self.family.log_density(self.theta, z);
            if !log_q.is_finite() {
                return broken("the density is finite where draws are", format!("log {log_q} at {z:?}, {}", self.at));
            }
        }
        for (eps, z) in normals.iter().zip(&draws).take(POINTS) {
            self.derivatives(eps, z)?;
        }
        self.density(&normals, &draws)?;
        self.averages(&draws)?;
        self.information(&draws)
    }

    fn drawn(&self, theta: &[f64], eps: &[f64]) -> Vec<f64> {
        let mut z = vec![0.0; self.dim];
        self.family.draw(theta, eps, &mut z);
        z
    }

    /// The quotient of central differences of numbers in coordinate i of a point.
    fn slopes(point: &[f64], i: usize, f: impl Fn(&[f64]) -> Vec<f64>) -> Vec<f64> {
        let h = STEP * (1.0 + point[i].abs());
        let at = |x: f64| {
            let mut moved = point.to_vec();
            moved[i] = x;
            f(&moved)
        };
        at(point[i] + h).into_iter().zip(at(point[i] - h)).map(|(above, below)| (above - below) / (2.0 * h)).collect()
    }

    fn derivatives(&self, eps: &[f64], z: &[f64]) -> Result<(), Broken> {
        let (family, theta) = (self.family, self.theta);
        let far =
            |found: f64, expected: f64, size: f64| (found - expected).abs() > BY_DIFFERENCES * size || found.is_nan();
        let mut score = vec![f64::NAN; self.dim];
        family.score(theta, z, &mut score);
        let size = 1.0 + score.iter().fold(0.0_f64, |size, s| size.max(s.abs()));
        for (i, found) in score.iter().enumerate() {
            let expected = Self::slopes(z, i, |z| vec![family.log_density(theta, z)])[0];
            if far(*found, expected, size) {
                let found = format!("{found} in coordinate {}, differences say {expected}, {}", i + 1, self.at);
                return broken("the score is the derivative of the log density in z", found);
            }
        }
        let slope: Vec<f64> = (0..self.dim).map(|i| 1.0 - 0.4 * i as f64).collect();
        // Something is there already, to which the slopes are added.
        let mut pulled = vec![1.0; theta.len()];
        family.pull_back(theta, eps, &slope, &mut pulled);
        let size = 1.0 + pulled.iter().fold(0.0_f64, |size, s| size.max((s - 1.0).abs()));
        for (j, found) in pulled.iter().map(|pulled| pulled - 1.0).enumerate() {
            let expected = dot(&slope, &Self::slopes(theta, j, |theta| self.drawn(theta, eps)));
            if far(found, expected, size) {
                let found = format!("{found} for parameter {}, differences say {expected}, {}", j + 1, self.at);
                return broken("pull_back adds the derivatives of a draw in θ, times the slope", found);
            }
        }
        Ok(())
    }

    /// Where a draw is made of d normal numbers, its density is theirs over the determinant of ∂z/∂ε; otherwise
    /// E[q(z + δ)/q(z)] = 1.
    fn density(&self, normals: &[&[f64]], draws: &[Vec<f64>]) -> Result<(), Broken> {
        const RULE: &str = "draws have the density";
        let d = self.dim;
        if normals[0].len() != d {
            let mut average = Average::default();
            for z in draws {
                let mut moved = z.clone();
                moved[d - 1] += 0.3;
                average
                    .add((self.family.log_density(self.theta, &moved) - self.family.log_density(self.theta, z)).exp());
            }
            let found = format!("{} for the mean of q(z + δ)/q(z), which is one, {}", average.mean, self.at);
            return if average.is_far_from(1.0) { broken(RULE, found) } else { Ok(()) };
        }
        for (eps, z) in normals.iter().zip(draws).take(POINTS) {
            let columns: Vec<f64> =
                (0..d).flat_map(|j| Self::slopes(eps, j, |eps| self.drawn(self.theta, eps))).collect();
            let log_normal = -0.5 * dot(eps, eps) - d as f64 * HALF_LOG_TWO_PI;
            let expected = log_normal - log_determinant(d, columns);
            let found = self.family.log_density(self.theta, z);
            if (found - expected).abs() > BY_DIFFERENCES * (1.0 + expected.abs()) || expected.is_nan() {
                let found = format!("log q is {found}, and {expected} by the draw {z:?}, {}", self.at);
                return broken(RULE, found);
            }
        }
        Ok(())
    }

    fn averages(&self, draws: &[Vec<f64>]) -> Result<(), Broken> {
        let (family, theta, d) = (self.family, self.theta, self.dim);
        let (mut mean, mut covariance) = (vec![0.0; d], vec![0.0; d * d]);
        family.mean(theta, &mut mean);
        family.covariance(theta, &mut covariance);
        for i in 0..d {
            let mut average = Average::default();
            draws.iter().for_each(|z| average.add(z[i]));
            if average.is_far_from(mean[i]) {
                let found = format!("{} in coordinate {}, draws say {}, {}", mean[i], i + 1, average.mean, self.at);
                return broken("the mean is that of the draws", found);
            }
            for j in 0..d {
                let mut average = Average::default();
                draws.iter().for_each(|z| average.add((z[i] - mean[i]) * (z[j] - mean[j])));
                let stated = covariance[j * d + i];
                if average.is_far_from(stated) {
                    let found = format!("{stated} in ({}, {}), draws say {}, {}", i + 1, j + 1, average.mean, self.at);
                    return broken("the covariance is that of the draws", found);
                }
            }
        }
        if let Some(entropy) = family.entropy(theta) {
            let mut average = Average::default();
            draws.iter().for_each(|z| average.add(-family.log_density(theta, z)));
            if average.is_far_from(entropy) {
                let found = format!("{entropy}, draws say {}, {}", average.mean, self.at);
                return broken("the entropy is −E[log q]", found);
            }
        }
        Ok(())
    }

    /// The Fisher matrix against products of derivatives of log q in θ, and a divergence against both.
    fn information(&self, draws: &[Vec<f64>]) -> Result<(), Broken> {
        let (family, theta, n) = (self.family, self.theta, self.theta.len());
        let mut fisher = vec![0.0; n * n];
        family.fisher(theta, &mut fisher);
        let mut sums = vec![Average::default(); n * n];
        for z in draws {
            let slopes: Vec<f64> =
                (0..n).map(|j| Self::slopes(theta, j, |theta| vec![family.log_density(theta, z)])[0]).collect();
            for (k, sum) in sums.iter_mut().enumerate() {
                sum.add(slopes[k / n] * slopes[k % n]);
            }
        }
        if let Some(k) = (0..n * n).find(|k| sums[*k].is_far_from(fisher[*k])) {
            let (stated, by_draws) = (fisher[k], sums[k].mean);
            let found = format!("{stated} in ({}, {}), draws say {by_draws}, {}", k / n + 1, k % n + 1, self.at);
            return broken("the Fisher matrix is E[∂log q/∂θ (∂log q/∂θ)ᵀ]", found);
        }
        if factor(n, &fisher, &mut vec![0.0; n * n], &mut Workspace::new(n)).is_err() {
            return broken("the Fisher matrix is positive definite", self.at.clone());
        }
        // A step of about a hundredth of a nat.
        let mut next = theta.to_vec();
        let step: Vec<f64> = (0..n).map(|j| 0.14 / (n as f64 * fisher[j * n + j]).sqrt()).collect();
        axpy(1.0, &step, &mut next);
        let Some(stated) = family.divergence(&next, theta).filter(|_| family.is_inside(&next)) else { return Ok(()) };
        let product = |column: &[f64]| dot(column, &step);
        let quadratic =
            0.5 * fisher.chunks_exact(n).zip(&step).map(|(column, step)| step * product(column)).sum::<f64>();
        if !(stated > 0.5 * quadratic && stated < 2.0 * quadratic) {
            let found = format!("{stated} for a short step of which ½δᵀFδ is {quadratic}, {}", self.at);
            return broken("the divergence of a short step is about ½δᵀFδ", found);
        }
        Ok(())
    }
}

/// log |det| of a d × d matrix, by elimination with row exchanges.
fn log_determinant(d: usize, mut columns: Vec<f64>) -> f64 {
    let mut log = 0.0;
    for k in 0..d {
        let pivot = (k..d).max_by(|a, b| columns[k * d + a].abs().total_cmp(&columns[k * d + b].abs())).unwrap_or(k);
        (0..d).for_each(|j| columns.swap(j * d + k, j * d + pivot));
        log += columns[k * d + k].abs().ln();
        for i in k + 1..d {
            let ratio = columns[k * d + i] / columns[k * d + k];
            (k..d).for_each(|j| columns[j * d + i] -= ratio * columns[j * d + k]);
        }
    }
    log
}
