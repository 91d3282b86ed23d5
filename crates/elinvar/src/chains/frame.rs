//! The coordinates x in which a Gaussian N(m, C) is N(0, I): z = m + L x with C = L Lᵀ (mathematics §11.1).

use crate::linalg::cholesky::{self, Workspace};
use crate::linalg::products::{GRAM_BLOCK, add_weighted_gram, mirror_lower};
use crate::linalg::{axpy, eigen};

/// Eigenvalues of a correlation matrix below this share of the largest are raised to it.
const FLOOR: f64 = 1e-13;

/// A centre and the lower factor of a covariance.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    dim: usize,
    centre: Vec<f64>,
    factor: Vec<f64>,
}

impl Frame {
    /// The frame of N(centre, covariance), of whose covariance the lower triangle is read; nothing if a variance is not
    /// positive or a number is not finite.
    ///
    /// Correlations are factored, not covariances: coordinates may differ by many orders of magnitude, so what counts
    /// as singular is asked in units of each coordinate's own standard deviation.
    pub(crate) fn new(centre: Vec<f64>, covariance: &[f64]) -> Option<Self> {
        let dim = centre.len();
        let sds: Vec<f64> = (0..dim).map(|i| covariance[i * dim + i].sqrt()).collect();
        let usable = |v: &f64| *v > 0.0 && v.is_finite();
        if !sds.iter().all(usable) || !centre.iter().all(|m| m.is_finite()) {
            return None;
        }
        let mut correlation = vec![0.0; dim * dim];
        for j in 0..dim {
            for i in j..dim {
                correlation[j * dim + i] = covariance[j * dim + i] / (sds[i] * sds[j]);
            }
        }
        mirror_lower(dim, &mut correlation);
        let mut factor = vec![0.0; dim * dim];
        let mut workspace = Workspace::new(dim);
        let found = cholesky::factor(dim, &correlation, &mut factor, &mut workspace);
        let smallest = (0..dim).map(|i| factor[i * dim + i]).fold(f64::INFINITY, f64::min);
        if found.is_err() || smallest.is_nan() || smallest * smallest <= FLOOR {
            raise_floor(dim, &mut correlation)?;
            cholesky::factor(dim, &correlation, &mut factor, &mut workspace).ok()?;
        }
        for column in factor.chunks_exact_mut(dim) {
            column.iter_mut().zip(&sds).for_each(|(entry, sd)| *entry *= sd);
        }
        factor.iter().all(|v| v.is_finite()).then_some(Self { dim, centre, factor })
    }

    /// That of N(0, I).
    pub(crate) fn unit(dim: usize) -> Self {
        let mut factor = vec![0.0; dim * dim];
        factor.iter_mut().step_by(dim + 1).for_each(|v| *v = 1.0);
        Self { dim, centre: vec![0.0; dim], factor }
    }

    /// Unit vectors in x along which the coordinates of z are: Lᵀeᵢ/σᵢ.
    pub(crate) fn rows(&self) -> Vec<Vec<f64>> {
        let (d, variances) = (self.dim, self.variances());
        (0..d).map(|i| (0..d).map(|j| self.factor[j * d + i] / variances[i].sqrt()).collect()).collect()
    }

    /// Number of coordinates.
    pub(crate) fn dim(&self) -> usize {
        self.dim
    }

    /// m.
    pub(crate) fn centre(&self) -> &[f64] {
        &self.centre
    }

    /// L, column by column.
    pub(crate) fn factor(&self) -> &[f64] {
        &self.factor
    }

    /// z = m + L x for each of several points.
    pub(crate) fn to_z(&self, x: &[f64], z: &mut [f64]) {
        cholesky::factor_times(self.dim, &self.factor, x, z);
        z.chunks_exact_mut(self.dim).for_each(|z| axpy(1.0, &self.centre, z));
    }

    /// x = L⁻¹(z − m) for each of several points.
    pub(crate) fn to_x(&self, z: &[f64], x: &mut [f64]) {
        x.copy_from_slice(z);
        x.chunks_exact_mut(self.dim).for_each(|x| axpy(-1.0, &self.centre, x));
        cholesky::solve_factor(self.dim, &self.factor, x);
    }

    /// Gradients by x, Lᵀ g, of gradients g by z.
    pub(crate) fn pull(&self, by_z: &[f64], by_x: &mut [f64]) {
        cholesky::factor_transposed_times(self.dim, &self.factor, by_z, by_x);
    }

