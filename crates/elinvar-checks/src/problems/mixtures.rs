//! Mixtures of Gaussians as targets.

use std::path::Path;

use elinvar::model::GaussianMixture;
use elinvar::random::{Purpose, Stream};
use elinvar_data::{Columns, Table};

use super::{Moments, Problem};

/// Mean and standard deviations of Σ_c π_c N(m_c, s_c² I).
fn moments(weights: &[f64], means: &[f64], variances: &[f64]) -> Moments {
    let total: f64 = weights.iter().sum();
    let dim = means.len() / weights.len();
    let average = |i: usize, f: &dyn Fn(f64, f64) -> f64| {
        let terms = weights.iter().zip(variances).enumerate();
        terms.map(|(c, (w, v))| w / total * f(means[c * dim + i], *v)).sum::<f64>()
    };
    let mean: Vec<f64> = (0..dim).map(|i| average(i, &|m, _| m)).collect();
    let sd = (0..dim).map(|i| (average(i, &|m, v| m * m + v) - mean[i] * mean[i]).sqrt()).collect();
    Moments { mean, sd }
}

/// Σ_c π_c N(m_c, s_c² I), the means one after the other.
pub(crate) fn spherical(name: &str, weights: &[f64], means: Vec<f64>, variances: &[f64]) -> Problem {
    let dim = means.len() / weights.len();
    let mut covariances = vec![0.0; weights.len() * dim * dim];
    for (cov, variance) in covariances.chunks_exact_mut(dim * dim).zip(variances) {
        cov.iter_mut().step_by(dim + 1).for_each(|v| *v = *variance);
    }
    let known = moments(weights, &means, variances);
    let target = GaussianMixture::new(weights, means, &covariances).expect("positive weights and variances");
    Problem::known(name, target, 0.0, known)
}

/// Two unit Gaussians at a distance along the first coordinate.
pub(crate) fn two_modes(dim: usize, distance: f64, second_weight: f64) -> Problem {
    let mut means = vec![0.0; 2 * dim];
    means[dim] = distance;
    let share = 100.0 * second_weight;
    let name = format!("two modes d = {dim}, {distance} apart, {share} % in the second");
    spherical(&name, &[1.0 - second_weight, second_weight], means, &[1.0, 1.0])
}

/// The toy mixture of mathematics §9.2 with our own centres: ten of them, uniform in [−20, 20]²⁰.
pub(crate) fn toy_means() -> Vec<f64> {
    let mut stream = Stream::open(20, Purpose::Sample, 0, 0);
    (0..200).map(|_| 40.0 * stream.uniform() - 20.0).collect()
}

/// Centres from a CSV file with a header, one per row; returns them with their dimension.
pub(crate) fn read_means(path: &Path) -> Result<(usize, Vec<f64>), String> {
    let table = Table::read(path, &Columns::All).map_err(|e| e.to_string())?;
    Ok((table.n_cols(), table.values().to_vec()))
}

/// The equally weighted mixture of N(u_c, I).
pub(crate) fn toy(dim: usize, means: Vec<f64>) -> Result<Problem, String> {
    let n = means.len() / dim;
    let known = moments(&vec![1.0; n], &means, &vec![1.0; n]);
    let target = GaussianMixture::isotropic(dim, means).map_err(|e| e.to_string())?;
    Ok(Problem::known(format!("toy mixture d = {dim}, {n} modes"), target, 0.0, known))
}
