//! Mean, standard deviation and quantiles of each parameter on the constrained scale.

use serde::{Deserialize, Serialize};

use super::Posterior;

/// One row of the parameter table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ParameterSummary {
    /// Name of the parameter.
    pub name: String,
    /// Mean.
    pub mean: f64,
    /// Standard deviation.
    pub sd: f64,
    /// 5 % quantile.
    pub q5: f64,
    /// 95 % quantile.
    pub q95: f64,
}

impl Posterior {
    /// The parameters on the constrained scale: quantiles from `n` draws, and so are mean and standard deviation of a transformed
    /// parameter; those of one that is linear in z are exact. Fewer than two draws are taken as two.
    pub fn summary(&self, n: usize, seed: u64) -> Vec<ParameterSummary> {
        let draws = self.sample(n.max(2), seed);
        let transforms = self.transforms();
        let width = transforms.n_constrained();
        let mut columns = vec![Vec::with_capacity(n); width];
        let mut x = vec![0.0; width];
        for z in draws.view().iter() {
            transforms.constrain(z, &mut x);
            columns.iter_mut().zip(&x).for_each(|(column, value)| column.push(*value));
        }
        let d = self.dim();
        let (mean, cov) = (self.approximation().mean(), self.approximation().covariance());
        let linear = transforms.linear();
        let rows = self.constrained_names().iter().zip(&mut columns).enumerate().map(|(i, (name, column))| {
            column.sort_by(f64::total_cmp);
            let (mean, sd) = match linear[i].as_slice() {
                [] => moments(column),
                [(j, factor)] => (factor * mean[*j], factor * cov[j * d + j].sqrt()),
                row => {
                    let entries = row.iter().flat_map(|a| row.iter().map(move |b| (a, b)));
                    let variance: f64 = entries.map(|((i, a), (j, b))| a * b * cov[i * d + j]).sum();
                    (row.iter().map(|(j, factor)| factor * mean[*j]).sum(), variance.max(0.0).sqrt())
                }
            };
            ParameterSummary { name: name.clone(), mean, sd, q5: quantile(column, 0.05), q95: quantile(column, 0.95) }
        });
        rows.collect()
    }
}

fn moments(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / (n - 1.0).max(1.0);
    (mean, variance.sqrt())
}

/// The p-quantile of sorted values, interpolated.
fn quantile(sorted: &[f64], p: f64) -> f64 {
    let position = p * (sorted.len() - 1) as f64;
    let (low, high) = (sorted[position.floor() as usize], sorted[position.ceil() as usize]);
    low + (high - low) * position.fract()
}