    /// C g for each of several gradients by z.
    pub(crate) fn covariance_times(&self, by_z: &[f64]) -> Vec<f64> {
        let (mut pulled, mut out) = (vec![0.0; by_z.len()], vec![0.0; by_z.len()]);
        self.pull(by_z, &mut pulled);
        cholesky::factor_times(self.dim, &self.factor, &pulled, &mut out);
        out
    }

    /// The variances, the diagonal of C.
    pub(crate) fn variances(&self) -> Vec<f64> {
        let mut variances = vec![0.0; self.dim];
        for column in self.factor.chunks_exact(self.dim) {
            variances.iter_mut().zip(column).for_each(|(sum, entry)| *sum += entry * entry);
        }
        variances
    }

    /// aᵀ C a.
    pub(crate) fn variance_along(&self, direction: &[f64]) -> f64 {
        let mut pulled = vec![0.0; self.dim];
        self.pull(direction, &mut pulled);
        pulled.iter().map(|v| v * v).sum()
    }

    /// C, both triangles.
    #[cfg(test)]
    pub(crate) fn covariance(&self) -> Vec<f64> {
        let mut covariance = self.lower_covariance();
        mirror_lower(self.dim, &mut covariance);
        covariance
    }

    /// The lower triangle of C.
    pub(crate) fn lower_covariance(&self) -> Vec<f64> {
        let mut covariance = vec![0.0; self.dim * self.dim];
        add_gram(&self.factor, self.dim, &vec![1.0; self.dim], &mut covariance);
        covariance
    }

    /// log |C|.
    pub(crate) fn log_determinant(&self) -> f64 {
        cholesky::log_det(self.dim, &self.factor)
    }
}

/// Lower triangle of out += Σ_k w_k c_k c_kᵀ for the columns c_k of a matrix with d rows.
pub(super) fn add_gram(columns: &[f64], d: usize, weights: &[f64], out: &mut [f64]) {
    let mut scratch = vec![0.0; GRAM_BLOCK.min(weights.len()) * d];
    add_weighted_gram(columns, d, weights, &mut scratch, out);
}

/// Raises the small eigenvalues of a symmetric matrix.
fn raise_floor(dim: usize, matrix: &mut [f64]) -> Option<()> {
    let (values, vectors) = eigen::symmetric(dim, matrix)?;
    let floor = FLOOR * values.last().copied()?;
    let raised: Vec<f64> = values.iter().map(|v| v.max(floor)).collect();
    matrix.fill(0.0);
    add_gram(&vectors, dim, &raised, matrix);
    mirror_lower(dim, matrix);
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_and_gradients_go_there_and_back() {
        // Standard deviations of 1e−6 and 1e6, correlation 0.9.
        let covariance = [1e-12, 0.9, 0.9, 1e12];
        let frame = Frame::new(vec![3.0, -2e6], &covariance).unwrap();
        let (mut z, mut x) = ([0.0; 4], [0.0; 4]);
        frame.to_z(&[1.0, -0.5, 0.25, 2.0], &mut z);
        frame.to_x(&z, &mut x);
        assert!(x.iter().zip([1.0, -0.5, 0.25, 2.0]).all(|(a, b)| (a - b).abs() < 1e-8), "{x:?}");
        let found = frame.covariance();
        assert!(found.iter().zip(covariance).all(|(a, b)| (a / b - 1.0).abs() < 1e-13), "{found:?}");
        let product = frame.covariance_times(&[2.0, 1e-6]);
        assert!((product[1] / (0.9 * 2.0 + 1e6) - 1.0).abs() < 1e-13);
        assert!((frame.variance_along(&[0.0, 1e-6]) - 1.0).abs() < 1e-13);
    }

    #[test]
    fn a_singular_covariance_gets_a_floor_and_a_bad_one_is_refused() {
        let frame = Frame::new(vec![0.0; 2], &[1.0, 1.0, 1.0, 1.0]).unwrap();
        assert!(frame.factor()[3] > 0.0);
        assert!(Frame::new(vec![0.0; 2], &[1.0, 0.0, 0.0, 0.0]).is_none());
        assert!(Frame::new(vec![0.0, f64::NAN], &[1.0, 0.0, 0.0, 1.0]).is_none());
    }
}
