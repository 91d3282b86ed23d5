//! Factors of a Kronecker covariance from the variances of a Gaussian.

use crate::family::Layout;
use crate::target::{Covariance, Shape};

/// The groups of a layout with the mean of a Gaussian and diagonal factors whose products come nearest to its
/// precisions: a log-precision is a constant plus one number for each index, found by averages over the other modes.
/// For each group W and the entries of its factors, as files have them.
pub(crate) fn by_factors(
    mean: &[f64],
    precision: &[f64],
    layout: Layout,
    wanted: Covariance,
) -> Vec<(Vec<f64>, Vec<f64>)> {
    let step = if precision.len() == mean.len() { 1 } else { mean.len() + 1 };
    let logs: Vec<f64> = precision.iter().step_by(step).map(|p| p.ln()).collect();
    let of_all = mean;
    let mut start = 0;
    let group = |dims: &[u32]| {
        let size: usize = dims.iter().map(|d| *d as usize).product();
        let (b, logs) = (of_all[start..start + size].to_vec(), &logs[start..start + size]);
        start += size;
        let mean = logs.iter().sum::<f64>() / size as f64;
        let mut precision = Vec::new();
        let mut inner = 1;
        for d in dims.iter().map(|d| *d as usize) {
            let mut along = vec![0.0; d];
            for (entry, log) in logs.iter().enumerate() {
                along[entry / inner % d] += (log - mean) * d as f64 / size as f64;
            }
            inner *= d;
            let values = along.iter().map(|log| (log + mean / dims.len() as f64).exp());
            precision.extend(Shape::new(wanted, d).with_diagonal(values));
        }
        (b, precision)
    };
    layout.groups().map(group).collect()
}

#[cfg(test)]
mod tests {
    use super::by_factors;
    use crate::family::{Approximation, Family, Kind, MatrixUpdate};
    use crate::target::Covariance;

    /// Precisions that are products of factors are found as they are, for both groups and both kinds of factors.
    #[test]
    fn a_product_of_factors_is_found() {
        let (rows, cols, other) = ([0.5, 2.0, 7.0], [1.0, 30.0], [0.1, 9.0, 4.0, 2.0]);
        let mut precision: Vec<f64> = cols.iter().flat_map(|c| rows.map(|r| r * c)).collect();
        precision.extend(other);
        let b: Vec<f64> = (0..10).map(f64::from).collect();
        let family = Family::layers(&[&[3usize, 2][..], &[4]]).unwrap();
        let Kind::Matrix { layout, .. } = family.kind else { unreachable!() };
        for covariance in [Covariance::Full, Covariance::Diagonal] {
            let blocks = by_factors(&b, &precision, layout, covariance);
            let family = family.with_covariance(covariance).with_update(MatrixUpdate::Joint);
            let q = Approximation::from_parts(family, 10, blocks, vec![0.0]).unwrap();
            for (v, p) in q.variances().iter().zip(&precision) {
                assert!((v * p - 1.0).abs() < 1e-13, "{v} and {p}");
            }
            assert_eq!(q.mean(), b);
        }
    }
}
