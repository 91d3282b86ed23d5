//! Second derivatives at one draw.

use crate::linalg::axpy;
use crate::target::Covariance;

/// What the second derivatives of the likelihood are made of: as they are, or as they are on average over responses
/// from the model, where the part of (β, ℓ) vanishes and R is Nσ².
///
/// The average is the Fisher information diag(1/σ², 2) of an observation about (x_nᵀβ, ℓ): the curvature of the loss
/// itself is not positive semi-definite in ℓ. The prior of ℓ enters with its own curvature.
pub(super) struct Curving {
    /// e^{−2ℓ}.
    pub(super) prec: f64,
    /// R.
    pub(super) squares: f64,
    /// The factor of a in the part of (β, ℓ).
    pub(super) cross: f64,
    /// The second derivative of the log prior of ℓ, and the share of it that the rows hold.
    pub(super) noise: f64,
    pub(super) share: f64,
}

impl Curving {
    /// Adds `weight` times the matrix.
    pub(super) fn add(&self, weight: f64, gram: &[f64], a: &[f64], covariance: Covariance, entries: &mut [f64]) {
        let (p, d) = (a.len(), a.len() + 1);
        let factor = -weight * self.prec;
        let last = 2.0 * factor * self.squares + weight * self.share * self.noise;
        match covariance {
            Covariance::Full => {
                for (j, column) in entries.chunks_exact_mut(d).take(p).enumerate() {
                    axpy(factor, &gram[j * p..(j + 1) * p], &mut column[..p]);
                    column[p] += self.cross * factor * a[j];
                }
                axpy(self.cross * factor, a, &mut entries[p * d..p * d + p]);
                entries[p * d + p] += last;
            }
            Covariance::Diagonal => {
                (0..p).for_each(|j| entries[j] += factor * gram[j * p + j]);
                entries[p] += last;
            }
        }
    }
}
