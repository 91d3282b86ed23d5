//! Mean, standard deviation and quantiles of each parameter and coordinate of an approximation.

use super::Posterior;
use crate::chains::CorrectedNumber;
use crate::record::Estimate;
use crate::target::{Combination, Draws};

/// Numbers that draws of coefficients by directions may take, and how few of them there may be.
const MOST_NUMBERS: usize = 1 << 22;
const LEAST_DRAWS: usize = 1_000;

/// The numbers of an approximation, whose distance from the target nobody knows.
pub(super) struct Approximated {
    pub(super) parameters: Vec<CorrectedNumber>,
    pub(super) coordinates: Vec<CorrectedNumber>,
}

impl Posterior {
    /// Numbers with errors that are not known.
    pub(super) fn approximated(&self, n: usize, seed: u64) -> Approximated {
        let d = self.dim();
        let width = self.transforms().n_constrained();
        // Coefficients by directions are many, and one draw of them takes a product with a matrix.
        let is_lifted = self.transforms().row_space().is_some();
        let n = if is_lifted { n.min((MOST_NUMBERS / width).max(LEAST_DRAWS)) } else { n }.max(2);
        let draws = self.sample_z(n, seed);
        let mut columns = vec![Vec::with_capacity(n); width + d];
        self.each_natural(draws.view(), |s, x| {
            let row = x.iter().chain(draws.get(s));
            columns.iter_mut().zip(row).for_each(|(column, value)| column.push(*value));
        });
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

    /// Calls `visit` with the index of every draw and its parameters on the natural scale.
    pub(super) fn each_natural(&self, z: Draws<'_>, mut visit: impl FnMut(usize, &[f64])) {
        /// Draws that are mapped at a time.
        const BLOCK: usize = 64;
        let (d, width) = (z.dim(), self.transforms().n_constrained());
        let mut x = vec![0.0; BLOCK.min(z.len()) * width];
        for (b, z) in z.as_slice().chunks(BLOCK * d).enumerate() {
            let x = &mut x[..z.len() / d * width];
            self.transforms().constrain_all(Draws::new(d, z), x);
            x.chunks_exact(width).enumerate().for_each(|(s, x)| visit(b * BLOCK + s, x));
        }
    }

    /// Mean and standard deviation under q of every parameter that is linear in z, and of every coordinate.
    pub(super) fn exact_moments(&self) -> Vec<Option<(f64, f64)>> {
        let d = self.dim();
        let (mean, cov) = (self.approximation().mean(), self.approximation().covariance());
        let linear = self.transforms().linear();
        let parameters = linear.iter().map(|row| {
            let Combination { constant, terms, spare } = row.as_ref()?;
            let (at_mean, sd) = match terms.as_slice() {
                [(j, factor)] => (factor * mean[*j], factor.abs() * cov[j * d + j].sqrt()),
                terms => {
                    let entries = terms.iter().flat_map(|a| terms.iter().map(move |b| (a, b)));
                    let variance: f64 = entries.map(|((i, a), (j, b))| a * b * cov[i * d + j]).sum();
                    (terms.iter().map(|(j, factor)| factor * mean[*j]).sum(), variance.max(0.0).sqrt())
                }
            };
            let with_spare = if *spare > 0.0 { (sd * sd + spare).sqrt() } else { sd };
            Some((constant + at_mean, with_spare))
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
