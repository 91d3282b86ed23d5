//! Contracted second derivatives.

use super::LinearRegression;
use crate::linalg::axpy;
use crate::target::{
    Contraction, Covariance, CurvatureMut, Draws, GaussNewton, Rows, Scratch, SecondOrder, Target, TargetError,
};

/// Second derivatives of the likelihood: as they are, or as they are on average over responses from the model, where the part of
/// (β, ℓ) vanishes and R is Nσ².
#[derive(Clone, Copy)]
enum Information {
    Observed,
    Expected,
}

impl LinearRegression {
    fn contract_information(
        &self,
        information: Information,
        draws: Draws<'_>,
        rows: Rows<'_>,
        contraction: Contraction<'_>,
        scratch: &mut Scratch,
        mut out: CurvatureMut<'_>,
    ) -> Result<(), TargetError> {
        let (p, d) = (self.n_coefficients(), self.dim());
        let (n, share) = self.share(rows);
        let (statistics, deviation) = self.statistics(rows, scratch.take(self.memory_len()));
        let covariance = out.covariance();
        for (s, z) in draws.iter().enumerate() {
            if contraction.of_draw(s).all(|(_, weight)| weight == 0.0) {
                continue;
            }
            let squares = self.scores(z, statistics, deviation);
            let (gram, a) = (&statistics[..p * p], &deviation[p..]);
            let prec = (-2.0 * z[p]).exp();
            let (squares, cross) = match information {
                Information::Observed => (squares, 2.0),
                Information::Expected => (n / prec, 0.0),
            };
            let curvature = self.noise_prior.log_density(z[p])[2];
            for (k, weight) in contraction.of_draw(s).filter(|(_, weight)| *weight != 0.0) {
                let (factor, entries) = (-weight * prec, out.entries_mut(k));
                let last = 2.0 * factor * squares + weight * share * curvature;
                match covariance {
                    Covariance::Full => {
                        for (j, column) in entries.chunks_exact_mut(d).take(p).enumerate() {
                            axpy(factor, &gram[j * p..(j + 1) * p], &mut column[..p]);
                            column[p] += cross * factor * a[j];
                        }
                        axpy(cross * factor, a, &mut entries[p * d..p * d + p]);
                        entries[p * d + p] += last;
                    }
                    Covariance::Diagonal => {
                        (0..p).for_each(|j| entries[j] += factor * gram[j * p + j]);
                        entries[p] += last;
                    }
                }
            }
        }
        Ok(())
    }
}

impl SecondOrder for LinearRegression {
    fn contract(
        &self,
        draws: Draws<'_>,
        rows: Rows<'_>,
        contraction: Contraction<'_>,
        scratch: &mut Scratch,
        out: CurvatureMut<'_>,
    ) -> Result<(), TargetError> {
        self.contract_information(Information::Observed, draws, rows, contraction, scratch, out)
    }
}

impl GaussNewton for LinearRegression {
    /// H is the Fisher information diag(1/σ², 2) of an observation about (x_nᵀβ, ℓ): the curvature of the loss itself is not positive
    /// semi-definite in ℓ. Priors that are not declared enter with their own curvature.
    fn contract_gauss_newton(
        &self,
        draws: Draws<'_>,
        rows: Rows<'_>,
        contraction: Contraction<'_>,
        scratch: &mut Scratch,
        out: CurvatureMut<'_>,
    ) -> Result<(), TargetError> {
        self.contract_information(Information::Expected, draws, rows, contraction, scratch, out)
    }
}
