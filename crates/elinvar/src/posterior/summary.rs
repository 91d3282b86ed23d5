//! Mean, standard deviation and quantiles of each parameter and coordinate of an approximation.

use super::Posterior;
use crate::chains::CorrectedNumber;
use crate::record::Estimate;

/// The numbers of an approximation, whose distance from the target nobody knows.
pub(super) struct Approximated {
    pub(super) parameters: Vec<CorrectedNumber>,
    pub(super) coordinates: Vec<CorrectedNumber>,
}

impl Posterior {
    /// Numbers with errors that are not known.
    pub(super) fn approximated(&self, n: usize, seed: u64) -> Approximated {
        let draws = self.sample_z(n.max(2), seed);
        let d = self.dim();
        let transforms = self.transforms();
        let width = transforms.n_constrained();
        let mut columns = vec![Vec::with_capacity(n); width + d];
        let mut x = vec![0.0; width];
        for z in draws.view().iter() {
            transforms.constrain(z, &mut x);
            columns.iter_mut().zip(x.iter().chain(z)).for_each(|(column, value)| column.push(*value));
        }
        let exact = self.exact_moments();
        let names = self.names().iter().chain(self.names_z());
        let mut numbers: Vec<CorrectedNumber> = names
            .zip(&mut columns)
            .zip(exact)
            .map(|((name, column), exact)| {
                column.sort_by(f64::total_cmp);
                let (mean, sd) = exact.unwrap_or_else(|| moments(column));
                let unknown = |value| Estimate { value, mcse: f64::MAX };
                CorrectedNumber {
                    name: name.clone(),
                    mean: unknown(mean),
                    sd: unknown(sd),
                    q5: unknown(quantile(column, 0.05)),
                    q50: unknown(quantile(column, 0.5)),
                    q95: unknown(quantile(column, 0.95)),
                    judged: true,
                }
            })
            .collect();
        let coordinates = numbers.split_off(width);
        Approximated { parameters: numbers, coordinates }
    }

    /// Mean and standard deviation under q of every parameter that is linear in z, and of every coordinate.
    pub(super) fn exact_moments(&self) -> Vec<Option<(f64, f64)>> {
        let d = self.dim();
        let (mean, cov) = (self.approximation().mean(), self.approximation().covariance());
        let linear = self.transforms().linear();
        let parameters = linear.iter().map(|row| match row.as_slice() {
            [] => None,
            [(j, factor)] => Some((factor * mean[*j], factor.abs() * cov[j * d + j].sqrt())),
            row => {
                let entries = row.iter().flat_map(|a| row.iter().map(move |b| (a, b)));
                let variance: f64 = entries.map(|((i, a), (j, b))| a * b * cov[i * d + j]).sum();
                Some((row.iter().map(|(j, factor)| factor * mean[*j]).sum(), variance.max(0.0).sqrt()))
            }
        });
        parameters.chain((0..d).map(|i| Some((mean[i], cov[i * d + i].sqrt())))).collect()
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
